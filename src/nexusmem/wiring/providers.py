"""Provider factories: make the embedder, language model and reranker that the settings name.

Each factory imports only the provider it makes. A name that is not built in selects a plug-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..compose.render import check_order
from ..compose.settings import ComposeSettings
from ..compose.templates import BUILT_IN, ContextTemplate, check_marks, check_template
from ..config.settings import EmbeddingSettings, LlmSettings, Settings, require_expanded
from ..core.canonical import clean_json
from ..core.errors import BadOutput, ConfigError, InvalidInput, ModelUnavailable, NexusError
from ..core.protocols.embedder import Embedder
from ..core.protocols.models import (
    Completion,
    LanguageModel,
    Prompt,
    Reranker,
    Schema,
    SchemaFitter,
    find_mismatch,
)
from ..learn.settings import LearnSettings
from ..recall.query import SearchSettings
from ..runtime.breaker import CircuitBreaker, CircuitBreakers, get_breaker
from ..runtime.provider_sdk import require_package
from ..telemetry.spans import Telemetry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from ..learn.pipeline import Extractor  # loads the rules


EMBEDDERS = "nexusmem.embedders"
LLMS = "nexusmem.llms"
RERANKERS = "nexusmem.rerankers"
EXTRACTORS = "nexusmem.extractors"
TEMPLATES = "nexusmem.templates"

PartFactory = Callable[[Any], Any]  # settings → part


def make_plugin(
    group: str, name: str, argument: Any, *, setting: str, builtin: Iterable[str]
) -> Any:
    """Call the plug-in `name` of an entry-point group with `argument` and return its part.

    Raise ConfigError if no installed distribution registers the name, if several do, if the
    plug-in cannot be imported, or if its factory fails. Errors of Nexus pass unchanged.
    """
    factory = load_plugin(group, name, setting=setting, builtin=builtin)
    try:
        return factory(argument)
    except NexusError:
        raise
    except Exception as error:
        raise _plugin_error(setting, name, f"failed with {_describe(error)}") from error


def load_plugin(group: str, name: str, *, setting: str, builtin: Iterable[str]) -> PartFactory:
    """Import the factory that is registered as `name` in this group."""
    entries = _entry_points(group, name)
    if not entries:
        raise unknown_name_error(group, name, setting=setting, builtin=builtin)
    if len({entry.value for entry in entries}) > 1:
        owners = ", ".join(sorted(map(_distribution_name, entries)))
        raise _plugin_error(setting, name, f"is registered by several distributions: {owners}")
    try:
        factory = entries[0].load()
    except Exception as error:  # importing a plug-in runs third-party code
        reason = f"cannot be imported from {entries[0].value}: {_describe(error)}"
        raise _plugin_error(setting, name, reason) from error
    if not callable(factory):
        raise _plugin_error(setting, name, f"is {type(factory).__name__}, expected a callable")
    loaded: PartFactory = factory
    return loaded


def list_plugins(group: str) -> list[str]:
    """Return the names that installed distributions register in this group, sorted."""
    return sorted({entry.name for entry in _entry_points(group)})


def unknown_name_error(
    group: str, name: str, *, setting: str, builtin: Iterable[str]
) -> ConfigError:
    """Return the error for a name that is neither built in nor registered by a plug-in."""
    from difflib import get_close_matches  # only loaded after a typing error

    names, plugins = list(builtin), list_plugins(group)
    near = get_close_matches(name, [*names, *plugins], n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return ConfigError(
        f"unknown {setting} {name!r:.80}; {hint}accepted: {', '.join(names)};"
        f" installed plug-ins ({group}): {', '.join(plugins) or 'none'}"
    )


def _entry_points(group: str, name: str | None = None) -> list[EntryPoint]:
    from importlib.metadata import entry_points  # slow to import

    found = entry_points(group=group) if name is None else entry_points(group=group, name=name)
    return list(found)


def _distribution_name(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value


def _plugin_error(setting: str, name: str, reason: str) -> ConfigError:
    return ConfigError(f"{setting}: plug-in {name!r:.80} {reason}")


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error!s:.200}"


def program_version() -> str:
    """Return the version of the installed nexusmem distribution."""
    from importlib.metadata import PackageNotFoundError, version  # slow

    try:
        return version("nexusmem")
    except PackageNotFoundError:
        return "from its sources"


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """Make the embedder that `memory.embeddings.provider` names.

    Raise ConfigError if the name is neither built in nor registered in `nexusmem.embedders`.
    """
    makers = {
        "builtin": _make_builtin,
        "local": _make_local,
        "minilm": _make_minilm,
        "openai": _make_openai,
        "gemini": _make_gemini,
        "ollama": _make_ollama,
        "hashing": _make_hashing,
    }
    if settings.provider in makers:
        return _with_prefixes(makers[settings.provider](settings), settings)
    from ..embedders.wrappers import UserSuppliedEmbedder

    _check_expanded(settings, "memory.embeddings")
    setting = "memory.embeddings.provider"
    embedder = make_plugin(EMBEDDERS, settings.provider, settings, setting=setting, builtin=makers)
    return _with_prefixes(UserSuppliedEmbedder(embedder), settings)


def _with_prefixes(embedder: Embedder, settings: EmbeddingSettings) -> Embedder:
    names = ("query_prefix", "document_prefix")
    given = {name: value for name in names if (value := getattr(settings, name))}
    if not given:
        return embedder
    from ..embedders.wrappers import PrefixedEmbedder

    return PrefixedEmbedder(embedder, **given)


def _check_expanded(settings: Any, section: str) -> None:
    """Raise ConfigError if a text of this section contains an unset environment variable."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, str):
            require_expanded(value, f"{section}.{field.name}")


