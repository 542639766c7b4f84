"""Candidate features: one number per candidate and feature, for a linear model.

Strategies score on different scales, and their ranges differ from question to question. Scores are
therefore compared as z-scores over the candidates. Unlike ranks, z-scores keep the margins. They
do not depend on the number of other memories that the viewer may read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import repeat
from math import sqrt
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.records import EmbeddingProfile, MemoryKind
from ...core.records.memory import PLAIN_COSINES
from ...core.records.projections import Candidate
from ...text.terms import split_words
from ..question_analysis import QuestionAnalysis
from ..strategies.keyword import COVERAGE_SCALE
from ..strategies.timeline import time_window_score

NEIGHBOURS_PER_SIDE = 2
EMPTY_SIDE = (None,) * NEIGHBOURS_PER_SIDE
VIEW_WIDTH = 2 * NEIGHBOURS_PER_SIDE + 1
# Per column of a view, the columns of its neighbours in the row padded on both sides.
NEIGHBOUR_OFFSETS = np.array(
    [
        [
            NEIGHBOURS_PER_SIDE + column + step
            for step in (
                *range(-1, -NEIGHBOURS_PER_SIDE - 1, -1),
                *range(1, NEIGHBOURS_PER_SIDE + 1),
            )
        ]
        for column in range(VIEW_WIDTH)
    ]
)

Neighbours = tuple[tuple[str, ...], tuple[str, ...]]  # before and after, nearest first
NeighbourMap = Mapping[str, Neighbours]
Positions = NDArray[np.intp]


def neighbour_positions(
    neighbours: NeighbourMap, ids: Sequence[str]
) -> tuple[Positions, Positions]:
    """Return positions of candidates, and a row of neighbour positions for each of them.

    A row holds two positions before and two after the candidate, nearest first. Candidates that
    occur only as neighbours get a row too, as far as the view of the other candidate reaches.
    Position len(ids) means a message that is no candidate, len(ids) + 1 means no message.
    """
    if not neighbours:
        return np.zeros(0, np.intp), np.zeros((0, 2 * NEIGHBOURS_PER_SIDE), np.intp)
    outside, missing = len(ids), len(ids) + 1
    position_of: dict[str | None, int] = {id: position for position, id in enumerate(ids)}
    position_of[None] = missing
    rows: list[str | None] = []
    for head in sorted(neighbours):  # independent of the store's order
        before, after = neighbours[head]
        rows += (*EMPTY_SIDE[len(before) :], *before[::-1], head, *after, *EMPTY_SIDE[len(after) :])
    positions = np.fromiter(map(position_of.get, rows, repeat(outside)), np.intp, len(rows))
    wide = np.full(
        (len(neighbours), NEIGHBOURS_PER_SIDE + VIEW_WIDTH + NEIGHBOURS_PER_SIDE), missing
    )
    middle = slice(NEIGHBOURS_PER_SIDE, NEIGHBOURS_PER_SIDE + VIEW_WIDTH)
    wide[:, middle] = positions.reshape(-1, VIEW_WIDTH)
    views = wide.take(NEIGHBOUR_OFFSETS, axis=1).reshape(-1, 2 * NEIGHBOURS_PER_SIDE)
    return _select_fullest_views(positions, views, outside)


def _select_fullest_views(
    positions: Positions, neighbours: Positions, outside: int
) -> tuple[Positions, Positions]:
    """Keep each candidate's row with the fewest missing neighbours; the first one wins a tie."""
    missing = outside + 1
    order = np.lexsort((np.add.reduce(neighbours == missing, axis=1), positions))
    positions = positions[order]
    first = positions < outside
    first[1:] &= positions[1:] != positions[:-1]
    return positions[first], neighbours[order[first]]


def conversation_openings(neighbours: NeighbourMap) -> set[str]:
    """Return the ids of first messages: fewer messages precede the head than the view reaches."""
    return {
        before[-1] if before else head
        for head, (before, _) in neighbours.items()
        if len(before) < NEIGHBOURS_PER_SIDE
    }


