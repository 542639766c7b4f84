"""From an answer that fits the schema to drafts: each item is checked by itself.

What a model says is believed only as far as the turns bear it out. An item that cannot be kept is
left out alone, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ...core.canonical import canonical_json, time_text
from ...core.derive import known_as
from ...core.ids import digest
from ...core.records import Draft, Fact, MemoryKind
from ..explicit import PINNED, PREDICATE
from ..knowledge import landmark_body
from ..passages import tags_of
from ..rules.extracted import (
    NOWHERE,
    Category,
    Certainty,
    Context,
    Entity,
    Extracted,
    Identity,
    Landmark,
    LandmarkKind,
    Message,
    Statement,
    Temporal,
)
from ..rules.identities import identity_of
from ..rules.instructions import Voice, instructions
from ..rules.relations import BEGINS, STATES
from .turns import Excerpt, Turn, words_of
from .unfit import Unfit
from .when import When, when

Item = Mapping[str, Any]

LONGEST_NAME = 120
LONGEST_TEXT = 1_000
LONGEST_PREDICATE = 60
MOST_NAMES = 24
MOST_TOPICS = 5
PRONOUNS = frozenset(
    """i me my mine we us our you your he him his she her it its they them their this that these
    those who someone somebody everyone everybody nobody""".split()
)
AT_ANY_TIME = frozenset("BORN_ON ANNIVERSARY_ON HAS_SCHEDULE TYPICALLY_CONTACTS_AT".split())
WORD = re.compile(r"\w+")
REFUSED = frozenset(  # well said, by somebody who may not say it: nothing to be corrected
    {
        "a machine about people",
        "a preference from outside",
        "a landmark from outside",
        "a document about itself",
    }
)
LIKING = frozenset("PREFERS LIKES DISLIKES LOVES HATES WANTS AVOIDS FAVORITE".split())


class _Found(NamedTuple):
    """The same in the words of the rules, and the turn that taught it."""

    turn: Turn
    entities: tuple[Entity, ...] = ()
    identities: tuple[Identity, ...] = ()
    facts: tuple[Statement, ...] = ()
    landmarks: tuple[Landmark, ...] = ()


KINDS = ("entities", "identities", "facts", "landmarks")
Made = tuple[Draft | None, _Found]


@dataclass(slots=True)
class Items:
    """The answer about one excerpt, on its way to drafts."""

    excerpt: Excerpt
    maker: str  # which prompt: name, version and hash
    source: str
    known: frozenset[str]  # words that may be used although no turn has them
    most: int  # items of a kind
    dropped: Counter[str] = field(default_factory=Counter)
    extracted: dict[str, Extracted] = field(default_factory=dict)  # by event: all but the labels
    _numbered: dict[int, Turn] = field(init=False)

    def __post_init__(self) -> None:
        self._numbered = {turn.number: turn for turn in self.excerpt.all}

    def drafts(self, answer: Mapping[str, Sequence[Item]]) -> list[Draft]:
        makers: dict[str, Callable[[Item], Made]] = {
            "entities": self._entity,
            "facts": self._fact,
            "landmarks": self._landmark,
            "labels": self._label,
        }
        made: dict[str, Draft] = {}
        for name, make in makers.items():
            self.dropped["too many"] += max(0, len(answer[name]) - self.most)
            for item in answer[name][: self.most]:
                try:
                    draft, found = make(item)
                except Unfit as why:
                    self.dropped[str(why)] += 1
                    continue
                if draft is None or draft.id not in made:
                    self._add(found)
                if draft:
                    made.setdefault(draft.id, draft)
        self.dropped = +self.dropped
        return list(made.values())

    # -- the four kinds

    def _entity(self, item: Item) -> Made:
        """Who and what there is goes the way of the rules' names: nobody takes another's."""
        turns = self._turns(item["turns"])
        name = _name(item["name"])
        aliases = [] if _external(turns) else [_name(alias) for alias in item["aliases"]]
        aliases = [each for each in _distinct(aliases) if known_as(each) != known_as(name)]
        if not all(self._stands_in(turns, each) for each in (name, *aliases)):
            raise Unfit("a name that nobody said")
        type = " ".join(item["type"].casefold().split())
        if not type or len(type) > LONGEST_PREDICATE:
            raise Unfit("an empty or huge type")
        called = tuple(_called(name, alias) for alias in aliases)
        return None, _Found(turns[-1], entities=(Entity(name=name, type=type),), identities=called)

    def _fact(self, item: Item) -> Made:
        turns = self._turns(item["turns"])
        fact = _relation(item)
        sentence = _text(item["sentence"])
        external = _external(turns)
        if external and (fact.category == Category.PREFERENCES or fact.predicate in LIKING):
            raise Unfit("a preference from outside")
        if external and fact.subject in {turn.event.speaker for turn in turns}:
            raise Unfit("a document about itself")
        names = " ".join(filter(None, (fact.subject, fact.object, _said(fact.value))))
        time = _validity(when(item["when"], turns, ahead=fact.tense == "future"), fact)
        certainty = Certainty(item["certainty"])
        if not self._grounded(turns, names, time):
            certainty = _at_most(Certainty.INFERRED, certainty)
        if external:
            certainty = Certainty.UNCERTAIN
        fact = replace(fact, stated=certainty is not Certainty.INFERRED)
        statement = _statement(fact, sentence, certainty, time)
        if not self._voice(turns).facts([statement]):
            raise Unfit("a machine about people")
        if not external and self._stands_in(turns, names) and (alias := identity_of(fact)):
            return None, _Found(turns[-1], identities=(alias,))
        draft = Draft(
            kind=MemoryKind.FACT,
            text=sentence,
            slot=digest("fact", canonical_json(asdict(fact))),
            confidence=certainty.confidence,
            valid_from=time.since,
            valid_to=time.until,
            body=asdict(fact),
            **self._learned_from(turns, names, sentence),
        )
        return draft, _Found(turns[-1], facts=(statement,))

    def _landmark(self, item: Item) -> Made:
        turns = self._turns(item["turns"])
        if _external(turns):
            raise Unfit("a landmark from outside")
        due = when(item["due"], turns, ahead=True)
        found = Landmark(
            kind=LandmarkKind(item["kind"]),
            text=_text(item["text"]),
            source=NOWHERE,
            owner=_name(item["owner"]) if item["owner"] else None,
            due=due.until,
            due_from=due.since,
            wrong=_text(item["wrong"]) if item["wrong"] else None,
            right=_text(item["right"]) if item["right"] else None,
        )
        if not self._voice(turns).landmarks([found]):
            raise Unfit("a machine about people")
        draft = Draft(
            kind=MemoryKind.LANDMARK,
            text=found.text,
            slot=digest("landmark", found.kind.value, found.text),
            confidence=Certainty(item["certainty"]).confidence,
            salience=PINNED,
            body=landmark_body(found),
            **self._learned_from(turns, found.owner or "", found.text),
        )
        return draft, _Found(turns[-1], landmarks=(found,))

    def _label(self, item: Item) -> Made:
        turns = self._turns([item["turn"]])
        label, text = _text(item["label"]), _text(item["text"])
        topics = _distinct(_name(topic) for topic in item["topics"])[:MOST_TOPICS]
        names = _distinct(_name(name) for name in item["entities"])[:MOST_NAMES]
        borrowed = " ".join((*names, *topics))
        draft = Draft(
            kind=MemoryKind.EPISODE,
            text=text,
            slot="turn",
            indexed_text="",  # found by its names and its thread only
            body={"span": "turn", "label": label, "topics": topics, "entities": names},
            **self._learned_from(turns, borrowed, f"{label} {text}"),
        )
        return draft, _Found(turns[-1])

    # -- what they rest on

    def _add(self, found: _Found) -> None:
        id = found.turn.event.id
        known = self.extracted.get(id, Extracted())
        more = {kind: (*getattr(known, kind), *getattr(found, kind)) for kind in KINDS}
        if any(more.values()):
            self.extracted[id] = replace(known, **more)

    def _voice(self, turns: Sequence[Turn]) -> Voice:
        """Of those it rests on, the one that may say most: a person's yes makes a claim theirs."""
        speaking = max((turn.event for turn in turns), key=lambda event: event.trust)
        here = {turn.event.speaker for turn in self.excerpt.all} | {speaking.scope.owner or ""}
        return Voice.of(Message.of(speaking), Context(participants=tuple(here)))

    def _turns(self, numbers: Sequence[int]) -> list[Turn]:
        if any(number not in self._numbered for number in numbers):
            raise Unfit("a turn that does not exist")
        named = [self._numbered[number] for number in sorted(set(numbers))]
        first = self.excerpt.turns[0].number
        if not named or named[-1].number < first:
            raise Unfit("no turn that was to be read")
        return named

    def _learned_from(
        self, turns: Sequence[Turn], names: str, sentence: str = ""
    ) -> dict[str, Any]:
        """The newest turn comes first: it is the one that taught it."""
        last = turns[-1].event
        others = (*turns[:-1], *self._grounds(turns, names, sentence))
        return {
            "scope": last.scope,
            "sources": (last.id, *(turn.event.id for turn in others)),
            "at": last.at,
            "speaker": last.speaker,
            "role": last.role,
            "source": self.source,
            "thread": last.thread,
            "tags": tags_of(last),
            "learned": True,
            "metadata": {"made_by": [self.maker]},
        }

    def _grounds(self, turns: Sequence[Turn], names: str, sentence: str) -> list[Turn]:
        """Turns the model did not name but took words from: what they gave is erased with them."""
        capitals = [word for word in WORD.findall(sentence) if word[0].isupper()]
        borrowed = words_of(" ".join([names, *capitals])) - _words(turns)
        last = turns[-1].number
        nearest = sorted(self.excerpt.all, key=lambda turn: (turn.number > last, -turn.number))
        found: dict[int, Turn] = {}
        for word in sorted(borrowed):
            holding = next((turn for turn in nearest if word in turn.words), None)
            if holding:
                found[holding.number] = holding
        return [found[number] for number in sorted(found)]

    def _grounded(self, turns: Sequence[Turn], names: str, time: When) -> bool:
        """Whether every word was said, is somebody's name, or tells the time that was said."""
        times = [time_text(at) for at in (time.since, time.until) if at]
        return words_of(names) <= _words(turns) | self.known | words_of(" ".join(times))

    def _stands_in(self, turns: Sequence[Turn], name: str) -> bool:
        return words_of(name) <= _words(turns) | self.known


