"""Fact reconciliation: mark new facts that correct, replace or contradict known facts.

An end without a value, such as "Sarah quit", gets the value that it ends if only one is known.
No known fact is changed or deleted. The metadata of the new fact has the result: `supersedes` (ids
of the facts it replaces from now on), `corrects` (those facts were never true), or `held_back` (it
is not valid while the contradicted fact is: True, or the id of the review that decides). The view
`recall.views.fact_timeline` reads these marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from ...core.access import administrator_grant
from ...core.canonical import canonical_json
from ...core.derive import normalize_name
from ...core.ids import digest
from ...core.protocols.store import Store
from ...core.records import Draft, Event, Fact, Memory, MemoryKind
from ...core.records.facts import fact_sentence
from ...core.records.links import DECISION, REVIEW, ReviewDecision, list_decisions
from ...text.dates import find_dates
from ...text.gazetteer import is_first_name, name_type
from ...text.predicates import (
    DATED,
    LASTING,
    PLANS,
    SINGLE_HOLDER,
    contains_words,
    denies_value,
    equivalent_predicates,
    extract_name,
    find_ended,
    has_no_value,
    is_contrary,
    is_end,
    is_single_valued,
    matches_value,
    normalize_aspect,
    normalize_fact_value,
    normalize_phrase,
    predicates_about,
    value_text,
)
from ..names.entities import same_as_draft
from ..rules.results import FollowUp
from .plans import PLANS as PLAN_PREDICATES
from .plans import Plan, find_meant, follow_up_drafts, is_nameless, list_plans
from .scope_facts import KnownFact, KnownFacts

MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
VALUE_PATTERNS = {  # a value is only replaced by one of the same kind
    "clock": r"\b\d{1,2}(?::\d\d)?\s?[ap]m\b|\b\d{1,2}:\d\d\b|\b(?:noon|midnight)\b",
    "weekday": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    "date": rf"\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}\b"
    r"|\b\d{4}-\d\d-\d\d\b|\b(?:tomorrow|today|tonight)\b",
    "number": r"(?<![\w.+-])[$€£]?\d(?:[\d,.]*\d)?%?k?\b(?!-)",
}
COMPILED_PATTERNS = {
    kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in VALUE_PATTERNS.items()
}
I_MEANT = re.compile(r"^(?:i|we) mean[t]? (?:to say )?", re.IGNORECASE)
UNIT = re.compile(r"[^\W\d_]{2,}|[$€£%]")
ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")  # "no, the 19th" corrects the date somebody else gave
MAX_NAME_CHARS = 60  # longer texts are sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedFact:
    """A known fact with the corrected value."""

    fact: Fact
    text: str
    valid_from: datetime | None
    valid_to: datetime | None


def apply_correction(known_fact: KnownFact, wrong: str | None, right: str) -> CorrectedFact | None:
    """Return the fact with `right` instead of `wrong`; None if its value does not fit."""
    fact = known_fact.fact
    value = value_text(fact.value) if fact.object is None else fact.object
    pair = _find_replacement(value, wrong, right)
    if pair is None or pair[0] == pair[1]:
        return None
    new = value.replace(*pair, 1)
    corrected = replace(fact, object=new) if fact.object is not None else replace(fact, value=new)
    since, until = known_fact.valid_from, known_fact.valid_to
    if fact.predicate.upper() in DATED:
        since, until = _date_range(f"is {fact_sentence(corrected)}", known_fact.at)
    old, better = pair
    sentence = (
        known_fact.text.replace(old, better, 1)
        if old in known_fact.text
        else f"{fact_sentence(corrected)}."
    )
    text = sentence[:1].upper() + sentence[1:]
    return CorrectedFact(fact=corrected, text=text, valid_from=since, valid_to=until)


def _find_replacement(value: str, wrong: str | None, right: str) -> tuple[str, str] | None:
    """Return the part of the value to replace, and its replacement."""
    if wrong is not None:
        match = re.search(rf"(?<!\w){re.escape(wrong)}(?!\w)", value, re.IGNORECASE)
        is_number = not any(map(str.isalpha, right)) and any(map(str.isalpha, wrong))
        return (match.group(), right) if match and not is_number else None
    for kind, pattern in COMPILED_PATTERNS.items():
        better, old = pattern.search(right), pattern.search(value)
        if better:
            fits = old and (kind != "number" or _is_same_amount(value, right))
            return (old.group(), better.group()) if old and fits else None
    named = right[:1].isupper() and value[:1].isupper() and len(right) <= MAX_NAME_CHARS
    fits = named and _has_no_pattern(value) and _is_same_sort(value, right)
    return (value, right) if fits else None


def _is_same_amount(value: str, right: str) -> bool:
    """Return whether both are amounts of the same thing: "900 euros" and "950 euros"."""
    if any(COMPILED_PATTERNS[kind].search(value) for kind in ("clock", "weekday", "date")):
        return False
    units, others = (
        {word.removesuffix("s") for word in UNIT.findall(text.casefold())}
        for text in (value, right)
    )
    return not units or not others or not units.isdisjoint(others)


def _is_same_sort(value: str, right: str) -> bool:
    """Return whether two names may be of one sort: a person is no place."""
    one, other = (
        "person" if is_first_name(name.split()[0]) else name_type(name) for name in (value, right)
    )
    return one is None or other is None or one == other


def _has_no_pattern(value: str) -> bool:
    return not any(pattern.search(value) for pattern in COMPILED_PATTERNS.values())


def _date_range(sentence: str, at: datetime) -> tuple[datetime | None, datetime | None]:
    span = next(iter(find_dates(sentence, at)), None)
    return (span.since, span.until) if span else (None, None)


class ContradictionPolicy(StrEnum):
    """Reaction to a new fact that contradicts a known one. All facts are stored in any case."""

    APPEND = "append"  # no mark: readers take the newest fact
    PREFER_NEW = "prefer_new"
    PREFER_OLD = "prefer_old"
    REVIEW = "review"  # a person decides; until then the old fact is valid

    @classmethod
    def _missing_(cls, value: object) -> ContradictionPolicy | None:
        return cls.REVIEW if value == "flag_review" else None  # its name in specification 004


REPLACEMENT_PATTERN = re.compile(
    r"(?:\b(?:instead of|rather than|in place of|replacing)|,\s*(?:and\s+)?not)\s+"
    r"(?P<wrong>[^,.;!?]+)"
    r"|\bfrom\s+(?P<left>[^,.;!?]+?)\s+to\s"
)
CHANGE_WORDS = re.compile(  # words that hand something over to its next holder
    r"\b(?:now|from (?:today|now on|monday|tuesday|wednesday|thursday|friday|next|the|\d)|as of"
    r"|since|starting|effective|(?:took|takes|taking|taken|take) (?:it |this |that )?over"
    r"|inherit(?:s|ed)?|hand(?:s|ed|ing)? (?:it |that |this )?over|goes to|went to|passes to"
    r"|new (?:owner|lead|manager|contact)|passed to|instead|replac(?:es|ed|ing)|moves? to|moved to"
    r"|switch(?:es|ed) to|belongs to|is with|sits with|no longer|back (?:to|with))\b",
    re.IGNORECASE,
)
REPLACEMENT_WORDS = (
    "instead",
    "rather",
    "in place",
    "replacing",
    " not ",
    "from ",
)  # a cheap check before the pattern


def reconcile_facts(
    event: Event,
    drafts: Sequence[Draft],
    known_facts: KnownFacts,
    policy: ContradictionPolicy,
    recent: Sequence[str] = (),
    *,
    follow_ups: Sequence[FollowUp] = (),
) -> list[Draft]:
    """Return the drafts of one event with marks on facts; corrections may add facts.

    `recent` are the ids of the preceding events of the conversation. Call this for the events of a
    scope in the order in which they happened: it adds the new facts to `known_facts`.
    """
    reconciler = _Reconciler(event, known_facts, policy, recent)
    drafts = reconciler.name_plans(drafts)
    reconciled = list(reconciler.reconcile_drafts(drafts))
    reconciled += reconciler.apply_follow_ups(follow_ups, reconciled)
    known_facts.add(event, reconciled)
    return reconciled


@dataclass(slots=True)
class _Reconciler:
    event: Event
    known_facts: KnownFacts
    policy: ContradictionPolicy
    recent: Sequence[str]

    def reconcile_drafts(self, drafts: Sequence[Draft]) -> Iterator[Draft]:
        corrections = [
            draft
            for draft in drafts
            if draft.kind is MemoryKind.LANDMARK and draft.body.get("kind") == "correction"
        ]
        facts = [draft for draft in drafts if draft.kind is MemoryKind.FACT]
        yield from (draft for draft in drafts if draft.kind is not MemoryKind.FACT)
        for draft in facts:
            yield from self._reconcile_fact(
                draft, [each for each in corrections if _matches_correction(each, draft)]
            )
        for correction in corrections:
            if not any(_matches_correction(correction, draft) for draft in facts):
                yield from self._correct_recent_fact(
                    correction, self._stated_before(correction, facts)
                )

    # -- plans that the message does not name

    def name_plans(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Return the drafts; "the new deadline is …" gets the name of the plan that it means."""
        return [
            self._name_plan(draft)
            if draft.kind is MemoryKind.FACT and is_nameless(Fact(**draft.body))
            else draft
            for draft in drafts
        ]

    def _name_plan(self, draft: Draft) -> Draft:
        fact = Fact(**draft.body)
        is_due = fact.predicate.upper() == "DUE_ON"
        meant = self._find_plan(FollowUp(sentence=draft.text, is_due=is_due))
        if meant is None:
            return draft
        known = meant.known
        body = {**draft.body, "subject": known.fact.subject, "predicate": known.fact.predicate}
        return replace(
            draft,
            body=body,
            slot=digest("fact", canonical_json(body)),
            sources=tuple(dict.fromkeys([*draft.sources, *known.sources])),
            confidence=min(draft.confidence, known.confidence),
        )

    def apply_follow_ups(
        self, follow_ups: Sequence[FollowUp], drafts: Sequence[Draft]
    ) -> list[Draft]:
        """Return facts about plans that the message moves or calls off without naming them."""
        own = [Fact(**draft.body) for draft in drafts if draft.kind is MemoryKind.FACT]
        stated = {normalize_name(fact.subject) for fact in own if _is_plan(fact)}
        made: list[Draft] = []
        for each in follow_ups:
            is_stated = any(_is_plan(fact) for fact in own) and each.what is None
            meant = self._find_plan(each)
            if meant is None or (is_stated and normalize_name(meant.subject) not in stated):
                continue
            made += follow_up_drafts(self.event, each, meant)
        known = {draft.id for draft in drafts}
        return [draft for draft in made if draft.id not in known]

    def _find_plan(self, follow_up: FollowUp) -> Plan | None:
        return find_meant(follow_up, list_plans(self._recent_facts()), self.event.at)

    # -- facts

    def _reconcile_fact(self, draft: Draft, corrections: Sequence[Draft]) -> Iterator[Draft]:
        fact = Fact(**draft.body)
        if has_no_value(fact) and is_end(fact):
            draft = self._add_ended_value(draft, fact)
            fact = Fact(**draft.body)
        if corrections and (held := self._find_other_holders(fact)):
            yield from self._replace_holders(draft, held)
            return
        wrong = [text for each in corrections if (text := each.body.get("wrong"))]
        corrected = self._find_corrected(fact, wrong) if corrections else []
        if corrected:  # "new deadline 13 March" is a change: the old date was true before
            was_wrong = any(each.body.get("right") for each in corrections)
            yield from self._supersede_facts(draft, corrected, corrects=was_wrong)
            return
        yield from self._end_pets(draft, fact)
        if CHANGE_WORDS.search(draft.text) and (held := self._find_other_holders(fact)):
            yield draft
            yield from (self._end_holder(draft, each) for each in held)
            return
        if replaced := self._find_replaced(draft, fact):
            yield from self._supersede_facts(draft, replaced, corrects=False)
            return
        against = (
            []
            if self.policy is ContradictionPolicy.APPEND
            else self._find_contradicted(draft, fact)
        )
        yield from self._apply_policy(draft, against) if against else [draft]

    def _find_corrected(self, fact: Fact, wrong: Sequence[str]) -> list[KnownFact]:
        """Return the corrected facts: those with a wrong value, or else the last one."""
        about = [
            each for each in self._find_earlier(fact.subject) if _is_same_aspect(each.fact, fact)
        ]
        near = [each for each in self._recent_facts() if each.fact.predicate == fact.predicate]
        named = [
            each
            for each in _unique_facts([*about, *near])
            if any(_mentions_value(text, each.fact) for text in wrong)
        ]
        if wrong or not about:
            return named
        recent = {each.id for each in self._recent_facts()}
        last = about[0]
        other = normalize_fact_value(last.fact) != normalize_fact_value(fact)
        return [last] if other and (is_single_valued(last.fact) or last.id in recent) else []

    def _add_ended_value(self, draft: Draft, fact: Fact) -> Draft:
        """Return an end with the only value that it can mean, or unchanged."""
        values = self._find_current_values(fact)
        if len(values) != 1:
            return draft
        (known,) = values.values()
        body = {**draft.body, "object": known.fact.object, "value": known.fact.value}
        return replace(
            draft,
            body=body,
            slot=digest("fact", canonical_json(body)),
            sources=tuple(dict.fromkeys([*draft.sources, *known.sources])),
            confidence=min(draft.confidence, known.confidence),
        )

    def _find_current_values(self, end: Fact) -> dict[str, KnownFact]:
        """Return the values that hold, or are planned, for the relation of an end."""
        values: dict[str, KnownFact] = {}
        earlier = [
            each
            for each in reversed(self._find_earlier(end.subject))
            if _is_same_aspect(end, each.fact) and not each.marks.get("held_back")
        ]
        superseded = {id for each in earlier for id in each.marks.get("supersedes", ())}
        for each in earlier:
            fact, predicate = each.fact, each.fact.predicate.upper()
            is_denial = fact.negated != is_contrary(predicate, end.predicate)
            if is_denial or (fact.tense == "past" and predicate not in LASTING):
                ended = find_ended(fact, values)
                if ended is not None and fact.tense != "future":
                    del values[ended]
            elif fact.tense != "future" or predicate in PLANS | DATED:
                if is_single_valued(replace(fact, predicate=end.predicate)):
                    values.clear()
                values[normalize_fact_value(fact)] = each
        return {value: each for value, each in values.items() if each.id not in superseded}

    def _find_other_holders(self, fact: Fact) -> list[KnownFact]:
        """Return facts that name another holder: "Simone is responsible for Ravenna"."""
        predicate = fact.predicate.upper()
        thing = fact.value if fact.object is None else fact.object
        if predicate not in SINGLE_HOLDER or fact.negated or not isinstance(thing, str):
            return []
        if predicate == "OWNS" and thing == thing.lower():
            return []  # "a car" names no certain thing
        return [
            each
            for each in _unique_facts([*self._find_earlier(thing), *self._recent_facts()])
            if each.fact.predicate.upper() == predicate
            and each.fact.tense == fact.tense == "current"
            and not each.fact.negated
            and normalize_name(each.fact.subject) != normalize_name(fact.subject)
            and find_ended(fact, [normalize_fact_value(each.fact)]) is not None
        ]

    def _replace_holders(self, draft: Draft, held: Sequence[KnownFact]) -> Iterator[Draft]:
        """Mark the draft as a correction; deny the relation for each holder that was wrong."""
        marked = list(self._supersede_facts(draft, held, corrects=True))
        yield from marked
        if not marked[0].metadata.get("supersedes"):
            return  # a review decides
        for each in held:
            body = asdict(replace(each.fact, negated=True))
            yield replace(
                marked[0],
                body=body,
                slot=digest("fact", canonical_json(body)),
                sources=tuple(dict.fromkeys([*draft.sources, *each.sources])),
                metadata={**marked[0].metadata, "supersedes": [each.id]},
            )

    def _end_holder(self, draft: Draft, held: KnownFact) -> Draft:
        """Return the end of a relation that another person takes over: "from today Ida has it"."""
        body = asdict(replace(held.fact, tense="past"))
        return replace(
            draft,
            body=body,
            slot=digest("fact", canonical_json(body)),
            sources=tuple(dict.fromkeys([*draft.sources, *held.sources])),
            confidence=min(draft.confidence, held.confidence),
            valid_from=None,
            valid_to=draft.valid_from if draft.valid_from != draft.at else None,
        )

    def _end_pets(self, draft: Draft, fact: Fact) -> Iterator[Draft]:
        """Yield the end of HAS_PET when a pet has died."""
        has_died = fact.predicate.upper() in ("DIED_ON", "DIED") or (
            fact.predicate.upper() == "HAS_STATUS" and fact.value == "died"
        )
        if not has_died or fact.negated:
            return
        for each in self._find_earlier(fact.subject):
            pet = each.fact.object or each.fact.value
            is_pet = each.fact.predicate.upper() == "HAS_PET" and isinstance(pet, str)
            if is_pet and normalize_name(str(pet)) == normalize_name(fact.subject):
                yield self._end_holder(replace(draft, valid_from=draft.valid_from), each)

    def _find_replaced(self, draft: Draft, fact: Fact) -> list[KnownFact]:
        """Return facts that the text replaces: "PostgreSQL instead of MySQL" replaces MySQL."""
        low = draft.text.lower()
        match = (
            REPLACEMENT_PATTERN.search(low)
            if any(word in low for word in REPLACEMENT_WORDS)
            else None
        )
        if match is None or fact.negated:
            return []
        left = normalize_phrase(match["wrong"] or match["left"])
        family = equivalent_predicates(fact.predicate)
        candidates = [*self._find_earlier(fact.subject), *self._recent_facts()]
        return [
            each
            for each in _unique_facts(candidates)
            if each.fact.predicate.upper() in family
            and not each.fact.negated
            and normalize_fact_value(each.fact) != normalize_fact_value(fact)
            and (
                matches_value(extract_name(left), normalize_fact_value(each.fact))
                or _mentions_value(left, each.fact)
            )
        ]

    def _find_contradicted(self, draft: Draft, fact: Fact) -> list[KnownFact]:
        """Return valid facts that cannot be true together with this one."""
        if fact.tense != "current" or draft.valid_from is not None:
            return []  # a fact with a start date states a change
        earlier = self._find_earlier(fact.subject)
        superseded = {id for each in earlier for id in each.marks.get("supersedes", ())}
        valid = [
            each
            for each in earlier
            if each.id not in superseded
            and each.fact.tense == "current"
            and not each.marks.get("held_back")
            and normalize_name(each.fact.subject) == normalize_name(fact.subject)
            and normalize_aspect(each.fact) == normalize_aspect(fact)
        ]
        if is_single_valued(fact) and not fact.negated:  # only the newest value is valid
            family = equivalent_predicates(fact.predicate)
            valid = [each for each in valid if each.fact.predicate.upper() in family][:1]
        return [each for each in valid if _is_contradiction(fact, each.fact)]

    # -- marks and reviews

    def _supersede_facts(
        self, draft: Draft, old: Sequence[KnownFact], *, corrects: bool
    ) -> Iterator[Draft]:
        """Mark the draft as replacing old facts; if an old fact has more trust, add a review."""
        trusted = [each for each in old if each.trust > self.event.trust]
        if trusted:
            review = self._review_draft(draft, trusted)
            yield _add_metadata(draft, held_back=review.id)
            yield review
            return
        ids = [each.id for each in old]
        yield _add_metadata(draft, supersedes=ids, **({"corrects": True} if corrects else {}))

    def _apply_policy(self, draft: Draft, against: Sequence[KnownFact]) -> Iterator[Draft]:
        if self.policy is ContradictionPolicy.PREFER_OLD:
            yield _add_metadata(draft, held_back=True)
        elif self.policy is ContradictionPolicy.REVIEW:
            review = self._review_draft(draft, against)
            yield _add_metadata(draft, held_back=review.id)
            yield review
        else:
            ids = [each.id for each in against if each.trust <= self.event.trust]
            yield _add_metadata(draft, supersedes=ids) if ids else draft

    def _review_draft(self, draft: Draft, old: Sequence[KnownFact]) -> Draft:
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

    # -- corrections without a fact, such as "I meant Tuesday"

    def _stated_before(self, correction: Draft, facts: Sequence[Draft]) -> list[KnownFact]:
        """Return the facts of this message that stand before a correction, nearest first."""
        end = self.event.text.find(correction.text)
        placed = [(self.event.text.find(draft.text), draft) for draft in facts]
        before = [each for each in placed if 0 <= each[0] < end]
        before.sort(key=lambda each: each[0], reverse=True)
        return [KnownFact.from_draft(self.event, draft) for _, draft in before]

    def _correct_recent_fact(
        self, correction: Draft, stated: Sequence[KnownFact]
    ) -> Iterator[Draft]:
        """Derive the nearest fact again with the corrected value; `stated` are of this message."""
        right, wrong = correction.body.get("right"), correction.body.get("wrong")
        if not isinstance(right, str):
            return
        targets = [
            *(each for each in stated if wrong is None or _mentions_value(wrong, each.fact)),
            *self._correction_targets(wrong, right),
        ]
        right = I_MEANT.sub("", right)
        is_amount = any(map(str.isdigit, right))
        sentence: str | None = None
        for each in targets:
            if sentence not in (None, each.text):  # one sentence may have given several facts
                continue
            if corrected := apply_correction(each, wrong, right):
                sentence = each.text
                draft = self._correction_draft(correction, each, corrected)
                alike = [other for other in targets if _is_same_aspect(other.fact, each.fact)]
                yield from self._supersede_facts(draft, alike if wrong else [each], corrects=True)
                if not is_amount:
                    return

    def _correction_targets(self, wrong: str | None, right: str) -> list[KnownFact]:
        """Return the facts that a correction may mean, most likely first."""
        if wrong is None:  # "I meant": speakers correct themselves
            recent = self._recent_facts()
            own = [each for each in recent if each.speaker == self.event.speaker]
            if own or not ISO_DAY.fullmatch(right):
                return own
            return [each for each in recent if each.fact.predicate.upper() in DATED][:1]
        facts = [*self._recent_facts(), *self._find_earlier(wrong)]
        return [each for each in _unique_facts(facts) if _mentions_value(wrong, each.fact)]

    def _correction_draft(
        self, correction: Draft, old: KnownFact, corrected_fact: CorrectedFact
    ) -> Draft:
        return replace(
            correction,
            kind=MemoryKind.FACT,
            text=corrected_fact.text,
            slot=digest("fact", canonical_json(asdict(corrected_fact.fact))),
            sources=tuple(dict.fromkeys([*correction.sources, *old.sources])),
            confidence=min(old.confidence, correction.confidence),
            valid_from=corrected_fact.valid_from,
            valid_to=corrected_fact.valid_to,
            body=asdict(corrected_fact.fact),
        )

    # -- known facts

    def _find_earlier(self, name: str) -> list[KnownFact]:
        """Return facts before this event, so that learning an event again gives the same result."""
        return [each for each in self.known_facts.find_by_name(name) if self._is_earlier(each)]

    def _recent_facts(self) -> list[KnownFact]:
        return [
            each for each in self.known_facts.find_by_source(self.recent) if self._is_earlier(each)
        ]

    def _is_earlier(self, known_fact: KnownFact) -> bool:
        return self.event.id not in known_fact.sources and known_fact.at <= self.event.at


