"""Date parser: dates and times in English text, resolved against the time of the message.

Interpretation of ambiguous phrases:

- A week starts on Monday; a weekend is Saturday and Sunday. "Last week" and "next month" are
  calendar units; "the past week" and "the last two weeks" are the days up to today.
- "Last Friday" is the latest before today. "Next Friday" is at least four days ahead: a nearer
  one is "this Friday".
- "Two days ago" is that day; "two weeks ago" is the week around it, three days either way; months
  and years are calendar units. "A couple" is 2–3, "a few" 2–5, "several" 3–7, with relation AROUND.
- A bare month, day or weekday is the latest or the next one, depending on the tense of the nearest
  verb ("we met on Tuesday", "we will meet on Tuesday"); without a verb it is the nearest.
- "The fourteenth" and "(14th)" are a day of the month; "the 2nd" only after "on", "by" or "due".
- "The first week of June" is the 1st to the 7th; early, mid and late are thirds.
- "Friday week" and "a week on Friday" are a week after the coming Friday.
- "EOD" and "COB" are the day itself, "EOW" and "EOM" the end of the week or month.
- "In 3 working days" counts Monday to Friday, without holidays.
- "The week before 9 June" is the seven days before it.
- Seasons are the northern ones, in full months; winter 2022 ends in February 2023.
- Morning is 5–12, afternoon 12–18, evening 18–24, night 18–6. "At 6" is in the evening, "at 7" in
  the morning, unless the context of the day excludes it.
- 7/5/2023 is July 5th, as in the US, unless that is impossible; 7.5.2023 is 7 May.
  23.02. is a day too, unless the words before it suggest a version.
- Easter is the western one.
- A number is a year only next to an indicator ("in 2021", "May 2021", "(2021)").
- Recurring dates ("every Tuesday", "on Mondays", "a Sunday") are ignored.

Days and clock times are local to the time zone of `at`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, tzinfo

from ...core.canonical import EARLIEST, LATEST
from ...core.errors import InvalidInput
from .grammar import ParseState, ResolvedDate, apply_rules
from .interval import VerbTense
from .rules import RULES
from .span import DatePrecision, DateRelation, DateSpan
from .tokens import DATE_WORDS, KINDS, NTH, GrammarNode, tokenize

__all__ = ["DatePrecision", "DateRelation", "DateSpan", "VerbTense", "find_dates"]

LETTERS = re.compile("[a-z]+")
DATE_FIGURES = re.compile(
    r"[0-9](?:[0-9]{3}|[:/.-][0-9]|\ ?[ap]\.?m|(?:st|nd|rd|th|s|[\ -]?ish)\b)"
    r"|['’][0-9]{2}\b|\bq[1-4]\b"
)
ORDINAL_WORDS = frozenset(NTH)  # common: "the first one"
ORDINAL_DAYS = re.compile(
    rf"\b(?:(?:on|by|until|till|til)\ the|twenty|thirty)[\ -](?:{'|'.join(NTH)})\b"
)


def find_dates(
    text: str, at: datetime, tense_at: Callable[[int], VerbTense | None] | None = None
) -> list[DateSpan]:
    """Return all dates in a text written at `at`, in order and without overlap.

    `tense_at` returns the tense at a place of the text, if the caller knows it better than the
    words nearby: "we decided to meet on Friday" is about the next Friday.

    Impossible dates (30 February) and dates out of range are ignored. Raise InvalidInput if `at` is
    not a timezone-aware datetime.
    """
    if not isinstance(at, datetime):
        raise InvalidInput(f"at must be a datetime, got {type(at).__name__}")
    if at.tzinfo is None or at.utcoffset() is None:
        raise InvalidInput(f"at must be timezone-aware, got {at.isoformat()}")
    if not _may_contain_dates(text):
        return []
    tokens = tokenize(text)
    state = ParseState(
        at.replace(tzinfo=None, fold=0), at.tzinfo, tokens, tokens, tense_at=tense_at
    )
    apply_rules(state, RULES)
    spans = (
        _make_span(text, node, at.tzinfo) for node in state.nodes if node.kind == KINDS["found"]
    )
    return [span for span in spans if span]


def _may_contain_dates(text: str) -> bool:
    """Return False for texts without date words and figures, which are most messages; fast."""
    lowered = text.lower()
    words = LETTERS.findall(lowered)
    if not DATE_WORDS.isdisjoint(words):
        only_ordinals = DATE_WORDS.intersection(words) <= ORDINAL_WORDS
        if not only_ordinals or ORDINAL_DAYS.search(lowered):
            return True
    return bool(DATE_FIGURES.search(lowered))


def _make_span(text: str, node: GrammarNode, zone: tzinfo) -> DateSpan | None:
    date: ResolvedDate = node.value
    try:
        since = date.since.replace(tzinfo=zone) if date.since else EARLIEST.astimezone(zone)
        until = date.until.replace(tzinfo=zone) if date.until else LATEST.astimezone(zone)
        is_possible = EARLIEST <= since < until <= LATEST
    except OverflowError:  # the first or last representable day, in another time zone
        return None
    if not is_possible:
        return None
    return DateSpan(
        start=node.start,
        end=node.end,
        text=text[node.start : node.end],
        since=since,
        until=until,
        precision=date.precision,
        relation=date.relation,
    )
