"""`nexus episodes`: summaries of threads, sessions, days and weeks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import (
    DEFAULT_NAME,
    TIME,
    CommandTarget,
    json_option,
    limit_option,
    viewer_options,
    workspace_options,
)
from .output import one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Event, Memory

MAX_TEXT_CHARACTERS = 100
MAX_NAMES = 8
COLUMNS = ("id", "span", "from", "to", "participants", "summary")


@click.group()
def episodes() -> None:
    """Summaries of threads, sessions, days and weeks.

    \b
        nexus episodes refresh
        nexus episodes list --room design --span day --since 2026-03-01
        nexus episodes show 5f0c… --room design
    """


@episodes.command()
@click.option("--rewrite", is_flag=True, help="Also replace existing summaries.")
@json_option
@workspace_options
def refresh(target: CommandTarget, *, rewrite: bool, as_json: bool) -> None:
    """Summarize every finished thread, session, day and week of the workspace.

    \b
        nexus episodes refresh --workspace acme

    A session ends after an hour without a message. Each place has its own summaries. Repeating
    the command changes nothing.
    """
    with target.open_nexus() as nexus:
        new = nexus.workspace(target.workspace or DEFAULT_NAME).refresh_episodes(rewrite=rewrite)
    (print_json if as_json else print_record)({"new": new})


@episodes.command("list")
@click.option(
    "--span", type=click.Choice(["thread", "session", "day", "week"]), help="Only this span."
)
@click.option("--since", type=TIME, help="Only episodes that end after this time.")
@click.option("--until", type=TIME, help="Only episodes that begin before this time.")
@click.option("--about", metavar="NAME", help="Only episodes that mention this person or thing.")
@limit_option
@json_option
@viewer_options
def list_(target: CommandTarget, *, as_json: bool, **filters: Any) -> None:
    """List the episodes the viewer can read, newest first.

    \b
        nexus episodes list --room design
        nexus episodes list --dm --user alice --span week --json
        nexus episodes list --room design --about "Sarah Chen"
    """
    with target.open_place() as place:
        found = place.episodes(filters.pop("span"), **filters)
    if as_json:
        for each in found:
            print_json(_episode_json(each))
    elif found:
        print_table(COLUMNS, [_episode_row(each) for each in found])
    print_message(f"{len(found)} {'episode' if len(found) == 1 else 'episodes'}")
    if not found:
        sys.exit(EXIT_NEGATIVE)


@episodes.command()
@click.argument("id")
@json_option
@viewer_options
def show(target: CommandTarget, id: str, *, as_json: bool) -> None:
    """Show one episode with the messages or episodes it summarizes.

    \b
        nexus episodes show 5f0c… --room design
    """
    from ..core.derive import is_span_episode  # loaded on first use
    from ..core.errors import NotFound  # loaded on first use

    with target.open_place() as place:
        found = place.get(id)
        if not is_span_episode(found):
            raise NotFound(f"no episode {id!r} here")
        events = [_event_json(event) for event in place.source_events(id)]
        parts = [] if events else [place.get(part) for part in found.sources]
    if as_json:
        print_json(
            {**_episode_json(found), "events": events, "episodes": list(map(_episode_json, parts))}
        )
        return
    print_record(_episode_json(found))
    if parts:
        print_table(COLUMNS, [_episode_row(each) for each in parts])
    else:
        rows = [
            (each["at"], each["speaker"], one_line(each["text"], MAX_TEXT_CHARACTERS))
            for each in events
        ]
        print_table(["time", "speaker", "text"], rows)


def _episode_row(episode: Memory) -> tuple[str, ...]:
    body = episode.body
    who = ", ".join(body["participants"][:MAX_NAMES])
    times = (body["start"][:16], body["end"][:16])
    return (
        episode.id,
        body["span"],
        *times,
        one_line(who),
        one_line(episode.text, MAX_TEXT_CHARACTERS),
    )


def _episode_json(episode: Memory) -> dict[str, Any]:
    return {
        "id": episode.id,
        **episode.body,
        "thread": episode.thread,
        "text": episode.text,
        "sources": list(episode.sources),
        **episode.metadata,
    }


def _event_json(event: Event) -> dict[str, str]:
    from ..core.canonical import format_time  # loaded on first use

    return {
        "id": event.id,
        "at": format_time(event.at)[:19] + "Z",
        "speaker": event.speaker,
        "text": event.text,
    }