def _keyword_arguments(
    settings: EmbeddingSettings | LlmSettings, *names: str, section: str = "memory.embeddings"
) -> dict[str, Any]:
    """Return the settings that are not None as keyword arguments; the part has the defaults."""
    given = {name: value for name in names if (value := getattr(settings, name)) is not None}
    for name, value in given.items():
        require_expanded(str(value), f"{section}.{name}")
    return given


def _make_builtin(_: EmbeddingSettings) -> Embedder:
    from ..embedders.builtin import BuiltinEmbedder

    return BuiltinEmbedder()


def find_models_folder(settings: EmbeddingSettings) -> Path:
    """Return the absolute path of the folder of local models."""
    folder = require_expanded(settings.models_folder, "memory.embeddings.models_folder")
    return Path(folder).expanduser().absolute()


def _make_local(settings: EmbeddingSettings) -> Embedder:
    from ..embedders.onnx import OnnxEmbedder, choose_model, get_model

    models = find_models_folder(settings)
    chosen = get_model(settings.model) if settings.model else choose_model(models)
    return OnnxEmbedder(chosen, models)


def _make_minilm(settings: EmbeddingSettings) -> Embedder:
    return _make_local(replace(settings, model="minilm"))


def _make_openai(settings: EmbeddingSettings) -> Embedder:
    from ..embedders.openai import OpenAIEmbedder

    return OpenAIEmbedder(
        **_keyword_arguments(settings, "model", "api_key", "base_url", "dimension")
    )


def _make_gemini(settings: EmbeddingSettings) -> Embedder:
    from ..embedders.gemini import GeminiEmbedder

    names = ("model", "api_key", "base_url", "dimension", "project_id", "location")
    return GeminiEmbedder(**_keyword_arguments(settings, *names))


def _make_ollama(settings: EmbeddingSettings) -> Embedder:
    from ..embedders.ollama import OllamaEmbedder

    url = require_expanded(settings.base_url or settings.ollama_url, "memory.embeddings.ollama_url")
    return OllamaEmbedder(base_url=url, **_keyword_arguments(settings, "model", "dimension"))


def _make_hashing(settings: EmbeddingSettings) -> Embedder:
    from ..embedders.feature_hash import HashingEmbedder

    return HashingEmbedder(**_keyword_arguments(settings, "dimension"))


def make_telemetry(settings: Settings) -> Telemetry:
    """Make the metrics, and a tracer if `memory.telemetry.traces` is true."""
    chosen = settings.telemetry
    if not chosen.traces:
        return Telemetry()
    require_package("opentelemetry", "memory.telemetry.traces", "otel")
    from ..telemetry.opentelemetry import OpenTelemetryTracer  # an extra

    return Telemetry(
        tracer=OpenTelemetryTracer(
            include_contents=chosen.trace_contents, include_workspaces=chosen.workspace_names
        )
    )


