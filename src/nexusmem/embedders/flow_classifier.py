"""Classifier of sentences: about the speaker, about the project, confidential, or sensitive.

A linear model over the built-in word vectors, hashed words and word pairs, and the patterns of
`learn/flows`. All sums are integers, so a sentence has the same scores on every machine.
`scripts/train_flow_classifier.py` writes the weights from the labelled messages in `bench/flows`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import exp, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..learn.flows.decide import SentenceScores
from ..learn.flows.discretion import is_confidential, sensitive_topic
from ..learn.flows.topics import (
    FIRST_PERSON,
    ROOM_TOPICS,
    is_project,
    normalize_quotes,
    self_topics,
)

WEIGHTS_PATH = Path(__file__).with_name("flow_weights.npz")
LABELS = ("self", "room", "home", "project", "confidential", "sensitive")
BUCKETS = 8192
DIMENSION = 256
VECTOR_SCALE = 3.0  # weight of the word vectors against the other features, while training
UNIT = 1 << 12  # features and weights are multiples of 1/UNIT
MAX_CHARS = 600  # of a sentence

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Integers = NDArray[np.int64]

WORD = re.compile(r"[a-z0-9']+|[^\w\s]")
DIGIT = re.compile(r"\d")
PATTERNS = tuple(
    map(
        re.compile,
        (
            r"\bwe\b|\bour\b|\bus\b",
            r"\d",
            r"[\"]",
            r"^(?:please|pls|can|could|would|will|do|does|is|are|what|how|who|when|where|why|which)\b",
            r"\b(?:he|she|they|his|her|their)\b",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class FlowClassifier:
    """Scores sentences with the weights of the package."""

    embed: Embed  # of the built-in embedder

    def score(self, sentences: Sequence[str]) -> list[SentenceScores]:
        """Return the scores of sentences of one message."""
        if not sentences:
            return []
        weights = load_weights()
        rows = sentence_features(sentences, self.embed(sentences))
        return [SentenceScores(*_probabilities(weights, row)) for row in rows]


def _probabilities(weights: Integers, row: Features) -> list[float]:
    dense = weights[:, : len(row.dense)] @ row.dense
    words = weights[:, len(row.dense) :][:, list(row.words)].sum(axis=1) * UNIT
    share = 1 / sqrt(max(1, row.word_count))
    scores = (round(int(each) + int(word) * share) for each, word in zip(dense, words, strict=True))
    return [1 / (1 + exp(-max(-30.0, min(30.0, score / UNIT / UNIT)))) for score in scores]


@dataclass(frozen=True, slots=True)
class Features:
    """Features of one sentence: dense ones in 1/UNIT, and the buckets of its words and pairs."""

    dense: Integers
    words: tuple[int, ...]
    word_count: int


def sentence_features(sentences: Sequence[str], vectors: NDArray[np.float32]) -> list[Features]:
    """Return the features of sentences and their vectors."""
    return [
        _features(sentence[:MAX_CHARS], vector)
        for sentence, vector in zip(sentences, vectors, strict=True)
    ]


def _features(sentence: str, vector: NDArray[np.float32]) -> Features:
    plain = normalize_quotes(sentence)
    lower = plain.casefold()
    topics = self_topics(lower)
    length = len(lower.split())
    flags = [
        bool(topics),
        bool(topics & ROOM_TOPICS),
        is_project(plain),
        is_confidential(plain),
        sensitive_topic(plain) is not None,
        bool(FIRST_PERSON.search(lower)),
        lower.rstrip().endswith("?"),
        "?" in lower,
        length < 4,
        length > 20,
        *(bool(pattern.search(lower)) for pattern in PATTERNS),
        True,
    ]
    scaled = np.rint(vector.astype(np.float64) * VECTOR_SCALE * UNIT).astype(np.int64)
    dense = np.concatenate([scaled, np.array(flags, np.int64) * UNIT])
    names = _word_names(lower)
    buckets = sorted({zlib.crc32(name.encode()) % BUCKETS for name in names})
    return Features(dense, tuple(buckets), len(names))


def _word_names(lower: str) -> set[str]:
    words = [DIGIT.sub("0", word) for word in WORD.findall(lower)]
    framed = ["^", *words, "$"]
    pairs = (f"{one} {two}" for one, two in pairwise(framed))
    return {*words, *pairs}


@cache
def load_weights() -> Integers:
    """Return the weights: one row per label, dense features first, then buckets."""
    with np.load(WEIGHTS_PATH) as file:
        weights: Integers = file["weights"].astype(np.int64)
        return weights
