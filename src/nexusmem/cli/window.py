"""`nexus window`: recent messages, notes, thoughts and the active goal of a place."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option, parse_json, text_or_stdin, viewer_options
from .output import one_line, print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Event
    from ..core.records.window import Summary, SummaryLine, WindowView

MAX_TEXT_CHARACTERS = 200


@click.group()
def window() -> None:
    """Recent messages, notes, thoughts and the active goal.

    \b
        nexus window show --room design
        nexus window note deadline "Friday noon" --ttl 3600 --room design
        nexus window thought "They may mean the other server." --room design
        nexus window goal "Ship the release." --room design
    """


@window.command()
@click.option(
    "--limit", type=int, default=50, show_default=True, metavar="N", help="Number of messages."
)
@json_option
@viewer_options
def show(target: CommandTarget, *, limit: int, as_json: bool) -> None:
    """Show the recent messages, the summary, notes, thoughts and the active goal.

    \b
        nexus window show --room design
        nexus window show --json
    """
    with target.open_place() as place:
        found = place.window(limit)
    if as_json:
        print_json(_window_json(found))
    else:
        print_table(["", "who", "what"], [*_window_rows(found)])
    if not found.fresh:
        print_message("idle: no message or note within memory.compose.idle_hours")
    if not (
        found.events or found.summary.last_event or found.notes or found.thoughts or found.goal
    ):
        sys.exit(EXIT_NEGATIVE)


@window.command()
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--json-value", is_flag=True, help="Parse the value as JSON.")
@click.option(
    "--ttl", type=float, metavar="SECONDS", help="Lifetime; default: until the place is idle."
)
@click.option("--delete", is_flag=True, help="Delete the note.")
@json_option
@viewer_options
def note(
    target: CommandTarget,
    key: str | None,
    value: str | None,
    *,
    json_value: bool,
    ttl: float | None,
    delete: bool,
    as_json: bool,
) -> None:
    """Set a note for some time; without a key, list the notes.

    \b
        nexus window note deadline "Friday noon" --ttl 3600
        nexus window note limits '{"rows": 5}' --json-value
        nexus window note deadline --delete
        nexus window note --json
    """
    if key and not delete and value is None:
        raise click.UsageError("a note needs a key and a value; --delete removes a note")
    with target.open_place(create=bool(key) and not delete) as place:
        if key and delete:
            sys.exit(0 if place.delete_note(key) else EXIT_NEGATIVE)
        if key and value is not None:
            content = parse_json(value) if json_value else text_or_stdin(value)
            found = [place.set_note(key, content, ttl=ttl)]
        else:
            found = place.notes()
    _print_records([asdict(each) for each in found], as_json=as_json)


@window.command()
@click.argument("text", required=False)
@json_option
@viewer_options
def thought(target: CommandTarget, text: str | None, *, as_json: bool) -> None:
    """Add a thought of the agent; without a text, list the thoughts, oldest first.

    \b
        nexus window thought "They may mean the other server."
    """
    with target.open_place(create=text is not None) as place:
        found = [place.add_thought(text_or_stdin(text))] if text is not None else place.thoughts()
    _print_records([asdict(each) for each in found], as_json=as_json)


@window.command()
@click.argument("text", required=False)
@click.option(
    "--status",
    type=click.Choice(["active", "done", "dropped"]),
    default="active",
    show_default=True,
    help="The status of the goal.",
)
@json_option
@viewer_options
def goal(target: CommandTarget, text: str | None, *, status: str, as_json: bool) -> None:
    """Set the active goal; without a text, show it.

    \b
        nexus window goal "Ship the release."
        nexus window goal "Ship the release." --status done
    """
    with target.open_place(create=text is not None) as place:
        set_now = text is not None
        found = (
            place.set_active_goal(text_or_stdin(text or ""), status=status)
            if set_now
            else place.active_goal()
        )
    _print_records([asdict(found)] if found else [], as_json=as_json)


def _print_records(records: list[dict[str, Any]], *, as_json: bool) -> None:
    for record in records:
        if as_json:
            print_json(_plain_record(record))
        else:
            print_record({name: value for name, value in _plain_record(record).items() if value})
    if not records:
        sys.exit(EXIT_NEGATIVE)


def _plain_record(record: dict[str, Any]) -> dict[str, Any]:
    return {n: v.isoformat() if hasattr(v, "isoformat") else v for n, v in record.items()}


def _window_rows(found: WindowView) -> list[tuple[str, str, str]]:
    rows = [("goal", found.goal.status, found.goal.text)] if found.goal else []
    rows += [("decided", line.speaker, line.text) for line in found.summary.decisions]
    rows += [("to do", line.owner or "", line.text) for line in found.summary.action_items]
    rows += [("summary", line.speaker, line.text) for line in found.summary.lines]
    rows += [(f"note {each.key}", each.by or "", str(each.value)) for each in found.notes]
    rows += [("thought", each.by or "", each.text) for each in found.thoughts]
    rows += [(f"{each.at:%Y-%m-%d %H:%M}", each.speaker, each.text) for each in found.events]
    return [
        (one_line(what), one_line(who), one_line(text, MAX_TEXT_CHARACTERS))
        for what, who, text in rows
    ]


def _window_json(found: WindowView) -> dict[str, Any]:
    return {
        "fresh": found.fresh,
        "goal": _plain_record(asdict(found.goal)) if found.goal else None,
        "summary": _summary_json(found.summary),
        "notes": [_plain_record(asdict(each)) for each in found.notes],
        "thoughts": [_plain_record(asdict(each)) for each in found.thoughts],
        "events": [_event_json(each) for each in found.events],
        "degraded": list(found.degraded),
    }


def _summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "text": summary.text,
        "decisions": [_line_json(line) for line in summary.decisions],
        "action_items": [_line_json(line) for line in summary.action_items],
        "upto": summary.last_event.at.isoformat() if summary.last_event else None,
        "events": list(summary.event_ids),
    }


def _line_json(line: SummaryLine) -> dict[str, Any]:
    return {
        "text": line.text,
        "speaker": line.speaker,
        "owner": line.owner,
        "due": line.due.isoformat() if line.due else None,
        "event": line.event,
    }


def _event_json(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": event.at.isoformat(),
        "speaker": event.speaker,
        "role": event.role,
        "thread": event.thread,
        "text": event.text,
        "attachments": [asdict(each) for each in event.attachments],
    }
