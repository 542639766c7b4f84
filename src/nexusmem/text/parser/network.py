"""Network of the parser: scores of tags, arcs and relations, equal on every machine.

Every matrix product has integers of 8 bits on both sides. Their sums stay below 2^24, so they are
exact in 32-bit floats, in whatever order BLAS adds them. All other steps work on single numbers
with one rounding each, or on integers.
"""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise, starmap
from math import exp
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .features import FEATURES, feature_ids, word_vectors
from .tokenizer import MAX_SENTENCE_TOKENS

WEIGHTS_PATH = Path(__file__).with_name("weights.npz")
ROOT_FORM = "<root>"
STEPS_PER_UNIT = np.float32(16)  # of the inputs of a product
MAX_INT8 = np.float32(127)
ZERO, HALF, ONE, SIX = map(np.float32, (0, 0.5, 1, 6))
ARC_DIVISOR = np.float32(8)
DISTANCES = 32  # buckets of the distance between a word and its head
BUCKET_LIMITS = (8, 11, 16, 22, 32, 45, 64)  # single distances up to 8, then half octaves
SCORE_STEPS = 64  # scores are compared in steps of 1/64
TEMPERATURE = 1.6  # makes probabilities as high as the share of right arcs; fitted on dev
MAX_SCORE_STEPS = 30 * SCORE_STEPS  # a score that much below the best has no probability
MAX_CACHED_FORMS = 20_000
OUTPUTS = ("upos", "lemma", "dependent", "head", "distance", "label_dependent", "label_head")

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Linear:
    """Product with rounded weights: one column, step and bias for each output."""

    weights: Floats
    steps: Floats
    bias: Floats

    def __call__(self, rounded: Floats) -> Floats:
        product: Floats = rounded.reshape(-1, len(self.weights)) @ self.weights
        product *= self.steps
        product += self.bias
        return product.reshape(*rounded.shape[:-1], len(self.bias))


def round_steps(values: Floats) -> Floats:
    """Return the values in whole steps, as inputs of a product."""
    steps = values * STEPS_PER_UNIT
    np.rint(steps, out=steps)
    _limit(steps, -MAX_INT8, MAX_INT8)
    return steps


