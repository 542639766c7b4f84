"""Section "window": the last messages, word for word."""

from __future__ import annotations

from ...core.records import Event
from ...core.records.annotations import file_names, format_file_names
from ...core.records.context import ContextItem, make_item
from ...text.fence import remove_fences
from ..request import SectionInput, rank_worth
from ..section import Section, always


def window_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the last messages that the caller does not show already, oldest first."""
    every = inputs.window_view.events
    before = ("", *(event.text for event in every))
    events = [
        (event.id, event, previous)
        for event, previous in zip(every, before, strict=False)
        if event.id not in inputs.shown_event_ids
    ]
    last = len(events) - 1
    items = [_make_item(inputs, *each, last - position) for position, each in enumerate(events)]
    return [item for item in items if item.text]


def _make_item(
    inputs: SectionInput, id: str, event: Event, previous: str, rank: int
) -> ContextItem:
    from ...text.secrets import mask_text  # loaded with the first context

    text = mask_text(remove_fences(event.text), previous=previous)
    return make_item(
        text=(text + format_file_names(file_names(event.attachments))).lstrip(),
        id=id,
        at=event.at,
        speaker=event.speaker,
        trust=event.trust,
        events=(id,),
        worth=rank_worth(rank, 0.97),
        why={"strategy": "window", "age_days": inputs.age_days(event.at)},
    )


WINDOW = Section(
    name="window",
    heading="Recent messages",
    description="The newest messages, verbatim.",
    priority=11,
    floor=600,
    when=always("the last messages"),
    is_contiguous=True,
    shows_time=True,
    source=window_items,
)
