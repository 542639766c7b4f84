"""Dependency parser for English: words, lemmas, parts of speech and grammatical relations.

    (sentence,) = parse(["I work at Hydro"])
    [(token.text, token.deprel) for token in sentence]

The network was trained on the English Web Treebank by `scripts/train_parser.py`; `bench/parser.py`
measures it. A text has the same analysis alone, in a batch and on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .features import is_word
from .lemmas import find_lemma
from .network import Integers, Network, Scores, load_network, probabilities
from .sentence import NO_HEAD, Sentence, Token
from .tokenizer import MAX_SENTENCE_TOKENS, Span, split_sentences
from .tree import FORBIDDEN, find_heads, is_tree

MAX_TEXT_CHARS = 100_000  # the rest of a longer text is not parsed
MAX_BATCH_TOKENS = 768  # with padding; larger batches leave the cache of the processor
MIN_BATCH_TOKENS = 192  # a smaller batch is not ended to avoid padding
CONFIDENCE_STEPS = 10_000


def parse(texts: Sequence[str | Sequence[str]]) -> list[Sentence]:
    """Return the sentences of all texts, in order.

    A text is a string, or a list of words that is one sentence. The places of words in a list are
    those in the words joined by spaces. Sentences have at most MAX_SENTENCE_TOKENS words; longer
    ones are split.
    """
    return [sentence for sentences in parse_each(texts) for sentence in sentences]


def parse_each(texts: Sequence[str | Sequence[str]]) -> list[list[Sentence]]:
    """Return the sentences of each text."""
    if isinstance(texts, str):
        raise TypeError("texts must be a sequence of texts, got one string")
    pieces = [list(_split_text(text)) for text in texts]
    parsed = iter(_parse_sentences([spans for sentences in pieces for spans in sentences]))
    return [[next(parsed) for _ in sentences] for sentences in pieces]


def _split_text(text: str | Sequence[str]) -> Iterator[list[Span]]:
    if isinstance(text, str):
        yield from split_sentences(text[:MAX_TEXT_CHARS])
        return
    words = [word for word in text if word]
    ends = list(accumulate(len(word) + 1 for word in words))
    spans = [
        Span(word, end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True)
    ]
    for start in range(0, len(spans), MAX_SENTENCE_TOKENS):
        yield spans[start : start + MAX_SENTENCE_TOKENS]


def _parse_sentences(sentences: Sequence[list[Span]]) -> list[Sentence]:
    network = load_network()
    results: dict[int, Sentence] = {}
    for batch in _make_batches([len(spans) + 1 for spans in sentences]):
        parsed = _parse_batch(network, [sentences[at] for at in batch])
        results.update(zip(batch, parsed, strict=True))
    return [results[at] for at in range(len(sentences))]


def _make_batches(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yield the positions of sentences of similar size, longest first."""
    batch: list[int] = []
    for at in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
        if batch:
            longest = sizes[batch[0]]
            is_shorter = sizes[at] * 3 < longest * 2 and longest * len(batch) >= MIN_BATCH_TOKENS
            if is_shorter or longest * (len(batch) + 1) > MAX_BATCH_TOKENS:
                yield batch
                batch = []
        batch.append(at)
    if batch:
        yield batch


def _parse_batch(network: Network, batch: Sequence[list[Span]]) -> list[Sentence]:
    scores = network.score([[span.text for span in spans] for spans in batch])
    sizes = [len(spans) + 1 for spans in batch]
    arcs = _forbid_arcs(scores.arcs, sizes)
    heads = _choose_heads(arcs, sizes)
    labels, confidences = _choose_labels(network, scores, arcs, heads)
    columns = (scores.upos.tolist(), scores.rules.tolist(), heads.tolist(), labels, confidences)
    return [
        Sentence(tuple(_make_tokens(network, spans, *row)))
        for spans, *row in zip(batch, *columns, strict=True)
    ]


def _forbid_arcs(arcs: Integers, sizes: Sequence[int]) -> Integers:
    """Return the scores without arcs to padding and from a word to itself."""
    length = arcs.shape[1]
    places = np.arange(length)
    is_padding = places[None, :] >= np.array(sizes)[:, None]
    return np.where(is_padding[:, None, :] | np.eye(length, dtype=np.bool_), FORBIDDEN, arcs)


def _choose_heads(arcs: Integers, sizes: Sequence[int]) -> NDArray[np.intp]:
    """Return the head of each word; the best heads are a tree in most sentences."""
    heads: NDArray[np.intp] = arcs.argmax(axis=2)
    heads[:, 0] = 0
    for row, (size, best) in enumerate(zip(sizes, heads.tolist(), strict=True)):
        if not is_tree(best[:size]):
            heads[row, :size] = find_heads(arcs[row, :size, :size])
    return heads


def _choose_labels(
    network: Network, scores: Scores, arcs: Integers, heads: NDArray[np.intp]
) -> tuple[list[list[int]], list[list[float]]]:
    """Return relations, and the probabilities of arc and relation together."""
    rows = np.arange(len(heads))[:, None]
    label_scores = network.score_labels(scores.dependents, scores.heads[rows, heads])
    label_scores[..., network.root_label] = FORBIDDEN
    labels = label_scores.argmax(axis=2)
    label_chances = probabilities(label_scores).max(axis=2)
    is_root = heads == 0
    labels[is_root] = network.root_label
    label_chances[is_root] = 1.0
    places = np.arange(heads.shape[1])[None, :]
    arc_chances = probabilities(arcs)[rows, places, heads]
    confidences = np.rint(arc_chances * label_chances * CONFIDENCE_STEPS) / CONFIDENCE_STEPS
    return labels.tolist(), confidences.tolist()


def _make_tokens(
    network: Network, spans: Sequence[Span], *columns: Sequence[Any]
) -> Iterator[Token]:
    """Yield the words of a sentence; each column starts with the word above it."""
    rows = zip(*(column[1 : len(spans) + 1] for column in columns), strict=True)
    for span, (tag, rule, head, label, confidence) in zip(spans, rows, strict=True):
        upos = network.upos[tag]
        yield Token(
            *span,
            lemma=find_lemma(span.text, upos, network.rules[rule], network.exceptions, is_word),
            upos=upos,
            head=head - 1 if head else NO_HEAD,
            deprel=network.labels[label],
            confidence=confidence,
        )
