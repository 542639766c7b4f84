"""`nexus episodes …`: what happened, in a few sentences."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import HERE, Door, json_option, time, viewer_options, workspace_options
from .output import message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Event, Memory

SHOWN = 100  # characters of a text
LONGEST_LIST = 8  # names in a table
COLUMNS = ("id", "span", "from", "to", "who", "told")


@click.group()
def episodes() -> None:
    """What happened, in a few sentences: threads, sessions, days and weeks.

    \b
        nexus episodes build
        nexus episodes list --room design --span day --since 2026-03-01
        nexus episodes show 5f0c… --room design
    """


@episodes.command()
@click.option("--again", is_flag=True, help="Also those that are there already.")
@json_option
@workspace_options
def build(door: Door, *, again: bool, as_json: bool) -> None:
    """Tell what is over by now, in every place of the workspace.

    \b
        nexus episodes build --workspace acme

    A thread is over when it is quiet, a session after an hour without a word, a day and a week
    when they are. Each place has its own; repeating it changes nothing.
    """
    with door.open() as nexus:
        told = nexus.workspace(door.workspace or HERE).learn_episodes(again=again)
    (print_json if as_json else print_record)({"told": told})


@episodes.command("list")
@click.option(
    "--span", type=click.Choice(["thread", "session", "day", "week"]), help="Only of this kind."
)
@click.option("--since", type=time, metavar="TIME", help="That reach into the time from here on,")
@click.option("--until", type=time, metavar="TIME", help="and begin before this.")
@click.option("--limit", type=int, default=100, show_default=True, metavar="N", help="At most.")
@json_option
@viewer_options
def list_(door: Door, *, as_json: bool, **asked: Any) -> None:
    """Those that may be read from here, newest first.

    \b
        nexus episodes list --room design
        nexus episodes list --dm --user alice --span week --json
    """
    with door.enter() as place:
        found = place.episodes(asked.pop("span"), **asked)
    if as_json:
        for each in found:
            print_json(_shown(each))
    elif found:
        print_table(COLUMNS, [_row(each) for each in found])
    message(f"{len(found)} {'episode' if len(found) == 1 else 'episodes'}")
    if not found:
        sys.exit(FOUND_NOTHING)


@episodes.command()
@click.argument("id")
@json_option
@viewer_options
def show(door: Door, id: str, *, as_json: bool) -> None:
    """One episode with what it was told from.

    \b
        nexus episodes show 5f0c… --room design
    """
    from ..core.derive import tells_of_time  # noqa: PLC0415
    from ..core.errors import NotFound  # noqa: PLC0415

    with door.enter() as place:
        found = place.get(id)
        if not tells_of_time(found):
            raise NotFound(f"no episode {id!r} here")
        said = [_event(event) for event in place.sources(id)]
        parts = [] if said else [place.get(part) for part in found.sources]
    if as_json:
        print_json({**_shown(found), "events": said, "episodes": list(map(_shown, parts))})
        return
    print_record(_shown(found))
    if parts:
        print_table(COLUMNS, [_row(each) for each in parts])
    else:
        rows = [(each["at"], each["speaker"], one_line(each["text"], SHOWN)) for each in said]
        print_table(["when", "who", "said"], rows)


def _row(episode: Memory) -> tuple[str, ...]:
    body = episode.body
    who = ", ".join(body["participants"][:LONGEST_LIST])
    edges = (body["start"][:16], body["end"][:16])
    return episode.id, body["span"], *edges, one_line(who), one_line(episode.text, SHOWN)


def _shown(episode: Memory) -> dict[str, Any]:
    return {
        "id": episode.id,
        **episode.body,
        "thread": episode.thread,
        "text": episode.text,
        "sources": list(episode.sources),
        **episode.metadata,
    }


def _event(event: Event) -> dict[str, str]:
    from ..core.canonical import time_text  # noqa: PLC0415

    return {
        "id": event.id,
        "at": time_text(event.at)[:19] + "Z",
        "speaker": event.speaker,
        "text": event.text,
    }
