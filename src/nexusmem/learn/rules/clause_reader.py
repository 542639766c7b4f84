"""Base of the fact readers: subjects, objects, dates and types of a clause's phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ...core.canonical import EARLIEST
from ...text.dates import DatePrecision, DateRelation, DateSpan
from ...text.gazetteer import is_first_name, name_type
from .coreference import FIRST_PERSON, FIRST_PLURAL, WE, Speakers, own_text
from .grammar import Clause, Phrase, Tree, verb_form
from .lexicon import (
    EVENTS,
    KIN,
    LANGUAGES,
    OCCUPATIONS,
    ORGANISATIONS,
    PARENTS,
    PETS,
    SCHOOLS,
    VEHICLES,
    word_set,
)
from .relations import NAMED_OBJECTS, category_of
from .results import Category, Certainty, StatementTense

MAX_OBJECT_WORDS = 9
MAX_SUBJECT_WORDS = 6
OWN_POSSESSIVES = FIRST_PERSON | FIRST_PLURAL | word_set("his her their its")
TIME_NOUNS = word_set(
    """day week month year morning evening afternoon night time hour minute moment while second
    weekend today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday
    sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays january february
    march april may june july august september october november december noon midnight"""
)
EMPTY_OBJECTS = word_set(
    """it this that these those them him her me us you one ones thing things something anything
    everything nothing someone anyone everyone somebody everybody stuff lot lots bit part way
    kind sort time times idea question questions point reason look care place people person guy
    guys help job chance fun rest same other others each some any all more less much many few
    what which who mind sense"""
)
AMOUNT = re.compile(
    r"(?:[€$£]\s?\d[\d.,]*\s?(?:k|m|bn)?\b|\b(?:EUR|USD|GBP|CHF)\s?\d[\d.,]*(?:\s?[km])?\b|\b\d[\d.,]*\s?(?:k\b|€|\$|£|euros?\b|dollars?\b|pounds?\b|francs?\b|quid\b|bucks\b|yen\b|rupees?\b|kron(?:er|or)\b|zloty\b|EUR\b|USD\b|GBP\b|CHF\b|%|percent\b))"
    r"(?:\s(?:per|an?)\s\w+|\s?/\s?\w+)?",
    re.IGNORECASE,
)
PLACE_NOUNS = word_set(
    "city town village country countryside house flat apartment suburb coast island mountains"
)
DATE_GERUNDS = word_set("starting beginning commencing effective")  # "starting Monday"
SOFTWARE_NOUNS = word_set("database framework library tool editor server language browser app")
GROUP_NOUNS = word_set(
    "team department group lab project company shop store bakery division squad crew office branch"
)
ROLE_ENDING = re.compile(r"(?:[^aeiou]er|or|ist|ian|eer|ager|officer)$")
NO_ROLES = word_set(
    """mother father sister brother daughter dinner killer believer lover fighter winner loser
    beginner member reader bother sucker disaster monster matter number paper letter answer
    order summer winter corner water computer server order error floor door color colour flavor
    mirror factor minor major never other offer layer filter buffer partner neighbor neighbour
    sector list doctor newcomer outsider morning-person speaker user customer owner list twist"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDraft:
    """A fact before its tense, dates and certainty are known."""

    subject: str
    predicate: str
    object: str
    clause: Clause | None
    tree: Tree
    change: str = "state"  # state, begin, end, event, coming or date
    aspect: str | None = None
    negated: bool | None = None  # None: as the clause
    tense: StatementTense | None = None  # None: as the clause
    confidence: float = 1.0  # of the arcs
    date: DateSpan | None = None
    use_dates: bool = True
    certainty: Certainty = Certainty.EXPLICIT
    rule: str = ""  # the reader that found it

    @property
    def is_name(self) -> bool:
        """Whether the object is an entity."""
        return self.predicate in NAMED_OBJECTS and self.object[:1].isupper()


