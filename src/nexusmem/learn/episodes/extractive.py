"""Extractive episodes: select original sentences, without a language model.

Landmarks have the highest weight, then facts, then informative sentences. Each line has the
speaker's name and an original sentence, in the order of the events. Nothing is reworded, so nothing
is invented.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...core.records import Event, Memory, MemoryKind
from ...core.records.facts import is_sure
from ...core.records.landmarks import LANDMARK_TYPES, LandmarkKind
from ...text.secrets import redact_secrets
from ...text.terms import query_terms
from ..extract.echo_filter import NOTHING_INJECTED, InjectedContexts, is_from_person
from ..extract.event_context import MAX_RECENT_EVENTS
from ..sentence_ranking import event_lines

MAX_LINES = 8  # plus further landmarks within MAX_EPISODE_CHARS
MIN_LINES = 3  # also of a conversation with low weights
MAX_EPISODE_CHARS = 1_200
MAX_LINE_CHARS = 280
MAX_NAME_CHARS = 60
REPETITION_SHARE = 0.6  # shared terms that make a line a repetition

NUMBER = re.compile(r"\d")
NAME = re.compile(r"(?<=\w[\s,])[A-Z][\w'’-]+")
TURNING_POINT = re.compile(
    r"\b(?:decid|agree|chose|choos|promis|will|must|deadline|due|plan|launch|ship|move[ds]? to|"
    r"cancel|postpone|instead|because|problem|broke|fixed|done|finished|starts?|ends?)",
    re.IGNORECASE,
)
LANDMARK_WEIGHT, FACT_WEIGHT, SENTENCE_WEIGHT = 3.0, 1.0, 0.2  # base weight of a line
NEW_ORIGIN_BONUS = 0.5  # for the first line of a speaker or of a part of the day
MIN_WEIGHT = 0.6  # of lines beyond MIN_LINES
MACHINE_FACTOR = 0.7  # for sentences of agents and tools
QUESTION_FACTOR = 0.4  # for questions


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """A candidate line of an episode."""

    at: datetime
    position: int  # of the sentence in its event
    speaker: str
    sentence: str
    weight: float
    origin: str  # speaker or part episode: each should have a line
    is_landmark: bool = False

    @property
    def text(self) -> str:
        speaker = " ".join(self.speaker.split())[:MAX_NAME_CHARS]
        words = " ".join(self.sentence.split())
        cut = words if len(words) <= MAX_LINE_CHARS else f"{words[: MAX_LINE_CHARS - 1].rstrip()}…"
        return f"{speaker}: {cut}" if speaker else cut


def candidate_lines(
    events: Sequence[Event],
    memories: Sequence[Memory],
    injected: InjectedContexts = NOTHING_INJECTED,
) -> list[EpisodeLine]:
    """Return all candidate lines of events; `memories` are their landmarks and facts.

    Facts that are not sure are left out: the sentences they were read from are candidates.
    """
    events_by_id = {event.id: event for event in events}
    sure = [each for each in memories if is_sure(each, each.at)]
    lines = [_memory_line(memory, events_by_id) for memory in sure]
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for memory in sure:
        texts[memory.sources[0]].append(memory.text)
    for index, event in enumerate(events):
        before = events[max(0, index - MAX_RECENT_EVENTS) : index]
        lines += _sentence_lines(event, before, texts[event.id], injected)
    return lines


def _memory_line(memory: Memory, events_by_id: dict[str, Event]) -> EpisodeLine:
    event = events_by_id[memory.sources[0]]
    landmark = memory.kind is MemoryKind.LANDMARK
    if landmark:
        weight = LANDMARK_WEIGHT + LANDMARK_TYPES[LandmarkKind(memory.body["kind"])].episode_weight
    else:
        weight = FACT_WEIGHT * memory.confidence + sentence_weight(memory.text)
    speaker = memory.speaker or event.speaker
    return EpisodeLine(
        event.at, 0, speaker, redact_secrets(memory.text), weight, speaker, is_landmark=landmark
    )


def _sentence_lines(
    event: Event, before: Sequence[Event], memory_texts: Sequence[str], injected: InjectedContexts
) -> Iterator[EpisodeLine]:
    """Yield lines of new sentences, without injected contexts and instructions to a model."""
    person = is_from_person(event)
    for line in event_lines(event, before, memory_texts):
        if person or not injected.contains_text(line.text):
            weight = sentence_weight(line.text) * (1 if person else MACHINE_FACTOR)
            yield EpisodeLine(
                event.at, line.place + 1, event.speaker, line.text, weight, event.speaker
            )


def sentence_weight(sentence: str) -> float:
    """Return the weight of a sentence: numbers, names and words of decision raise it."""
    weight = (
        SENTENCE_WEIGHT
        + 0.5 * bool(NUMBER.search(sentence))
        + 0.4 * bool(TURNING_POINT.search(sentence))
    )
    weight += 0.2 * min(3, len(set(NAME.findall(sentence))))
    weight += min(0.3, len(query_terms(sentence)) / 40)
    return weight * (QUESTION_FACTOR if sentence.endswith("?") else 1)


def lines_from_episodes(
    episodes: Sequence[Memory], landmark_texts: Iterable[str]
) -> list[EpisodeLine]:
    """Return the lines of part episodes for a longer one; `landmark_texts` weigh most."""
    landmarks = set(landmark_texts)
    lines = []
    for episode in episodes:
        for number, text in enumerate(episode.text.split("\n")):
            speaker, colon, sentence = text.partition(": ")
            if not colon or speaker not in episode.body["participants"]:
                speaker, sentence = "", text
            landmark = sentence in landmarks
            weight = LANDMARK_WEIGHT if landmark else sentence_weight(sentence)
            lines.append(
                EpisodeLine(
                    episode.at, number, speaker, sentence, weight, episode.id, is_landmark=landmark
                )
            )
    return lines


def select_lines(lines: Iterable[EpisodeLine]) -> list[EpisodeLine]:
    """Return the lines with the highest weight within the limits, in the order of the events."""
    left = sorted(lines, key=lambda line: (-line.weight, line.at, line.position, line.text))
    selected: dict[EpisodeLine, frozenset[str]] = {}  # line → its terms
    origins: set[str] = set()
    while left:
        best = max(
            left, key=lambda line: line.weight + NEW_ORIGIN_BONUS * (line.origin not in origins)
        )
        left.remove(best)
        if len(selected) >= MAX_LINES and not best.is_landmark:
            continue
        if len(selected) >= MIN_LINES and best.weight < MIN_WEIGHT and best.origin in origins:
            break  # small talk of a speaker who has a line
        terms = frozenset(query_terms(best.sentence))
        if any(_is_repetition(terms, each) for each in selected.values()):
            continue
        others = [
            each
            for each in selected
            if each.is_landmark or not _is_repetition(selected[each], terms)
        ]
        if sum(len(each.text) + 1 for each in (*others, best)) > MAX_EPISODE_CHARS:
            continue
        selected = {**{each: selected[each] for each in others}, best: terms}
        origins.add(best.origin)
    return sorted(selected, key=lambda line: (line.at, line.position, line.text))


def _is_repetition(terms: frozenset[str], other_terms: frozenset[str]) -> bool:
    """Return whether most terms are in the other line, including all numbers."""
    repeated = len(terms & other_terms) >= REPETITION_SHARE * len(terms)
    return repeated and not any(NUMBER.search(term) for term in terms - other_terms)
