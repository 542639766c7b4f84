"""An embedder whose time is taken."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.protocols import Embedder, Floats, is_static
from ..core.records import EmbeddingProfile
from ..core.telemetry import Telemetry


class MeasuredEmbedder:
    """The same embedder, in the metrics and in traces."""

    def __init__(self, embedder: Embedder, telemetry: Telemetry) -> None:
        self._embedder = embedder
        self._telemetry = telemetry

    @property
    def profile(self) -> EmbeddingProfile:
        return self._embedder.profile

    @property
    def local(self) -> bool:
        return self._embedder.local

    @property
    def static(self) -> bool:
        return is_static(self._embedder)

    def embed(self, texts: Sequence[str]) -> Floats:
        with self._telemetry.doing("embed", texts=len(texts)) as deed:
            vectors = self._embedder.embed(texts)
            if self._telemetry.tracer:
                deed.tell(profile=self._embedder.profile)
            return vectors
