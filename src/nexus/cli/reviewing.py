"""`nexus review …`: what is proposed to a person, and what they decide."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import HERE, Door, admin_option, json_option, viewer_options
from .output import message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Event
    from ..reviews import Review, Reviews

SHOWN = 100  # characters of a text


@click.group()
def review() -> None:
    """Merges and contradictions for a person to decide.

    \b
        nexus review list --room design
        nexus review accept 5f0c… --room design
        nexus review undo 5f0c… --room design
    """


@review.command("list")
@click.option(
    "--status",
    type=click.Choice(["open", "accepted", "rejected", "any"]),
    default="open",
    show_default=True,
    help="Which ones.",
)
@click.option("--what", type=click.Choice(["merge", "contradiction"]), help="Only of this kind.")
@click.option("--limit", type=int, default=100, show_default=True, metavar="N", help="At most.")
@admin_option
@json_option
@viewer_options
def list_(door: Door, *, status: str, as_admin: bool, as_json: bool, **asked: Any) -> None:
    """What is proposed, the likeliest first.

    \b
        nexus review list --room design
        nexus review list --as-admin --status any --json
    """
    with _reviews(door, as_admin=as_admin) as reviews:
        found = reviews.list(None if status == "any" else status, **asked)
    if as_json:
        for each in found:
            print_json(_shown(each))
    elif found:
        rows = [
            (
                each.id,
                each.what,
                f"{each.confidence:.2f}",
                one_line(each.text, SHOWN),
                each.status.value,
                one_line(str(each.scope)),
            )
            for each in found
        ]
        print_table(["id", "what", "sure", "proposed", "status", "where"], rows)
    message(f"{len(found)} {'review' if len(found) == 1 else 'reviews'}")
    if not found:
        sys.exit(FOUND_NOTHING)


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def show(door: Door, id: str, *, as_admin: bool, as_json: bool) -> None:
    """One review with what was said.

    \b
        nexus review show 5f0c… --room design
    """
    with _reviews(door, as_admin=as_admin) as reviews:
        found = reviews.get(id)
        evidence = [_event(event) for event in reviews.evidence(id)]
    if as_json:
        print_json({**_shown(found), "evidence": evidence})
        return
    print_record(_shown(found))
    print_table(
        ["when", "who", "said"],
        [(each["at"], each["speaker"], one_line(each["text"])) for each in evidence],
    )


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def accept(door: Door, id: str, *, as_admin: bool, as_json: bool) -> None:
    """It is so: two are one, or what was said later holds.

    \b
        nexus review accept 5f0c… --room design
    """
    _decide(door, "accept", id, as_admin=as_admin, as_json=as_json)


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def reject(door: Door, id: str, *, as_admin: bool, as_json: bool) -> None:
    """It is not so. It is not proposed again.

    \b
        nexus review reject 5f0c… --room design
    """
    _decide(door, "reject", id, as_admin=as_admin, as_json=as_json)


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def undo(door: Door, id: str, *, as_admin: bool, as_json: bool) -> None:
    """Take the last decision back: everything is as it was before.

    \b
        nexus review undo 5f0c… --room design
    """
    _decide(door, "undo", id, as_admin=as_admin, as_json=as_json)


def _decide(door: Door, decision: str, id: str, *, as_admin: bool, as_json: bool) -> None:
    with _reviews(door, as_admin=as_admin) as reviews:
        decided = getattr(reviews, decision)(id, by=door.user)
    (print_json if as_json else print_record)(_shown(decided))


@contextmanager
def _reviews(door: Door, *, as_admin: bool) -> Iterator[Reviews]:
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        yield workspace.reviews() if as_admin else door.place(workspace).reviews()


def _shown(found: Review) -> dict[str, Any]:
    told = asdict(found)
    told["scope"] = str(found.scope)
    told["names"] = list(found.names)
    told["sources"] = list(found.sources)
    return {name: value for name, value in told.items() if value is not None}


def _event(event: Event) -> dict[str, str]:
    from ..core.canonical import time_text  # noqa: PLC0415

    return {
        "id": event.id,
        "at": time_text(event.at)[:19] + "Z",
        "speaker": event.speaker,
        "text": event.text,
    }
