"""`nexus sessions`: find the session for a topic, and facts that changed since a session."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import DEFAULT_NAME, CommandTarget, json_option, scope_option, viewer_options
from .output import exit_empty, one_line, print_json, print_table

if TYPE_CHECKING:
    from ..recall.views.sessions import OutdatedFact, SessionScore

MAX_TEXT_CHARACTERS = 60


@click.group()
def sessions() -> None:
    """Find the session for a topic; list outdated facts.

    \b
        nexus sessions find --about "What does Tyler do?" --user alice
        nexus sessions outdated --session monday --user alice
    """


@sessions.command()
@click.option("--about", required=True, metavar="TEXT", help="A question, or a name.")
@click.option("--limit", type=int, default=5, show_default=True, help="Maximum number.")
@click.option("--all-mine", is_flag=True, help="Search all sessions and DMs of the user.")
@json_option
@viewer_options
def find(target: CommandTarget, *, about: str, limit: int, all_mine: bool, as_json: bool) -> None:
    """Rank sessions and threads by how often and how recently they mention the names in TEXT.

    \b
        nexus sessions find --about "What does Tyler do now?" --room design
        nexus sessions find --about Tyler --user alice --all-mine --json

    A session whose facts have changed since gets a lower score.
    """
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        if all_mine:
            found = workspace.find_sessions(about, user=target.user, limit=limit)
            searched = f"the sessions and DMs of {target.user}"
        else:
            place = target.resolve_place(workspace)
            found, searched = place.find_sessions(about, limit=limit), str(place.scope(None))
    if not found:
        exit_empty(searched)
    if as_json:
        for each in found:
            print_json(_score_json(each))
    else:
        print_table(
            ["session", "score", "mentions", "last mention"], [_score_row(each) for each in found]
        )


@sessions.command()
@scope_option
@click.option("--thread", metavar="NAME", help="Only this thread.")
@json_option
@viewer_options
def outdated(
    target: CommandTarget, scope: str | None, *, thread: str | None, as_json: bool
) -> None:
    """List facts of a session or thread that have changed since. Exits with 1 if there are none.

    \b
        nexus sessions outdated --session monday --user alice
        nexus sessions outdated --room design --thread storage --json
    """
    with target.open_place(scope) as place:
        found = place.outdated_facts(scope, thread)
    if as_json:
        for each in found:
            print_json(_outdated_json(each))
    else:
        print_table(["about", "old", "current", "since"], [_outdated_row(each) for each in found])
    sys.exit(0 if found else EXIT_NEGATIVE)


def _score_row(each: SessionScore) -> tuple[object, ...]:
    mentions = ", ".join(
        f"{name} ({count}{', changed since' if name in each.outdated_names else ''})"
        for name, count in each.mention_counts.items()
    )
    last = f"{each.last_mention_at:%Y-%m-%d %H:%M}"
    return str(each.session), f"{each.score:.2f}", mentions, last


def _score_json(each: SessionScore) -> dict[str, Any]:
    return {
        "session": str(each.session),
        "scope": str(each.session.scope),
        "thread": each.session.thread,
        "day": each.session.day and each.session.day.isoformat(),
        "score": each.score,
        "mentions": dict(each.mention_counts),
        "outdated": list(each.outdated_names),
        "last_at": each.last_mention_at.isoformat(),
        "labels": [label.body.get("label") for label in each.labels],
    }


def _outdated_row(each: OutdatedFact) -> tuple[object, ...]:
    current = each.current_fact or each.changed_by
    return (
        f"{each.entity} {each.predicate}",
        one_line(each.old_fact.text, MAX_TEXT_CHARACTERS),
        one_line(current.text, MAX_TEXT_CHARACTERS),
        f"{each.since:%Y-%m-%d %H:%M}",
    )


def _outdated_json(each: OutdatedFact) -> dict[str, Any]:
    current = each.current_fact
    return {
        "entity": each.entity,
        "predicate": each.predicate,
        "old": {"id": each.old_fact.id, "text": each.old_fact.text},
        "current": current and {"id": current.id, "text": current.text},
        "replaced_by": {"id": each.changed_by.id, "text": each.changed_by.text},
        "since": each.since.isoformat(),
        "learned_at": each.learned_at.isoformat(),
    }
