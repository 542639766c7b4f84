"""Reading `nexus.yaml`: strict about every key and type, in our spelling or a seed's.

A file that is not understood is refused with the place and the nearest right key; values are
never shown, because any of them may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import yaml

from .compose.settings import LEAST_BUDGET, MOST_BUDGET, MOST_EVENTS, ROOMS
from .config import NOT_EMPTY, VARIABLE, AgentSettings, Settings
from .core.audit import Level
from .core.errors import ConfigError, InvalidInput
from .core.quotas import Quota
from .core.scope import kind_named
from .core.strength import CURVES
from .learn.learning import CONTRADICTIONS, EPISODES, FREQUENCIES
from .maintain.settings import MOST_MINUTES, Intervals
from .observe import ROLES
from .recall.query import MOST_HITS

Shape = Mapping[str, Any]  # name → a type, a settings dataclass, or a further shape

LARGEST_FILE = 1_000_000
QUOTAS = [quota.name for quota in fields(Quota)]
BACKENDS = {  # seed 002's name → our `vectors`, the seed's section, and the address in it
    "sqlite-vec": ("sqlite-vec", "sqlite_vec", "path"),
    "lancedb": ("lancedb", "lancedb", "path"),
    "pgvector": ("plain", "pgvector", "conn_string"),
}
EXPECTED = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list of texts",
}
RANGES = {
    "memory.dimension": (1, 100_000),
    "memory.store.connections": (1, 10_000),
    "memory.store.cache_megabytes": (1, 1_000_000),
    "memory.embeddings.dimension": (1, 100_000),
    "memory.embeddings.cached_questions": (1, 10_000_000),
    "memory.llm.timeout_seconds": (1, 3_600),
    "memory.llm.max_output_tokens": (1, 1_000_000),
    "memory.llm.turns_per_call": (1, 200),
    "memory.llm.characters_per_call": (500, 1_000_000),
    "memory.llm.prices.input": (0, 1_000_000),
    "memory.llm.prices.output": (0, 1_000_000),
    "memory.llm.budget.per_day": (0, 1_000_000_000),
    "memory.llm.budget.tokens_per_day": (0, 1_000_000_000_000),
    **{f"memory.quotas.{name}": (0, 1_000_000_000_000_000) for name in QUOTAS},
    "memory.indexing.min_content_length": (0, 10_000_000),
    "memory.indexing.max_content_length": (0, 10_000_000),
    "memory.indexing.batch_size": (1, 10_000),
    "memory.search.default_limit": (1, MOST_HITS),
    "memory.search.default_threshold": (0, 1),
    "memory.search.per_conversation": (0, MOST_HITS),
    "memory.search.model_wait_seconds": (0.1, 60),
    "memory.audit.retention_days": (0, 36_500),
    "memory.compose.budget": (LEAST_BUDGET, MOST_BUDGET),
    "memory.compose.window": (1, MOST_EVENTS),
    "memory.compose.idle_hours": (0.1, 24 * 365),
    "memory.compose.hits": (1, 100),
    "memory.compose.cached_seconds": (0, 300),
    "memory.compose.least_score": (0, 1),
    "memory.maintain.strength.archive_below": (0, 1),
    "memory.maintain.strength.important_from": (0, 1),
    "memory.maintain.strength.promote_confidence": (0, 1),
    "memory.maintain.strength.promote_uses": (1, 1_000_000),
    "memory.maintain.strength.promote_conversations": (1, 16),
    "memory.maintain.strength.idle_days": (1, 36_500),
    **{f"memory.compose.{name}": (0, MOST_BUDGET) for name in ROOMS},
    **{f"memory.maintain.intervals.{each.name}": (0, MOST_MINUTES) for each in fields(Intervals)},
}
CHOICES = {
    "memory.backend": tuple(BACKENDS),
    "memory.indexing.allowed_roles": ROLES,
    "memory.learning.contradictions": CONTRADICTIONS,
    "memory.audit.level": tuple(Level),
    "memory.learning.episodes": EPISODES,
    "memory.maintain.strength.curve": tuple(CURVES),
    "agents.defaults.memory.write.frequency": FREQUENCIES,
    "memory.embeddings.on_change": ("background", "refuse"),
}
NAMED = re.compile(  # groups under names that the writer chooses: any model, any workspace
    r"(memory\.llm\.prices)\..*(\.(?:input|output))|(memory\.quotas)\.workspaces\..*(\.\w+)"
)
ONE_OR_MORE = {"memory.search.rewrite"}  # a text there is a list of one


def read_settings(file: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """What the file gives, by the fields of `Settings`."""
    given = _Reader(str(file), environment).group(file_shape(), _parsed(file), "")
    agents = given.get("agents", {}).get("defaults", {}).get("memory", {})
    return {**_in_our_words(given.get("memory", {}), file), "agents": agents}


def file_shape() -> Shape:
    """Everything the file may hold."""
    ours = {name: kind for name, kind in get_type_hints(Settings).items() if name != "agents"}
    seed = {section: {address: str} for _, section, address in BACKENDS.values()}
    memory = {**ours, "backend": str, "dimension": int, **seed}
    return {"memory": memory, "agents": {"defaults": {"memory": AgentSettings}}}


def dotted_keys(shape: Shape, at: str = "") -> Iterator[str]:
    for name, kind in shape.items():
        yield _join(at, name)
        if (inner := _inner(kind)) is not None:
            yield from dotted_keys(inner, _join(at, name))


def _inner(kind: Any) -> Shape | None:
    if is_dataclass(kind):
        return get_type_hints(kind)
    return kind if isinstance(kind, Mapping) else None


def _join(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _in_our_words(memory: dict[str, Any], file: Path) -> dict[str, Any]:
    """The same, where seed 002 spells it otherwise. Sections of other backends lie idle."""
    sections = {section: memory.pop(section, {}) for _, section, _ in BACKENDS.values()}
    backend, dimension = memory.pop("backend", None), memory.pop("dimension", None)
    if backend and "store" in memory:
        raise ConfigError(f"{file}: memory.backend and memory.store say the same; keep one")
    if backend:
        memory["store"] = _store(backend, sections)
    elif any(sections.values()):
        idle = next(section for section, given in sections.items() if given)
        raise ConfigError(f"{file}: memory.{idle} is there, but no memory.backend chooses it")
    if dimension:
        memory["embeddings"] = {"dimension": dimension, **memory.get("embeddings", {})}
    return memory


def _store(backend: str, sections: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """LanceDB keeps an index beside the store; the others are the store."""
    vectors, section, address = BACKENDS[backend]
    place = "vectors_path" if backend == "lancedb" else "url"
    where = sections[section].get(address)
    return {"vectors": vectors, **({place: where} if where else {})}


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns parsed YAML into checked values, and says what is wrong and where."""

    source: str
    environment: Mapping[str, str]

    def group(self, shape: Shape, data: Any, at: str) -> dict[str, Any]:
        """Those settings of a group that the file gives; a key with nothing after it is not one."""
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise self._wrong(at, data, "a group of settings")
        for name in data:
            if name not in shape:
                raise self._unknown(name, shape, at)
        values = {name: self._value(shape[name], data[name], _join(at, name)) for name in data}
        return {name: value for name, value in values.items() if value is not None}

    def _value(self, kind: Any, data: Any, key: str) -> Any:
        if (inner := _inner(kind)) is not None:
            return self.group(inner, data, key)
        if get_origin(kind) is Mapping:
            return self._by_name(get_args(kind)[1], data, key)
        if data is None:
            return None
        optional = type(None) in get_args(kind)
        wanted = tuple if kind == tuple[str, ...] else get_args(kind)[0] if optional else kind
        value = self._expanded(data, key)
        if key in ONE_OR_MORE and isinstance(value, str):
            value = [value]
        if isinstance(data, str) and value != data and wanted in (bool, int, float):
            value = self._converted(wanted, value, key)
        self._check_type(wanted, value, data, key)
        self._check_value(value, key)
        if optional and value == "" and key not in NOT_EMPTY:
            return None
        return tuple(value) if wanted is tuple else value

    def _by_name(self, kind: Any, data: Any, key: str) -> dict[str, Any]:
        """Groups or values under names that the writer chooses."""
        if not isinstance(data, dict | None):
            raise self._wrong(key, data, "a group of settings")
        given = {str(name): value for name, value in (data or {}).items()}
        read = {
            name: self._value(kind, value, f"{key}.{name:.80}") for name, value in given.items()
        }
        return {name: value for name, value in read.items() if value is not None}

    def _expanded(self, data: Any, key: str) -> Any:
        """With the environment's values; a variable that is not set stays, until it is used."""
        if isinstance(data, list):
            return [self._expanded(item, key) for item in data]
        if not isinstance(data, str):
            return data
        if data.count("${") != len(VARIABLE.findall(data)):
            raise self._refused(key, "is written ${NAME} or ${NAME:-default}")
        return VARIABLE.sub(self._environment_value, data)

    def _environment_value(self, variable: re.Match[str]) -> str:
        name, default = variable.groups()
        found = self.environment.get(name)
        if default is not None:
            return found or default
        return variable[0] if found is None else found

    def _converted(self, wanted: type, text: str, key: str) -> Any:
        """A number or a switch out of the environment, where everything is text."""
        try:
            return {"true": True, "false": False}[text] if wanted is bool else wanted(text)
        except (KeyError, ValueError):
            raise self._wrong(key, text, EXPECTED[wanted]) from None

    def _check_type(self, wanted: type, value: Any, data: Any, key: str) -> None:
        types = {float: (int, float), tuple: (list,)}.get(wanted, (wanted,))
        fits = isinstance(value, types) and isinstance(value, bool) == (wanted is bool)
        if not fits or (wanted is tuple and not all(isinstance(item, str) for item in value)):
            unset = VARIABLE.search(data) if isinstance(data, str) else None
            if unset:
                raise self._refused(key, f"needs the variable {unset[1]}, which is not set")
            raise self._wrong(key, data, EXPECTED[wanted])

    def _check_value(self, value: Any, key: str) -> None:
        low, high = RANGES.get(NAMED.sub(r"\1\2\3\4", key), (None, None))
        if low is not None and high is not None and not low <= value <= high:
            raise self._refused(key, f"lies between {low} and {high}, not at {value}")
        known = CHOICES.get(key)
        for item in value if isinstance(value, list) else [value]:
            if known and item not in known:
                near = get_close_matches(item, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise self._refused(key, f"knows {', '.join(known)}, not {item!r:.60}{hint}")
        if key == "memory.search.default_scope":
            try:
                kind_named(value)
            except InvalidInput as error:
                raise self._refused(key, f"names no scope: {error}") from None

    def _refused(self, key: str, why: str) -> ConfigError:
        return ConfigError(f"{self.source}: {key or 'the file'} {why}")

    def _wrong(self, key: str, data: Any, expected: str) -> ConfigError:
        kinds = {dict: "a group", list: "a list", str: "text", bool: "true or false"}
        what = kinds.get(
            type(data), "a number" if isinstance(data, int | float) else "something else"
        )
        return self._refused(key, f"must be {expected}, not {what}")

    def _unknown(self, name: Any, shape: Shape, at: str) -> ConfigError:
        near = get_close_matches(str(name), shape, n=1)
        elsewhere = [key for key in dotted_keys(file_shape()) if key.endswith(f".{name}")]
        hint = f"known here are {', '.join(shape)}"
        if near or elsewhere:
            hint = f"did you mean {_join(at, near[0]) if near else elsewhere[0]}?"
        key = _join(at, f"{name!s:.80}")
        return ConfigError(f"{self.source}: unknown setting {key}; {hint}")


def _parsed(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text: {error.reason}") from error
    if len(text) > LARGEST_FILE:
        raise ConfigError(f"{file} is {len(text)} characters; settings need fewer")
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506  # a SafeLoader, and stricter
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{file}{line}: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else _first_line(error)
        raise ConfigError(f"{file} is not YAML Nexus can read: {reason}") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


class _StrictLoader(yaml.SafeLoader):
    """No aliases, because a few lines of them unfold into gigabytes, and no key twice."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias: yaml.Event = self.get_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs
            raise _marked("aliases (*name) are not used here", alias.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise _marked(f"{key.value!r:.80} is there twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _marked(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
