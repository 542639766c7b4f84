"""`nexus review`: accept or reject proposed merges and contradictions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import (
    DEFAULT_NAME,
    CommandTarget,
    admin_option,
    json_option,
    limit_option,
    viewer_options,
)
from .output import one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Event
    from ..place.reviews import Review, Reviews

MAX_TEXT_CHARACTERS = 100


@click.group()
def review() -> None:
    """Accept or reject proposed merges and contradictions.

    A misreading is a fact of the rules that a language model rejected; accept it to restore it.

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
    help="Only reviews with this status.",
)
@click.option(
    "--kind", type=click.Choice(["merge", "contradiction", "misreading"]), help="Only this kind."
)
@limit_option
@admin_option
@json_option
@viewer_options
def list_(
    target: CommandTarget, *, status: str, as_admin: bool, as_json: bool, **filters: Any
) -> None:
    """List proposed changes, the most likely first.

    \b
        nexus review list --room design
        nexus review list --as-admin --status any --json
    """
    with _open_reviews(target, as_admin=as_admin) as reviews:
        found = reviews.list(None if status == "any" else status, **filters)
    if as_json:
        for each in found:
            print_json(_review_json(each))
    elif found:
        rows = [
            (
                each.id,
                each.kind,
                f"{each.confidence:.2f}",
                one_line(each.text, MAX_TEXT_CHARACTERS),
                each.status.value,
                one_line(str(each.scope)),
            )
            for each in found
        ]
        print_table(["id", "kind", "confidence", "proposal", "status", "scope"], rows)
    print_message(f"{len(found)} {'review' if len(found) == 1 else 'reviews'}")
    if not found:
        sys.exit(EXIT_NEGATIVE)


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def show(target: CommandTarget, id: str, *, as_admin: bool, as_json: bool) -> None:
    """Show one review with its messages as evidence.

    \b
        nexus review show 5f0c… --room design
    """
    with _open_reviews(target, as_admin=as_admin) as reviews:
        found = reviews.get(id)
        evidence = [_event_json(event) for event in reviews.evidence(id)]
    if as_json:
        print_json({**_review_json(found), "evidence": evidence})
        return
    print_record(_review_json(found))
    print_table(
        ["time", "speaker", "text"],
        [(each["at"], each["speaker"], one_line(each["text"])) for each in evidence],
    )


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def accept(target: CommandTarget, id: str, *, as_admin: bool, as_json: bool) -> None:
    """Accept: merge the two entities, or let the newer fact replace the older one.

    \b
        nexus review accept 5f0c… --room design
    """
    _apply_decision(target, "accept", id, as_admin=as_admin, as_json=as_json)


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def reject(target: CommandTarget, id: str, *, as_admin: bool, as_json: bool) -> None:
    """Reject: the change is not proposed again.

    \b
        nexus review reject 5f0c… --room design
    """
    _apply_decision(target, "reject", id, as_admin=as_admin, as_json=as_json)


@review.command()
@click.argument("id")
@admin_option
@json_option
@viewer_options
def undo(target: CommandTarget, id: str, *, as_admin: bool, as_json: bool) -> None:
    """Undo the last decision.

    \b
        nexus review undo 5f0c… --room design
    """
    _apply_decision(target, "undo", id, as_admin=as_admin, as_json=as_json)


def _apply_decision(
    target: CommandTarget, decision: str, id: str, *, as_admin: bool, as_json: bool
) -> None:
    with _open_reviews(target, as_admin=as_admin) as reviews:
        decided = getattr(reviews, decision)(id, by=target.user)
    (print_json if as_json else print_record)(_review_json(decided))


@contextmanager
def _open_reviews(target: CommandTarget, *, as_admin: bool) -> Iterator[Reviews]:
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        yield workspace.reviews if as_admin else target.resolve_place(workspace).reviews


def _review_json(found: Review) -> dict[str, Any]:
    record = {
        **asdict(found),
        "scope": str(found.scope),
        "names": list(found.names),
        "sources": list(found.sources),
    }
    return {name: value for name, value in record.items() if value is not None}


def _event_json(event: Event) -> dict[str, str]:
    from ..core.canonical import format_time  # loaded on first use

    return {
        "id": event.id,
        "at": format_time(event.at)[:19] + "Z",
        "speaker": event.speaker,
        "text": event.text,
    }
