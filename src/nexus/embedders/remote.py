"""What every provider's embedder does around its one request.

Blank texts are not sent. The others are cut to what a request may hold, asked for with
patience, checked, and brought to one length. A text too long for the model is asked for in
pieces, and its vector is their mean, so that nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from ..providers.extras import sendable
from ..providers.retry import Patience, Transient, persist
from .vectors import unit

Request = Callable[[Sequence[str]], Sequence[Sequence[float]]]
Piece = tuple[int, str]  # which text it belongs to, and what it says

PROBE = "dimension"
BYTES_PER_TOKEN = 3  # of UTF-8: an estimate that errs upwards, in English as in Chinese
SHORTEST_PIECE = 16  # characters; what is refused below this is not refused for its length


class TooLong(Exception):
    """A text does not fit the model's context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may hold."""

    texts: int
    tokens: int | None = None
    tokens_per_text: int | None = None


class Remote:
    """Vectors from a provider whose `request` answers one list of texts.

    `request` raises Transient, TooLong, EmbedderUnavailable or ConfigError and nothing else.
    """

    def __init__(
        self,
        request: Request,
        limits: Limits,
        *,
        provider: str,
        model: str,
        dimension: int | None,
        patience: Patience | None,
    ) -> None:
        if dimension is not None and dimension < 1:
            raise ConfigError(f"an embedding needs at least one dimension, not {dimension}")
        self._request = request
        self._limits = limits
        self._provider = provider
        self._model = model
        self._dimension = dimension
        self._patience = patience or Patience()
        self._profile: EmbeddingProfile | None = None

    @property
    def profile(self) -> EmbeddingProfile:
        """Asks for one vector to see how long they are, unless the caller said it."""
        if self._profile is None:
            self._profile = EmbeddingProfile(
                provider=self._provider,
                model=self._model,
                dimension=self._dimension or self._ask([PROBE]).shape[1],
            )
        return self._profile

    def embed(self, texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), self.profile.dimension), np.float32)
        pieces = [
            (number, piece)
            for number, text in enumerate(texts)
            for piece in _cut(sendable(text), self._limits.tokens_per_text)
        ]
        for batch in batches(pieces, self._limits):
            found = self._embed_pieces([piece for _, piece in batch])
            for (number, piece), vector in zip(batch, found, strict=True):
                vectors[number] += vector * (len(piece) / len(texts[number]))
        return unit(vectors)

    def _embed_pieces(self, pieces: Sequence[str]) -> Floats:
        try:
            return self._fit(self._ask(pieces))
        except TooLong:
            if len(pieces) > 1:
                return np.concatenate([self._embed_pieces([piece]) for piece in pieces])
            return self._embed_in_halves(pieces[0])

    def _embed_in_halves(self, piece: str) -> Floats:
        if len(piece) < SHORTEST_PIECE:
            raise EmbedderUnavailable(f"{self._name} finds {len(piece)} characters too long")
        halves = _halves(piece)
        weights = np.array([[len(half)] for half in halves], np.float32)
        return unit(np.add.reduce(self.embed(halves) * weights, keepdims=True))

    def _ask(self, texts: Sequence[str]) -> Floats:
        return persist(lambda: self._checked(texts), self._patience, EmbedderUnavailable)

    def _checked(self, texts: Sequence[str]) -> Floats:
        """One request's answer as an array. A broken answer may be whole the next time."""
        answer = self._request(texts)
        if len(answer) != len(texts):
            raise Transient(f"{self._name} sent {len(answer)} vectors for {len(texts)} texts")
        try:
            vectors = np.asarray(answer, np.float32)
        except (TypeError, ValueError) as error:
            raise Transient(f"{self._name} sent something else than vectors") from error
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise Transient(f"{self._name} sent something else than vectors")
        if not np.isfinite(vectors).all():
            raise Transient(f"{self._name} sent a vector that is not finite")
        return vectors

    def _fit(self, vectors: Floats) -> Floats:
        """Cut to the dimension asked for, which such models are trained to allow."""
        wanted, got = self.profile.dimension, vectors.shape[1]
        if self._dimension is None and got != wanted:
            raise EmbedderUnavailable(
                f"{self._name} sends {got} dimensions now and sent {wanted} before: "
                "is it still the same model?"
            )
        if got < wanted:
            raise ConfigError(f"{self._name} has {got} dimensions; {wanted} were asked for")
        return unit(vectors[:, :wanted])

    @property
    def _name(self) -> str:
        return f"{self._provider}/{self._model}"


def batches(pieces: Sequence[Piece], limits: Limits) -> Iterator[list[Piece]]:
    """Cut into requests, in order."""
    batch: list[Piece] = []
    total = 0
    for number, piece in pieces:
        size = tokens(piece)
        full = limits.tokens is not None and total + size > limits.tokens
        if batch and (full or len(batch) == limits.texts):
            yield batch
            batch, total = [], 0
        batch.append((number, piece))
        total += size
    if batch:
        yield batch


def tokens(text: str) -> int:
    """Roughly how many tokens a provider will count, rather too many than too few."""
    return len(text.encode()) // BYTES_PER_TOKEN + 1


def _cut(text: str, most_tokens: int | None) -> list[str]:
    if not text.strip():
        return []
    if most_tokens is None or tokens(text) <= most_tokens:
        return [text]
    return [piece for half in _halves(text) for piece in _cut(half, most_tokens)]


def _halves(text: str) -> tuple[str, str]:
    """Two parts of about the same length, between two words if there are any."""
    middle = len(text) // 2
    space = text.rfind(" ", middle // 2, middle)
    return (text[:space], text[space:]) if space > 0 else (text[:middle], text[middle:])
