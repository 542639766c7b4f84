"""An embedder that somebody else wrote, and that may fail in any way."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import EmbedderUnavailable, NexusError
from ..core.protocols import Embedder, Floats, is_static
from ..core.records import EmbeddingProfile


class GivenEmbedder:
    """The same embedder: one that cannot be reached is away, and waited for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def profile(self) -> EmbeddingProfile:
        try:
            return self._embedder.profile
        except OSError as error:  # a network's, or a time that is over
            raise _away(error) from error

    @property
    def local(self) -> bool:
        return self._embedder.local

    @property
    def static(self) -> bool:
        return is_static(self._embedder)

    def embed(self, texts: Sequence[str]) -> Floats:
        try:
            return self._embedder.embed(texts)
        except OSError as error:
            raise _away(error) from error


def vector_of(embedder: Embedder, question: str) -> Floats:
    """The vector of a question: whatever goes wrong, the embedder is away and the rest goes on.

    Of what is stored it is not: a text that cannot be embedded is given up after a few tries.
    """
    try:
        vectors = embedder.embed([question])
    except NexusError:
        raise
    except Exception as error:
        raise _away(error) from error
    return _sound(vectors, (1, embedder.profile.dimension))


def _sound(vectors: Floats, wanted: tuple[int, int]) -> Floats:
    from numpy import isfinite  # noqa: PLC0415  # importing nexus does not wait for it

    if vectors.shape != wanted:
        raise EmbedderUnavailable(f"its vectors are {vectors.shape}, not {wanted}")
    if not isfinite(vectors).all():
        raise EmbedderUnavailable("its vectors hold something that is no number")
    vector: Floats = vectors[0]
    return vector


def _away(error: Exception) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"it failed with {type(error).__name__}: {error!s:.200}")
