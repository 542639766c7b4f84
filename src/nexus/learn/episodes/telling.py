"""An episode told without a model: the lines that must not be lost, with who said them.

What was decided and promised comes first, then what is known for a fact, then the most telling
sentences in people's own words. Each stands on a line of its own behind its speaker's name, in
the order it was said: nothing is put in other words, so nothing can be made up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...core.records import Event, Memory, MemoryKind
from ...core.secrets import redacted
from ...core.text import query_terms
from ..around import RECENT
from ..immune import NOTHING_INJECTED, Injected, is_person
from ..rules.extracted import LandmarkKind
from ..telling import lines_of as sentences_of

MOST_LINES = 8  # and further landmarks, while there is room
FEWEST_LINES = 3  # also of talk in which nothing was decided, if so much was said
LONGEST = 1_200  # characters of a whole episode
LONGEST_LINE = 280
LONGEST_NAME = 60
SAME = 0.6  # the share of its words that makes a line a repetition of another

NUMBER = re.compile(r"\d")
NAME = re.compile(r"(?<=\w[\s,])[A-Z][\w'’-]+")
TURNING = re.compile(
    r"\b(?:decid|agree|chose|choos|promis|will|must|deadline|due|plan|launch|ship|move[ds]? to|"
    r"cancel|postpone|instead|because|problem|broke|fixed|done|finished|starts?|ends?)",
    re.IGNORECASE,
)
DECIDED = {  # how much more a landmark of a kind weighs
    LandmarkKind.DECISION: 0.5,
    LandmarkKind.COMMITMENT: 0.4,
    LandmarkKind.ACTION_ITEM: 0.3,
    LandmarkKind.CORRECTION: 0.3,
    LandmarkKind.PREFERENCE_STATED: 0.0,
}
LANDMARK, FACT, OWN = 3.0, 1.0, 0.2  # what each kind of line weighs by itself
FRESH = 0.5  # what the first line of a speaker, or of a part of the day, weighs more
DULL = 0.6  # what weighs less is left out, if enough is told
LESS = 0.7  # what is left of a sentence's weight if no person said it
QUESTION = 0.4  # what is left of a sentence's weight if it only asks


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said and may be told."""

    at: datetime
    place: int  # among those of its moment
    speaker: str
    sentence: str
    weight: float
    origin: str  # the conversation or event it is from: each shall be heard
    landmark: bool = False

    @property
    def text(self) -> str:
        named = " ".join(self.speaker.split())[:LONGEST_NAME]
        words = " ".join(self.sentence.split())
        cut = words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1].rstrip()}…"
        return f"{named}: {cut}" if named else cut


def lines_of(
    events: Sequence[Event], known: Sequence[Memory], injected: Injected = NOTHING_INJECTED
) -> list[Line]:
    """Everything some events have to tell; `known` are their landmarks and facts."""
    said = {event.id: event for event in events}
    lines = [_known_line(memory, said) for memory in known]
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for memory in known:
        texts[memory.sources[0]].append(memory.text)
    for place, event in enumerate(events):
        before = events[max(0, place - RECENT) : place]
        lines += _own_lines(event, before, texts[event.id], injected)
    return lines


def _known_line(memory: Memory, said: dict[str, Event]) -> Line:
    event = said[memory.sources[0]]
    landmark = memory.kind is MemoryKind.LANDMARK
    if landmark:
        weight = LANDMARK + DECIDED[LandmarkKind(memory.body["kind"])]
    else:
        weight = FACT * memory.confidence + telling(memory.text)
    speaker = memory.speaker or event.speaker
    return Line(event.at, 0, speaker, redacted(memory.text), weight, speaker, landmark=landmark)


def _own_lines(
    event: Event, before: Sequence[Event], known: Sequence[str], injected: Injected
) -> Iterator[Line]:
    """The sentences in which somebody says something of their own; orders to a model tell none."""
    person = is_person(event)
    for own in sentences_of(event, before, known):
        if person or not injected.holds(own.text):
            weight = telling(own.text) * (1 if person else LESS)
            yield Line(event.at, own.place + 1, event.speaker, own.text, weight, event.speaker)


def telling(sentence: str) -> float:
    """How much a sentence tells: numbers, names, and words that turn things."""
    weight = OWN + 0.5 * bool(NUMBER.search(sentence)) + 0.4 * bool(TURNING.search(sentence))
    weight += 0.2 * min(3, len(set(NAME.findall(sentence))))
    weight += min(0.3, len(query_terms(sentence)) / 40)
    return weight * (QUESTION if sentence.endswith("?") else 1)


def lines_again(episodes: Sequence[Memory], decided: Iterable[str]) -> list[Line]:
    """The lines of episodes, to be told once more; `decided` are the texts of landmarks."""
    turning = set(decided)
    lines = []
    for episode in episodes:
        for place, text in enumerate(episode.text.split("\n")):
            speaker, colon, sentence = text.partition(": ")
            if not colon or speaker not in episode.body["participants"]:
                speaker, sentence = "", text
            landmark = sentence in turning
            weight = LANDMARK if landmark else telling(sentence)
            lines.append(
                Line(episode.at, place, speaker, sentence, weight, episode.id, landmark=landmark)
            )
    return lines


def chosen(lines: Iterable[Line]) -> list[Line]:
    """The most telling lines there is room for, in the order they were said."""
    left = sorted(lines, key=lambda line: (-line.weight, line.at, line.place, line.text))
    kept: dict[Line, frozenset[str]] = {}  # with their words
    heard: set[str] = set()
    while left:
        best = max(left, key=lambda line: line.weight + FRESH * (line.origin not in heard))
        left.remove(best)
        if len(kept) >= MOST_LINES and not best.landmark:
            continue
        if len(kept) >= FEWEST_LINES and best.weight < DULL and best.origin in heard:
            break  # small talk of somebody who was heard already
        said = frozenset(query_terms(best.sentence))
        if any(_says_again(said, each) for each in kept.values()):
            continue
        less = [each for each in kept if not each.landmark and _says_again(kept[each], said)]
        stays = [each for each in kept if each not in less]
        if sum(len(each.text) + 1 for each in (*stays, best)) > LONGEST:
            continue
        kept = {**{each: kept[each] for each in stays}, best: said}
        heard.add(best.origin)
    return sorted(kept, key=lambda line: (line.at, line.place, line.text))


def _says_again(said: frozenset[str], before: frozenset[str]) -> bool:
    """Whether it tells little that the other one did not, and no other number."""
    again = len(said & before) >= SAME * len(said)
    return again and not any(NUMBER.search(term) for term in said - before)
