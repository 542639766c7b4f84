"""An embedder that somebody else wrote, and that may fail in any way."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import EmbedderUnavailable, NexusError
from ..core.protocols import Embedder, Floats
from ..core.records import EmbeddingProfile


class GivenEmbedder:
    """The same embedder: whatever goes wrong in it, it is away, and the rest goes on."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def profile(self) -> EmbeddingProfile:
        try:
            return self._embedder.profile
        except NexusError:
            raise
        except Exception as error:
            raise _away(error) from error

    @property
    def local(self) -> bool:
        return self._embedder.local

    def embed(self, texts: Sequence[str]) -> Floats:
        try:
            vectors = self._embedder.embed(texts)
        except NexusError:
            raise
        except Exception as error:
            raise _away(error) from error
        return self._sound(vectors, len(texts))

    def _sound(self, vectors: Floats, number: int) -> Floats:
        from numpy import isfinite  # noqa: PLC0415  # importing nexus does not wait for it

        wanted = (number, self.profile.dimension)
        if vectors.shape != wanted:
            raise EmbedderUnavailable(f"its vectors are {vectors.shape}, not {wanted}")
        if not isfinite(vectors).all():
            raise EmbedderUnavailable("its vectors hold something that is no number")
        return vectors


def _away(error: Exception) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"it failed with {type(error).__name__}: {error!s:.200}")
