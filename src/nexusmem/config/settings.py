"""Settings: every option of `nexus.yaml` as dataclasses, and how they are loaded.

Applications can pass a `Settings` object instead of a YAML file. Settings of one package are
defined in that package. Only this module reads environment variables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..audit.records import AuditLevel
from ..compose.settings import ComposeSettings
from ..core.errors import ConfigError, InvalidInput
from ..core.flows import Sharing
from ..core.strength import StrengthSettings
from ..learn.extract.passages import IndexingSettings
from ..learn.model_budget import Budget, Price
from ..learn.settings import (
    DEFAULT_CHARACTERS,
    DEFAULT_MAX_CONFIDENCE,
    DEFAULT_TURNS,
    LearnSettings,
)
from ..maintain.settings import JobIntervals, MaintainSettings
from ..recall.query import SearchSettings
from ..runtime.quotas import Quota

DEFAULT_FILE = "nexus.yaml"
ENVIRONMENT_OVERRIDES = {  # environment variable → (section, setting)
    "NEXUS_STORE": ("store", "url"),
    "NEXUS_MODELS": ("embeddings", "models_folder"),
    "NEXUS_KEY": ("store", "key"),
    "NEXUS_AUDIT_KEY": ("audit", "key"),
}
KEY_SETTINGS = {  # an empty value is an error, never "no encryption"
    f"memory.{section}.{setting}"
    for section in ("store", "audit")
    for setting in ("key", "key_command")
}
VARIABLE_PATTERN = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The section `memory.store`. URLs may contain passwords, so `repr` hides them."""

    url: str = field(default="~/.nexus/memory.db", repr=False)  # file or URL
    vector_index: str = "exact"  # exact | sqlite-vec | lancedb
    vector_index_path: str | None = None  # folder of the LanceDB index
    approximate_search: bool = False  # faster indexes with less than full recall
    window_url: str | None = field(default=None, repr=False)  # redis://…; None: use the store
    context_cache_url: str | None = field(
        default=None, repr=False
    )  # redis://…; None: one cache per process
    graph_url: str | None = field(default=None, repr=False)  # neo4j://…; None: use the store
    key: str | None = field(default=None, repr=False)  # None: no encryption
    key_command: str | None = None  # command that prints the key
    max_connections: int = 20  # to a server, per process
    cache_megabytes: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """The section `memory.embeddings`: the embedder."""

    provider: str = "builtin"  # builtin | local | minilm | openai | gemini | ollama | hashing
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    dimension: int | None = None
    project_id: str | None = None
    location: str | None = None
    ollama_url: str = "http://localhost:11434"
    models_folder: str = "~/.nexus/models"  # of `nexus models pull`
    query_prefix: str | None = None  # written before questions, if the model expects it
    document_prefix: str | None = None  # written before stored texts
    query_cache_size: int = 1024
    on_change: str = "background"  # background | refuse: when the configured embedder changes

    @property
    def switches_automatically(self) -> bool:
        """True if memories are embedded again automatically when the embedder changes."""
        return self.on_change == "background"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """The section `memory.llm`: the language model, which is optional."""

    provider: str = "none"  # none | openai | anthropic | gemini | ollama
    model: str | None = None  # no default: models get retired, and prices differ widely
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_seconds: float = 60.0
    max_output_tokens: int = 4096
    extract_facts: bool = True  # extract facts with the model, in addition to the rules
    messages_per_call: int = DEFAULT_TURNS
    pause_seconds: float = 20.0  # messages wait for more, until the chat pauses this long
    characters_per_call: int = DEFAULT_CHARACTERS
    max_confidence: float = DEFAULT_MAX_CONFIDENCE  # of what only the model read
    write_labels: bool = False  # the model also writes the labels of messages
    prices: Mapping[str, Price] = field(default_factory=dict)  # model name → price
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySettings:
    """The section `memory.telemetry`. By default nothing leaves the process."""

    traces: bool = False  # OpenTelemetry spans; the application configures the SDK
    trace_contents: bool = False  # questions, hits and error messages in spans
    workspace_names: bool = False  # names in metrics and spans; they may be customers
    metrics_folder: str | None = None  # folder where processes share their metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """The section `memory.audit`: what is recorded, and for how long."""

    level: str = AuditLevel.WRITES.value  # off | writes | reads | verbose
    retention_days: int = 365  # 0: unlimited
    key: str | None = field(default=None, repr=False)  # None: entries have no HMAC
    key_command: str | None = None  # command that prints the key


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaSettings(Quota):
    """The section `memory.quotas`: default limits, and other limits for some workspaces."""

    workspaces: Mapping[str, Quota] = field(default_factory=dict)  # workspace name → limits


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingSettings(Sharing):
    """The section `memory.sharing`: default flows, and other flows for some workspaces.

    A workspace in the file inherits the flows that it does not name. In Python, a `Sharing` is
    complete: use `dataclasses.replace` to inherit.
    """

    workspaces: Mapping[str, Sharing] = field(default_factory=dict)  # workspace name → flows

    def __post_init__(self) -> None:
        Sharing.__post_init__(self)
        for name, flows in self.workspaces.items():
            if not isinstance(flows, Sharing):
                raise InvalidInput(
                    f"memory.sharing.workspaces[{name!r:.80}] must be a Sharing,"
                    f" got {type(flows).__name__}"
                )

    def for_workspace(self, name: str) -> Sharing:
        """Return the flows of a workspace."""
        if name in self.workspaces:
            return self.workspaces[name]
        return Sharing(**{each.name: getattr(self, each.name) for each in fields(Sharing)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToggleSettings:
    """A section with only a switch."""

    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSettings:
    """The section `agents.defaults.memory.write`."""

    enabled: bool = True
    frequency: str = "every_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """The section `agents.defaults.memory`, as in specification 001."""

    read: ToggleSettings = field(default_factory=ToggleSettings)
    write: WriteSettings = field(default_factory=WriteSettings)
    labeling: ToggleSettings = field(default_factory=ToggleSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings; the defaults need no file."""

    enabled: bool = True
    store: StoreSettings = field(default_factory=StoreSettings)
    embeddings: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    indexing: IndexingSettings = field(default_factory=IndexingSettings)
    learning: LearnSettings = field(default_factory=LearnSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    compose: ComposeSettings = field(default_factory=ComposeSettings)
    maintain: MaintainSettings = field(default_factory=MaintainSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    quotas: QuotaSettings = field(default_factory=QuotaSettings)
    sharing: SharingSettings = field(default_factory=SharingSettings)
    agents: AgentSettings = field(default_factory=AgentSettings)


def describe_context_settings(settings: Settings) -> list[str]:
    """Return the settings that a composed context depends on, as texts without secrets."""
    sections = (
        "embeddings",
        "llm",
        "indexing",
        "learning",
        "search",
        "compose",
        "sharing",
        "agents",
    )
    return [f"{name} {getattr(settings, name)!r}" for name in sections]


def find_settings_file(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> Path | None:
    """Return the settings file: `path`, $NEXUS_CONFIG, ./nexus.yaml if it exists, or None."""
    named = path or environment.get("NEXUS_CONFIG")
    if named:
        return Path(named).expanduser()
    default = Path(DEFAULT_FILE)
    return default if default.exists() else None


def load_settings(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """Read the settings file, if there is one.

    The environment variables NEXUS_STORE, NEXUS_MODELS, NEXUS_KEY and NEXUS_AUDIT_KEY override the
    file.
    Raises ConfigError if the file is invalid.
    """
    file = find_settings_file(path, environment)
    given: dict[str, Any] = {}
    if file:
        from .yaml_file import read_settings  # loads PyYAML only if there is a file

        given = read_settings(file, environment)
    for name, (section, setting) in ENVIRONMENT_OVERRIDES.items():
        value = environment.get(name)
        if value or (value == "" and f"memory.{section}.{setting}" in KEY_SETTINGS):
            given[section] = {**given.get(section, {}), setting: value}
    agents = given.pop("agents", {})
    return Settings(
        enabled=given.get("enabled", True),
        store=StoreSettings(**given.get("store", {})),
        embeddings=EmbeddingSettings(**given.get("embeddings", {})),
        llm=_make_llm_settings(given.get("llm", {})),
        indexing=IndexingSettings(**given.get("indexing", {})),
        learning=LearnSettings(**given.get("learning", {})),
        search=SearchSettings(**given.get("search", {})),
        compose=ComposeSettings(**given.get("compose", {})),
        maintain=_make_maintain_settings(given.get("maintain", {})),
        telemetry=TelemetrySettings(**given.get("telemetry", {})),
        audit=AuditSettings(**given.get("audit", {})),
        quotas=_make_quota_settings(given.get("quotas", {})),
        sharing=_make_sharing_settings(given.get("sharing", {})),
        agents=AgentSettings(
            read=ToggleSettings(**agents.get("read", {})),
            write=WriteSettings(**agents.get("write", {})),
            labeling=ToggleSettings(**agents.get("labeling", {})),
        ),
    )


def _make_maintain_settings(values: Mapping[str, Any]) -> MaintainSettings:
    strength = StrengthSettings(**values.get("strength", {}))
    intervals = JobIntervals(**values.get("interval_minutes", {}))
    return MaintainSettings(**{**values, "strength": strength, "interval_minutes": intervals})


def _make_llm_settings(values: Mapping[str, Any]) -> LlmSettings:
    prices = {name: Price(**price) for name, price in values.get("prices", {}).items()}
    budget = Budget(**values.get("budget", {}))
    return LlmSettings(**{**values, "prices": prices, "budget": budget})


def _make_quota_settings(values: Mapping[str, Any]) -> QuotaSettings:
    named = {name: Quota(**quota) for name, quota in values.get("workspaces", {}).items()}
    return QuotaSettings(**{**values, "workspaces": named})


def _make_sharing_settings(values: Mapping[str, Any]) -> SharingSettings:
    """Return the flows; a workspace inherits the defaults of the section."""
    defaults = {name: value for name, value in values.items() if name != "workspaces"}
    workspaces = values.get("workspaces", {})
    named = {name: Sharing(**{**defaults, **flows}) for name, flows in workspaces.items()}
    return SharingSettings(**defaults, workspaces=named)


def require_expanded_or_none(value: str | None, setting: str) -> str | None:
    """Return the value as `require_expanded` does, or None."""
    return None if value is None else require_expanded(value, setting)


def require_expanded(value: str, setting: str) -> str:
    """Return the value; raise ConfigError if it still contains an unset ${VARIABLE}."""
    unset = VARIABLE_PATTERN.search(value)
    if unset:
        raise ConfigError(f"{setting} needs the environment variable {unset[1]}, which is not set")
    return value
