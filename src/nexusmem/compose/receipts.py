"""Receipts of contexts: stored with the viewer, and without any text except the question.

The question is stored with the words that earlier messages added to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from ..core.access import Grant, Viewer
from ..core.canonical import clean_text, format_time, parse_time
from ..core.errors import NotFound
from ..core.ids import AgentId, UserId, WorkspaceId
from ..core.protocols.store import Store
from ..core.records.context import (
    AddedWords,
    Context,
    ContextItem,
    ContextReceipt,
    CutItem,
    ShownItem,
)
from ..core.records.window import MAX_ITEMS, WindowItem, WindowSlot
from ..core.scope import Scope
from ..learn.extract.echo_filter import make_injected_item
from ..recall.query import make_query
from ..recall.search import Ranking, search_memories
from .sections import SECTIONS
from .sections.awareness import DOCUMENTS_ID, SOURCES_ID, TOOLS_ID, lookup_lines
from .sections.goals import ACTIVE_GOAL_ID
from .sections.recall import RECALL
from .sections.window import WINDOW
from .window import find_receipt, get_active_goal, receipt_item

DIGEST_PATTERN = re.compile(r"[0-9a-f]{32}")
MAX_RECEIPTS = MAX_ITEMS[WindowSlot.CONTEXT]
STYLE_TEXT = "how {0} writes, counted in the last messages"
MAX_HITS = 10  # best hits of a question that `with_hidden_hits` checks

# In the order in which they run: some stages come before the other sections.
FIRST_STAGES = ("learn", WINDOW.name, "plan", RECALL.name)
STAGES = (
    *FIRST_STAGES,
    *(section.name for section in SECTIONS if section.name not in FIRST_STAGES),
    "budget",
    "render",
)

T = TypeVar("T")


def receipt_items(context: Context, viewer: Viewer, now: datetime) -> list[WindowItem]:
    """Return the window items to store of a context: its receipt, and digests of its lines."""
    items = [item for section in context.sections for item in section.items]
    people = [person.value for person in viewer.people]
    shown = _source_ids(items)
    added = [id for each in context.receipt.added for id in each.events]
    source_ids = [*shown, *_cut_ids(context.receipt.cut), *added]
    receipt = {**receipt_to_json(context.receipt), "viewer": viewer_to_json(viewer)}
    home, id = viewer.home, context.id
    return [
        receipt_item(
            home,
            id,
            receipt,
            source_ids=source_ids,
            people=people,
            extra_scopes=_other_scopes(viewer),
            now=now,
        ),
        make_injected_item(
            home, id, injected_text(context), rests_on=shown, people=people, now=now
        ),
    ]


def injected_text(context: Context) -> str:
    """Return the words that the model reads: the rendered text, and each quotation alone.

    A template may write a quotation so that its sentences cannot be found in the text.
    """
    shown = (item.text for section in context.sections for item in section.items)
    return "\n\n".join([context.text, *shown])


def _other_scopes(viewer: Viewer) -> list[Scope]:
    """Return the other scopes of the viewer: a receipt must not show their effect to others."""
    return sorted(viewer.grant().scopes - {viewer.home})


def _source_ids(items: Iterable[ContextItem]) -> list[str]:
    ids = (id for item in items for id in (item.id, *item.events))
    return [id for id in dict.fromkeys(ids) if DIGEST_PATTERN.fullmatch(id)]


def _cut_ids(cut: Iterable[CutItem]) -> list[str]:
    return [each.id for each in cut if DIGEST_PATTERN.fullmatch(each.id)]


def receipt_to_json(receipt: ContextReceipt) -> dict[str, Any]:
    return {
        **{name: getattr(receipt, name) for name in receipt.__slots__},
        "at": format_time(receipt.at),
        "plan": dict(receipt.plan),
        "added": [
            {"words": each.words, "why": each.why, "events": list(each.events)}
            for each in receipt.added
        ],
        "sections": dict(receipt.sections),
        "seconds": dict(receipt.seconds),
        "shown": [_encode_shown(each) for each in receipt.shown],
        "cut": [_encode_cut(each) for each in receipt.cut],
        "degraded": list(receipt.degraded),
    }


def _encode_shown(shown: ShownItem) -> dict[str, Any]:
    # `dataclasses.asdict` would be slower, and a receipt has hundreds of these.
    return {
        "part": shown.part,
        "id": shown.id,
        "tokens": shown.tokens,
        "scope": shown.scope,
        "why": dict(shown.why),
    }


def _encode_cut(cut: CutItem) -> dict[str, Any]:
    return {"part": cut.part, "id": cut.id, "tokens": cut.tokens, "why": cut.why}


def receipt_from_json(data: Mapping[str, Any]) -> ContextReceipt:
    """Return a stored receipt; stages and sections are put back in order."""
    rest = {name: data[name] for name in ("id", "question", "budget", "tokens", "cached")}
    return ContextReceipt(
        **rest,
        at=parse_time(data["at"]),
        plan=_order_sections(data["plan"]),
        searched=data.get("searched", ""),
        added=tuple(
            AddedWords(words=each["words"], why=each["why"], events=tuple(each["events"]))
            for each in data.get("added", ())
        ),
        sections=_order_sections(data.get("sections", {})),
        frame=data.get("frame", 0),
        seconds={name: data["seconds"][name] for name in sorted(data["seconds"], key=_stage_order)},
        shown=tuple(ShownItem(**each) for each in data["shown"]),
        cut=tuple(CutItem(**each) for each in data["cut"]),
        degraded=tuple(data["degraded"]),
    )


def _order_sections(data: Mapping[str, T]) -> dict[str, T]:
    names = [section.name for section in SECTIONS if section.name in data]
    return {name: data[name] for name in dict.fromkeys([*names, *data])}


def _stage_order(name: str) -> int:
    return STAGES.index(name) if name in STAGES else len(STAGES)


def viewer_to_json(viewer: Viewer) -> dict[str, Any]:
    return {
        "agent": viewer.agent.value,
        "user": viewer.user.value if viewer.user else None,
        "room": viewer.room,
        "session": viewer.session,
        "participants": [person.value for person in viewer.participants],
        "project": viewer.project,
    }


def viewer_from_json(workspace: WorkspaceId, data: Mapping[str, Any]) -> Viewer:
    return Viewer(
        workspace=workspace,
        agent=AgentId(data["agent"]),
        user=UserId(data["user"]) if data["user"] else None,
        room=data["room"],
        session=data["session"],
        participants=tuple(map(UserId, data["participants"])),
        project=data["project"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextExplanation:
    """A receipt, and the texts of its items that the caller may see now."""

    receipt: ContextReceipt
    viewer: Viewer  # the context was composed for
    texts: Mapping[str, str]  # id of a memory or event → text, unless it was forgotten
    hidden_hits: int | None = None  # best hits that the viewer may not see; for administrators


def explain_context(store: Store, grant: Grant, id: str, now: datetime) -> ContextExplanation:
    """Return the receipt of a context with its texts.

    Raise NotFound if it has expired, or if the grant covers less than the context was composed
    from.
    """
    stored = find_receipt(store, grant, clean_text(id, "an id"), now)
    if isinstance(stored, dict):
        viewer = viewer_from_json(grant.workspace, stored["viewer"])  # type: ignore[arg-type]
        if grant.allows(viewer.grant().scopes):
            receipt = receipt_from_json(stored)
            texts = _load_texts(store, grant, receipt) | _current_texts(store, viewer, receipt, now)
            return ContextExplanation(receipt=receipt, viewer=viewer, texts=texts)
    raise NotFound(
        f"no context {id!r:.80} here; each place stores its last {MAX_RECEIPTS} contexts for a day"
    )


def _load_texts(store: Store, grant: Grant, receipt: ContextReceipt) -> dict[str, str]:
    """Return the texts of the items; a sentence of an event (`event:0`) has the event's text."""
    every = [*(each.id for each in receipt.shown), *(each.id for each in receipt.cut)]
    record_ids = {id: id.partition(":")[0] for id in every}
    wanted = list(dict.fromkeys(record_ids.values()))
    with store.snapshot():
        memories = store.memories.load_texts(grant, wanted)
        events = {event.id: event.text for event in store.ledger.get(grant, wanted)}
    texts = {**events, **memories}
    return {id: texts[record] for id, record in record_ids.items() if record in texts}