def _called(name: str, alias: str) -> Identity:
    return Identity(owner=name, kind="name", value=alias, source=NOWHERE)


def _statement(fact: Fact, sentence: str, certainty: Certainty, time: When) -> Statement:
    return Statement(
        subject=fact.subject,
        predicate=fact.predicate,
        sentence=sentence,
        source=NOWHERE,
        category=Category(fact.category or Category.PERSONAL),
        object=fact.object,
        value=_said(fact.value) or None,
        aspect=fact.aspect,
        certainty=certainty,
        temporal=Temporal(fact.tense),
        valid_from=time.since,
        valid_to=time.until,
        negated=fact.negated,
    )


def _relation(item: Item) -> Fact:
    predicate = item["predicate"].strip()
    if not PREDICATE.fullmatch(predicate) or len(predicate) > LONGEST_PREDICATE:
        raise Unfit("a predicate that is not UPPER_CASE")
    object = _name(item["object"]) if item["object"] else None
    value = _text(item["value"]) if item["value"] else None
    if (object is None) == (value is None):
        raise Unfit("both an object and a value, or neither")
    return Fact(
        subject=_name(item["subject"]),
        predicate=predicate,
        object=object,
        value=value,
        aspect=_name(item["aspect"]).casefold() if item["aspect"] else None,
        category=item["category"],
        tense=item["tense"],
        negated=item["negated"],
    )


