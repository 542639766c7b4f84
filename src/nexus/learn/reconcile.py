"""New facts beside known ones: what corrects, replaces or contradicts what was said before.

Nothing is removed and nothing known is changed. The newer fact says in its metadata what it
stands for: `supersedes` (ids of the facts it takes the place of, from now on), `corrects` (they
were never so), or `held_back` (it does not hold while what it contradicts does: True, or the id
of the review that is to decide). `recall.interpret` reads that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from ..core.canonical import canonical_json
from ..core.derive import known_as
from ..core.ids import digest
from ..core.predicates import (
    aspect_of,
    bearing_on,
    contrary,
    denies,
    holds_one,
    holds_words,
    named_by,
    names_value,
    plain,
    said_alike,
    value_of,
)
from ..core.records import Draft, Event, Fact, Memory, MemoryKind
from .known import Known, KnownFacts
from .put_right import PutRight, put_right


class Policy(StrEnum):
    """What to do when a new fact contradicts a known one. All facts are kept in any case."""

    APPEND = "append"  # whoever reads decides: the newest holds
    PREFER_NEW = "prefer_new"
    PREFER_OLD = "prefer_old"
    REVIEW = "review"  # a person decides; until then the old one holds

    @classmethod
    def _missing_(cls, value: object) -> Policy | None:
        return cls.REVIEW if value == "flag_review" else None  # seed 004's word


INSTEAD = re.compile(
    r"(?:\b(?:instead of|rather than|in place of|replacing)|,\s*(?:and\s+)?not)\s+"
    r"(?P<wrong>[^,.;!?]+)"
    r"|\bfrom\s+(?P<left>[^,.;!?]+?)\s+to\s"
)
INSTEAD_WORDS = ("instead", "rather", "in place", "replacing", " not ", "from ")  # seen sooner


def reconcile(
    event: Event,
    drafts: Sequence[Draft],
    known: KnownFacts,
    policy: Policy,
    recent: Sequence[str] = (),
) -> list[Draft]:
    """The drafts of one event, those of facts with what they stand for; corrections may add some.

    `recent` are the ids of the events just before it in the same conversation. Call it for the
    events of a place in the order they happened: it tells `known` what was learned.
    """
    reading = _Reading(event, known, policy, recent)
    made = list(reading.read(drafts))
    known.add(event, made)
    return made


@dataclass(slots=True)
class _Reading:
    event: Event
    known: KnownFacts
    policy: Policy
    recent: Sequence[str]

    def read(self, drafts: Sequence[Draft]) -> Iterator[Draft]:
        corrections = [
            draft
            for draft in drafts
            if draft.kind is MemoryKind.LANDMARK and draft.body.get("kind") == "correction"
        ]
        facts = [draft for draft in drafts if draft.kind is MemoryKind.FACT]
        yield from (draft for draft in drafts if draft.kind is not MemoryKind.FACT)
        for draft in facts:
            yield from self._fact(draft, [each for each in corrections if _is_told(each, draft)])
        for correction in corrections:
            if not any(_is_told(correction, draft) for draft in facts):
                yield from self._said_right(correction)

    # -- facts

    def _fact(self, draft: Draft, corrections: Sequence[Draft]) -> Iterator[Draft]:
        fact = Fact(**draft.body)
        wrong = [text for each in corrections if (text := each.body.get("wrong"))]
        corrected = self._corrected(fact, wrong) if corrections else []
        if corrected:
            yield from self._instead(draft, corrected, corrects=True)
            return
        if replaced := self._replaced(draft, fact):
            yield from self._instead(draft, replaced, corrects=False)
            return
        against = [] if self.policy is Policy.APPEND else self._contradicted(draft, fact)
        yield from self._by_policy(draft, against) if against else [draft]

    def _corrected(self, fact: Fact, wrong: Sequence[str]) -> list[Known]:
        """What was said of the same thing: the value named wrong, or else the last one said."""
        about = [each for each in self._earlier(fact.subject) if _alike(each.fact, fact)]
        near = [each for each in self._just_said() if each.fact.predicate == fact.predicate]
        named = [
            each
            for each in _each_once([*about, *near])
            if any(_names(text, each.fact) for text in wrong)
        ]
        if wrong or not about:
            return named
        just = {each.id for each in self._just_said()}
        last = about[0]
        other = value_of(last.fact) != value_of(fact)
        return [last] if other and (holds_one(last.fact) or last.id in just) else []

    def _replaced(self, draft: Draft, fact: Fact) -> list[Known]:
        """PostgreSQL instead of MySQL: what of the same subject, or just said, was MySQL."""
        low = draft.text.lower()
        match = INSTEAD.search(low) if any(word in low for word in INSTEAD_WORDS) else None
        if match is None or fact.negated:
            return []
        left = plain(match["wrong"] or match["left"])
        family = said_alike(fact.predicate)
        beside = [*self._earlier(fact.subject), *self._just_said()]
        return [
            each
            for each in _each_once(beside)
            if each.fact.predicate.upper() in family
            and not each.fact.negated
            and value_of(each.fact) != value_of(fact)
            and (names_value(named_by(left), value_of(each.fact)) or _names(left, each.fact))
        ]

    def _contradicted(self, draft: Draft, fact: Fact) -> list[Known]:
        """The facts that cannot be so together with this one."""
        if fact.tense != "current" or draft.valid_from is not None:
            return []  # who says since when says that it changed
        earlier = self._earlier(fact.subject)
        gone = {id for each in earlier for id in each.marks.get("supersedes", ())}
        standing = [
            each
            for each in earlier
            if each.id not in gone
            and each.fact.tense == "current"
            and not each.marks.get("held_back")
            and known_as(each.fact.subject) == known_as(fact.subject)
            and aspect_of(each.fact) == aspect_of(fact)
        ]
        if holds_one(fact) and not fact.negated:  # only the last one said still stands
            family = said_alike(fact.predicate)
            standing = [each for each in standing if each.fact.predicate.upper() in family][:1]
        return [each for each in standing if _contradicts(fact, each.fact)]

    # -- what follows from it

    def _instead(self, draft: Draft, old: Sequence[Known], *, corrects: bool) -> Iterator[Draft]:
        """A correction takes the place of what it corrects, unless that is trusted more."""
        over = [each for each in old if each.trust > self.event.trust]
        if over:
            review = self._review(draft, over)
            yield _marked(draft, held_back=review.id)
            yield review
            return
        ids = [each.id for each in old]
        yield _marked(draft, supersedes=ids, **({"corrects": True} if corrects else {}))

    def _by_policy(self, draft: Draft, against: Sequence[Known]) -> Iterator[Draft]:
        if self.policy is Policy.PREFER_OLD:
            yield _marked(draft, held_back=True)
        elif self.policy is Policy.REVIEW:
            review = self._review(draft, against)
            yield _marked(draft, held_back=review.id)
            yield review
        else:
            below = [each.id for each in against if each.trust <= self.event.trust]
            yield _marked(draft, supersedes=below) if below else draft

    def _review(self, draft: Draft, old: Sequence[Known]) -> Draft:
        fact = Fact(**draft.body)
        first = old[0]
        names = [fact.subject, *(each for each in (fact.object, first.fact.object) if each)]
        return Draft(
            scope=draft.scope,
            kind=MemoryKind.REVIEW,
            text=f"Contradiction: “{first.text}” was known; “{draft.text}” was said.",
            sources=tuple(dict.fromkeys([*draft.sources, *(id for k in old for id in k.sources)])),
            slot=digest("contradiction", draft.id),
            confidence=draft.confidence,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            speaker=draft.speaker,
            role=draft.role,
            source=draft.source,
            thread=draft.thread,
            learned=True,
            metadata={"made_by": draft.metadata.get("made_by", [])},
            body={
                "what": "contradiction",
                "old": first.id,
                "new": draft.id,
                "supersedes": [each.id for each in old],
                "fact": dict(draft.body),
                "said": draft.text,
                "trust": int(self.event.trust),
                "names": list(dict.fromkeys(names)),
                "predicate": fact.predicate,
                "confidence": draft.confidence,
            },
        )

    # -- corrections that say no fact by themselves

    def _said_right(self, correction: Draft) -> Iterator[Draft]:
        """No, I meant Tuesday: the fact just said, with Tuesday in the place of Monday."""
        right, wrong = correction.body.get("right"), correction.body.get("wrong")
        if not isinstance(right, str):
            return
        meant = self._meant(wrong)
        for each in meant:
            if said := put_right(each, wrong, right):
                draft = self._again(correction, each, said)
                alike = [other for other in meant if _alike(other.fact, each.fact)]
                yield from self._instead(draft, alike if wrong else [each], corrects=True)
                return

    def _meant(self, wrong: str | None) -> list[Known]:
        """The facts that may be meant, likeliest first."""
        if wrong is None:  # "I meant": one corrects oneself
            return [each for each in self._just_said() if each.speaker == self.event.speaker]
        said = [*self._just_said(), *self._earlier(wrong)]
        return [each for each in _each_once(said) if _names(wrong, each.fact)]

    def _again(self, correction: Draft, old: Known, said: PutRight) -> Draft:
        return replace(
            correction,
            kind=MemoryKind.FACT,
            text=said.text,
            slot=digest("fact", canonical_json(asdict(said.fact))),
            sources=tuple(dict.fromkeys([*correction.sources, *old.sources])),
            confidence=min(old.confidence, correction.confidence),
            salience=0.5,
            valid_from=said.valid_from,
            valid_to=said.valid_to,
            body=asdict(said.fact),
        )

    # -- what is known

    def _earlier(self, name: str) -> list[Known]:
        """Said before this event: learning something again finds what the first time found."""
        return [each for each in self.known.naming(name) if self._before(each)]

    def _just_said(self) -> list[Known]:
        return [each for each in self.known.resting_on(self.recent) if self._before(each)]

    def _before(self, known: Known) -> bool:
        return self.event.id not in known.sources and known.at <= self.event.at


def settled(review: Memory, decision: Event, sources: Sequence[str]) -> Draft:
    """The fact of a contradiction that a person accepted: said again, in the old ones' place.

    It is as old as what was said, and as trusted as who said it or who decided.
    """
    body = review.body
    return Draft(
        scope=review.scope,
        kind=MemoryKind.FACT,
        text=body["said"],
        sources=tuple(sources),
        slot=digest("fact", canonical_json(body["fact"])),
        at=review.at,
        confidence=body["confidence"],
        valid_from=review.valid_from,
        valid_to=review.valid_to,
        speaker=review.speaker,
        role=review.role,
        source=review.source,
        thread=review.thread,
        learned=True,
        metadata={
            **review.metadata,
            "supersedes": list(body["supersedes"]),
            "accepted": max(body["trust"], int(decision.trust)),
        },
        body=dict(body["fact"]),
    )


def _marked(draft: Draft, **said: object) -> Draft:
    return replace(draft, metadata={**draft.metadata, **said})


def _alike(one: Fact, two: Fact) -> bool:
    """Whether both are about the same thing of their subject."""
    same = two.predicate.upper() in bearing_on(one.predicate)
    return (
        same and known_as(one.subject) == known_as(two.subject) and aspect_of(one) == aspect_of(two)
    )


def _is_told(correction: Draft, draft: Draft) -> bool:
    """Whether this fact is what a correction puts there."""
    right = correction.body.get("right")
    told = isinstance(right, str) and holds_words(plain(right), plain(draft.text))
    return told or correction.text == draft.text


def _names(words: str, fact: Fact) -> bool:
    return holds_words(plain(words), value_of(fact))


def _contradicts(new: Fact, old: Fact) -> bool:
    if contrary(new.predicate, old.predicate):
        return new.negated == old.negated and denies(new, value_of(old))
    if said_alike(new.predicate).isdisjoint([old.predicate.upper()]):
        return False
    if new.negated != old.negated:
        return denies(new, value_of(old)) if new.negated else denies(old, value_of(new))
    return not new.negated and holds_one(new) and value_of(new) != value_of(old)


def _each_once(facts: Sequence[Known]) -> list[Known]:
    return list({each.id: each for each in facts}.values())
