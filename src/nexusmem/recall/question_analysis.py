"""Rule-based question analysis: terms, named speakers, time window and addressed role."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from ..text.nicknames import first_name_variants, is_misspelt
from ..text.terms import STOP_WORDS, WORD, extract_terms, query_terms

# "What did you recommend?", "the list you gave me": asks for messages of the assistant.
ASSISTANT_QUESTION_PATTERN = re.compile(
    r"\b(?:did|have|had|were) you\b.*\b(?:say|said|tell|told|recommend|suggest|mention|provide|give"
    r"|given|gave|list|explain|advise|describe|write|wrote|share|propose|come up)"
    r"|\byou(?:'ve| have| had)? (?:said|told|recommended|suggested|mentioned|provided|gave|given"
    r"|listed|explained|advised|described|wrote|shared|proposed|came up)"
    r"|\byour (?:last|previous|earlier|suggestion|recommendation|answer|advice|response|list)"
    r"|\bremind me\b|\bour (?:previous|last|earlier) (?:chat|conversation|discussion)",
    re.IGNORECASE,
)

# Phrases about the form of the answer or about the conversation; they carry no search terms.
# All alternatives after the first share one \b, so the engine tests the word boundary once.
BOILERPLATE_PATTERN = re.compile(
    r"""^\s*(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?
        (?:help\s+me\s+(?:understand|remember)|list|tell\s+me|walk\s+me\s+through|give\s+me
          |provide(?:\s+me\s+with)?|summari[sz]e|remind\s+me|show\s+me|describe|explain)\b
      | \b(?:
          (?:mention|list|include|name)\s+only(?:\s+and\s+only)?\s+\w+\s+(?:items?|things?)\b
        | in\s+(?:the\s+)?(?:chronological\s+|correct\s+|right\s+)?order\b
        | the\s+(?:order|sequence)\s+(?:in\s+which|of)\b
        | (?:throughout|across|during|over|in|from)\s+(?:all\s+(?:of\s+)?)?
          (?:our|my|these|those|the)\s+(?:\w+\s+)?
          (?:conversations?|chats?|discussions?|sessions?|messages)\b
        | (?:i|we|you)\s+(?:have\s+|had\s+)?
          (?:brought\s+up|mentioned|talked\s+about|discussed|asked\s+about|told\s+you(?:\s+about)?
            |said)\b
        | (?:different|various)\s+(?:aspects?|parts?|topics?|things?|features?)\b(?:\s+of)?
        | aspects?\s+of\b
        | a\s+(?:comprehensive|complete|detailed|brief|short|full|clear|thorough)?\s*
          (?:summary|overview)\s+of\b
        )""",
    re.IGNORECASE | re.VERBOSE,
)
# "between 3 and 9 February": the first day has no month.
FIRST_DAY = re.compile(
    r"\b(?:between|from)\s(?:the\s)?(\d{1,2})(?:st|nd|rd|th)?\s(?:and|to|until|till)\s(?:the\s)?$",
    re.IGNORECASE,
)
MAX_FIRST_DAY = 40  # characters before a date in which FIRST_DAY is looked for
AROUND_DAYS = timedelta(days=3)
MAX_READ_CHARACTERS = 1_000  # of a question that rules read
MIN_REMAINING_TERMS = 2  # with fewer terms left, the question is kept unchanged


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The half-open time interval that a question names: `since` <= t < `until`."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """The result of the rules for one question."""

    terms: tuple[str, ...]
    people: frozenset[str]  # speakers that the question names
    embedding_text: str  # the question without names, which dominate the vector of a short text
    asks_assistant: bool
    window: TimeWindow | None = None
    all_terms: frozenset[str] = frozenset()  # terms of the unstripped question
    core_text: str = ""  # the question without boilerplate, names included

    @property
    def person(self) -> str | None:
        """The speaker that the question is about; None if it names none or several."""
        return next(iter(self.people)) if len(self.people) == 1 else None

    def with_speakers(self, speakers: Iterable[str | None]) -> QuestionAnalysis:
        """Return the analysis with the names of these speakers recognized in the question."""
        named = _find_named_speakers(speakers, self.all_terms, self.core_text)
        people = frozenset(named)
        if people == self.people:
            return self
        return replace(self, people=people, embedding_text=_remove_names(self.core_text, named))


def analyze_question(
    question: str, speakers: Iterable[str | None], now: datetime
) -> QuestionAnalysis:
    """Analyze a question; `now` is the reference time of relative dates."""
    core_text, all_terms = strip_boilerplate(question), frozenset(extract_terms(question))
    named = _find_named_speakers(speakers, all_terms, core_text)
    return QuestionAnalysis(
        terms=tuple(query_terms(core_text)),
        people=frozenset(named),
        embedding_text=_remove_names(core_text, named),
        asks_assistant=bool(ASSISTANT_QUESTION_PATTERN.search(question)),
        window=find_time_window(question, now),
        all_terms=all_terms,
        core_text=core_text,
    )


def strip_boilerplate(question: str) -> str:
    """Remove boilerplate phrases; return the question unchanged if too few terms remain."""
    core_text = BOILERPLATE_PATTERN.sub(" ", question)
    if core_text == question or len(set(query_terms(core_text))) >= MIN_REMAINING_TERMS:
        return core_text
    return question


def _find_named_speakers(
    speakers: Iterable[str | None], question_terms: frozenset[str], question: str
) -> dict[str, frozenset[str]]:
    """Return the speakers that the question names, each with the terms that name them.

    All terms of a name come first. A capitalized word of the question that names nobody so far may
    be a first or last name, a nickname, or a name with one wrong letter, in this order, if exactly
    one speaker is meant.
    """
    names = sorted({name for name in speakers if name})
    named = {
        name: frozenset(terms)
        for name in names
        if (terms := _name_terms(name)) and question_terms.issuperset(terms)
    }
    used = frozenset[str]().union(*named.values())
    others = [name for name in names if name not in named]
    if not others:
        return named
    for word in _words_like_names(question):
        own = frozenset(_name_terms(word))
        if own & used:
            continue
        meant = _match_part(word, others)
        if len(meant) == 1:
            named[meant[0]] = named.get(meant[0], frozenset()) | own
    return named


def _words_like_names(question: str) -> list[str]:
    """Return the lower-case form of the words that may be names.

    These are the capitalized words. In a question without capitals any word may be a name, unless
    it is listed as a common word.
    """
    is_lower = question == question.lower()
    words = (word.removesuffix("'s").removesuffix("’s") for word in WORD.findall(question))
    return [
        word.casefold()
        for word in dict.fromkeys(words)
        if len(word) > 1
        and word.casefold() not in STOP_WORDS
        and (word[:1].isupper() or (is_lower and not _is_common(word)))
    ]


def _is_common(word: str) -> bool:
    from ..text.gazetteer import is_common_word  # large; only for questions without capitals

    return is_common_word(word)


def _match_part(word: str, names: Sequence[str]) -> list[str]:
    """Return the names that a word means: by a part, else a nickname, else one wrong letter."""
    parts = {name: name.casefold().split() for name in names}
    if found := [name for name, own in parts.items() if word in (own[0], own[-1])]:
        return found
    if found := [name for name, own in parts.items() if own[0] in first_name_variants(word)]:
        return found
    return [name for name, own in parts.items() if is_misspelt(own[0], word)]


@lru_cache(maxsize=1_000)
def _name_terms(name: str) -> tuple[str, ...]:
    return tuple(extract_terms(name))


def find_time_window(question: str, now: datetime) -> TimeWindow | None:
    """Return the time window of the question, or None if it names no time.

    Several times are merged into one window from the earliest to the latest.
    """
    return (
        _parse_time_window_cached(question, now)
        if now.tzinfo is UTC
        else _parse_time_window(question, now)
    )


def _parse_time_window(question: str, now: datetime) -> TimeWindow | None:
    return read_time_window(question, now)[0]


def read_time_window(
    question: str, now: datetime
) -> tuple[TimeWindow | None, list[tuple[int, int]]]:
    """Return the time window of a question, and where its dates are in the text.

    "Around" a day is three days before it to three days after it.
    """
    from ..text.dates import DatePrecision, DateRelation, find_dates  # slow to import

    found: list[TimeWindow] = []
    places: list[tuple[int, int]] = []
    for span in find_dates(question, now):
        since, until, start = span.since, span.until, span.start
        is_day = span.precision is DatePrecision.DAY
        first = FIRST_DAY.search(question[max(0, start - MAX_FIRST_DAY) : start])
        if is_day and first and 1 <= int(first[1]) < since.day:
            since, start = since.replace(day=int(first[1])), start - len(first[0])
        elif is_day and span.relation is DateRelation.AROUND:
            since, until = since - AROUND_DAYS, until + AROUND_DAYS
        found.append(TimeWindow(since, until))
        places.append((start, span.end))
    if not found:
        return None, []
    return TimeWindow(min(each.since for each in found), max(each.until for each in found)), places


# The planner, the search and the episode view parse the same question. Only UTC times are cached:
# equal times in two zones compare as equal keys but may fall on different days.
_parse_time_window_cached = lru_cache(maxsize=16)(_parse_time_window)

clear_question_cache = _parse_time_window_cached.cache_clear  # questions may contain erased data


def _remove_names(question: str, named: Mapping[str, frozenset[str]]) -> str:
    names = {term for terms in named.values() for term in terms}
    if not names:
        return question
    remaining = WORD.sub(
        lambda word: " " if names.issuperset(extract_terms(word.group())) else word.group(),
        question,
    )
    return remaining if extract_terms(remaining) else question
