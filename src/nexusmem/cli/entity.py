"""`nexus entity`: people, companies, projects and places."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, limit_option, make_scope_option, viewer_options
from .output import (
    MAX_TEXT_CHARACTERS,
    TreeBranch,
    one_line,
    print_json,
    print_message,
    print_receipt,
    print_record,
    print_table,
    print_tree,
)

if TYPE_CHECKING:
    from ..core.records.memory import Fact
    from ..recall.views.entities import EntityView
    from ..recall.views.neighbourhood import Neighbourhood


@click.group()
def entity() -> None:
    """List people, companies, projects and places.

    \b
        nexus entity list --type person --room design
        nexus entity show "Sarah Chen" --room design
        nexus entity search "the vet" --dm
        nexus entity neighbours "Sarah Chen" --depth 2 --room design
        nexus entity add "Dr. Brandt" --type person --description "Vet in Delft." --dm
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
    """Show an entity by its name, alias, username or address, with its facts.

    A part of a name is enough if only one person has it.

    \b
        nexus entity show Sarah --room design
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
    rows = [
        (each["at"][:10], each["predicate"], one_line(each["value"]), one_line(each["text"]))
        for each in facts
    ]
    print_table(["said", "relation", "value", "fact"], rows)


@entity.command()
@click.argument("query")
@click.option("--type", metavar="TYPE", help="person, company, project, place, …")
@limit_option
@json_option
@viewer_options
def search(target: CommandTarget, query: str, *, as_json: bool, **filters: Any) -> None:
    """Search entities by words and by meaning: names, types, descriptions and facts.

    \b
        nexus entity search "the vet" --dm
        nexus entity search "climbs mountains" --type person --room design --json
    """
    with target.open_place() as place:
        found = place.find_entities(query, **filters)
    if as_json:
        for each in found:
            evidence = [{"id": fact.id, "text": fact.text} for fact in each.evidence]
            print_json({**_entity_json(each.entity), "score": each.score, "evidence": evidence})
    elif found:
        rows = [
            (
                f"{each.score:.2f}",
                one_line(each.entity.name),
                ", ".join(each.entity.types),
                one_line(each.evidence[0].text, MAX_TEXT_CHARACTERS) if each.evidence else "",
            )
            for each in found
        ]
        print_table(["score", "name", "types", "because"], rows)
    print_message(f"{len(found)} {'entity' if len(found) == 1 else 'entities'}")
    if not found:
        sys.exit(EXIT_NEGATIVE)


@entity.command()
@click.argument("name")
@click.option(
    "--depth", type=click.IntRange(1, 4), default=2, show_default=True, help="Facts to follow."
)
@limit_option
@json_option
@viewer_options
def neighbours(target: CommandTarget, name: str, *, depth: int, limit: int, as_json: bool) -> None:
    """Show the entities that facts connect with an entity, as a tree.

    \b
        nexus entity neighbours "Sarah Chen" --room design
        nexus entity neighbours Sarah --depth 3 --room design --json
    """
    with target.open_place() as place:
        found = place.neighbourhood(name, depth=depth, limit=limit)
    if as_json:
        print_json(_neighbourhood_json(found))
        return
    print_tree(found.center.name, _tree_branches(found))
    more = "" if found.is_complete else "; there may be more: raise --limit"
    count = len(found.neighbours)
    print_message(f"{count} {'neighbour' if count == 1 else 'neighbours'}{more}")
    if not found.neighbours:
        sys.exit(EXIT_NEGATIVE)


@entity.command()
@click.argument("name")
@click.option("--type", metavar="TYPE", help="person, company, project, place, …")
@click.option("--alias", "aliases", multiple=True, help="Another name, address or @handle.")
@click.option("--description", help="A short text about it.")
@click.option("--property", "properties", multiple=True, metavar="KEY=VALUE", help="JSON or text.")
@make_scope_option("Where to store it; default: this place")
@json_option
@viewer_options
def add(
    target: CommandTarget,
    name: str,
    *,
    scope: str | None,
    aliases: tuple[str, ...],
    properties: tuple[str, ...],
    as_json: bool,
    **stated: Any,
) -> None:
    """State type, aliases, description or properties of an entity; nothing is overwritten.

    \b
        nexus entity add "Dr. Brandt" --type person --description "Vet in Delft." --dm
        nexus entity add Globex --alias "Globex Corp" --property employees=120 --room design
    """
    values = dict(map(_parse_property, properties))
    with target.open_place(scope, create=True) as place:
        receipt = place.upsert_entity(
            name, aliases=aliases, properties=values, scope=scope, **stated
        )
        print_receipt(place, receipt, as_json=as_json)


def _parse_property(text: str) -> tuple[str, Any]:
    """Return key and value; a value that is no JSON is text."""
    key, separator, value = text.partition("=")
    if not separator:
        raise click.BadParameter(f"a property must look like key=value, got {text!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _tree_branches(found: Neighbourhood) -> list[TreeBranch]:
    """Return each relation below the entity that is nearer to the center."""
    distances = {each.name: each.distance for each in found.neighbours}
    distances[found.center.name] = 0
    branches, placed = [], {found.center.name}
    for each in found.relations:
        is_outgoing = distances[each.subject] <= distances[each.object]
        parent, child = (each.subject, each.object) if is_outgoing else (each.object, each.subject)
        arrow = f"{each.predicate} →" if is_outgoing else f"← {each.predicate}"
        past = " (past)" if each.is_past else ""
        label = one_line(f"{arrow} {child}{past}")
        branches.append(TreeBranch(parent, None if child in placed else child, label))
        placed.add(child)
    return branches


def _neighbourhood_json(found: Neighbourhood) -> dict[str, Any]:
    return {
        "center": found.center.name,
        "depth": found.depth,
        "complete": found.is_complete,
        "neighbours": [asdict(each) for each in found.neighbours],
        "relations": [
            {
                "subject": each.subject,
                "predicate": each.predicate,
                "object": each.object,
                "past": each.is_past,
                "confidence": each.fact.confidence,
                "fact": each.fact.id,
                "text": each.fact.text,
            }
            for each in found.relations
        ],
    }


def _other_names(found: EntityView) -> list[str]:
    return [*found.same_as, *found.aliases, *(each.value for each in found.identifiers)]


def _format_value(value: Any) -> str:
    """Return a value of the record on one line."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, dict):
        return one_line(", ".join(f"{key}: {each}" for key, each in value.items()))
    texts = [
        f"{each['value']} ({each['kind']}, {'verified' if each['proven'] else 'stated'})"
        if isinstance(each, dict)
        else each
        for each in value
    ]
    return one_line(", ".join(texts))


def _fact_value(fact: Fact) -> str:
    value = str(fact.object if fact.object is not None else fact.value)
    notes = [*(["past"] if fact.tense == "past" else []), *(["not"] if fact.negated else [])]
    return f"{value} ({', '.join(notes)})" if notes else value


def _entity_json(found: EntityView) -> dict[str, Any]:
    from ..core.canonical import format_time  # loaded on first use

    return {
        "name": found.name,
        "types": list(found.types),
        "aliases": list(found.aliases),
        "identifiers": [asdict(each) for each in found.identifiers],
        "same_as": list(found.same_as),
        "could_be": list(found.could_be),
        "description": found.description,
        "properties": dict(found.properties),
        "facts": [
            {
                "id": memory.id,
                "predicate": memory.fact.predicate,
                "value": _fact_value(memory.fact),
                "text": memory.text,
                "at": format_time(memory.at),
            }
            for memory in found.facts
        ],
    }
