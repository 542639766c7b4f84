"""Instrumentation: embedders and models with metrics and traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.protocols.embedder import Embedder, Floats, TextRole, embed_texts, is_static
from ..core.protocols.models import Completion, LanguageModel, Prompt, Schema
from ..core.records import EmbeddingProfile
from .spans import Telemetry


class InstrumentedEmbedder:
    """Wraps an embedder and records each call."""

    def __init__(self, embedder: Embedder, telemetry: Telemetry) -> None:
        self._embedder = embedder
        self._telemetry = telemetry

    @property
    def profile(self) -> EmbeddingProfile:
        return self._embedder.profile

    @property
    def is_local(self) -> bool:
        return self._embedder.is_local

    @property
    def static(self) -> bool:
        return is_static(self._embedder)

    def embed(self, texts: Sequence[str]) -> Floats:
        return self._embed(texts, TextRole.DOCUMENT)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        return self._embed(texts, TextRole.QUERY)

    def _embed(self, texts: Sequence[str], role: TextRole) -> Floats:
        with self._telemetry.operation("embed", texts=len(texts)) as operation:
            vectors = embed_texts(self._embedder, texts, role)
            if self._telemetry.tracer:
                operation.set_attributes(profile=self._embedder.profile)
            return vectors


@dataclass(frozen=True, slots=True)
class InstrumentedModel:
    """Wraps a language model and records each call."""

    model: LanguageModel
    name: str  # in the settings
    telemetry: Telemetry

    def complete(
        self,
        prompt: Prompt,
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Completion:
        with self.telemetry.operation("model", model=self.name) as operation:
            answer = self.model.complete(
                prompt, schema=schema, max_tokens=max_tokens, timeout=timeout
            )
            operation.set_attributes(usage=answer)
            return answer

    def close(self) -> None:
        self.model.close()
