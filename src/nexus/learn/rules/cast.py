"""Who is meant: the speaker, the room, and those spoken of, nearest last."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.text import STOP_WORDS
from .extracted import Context, Message
from .lexicon import ADVERBS, FEMALE, KIN, MALE, PARENTS, PLURAL, POSSESSIVES, words
from .tokens import NAMED, Token, tokens

WINDOW = 2  # messages before this one in which a pronoun may find its name

WOMEN = words(
    """sarah mary anna emma olivia sophia julia jenny jennifer maria laura linda susan karen lisa
    nancy alice carol caroline melanie priya nadia fatima chloe ines olga katarzyna erin
    dana hannah emily jessica amy angela helen kate katie lucy rachel rebecca victoria maya
    nina eva elena sofia claire"""
)
MEN = words(
    """john james robert michael william david richard joseph thomas tom charles daniel matthew
    mark paul george kevin brian steven edward peter henry jack ryan tyler sam samuel bob
    rob luis marco diego leo ravi henrik marcus evan tim adam alex ben chris eric frank greg
    ian jim joe josh luke max nick oliver oscar patrick pedro simon steve tony"""
)
PRIVATE = words(  # ours means mine and my people's, also in a project's room
    """company family house home wedding kids children dog cat parents flat apartment garden car
    neighbors neighbours anniversary son daughter marriage honeymoon baby fence landlord place"""
)


@dataclass(slots=True)
class Cast:
    """Names for "I", "we", "you" and "she" in one message."""

    speaker: str
    group: str  # "we"
    other: str | None  # "you", where only one can be meant
    everybody: str  # the participants, who decide and plan together
    project: str | None
    known: frozenset[str]
    recent: Sequence[Message] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    seen: list[tuple[str, str]] = field(default_factory=list)  # name, pronoun
    _looked: bool = False

    @classmethod
    def of(cls, message: Message, context: Context) -> Cast:
        others = [name for name in context.participants if name != message.speaker]
        everybody = " and ".join([message.speaker, *others]) if others else message.speaker
        known = {*context.known, *context.participants, message.speaker}
        return cls(
            speaker=message.speaker,
            group=context.project or message.speaker,
            other=others[0] if len(others) == 1 else None,
            everybody=context.project or everybody,
            project=context.project,
            known=frozenset(
                part.lower() for name in known for part in (name, *name.split())
            ).difference(STOP_WORDS),
            recent=context.recent,
            types=context.types,
        )

    def meet(self, name: str, phrase: str) -> None:
        """Somebody was spoken of, and can be meant by a pronoun from now on."""
        if name not in (self.speaker, self.project):
            self.seen.append((name, _pronoun(phrase)))

    def who(self, pronoun: str) -> str | None:
        """Whom a pronoun means: of the third person the nearest, nobody if two of them could."""
        if pronoun in ("i", "we"):
            return self.speaker if pronoun == "i" else self.group
        if pronoun not in ("he", "she", "they"):
            return None
        if not self._looked:
            self._looked = True
            self.seen[:0] = [each for message in self.recent[-WINDOW:] for each in _named(message)]
        fitting = [name for name, fits in self.seen[-4:] if fits == pronoun]
        if fitting:
            return fitting[-1]
        unsure = {name for name, fits in self.seen[-4:] if fits == "?"}
        return unsure.pop() if len(unsure) == 1 and pronoun in ("he", "she") else None

    def each(self, names: str, *, people: bool) -> list[str]:
        """Tyler and Sarah are two; Marks and Spencer are one, unless only `people` can be meant."""
        parts = JOINED.split(names) if " and " in names else [names]
        if len(parts) == 1 or not all(SPELT.fullmatch(part) for part in parts):
            return [names]
        known = all(_is_somebody(part.lower(), self.known) for part in parts)
        return parts if people or known else [names]

    def our(self, noun: str) -> str:
        return self.speaker if noun in PRIVATE or noun in KIN else self.group

    def _owner(self, possessive: str, noun: str) -> str | None:
        if possessive == "my":
            return self.speaker
        if possessive == "our":
            return self.our(noun)
        return self.other if possessive == "your" else self.who(WHOSE.get(possessive, ""))

    def named(self, phrase: Sequence[Token]) -> str | None:
        """The name a noun phrase stands for in a sentence of its own, or nothing."""
        while phrase and (phrase[0].low in ADVERBS or phrase[0].kind == "mark"):
            phrase = phrase[1:]
        if not phrase:
            return None
        first = phrase[0].low
        rest = joined(phrase[1:])
        if first in POSSESSIVES:
            owner = self._owner(first, phrase[-1].low)
            kin = _apposed(phrase) if first in ("my", "our") else None
            return kin or (f"{owner}'s {rest}" if owner else None)
        if first in PARENTS and (len(phrase) == 1 or phrase[1].low == "'s"):
            return f"{self.speaker}'s {first}{_tail(phrase, 1)}"
        if first in ("the", "a", "an"):
            return rest or None
        if first in ("this", "that", "these", "those"):
            return None
        return re.sub(r"\bmy\b", f"{self.speaker}'s", joined(phrase))


JOINED = re.compile(r",? and |, ")
SPELT = re.compile(rf"(?:[^\W\d_][\w-]*|{NAMED})(?: {NAMED}){{0,2}}")


def _is_somebody(small: str, known: frozenset[str]) -> bool:
    return small in known or (first := small.split(maxsplit=1)[0]) in WOMEN or first in MEN


WHOSE = {"his": "he", "her": "she", "their": "they"}


def joined(phrase: Sequence[Token]) -> str:
    """Words with single spaces, as they were written."""
    text = ""
    for place, word in enumerate(phrase):
        apart = place > 0 and phrase[place - 1].end < word.start
        text += (" " if apart else "") + word.text
    return text


def _tail(phrase: Sequence[Token], place: int) -> str:
    tail = joined(phrase[place:])
    return tail if tail.startswith(("'", "’")) or not tail else f" {tail}"


def _apposed(phrase: Sequence[Token]) -> str | None:
    """Tom, in "my brother Tom"."""
    for place in range(1, len(phrase) - 1):
        if phrase[place].low in KIN and phrase[place + 1].text[:1].isupper():
            return joined(phrase[place + 1 :])
    return None


def _pronoun(phrase: str) -> str:
    found = set(phrase.lower().replace("'s", " ").split())
    if " and " in phrase or found & PLURAL:
        return "they"
    last = phrase.lower().split()[-1] if phrase else ""
    if last in FEMALE or last in WOMEN:
        return "she"
    if last in MALE or last in MEN:
        return "he"
    if last in KIN or (len(found) == 1 and phrase[:1].isupper()):
        return "?"
    return "it"


def _named(message: Message) -> list[tuple[str, str]]:
    """Whom a message before speaks of: names inside its sentences, and people who are "my"."""
    found: list[tuple[str, str]] = []
    before = ""
    for word in tokens(message.text[:2000]):
        person = word.low in WOMEN or word.low in MEN
        if person and word.text[:1].isupper() and word.text != message.speaker:
            found.append((word.text, _pronoun(word.text)))
        elif before == "my" and word.low in KIN:
            found.append((f"{message.speaker}'s {word.low}", _pronoun(word.low)))
        before = word.low
    return found
