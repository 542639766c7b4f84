"""Changing story: ask for values that changed, and count contexts that show a former value first.

The story is `changing_story.txt`. It is sent through the public API, and all its questions are
asked after the last message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files

from ..client import Nexus
from ..core.errors import EmbedderUnavailable, InvalidInput
from ..text.terms import normalize_words
from .benchmarks import BenchmarkMessage
from .chat import ReplayClock

STORY_FILE = "changing_story.txt"
ROOM_NAME = "bakery"
ASKED_AFTER = timedelta(days=2)  # the last message: the window is empty
PAUSE = timedelta(minutes=1)  # between messages
HEADING_LINE = re.compile(r"== (\d{4}-\d\d-\d\d \d\d:\d\d)")
MESSAGE_LINE = re.compile(r"(\w+): (\S.*)")
QUESTION_LINE = re.compile(r"\? ([^|]+)\|([^|]+)\|([^|]+)")
# Words that mark a value as outdated. No message of the story contains one of them.
STALE_MARKS = (
    "former",
    "formerly",
    "previous",
    "previously",
    "earlier",
    "until",
    "ended",
    "superseded",
    "replaced",
    "corrected",
    "outdated",
    "obsolete",
    "no longer",
    "used to",
)
CURRENT, STALE_FIRST, STALE_ONLY, MISSING = "current", "stale first", "stale only", "missing"
OUTCOMES = (CURRENT, STALE_FIRST, STALE_ONLY, MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRating:
    """What a context shows of a value that changed."""

    outcome: str  # one of OUTCOMES
    has_stale: bool  # an unmarked former value is shown, above or below the current one


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedValue:
    """A value that changed, and the question for it."""

    question: str
    current: str
    former: tuple[str, ...]

    def rate_context(self, text: str) -> ChangeRating:
        """Return which value a context shows first, line by line.

        A line with the current value counts as current, also if it names a former one. A line that
        marks the former value as outdated does not count.
        """
        lines = [f" {normalize_words(line)} " for line in text.splitlines()]
        current = [n for n, line in enumerate(lines) if has_words(line, self.current)]
        stale = [
            number
            for number, line in enumerate(lines)
            if number not in current
            and any(has_words(line, value) for value in self.former)
            and not any(has_words(line, mark) for mark in STALE_MARKS)
        ]
        if not current:
            outcome = STALE_ONLY if stale else MISSING
        else:
            outcome = STALE_FIRST if stale and stale[0] < current[0] else CURRENT
        return ChangeRating(outcome=outcome, has_stale=bool(stale))


def has_words(line: str, words: str) -> bool:
    """Return whether a normalized line with a space at both ends has these words in a row."""
    return f" {normalize_words(words)} " in line


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingStory:
    """The messages in order, and the values that changed in them."""

    messages: tuple[BenchmarkMessage, ...]
    changes: tuple[ChangedValue, ...]

    @property
    def people(self) -> list[str]:
        return sorted({message.speaker for message in self.messages})


def load_story() -> ChangingStory:
    """Return the story of this package."""
    return parse_story(files(__package__).joinpath(STORY_FILE).read_text(encoding="utf-8"))


def parse_story(text: str) -> ChangingStory:
    """Parse a story; raise InvalidInput for a line that has none of its forms."""
    messages: list[BenchmarkMessage] = []
    changes: list[ChangedValue] = []
    at, thread = datetime.min.replace(tzinfo=UTC), ""
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if match := HEADING_LINE.fullmatch(line):
            thread, at = match[1], datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
        elif match := QUESTION_LINE.fullmatch(line):
            current, former, question = (part.strip() for part in match.groups())
            values = tuple(value.strip() for value in former.split(";"))
            changes.append(ChangedValue(question=question, current=current, former=values))
        elif match := MESSAGE_LINE.fullmatch(line):
            key = str(len(messages) + 1)
            messages.append(
                BenchmarkMessage(speaker=match[1], text=match[2], key=key, thread=thread, at=at)
            )
            at += PAUSE
        else:
            raise InvalidInput(f"expected a heading, message or question, got {line!r:.80}")
    return ChangingStory(messages=tuple(messages), changes=tuple(changes))


def run_story(
    nexus: Nexus, clock: ReplayClock, story: ChangingStory, *, workspace: str
) -> list[ChangeRating]:
    """Return the rating of each question; `clock` must be the clock of `nexus`."""
    place = nexus.workspace(workspace).room(ROOM_NAME, participants=story.people)
    clock.time = max(message.at for message in story.messages) + ASKED_AFTER
    place.observe_many(asdict(message) for message in story.messages)
    if stuck := place.flush():
        raise EmbedderUnavailable(f"{stuck} messages of the story could not be indexed")
    return [each.rate_context(place.compose(each.question).text) for each in story.changes]


def count_ratings(ratings: Sequence[ChangeRating]) -> dict[str, int]:
    """Return how many questions had each outcome, and how many showed a former value at all."""
    counts = Counter(rating.outcome for rating in ratings)
    return {
        "questions": len(ratings),
        **{name.replace(" ", "_"): counts[name] for name in OUTCOMES},
        "stale_shown": sum(rating.has_stale for rating in ratings),
    }
