"""Section "summary": sentences of this session that the window no longer shows."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.records.context import ContextItem, make_item
from ...core.records.window import SummaryLine
from ..request import SectionInput, rank_worth
from ..section import Section, always


def summary_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the summary's sentences, oldest first.

    Decisions and action items are worth most, then the newest sentences.
    """
    summary = inputs.window_view.summary
    pinned = [*summary.decisions, *summary.action_items]
    items = {
        item.id: item
        for item in (
            *_line_items(inputs, summary.lines, 0.8),
            *_line_items(inputs, summary.decisions, 1.0, "decision"),
            *_line_items(inputs, summary.action_items, 1.0, "action item"),
        )
    }
    order = {
        _line_id(line): (line.at, line.event, line.place) for line in (*summary.lines, *pinned)
    }
    return sorted(items.values(), key=lambda item: order[item.id])


def _line_items(
    inputs: SectionInput, lines: tuple[SummaryLine, ...], worth: float, kind: str | None = None
) -> Iterator[ContextItem]:
    kind_reason = {"kind": kind} if kind else {}
    for rank, line in enumerate(reversed(lines)):
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
