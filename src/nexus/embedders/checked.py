"""Refuses an embedder that a memory does not know, where the settings want that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..core.errors import ConfigError
from ..core.protocols import Embedder, Floats, Vectors, is_static
from ..core.records import EmbeddingProfile


def refusal(known: Sequence[EmbeddingProfile], ours: EmbeddingProfile) -> ConfigError:
    """What is said where nothing changes by itself."""
    names = " and ".join(each.name for each in known)
    return ConfigError(
        f"this memory holds vectors of {names}, but {ours.name} is configured: configure the"
        " former again, run `nexus reembed` to change over, or let it happen by itself with"
        " memory.embeddings.on_change: background"
    )


class CheckedEmbedder:
    """An embedder whose vectors this memory holds, or says so."""

    def __init__(self, embedder: Embedder, vectors: Vectors) -> None:
        self._embedder = embedder
        self._vectors = vectors

    @cached_property
    def profile(self) -> EmbeddingProfile:
        ours = self._embedder.profile
        known = self._vectors.profiles()
        if known and ours not in known:
            raise refusal(known, ours)
        return ours

    @property
    def local(self) -> bool:
        return self._embedder.local

    @property
    def static(self) -> bool:
        return is_static(self._embedder)

    def embed(self, texts: Sequence[str]) -> Floats:
        self.profile  # noqa: B018  # checks before a provider is paid
        return self._embedder.embed(texts)
