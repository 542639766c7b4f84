"""Stated entities: validation of what `upsert_entity` records, and the text that search indexes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..canonical import canonical_json, clean_json, clean_list, clean_text
from ..errors import InvalidInput
from ..ids import check_name, require_str
from .memory import Json

ENTITY = "entity"  # metadata key of the event
FIELDS = ("name", "type", "aliases", "description", "properties")
TYPE_PATTERN = re.compile(r"[a-z][a-z0-9_-]{0,39}")
MAX_ALIASES = 50
MAX_DESCRIPTION_CHARACTERS = 10_000
MAX_PROPERTIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedEntity:
    """What a caller states about a person or thing; None and empty fields state nothing."""

    name: str
    type: str | None = None
    aliases: tuple[str, ...] = ()
    description: str | None = None
    properties: Mapping[str, Json] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The statement as text for search: name, type, aliases, description and properties."""
        head = f"{self.name} is a {self.type}." if self.type else f"{self.name}."
        also = f"Also known as {', '.join(self.aliases)}." if self.aliases else ""
        values = "; ".join(
            f"{key}: {value if isinstance(value, str) else canonical_json(value)}"
            for key, value in self.properties.items()
            if value is not None
        )
        return " ".join(filter(None, (head, also, self.description, values)))


def check_entity(data: Any) -> StatedEntity:
    """Return the stated entity; raise InvalidInput if a field is invalid."""
    if not isinstance(data, Mapping) or not data.keys() <= set(FIELDS):
        raise InvalidInput(f"an entity must be a mapping with some of {', '.join(FIELDS)}")
    name = require_str(data.get("name"), "the name")
    type, description = data.get("type"), data.get("description")
    check_name(name, "the name")
    if type is not None and (not isinstance(type, str) or not TYPE_PATTERN.fullmatch(type)):
        raise InvalidInput(f"type must be a word such as person or company, got {type!r:.80}")
    if description is not None:
        description = clean_text(description, "the description").strip() or None
    if description is not None and len(description) > MAX_DESCRIPTION_CHARACTERS:
        raise InvalidInput(
            f"description must have at most {MAX_DESCRIPTION_CHARACTERS} characters,"
            f" got {len(description)}"
        )
    return StatedEntity(
        name=name,
        type=type,
        aliases=_check_aliases(data.get("aliases") or ()),
        description=description,
        properties=_check_properties(data.get("properties") or {}),
    )


def _check_aliases(aliases: Any) -> tuple[str, ...]:
    if isinstance(aliases, str):
        raise InvalidInput(f"aliases must be a list of names, got the text {aliases!r:.80}")
    listed = clean_list(aliases, "aliases")
    if len(listed) > MAX_ALIASES:
        raise InvalidInput(f"an entity has at most {MAX_ALIASES} aliases, got {len(listed)}")
    for alias in listed:
        check_name(alias, "an alias")
    return tuple(dict.fromkeys(listed))


def _check_properties(properties: Any) -> dict[str, Json]:
    if not isinstance(properties, Mapping):
        raise InvalidInput(f"properties must be a mapping, got {type(properties).__name__}")
    if len(properties) > MAX_PROPERTIES:
        raise InvalidInput(f"an entity has at most {MAX_PROPERTIES} properties")
    for key in properties:
        check_name(key, "a property")
    cleaned: dict[str, Json] = clean_json(dict(properties), "the properties")
    return cleaned
