"""Dates and times in English text, resolved against the moment it was said.

How a phrase is read, where people differ:

- A week starts on Monday; a weekend is Saturday and Sunday. "Last week", "next month" and the like
  are the calendar's; "the past week" and "the last two weeks" are the days up to today.
- "Last Friday" is the latest before today. "Next Friday" is at least four days off: a nearer one is
  "this Friday".
- "Two days ago" is that day; "two weeks ago" the week around it, three days either way; months and
  years are the calendar's. "A couple" is 2–3, "a few" 2–5, "several" 3–7, and the relation AROUND.
- A bare month, day or weekday is the latest or the coming one, as the nearest verb has it ("we met
  on Tuesday", "we will meet on Tuesday"), and without a verb the nearest.
- "The first week of June" is the 1st to the 7th; early, mid and late are thirds.
- "The week before 9 June" is the seven days before it.
- Seasons are whole months of the northern year; winter 2022 ends in February 2023.
- Morning is 5–12, afternoon 12–18, evening 18–24, night 18–6. "At 6" is in the evening, "at 7" in
  the morning, unless the day says otherwise.
- 7/5/2023 is July 5th, as in the US, unless that is impossible; 7.5.2023 is 7 May.
- A number is a year only beside a word that says so ("in 2021", "May 2021", "(2021)").
- What recurs ("every Tuesday", "on Mondays", "a Sunday") is no date, and is left out.

Days are those of the zone of `at`; clock times are wall times there.
"""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from ..canonical import EARLIEST, LATEST
from ..errors import InvalidInput
from .grammar import Claim, Reading, read
from .rules import RULES
from .span import DateSpan, Precision, Relation
from .tokens import Node, tokens
from .words import KINDS, TELLING

__all__ = ["DateSpan", "Precision", "Relation", "dates_in"]

LETTERS = re.compile("[a-z]+")
FIGURES = re.compile(
    r"[0-9](?:[0-9]{3}|[:/.-][0-9]|\ ?[ap]\.?m|(?:st|nd|rd|th|s)\b)|['’][0-9]{2}\b|\bq[1-4]\b"
)


def dates_in(text: str, at: datetime) -> list[DateSpan]:
    """Every date in a text said at a moment, in order and without overlap.

    What cannot be (30 February) or lies beyond the years of the calendar is left out.
    """
    if not isinstance(at, datetime):
        raise InvalidInput(f"at must be a datetime, not {type(at).__name__}")
    if at.tzinfo is None or at.utcoffset() is None:
        raise InvalidInput("at needs a time zone: a day is a day somewhere")
    if not _may_hold_dates(text):
        return []
    found = tokens(text)
    reading = Reading(at.replace(tzinfo=None, fold=0), at.tzinfo, found, found)
    read(reading, RULES)
    spans = (_span(text, node, at.tzinfo) for node in reading.nodes if node.kind == KINDS["found"])
    return [span for span in spans if span]


def _may_hold_dates(text: str) -> bool:
    """Most messages name no time: they shall cost next to nothing."""
    small = text.lower()
    return not TELLING.isdisjoint(LETTERS.findall(small)) or bool(FIGURES.search(small))


def _span(text: str, node: Node, zone: tzinfo) -> DateSpan | None:
    claim: Claim = node.value
    try:
        since = claim.since.replace(tzinfo=zone) if claim.since else EARLIEST.astimezone(zone)
        until = claim.until.replace(tzinfo=zone) if claim.until else LATEST.astimezone(zone)
        possible = EARLIEST <= since < until <= LATEST
    except OverflowError:  # the first or the last day of all, seen from another zone
        return None
    if not possible:
        return None
    return DateSpan(
        start=node.start,
        end=node.end,
        text=text[node.start : node.end],
        since=since,
        until=until,
        precision=claim.precision,
        relation=claim.relation,
    )
