"""`nexus window …`: what is on the table in a place."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import Door, given_text, json_object, json_option, viewer_options
from .output import message, one_line, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Event
    from ..core.window import Line, Summary, WindowView

SHOWN = 200  # characters of a text


@click.group()
def window() -> None:
    """What is on the table in a place: the last messages, notes, thoughts and the goal.

    \b
        nexus window show --room design
        nexus window note deadline "Friday noon" --ttl 3600 --room design
        nexus window think "They may mean the other server." --room design
        nexus window goal "Ship the release." --room design
    """


@window.command()
@click.option("--limit", type=int, default=50, show_default=True, metavar="N", help="Messages.")
@json_option
@viewer_options
def show(door: Door, *, limit: int, as_json: bool) -> None:
    """The last messages, the summary, and what lies beside them.

    \b
        nexus window show --room design
        nexus window show --json
    """
    with door.enter() as place:
        found = place.window(limit)
    if as_json:
        print_json(_record(found))
    else:
        print_table(["", "who", "what"], [*_lines(found)])
    if not found.fresh:
        message("nothing happened here for a day")
    if not (found.events or found.summary.upto or found.notes or found.thoughts or found.goal):
        sys.exit(FOUND_NOTHING)


@window.command()
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--as-value", is_flag=True, help="The value is JSON, not a text.")
@click.option("--ttl", type=float, metavar="SECONDS", help="How long it stays; else a day idle.")
@click.option("--drop", is_flag=True, help="Take it away.")
@json_option
@viewer_options
def note(
    door: Door,
    key: str | None,
    value: str | None,
    *,
    as_value: bool,
    ttl: float | None,
    drop: bool,
    as_json: bool,
) -> None:
    """Keep a value under a key for a while; without one, list what is kept.

    \b
        nexus window note deadline "Friday noon" --ttl 3600
        nexus window note limits '{"rows": 5}' --as-value
        nexus window note deadline --drop
        nexus window note --json
    """
    if key and not drop and value is None:
        raise click.UsageError("a note is a key and a value; --drop takes it away")
    with door.enter(create=bool(key) and not drop) as place:
        if key and drop:
            sys.exit(0 if place.drop_note(key) else FOUND_NOTHING)
        if key and value is not None:
            told = json_object(value) if as_value else given_text(value)
            found = [place.note(key, told, ttl=ttl)]
        else:
            found = place.notes()
    _print([asdict(each) for each in found], as_json=as_json)


@window.command()
@click.argument("text", required=False)
@json_option
@viewer_options
def think(door: Door, text: str | None, *, as_json: bool) -> None:
    """Append a thought of the agent's; without one, list them, oldest first.

    \b
        nexus window think "They may mean the other server."
    """
    with door.enter(create=text is not None) as place:
        found = [place.think(given_text(text))] if text is not None else place.thoughts()
    _print([asdict(each) for each in found], as_json=as_json)


@window.command()
@click.argument("text", required=False)
@click.option(
    "--status",
    type=click.Choice(["active", "done", "dropped"]),
    default="active",
    show_default=True,
    help="How far it is.",
)
@json_option
@viewer_options
def goal(door: Door, text: str | None, *, status: str, as_json: bool) -> None:
    """Say what is being worked on; without a text, show it.

    \b
        nexus window goal "Ship the release."
        nexus window goal "Ship the release." --status done
    """
    with door.enter(create=text is not None) as place:
        set_now = text is not None
        found = place.set_goal(given_text(text or ""), status=status) if set_now else place.goal()
    _print([asdict(found)] if found else [], as_json=as_json)


def _print(records: list[dict[str, Any]], *, as_json: bool) -> None:
    for record in records:
        if as_json:
            print_json(_plain(record))
        else:
            print_record({name: value for name, value in _plain(record).items() if value})
    if not records:
        sys.exit(FOUND_NOTHING)


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    return {n: v.isoformat() if hasattr(v, "isoformat") else v for n, v in record.items()}


def _lines(found: WindowView) -> list[tuple[str, str, str]]:
    rows = [("goal", found.goal.status, found.goal.text)] if found.goal else []
    rows += [("decided", line.speaker, line.text) for line in found.summary.decisions]
    rows += [("to do", line.owner or "", line.text) for line in found.summary.action_items]
    rows += [("summary", line.speaker, line.text) for line in found.summary.lines]
    rows += [(f"note {each.key}", each.by or "", str(each.value)) for each in found.notes]
    rows += [("thought", each.by or "", each.text) for each in found.thoughts]
    rows += [(f"{each.at:%Y-%m-%d %H:%M}", each.speaker, each.text) for each in found.events]
    return [(one_line(what), one_line(who), one_line(text, SHOWN)) for what, who, text in rows]


def _record(found: WindowView) -> dict[str, Any]:
    return {
        "fresh": found.fresh,
        "goal": _plain(asdict(found.goal)) if found.goal else None,
        "summary": _summary(found.summary),
        "notes": [_plain(asdict(each)) for each in found.notes],
        "thoughts": [_plain(asdict(each)) for each in found.thoughts],
        "events": [_event(each) for each in found.events],
        "degraded": list(found.degraded),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "text": summary.text,
        "decisions": [_line(line) for line in summary.decisions],
        "action_items": [_line(line) for line in summary.action_items],
        "upto": summary.upto.at.isoformat() if summary.upto else None,
        "events": list(summary.events),
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "text": line.text,
        "speaker": line.speaker,
        "owner": line.owner,
        "due": line.due.isoformat() if line.due else None,
        "event": line.event,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": event.at.isoformat(),
        "speaker": event.speaker,
        "role": event.role,
        "thread": event.thread,
        "text": event.text,
        "attachments": [asdict(each) for each in event.attachments],
    }