FloatArray = NDArray[np.float64]

FEATURE_NAMES = (
    "keyword",  # BM25 of its text
    "conversation",  # BM25 of its conversation
    "vector",  # cosine of its text
    "topic",  # best cosine of another candidate of its conversation
    "before",  # keyword + vector of the two messages before it
    "after",  # the same for the two messages after it
    "answers",  # keyword + vector of the question that it follows
    "asks",  # it is a question itself
    "opens",  # first message of its conversation: people start with news
    "speaker",  # its speaker is the person that the question is about
    "role",  # its role is the one the question asks for: a person or the assistant
    "length",  # logarithm of its number of terms
    "directs",  # it is an instruction
    "timeline",  # inside the time window of the question
    "graph",  # linked to a name in the question
)


class CandidateColumns(NamedTuple):
    """The fields of `Candidate` as columns, in the same order."""

    id: tuple[str, ...] = ()
    kind: tuple[MemoryKind, ...] = ()
    speaker: tuple[str | None, ...] = ()
    role: tuple[str | None, ...] = ()
    thread: tuple[str, ...] = ()
    at: tuple[datetime, ...] = ()
    length: tuple[int, ...] = ()
    is_question: tuple[bool, ...] = ()
    is_instruction: tuple[bool, ...] = ()
    keyword: tuple[float, ...] = ()
    thread_keyword: tuple[float, ...] = ()


