"""`nexus entity`: people, companies, projects and places."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, limit_option, viewer_options
from .output import one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..recall.views.entities import EntityView


@click.group()
def entity() -> None:
    """List people, companies, projects and places.

    \b
        nexus entity list --type person --room design
        nexus entity show "Sarah Chen" --room design
    """


@entity.command("list")
@click.option("--type", metavar="TYPE", help="person, company, project, place, …")
@limit_option
@json_option
@viewer_options
def list_(target: CommandTarget, *, as_json: bool, **filters: Any) -> None:
    """List the entities the viewer can see, by name.

    \b
        nexus entity list --type person --room design
    """
    with target.open_place() as place:
        found = place.entities(**filters)
    if as_json:
        for each in found:
            print_json(_entity_json(each))
    elif found:
        rows = [
            (one_line(each.name), ", ".join(each.types), one_line(", ".join(_other_names(each))))
            for each in found
        ]
        print_table(["name", "types", "other names"], rows)
    print_message(f"{len(found)} {'entity' if len(found) == 1 else 'entities'}")
    if not found:
        sys.exit(EXIT_NEGATIVE)


@entity.command()
@click.argument("name")
@json_option
@viewer_options
def show(target: CommandTarget, name: str, *, as_json: bool) -> None:
    """Show an entity by its name, alias or address, with its facts.

    \b
        nexus entity show "Sarah Chen" --room design
        nexus entity show sarah@example.com --room design --json
    """
    with target.open_place() as place:
        found = place.entity(name)
    if as_json:
        print_json(_entity_json(found))
        return
    record = _entity_json(found)
    facts = record.pop("facts")
    print_record({key: _format_value(value) for key, value in record.items() if value})
    print_table(["since", "fact"], [(each["at"][:10], one_line(each["text"])) for each in facts])


def _other_names(found: EntityView) -> list[str]:
    return [*found.same_as, *found.aliases, *(each.value for each in found.identifiers)]


def _format_value(value: Any) -> str:
    """Return a value of the record on one line."""
    if isinstance(value, str):
        return one_line(value)
    texts = [
        f"{each['value']} ({each['kind']}, {'verified' if each['proven'] else 'stated'})"
        if isinstance(each, dict)
        else each
        for each in value
    ]
    return one_line(", ".join(texts))


def _entity_json(found: EntityView) -> dict[str, Any]:
    from ..core.canonical import format_time  # loaded on first use

    return {
        "name": found.name,
        "types": list(found.types),
        "aliases": list(found.aliases),
        "identifiers": [asdict(each) for each in found.identifiers],
        "same_as": list(found.same_as),
        "could_be": list(found.could_be),
        "facts": [
            {"id": fact.id, "text": fact.text, "at": format_time(fact.at)} for fact in found.facts
        ],
    }
