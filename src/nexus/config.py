"""Settings: what `nexus.yaml` and the environment may say."""

from __future__ import annotations

from dataclasses import dataclass, field

from .learn.passages import Indexing
from .recall.query import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the memory is kept."""

    url: str = "~/.nexus/memory.db"  # a file, or a URL
    vectors: str = "plain"  # plain | sqlite-vec
    cache_megabytes: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """Who turns texts into vectors."""

    provider: str = "builtin"  # builtin | minilm | openai | gemini | ollama | hashing
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    dimension: int | None = None
    project_id: str | None = None
    location: str | None = None
    ollama_url: str = "http://localhost:11434"
    cached_questions: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    store: StoreSettings = field(default_factory=StoreSettings)
    embeddings: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    indexing: Indexing = field(default_factory=Indexing)
    search: Search = field(default_factory=Search)


def load_settings() -> Settings:
    return Settings()