def _current_texts(
    store: Store, viewer: Viewer, receipt: ContextReceipt, now: datetime
) -> dict[str, str]:
    """Return the texts of lines without a stored record, as they would be rendered now."""
    grant = viewer.grant()
    ids = {each.id for each in receipt.shown} | {each.id for each in receipt.cut}
    texts = {
        id: STYLE_TEXT.format(id.removeprefix("style:")) for id in ids if id.startswith("style:")
    }
    if ids & {TOOLS_ID, DOCUMENTS_ID, SOURCES_ID}:
        texts |= lookup_lines(store, grant)
    if ACTIVE_GOAL_ID in ids and (active := get_active_goal(store, grant, viewer.home, now)):
        texts[ACTIVE_GOAL_ID] = active.text
    return {id: text for id, text in texts.items() if id in ids}


def with_hidden_hits(
    explanation: ContextExplanation, store: Store, ranking: Ranking, admin_grant: Grant
) -> ContextExplanation:
    """Return the explanation with the number of best hits that the viewer may not see.

    The question is searched again as of that time, with the administrator's grant.
    """
    receipt = explanation.receipt
    query = make_query(
        receipt.searched or receipt.question or "?",
        limit=MAX_HITS,
        threshold=0.0,
        now=receipt.at,
        as_of=receipt.at,
    )
    ids = [hit.memory.id for hit in search_memories(store, ranking, admin_grant, query)]
    visible = store.memories.load_texts(explanation.viewer.grant(), ids)
    return replace(explanation, hidden_hits=len(ids) - len(visible))