@dataclass(slots=True)
class ClauseReader:
    """What the readers of one message share."""

    speakers: Speakers
    dates: Sequence[DateSpan]
    at: datetime
    text: str

    def _subjects(self, clause: Clause, kind: str = "any") -> list[str]:
        """Return the names of the subjects; an omitted subject is the speaker."""
        first = clause.subjects[0] if clause.subjects else None
        if first and first.lemma in KIN and first.token.text.lower() != first.lemma:
            names = [each.text for each in clause.subjects[1:] if each.token.upos == "PROPN"]
            if names:  # "my brothers Tom and Max"
                return names
        if not clause.subjects:
            return (
                [self.speakers.speaker]
                if kind in ("person", "any", "group") and omits_subject(clause)
                else []
            )
        names = []
        for phrase in clause.subjects:
            name = self._joined_subject(phrase, names) or self.speakers.resolve(phrase, clause)
            if name is None or not is_subject(phrase, name, kind):
                return []
            names.append(name)
        return names

    def _joined_subject(self, phrase: Phrase, before: Sequence[str]) -> str | None:
        """Return "Sven's wife" for the second part of "Sven and his wife"."""
        owner = phrase.possessor
        if not before or owner is None or phrase.tree.lower[owner] not in ("his", "her"):
            return None
        return f"{before[0]}'s {own_text(phrase)}"

    def _object(self, phrase: Phrase) -> str | None:
        """Return the words of an object; None if they say nothing alone."""
        if (
            phrase.is_pronoun
            or phrase.lemma in EMPTY_OBJECTS
            or phrase.token.text.lower() in EMPTY_OBJECTS
        ):
            return None
        if phrase.token.upos not in ("NOUN", "PROPN", "NUM", "ADJ", "SYM", "X", "VERB"):
            return None
        if self._date_in(phrase) or phrase.lemma in TIME_NOUNS:
            return None
        if (phrase.lemma in KIN or phrase.lemma in PETS) and (name := phrase.apposition):
            return name.text  # "my sister Jenny"
        words = (
            own_text(phrase)
            if phrase.possessor is not None and self._is_own(phrase)
            else phrase.text
        )
        words = re.split(r"\s+[-–]\s+", words)[0].strip(" \"'“”()[]")
        if not words or len(words.split()) > MAX_OBJECT_WORDS or not any(map(str.isalnum, words)):
            return None
        return words

    def _is_own(self, phrase: Phrase) -> bool:
        owner = phrase.possessor
        return owner is not None and phrase.tree.lower[owner] in OWN_POSSESSIVES

    def _date_in(self, phrase: Phrase) -> DateSpan | None:
        token = phrase.token
        return next(
            (span for span in self.dates if span.start < token.end and token.start < span.end), None
        )

    def _clause_dates(self, clause: Clause) -> list[DateSpan]:
        """Return the dates whose nearest predicate is the one of this clause."""
        tree = clause.tree
        start, end = clause.span
        found = []
        for span in self.dates:
            if not start <= span.start < end:
                continue
            inside = [
                at
                for at, token in enumerate(tree.sentence)
                if token.start < span.end and span.start < token.end
            ]
            tops = [at for at in inside if tree.sentence[at].head not in inside]
            if tops and self._nearest_predicate(tree, tops[0]) == clause.at:
                found.append(span)
        return found

    def _nearest_predicate(self, tree: Tree, at: int) -> int | None:
        while at != -1:
            token = tree.sentence[at]
            is_preposition = token.text.lower() in DATE_GERUNDS and token.head != -1
            if token.deprel == "root" or (tree.is_predicate(at) and not is_preposition):
                return at
            at = tree.sentence[at].head
        return None

    def _has_type(self, phrase: Phrase, type: str) -> bool:
        """Return whether a phrase can be of a type: a name, or a noun that is known to be."""
        word, text = phrase.lemma, phrase.text
        known = name_type(text)
        if type == "company":
            return (
                phrase.is_name and known != "place" and not is_first_name(text)
            ) or word in ORGANISATIONS | SCHOOLS
        if type == "place":
            return (
                (phrase.is_name and known not in ("company", "product"))
                or known == "place"
                or word in PLACE_NOUNS
            )
        if type == "person":
            return phrase.is_name or word in KIN or word in OCCUPATIONS
        if type == "product":
            return (
                phrase.is_name
                or known in ("product", "company")
                or phrase.token.upos == "PROPN"
                or word in SOFTWARE_NOUNS
            )
        if type == "pet":
            return word in PETS
        if type == "role":
            return is_role(phrase)
        if type == "language":
            return word in LANGUAGES
        if type == "vehicle":
            return phrase.is_name or word in VEHICLES
        if type == "event":
            return phrase.is_name or word in EVENTS
        if type == "project":
            return phrase.is_name or phrase.token.upos == "PROPN"
        if type == "group":
            return phrase.is_name or word in GROUP_NOUNS
        if type == "amount":
            return bool(AMOUNT.search(text)) or phrase.token.upos == "NUM"
        return True

    def _is_person(self, clause: Clause, name: str) -> bool:
        if name in (self.speakers.speaker, WE) or name in self.speakers.participants:
            return True
        phrase = clause.subjects[0] if clause.subjects else None
        if phrase is not None:
            word = phrase.token.text.lower()
            if word in ("he", "she", "they", "who"):
                return True
            if phrase.lemma in KIN or phrase.lemma in PARENTS or phrase.lemma in OCCUPATIONS:
                return True
        first = name.split(maxsplit=1)[0] if name else ""
        if "'s " in name:
            last = name.rsplit(maxsplit=1)[-1].lower()
            return last in KIN or last in PARENTS
        titled = first.lower().rstrip(".") in ("mr", "mrs", "ms", "dr", "prof")
        return titled or (
            name[:1].isupper()
            and (is_first_name(first) or name.lower() in self.speakers.known_names)
            and name_type(name) not in ("company", "product")
        )

    def _names_after(self, tree: Tree, phrase: Phrase) -> list[str]:
        """Return the names after a noun: "two kids, Zofia (7) and Jan (4)", "a dog named Rex"."""
        names = []
        sentence = tree.sentence
        at = phrase.head + 1
        while at < len(sentence):
            token = sentence[at]
            if token.upos == "PROPN" or (token.text[:1].isupper() and token.upos == "NOUN"):
                last = at
                while last + 1 < len(sentence) and sentence[last + 1].upos == "PROPN":
                    last += 1
                names.append(tree.join(range(at, last + 1)))
                at = last + 1
                continue
            if token.upos in ("PUNCT", "CCONJ", "NUM") or token.text.lower() in (
                "named",
                "called",
                "years",
                "old",
                "is",
                "are",
                "now",
            ):
                at += 1
                continue
            break
        return names

    def _state(
        self,
        clause: Clause,
        subject: str,
        predicate: str,
        words: str,
        *,
        change: str = "state",
        tense: StatementTense | None = None,
        confidence: float | None = None,
    ) -> FactDraft:
        return FactDraft(
            subject=subject,
            predicate=predicate,
            object=words,
            clause=clause,
            tree=clause.tree,
            change=change,
            tense=tense,
            confidence=clause.confidence if confidence is None else confidence,
            use_dates=category_of(predicate) is not Category.PREFERENCES,
        )

    def _end_plan(self, clause: Clause, thing: Phrase, name: str) -> Iterator[FactDraft]:
        """Yield the end of a plan: the date of an event, or the move to a place."""
        past = StatementTense.PAST
        if thing.lemma in EVENTS or thing.lemma.rstrip("s") in EVENTS:
            yield self._state(clause, name, "SCHEDULED_FOR", "", change="end", tense=past)
        elif name_type(name) == "place":
            group = self.speakers.group
            yield self._state(clause, group, "MOVING_TO", name, change="end", tense=past)

    def _dated_draft(
        self,
        subject: str,
        predicate: str,
        span: DateSpan | None,
        origin: Clause | Tree,
    ) -> FactDraft:
        clause = origin if isinstance(origin, Clause) else None
        span = last_day_of_end(span) if span is not None else None
        value = (
            format_date(span, yearless=predicate in ("BORN_ON", "ANNIVERSARY_ON")) if span else ""
        )
        return FactDraft(
            subject=subject,
            predicate=predicate,
            object=value,
            clause=clause,
            tree=origin.tree if isinstance(origin, Clause) else origin,
            change="date",
            date=span,
            confidence=clause.confidence if clause else 1.0,
        )

    def _kin_draft(self, owner: str, word: str, name: str, origin: Clause | Tree) -> FactDraft:
        clause = origin if isinstance(origin, Clause) else None
        self.speakers.relatives[f"{owner}'s {word}"] = name
        return FactDraft(
            subject=owner,
            predicate=KIN[word],
            object=name,
            clause=clause,
            tree=origin.tree if isinstance(origin, Clause) else origin,
            aspect=word,
            tense=StatementTense.PAST if word.startswith("ex") else None,
            confidence=clause.confidence if clause else 1.0,
            use_dates=False,
        )