def make_instrumented_llm(settings: LlmSettings, telemetry: Telemetry) -> LanguageModel | None:
    """Make the language model and record its calls in metrics and traces."""
    model = make_llm(settings)
    if model is None:
        return None
    from ..telemetry.instrument import InstrumentedModel

    return InstrumentedModel(model, settings.model or "", telemetry)


def make_llm(settings: LlmSettings) -> LanguageModel | None:
    """Make the language model that `memory.llm.provider` names; return None for `none`.

    Raise ConfigError if the name is neither built in nor registered in `nexusmem.llms`.
    """
    if settings.provider == "none":
        return None
    makers = {
        "openai": _make_openai_model,
        "anthropic": _make_anthropic_model,
        "gemini": _make_gemini_model,
        "ollama": _make_ollama_model,
    }
    if settings.provider not in makers:
        return _make_plugin_model(settings, ["none", *makers])
    if not settings.model:
        raise ConfigError(f"memory.llm.model must name one of the models of {settings.provider}")
    names = ("model", "api_key", "base_url", "timeout_seconds", "max_output_tokens")
    return makers[settings.provider](_keyword_arguments(settings, *names, section="memory.llm"))


def _make_plugin_model(settings: LlmSettings, builtin: Sequence[str]) -> LanguageModel:
    _check_expanded(settings, "memory.llm")
    setting = "memory.llm.provider"
    model = make_plugin(LLMS, settings.provider, settings, setting=setting, builtin=builtin)
    return UserSuppliedModel(model)


def _make_openai_model(arguments: dict[str, Any]) -> LanguageModel:
    from ..llms.openai import OpenAIModel

    return OpenAIModel(**arguments)


def _make_anthropic_model(arguments: dict[str, Any]) -> LanguageModel:
    from ..llms.anthropic import AnthropicModel

    return AnthropicModel(**arguments)


def _make_gemini_model(arguments: dict[str, Any]) -> LanguageModel:
    from ..llms.gemini import GeminiModel

    return GeminiModel(**arguments)


def _make_ollama_model(arguments: dict[str, Any]) -> LanguageModel:
    from ..llms.ollama import OllamaModel

    arguments.pop("api_key", None)  # Ollama has no API keys
    return OllamaModel(**arguments)


def make_reranker(settings: SearchSettings) -> Reranker | None:
    """Make the reranker that `memory.search.reranker` names; return None for `none`.

    Raise ConfigError if the name is neither built in nor registered in `nexusmem.rerankers`.
    """
    if settings.reranker == "none":
        return None
    if settings.reranker != "http":
        return _make_plugin_reranker(settings)
    if not settings.reranker_url:
        raise ConfigError("memory.search.reranker: http needs memory.search.reranker_url")
    from ..rerankers.http import HttpReranker

    names = ("reranker_url", "reranker_model", "reranker_api_key")
    given = {name: getattr(settings, name) for name in names}
    url, model, api_key = (
        value and require_expanded(value, f"memory.search.{name}") for name, value in given.items()
    )
    return HttpReranker(url, model=model, api_key=api_key)


def _make_plugin_reranker(settings: SearchSettings) -> Reranker:
    for name in ("reranker_url", "reranker_model", "reranker_api_key"):
        require_expanded(getattr(settings, name) or "", f"memory.search.{name}")
    setting, builtin = "memory.search.reranker", ("none", "http")
    reranker = make_plugin(RERANKERS, settings.reranker, settings, setting=setting, builtin=builtin)
    return UserSuppliedReranker(reranker)


def make_extractors(settings: LearnSettings) -> tuple[Extractor, ...]:
    """Make the plug-in extractors that `memory.learning.extractors` names, in order.

    Raise ConfigError if a name is not registered in `nexusmem.extractors`, or if the plug-in has
    no `name` or no `extract`.
    """
    return tuple(_make_plugin_extractor(name, settings) for name in settings.extractors)


