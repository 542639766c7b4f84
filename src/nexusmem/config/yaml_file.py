"""Reader of `nexus.yaml`: checks keys, types and ranges; accepts the keys of specification 002.

An error names the file, the key and the nearest valid key. Values are shown only of settings with
a range or a list of choices, because any other value may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import yaml

from ..audit.records import AuditLevel
from ..compose.sections import SECTIONS
from ..compose.settings import MARKS, MAX_BUDGET, MAX_EVENTS, MIN_BUDGET, ComposeSettings
from ..core.errors import ConfigError, InvalidInput
from ..core.flows import AGENT_MODES
from ..core.scope import parse_kind
from ..core.strength import CURVES
from ..learn.settings import CONTRADICTION_POLICIES, EPISODE_MODES, MODEL_FREQUENCIES
from ..maintain.settings import MAX_MINUTES, JobIntervals
from ..observe.events import ROLES
from ..recall.query import MAX_HITS
from ..runtime.quotas import Quota
from .settings import KEY_SETTINGS, VARIABLE_PATTERN, AgentSettings, Settings

Shape = Mapping[str, Any]  # name → a type, a settings dataclass, or a nested shape

MAX_FILE_CHARACTERS = 1_000_000
QUOTA_NAMES = [quota.name for quota in fields(Quota)]
BACKENDS = {  # backend of specification 002 → our `vector_index`, its section, its address key
    "sqlite-vec": ("sqlite-vec", "sqlite_vec", "path"),
    "lancedb": ("lancedb", "lancedb", "path"),
    "pgvector": ("exact", "pgvector", "conn_string"),
}
TYPE_DESCRIPTIONS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list of texts",
}
RANGES = {
    "memory.dimension": (1, 100_000),
    "memory.store.max_connections": (1, 10_000),
    "memory.store.cache_megabytes": (1, 1_000_000),
    "memory.embeddings.dimension": (1, 100_000),
    "memory.embeddings.query_cache_size": (1, 10_000_000),
    "memory.llm.timeout_seconds": (1, 3_600),
    "memory.llm.max_output_tokens": (1, 1_000_000),
    "memory.llm.messages_per_call": (1, 200),
    "memory.llm.pause_seconds": (0, 86_400),
    "memory.llm.characters_per_call": (500, 1_000_000),
    "memory.llm.max_confidence": (0, 1),
    "memory.llm.prices.input": (0, 1_000_000),
    "memory.llm.prices.output": (0, 1_000_000),
    "memory.llm.budget.cost_per_day": (0, 1_000_000_000),
    "memory.llm.budget.tokens_per_day": (0, 1_000_000_000_000),
    **{f"memory.quotas.{name}": (0, 1_000_000_000_000_000) for name in QUOTA_NAMES},
    "memory.indexing.min_content_length": (0, 10_000_000),
    "memory.indexing.max_content_length": (0, 10_000_000),
    "memory.indexing.batch_size": (1, 10_000),
    "memory.search.default_limit": (1, MAX_HITS),
    "memory.search.default_threshold": (0, 1),
    "memory.search.max_per_conversation": (0, MAX_HITS),
    "memory.search.min_relevance": (0, 1),
    "memory.search.model_timeout_seconds": (0.1, 60),
    **{
        f"memory.search.weight_{kind}": (0, 1)
        for kind in ("episodic", "facts", "entities", "procedures", "recency")
    },
    "memory.audit.retention_days": (0, 36_500),
    "memory.compose.budget_tokens": (MIN_BUDGET, MAX_BUDGET),
    "memory.compose.recent_messages": (1, MAX_EVENTS),
    "memory.compose.idle_hours": (0.1, 24 * 365),
    "memory.compose.max_hits": (1, 100),
    "memory.compose.max_related": (0, 100),
    "memory.compose.min_relevance": (0, 1),
    "memory.compose.likely_relevance": (0, 1),
    "memory.compose.cache_seconds": (0, 300),
    "memory.compose.min_score": (0, 1),
    "memory.compose.pinned_decisions": (0, 100),
    "memory.compose.pinned_tasks": (0, 100),
    "memory.compose.pinned_preferences": (0, 100),
    "memory.maintain.strength.archive_below": (0, 1),
    "memory.maintain.strength.promote_min_importance": (0, 1),
    "memory.maintain.strength.promote_min_confidence": (0, 1),
    "memory.maintain.strength.promote_min_uses": (1, 1_000_000),
    "memory.maintain.strength.promote_min_conversations": (1, 16),
    "memory.maintain.strength.archive_after_idle_days": (1, 36_500),
    **{
        f"memory.compose.{group}.{section.name}": (0, MAX_BUDGET)
        for group in ("section_tokens", "section_min_tokens")
        for section in SECTIONS
    },
    **{
        f"memory.maintain.interval_minutes.{each.name}": (0, MAX_MINUTES)
        for each in fields(JobIntervals)
    },
}
CHOICES = {
    "memory.backend": tuple(BACKENDS),
    "memory.indexing.allowed_roles": ROLES,
    "memory.learning.on_contradiction": CONTRADICTION_POLICIES,
    "memory.audit.level": tuple(AuditLevel),
    "memory.learning.episodes": EPISODE_MODES,
    "memory.maintain.strength.decay_curve": tuple(CURVES),
    "agents.defaults.memory.write.frequency": MODEL_FREQUENCIES,
    "memory.compose.sections": tuple(each.name for each in SECTIONS),
    "memory.compose.marks": MARKS,
    "memory.embeddings.on_change": ("background", "refuse"),
    "memory.sharing.agents": AGENT_MODES,
}
NAMED_GROUP_PATTERN = re.compile(  # keys below a free name: of a model or of a workspace
    r"(memory\.llm\.prices)\..*(\.(?:input|output))"
    r"|(memory\.(?:quotas|sharing))\.workspaces\..*(\.\w+)"
)
TEXT_OR_LIST_SETTINGS = {"memory.search.query_rewrites"}  # a single text is a list of one


def read_settings(file: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of a file, by the fields of `Settings`."""
    given = _SettingsReader(str(file), environment).read_group(
        settings_shape(), _parse_file(file), ""
    )
    agents = given.get("agents", {}).get("defaults", {}).get("memory", {})
    return {**_convert_seed_keys(given.get("memory", {}), file), "agents": agents}


