"""The context router: which sections a turn needs, by rules and in well under 10 ms.

No model is asked, and nothing is read. The question and what was said just before it tell whether
it is about a time, about somebody, about how something is done, or about several things at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from ..core.part import Part
from ..core.text import STOP_WORDS, WORD
from ..recall.graph import possible_names
from ..recall.understand import Window, window_of

ALWAYS = {
    Part.LANDMARKS: "always: what was decided is pinned",
    Part.PROFILE: "always: who is here",
    Part.AWARENESS: "always: what can be looked up",
    Part.SUMMARY: "always: this session so far",
    Part.GOALS: "always: what is being worked on",
    Part.WINDOW: "always: the last messages",
}
MOST_NAMES = 60
LOOKED_AT = 200  # what may be names, of a long question
MOST_STEPS = 3
LONGEST_READ = 1_000  # characters of a question that rules look at
FEWEST_WORDS = 3  # of a question that stands for itself

TEMPORAL = re.compile(
    r"\b(?:when|recently|lately|last time|earlier|previously|how long ago|ago|since|until|history"
    r"|timeline|at (?:that|the) time|before that|after that|in the past|back then"
    r"|first time|so far|what happened|catch me up)\b",
    re.IGNORECASE,
)
HOW_TO = re.compile(
    r"\bhow (?:do|does|did|can|could|should|would|to|must)\b(?! (?:you|they|we|i) (?:feel|know)\b)"
    r"|\bsteps? (?:to|for)\b|\bprocedure|\brunbook\b|\bwalk me through\b"
    r"|\binstructions? (?:to|for)\b"
    r"|\bwhat(?:'s| is) the (?:way|process|best way) (?:to|for|of)\b"
    r"|^\W*(?:please\s+)?(?:deploy|install|set up|configure|release|roll back|restart|build|migrate"
    r"|onboard)\b",
    re.IGNORECASE,
)
TODAY = re.compile(
    r"\b(?:today|this (?:morning|afternoon|evening)|tonight|so far|stand-?up|catch me up"
    r"|what(?:'s| is| has been) (?:new|happening|going on)|what happened|what did (?:i|we) miss"
    r"|status|progress|update me|news)\b",
    re.IGNORECASE,
)
COMPARED = re.compile(
    r"\b(?:compare|comparison|difference between|versus|vs\.?|differ(?:s|ent)? from"
    r"|both of|as opposed to)\b",
    re.IGNORECASE,
)
THEN = re.compile(
    r"[,;]?(?<!\s)\s+\b(?:and then|and also|then also|after that,?|as well as)\b", re.IGNORECASE
)
NESTED = re.compile(
    r"\b(?:the (?:one|person|people|team|company|project|place|thing)|whoever|somebody|someone)"
    r" (?:who|that|which|where)\b|\bwhose\b.*\b(?:who|that|which)\b",
    re.IGNORECASE,
)
SIDES = re.compile(r"\b(?:and|versus|vs\.?|with|to|from|or)\b", re.IGNORECASE)
POINTING = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|its|their|that|this|those)\b", re.IGNORECASE
)
CAPITAL = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}")
SMALL_TALK = frozenset(
    """hi hello hey yo thanks thank thx ok okay yes yep yeah no nope sure great nice cool good
    morning afternoon evening night bye goodbye cheers perfect awesome lol haha welcome continue
    go ahead please much well fine right got it sounds""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a turn needs, and why."""

    wanted: Mapping[Part, str]
    question: str
    steps: tuple[str, ...]  # what to look for: the question, or its parts one after the other
    names: tuple[str, ...] = ()  # what may be names in it, as they are looked up
    window: Window | None = None  # the stretch of time it names
    nested: bool = False  # it asks for something through something else

    @property
    def iterative(self) -> bool:
        """Whether one look is not enough."""
        return len(self.steps) > 1 or self.nested


def plan(question: str, *, now: datetime, recent: Sequence[str] = ()) -> Plan:
    """Read a question asked at a moment; `recent` is what was said before it, oldest first."""
    read = question[:LONGEST_READ]
    window = window_of(read, now)
    return Plan(
        wanted=dict(_wanted(read, window)),
        question=question,
        steps=_steps(question, read),
        names=_first(_names(read, recent), MOST_NAMES),
        window=window,
        nested=bool(NESTED.search(read)),
    )


def _wanted(question: str, window: Window | None) -> Iterator[tuple[Part, str]]:
    yield from ALWAYS.items()
    names = [found for found in CAPITAL.findall(question) if found.casefold() not in STOP_WORDS]
    yield Part.FACTS, f"it may name {names[-1]}" if names else "always: exact values"
    if not is_small_talk(question):
        yield Part.RECALL, "it asks for something"
    if signal := _temporal(question, window):
        yield Part.EPISODES, signal
    if found := HOW_TO.search(question):
        yield Part.PROCEDURES, f"it asks how to: “{_said(found)}”"
    if found := TODAY.search(question):
        yield Part.ACTIVITY, f"it asks about now: “{_said(found)}”"


def _temporal(question: str, window: Window | None) -> str | None:
    """Why it is about a time, if it is."""
    if window:
        return f"it names a time: {window.since:%Y-%m-%d} to {window.until:%Y-%m-%d}"
    found = TEMPORAL.search(question)
    return f"it asks about a time: “{_said(found)}”" if found else None


def _said(found: re.Match[str]) -> str:
    return " ".join(found[0].split()).casefold()


def is_small_talk(question: str) -> bool:
    """Whether there is nothing in it to look for."""
    words = [word.casefold() for word in WORD.findall(question)]
    return all(word in SMALL_TALK or word in STOP_WORDS for word in words) and (
        "?" not in question or not words
    )


def _steps(question: str, read: str) -> tuple[str, ...]:
    """The parts of a question that asks for several things; a simple one is its only part."""
    asked = [f"{part.strip()}?" for part in read.split("?")[:-1] if part.strip()]
    if len(asked) > 1:
        return _apart(question, asked)
    if COMPARED.search(read):
        matter = COMPARED.sub(" ", read).strip(" ?.!")
        sides = [side.strip(" ,?.!") for side in SIDES.split(matter)]
        return _apart(question, [side for side in sides if side])
    return _apart(question, THEN.split(read))


def _apart(question: str, parts: Sequence[str]) -> tuple[str, ...]:
    telling = [part for part in parts[: 2 * MOST_STEPS] if not is_small_talk(part)]
    return (question, *telling[:MOST_STEPS]) if len(telling) > 1 else (question,)


def _first(names: Iterator[str], most: int) -> tuple[str, ...]:
    """The first different ones."""
    return tuple(dict.fromkeys(islice(names, LOOKED_AT)))[:most]


def _names(question: str, recent: Sequence[str]) -> Iterator[str]:
    """What may be names; a question that only points at somebody means whom was spoken of."""
    capitals = [found for found in CAPITAL.findall(question) if found.casefold() not in STOP_WORDS]
    yield from (name for found in capitals for name in possible_names(found))
    if not capitals and POINTING.search(question):
        for said in reversed(recent[-2:]):
            for found in CAPITAL.findall(said[:LONGEST_READ]):
                yield from possible_names(found)
    yield from possible_names(question)
