"""Settings: what `nexus.yaml` and the environment may say.

Whoever uses Nexus as a library passes `Settings` and never touches YAML. Rules that a part
obeys live beside that part; nothing but this module reads the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .compose.settings import Composing
from .core.audit import Level
from .core.errors import ConfigError
from .core.quotas import Quota
from .core.strength import Strengthening
from .learn.learning import Learning
from .learn.limits import CHARACTERS, TURNS
from .learn.passages import Indexing
from .learn.spending import Budget, Price
from .maintain.settings import Intervals, Maintaining
from .recall.query import Search

DEFAULT_FILE = "nexus.yaml"
OVERRULING = {  # of the environment → of the settings
    "NEXUS_STORE": ("store", "url"),
    "NEXUS_KEY": ("store", "key"),
    "NEXUS_AUDIT_KEY": ("audit", "key"),
}
NOT_EMPTY = {  # whoever mentions one believes that something is encrypted or sealed
    f"memory.{section}.{setting}"
    for section in ("store", "audit")
    for setting in ("key", "key_command")
}
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the memory is kept. Addresses may hold passwords, so that none is shown."""

    url: str = field(default="~/.nexus/memory.db", repr=False)  # a file, or a URL
    vectors: str = "plain"  # plain | sqlite-vec | lancedb
    vectors_path: str | None = None  # of an index that lies beside the store
    approximate: bool = False  # indexes that miss a few, for very large places
    window: str | None = field(default=None, repr=False)  # redis://…; None: in the store
    contexts: str | None = field(default=None, repr=False)  # redis://…; None: each process its own
    graph: str | None = field(default=None, repr=False)  # neo4j://…; None: in the store
    key: str | None = field(default=None, repr=False)  # None: nothing is encrypted
    key_command: str | None = None  # prints the key
    connections: int = 20  # to a server, for each process
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
    on_change: str = "background"  # or refuse: what an embedder does that the memory does not know

    @property
    def changes(self) -> bool:
        """Whether a memory is changed over to this embedder by itself."""
        return self.on_change == "background"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """Who answers prompts. Nobody by default: a memory works without a model."""

    provider: str = "none"  # none | openai | anthropic | gemini | ollama
    model: str | None = None  # no default: models are retired, and prices differ a hundredfold
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_seconds: float = 60.0
    max_output_tokens: int = 4096
    learn: bool = True  # it reads what is said, beside the rules
    turns_per_call: int = TURNS
    characters_per_call: int = CHARACTERS
    prices: Mapping[str, Price] = field(default_factory=dict)  # by the name of a model
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySettings:
    """What is told of a memory's work, and to whom. By default nothing leaves the process."""

    traces: bool = False  # spans of OpenTelemetry, for the SDK that the application configures
    contents: bool = False  # with questions, hits and messages of errors
    workspaces: bool = False  # their names are customers' names
    folder: str | None = None  # where processes leave their metrics for each other


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What is recorded of what is done, and for how long."""

    level: str = Level.WRITES.value  # off | writes | reads | verbose
    retention_days: int = 365  # 0: for ever
    key: str | None = field(default=None, repr=False)  # None: the trail is not sealed
    key_command: str | None = None  # prints the key


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaSettings(Quota):
    """How much each workspace may keep and do, and which of them may more or less."""

    workspaces: Mapping[str, Quota] = field(default_factory=dict)  # by name


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    enabled: bool = True
    frequency: str = "every_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Seed 001's switches: what agents do by themselves."""

    read: Switch = field(default_factory=Switch)
    write: Writing = field(default_factory=Writing)
    labeling: Switch = field(default_factory=Switch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be configured; the defaults need no file."""

    enabled: bool = True
    store: StoreSettings = field(default_factory=StoreSettings)
    embeddings: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    indexing: Indexing = field(default_factory=Indexing)
    learning: Learning = field(default_factory=Learning)
    search: Search = field(default_factory=Search)
    compose: Composing = field(default_factory=Composing)
    maintain: Maintaining = field(default_factory=Maintaining)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    quotas: QuotaSettings = field(default_factory=QuotaSettings)
    agents: AgentSettings = field(default_factory=AgentSettings)


def shaping(settings: Settings) -> list[str]:
    """Everything in them that a context may depend on, spelt; no secret is."""
    sections = ("embeddings", "llm", "indexing", "learning", "search", "compose", "agents")
    return [f"{name} {getattr(settings, name)!r}" for name in sections]


def settings_file(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> Path | None:
    """The file settings come from: the one named, $NEXUS_CONFIG, or ./nexus.yaml if it is there."""
    named = path or environment.get("NEXUS_CONFIG")
    if named:
        return Path(named).expanduser()
    default = Path(DEFAULT_FILE)
    return default if default.exists() else None


def load_settings(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """Read the settings file, if there is one.

    `NEXUS_STORE` and `NEXUS_KEY` have the last word on where the memory is and how to read it,
    and `NEXUS_AUDIT_KEY` on what its audit is sealed with.
    """
    file = settings_file(path, environment)
    given: dict[str, Any] = {}
    if file:
        from .config_file import read_settings  # noqa: PLC0415  # YAML loads when there is some

        given = read_settings(file, environment)
    for name, (section, setting) in OVERRULING.items():
        value = environment.get(name)
        if value or (value == "" and f"memory.{section}.{setting}" in NOT_EMPTY):
            given[section] = {**given.get(section, {}), setting: value}
    agents = given.pop("agents", {})
    return Settings(
        enabled=given.get("enabled", True),
        store=StoreSettings(**given.get("store", {})),
        embeddings=EmbeddingSettings(**given.get("embeddings", {})),
        llm=_llm(given.get("llm", {})),
        indexing=Indexing(**given.get("indexing", {})),
        learning=Learning(**given.get("learning", {})),
        search=Search(**given.get("search", {})),
        compose=Composing(**given.get("compose", {})),
        maintain=_maintaining(given.get("maintain", {})),
        telemetry=TelemetrySettings(**given.get("telemetry", {})),
        audit=AuditSettings(**given.get("audit", {})),
        quotas=_quotas(given.get("quotas", {})),
        agents=AgentSettings(
            read=Switch(**agents.get("read", {})),
            write=Writing(**agents.get("write", {})),
            labeling=Switch(**agents.get("labeling", {})),
        ),
    )


def _maintaining(given: Mapping[str, Any]) -> Maintaining:
    strength = Strengthening(**given.get("strength", {}))
    intervals = Intervals(**given.get("intervals", {}))
    return Maintaining(**{**given, "strength": strength, "intervals": intervals})


def _llm(given: Mapping[str, Any]) -> LlmSettings:
    prices = {name: Price(**price) for name, price in given.get("prices", {}).items()}
    budget = Budget(**given.get("budget", {}))
    return LlmSettings(**{**given, "prices": prices, "budget": budget})


def _quotas(given: Mapping[str, Any]) -> QuotaSettings:
    named = {name: Quota(**quota) for name, quota in given.get("workspaces", {}).items()}
    return QuotaSettings(**{**given, "workspaces": named})


def in_use_if_given(value: str | None, setting: str) -> str | None:
    return None if value is None else in_use(value, setting)


def in_use(value: str, setting: str) -> str:
    """A text that is about to be used; a variable still in it was never set."""
    left = VARIABLE.search(value)
    if left:
        raise ConfigError(f"{setting} needs the environment variable {left[1]}, which is not set")
    return value