def accept_contradiction(review: Memory, decision: Event, sources: Sequence[str]) -> Draft:
    """Return the new fact of an accepted review, marked as replacing the old facts.

    Its time is that of the statement; its trust is the higher one of speaker and decider.
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


def _is_plan(fact: Fact) -> bool:
    return fact.predicate.upper() in PLAN_PREDICATES


def _add_metadata(draft: Draft, **marks: object) -> Draft:
    return replace(draft, metadata={**draft.metadata, **marks})


def _is_same_aspect(one: Fact, two: Fact) -> bool:
    """Return whether both facts describe the same aspect of one subject."""
    same = two.predicate.upper() in predicates_about(one.predicate)
    return (
        same
        and normalize_name(one.subject) == normalize_name(two.subject)
        and normalize_aspect(one) == normalize_aspect(two)
    )


def _matches_correction(correction: Draft, draft: Draft) -> bool:
    """Return whether this fact states the right value of a correction."""
    right = correction.body.get("right")
    stated = isinstance(right, str) and contains_words(
        normalize_phrase(right), normalize_phrase(draft.text)
    )
    return stated or correction.text == draft.text


def _mentions_value(words: str, fact: Fact) -> bool:
    return contains_words(normalize_phrase(words), normalize_fact_value(fact))


def _is_contradiction(new: Fact, old: Fact) -> bool:
    if is_contrary(new.predicate, old.predicate):
        return new.negated == old.negated and denies_value(new, normalize_fact_value(old))
    if equivalent_predicates(new.predicate).isdisjoint([old.predicate.upper()]):
        return False
    if new.negated != old.negated:
        return (
            denies_value(new, normalize_fact_value(old))
            if new.negated
            else denies_value(old, normalize_fact_value(new))
        )
    return (
        not new.negated
        and is_single_valued(new)
        and normalize_fact_value(new) != normalize_fact_value(old)
    )


def _unique_facts(facts: Sequence[KnownFact]) -> list[KnownFact]:
    return list({each.id: each for each in facts}.values())


COPIED_FIELDS = (
    "what",
    "names",
    "old",
    "new",
)  # from the review, so that the decision is readable alone


def apply_review_decision(store: Store, event: Event) -> list[Draft]:
    """Return the drafts of the last decision; delete memories of earlier decisions now."""
    everything = administrator_grant(event.workspace)
    memories = store.memories.get(everything, [str(event.metadata.get(REVIEW))])
    review = memories[0] if memories else None
    if review is None or review.kind is not MemoryKind.REVIEW or review.scope != event.scope:
        return []
    decisions = list_decisions(store, everything.narrow_to([event.scope]), review.id)
    if not decisions:
        return []
    effective = list(_effective_drafts(decisions[-1], review))
    effective_ids = {draft.id for draft in effective}
    possible = [draft for each in decisions for draft in _decision_drafts(each, review)]
    old = {draft.id for draft in (*possible, *_automatic_drafts(review))} - effective_ids
    store.memories.delete(event.workspace, sorted(old))
    return effective


def _effective_drafts(last_decision: Event, review: Memory) -> Iterator[Draft]:
    """Yield the drafts after the last decision; after an undo only the automatic ones."""
    if last_decision.metadata[DECISION] == ReviewDecision.UNDO:
        yield from _automatic_drafts(review)
    else:
        yield from _decision_drafts(last_decision, review)


def _decision_drafts(decision: Event, review: Memory) -> Iterator[Draft]:
    """Yield the drafts of one decision; the review is a source, so it has the same readers."""
    what = decision.metadata[DECISION]
    if what == ReviewDecision.UNDO:
        return
    sources = (decision.id, review.id)
    yield _decision_record(decision, review, sources)
    if what == ReviewDecision.ACCEPT and review.body["what"] == "merge":
        yield same_as_draft(decision, _name_pair(review), sources)
    elif what == ReviewDecision.ACCEPT:
        yield accept_contradiction(review, decision, sources)


def _automatic_drafts(review: Memory) -> Iterator[Draft]:
    """Yield the link that a proven address caused before any decision."""
    if review.body.get("automatic"):
        yield same_as_draft(review, _name_pair(review), review.sources)


def _name_pair(review: Memory) -> tuple[str, str]:
    first, second = review.body["names"]
    return first, second


def _decision_record(decision: Event, review: Memory, sources: Sequence[str]) -> Draft:
    what = decision.metadata[DECISION]
    copied = {name: review.body[name] for name in COPIED_FIELDS if name in review.body}
    body: dict[str, Any] = {
        **copied,
        "decides": review.id,
        "decision": what,
        "by": decision.speaker,
    }
    return Draft(
        scope=review.scope,
        kind=MemoryKind.REVIEW,
        text=f"{decision.speaker} said {what} to: {review.text}",
        sources=tuple(sources),
        slot="decision",
        indexed_text="",
        speaker=decision.speaker,
        role=decision.role,
        source="review",
        learned=True,
        body=body,
    )
