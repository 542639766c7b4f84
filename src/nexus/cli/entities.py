"""`nexus entity …`: who and what is known."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import Door, json_option, viewer_options
from .output import message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..recall.entities import EntityView


@click.group()
def entity() -> None:
    """Who and what is known: people, companies, projects, places.

    \b
        nexus entity list --type person --room design
        nexus entity show "Sarah Chen" --room design
    """


@entity.command("list")
@click.option("--type", metavar="TYPE", help="person, company, project, place, …")
@click.option("--limit", type=int, default=100, show_default=True, metavar="N", help="At most.")
@json_option
@viewer_options
def list_(door: Door, *, as_json: bool, **asked: Any) -> None:
    """Everybody and everything known from here, by name.

    \b
        nexus entity list --type person --room design
    """
    with door.enter() as place:
        found = place.entities(**asked)
    if as_json:
        for each in found:
            print_json(_shown(each))
    elif found:
        rows = [
            (one_line(each.name), ", ".join(each.types), one_line(", ".join(_also(each))))
            for each in found
        ]
        print_table(["name", "is", "also known as"], rows)
    message(f"{len(found)} known")
    if not found:
        sys.exit(FOUND_NOTHING)


@entity.command()
@click.argument("name")
@json_option
@viewer_options
def show(door: Door, name: str, *, as_json: bool) -> None:
    """Somebody or something by name, alias or address, with the facts about them.

    \b
        nexus entity show "Sarah Chen" --room design
        nexus entity show sarah@example.com --room design --json
    """
    with door.enter() as place:
        found = place.entity(name)
    if as_json:
        print_json(_shown(found))
        return
    told = _shown(found)
    facts = told.pop("facts")
    print_record({key: _line(value) for key, value in told.items() if value})
    print_table(
        ["known since", "fact"], [(each["at"][:10], one_line(each["text"])) for each in facts]
    )


def _also(found: EntityView) -> list[str]:
    return [*found.same_as, *found.aliases, *(each.value for each in found.identifiers)]


def _line(value: Any) -> str:
    """A value of a view on one line."""
    if isinstance(value, str):
        return one_line(value)
    texts = [
        f"{each['value']} ({each['kind']}, {'proven' if each['proven'] else 'said'})"
        if isinstance(each, dict)
        else each
        for each in value
    ]
    return one_line(", ".join(texts))


def _shown(found: EntityView) -> dict[str, Any]:
    from ..core.canonical import time_text  # noqa: PLC0415

    return {
        "name": found.name,
        "types": list(found.types),
        "aliases": list(found.aliases),
        "identifiers": [asdict(each) for each in found.identifiers],
        "same_as": list(found.same_as),
        "could_be": list(found.could_be),
        "facts": [
            {"id": fact.id, "text": fact.text, "at": time_text(fact.at)} for fact in found.facts
        ],
    }