def _make_plugin_extractor(name: str, settings: LearnSettings) -> Extractor:
    setting = "memory.learning.extractors"
    extractor: Extractor = make_plugin(EXTRACTORS, name, settings, setting=setting, builtin=())
    has_name = isinstance(getattr(extractor, "name", None), str)
    if not has_name or not callable(getattr(extractor, "extract", None)):
        raise ConfigError(
            f"{setting}: plug-in {name!r:.80} is {type(extractor).__name__},"
            " expected an object with a name and a method extract"
        )
    return extractor


class TemplateFinder:
    """Finds templates by name, for the settings of contexts; a plug-in is made once."""

    def __init__(self, settings: ComposeSettings) -> None:
        check_order(settings)
        check_marks(settings.marks)
        self._settings = settings
        self._found: dict[str, ContextTemplate] = dict(BUILT_IN)
        self.default = self.find(settings.template)

    def find(self, template: str | ContextTemplate | None) -> ContextTemplate:
        """Return the template of a name, the given template, or the configured one for None.

        Raise ConfigError if a name is neither built in nor registered in `nexusmem.templates`, and
        InvalidInput if an object is no template.
        """
        if template is None:
            return self.default
        if not isinstance(template, str):
            return check_template(template)
        if template not in self._found:
            made = make_plugin(
                TEMPLATES,
                template,
                self._settings,
                setting="memory.compose.template",
                builtin=BUILT_IN,
            )
            self._found[template] = check_template(made)
        return self._found[template]


def make_breakers(settings: Settings, embedder: Embedder | None = None) -> CircuitBreakers:
    """Return the circuit breakers of the configured providers.

    Nexus objects with the same provider share them. An embedder object that the caller passed has
    its own breaker.
    """
    embeddings, llm, search = settings.embeddings, settings.llm, settings.search
    embedder_key = (
        embeddings.provider,
        embeddings.model or "",
        embeddings.base_url or embeddings.ollama_url,
    )
    llm_key = (llm.provider, llm.model or "", llm.base_url or "")
    return CircuitBreakers(
        embedder=CircuitBreaker("the embedder")
        if embedder
        else get_breaker("the embedder", *embedder_key),
        model=get_breaker("the model", *llm_key),
        reranker=get_breaker("the reranker", search.reranker, search.reranker_url or ""),
    )


class UserSuppliedModel:
    """A language model of a plug-in.

    Any exception that is not a NexusError becomes ModelUnavailable, so that recall and learning
    continue without the model. An answer that does not fit the schema becomes BadOutput.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def complete(
        self,
        prompt: Prompt,
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Completion:
        try:
            answer = self._model.complete(
                prompt, schema=schema, max_tokens=max_tokens, timeout=timeout
            )
        except NexusError:
            raise
        except Exception as error:
            raise ModelUnavailable(
                f"the model failed with {type(error).__name__}: {error!s:.200}"
            ) from error
        if not isinstance(answer, Completion):
            raise ModelUnavailable(
                f"the model must return a Completion, got {type(answer).__name__}"
            )
        return answer if schema is None else _fit_data(answer, schema)

    def close(self) -> None:
        self._model.close()


def _fit_data(answer: Completion, schema: Schema) -> Completion:
    """Return the answer in the form of the schema, as those of our own providers.

    Raise BadOutput if it does not fit or cannot be stored as JSON.
    """
    dropped: list[str] = []
    data = SchemaFitter(dropped).fit(answer.data, schema)
    mismatch = find_mismatch(data, schema, "the answer")
    if mismatch:
        raise BadOutput(
            f"the answer does not fit the schema: {mismatch}", problem="wrong shape", used=answer
        )
    try:
        clean = clean_json(data, "the answer")
    except InvalidInput as error:
        raise BadOutput(str(error), problem="not JSON", used=answer) from error
    return replace(answer, data=clean, dropped=tuple(dropped))


class UserSuppliedReranker:
    """A reranker of a plug-in.

    Any exception that is not a NexusError becomes ModelUnavailable: recall then keeps its order.
    """

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        try:
            return [float(score) for score in self._reranker.score(question, texts)]
        except NexusError:
            raise
        except Exception as error:
            raise ModelUnavailable(
                f"the reranker failed with {type(error).__name__}: {error!s:.200}"
            ) from error