def arc_confidence(clause: Clause, phrase: Phrase) -> float:
    """Return the lower probability of the arcs of subject and object."""
    subject = clause.subjects[0].token.confidence if clause.subjects else 1.0
    return min(subject, phrase.token.confidence)


def omits_subject(clause: Clause) -> bool:
    """Return whether the speaker left out "I": "Moved to Oslo", "starting at Bikeline in June"."""
    token = clause.tree.sentence[clause.at]
    if (
        token.deprel not in ("root", "parataxis", "conj")
        or clause.is_copular
        or clause.is_passive
        or clause.lemma == "bear"
    ):
        return False
    is_finite = verb_form(token) in ("ing", "past") or token.text.lower() == "quit"
    return is_finite and clause.tree.child(clause.at, "aux") is None


def is_subject(phrase: Phrase, name: str, kind: str) -> bool:
    if len(name.split()) > MAX_SUBJECT_WORDS:
        return False
    word = phrase.token.text.lower()
    personal = (
        word in FIRST_PERSON or word in FIRST_PLURAL or word in ("he", "she", "they", "you", "who")
    )
    if personal:
        return kind != "thing" or word == "they"
    if phrase.token.upos not in ("PROPN", "NOUN", "PRON", "X", "NUM", "SYM"):
        return False
    if kind == "person":
        is_name = phrase.is_name and (phrase.token.upos == "PROPN" or phrase.head > 0)
        return (
            (is_name and not (phrase.head == 0 and word.endswith("ing")))
            or phrase.lemma in KIN
            or phrase.lemma in PARENTS
            or phrase.lemma in OCCUPATIONS
            or (phrase.is_pronoun and word not in ("it", "this", "that", "these", "those"))
            or phrase.apposition is not None
        )
    if kind == "group":
        return phrase.lemma in GROUP_NOUNS or phrase.is_name
    return word not in EMPTY_OBJECTS and phrase.lemma not in TIME_NOUNS