def _limit(values: Floats, low: np.float32, high: np.float32) -> None:
    """Clip in place; `np.clip` takes longer for the few words of a sentence."""
    np.maximum(values, low, out=values)
    np.minimum(values, high, out=values)


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a batch, in steps; a sentence starts with the word above it."""

    upos: Integers  # sentence × word: best tag
    rules: Integers  # sentence × word: best lemma rule
    arcs: Integers  # sentence × word × head
    dependents: Floats  # inputs of the relations
    heads: Floats


class Network:
    """The layers, with a cache of the first one for the words of its vocabulary."""

    def __init__(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        names = json.loads(arrays["names"].tobytes())
        self.upos: list[str] = names["upos"]
        self.labels: list[str] = names["labels"]
        self.root_label = self.labels.index("root")
        self.rules: list[str] = names["rules"]
        self.exceptions = {
            (form, tag): lemma for tag, forms in names["lemmas"].items() for form, lemma in forms
        }
        self._vocabularies = {
            name: {value: row for row, value in enumerate(names["features"][name], 1)}
            for name in FEATURES
        }
        self._tables = [arrays[f"table.{name}"] for name in FEATURES]
        self._linear = {
            name.removesuffix(".weight"): _load_linear(arrays, name.removesuffix(".weight"))
            for name in arrays
            if name.endswith(".weight")
        }
        self._layers: str = names["layers"]
        outputs = [self._linear.pop(name) for name in OUTPUTS]
        self._outputs = _join(outputs)
        ends = list(accumulate((len(layer.bias) for layer in outputs), initial=0))
        self._output_parts = dict(zip(OUTPUTS, starmap(slice, pairwise(ends)), strict=True))
        self._cached_rows: dict[str, Floats] = {}
        self._root_row = self._compute_rows([ROOT_FORM])[0]

    def score(self, sentences: Sequence[Sequence[str]]) -> Scores:
        """Return the scores of sentences of similar length, given as forms."""
        values, mask = self._look_up(sentences)
        for at, kind in enumerate(self._layers):
            change = self._recur(at, values, mask) if kind == "r" else self._convolve(at, values)
            if mask is not None:
                change *= mask
            values += change
        outputs = self._outputs(round_steps(values)).swapaxes(0, 1)
        parts = {name: outputs[:, :, part] for name, part in self._output_parts.items()}
        return Scores(
            _score_steps(parts["upos"]).argmax(axis=2),
            _score_steps(parts["lemma"]).argmax(axis=2),
            _score_arcs(parts["dependent"], parts["head"], parts["distance"]),
            parts["label_dependent"],
            parts["label_head"],
        )

    def score_labels(self, dependents: Floats, heads: Floats) -> Integers:
        """Return the scores of all relations for pairs of a word and its head."""
        hidden = np.maximum(dependents + heads, ZERO)
        return _score_steps(self._linear["label"](round_steps(hidden)))

    def _look_up(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, Floats | None]:
        """Return the rows of the first layer, padded, and a mask of the words if there is padding.

        The axes are word, sentence and width, so that the words at one place are adjacent.
        """
        rows = self._rows({form for forms in sentences for form in forms})
        sizes = [len(forms) + 1 for forms in sentences]
        values = np.zeros((max(sizes), len(sentences), len(self._root_row)), np.float32)
        values[0] = self._root_row
        for at, forms in enumerate(sentences):
            values[1 : sizes[at], at] = [rows[form] for form in forms]
        if min(sizes) == max(sizes):
            return values, None
        mask = np.arange(max(sizes))[:, None] < np.array(sizes)[None, :]
        return values, mask[:, :, None].astype(np.float32)

    def _rows(self, forms: set[str]) -> Mapping[str, Floats]:
        """Return the row of each form; those of common words are cached."""
        unknown = sorted(form for form in forms if form not in self._cached_rows)
        if not unknown:
            return self._cached_rows
        new = dict(zip(unknown, self._compute_rows(unknown), strict=True))
        # Only words of the treebank are cached: a user's own words may have to be erased. A view
        # would keep the rows of all words.
        known = self._vocabularies["word"]
        common = {form: row.copy() for form, row in new.items() if form.lower() in known}
        if len(self._cached_rows) + len(common) <= MAX_CACHED_FORMS:
            self._cached_rows.update(common)
        return ChainMap(new, self._cached_rows)

    def _compute_rows(self, forms: Sequence[str]) -> Floats:
        ids = np.array([feature_ids(form, self._vocabularies) for form in forms], np.intp)
        parts = [table[ids[:, column]] for column, table in enumerate(self._tables)]
        inputs = np.concatenate([*parts, word_vectors(forms)], axis=1).astype(np.float32)
        return self._linear["input"](inputs)

    def _convolve(self, at: int, values: Floats) -> Floats:
        """Return the window layer: each word with its neighbours."""
        rounded = round_steps(values)
        length, count, width = values.shape
        windows = np.zeros((length, count, 3 * width), np.float32)
        windows[1:, :, :width] = rounded[:-1]
        windows[:, :, width : 2 * width] = rounded
        windows[:-1, :, 2 * width :] = rounded[1:]
        product = self._linear[f"layers.{at}.linear"](windows)
        return np.maximum(product, ZERO, out=product)

    def _recur(self, at: int, values: Floats, mask: Floats | None) -> Floats:
        """Return the recurrent layer: half of the state reads forwards, half backwards."""
        both = self._linear[f"layers.{at}.gates"](round_steps(values))
        length, count, width = values.shape
        half = width // 2
        keep = both[:, :, :width] / SIX
        keep += HALF
        _limit(keep, ZERO, ONE)
        update = ONE - keep
        update *= both[:, :, width:]
        if mask is not None:  # `keep` needs none: a backward state is zero until the last word
            update *= mask
        keep[:, :, half:] = keep[::-1, :, half:].copy()
        update[:, :, half:] = update[::-1, :, half:].copy()
        state = update[0]
        kept = np.empty((count, width), np.float32)
        for step in range(1, length):
            np.multiply(state, keep[step], out=kept)
            state = update[step]
            state += kept
        update[:, :, half:] = update[::-1, :, half:].copy()
        product = self._linear[f"layers.{at}.out"](round_steps(update))
        return np.maximum(product, ZERO, out=product)


def _score_arcs(dependents: Floats, heads: Floats, distances: Floats) -> Integers:
    """Return the scores of all arcs: sentence × word × head."""
    # Exact: 2^14 times the number of inputs is below 2^24, and the divisor is a power of two.
    arcs = np.matmul(round_steps(dependents), round_steps(heads).swapaxes(1, 2))
    arcs /= STEPS_PER_UNIT * STEPS_PER_UNIT * ARC_DIVISOR
    length = arcs.shape[1]
    arcs += distances[:, np.arange(length)[:, None], distance_buckets(length)]
    return _score_steps(arcs)


def _join(layers: Sequence[Linear]) -> Linear:
    """Return one layer with the outputs of several."""
    return Linear(
        np.concatenate([layer.weights for layer in layers], axis=1),
        np.concatenate([layer.steps for layer in layers]),
        np.concatenate([layer.bias for layer in layers]),
    )


def _load_linear(arrays: Mapping[str, NDArray[np.generic]], name: str) -> Linear:
    weights = np.ascontiguousarray(arrays[f"{name}.weight"].T.astype(np.float32))
    steps, bias = arrays[f"{name}.steps"], arrays[f"{name}.bias"]
    return Linear(weights, steps.astype(np.float32), bias.astype(np.float32))


def _score_steps(scores: Floats) -> Integers:
    steps = scores * np.float32(SCORE_STEPS)
    rounded: Integers = np.rint(steps, out=steps).astype(np.int64)
    return rounded


def _make_buckets() -> NDArray[np.intp]:
    places = np.arange(MAX_SENTENCE_TOKENS + 1)
    signed = places[None, :] - places[:, None]
    size = np.abs(signed)
    bucket = np.minimum(size, BUCKET_LIMITS[0])
    for limit in BUCKET_LIMITS:
        bucket += size > limit
    buckets: NDArray[np.intp] = np.where(signed < 0, bucket, bucket + DISTANCES // 2)
    buckets[:, 0] = 0
    return buckets


_BUCKETS = _make_buckets()


def distance_buckets(length: int) -> NDArray[np.intp]:
    """Return the bucket of the distance between each word and each head; word 0 has bucket 0."""
    return _BUCKETS[:length, :length]


_EXPONENTIALS = np.array(
    [round(exp(-step / (SCORE_STEPS * TEMPERATURE)) * (1 << 24)) for step in range(MAX_SCORE_STEPS)]
    + [0],
    np.int64,
)


def probabilities(scores: Integers) -> NDArray[np.float64]:
    """Return the softmax of each row of scores at TEMPERATURE, from a table of integers."""
    below = scores.max(axis=-1, keepdims=True) - scores
    powers = _EXPONENTIALS[np.minimum(below, MAX_SCORE_STEPS)]
    shares: NDArray[np.float64] = powers / powers.sum(axis=-1, keepdims=True)
    return shares


@cache
def load_network() -> Network:
    """Return the network of the package."""
    with np.load(WEIGHTS_PATH, allow_pickle=False) as arrays:
        return Network(dict(arrays))