def _validity(time: When, fact: Fact) -> When:
    """What begins or is so now stays open, as with the rules; a birthday is so at any time."""
    if fact.predicate in AT_ANY_TIME:
        return When(None, None)
    goes_on = fact.predicate in BEGINS or (fact.predicate in STATES and fact.tense == "current")
    return When(time.since, None) if goes_on and time.since else time


def _name(said: str) -> str:
    name = " ".join(said.split()).strip("\"'“”")
    if not name or len(name) > LONGEST_NAME:
        raise Unfit("an empty or huge name")
    if name.casefold() in PRONOUNS:
        raise Unfit("a pronoun for a name")
    if not WORD.search(name) or instructions(name):
        raise Unfit("no name")
    return name


def _text(said: str) -> str:
    text = " ".join(said.split())
    if not text or len(text) > LONGEST_TEXT:
        raise Unfit("an empty or huge text")
    if instructions(text):
        raise Unfit("an order to a model")
    return text


def _said(value: object) -> str:
    return value if isinstance(value, str) else ""


def _external(turns: Sequence[Turn]) -> bool:
    return any(turn.external for turn in turns)


def _words(turns: Iterable[Turn]) -> frozenset[str]:
    return frozenset().union(*(turn.words for turn in turns))


def _distinct(names: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(known_as(name), name)
    return list(found.values())


def _at_most(most: Certainty, said: Certainty) -> Certainty:
    return min(most, said, key=lambda certainty: certainty.confidence)
