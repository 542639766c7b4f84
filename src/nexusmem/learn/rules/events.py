"""Dates, schedules, prices and roles that stand beside a noun: "Launch planned for 1 March".

These are read from the words around a date or an amount. Parts of speech are surer than arcs of
the tree, and notes have no verbs: "legal review until May 8", "Lars Feddersen (CFO)".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ...text.dates import DatePrecision, DateRelation, DateSpan
from ...text.gazetteer import is_first_name, name_type
from .coreference import Speakers
from .grammar import Clause, Tense, Tree, verb_form
from .lexicon import (
    CLUBS,
    DEADLINE_NOUNS,
    EVENTS,
    KIN,
    OCCUPATIONS,
    PARENTS,
    word_set,
)
from .results import Category, StatementTense

SKIPPED = word_set(
    "on for to by at in from the only now already around this next coming as of starting"
    " effective still until till through beginning , ( - – : = -> → > is's"
)
# Verbs of dates. A particle says which: "runs out", "goes live", "comes off".
END_VERBS = word_set("end expire finish close lapse run stop shut terminate conclude cease elapse")
START_VERBS = word_set("start begin kick commence open reopen resume restart recommence")
LAST_VERBS = word_set("run last continue be stay remain go")  # "runs until 14 June"
ARRIVAL_VERBS = word_set("land arrive")
PLAN_VERBS = word_set(
    """be take happen come arrive move schedule plan set book postpone push reschedule shift
    slip land ship launch go roll deliver expect confirm fix premiere debut depart leave sail
    collect reserve pencil slate bring defer delay put drop return release publish due-in"""
)
SHIFT_VERBS = word_set(
    """move schedule plan set book postpone push reschedule shift slip confirm fix expect reserve
    pencil slate bring defer delay"""
)
DONE_VERBS = word_set(
    "pay submit file return hand send complete finish settle renew upload sign be"
)
OBLIGATION = word_set("must has have needs need")
DATED_FORMS = word_set(  # verbs that the parser may take for nouns: "v5 ships on Friday"
    """ships lands launches starts opens closes ends expires finishes begins resumes drops sails
    departs leaves arrives lapses premieres reopens kicks goes comes runs returns stops"""
)
PLURAL_VERBS = word_set("close open start begin end expire resume finish reopen ship arrive land")
PARTICLES = word_set("off out up back in live again forward ahead over through home round on down")
TRIGGER_TAGS = frozenset(["AUX", "VERB", "ADV", "PART", "ADP"])
TRIGGER_WORDS = word_set("due live valid good payable back off up over out")
NO_DATED = word_set(
    """birthday anniversary day week month year time morning afternoon evening one date night thing
    things people guy guys lot while weather news rest everything nothing something anything issue
    problem question life mood idea reason fun bit way"""
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun"
WEEKDAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|weeknights|weekends"
MONTH_NAME = "january|february|march|april|may|june|july|august|september|october|november|december"
CLOCK = (
    r"(?:,?\s+(?:now\s+)?(?:at|from|around|till|until)\s+(?:\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm|utc"
    r"|h)?\b|noon|midnight|(?:half\s+)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve)\b)|,?\s+\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm|[–-]\s?\d{1,2}(?:[:.]\d\d)?)?\b)?"
)
JOIN = r"(?:\s?(?:,|/|&|\+|and)\s?|\s)"
RECURRENCE = re.compile(
    rf"\b(?:every|each)\s+(?:other\s+|second\s+|third\s+|single\s+|first\s+|last\s+)?(?:day|night"
    rf"|morning|evening|afternoon|week|weekday|weekend|month|year|quarter|hour|fortnight|summer"
    rf"|winter|spring|autumn|\d{{1,3}}\s+\w+|(?:two|three|four|six)\s+\w+"
    rf"|(?:{WEEKDAY})(?:{JOIN}(?:{WEEKDAY})\b)*|{MONTH_NAME})\b"
    rf"(?:\s+(?:morning|evening|night|afternoon))?{CLOCK}(?:\s+before\s+\w+)?"
    rf"|\b(?:{WEEKDAYS})(?:{JOIN}(?:{WEEKDAYS})\b)*(?:\s+(?:mornings?|evenings?|afternoons?))?{CLOCK}"
    rf"|\b(?:{WEEKDAY})(?:{JOIN}(?:{WEEKDAY})\b){{1,4}}\s+(?:mornings|evenings|afternoons|nights){CLOCK}"
    rf"|\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\s+(?:mornings|evenings"
    rf"|afternoons|nights){CLOCK}"
    rf"|\bmost\s+(?:days|mornings|evenings|weekends|nights)\b"
    rf"|\b(?:twice|once|three times)\s+an?\s+(?:day|week|month|year)\b"
    rf"|\b(?:the\s+)?(?:first|second|third|last)\s+(?:monday|tuesday|wednesday|thursday|friday"
    rf"|saturday|sunday|day)\s+of\s+(?:the|each|every)\s+(?:month|quarter)\b",
    re.IGNORECASE,
)
PLURAL_DAY = re.compile(r" (?:mornings|afternoons|evenings|nights)\b", re.IGNORECASE)
APART = re.compile(r"[,;] (?:and )?(?P<what>[a-z]+(?: [a-z]+)?) $")  # ", recycling every Friday"
ENDED_RECURRENCE = re.compile(
    r"\b(?:no longer|not|instead of|rather than|never)(?:\s+on)?\s+(?:the\s+)?$", re.IGNORECASE
)
AMOUNT = re.compile(
    r"(?:[€$£]\s?\d[\d.,]*\s?(?:k|m|bn)?\b|\b(?:EUR|USD|GBP|CHF)\s?\d[\d.,]*(?:\s?[km])?\b|\b\d[\d.,]*\s?(?:k\b|€|\$|£|euros?\b|dollars?\b|pounds?\b|EUR\b|USD\b|GBP\b|CHF\b))"
    r"(?:\s(?:per|an?)\s\w+|\s?/\s?\w+)?",
    re.IGNORECASE,
)
PRICE = re.compile(
    r"\b(?P<what>(?:[a-z-]+ )?(?:rent|price|fee|subscription|membership))\s+(?:is|stays(?:"
    r" at)?|costs?|will be|goes (?:up )?to|rises to|was)\s+(?P<value>[€$£]?\d[\d.,]*\s?(?:€"
    r"|\$|£|k|euros?|EUR)?)"
    r"(?P<rest>[^.!?\n]{0,40}?,\s*(?:was|before(?: it was)?|instead of|up from|down"
    r" from)\s+(?P<old>[€$£]?\d[\d.,]*\s?(?:€|\$|£|k|euros?)?))?",
    re.IGNORECASE,
)
COSTS = re.compile(
    rf"\b(?P<what>[A-Za-z][\w-]*(?: [a-z][\w-]*)?)\s+costs?\s+(?P<value>{AMOUNT.pattern})",
    re.IGNORECASE,
)
NAME = r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?:\s+(?:van |von |de |der )?[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}"
ROLE_IN_BRACKETS = re.compile(rf"(?P<name>{NAME})\s*\((?P<role>[A-Za-z][\w /-]{{1,30}})\)")
FORMER_EMPLOYER = re.compile(rf"(?P<name>{NAME})\s*\(ex[- ](?P<company>[A-Z][\w&-]+)\)")


ACTIVITY_VERBS = word_set(
    "do have join start attend play take teach run hold give practise practice"
)
MOOD_VERBS = word_set(
    """make bring cheer give keep help feel love like remind inspire motivate say tell claim joke
    insist complain"""
)
WEATHER_VERBS = word_set("rain snow hail pour freeze storm drizzle get seem happen depend")
VAGUE_DATES = (DatePrecision.YEAR, DatePrecision.DECADE)
GREETING = re.compile(r"(?:hello|hi|hey|dear|hiya|thanks|thank)\b", re.IGNORECASE)
LABELLED_NUMBER = re.compile(r"(?:number|no\.?|ref(?:erence)?|code|nr\.?)\s", re.IGNORECASE)
VENUE_PREDICATES = ("SCHEDULED_FOR", "STARTED_ON")
VENUE_NOUNS = (
    "hall|church|pub|school|room|library|park|cafe|café|restaurant|theatre|theater|club|gym|office"
    "|hospital|clinic|centre|center|barn|chapel|cathedral|museum|stadium|arena|canteen|garden"
)
VENUE = re.compile(
    r"(?:,? (?:at |from |around )?(?:half (?:past )?)?(?:\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|noon|one"
    r"|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o['’]clock)?(?: as ever)?)?"
    r",?(?: but)? (?:in|at) (?:the |our )?"
    r"(?P<place>(?:[A-Z][\w'’.-]{1,30}(?: (?:of |the )?[A-Z][\w'’-]{1,30}){0,3})"
    rf"(?: (?:{VENUE_NOUNS}))?|(?:[a-z]+ ){{0,2}}(?:{VENUE_NOUNS}))(?![\w])"
)
WISHES = word_set("would 'd ’d wish hope could might maybe perhaps if")
VERBAL_NOUNS = word_set("change launch release code build book test review deploy design play run")
ARROW = re.compile(r"\s*(?:->|→|=>)\s*")
VERSION = re.compile(r"v?\d+(?:\.\d+)+|[A-Za-z]+ v?\d+(?:\.\d+)*")
AT_HOME = word_set("ours mine yours theirs home")
NEAR = re.compile(
    r"in (?:an? |\d+ |half an |a few |a couple of )\w{0,2}(?:min|sec|hour|hr|h)", re.IGNORECASE
)
NO_TRIGGERS = word_set(
    """not no longer n't never would could might should may if with after before since about like
    when while unless than because maybe perhaps probably"""
)
HOURS = (DatePrecision.MINUTE, DatePrecision.HOUR)
SHIFTED = word_set("moved pushed postponed rescheduled shifted brought deferred delayed set booked")
MAX_TRIGGERS = 6


@dataclass(frozen=True, slots=True)
class EventFact:
    """A fact read from the words around a date, an amount or a name."""

    subject: str
    predicate: str
    value: str
    start: int
    end: int
    category: Category
    tense: StatementTense = StatementTense.CURRENT
    date: DateSpan | None = None
    is_name: bool = False
    negated: bool | None = None  # an end that lies ahead is negated


@dataclass(slots=True)
class EventReader:
    """Reads one sentence at a time."""

    speakers: Speakers
    dates: Sequence[DateSpan]
    at: datetime
    text: str

    def read_events(self, tree: Tree, clauses: Sequence[Clause]) -> Iterator[EventFact]:
        """Yield dated events, schedules, prices and roles of a sentence."""
        if tree.is_question:
            return
        if any(each.is_hypothetical for each in clauses) and _has_condition_first(tree):
            return
        yield from self._read_dates(tree, clauses)
        yield from self._read_schedules(tree, clauses)
        yield from self._read_prices(tree)
        yield from self._read_roles(tree)
        yield from self._read_places(tree)
        yield from self._read_employers(tree)

    # -- dates

    def _read_dates(self, tree: Tree, clauses: Sequence[Clause]) -> Iterator[EventFact]:
        seen: set[tuple[str, str]] = set()
        for span in self.dates:
            first = next(
                (
                    at
                    for at, token in enumerate(tree.sentence)
                    if token.start < span.end and span.start < token.end
                ),
                None,
            )
            if first is None or first in tree.quoted or PLURAL_DAY.match(self.text, span.end):
                continue  # "on Wednesday nights" is no single day
            arrow = ARROW.match(self.text, span.end)
            if arrow and any(each.start == arrow.end() for each in self.dates):
                continue  # the old date of "1 June -> 15 June"
            found = (
                self._read_shift(tree, span, first)
                or self._read_date(tree, span, first, clauses)
                or self._read_named_day(tree, span)
                or self._read_after_date(tree, span, first)
            )
            if found and (found.subject, found.predicate) not in seen:
                seen.add((found.subject, found.predicate))
                yield from self._split_range(found, span)
                yield from self._read_venue(tree, found, span)

    def _split_range(self, found: EventFact, span: DateSpan) -> Iterator[EventFact]:
        """Yield start and end of "freeze from Friday until the 9th"; else the fact itself."""
        has_end = re.match(r"from\b.*\b(?:until|till|to|through)\b", span.text, re.IGNORECASE)
        last = span.until - timedelta(microseconds=1)
        if not has_end or span.since.date() == last.date():
            yield found
            return
        day = span.until - timedelta(days=1)
        yield replace(found, predicate="STARTED_ON")
        yield replace(found, predicate="ENDED_ON", date=replace(span, since=day, text=""))

    def _read_venue(self, tree: Tree, found: EventFact, span: DateSpan) -> Iterator[EventFact]:
        """Yield the place after a date: "the funeral is on Friday at eleven in St Brigid's"."""
        head = found.subject.rsplit(maxsplit=1)[-1].lower()
        last = tree.sentence[len(tree.sentence) - 1].end
        match = VENUE.match(self.text, span.end, last)
        if match is None or not self._is_event(head) or found.predicate not in VENUE_PREDICATES:
            return
        place = match["place"].strip()
        if match["place"][0].islower() or not is_first_name(place.split()[0]):
            yield replace(found, predicate="LOCATED_IN", value=place)

    def _read_date(
        self, tree: Tree, span: DateSpan, first: int, clauses: Sequence[Clause]
    ) -> EventFact | None:
        if span.text.lower().startswith("since") or span.precision in VAGUE_DATES:
            return None
        if NEAR.match(span.text):  # "in 6 min"
            return None
        place, skipped = first - 1, set[str]()
        while place >= 0 and tree.lower[place] in SKIPPED and tree.sentence[place].upos != "VERB":
            skipped.add(tree.lower[place])
            place -= 1
        if skipped & {"->", "→", ">"} and (former := self._date_at(tree, place)):
            start = next(at for at, token in enumerate(tree.sentence) if token.end > former.start)
            return self._read_date(tree, replace(span, start=former.start), start, clauses)
        place, triggers = _find_triggers(tree, place)
        if "due" in tree.lower[place + 1 : first]:
            place = _skip_amount(tree, place)
        words = {tree.lower[at] for at in triggers}
        lemmas = {tree.sentence[at].lemma.lower() for at in triggers} | _stems(words)
        if place < 0 or words & NO_TRIGGERS or (skipped & {"("} and not triggers):
            return None
        if "close" in lemmas and words & {"be", "is", "are", "was"}:
            return None
        predicate = _date_predicate(lemmas, words | skipped, span)
        is_over = predicate == "ENDED_ON" and span.until <= self.at
        if _is_past_form(tree, triggers) and not lemmas & SHIFT_VERBS and not is_over:
            return None
        if predicate in (None, "SCHEDULED_FOR") and WISHES & set(tree.lower[: place + 1]):
            return None
        if predicate is None and (
            "by" in skipped or span.relation is DateRelation.BEFORE or tree.lower[place] == "it"
        ):
            return None
        inside = predicate is None and ("on" in skipped or self._is_arranged(tree, place))
        subject = self._event_subject(
            tree,
            place,
            is_fragment=predicate is None and not inside,
            is_arrival=bool(lemmas & ARRIVAL_VERBS),
        )
        if subject is None and predicate is not None and tree.lower[place] in ("and", "but", ","):
            subject = self._shared_subject(clauses, triggers)
        if subject is None or subject in span.text:  # "pushed back to the 19th of June"
            return None
        head = subject.rsplit(maxsplit=1)[-1].lower()
        is_set = bool(skipped & {"=", "->", "→", ">", ":"})
        if predicate is None:
            predicate = self._noun_predicate(head, lemmas, is_set=is_set)
        elif (
            predicate == "SCHEDULED_FOR"
            and not lemmas & (SHIFT_VERBS | ARRIVAL_VERBS)
            and not self._may_be_dated(subject, tree, place)
        ):
            return None
        is_hour = span.precision in HOURS and span.since.date() == self.at.date()
        if predicate is None or (predicate == "STARTED_ON" and is_hour):
            return None  # "the party starts at 14:00" says no day
        if head in {"deadline", "due"}:
            predicate = "DUE_ON"
            subject = subject.rsplit(maxsplit=1)[0] if " " in subject else subject
        if skipped & {"until", "till", "through"} or span.relation is DateRelation.UNTIL:
            if predicate == "SCHEDULED_FOR" and (lemmas - LAST_VERBS or not self._is_event(head)):
                return None
            predicate = "ENDED_ON" if predicate == "SCHEDULED_FOR" else predicate
        return self._dated_fact(tree, span, subject, predicate, words, is_bare=not triggers)

    def _date_at(self, tree: Tree, place: int) -> DateSpan | None:
        """Return the date that a word belongs to: "go live 1 June -> 15 June"."""
        if place < 0:
            return None
        token = tree.sentence[place]
        return next((each for each in self.dates if each.start < token.end <= each.end), None)

    def _shared_subject(self, clauses: Sequence[Clause], triggers: Sequence[int]) -> str | None:
        """Return the subject of the second verb: "opens on 9 March and closes on 3 April"."""
        named = [each for each in clauses if each.subjects]
        clause = next((each for each in named if each.at in triggers), named[0] if named else None)
        if clause is None or clause.subjects[0].is_pronoun:
            return None
        positions = clause.subjects[0].positions
        return self._clean_subject(clause.tree, positions[0], positions[-1] + 1)

    def _dated_fact(
        self,
        tree: Tree,
        span: DateSpan,
        subject: str,
        predicate: str,
        words: set[str],
        *,
        is_bare: bool,
    ) -> EventFact | None:
        is_past = span.until <= self.at
        if words & {"was", "were"} and not is_past and not words & SHIFTED:
            return None
        if words & {"was", "were"} and predicate == "SCHEDULED_FOR" and is_past:
            predicate = "OCCURRED_ON"
        if is_past and predicate in ("SCHEDULED_FOR", "DUE_ON", "STARTED_ON"):
            return None
        is_heading = is_bare and span.since.date() == self.at.date() and "today" not in span.text
        if is_heading and span.precision is DatePrecision.DAY:
            return None  # the date of the notes themselves: "Billing sync 20 April"
        tense = StatementTense.PAST if is_past else StatementTense.FUTURE
        end = tree.sentence[len(tree.sentence) - 1].end
        return EventFact(
            subject, predicate, "", tree.sentence[0].start, end, Category.TEMPORAL, tense, span
        )

    def _noun_predicate(self, head: str, lemmas: set[str], *, is_set: bool) -> str | None:
        """Return what a date beside a noun says: "AGM 7 April", "submission: 14 November"."""
        if lemmas - {"be"}:
            return None
        if head in DEADLINE_NOUNS or head.rstrip("s") in DEADLINE_NOUNS:
            return "DUE_ON" if not lemmas else None
        return "SCHEDULED_FOR" if is_set or self._is_event(head) else None

    def _read_shift(self, tree: Tree, span: DateSpan, first: int) -> EventFact | None:
        """Read "they pushed the audit to the 27th", "let's move dinner to Friday"."""
        if span.until <= self.at or first < 3:
            return None
        place = first - 1
        while place > 0 and tree.lower[place] in ("the", "this", "next"):
            place -= 1
        if tree.lower[place] not in ("to", "until", "till", "for"):
            return None
        place -= 1
        while place > 0 and tree.lower[place] in PARTICLES:
            place -= 1
        end = place + 1
        start = tree.chunk_start(end)
        if start == end or start < 1:
            return None
        verb = tree.sentence[start - 1]
        shifts = verb.lemma.lower() in SHIFT_VERBS and verb.upos == "VERB"
        before = set(tree.lower[max(0, start - 5) : start - 1])
        if not shifts or before & (NO_TRIGGERS | {"to", "can", "ca"}):
            return None
        subject = self._clean_subject(tree, start, end)
        if tree.lower[end - 1] in ("it", "that", "this") and end - start == 1:
            subject = self.speakers.resolve_pronoun("it")
        if subject is None:
            return None
        head = subject.rsplit(maxsplit=1)[-1].lower()
        predicate = "SCHEDULED_FOR"
        if head == "deadline":
            predicate, subject = "DUE_ON", subject.rsplit(maxsplit=1)[0]
        elif not self._is_event(head) and verb.lemma.lower() in ("put", "set", "fix"):
            return None
        return self._dated_fact(tree, span, subject, predicate, set(), is_bare=False)

    def _read_after_date(self, tree: Tree, span: DateSpan, first: int) -> EventFact | None:
        """Read a date before its event: "12 March: dentist", "on Friday the plumber comes"."""
        after = next(
            (at for at, token in enumerate(tree.sentence) if token.start >= span.end), None
        )
        place = first - 1
        while place >= 0 and tree.lower[place] in SKIPPED:
            place -= 1
        if after is None or (place >= 0 and tree.sentence[place].upos not in ("PUNCT", "CCONJ")):
            return None
        has_mark = tree.lower[after] in (":", "-", "–", "=", "->", "→", ",")
        after += has_mark
        end = tree.chunk_end(after) if after < len(tree.sentence) else after
        if end == after or not self._is_event(tree.sentence[end - 1].lemma.lower()):
            return None
        is_last = end == len(tree.sentence) or tree.sentence[end].upos == "PUNCT"
        at_place = end < len(tree.sentence) and tree.lower[end] in ("at", "with", "in", "for")
        comes = end < len(tree.sentence) and tree.lower[end] in ("is", "comes", "starts", "takes")
        subject = self._clean_subject(tree, after, end) if is_last or at_place or comes else None
        if subject is None:
            return None
        return self._dated_fact(tree, span, subject, "SCHEDULED_FOR", set(), is_bare=True)

    def _read_named_day(self, tree: Tree, span: DateSpan) -> EventFact | None:
        """Read "the 12th is the investor breakfast"."""
        after = next(
            (at for at, token in enumerate(tree.sentence) if token.start >= span.end), None
        )
        if after is None or tree.lower[after] != "is" or span.until <= self.at:
            return None
        end = tree.chunk_end(after + 1)
        if end == after + 1 or not self._is_event(tree.sentence[end - 1].lemma.lower()):
            return None
        subject = self._clean_subject(tree, after + 1, end)
        if subject is None:
            return None
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        future = StatementTense.FUTURE
        return EventFact(subject, "SCHEDULED_FOR", "", first, last, Category.TEMPORAL, future, span)

    def _event_subject(
        self, tree: Tree, place: int, *, is_fragment: bool, is_arrival: bool = False
    ) -> str | None:
        """Return the noun phrase that ends at a word, without what follows a preposition in it."""
        if place >= 2 and tree.lower[place] in AT_HOME and tree.lower[place - 1] == "at":
            place -= 2  # "dinner at ours on the 11th"
        token = tree.sentence[place]
        if token.text.lower() in ("it", "that", "this"):
            return self.speakers.resolve_pronoun("it")
        if token.upos not in ("NOUN", "PROPN", "NUM", "SYM", "X", "ADJ") and token.text != ")":
            return None
        if token.text == ")":
            while place > 0 and tree.lower[place] != "(":
                place -= 1
            place -= 1
        end = place + 1
        start = tree.chunk_start(end)
        if start == end:
            return None
        while start > 0 and tree.sentence[start - 1].end == tree.sentence[start].start:
            if tree.lower[start - 1] in ("(", '"', "“", "'", "/", "-", "–"):
                break
            start -= 1
        if start >= 2 and tree.lower[start - 1] == "for" and tree.lower[start - 2] == "deadline":
            name = self._clean_subject(tree, start, end)
            return f"{name} deadline" if name else None
        while (
            start >= 2
            and tree.lower[start - 1] in ("of", "for", "in", "at", "on")
            and tree.sentence[start - 2].upos in ("NOUN", "PROPN")
        ):
            end = start - 1
            start = tree.chunk_start(end)
        if start == 1 and tree.sentence[0].upos == "VERB" and tree.lower[0] in VERBAL_NOUNS:
            start = 0  # "change freeze from Friday", "launch party on the 9th"
        if (
            is_fragment
            and start > 0
            and tree.sentence[start - 1].upos not in ("PUNCT", "CCONJ", "INTJ", "SYM", "X")
        ):
            return None
        return self._clean_subject(tree, start, end, may_be_person=is_arrival)

    def _clean_subject(
        self, tree: Tree, start: int, end: int, *, may_be_person: bool = False
    ) -> str | None:
        positions = list(range(start, end))
        while positions and tree.sentence[positions[0]].upos in ("DET", "PRON"):
            word = tree.lower[positions[0]]
            if word == "no":  # "no meeting on Friday"
                return None
            if tree.sentence[positions[0]].upos == "PRON" and word not in (
                "my",
                "our",
                "your",
                "his",
                "her",
                "their",
                "its",
            ):
                return None
            positions = positions[1:]
        if not positions or tree.sentence[positions[-1]].upos not in (
            "NOUN",
            "PROPN",
            "X",
            "SYM",
            "NUM",
        ):
            return None
        if tree.lower[positions[0]] in ("new", "next", "first", "old") and len(positions) > 1:
            positions = positions[1:]
        name = tree.join(positions)
        if ". " in name:  # two sentences that the parser left together
            name = re.sub(r"^(?:the|my|our) ", "", name.rsplit(". ", 1)[-1], flags=re.IGNORECASE)
        if GREETING.match(name):
            return None
        if LABELLED_NUMBER.match(name):
            return self.speakers.resolve_pronoun("it")
        head = tree.sentence[positions[-1]]
        word = head.lemma.lower()
        is_kin = word in KIN or word in PARENTS
        if name in (self.speakers.speaker, *self.speakers.participants):
            return None
        if is_kin and not may_be_person and word not in OCCUPATIONS:
            return None
        if (
            head.upos == "PROPN"
            and (is_first_name(name.split()[0]) or name_type(name) == "place")
            and word not in EVENTS
            and not may_be_person
            and "'s " not in name
        ):
            return None
        has_name = any(map(str.isalpha, name)) or re.fullmatch(r"v?\d+(?:\.\d+)+", name)
        if len(name.split()) > 6 or not has_name or word in NO_DATED:
            return None
        return name

    def _is_arranged(self, tree: Tree, place: int) -> bool:
        """Return whether somebody arranges the event: "let's do the review Friday"."""
        start = tree.chunk_start(place + 1)
        return start > 0 and tree.sentence[start - 1].lemma.lower() in (
            "do",
            "have",
            "hold",
            "schedule",
            "plan",
        )

    def _is_event(self, head: str) -> bool:
        return head in EVENTS or head.rstrip("s") in EVENTS or head == "deadline"

    def _may_be_dated(self, subject: str, tree: Tree, place: int) -> bool:
        """Return whether "X is on Friday" can be a date of X: not of a person or a mood."""
        head = subject.rsplit(maxsplit=1)[-1].lower()
        if self._is_event(head) or head in OCCUPATIONS:
            return True
        first = subject.split(maxsplit=1)[0]
        is_noun = tree.sentence[place].upos in ("NOUN", "PROPN") or VERSION.fullmatch(subject)
        return bool(is_noun) and not is_first_name(first)

    # -- schedules

    def _read_schedules(self, tree: Tree, clauses: Sequence[Clause]) -> Iterator[EventFact]:
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        known: str | None = None
        for match in RECURRENCE.finditer(self.text, first, last):
            word = next(
                (
                    at
                    for at, token in enumerate(tree.sentence)
                    if token.start <= match.start() < token.end
                ),
                None,
            )
            if word is None or word in tree.quoted:
                continue
            value = re.sub(r"\bnow\s+", "", match.group().strip(" ,"))
            has_ended = ENDED_RECURRENCE.search(self.text, first, match.start()) is not None
            if has_ended:
                if known:
                    yield self._schedule(tree, known, value, StatementTense.PAST)
                continue
            if known or " a day" in value:
                continue
            if self._is_absence(tree, word):
                continue
            apart = APART.search(self.text, max(first, match.start() - 40), match.start())
            if apart and tree.sentence[word - 1].upos == "NOUN":
                known = self._clean_subject(tree, tree.chunk_start(word), word)
            elif apart and apart["what"].endswith("ing"):
                known = apart["what"]
            else:
                known = self._schedule_subject(tree, clauses, word)
            if known and not known[0].isdigit():
                yield self._schedule(tree, known, value, StatementTense.CURRENT)

    def _schedule(self, tree: Tree, subject: str, value: str, tense: StatementTense) -> EventFact:
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        return EventFact(subject, "HAS_SCHEDULE", value, first, last, Category.TEMPORAL, tense)

    def _is_absence(self, tree: Tree, word: int) -> bool:
        return bool({"off", "away", "out"} & set(tree.lower[max(0, word - 3) : word]))

    def _schedule_subject(self, tree: Tree, clauses: Sequence[Clause], word: int) -> str | None:
        at = tree.find_ancestor(word, [clause.at for clause in clauses])
        clause = next((each for each in clauses if each.at == at), None)
        if name := self._noun_of_schedule(tree, word):
            return name
        if word == 0:  # "Saturdays 11am, teacher is Ms Hara"
            return self.speakers.resolve_pronoun("it")
        if clause is None:
            return self._noun_before(tree, word) if not clauses else None
        if (not clause.is_asserted and clause.modal is None) or clause.has_ended:
            return None
        if clause.is_negated or clause.tree.relation(clause.at) in ("advcl", "acl", "csubj"):
            return None
        if clause.tense is Tense.PAST and clause.lemma not in ("join", "move", "start"):
            return None
        if clause.objects and clause.lemma in ACTIVITY_VERBS:
            thing = clause.objects[0]
            vague = thing.is_pronoun or thing.lemma in NO_DATED
            return None if vague else thing.short_text
        for phrase in clause.subjects:
            if phrase.token.text.lower() == "it":
                if clause.lemma in WEATHER_VERBS:
                    return None
                return self.speakers.resolve_pronoun("it")
            is_thing = not phrase.is_pronoun and phrase.token.upos in ("NOUN", "PROPN", "VERB")
            if is_thing and not is_first_name(phrase.text.split()[0]):
                is_day = phrase.token.text[:1].isdigit()
                if phrase.lemma in NO_DATED or clause.lemma in MOOD_VERBS or is_day:
                    return None
                return self.speakers.resolve(phrase, clause)
        return None

    def _noun_of_schedule(self, tree: Tree, word: int) -> str | None:
        """Return the noun of "handover is on Mondays", wherever it stands."""
        place = word - 1
        while place >= 0 and tree.lower[place] in SKIPPED:
            place -= 1
        place, triggers = _find_triggers(tree, place)
        words = {tree.lower[at] for at in triggers}
        if place < 0 or words & NO_TRIGGERS or not words & {"is", "are", "'s", "will"}:
            return None
        start = tree.chunk_start(place + 1)
        if start == place + 1 or (words - {"is", "are", "'s", "will", "be", "now", "on", "held"}):
            return None
        return self._clean_subject(tree, start, place + 1)

    def _noun_before(self, tree: Tree, word: int) -> str | None:
        """Return the noun of "piano lessons: Wednesdays", "yoga every Tuesday"."""
        place = word - 1
        while place >= 0 and tree.lower[place] in SKIPPED:
            place -= 1
        if place < 0 or tree.sentence[place].upos not in ("NOUN", "PROPN"):
            return None
        start = tree.chunk_start(place + 1)
        return self._clean_subject(tree, start, place + 1) if start == 0 else None

    # -- prices and salaries

    def _read_prices(self, tree: Tree) -> Iterator[EventFact]:
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        for match in PRICE.finditer(self.text, first, last):
            if match["what"].lower().startswith(("its ", "their ", "his ", "her ")):
                continue
            what = re.sub(r"^(?:the|my|our|is|and|but|so|that)\s+", "", match["what"].lower())
            is_past = " was " in match.group()[: match.start("value") - match.start()].lower()
            span = next(
                (each for each in self.dates if match.end("value") <= each.start < last), None
            )
            if span is not None and "due" in self.text[match.end("value") : span.start].split():
                span = None
            future = span is not None and span.until > self.at and span.since > self.at
            tense = (
                StatementTense.PAST
                if is_past
                else StatementTense.FUTURE
                if future
                else StatementTense.CURRENT
            )
            yield EventFact(
                what,
                "HAS_PRICE",
                match["value"].strip(" .,"),
                first,
                last,
                Category.FINANCIAL,
                tense,
                span if future else None,
            )
            if match["old"]:
                old_tense = StatementTense.CURRENT if future else StatementTense.PAST
                yield EventFact(
                    what,
                    "HAS_PRICE",
                    match["old"].strip(" .,"),
                    first,
                    last,
                    Category.FINANCIAL,
                    old_tense,
                )
        for match in COSTS.finditer(self.text, first, last):
            what = re.sub(
                r"^(?:the|my|our|and|but|so|that|it)\s+", "", match["what"], flags=re.IGNORECASE
            )
            if what.lower() not in ("it", "that", "this", "which"):
                yield EventFact(
                    what, "HAS_PRICE", match["value"].strip(" .,"), first, last, Category.FINANCIAL
                )

    # -- roles and places beside a name

    def _read_roles(self, tree: Tree) -> Iterator[EventFact]:
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        for match in ROLE_IN_BRACKETS.finditer(self.text, first, last):
            role = match["role"].strip()
            if not is_first_name(match["name"].split()[0]):
                continue
            head = re.split(r"\s+(?:of|for|at)\s+", role)[0].split()[-1]
            if head.lower() in OCCUPATIONS or role in ("PM", "VP", "SRE"):
                yield EventFact(match["name"], "HAS_ROLE", role, first, last, Category.PROFESSIONAL)
        for match in FORMER_EMPLOYER.finditer(self.text, first, last):
            yield EventFact(
                match["name"],
                "WORKS_AT",
                match["company"],
                first,
                last,
                Category.PROFESSIONAL,
                StatementTense.PAST,
                is_name=True,
            )

    def _read_employers(self, tree: Tree) -> Iterator[EventFact]:
        """Read the employer of "Irina at Quillon"."""
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        for match in PERSON_AT.finditer(self.text, first, last):
            company, name = match["company"], match["name"]
            known = name_type(company)
            if (
                not is_first_name(name.split()[0])
                or is_first_name(company.split()[0])
                or known == "place"
            ):
                continue
            if " from " in match.group() and known != "company":
                continue
            if company.split()[0].lower() in EVENTS or company.lower() in ("easter", "christmas"):
                continue
            yield EventFact(
                name, "WORKS_AT", company, first, last, Category.PROFESSIONAL, is_name=True
            )

    def _read_places(self, tree: Tree) -> Iterator[EventFact]:
        """Read "the chess club in Maastricht", "our office in Delft"."""
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        for at in range(len(tree.sentence)):
            if (
                tree.lower[at] != "in"
                or at == 0
                or at + 1 >= len(tree.sentence)
                or at in tree.quoted
            ):
                continue
            place = tree.sentence[at + 1]
            before = tree.sentence[at - 1]
            named = (
                place.upos == "PROPN"
                and place.text[:1].isupper()
                and name_type(place.text) == "place"
            )
            if not named or (at + 2 < len(tree.sentence) and tree.sentence[at + 2].upos == "PROPN"):
                continue
            located = before.lemma.lower()
            is_numbered = before.upos == "NUM" and at > 1 and tree.sentence[at - 2].upos == "PROPN"
            if located in LOCATED_NOUNS or is_numbered:
                start = tree.chunk_start(at)
                if not is_numbered and tree.lower[start] not in ("the", "our", "my"):
                    continue
                subject = (
                    self._clean_subject(tree, start, at)
                    if not is_numbered
                    else tree.join([at - 2, at - 1])
                )
                if subject:
                    yield EventFact(
                        subject,
                        "LOCATED_IN",
                        place.text,
                        first,
                        last,
                        Category.TEMPORAL,
                        is_name=True,
                    )


PERSON_AT = re.compile(
    rf"(?<![\w'’])(?P<name>{NAME}) (?:at|from) (?P<company>[A-Z][\w&-]+(?:"
    rf" [A-Z][\w&-]+){{0,2}})(?![\w'’])"
)


LOCATED_NOUNS = (
    EVENTS | CLUBS | word_set("warehouse plant branch headquarters campus")
) - word_set("class course play show race move match bus train review call time")


def _has_condition_first(tree: Tree) -> bool:
    """Return whether "if" stands in the first half of a sentence."""
    words = tree.lower[: max(3, len(tree.lower) // 2)]
    return any(word in ("if", "unless", "whether", "suppose", "would", "could") for word in words)


def _find_triggers(tree: Tree, place: int) -> tuple[int, list[int]]:
    """Return the words of the verb that end at a place, and the place before them."""
    triggers: list[int] = []
    if (
        place > 0
        and tree.lower[place] == "place"
        and tree.sentence[place - 1].lemma.lower() == "take"
    ):
        triggers, place = [place - 1], place - 2
    while place >= 0 and len(triggers) < MAX_TRIGGERS and _is_trigger(tree, place):
        triggers.append(place)
        place -= 1
    while triggers and place > 0 and tree.lower[place] in (",", "–"):
        place -= 1
    return place, triggers


def _skip_amount(tree: Tree, place: int) -> int:
    """Return the place before a price: "the fee stays at £64, due 31 January"."""
    start = place
    while place >= 0 and tree.sentence[place].upos in ("NUM", "SYM"):
        place -= 1
    if place == start:
        return place
    while place >= 0 and tree.sentence[place].upos in TRIGGER_TAGS:
        place -= 1
    return place


def _is_trigger(tree: Tree, place: int) -> bool:
    token, word = tree.sentence[place], tree.lower[place]
    if word == "leave":  # "on maternity leave from 1 April"
        return False
    if token.upos in TRIGGER_TAGS or word in TRIGGER_WORDS:
        return True
    before = tree.sentence[place - 1].upos if place > 0 else ""
    if before == "CCONJ" and word in DATED_FORMS:
        return True
    follows_noun = before in ("NOUN", "PROPN", "NUM", "X")
    if not follows_noun:
        return False
    return word in DATED_FORMS or (word in PLURAL_VERBS and tree.lower[place - 1].endswith("s"))


def _stems(words: set[str]) -> set[str]:
    """Return the lemmas of verbs that the parser took for nouns."""
    found = {word for word in words if word in PLURAL_VERBS}
    for word in words & DATED_FORMS:
        found.add(word[:-2] if word.endswith(("shes", "ches", "oes")) else word[:-1])
    return found


def _is_past_form(tree: Tree, triggers: Sequence[int]) -> bool:
    """Return whether the verb reports something: "my letter went out today"."""
    if any(tree.sentence[at].upos == "AUX" for at in triggers):
        return False
    return any(
        tree.sentence[at].upos == "VERB"
        and verb_form(tree.sentence[at]) == "past"
        and tree.sentence[at].text.lower() != tree.sentence[at].lemma.lower()
        for at in triggers
    )


def _date_predicate(lemmas: set[str], words: set[str], span: DateSpan) -> str | None:
    lasts = bool(words & {"until", "till", "through"}) or span.relation is DateRelation.UNTIL
    if words & {"due", "payable"}:
        return "DUE_ON"
    if words & OBLIGATION and lemmas & DONE_VERBS and span.relation is not DateRelation.IN:
        return "DUE_ON"
    if lemmas & END_VERBS and ("run" not in lemmas or "out" in words or lasts):
        return "ENDED_ON"
    if "be" in lemmas | _be(words) and words & {"up", "over"} and not lemmas & SHIFT_VERBS:
        return "ENDED_ON"
    if lasts and (words & {"valid", "good"} or lemmas & {"last", "continue"}):
        return "ENDED_ON"
    if lemmas & START_VERBS:
        return "STARTED_ON"
    if lemmas & PLAN_VERBS:
        return "SCHEDULED_FOR"
    return None


def _be(words: set[str]) -> set[str]:
    return {"be"} if words & {"is", "are", "'s", "’s", "was"} else set()
