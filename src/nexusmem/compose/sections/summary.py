"""Section "summary": sentences of this session that the window no longer shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ...core.records.context import ContextItem, make_item
from ...core.records.landmark_status import closings_by_landmark
from ...core.records.links import load_links
from ...core.records.window import Summary, SummaryLine
from ..request import SectionInput, rank_worth
from ..section import Section, always
from .landmarks import STATUS_MARKS

MAX_OF_LAST_SESSION = 5  # sentences of a session that is over
NO_MARKS: Mapping[str, str] = {}


def summary_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the summary's sentences about this session, oldest first.

    Decisions and action items are worth most, then the sentences that say most.
    """
    summary = _this_session(inputs)
    pinned = [*summary.decisions, *summary.action_items]
    marks = _status_marks(inputs, pinned)
    items = {
        item.id: item
        for item in (
            *_line_items(inputs, summary.lines, 0.8),
            *_line_items(inputs, summary.decisions, 1.0, "decision", marks),
            *_line_items(inputs, summary.action_items, 1.0, "action item", marks),
        )
    }
    order = {
        _line_id(line): (line.at, line.event, line.place) for line in (*summary.lines, *pinned)
    }
    shown = list(items.values())
    if not inputs.window_view.events:  # the session is over
        shown = sorted(shown, key=lambda item: (-item.worth, item.id))[:MAX_OF_LAST_SESSION]
    return sorted(shown, key=lambda item: order[item.id])


def _this_session(inputs: SectionInput) -> Summary:
    """Return the lines since the last silence of `idle_hours`.

    The silence is looked for between the lines and the first message of the window. If the window
    is empty, the last session's lines are returned.
    """
    view, idle = inputs.window_view, inputs.settings.idle_timeout
    summary = view.summary
    every = (*summary.lines, *summary.decisions, *summary.action_items)
    since = min((event.at for event in view.events), default=None)
    for at in sorted((line.at for line in every), reverse=True):
        if since is not None and at <= since - idle:
            break
        since = at if since is None else min(since, at)

    def keep(lines: tuple[SummaryLine, ...]) -> tuple[SummaryLine, ...]:
        return tuple(line for line in lines if since is None or line.at >= since)

    return replace(
        summary,
        lines=keep(summary.lines),
        decisions=keep(summary.decisions),
        action_items=keep(summary.action_items),
    )


def _line_items(
    inputs: SectionInput,
    lines: tuple[SummaryLine, ...],
    worth: float,
    kind: str | None = None,
    marks: Mapping[str, str] = NO_MARKS,
) -> Iterator[ContextItem]:
    ranked = sorted(lines, key=lambda line: (-line.lead, -line.at.timestamp()))
    for rank, line in enumerate(ranked):
        mark = next((marks[id] for id in line.memories if id in marks), "")
        kind_reason = {"kind": kind + mark} if kind else {}
        yield make_item(
            text=line.text,
            id=_line_id(line),
            at=line.at,
            speaker=line.speaker,
            trust=line.trust,
            events=(line.event,),
            worth=worth * rank_worth(rank, 0.97),
            why={"strategy": "summary", "age_days": inputs.age_days(line.at), **kind_reason},
        )


def _status_marks(inputs: SectionInput, lines: Iterable[SummaryLine]) -> dict[str, str]:
    """Return ", done" or ", cancelled" for closed landmarks that the summary quotes, by id."""
    ids = [id for line in lines for id in line.memories]
    links = inputs.filter_recorded(load_links(inputs.store, inputs.grant, ids))
    closed = closings_by_landmark(links)
    return {id: STATUS_MARKS[closing.status] for id, closing in closed.items()}


def _line_id(line: SummaryLine) -> str:
    """Return an id for one sentence of an event."""
    return f"{line.event}:{line.place}"


SUMMARY = Section(
    name="summary",
    heading="Session summary",
    description="Summary of the session before the recent messages.",
    priority=4,
    cap=500,
    when=always("this session so far"),
    source=summary_items,
)