@dataclass
class CandidatePool:
    """The candidates of one question, sorted by id, with the scores of every strategy."""

    candidates: Sequence[Candidate]
    vector_scores: Mapping[str, float]
    analysis: QuestionAnalysis
    neighbours: NeighbourMap = field(default_factory=dict)  # of the best candidates only
    graph_scores: Mapping[str, float] = field(default_factory=dict)
    opening_ids: set[str] = field(default_factory=set)
    profile: EmbeddingProfile | None = None  # of the vectors; None: cosines are used as they are

    def __post_init__(self) -> None:
        self.candidates = sorted(self.candidates, key=itemgetter(0))

    @cached_property
    def columns(self) -> CandidateColumns:
        return CandidateColumns(*zip(*self.candidates, strict=True))

    @cached_property
    def own_z_scores(self) -> tuple[FloatArray, FloatArray]:
        """The z-scores of the keyword column and of the vector column."""
        return z_scores(self.columns.keyword), z_scores(self._vector_column)

    @cached_property
    def _vector_column(self) -> FloatArray:
        return self._score_column(self.vector_scores)

    @cached_property
    def vector_evidence(self) -> Mapping[str, float]:
        """The calibrated cosines by id: scores that thresholds and people can read."""
        if self.profile is None or self.profile.cosine_range == PLAIN_COSINES:
            return self.vector_scores
        return {id: self.profile.calibrate(score) for id, score in self.vector_scores.items()}

    @property
    def _vector_evidence_column(self) -> FloatArray:
        if self.vector_evidence is self.vector_scores:
            return self._vector_column
        return self._score_column(self.vector_evidence)

    @cached_property
    def _graph_column(self) -> FloatArray:
        return self._score_column(self.graph_scores)

    def _score_column(self, scores: Mapping[str, float]) -> FloatArray:
        values = map(scores.get, self.columns.id, repeat(0.0))
        return np.fromiter(values, np.float64, len(self.columns.id))

    @cached_property
    def _time_column(self) -> FloatArray | None:
        """The time window score of each candidate; None if the question names no time."""
        window = self.analysis.window
        if window is None:
            return None
        return as_column([time_window_score(window, at) for at in self.columns.at])

    def best_positions(self, count: int) -> list[int]:
        """Return the positions of the best candidates by keyword and vector z-score."""
        keyword, vector = self.own_z_scores
        positions: list[int] = np.argsort(-(keyword + vector), kind="stable")[:count].tolist()
        return positions

    def build_features(self) -> FloatArray:
        """Return the feature matrix: a row per candidate, a column per name of FEATURE_NAMES."""
        keyword, vector = self.own_z_scores
        columns, analysis = self.columns, self.analysis
        before, after, answers = self._neighbour_scores(keyword + vector)
        person = analysis.person
        values_by_name: dict[str, Sequence[float] | FloatArray | None] = {
            "keyword": keyword,
            "conversation": z_scores(columns.thread_keyword),
            "vector": vector,
            "topic": self._topic_scores(vector),
            "before": before,
            "after": after,
            "answers": answers,
            "asks": columns.is_question,
            "opens": self._flag_openings(),
            "speaker": [speaker == person for speaker in columns.speaker] if person else None,
            "role": [(role == "assistant") == analysis.asks_assistant for role in columns.role],
            "length": np.log1p(as_column(columns.length)) / 4,
            "directs": columns.is_instruction,
            "timeline": self._time_column,
            "graph": self._graph_column,
        }
        features = np.zeros((len(self.candidates), len(FEATURE_NAMES)))
        for number, name in enumerate(FEATURE_NAMES):
            values = values_by_name[name]
            if values is not None:
                features[:, number] = as_column(values)
        return features

    def max_evidence(self) -> FloatArray:
        """Return for each candidate the highest score of any strategy, from 0 to 1.

        A time shortly after the window does not count as evidence. Graph scores count only for
        facts: a passage that contains a name need not be about it.
        """
        keyword = np.minimum(1.0, as_column(self.columns.keyword) * COVERAGE_SCALE)
        most: FloatArray = np.maximum(keyword, self._vector_evidence_column)
        if self.graph_scores:
            is_fact = [kind is MemoryKind.FACT for kind in self.columns.kind]
            most = np.maximum(most, np.where(is_fact, self._graph_column, 0.0))
        if self._time_column is not None:
            most = np.maximum(most, self._time_column == 1.0)
        return most

    def _flag_openings(self) -> list[bool]:
        pairs = zip(self.columns.id, self.columns.kind, strict=True)
        return [id in self.opening_ids and kind is MemoryKind.PASSAGE for id, kind in pairs]

    def _topic_scores(self, vector_z_scores: FloatArray) -> FloatArray:
        """Return the best z-score of another passage of its conversation; 0 for non-passages."""
        pairs = zip(self.columns.kind, self.columns.thread, strict=True)
        threads = [thread if kind is MemoryKind.PASSAGE else None for kind, thread in pairs]
        return as_column(best_other_scores(vector_z_scores.tolist(), threads))

    def _neighbour_scores(self, own: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scores of the messages before, the messages after and the preceding question.

        A neighbour that is no candidate counts with the lowest score, a missing one with 0.
        """
        positions, neighbours = neighbour_positions(self.neighbours, self.columns.id)
        before, after, answers = np.zeros((3, len(own)))
        if len(positions):
            fit = np.concatenate([own, (own.min(), 0.0)])
            is_question = np.array([*self.columns.is_question, False, False])
            previous, second_previous, following, second_following = neighbours.T
            before[positions] = fit[previous] + fit[second_previous]
            after[positions] = fit[following] + fit[second_following]
            answers[positions] = np.where(is_question[previous], fit[previous], 0.0)
        return before, after, answers


def best_other_scores(scores: Sequence[float], threads: Sequence[str | None]) -> list[float]:
    """Return for each item the best score of another item of its thread.

    An item alone in its thread has its own score. An item without a thread has 0.
    """
    by_thread: defaultdict[str | None, list[float]] = defaultdict(list)
    for thread, score in zip(threads, scores, strict=True):
        by_thread[thread].append(score)
    best = {thread: sorted(values)[-2:] for thread, values in by_thread.items()}  # ascending
    best[None] = [0.0]
    others = []
    for thread, score in zip(threads, scores, strict=True):
        top = best[thread]
        others.append(top[0] if score == top[-1] else top[-1])
    return others


def as_column(values: Sequence[float] | FloatArray) -> FloatArray:
    """Return the values as an array; `fromiter` is faster than `np.array` for a list."""
    if isinstance(values, np.ndarray):
        return values
    return np.fromiter(values, np.float64, len(values))


def z_scores(scores: Sequence[float] | FloatArray) -> FloatArray:
    """Return each value's distance from the mean in standard deviations; zeros without spread."""
    values = as_column(scores)
    if not len(values):
        return values
    deviations = values - np.add.reduce(values) / len(values)
    spread = sqrt(np.add.reduce(deviations * deviations) / len(values))
    return deviations / spread if spread > 1e-9 else np.zeros(len(values))


TEXT_FEATURE_NAMES = (
    "wording",  # late-interaction similarity to the question
    "time",  # the question asks for a time and the text contains one
    "number",
    "name",
    "oneself",  # first-person text by the person that the question is about
    "address",  # contains the second person
)

QUESTION_PATTERNS = {
    "time": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:date|day|week|month|season|year|time)\b"
        r"|\bhow (?:long|often|recently)\b",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\bhow (?:many|much|long|old|often|far|tall)\b|\bwhat (?:number|amount|percentage)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(
        r"\b(?:who|whom|whose|where|which|names?|title)\b"
        r"|\bwhat (?:book|movie|film|song|game|place|city|country|state|company|band|type|kind)\b",
        re.IGNORECASE,
    ),
}
# Sets of words: one regular expression with all of them takes three times as long.
TIME_WORDS = frozenset(
    """
    yesterday today tonight tomorrow ago recently since last next past week weeks weekend weekends
    month months year years morning night january february march april june july august september
    october november december monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    """.split()
)
NUMBER_WORDS = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve dozen once twice first second
    third couple few several
    """.split()
)
YEAR_PATTERN = re.compile(r"\b(?:19|20)\d\d\b")
DIGIT_PATTERN = re.compile(r"\d")
# A capitalized word inside a sentence, or a quotation. The character class comes first, so that the
# engine skips most positions without a lookbehind.
NAME_PATTERN = re.compile(r"[A-Z\"“](?:(?<=[a-z,;:\"'] [A-Z])[a-z]|(?<=[\"“])\w)")
FIRST_PERSON_PATTERN = re.compile(r"\b(?:I|i|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Uu]s|[Oo]urs?)\b")
SECOND_PERSON_PATTERN = re.compile(r"\b[Yy]ou(?:rs?)?\b")


def compute_text_features(
    question: str, texts: Sequence[str], closeness: Sequence[float], by_person: Sequence[bool]
) -> FloatArray:
    """Return a row per text and a column per name of TEXT_FEATURE_NAMES.

    `by_person` marks texts by the person that the question is about.
    """
    columns = np.zeros((len(texts), len(TEXT_FEATURE_NAMES)))
    columns[:, 0] = z_scores(closeness)
    for number, (name, pattern) in enumerate(QUESTION_PATTERNS.items(), start=1):
        if pattern.search(question):
            columns[:, number] = list(map(TEXT_CHECKS[name], texts))
    if any(by_person):
        columns[:, -2] = list(map(_is_self_statement, texts, by_person))
    columns[:, -1] = list(map(_has_second_person, texts))
    return columns


def _has_time(text: str) -> bool:
    return not TIME_WORDS.isdisjoint(split_words(text)) or _has_year(text)


def _has_year(text: str) -> bool:
    # The substring tests are faster than the pattern and exclude most texts.
    return ("19" in text or "20" in text) and YEAR_PATTERN.search(text) is not None


def _has_number(text: str) -> bool:
    return not NUMBER_WORDS.isdisjoint(split_words(text)) or DIGIT_PATTERN.search(text) is not None


def _has_name(text: str) -> bool:
    return NAME_PATTERN.search(text) is not None


def _is_self_statement(text: str, by_person: bool) -> bool:
    return by_person and FIRST_PERSON_PATTERN.search(text) is not None


def _has_second_person(text: str) -> bool:
    # As in _has_year, substring tests exclude most texts.
    return ("you" in text or "You" in text) and SECOND_PERSON_PATTERN.search(text) is not None


TEXT_CHECKS = {"time": _has_time, "number": _has_number, "name": _has_name}
