"""Relevance: the probability that a hit helps to answer, calibrated on labelled questions.

Two linear models with a logistic output. One rates each hit. The other rates the question: whether
anything in these memories answers it. Where that is unlikely, no hit is relevant. Of few candidates
only the hits are rated. The inputs are word scores and the closeness of the question's pieces to
the pieces of each text, so they do not depend on the embedder. `bench/fit_relevance.py` fits the
weights and checks them on conversations left out of the fit. The number of candidates is an input,
because a question about a small memory shares fewer words with its answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from ...core.protocols.embedder import WordMatch
from ...core.records.projections import Candidate
from ...text.terms import split_words
from ..question_analysis import QuestionAnalysis
from ..strategies.keyword import keyword_coverage
from .features import (
    FEATURE_NAMES,
    NUMBER_WORDS,
    TEXT_FEATURE_NAMES,
    CandidatePool,
    FloatArray,
)
from .weights import ENOUGH_CANDIDATES

MAX_RATED = 40  # hits; later ones get the lowest probability of these
TAIL = slice(5, 15)  # positions of hits that rarely answer: their mean sum is the base line
EXACT_CLOSENESS = 0.9  # of a piece that a text has, in another form perhaps
MEDIUM_CLOSENESS = 0.75
TOP_TEXTS = 3  # that are searched for a value of the kind that the question asks for
TYPICAL_SIZE = 4.5  # logarithm of a medium number of candidates
# In a small memory an answer may share no word with its question, and a few lines cost little.
BEST_OF_FEW, CHANCE_OF_FEW = 3, 0.05
UNANSWERED = 0.0  # relevance of each hit of a question that nothing answers

MONEY_PATTERN = re.compile(r"[$€£] ?\d|\b\d+ ?(?:dollars?|bucks|euros?|pounds?)\b", re.IGNORECASE)
DIGIT_PATTERN = re.compile(r"\d")
NAME_PATTERN = re.compile(r"(?<=[a-z,;:'\"’] )[A-Z][\w'’-]+|[\"“][^\"“”]{2,60}[\"”]")
CAPITAL_PATTERN = re.compile(r"[A-Z][\w'’-]+")
ASKED_PATTERNS = {
    "number": re.compile(
        r"\bhow (?:many|much|long|old|often|far|tall|high|big|heavy|fast)\b"
        r"|\bwhat (?:number|amount|percentage|size|temperature|price|salary|age)\b"
        r"|\b(?:cost|price|rent|fee|salary|pay)\b",
        re.IGNORECASE,
    ),
    "money": re.compile(r"\bhow much\b|\b(?:cost|price|rent|fee|salary|pay|paid)\b", re.IGNORECASE),
    "name": re.compile(r"\b(?:name|called|title|named|call)\b", re.IGNORECASE),
    "person": re.compile(r"\b(?:who|whose|whom)\b", re.IGNORECASE),
    "place": re.compile(
        r"\bwhere\b|\b(?:which|what) (?:city|country|state|town|place|street|hospital|school"
        r"|restaurant|shop|store|bank|hotel|company|university)\b",
        re.IGNORECASE,
    ),
    "time": re.compile(
        r"\bwhen\b|\bwhat (?:date|day|time|year|month)\b|\bwhich year\b", re.IGNORECASE
    ),
    "inference": re.compile(
        r"\b(?:would|might|likely|considered?|probably|could)\b", re.IGNORECASE
    ),
    "reason": re.compile(r"\bwhy\b|\bhow (?:do|did|does|has|was|is)\b|\bfeel", re.IGNORECASE),
    "yes or no": re.compile(
        r"^\s*(?:is|are|was|were|do|does|did|has|have|had|can)\b", re.IGNORECASE
    ),
    "what": re.compile(r"\b(?:which|what)\b", re.IGNORECASE),
    "list": re.compile(
        r"\b(?:kinds?|types?|activities|things|hobbies|events|attributes|traits|goals|books|items"
        r"|places|areas|ways|people)\b",
        re.IGNORECASE,
    ),
}
ANSWER_KINDS = (  # kind of value in a text, and the asked kind that needs it
    ("number", "number"),
    ("money", "money"),
    ("name", "name"),
    ("name", "person"),
    ("name", "place"),
)
FIRST_PERSON_PATTERN = re.compile(r"\b(?:i|my|me|mine|we|our|us)\b", re.IGNORECASE)
CANDIDATE_FEATURES = [
    FEATURE_NAMES.index(name) for name in ("speaker", "timeline", "answers", "asks")
]
TEXT_FEATURES = [TEXT_FEATURE_NAMES.index(name) for name in ("time", "number", "name", "oneself")]

HIT_INPUTS = (
    "keyword",  # share of the question's words, rare ones count more
    "wording",  # late-interaction similarity
    "coverage",  # of the question's pieces by the text and its neighbours
    "exact",  # share of pieces that they contain
    "margin",  # sum of the ranking above the base line
    "below best",
    "missing",  # what no text covers
    "best coverage",
    "best keyword",
    "speaker",
    "timeline",
    "answers",
    "asks",
    "time",
    "number",
    "name",
    "oneself",
    "names a person",
    "length",  # of the question
    "sum",
)
SIZED_INPUTS = (  # their weight depends on the number of candidates
    "covered",
    "worst piece",
    "pieces without match",
    "pieces without exact match",
    "best coverage",
    "best coverage with neighbours",
    "mean coverage of five",
    "best coverage of rare pieces",
    "best worst piece",
    "heaviest piece",
    "pieces",
    "first",  # probability of the best hit
    "second",
    "sum of five",
    "logarithm of first",
    "best keyword",
    "best wording",
    "length",
    "names a person",
)
QUESTION_INPUTS = (
    *SIZED_INPUTS,
    *(f"asks for {kind}" for kind in ASKED_PATTERNS),
    "coverage by the person",
    "coverage by others",
    "first of the person",
    "first of others",
    *(
        f"{asked} {found}"
        for _, asked in ANSWER_KINDS
        for found in ("with a value", "without a value")
    ),
    "first person",
    "size",
    *(f"size × {name}" for name in SIZED_INPUTS),
)


@dataclass(frozen=True, slots=True)
class RelevanceWeights:
    """The fitted weights of both models, and the cut of the question model."""

    hit_bias: float
    hit: FloatArray
    question_bias: float
    question: FloatArray
    min_answerable: float


@dataclass(frozen=True, slots=True)
class RatedHead:
    """The best candidates of a pool, best first, and what was found in their texts."""

    pool: CandidatePool
    positions: Sequence[int]  # of the candidates
    contributions: FloatArray  # to the ranking: a row for each candidate of the pool
    features: FloatArray  # of each candidate of the pool
    texts: Sequence[str]
    text_features: FloatArray
    match: WordMatch

    @property
    def candidates(self) -> list[Candidate]:
        return [self.pool.candidates[position] for position in self.positions]


def rate_hits(head: RatedHead, weights: RelevanceWeights) -> list[float]:
    """Return the probability that each of these candidates helps to answer, in their order.

    All are UNANSWERED if the question probably has no answer. With fewer than ENOUGH_CANDIDATES the
    question is not rated, and the best hits keep a small chance.
    """
    chances = _logistic(hit_inputs(head) @ weights.hit + weights.hit_bias)
    if len(head.pool.candidates) < ENOUGH_CANDIDATES:
        chances[:BEST_OF_FEW] = np.maximum(chances[:BEST_OF_FEW], CHANCE_OF_FEW)
        return _round(chances)
    answerable = _logistic(
        question_inputs(head, chances) @ weights.question + weights.question_bias
    )
    if float(answerable) < weights.min_answerable:
        return [UNANSWERED] * len(head.positions)
    return _round(chances)


def _round(chances: FloatArray) -> list[float]:
    values: list[float] = chances.round(4).tolist()
    return values


def hit_inputs(head: RatedHead) -> FloatArray:
    """Return a row for each candidate and a column for each of HIT_INPUTS."""
    pool, positions, candidates = head.pool, head.positions, head.candidates
    keyword = np.array([keyword_coverage(each.keyword) for each in candidates])
    closest, shares = head.match.closest.astype(np.float64), _shares(head.match.weights)
    around = _with_neighbours(head, closest)
    coverage, own = around @ shares, closest @ shares
    sums = np.add.reduce(head.contributions[list(positions)], axis=1)
    features = head.features[list(positions)][:, CANDIDATE_FEATURES]
    ones = np.ones(len(positions))
    columns = [
        keyword,
        np.asarray(head.match.scores, float),
        coverage,
        (around > EXACT_CLOSENESS) @ shares,
        sums - _base_line(sums),
        sums[0] - sums,
        ones * float(shares @ (1 - _best_of(closest))),
        ones * own.max(initial=0.0),
        ones * keyword.max(initial=0.0),
        *features.T,
        *head.text_features[:, TEXT_FEATURES].T,
        ones * bool(pool.analysis.people),
        ones * _length(pool.analysis),
        sums / 10,
    ]
    return np.column_stack(columns)


def question_inputs(head: RatedHead, chances: FloatArray) -> FloatArray:
    """Return one value for each of QUESTION_INPUTS; `chances` are those of the hits."""
    pool, analysis, candidates = head.pool, head.pool.analysis, head.candidates
    closest, shares = head.match.closest.astype(np.float64), _shares(head.match.weights)
    around = _with_neighbours(head, closest)
    best, own, coverage = _best_of(closest), closest @ shares, around @ shares
    rare = shares**2 / max(float(np.add.reduce(shares**2)), 1e-9)
    ranked = np.sort(chances)[::-1]
    first, second = (*ranked[:2].tolist(), 0.0, 0.0)[:2]
    keyword = max((keyword_coverage(each.keyword) for each in candidates), default=0.0)
    size = log(max(len(pool.candidates), 5)) - TYPICAL_SIZE
    has_pieces = closest.shape[1] > 0
    sized = [
        float(shares @ best),
        float(best.min()) if has_pieces else 0.0,
        float(shares @ (best < MEDIUM_CLOSENESS)),
        float(shares @ (best < EXACT_CLOSENESS)),
        own.max(initial=0.0),
        coverage.max(initial=0.0),
        float(np.sort(coverage)[::-1][:5].mean()) if len(coverage) else 0.0,
        (closest @ rare).max(initial=0.0),
        float(around.min(axis=1).max()) if has_pieces and len(around) else 0.0,
        shares.max(initial=0.0),
        len(shares) / 6,
        first,
        second,
        float(np.add.reduce(ranked[:5])),
        log(first + 0.01),
        keyword,
        max(head.match.scores, default=0.0),
        len(analysis.terms) / 6,
        float(bool(analysis.people)),
    ]
    question = analysis.core_text
    asked = {kind: bool(pattern.search(question)) for kind, pattern in ASKED_PATTERNS.items()}
    by_person = np.array([each.speaker in analysis.people for each in candidates], bool)
    if analysis.people:
        people = [own[by_person], own[~by_person], chances[by_person], chances[~by_person]]
        by_people = [float(each.max(initial=0.0)) for each in people]
    else:
        by_people = [own.max(initial=0.0), own.max(initial=0.0), first, first]
    top = np.argsort(-chances, kind="stable")[:TOP_TEXTS].tolist()
    known = {name.casefold() for name in CAPITAL_PATTERN.findall(analysis.core_text)}
    known |= {(each.speaker or "").casefold() for each in candidates}
    values: list[float] = []
    for kind, needed in ANSWER_KINDS:
        found = 0.0
        if asked[needed]:
            for index in top:
                if _has_value(kind, head.texts[index], known):
                    found = max(found, float(chances[index]))
        values += [found, (first - found) if asked[needed] else 0.0]
    is_first_person = bool(FIRST_PERSON_PATTERN.search(analysis.core_text))
    return np.array(
        [
            *sized,
            *asked.values(),
            *by_people,
            *values,
            float(is_first_person),
            size,
            *(size * each for each in sized),
        ],
        float,
    )


def _has_value(kind: str, text: str, known: set[str]) -> bool:
    """Return whether a text has a number, an amount of money, or a name that is not known."""
    if kind == "number":
        return bool(DIGIT_PATTERN.search(text)) or not NUMBER_WORDS.isdisjoint(split_words(text))
    if kind == "money":
        return bool(MONEY_PATTERN.search(text))
    names = (name.strip('"“”').casefold().removesuffix("'s") for name in NAME_PATTERN.findall(text))
    return any(len(name) > 1 and name not in known for name in names)


def _with_neighbours(head: RatedHead, closest: FloatArray) -> FloatArray:
    """Return for each text the closeness of itself or of the message before or after it."""
    row_of = {candidate.id: row for row, candidate in enumerate(head.candidates)}
    around = closest.copy()
    for id, (before, after) in head.pool.neighbours.items():
        for other in (*before[:1], *after[:1]):
            if id in row_of and other in row_of:
                one, two = row_of[id], row_of[other]
                np.maximum(around[one], closest[two], out=around[one])
                np.maximum(around[two], closest[one], out=around[two])
    return around


def _shares(weights: NDArray[np.floating]) -> FloatArray:
    values = weights.astype(np.float64)
    total = float(np.add.reduce(values))
    return values / total if total else values


def _best_of(closest: FloatArray) -> FloatArray:
    best: FloatArray = closest.max(axis=0, initial=0.0)
    return best


def _base_line(sums: FloatArray) -> float:
    return float(sums[TAIL].mean()) if len(sums) > TAIL.start else float(sums.min())


def _length(analysis: QuestionAnalysis) -> float:
    return min(len(analysis.terms), 12) / 6


def _logistic(values: FloatArray) -> FloatArray:
    limited = np.minimum(np.maximum(values, -30.0), 30.0)
    result: FloatArray = 1 / (1 + np.exp(-limited))
    return result