def is_role(phrase: Phrase) -> bool:
    words = phrase.short_text.lower().split()
    if phrase.lemma in OCCUPATIONS or (phrase.lemma == "guy" and len(words) > 1):
        return True
    if (
        phrase.determiner == "the"
        and ROLE_ENDING.search(phrase.lemma)
        and phrase.lemma not in NO_ROLES
        and phrase.token.upos == "NOUN"
    ):
        return True
    return bool(words) and (
        words[0] in ("head", "chief", "vp", "director")
        or words[-1]
        in ("lead", "sre", "cto", "ceo", "cfo", "pm", "aider", "rep", "dev", "chair", "treasurer")
    )


MONTH_END = re.compile(r"(?:by |until |till |at )?(?:the )?end of|eom\b|eoy\b", re.IGNORECASE)


def last_day_of_end(span: DateSpan) -> DateSpan:
    """Return "the end of June" as its last day, another date as it is."""
    if not MONTH_END.match(span.text) or span.relation is DateRelation.BEFORE:
        return span
    return replace(span, since=span.until - timedelta(days=1))


def format_date(span: DateSpan, *, yearless: bool = False) -> str:
    """Return a date as text: a day, a month or a year in ISO form; the last day of a deadline."""
    day = span.since
    if span.relation in (DateRelation.UNTIL, DateRelation.BEFORE) or span.since <= EARLIEST.replace(
        year=2
    ):
        day = (
            span.until
            if span.relation is DateRelation.BEFORE
            else span.until - timedelta(microseconds=1)
        )
    if MONTH_END.match(span.text):
        return f"{span.until - timedelta(microseconds=1):%Y-%m-%d}"
    has_year = re.search(r"\d{4}", span.text) is not None
    if yearless and not has_year and span.precision is DatePrecision.DAY:
        return f"--{day:%m-%d}"
    if span.precision is DatePrecision.YEAR:
        return f"{day:%Y}"
    if span.precision is DatePrecision.MONTH:
        return f"{day:%Y-%m}"
    if span.precision in (DatePrecision.QUARTER, DatePrecision.SEASON, DatePrecision.DECADE):
        return span.text
    return f"{day:%Y-%m-%d}"
