"""Provider embedder: batching, retries, validation and normalization around one request.

Blank texts are not sent; their vectors are zero. A text that is too long for the model is embedded
in pieces, and its vector is their weighted mean, so that no part is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.protocols.embedder import Floats
from ..core.records import EmbeddingProfile
from ..runtime.backoff import RetryPolicy, TransientError, retry_call
from ..runtime.provider_sdk import replace_surrogates
from .feature_hash import normalize_rows

EmbedRequest = Callable[[Sequence[str]], Sequence[Sequence[float]]]
TextPiece = tuple[int, str]  # index of the text, piece of the text

PROBE_TEXT = "dimension"
BYTES_PER_TOKEN = 3  # UTF-8 bytes; overestimates tokens in English and Chinese
MIN_PIECE_CHARS = 16  # a shorter text is not rejected because of its length


class TextTooLong(Exception):
    """A text does not fit the model's context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The limits of one request."""

    max_texts: int
    max_tokens: int | None = None
    max_tokens_per_text: int | None = None


class ProviderEmbedder:
    """Embedder around a `request` function that returns the vectors of one batch of texts.

    `request` may raise TransientError, TextTooLong, EmbedderUnavailable or ConfigError only.
    """

    def __init__(
        self,
        request: EmbedRequest,
        limits: BatchLimits,
        *,
        provider: str,
        model: str,
        dimension: int | None,
        patience: RetryPolicy | None,
    ) -> None:
        if dimension is not None and dimension < 1:
            raise ConfigError(f"dimension must be at least 1, got {dimension}")
        self._request = request
        self._limits = limits
        self._provider = provider
        self._model = model
        self._dimension = dimension
        self._patience = patience or RetryPolicy()
        self._profile: EmbeddingProfile | None = None

    @property
    def profile(self) -> EmbeddingProfile:
        """The embedding profile; requests one vector if the dimension is not configured."""
        if self._profile is None:
            self._profile = EmbeddingProfile(
                provider=self._provider,
                model=self._model,
                dimension=self._dimension or self._request_vectors([PROBE_TEXT]).shape[1],
            )
        return self._profile

    def embed(self, texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), self.profile.dimension), np.float32)
        pieces = [
            (number, piece)
            for number, text in enumerate(texts)
            for piece in _split_text(replace_surrogates(text), self._limits.max_tokens_per_text)
        ]
        for batch in split_batches(pieces, self._limits):
            embedded = self._embed_pieces([piece for _, piece in batch])
            for (number, piece), vector in zip(batch, embedded, strict=True):
                vectors[number] += vector * (len(piece) / len(texts[number]))
        return normalize_rows(vectors)

    def _embed_pieces(self, pieces: Sequence[str]) -> Floats:
        try:
            return self._fit_dimension(self._request_vectors(pieces))
        except TextTooLong:
            if len(pieces) > 1:
                return np.concatenate([self._embed_pieces([piece]) for piece in pieces])
            return self._embed_in_halves(pieces[0])

    def _embed_in_halves(self, piece: str) -> Floats:
        if len(piece) < MIN_PIECE_CHARS:
            raise EmbedderUnavailable(
                f"{self._name} rejects a text of {len(piece)} characters as too long"
            )
        halves = _split_in_half(piece)
        weights = np.array([[len(half)] for half in halves], np.float32)
        return normalize_rows(np.add.reduce(self.embed(halves) * weights, keepdims=True))

    def _request_vectors(self, texts: Sequence[str]) -> Floats:
        return retry_call(lambda: self._request_once(texts), self._patience, EmbedderUnavailable)

    def _request_once(self, texts: Sequence[str]) -> Floats:
        """Send one request and return its vectors; raise TransientError if they are invalid."""
        answer = self._request(texts)
        if len(answer) != len(texts):
            raise TransientError(f"{self._name} sent {len(answer)} vectors for {len(texts)} texts")
        try:
            vectors = np.asarray(answer, np.float32)
        except (TypeError, ValueError) as error:
            raise TransientError(f"{self._name} sent an answer without vectors") from error
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise TransientError(f"{self._name} sent an answer without vectors")
        if not np.isfinite(vectors).all():
            raise TransientError(f"{self._name} sent a vector that is not finite")
        return vectors

    def _fit_dimension(self, vectors: Floats) -> Floats:
        """Truncate vectors to the configured dimension (Matryoshka models support this)."""
        wanted, got = self.profile.dimension, vectors.shape[1]
        if self._dimension is None and got != wanted:
            raise EmbedderUnavailable(
                f"{self._name} sent vectors of {wanted} dimensions before and {got} now:"
                " check whether the model has changed"
            )
        if got < wanted:
            raise ConfigError(f"dimension of {self._name} must be at most {got}, got {wanted}")
        return normalize_rows(vectors[:, :wanted])

    @property
    def _name(self) -> str:
        return f"{self._provider}/{self._model}"


def split_batches(pieces: Sequence[TextPiece], limits: BatchLimits) -> Iterator[list[TextPiece]]:
    """Split pieces into batches within the limits, in order."""
    batch: list[TextPiece] = []
    total = 0
    for number, piece in pieces:
        size = estimate_tokens(piece)
        is_full = limits.max_tokens is not None and total + size > limits.max_tokens
        if batch and (is_full or len(batch) == limits.max_texts):
            yield batch
            batch, total = [], 0
        batch.append((number, piece))
        total += size
    if batch:
        yield batch


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the number of tokens that a provider counts."""
    return len(text.encode()) // BYTES_PER_TOKEN + 1


def _split_text(text: str, max_tokens: int | None) -> list[str]:
    if not text.strip():
        return []
    if max_tokens is None or estimate_tokens(text) <= max_tokens:
        return [text]
    return [piece for half in _split_in_half(text) for piece in _split_text(half, max_tokens)]


def _split_in_half(text: str) -> tuple[str, str]:
    """Split a text near its middle, at a space if there is one."""
    middle = len(text) // 2
    space = text.rfind(" ", middle // 2, middle)
    return (text[:space], text[space:]) if space > 0 else (text[:middle], text[middle:])
