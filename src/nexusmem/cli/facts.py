"""`nexus facts`: what holds about a person or thing, what held before, and what is planned."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import TIME, CommandTarget, json_option, viewer_options
from .output import one_line, print_json, print_message, print_table

if TYPE_CHECKING:
    from datetime import datetime

    from ..core.records.memory import Memory
    from ..recall.views.fact_timeline import FactTimeline

MAX_TEXT_CHARACTERS = 80
UNSURE = "unsure"
STATUSES = ("now", "planned", "before", UNSURE)
COLUMNS = ("status", "relation", "value", "since", "until", "text")


@click.command()
@click.argument("name")
@click.argument("predicate", required=False)
@click.option("--at", type=TIME, help="What held at this time, as known today.")
@click.option("--as-of", type=TIME, help="Only what was recorded until this time.")
@json_option
@viewer_options
def facts(
    target: CommandTarget,
    name: str,
    predicate: str | None,
    *,
    at: datetime | None,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Show what holds about a person or thing.

    What held before and what is planned is shown, too.

    \b
        nexus facts ann
        nexus facts ann WORKS_AT
        nexus facts "Ada Moreau" lives_in --at 2026-03-01

    Without a predicate, every relation of the name is shown. "unsure" facts have a confidence below
    0.9 and are not shown as true in contexts.
    """
    with target.open_place() as place:
        if predicate:
            timelines = {predicate: place.fact_timeline(name, predicate, at=at, as_of=as_of)}
        else:
            timelines = place.fact_timelines(name, at=at, as_of=as_of)
    rows = list(_list_facts(timelines.values()))
    if as_json:
        for row in rows:
            print_json(row)
    elif rows:
        print_table(COLUMNS, [_table_row(row) for row in rows])
    print_message(f"{len(rows)} {'fact' if len(rows) == 1 else 'facts'}")
    if not rows:
        sys.exit(EXIT_NEGATIVE)


def _list_facts(timelines: Iterable[FactTimeline]) -> Iterator[dict[str, Any]]:
    """Yield each fact once: current ones first, then planned, former and unsure ones."""
    shown: set[str] = set()
    rows: dict[str, list[dict[str, Any]]] = {status: [] for status in STATUSES}
    for timeline in timelines:
        unsure = {each.id for each in timeline.unsure}
        ends = {each.memory.id: each.ended_at for each in timeline.past}
        groups = (timeline.current, timeline.upcoming, timeline.before, timeline.unsure)
        for status, memories in zip(STATUSES, groups, strict=True):
            for memory in memories:
                if memory.id in shown or (memory.id in unsure and status != UNSURE):
                    continue
                shown.add(memory.id)
                since = timeline.since if memory is timeline.now else _find_start(memory)
                rows[status].append(_fact_row(memory, status, since, ends.get(memory.id)))
    yield from (row for each in rows.values() for row in each)


def _find_start(memory: Memory) -> datetime | None:
    """Return since when a fact held; None if only its end or past was told."""
    is_past = memory.fact.tense == "past"
    return memory.valid_from or (None if is_past else memory.at)


def _fact_row(
    memory: Memory, status: str, since: datetime | None, until: datetime | None
) -> dict[str, Any]:
    from ..core.canonical import format_time  # loaded on first use

    fact = memory.fact
    value = fact.object if fact.object is not None else fact.value
    until = until or memory.valid_to
    return {
        "id": memory.id,
        "status": status,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "value": value,
        "negated": fact.negated,
        "since": format_time(since) if since else None,
        "until": format_time(until) if until else None,
        "confidence": memory.confidence,
        "text": memory.text,
    }


def _table_row(row: dict[str, Any]) -> tuple[str, ...]:
    value = one_line(str(row["value"]), MAX_TEXT_CHARACTERS)
    return (
        row["status"],
        one_line(row["predicate"]),
        f"not {value}" if row["negated"] else value,
        (row["since"] or "")[:10],
        (row["until"] or "")[:10],
        one_line(row["text"], MAX_TEXT_CHARACTERS),
    )
