"""`nexus sessions …`: which conversation knows somebody best, and which is no longer right."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import HERE, Door, json_option, scope_option, viewer_options
from .output import one_line, print_json, print_table

if TYPE_CHECKING:
    from ..recall.sessions import SessionScore, Stale

SHOWN = 60  # characters of a sentence in a table


@click.group()
def sessions() -> None:
    """Which conversation knows somebody best, and which is no longer right.

    \b
        nexus sessions route "What does Tyler do?" --user alice
        nexus sessions stale --session monday --user alice
    """


@sessions.command()
@click.argument("question")
@click.option("--limit", type=int, default=5, show_default=True, help="How many at most.")
@click.option("--mine", is_flag=True, help="Over all of the user's own sessions and DMs.")
@json_option
@viewer_options
def route(door: Door, question: str, *, limit: int, mine: bool, as_json: bool) -> None:
    """Find the sessions and threads that know the names in QUESTION best.

    \b
        nexus sessions route "What does Tyler do now?" --room design
        nexus sessions route Tyler --user alice --mine --json

    A session that knows something about them that has changed since counts less.
    """
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        if mine:
            found = workspace.sessions_knowing(question, user=door.user, limit=limit)
        else:
            found = door.place(workspace).sessions_knowing(question, limit=limit)
    if as_json:
        for each in found:
            print_json(_score_record(each))
    else:
        print_table(
            ["session", "score", "knows", "last spoke of them"],
            [_score_row(each) for each in found],
        )
    sys.exit(0 if found else FOUND_NOTHING)


@sessions.command()
@scope_option
@click.option("--thread", metavar="NAME", help="Only this thread.")
@json_option
@viewer_options
def stale(door: Door, scope: str | None, *, thread: str | None, as_json: bool) -> None:
    """Show what a session or thread knew that is no longer so. Exits with 1 if nothing is stale.

    \b
        nexus sessions stale --session monday --user alice
        nexus sessions stale --room design --thread storage --json
    """
    with door.enter(scope) as place:
        found = place.stale(scope, thread)
    if as_json:
        for each in found:
            print_json(_stale_record(each))
    else:
        print_table(["about", "it knew", "now", "since"], [_stale_row(each) for each in found])
    sys.exit(0 if found else FOUND_NOTHING)


def _score_row(each: SessionScore) -> tuple[object, ...]:
    knows = ", ".join(
        f"{name} ({count}{', changed since' if name in each.stale else ''})"
        for name, count in each.mentions.items()
    )
    return str(each.session), f"{each.score:.2f}", knows, f"{each.last_at:%Y-%m-%d %H:%M}"


def _score_record(each: SessionScore) -> dict[str, Any]:
    return {
        "session": str(each.session),
        "scope": str(each.session.scope),
        "thread": each.session.thread,
        "day": each.session.day and each.session.day.isoformat(),
        "score": each.score,
        "mentions": dict(each.mentions),
        "stale": list(each.stale),
        "last_at": each.last_at.isoformat(),
        "labels": [label.body.get("label") for label in each.labels],
    }


def _stale_row(each: Stale) -> tuple[object, ...]:
    now = each.now or each.by
    return (
        f"{each.entity} {each.predicate}",
        one_line(each.knew.text, SHOWN),
        one_line(now.text, SHOWN),
        f"{each.since:%Y-%m-%d %H:%M}",
    )


def _stale_record(each: Stale) -> dict[str, Any]:
    return {
        "entity": each.entity,
        "predicate": each.predicate,
        "knew": {"id": each.knew.id, "text": each.knew.text},
        "now": each.now and {"id": each.now.id, "text": each.now.text},
        "by": {"id": each.by.id, "text": each.by.text},
        "since": each.since.isoformat(),
        "learned_at": each.learned_at.isoformat(),
    }
