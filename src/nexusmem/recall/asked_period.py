"""Asked period: a question about a time is answered from that time.

"What happened on Friday?" is answered from that Friday. A message of another day counts if it names
that Friday. "What did Nadia say about the move in March?" has a topic as well: the ranking weighs
both. "When did she move?" asks for a time and limits nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..core.canonical import EARLIEST, LATEST
from ..core.records import Memory
from ..text.terms import STOP_WORDS, WORD
from .question_analysis import MAX_READ_CHARACTERS, TimeWindow, find_time_window, read_time_window

MAX_MENTION_CHARACTERS = 1_000  # of a text that is read for dates
DAY = timedelta(days=1)
ASKS_FOR_TIME = re.compile(
    r"^\W*(?:and |but |so |hey,? |ok,? )?(?:when\b|since when\b|how (?:long|old|many (?:days|weeks"
    r"|months|years))\b|(?:on |at |in |by )?(?:what|which) (?:date|day|time|year|month|week)\b)",
    re.IGNORECASE,
)
DUE_QUESTION = re.compile(
    r"\b(?:due|deadlines?|must|need(?:s|ed)? to|ha(?:ve|s) to|should|ready|finish(?:ed)?|planned"
    r"|scheduled|coming up|to[- ]?do)\b",
    re.IGNORECASE,
)
# Words of a question that tell nothing about the topic.
EMPTY_WORDS = frozenset(
    """happen happened happening happens go going went come came do did done say said talk talked
    talking discuss discussed decide decided tell told mention mentioned anything everything
    something new news there up over so far like know remember we i you me us they recap
    summarize summary show list give have has been get got plan plans planned planning due
    scheduled coming ready need needs must finished finish work worked working make made
    write wrote written event events day week month today week's thing things catch
    call called meet meetings meeting appointments appointment morning afternoon evening""".split()
)


@dataclass(frozen=True, slots=True)
class AskedPeriod:
    """The period that a question is about."""

    window: TimeWindow
    is_whole_topic: bool  # the question names nothing else: other messages do not answer it

    def holds(self, memory: Memory) -> bool:
        """Return whether a memory is of this period."""
        return self.window.since <= memory.at < self.window.until

    def is_named_in(self, memory: Memory) -> bool:
        """Return whether the text names a time of this period; open ranges do not count."""
        from ..text.dates import DateRelation, find_dates  # slow to import

        window = self.window
        exact = (DateRelation.IN, DateRelation.AROUND, DateRelation.UNTIL)
        return any(
            window.since < date.until <= window.until + DAY
            and (date.since >= window.since - DAY or date.relation is DateRelation.UNTIL)
            for date in find_dates(memory.text[:MAX_MENTION_CHARACTERS], memory.at)
            if date.relation in exact
        )

    def describe(self) -> str:
        """Return the period in words: "on Friday 2026-03-06" or "from 2026-03-02 to 2026-03-08"."""
        since, until = self.window.since, self.window.until
        if since == EARLIEST:
            return f"before {until:%Y-%m-%d}"
        if until == LATEST:
            return f"since {since:%Y-%m-%d}"
        last = until - timedelta(microseconds=1)
        if since.date() == last.date():
            return f"on {since:%A %Y-%m-%d}"
        return f"from {since:%Y-%m-%d} to {last:%Y-%m-%d}"


def find_asked_period(question: str, now: datetime) -> AskedPeriod | None:
    """Return the period that a question is about, or None if it asks for a time or names none.

    "By Monday" and "before Friday" are about the days until then. A past that is not limited
    ("before Easter", asked before Easter) is no period.
    """
    read = question[:MAX_READ_CHARACTERS]
    window = find_time_window(read, now)
    if window is None or ASKS_FOR_TIME.search(read):
        return None
    if window.since == EARLIEST and window.until > now:
        if not DUE_QUESTION.search(read):
            return None
        window = TimeWindow(now.replace(hour=0, minute=0, second=0, microsecond=0), window.until)
    return AskedPeriod(window, _has_no_other_topic(read, now))


def _has_no_other_topic(question: str, now: datetime) -> bool:
    rest = question
    for start, end in reversed(read_time_window(question, now)[1]):
        rest = f"{rest[:start]} {rest[end:]}"
    words = [word.casefold().removesuffix("'s") for word in WORD.findall(rest)]
    return all(word in EMPTY_WORDS or word in STOP_WORDS for word in words)


def choose_of_period(
    memories: Sequence[Memory], positions: Sequence[int], period: AskedPeriod, *, is_ahead: bool
) -> list[int]:
    """Return the positions of the messages that may answer a question about this period.

    If the question names nothing else, these are the messages of the period, then others that name
    it; the other way round for a period that lies ahead. If it names a topic as well, all remain:
    the ranking weighs time and topic, and moving more costs recall on LoCoMo.
    """
    if not period.is_whole_topic:
        return list(positions)
    inside = [position for position in positions if period.holds(memories[position])]
    rest = [position for position in positions if position not in inside]
    named = [position for position in rest if period.is_named_in(memories[position])]
    return [*named, *inside] if is_ahead else [*inside, *named]