def settings_shape() -> Shape:
    """Return all valid keys, nested, with their types."""
    ours = {name: kind for name, kind in get_type_hints(Settings).items() if name != "agents"}
    seed = {section: {address: str} for _, section, address in BACKENDS.values()}
    ours["compose"] = {
        **get_type_hints(ComposeSettings),
        "headings": {each.name: str for each in SECTIONS},
        "section_tokens": {each.name: int for each in SECTIONS if each.cap is not None},
        "section_min_tokens": {each.name: int for each in SECTIONS},
    }
    memory = {**ours, "backend": str, "dimension": int, **seed}
    return {"memory": memory, "agents": {"defaults": {"memory": AgentSettings}}}


def list_keys(shape: Shape, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all keys, sections included."""
    for name, kind in shape.items():
        yield _join_key(prefix, name)
        if (inner := _shape_fields(kind)) is not None:
            yield from list_keys(inner, _join_key(prefix, name))


def _shape_fields(kind: Any) -> Shape | None:
    if is_dataclass(kind):
        return get_type_hints(kind)
    return kind if isinstance(kind, Mapping) else None


def _join_key(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _convert_seed_keys(memory: dict[str, Any], file: Path) -> dict[str, Any]:
    """Convert the keys of specification 002 to ours; sections of unused backends are ignored."""
    sections = {section: memory.pop(section, {}) for _, section, _ in BACKENDS.values()}
    backend, dimension = memory.pop("backend", None), memory.pop("dimension", None)
    if backend and "store" in memory:
        raise ConfigError(f"{file}: memory.backend and memory.store are alternatives; keep one")
    if backend:
        memory["store"] = _seed_store_settings(backend, sections)
    elif any(sections.values()):
        idle = next(section for section, given in sections.items() if given)
        raise ConfigError(f"{file}: memory.{idle} is set, but memory.backend does not select it")
    if dimension:
        memory["embeddings"] = {"dimension": dimension, **memory.get("embeddings", {})}
    return memory


def _seed_store_settings(backend: str, sections: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the store settings of a backend of specification 002; LanceDB is only an index."""
    vectors, section, address = BACKENDS[backend]
    setting = "vector_index_path" if backend == "lancedb" else "url"
    path = sections[section].get(address)
    return {"vector_index": vectors, **({setting: path} if path else {})}


@dataclass(frozen=True, slots=True)
class _SettingsReader:
    """Converts parsed YAML to checked values; raises ConfigError with the key."""

    source: str
    environment: Mapping[str, str]

    def read_group(self, shape: Shape, data: Any, key: str) -> dict[str, Any]:
        """Return the settings of a section; a key without a value is ignored."""
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise self._type_error(key, data, "a section")
        for name in data:
            if name not in shape:
                raise self._key_error(name, shape, key)
        values = {
            name: self._read_value(shape[name], data[name], _join_key(key, name)) for name in data
        }
        return {name: value for name, value in values.items() if value is not None}

    def _read_value(self, kind: Any, data: Any, key: str) -> Any:
        if (inner := _shape_fields(kind)) is not None:
            return self.read_group(inner, data, key)
        if get_origin(kind) is Mapping:
            return self._read_by_name(get_args(kind)[1], data, key)
        if data is None:
            return None
        optional = type(None) in get_args(kind)
        wanted = tuple if kind == tuple[str, ...] else get_args(kind)[0] if optional else kind
        value = self._expand_variables(data, key)
        if key in TEXT_OR_LIST_SETTINGS and isinstance(value, str):
            value = [value]
        if isinstance(data, str) and value != data and wanted in (bool, int, float):
            value = self._convert_text(wanted, value, key)
        self._check_type(wanted, value, data, key)
        self._check_value(value, key)
        if optional and value == "" and key not in KEY_SETTINGS:
            return None
        return tuple(value) if wanted is tuple else value

    def _read_by_name(self, kind: Any, data: Any, key: str) -> dict[str, Any]:
        """Read a mapping whose keys are free names, such as models or workspaces."""
        if not isinstance(data, dict | None):
            raise self._type_error(key, data, "a section")
        given = {str(name): value for name, value in (data or {}).items()}
        read = {
            name: self._read_value(kind, value, f"{key}.{name:.80}")
            for name, value in given.items()
        }
        return {name: value for name, value in read.items() if value is not None}

    def _expand_variables(self, data: Any, key: str) -> Any:
        """Replace ${NAME} by its value; an unset variable stays and fails when it is used."""
        if isinstance(data, list):
            return [self._expand_variables(item, key) for item in data]
        if not isinstance(data, str):
            return data
        if data.count("${") != len(VARIABLE_PATTERN.findall(data)):
            raise self._setting_error(key, "must write variables as ${NAME} or ${NAME:-default}")
        return VARIABLE_PATTERN.sub(self._variable_value, data)

    def _variable_value(self, variable: re.Match[str]) -> str:
        name, default = variable.groups()
        found = self.environment.get(name)
        if default is not None:
            return found or default
        return variable[0] if found is None else found

    def _convert_text(self, wanted: type, text: str, key: str) -> Any:
        """Convert the text of an environment variable to a number or a boolean."""
        try:
            return {"true": True, "false": False}[text] if wanted is bool else wanted(text)
        except (KeyError, ValueError):
            raise self._type_error(key, text, TYPE_DESCRIPTIONS[wanted]) from None

    def _check_type(self, wanted: type, value: Any, data: Any, key: str) -> None:
        types = {float: (int, float), tuple: (list,)}.get(wanted, (wanted,))
        fits = isinstance(value, types) and isinstance(value, bool) == (wanted is bool)
        if not fits or (wanted is tuple and not all(isinstance(item, str) for item in value)):
            unset = VARIABLE_PATTERN.search(data) if isinstance(data, str) else None
            if unset:
                raise self._setting_error(key, f"needs the variable {unset[1]}, which is not set")
            known = CHOICES.get(_group_key(key))
            expected = TYPE_DESCRIPTIONS[wanted]
            if known is not None and wanted is str:
                expected = f"one of {', '.join(known)}"
            raise self._type_error(key, data, expected)

    def _check_value(self, value: Any, key: str) -> None:
        low, high = RANGES.get(_group_key(key), (None, None))
        if low is not None and high is not None and not low <= value <= high:
            raise self._setting_error(key, f"must be between {low} and {high}, got {value}")
        known = CHOICES.get(_group_key(key))
        for item in value if isinstance(value, list) else [value]:
            if known and item not in known:
                near = get_close_matches(item, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise self._setting_error(
                    key, f"must be one of {', '.join(known)}, got {item!r:.60}{hint}"
                )
        if key == "memory.search.default_scope":
            try:
                parse_kind(value)
            except InvalidInput as error:
                raise self._setting_error(key, f"is not a scope: {error}") from None

    def _setting_error(self, key: str, reason: str) -> ConfigError:
        return ConfigError(f"{self.source}: {key or 'the file'} {reason}")

    def _type_error(self, key: str, data: Any, expected: str) -> ConfigError:
        kinds = {dict: "a section", list: "a list", str: "text", bool: "true or false"}
        what = kinds.get(
            type(data), "a number" if isinstance(data, int | float) else type(data).__name__
        )
        return self._setting_error(key, f"must be {expected}, got {what}")

    def _key_error(self, name: Any, shape: Shape, prefix: str) -> ConfigError:
        near = get_close_matches(str(name), shape, n=1)
        others = [key for key in list_keys(settings_shape()) if key.endswith(f".{name}")]
        hint = f"accepted: {', '.join(shape)}"
        if near or others:
            hint = f"did you mean {_join_key(prefix, near[0]) if near else others[0]}?"
        key = _join_key(prefix, f"{name!s:.80}")
        return ConfigError(f"{self.source}: unknown setting {key}; {hint}")


def _group_key(key: str) -> str:
    """Return the key without free names: all workspaces have the same settings."""
    return NAMED_GROUP_PATTERN.sub(r"\1\2\3\4", key)


def _parse_file(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text: {error.reason}") from error
    if len(text) > MAX_FILE_CHARACTERS:
        raise ConfigError(
            f"{file} has {len(text)} characters; at most {MAX_FILE_CHARACTERS} are accepted"
        )
    try:
        return yaml.load(text, Loader=_StrictLoader)  # a SafeLoader, and stricter  # noqa: S506
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{file}{line}: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else _first_line(error)
        raise ConfigError(f"{file} is not valid YAML: {reason}") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


class _StrictLoader(yaml.SafeLoader):
    """A SafeLoader without aliases (they can expand to gigabytes) and without duplicate keys."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias: yaml.Event = self.get_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs
            raise _yaml_error("aliases (*name) are not allowed", alias.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise _yaml_error(f"duplicate key {key.value!r:.80}", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _yaml_error(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
