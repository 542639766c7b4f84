"""Which product each setting names. A product is imported when it is asked for."""

from __future__ import annotations

from typing import Any

from .config import EmbeddingSettings, LlmSettings, Settings, in_use
from .core.breaker import Breaker, Breakers, breaker
from .core.errors import ConfigError
from .core.models import LanguageModel, Reranker
from .core.nearest import nearest
from .core.protocols import Embedder
from .core.telemetry import Telemetry
from .providers.extras import require
from .recall.query import Search


def program() -> str:
    """Which version of this program runs."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # slow

    try:
        return version("nexus-memory")
    except PackageNotFoundError:
        return "from its sources"


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    makers = {
        "builtin": _builtin,
        "minilm": _minilm,
        "openai": _openai,
        "gemini": _gemini,
        "ollama": _ollama,
        "hashing": _hashing,
    }
    if settings.provider not in makers:
        hint = nearest(settings.provider, makers)
        raise ConfigError(f"unknown embedder {settings.provider!r}; {hint}")
    return makers[settings.provider](settings)


def _given(
    settings: EmbeddingSettings | LlmSettings, *names: str, section: str = "memory.embeddings"
) -> dict[str, Any]:
    """The settings that were given, as keyword arguments; the part has its own defaults."""
    given = {name: value for name in names if (value := getattr(settings, name)) is not None}
    for name, value in given.items():
        in_use(str(value), f"{section}.{name}")
    return given


def _builtin(_: EmbeddingSettings) -> Embedder:
    from .embedders.builtin import BuiltinEmbedder  # noqa: PLC0415

    return BuiltinEmbedder()


def _minilm(_: EmbeddingSettings) -> Embedder:
    from .embedders.minilm import MiniLMEmbedder  # noqa: PLC0415

    return MiniLMEmbedder()


def _openai(settings: EmbeddingSettings) -> Embedder:
    from .embedders.openai import OpenAIEmbedder  # noqa: PLC0415

    return OpenAIEmbedder(**_given(settings, "model", "api_key", "base_url", "dimension"))


def _gemini(settings: EmbeddingSettings) -> Embedder:
    from .embedders.gemini import GeminiEmbedder  # noqa: PLC0415

    names = ("model", "api_key", "base_url", "dimension", "project_id", "location")
    return GeminiEmbedder(**_given(settings, *names))


def _ollama(settings: EmbeddingSettings) -> Embedder:
    from .embedders.ollama import OllamaEmbedder  # noqa: PLC0415

    url = in_use(settings.base_url or settings.ollama_url, "memory.embeddings.ollama_url")
    return OllamaEmbedder(base_url=url, **_given(settings, "model", "dimension"))


def _hashing(settings: EmbeddingSettings) -> Embedder:
    from .embedders.hashing import HashingEmbedder  # noqa: PLC0415

    return HashingEmbedder(**_given(settings, "dimension"))


def traced(settings: Settings) -> Telemetry:
    """Metrics in any case, and traces where the settings say so."""
    asked = settings.telemetry
    if not asked.traces:
        return Telemetry()
    require("opentelemetry", "memory.telemetry.traces", "otel")
    from .providers.traces import Traces  # noqa: PLC0415  # an extra

    return Telemetry(tracer=Traces(contents=asked.contents, workspaces=asked.workspaces))


def measured_llm(settings: LlmSettings, telemetry: Telemetry) -> LanguageModel | None:
    """That model, and how long its answers take."""
    model = make_llm(settings)
    if model is None:
        return None
    from .llms.measured import MeasuredModel  # noqa: PLC0415

    return MeasuredModel(model, settings.model or "", telemetry)


def make_llm(settings: LlmSettings) -> LanguageModel | None:
    """The model these settings name; none by default."""
    if settings.provider == "none":
        return None
    makers = {
        "openai": _openai_model,
        "anthropic": _anthropic_model,
        "gemini": _gemini_model,
        "ollama": _ollama_model,
    }
    if settings.provider not in makers:
        hint = nearest(settings.provider, ["none", *makers])
        raise ConfigError(f"unknown memory.llm.provider {settings.provider!r}; {hint}")
    if not settings.model:
        raise ConfigError(f"memory.llm.model must name one of the models of {settings.provider}")
    names = ("model", "api_key", "base_url", "timeout_seconds", "max_output_tokens")
    return makers[settings.provider](_given(settings, *names, section="memory.llm"))


def _openai_model(given: dict[str, Any]) -> LanguageModel:
    from .llms.openai import OpenAIModel  # noqa: PLC0415

    return OpenAIModel(**given)


def _anthropic_model(given: dict[str, Any]) -> LanguageModel:
    from .llms.anthropic import AnthropicModel  # noqa: PLC0415

    return AnthropicModel(**given)


def _gemini_model(given: dict[str, Any]) -> LanguageModel:
    from .llms.gemini import GeminiModel  # noqa: PLC0415

    return GeminiModel(**given)


def _ollama_model(given: dict[str, Any]) -> LanguageModel:
    from .llms.ollama import OllamaModel  # noqa: PLC0415

    given.pop("api_key", None)  # it has no keys
    return OllamaModel(**given)


def make_reranker(settings: Search) -> Reranker | None:
    """The reranker these settings name; none by default."""
    if settings.reranker == "none":
        return None
    if settings.reranker != "http":
        kind = settings.reranker
        raise ConfigError(f"unknown memory.search.reranker {kind!r}; known are none and http")
    if not settings.reranker_url:
        raise ConfigError("memory.search.reranker needs a memory.search.reranker_url")
    from .rerankers.http import HttpReranker  # noqa: PLC0415

    names = ("reranker_url", "reranker_model", "reranker_api_key")
    given = {name: getattr(settings, name) for name in names}
    url, model, api_key = (
        value and in_use(value, f"memory.search.{name}") for name, value in given.items()
    )
    return HttpReranker(url, model=model, api_key=api_key)


def make_breakers(settings: Settings, embedder: Embedder | None = None) -> Breakers:
    """An embedder that was given is known to nobody else, and has a breaker of its own."""
    ours, llm, search = settings.embeddings, settings.llm, settings.search
    where = (ours.provider, ours.model or "", ours.base_url or ours.ollama_url)
    asked = (llm.provider, llm.model or "", llm.base_url or "")
    return Breakers(
        embedder=Breaker("the embedder") if embedder else breaker("the embedder", *where),
        model=breaker("the model", *asked),
        reranker=breaker("the reranker", search.reranker_url or ""),
    )
