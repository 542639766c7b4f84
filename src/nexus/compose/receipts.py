"""Receipts of contexts as they are kept: with who asked, and without any text but the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from ..core.access import Viewer
from ..core.canonical import text_time, time_text
from ..core.context import Context, ContextReceipt, Cut, Item, Shown
from ..core.ids import AgentId, UserId, WorkspaceId
from ..core.part import Part
from ..core.scope import Scope
from ..core.window import WindowItem
from ..learn.injected import injected_item
from .window import context_item

DIGEST = re.compile(r"[0-9a-f]{32}")
T = TypeVar("T")

# In the order of a context: three are asked before the other sections.
FIRST = ("learn", Part.WINDOW.value, "plan", Part.RECALL.value)
STAGES = (*FIRST, *(part.value for part in Part if part.value not in FIRST), "budget", "render")


def kept(context: Context, viewer: Viewer, now: datetime) -> list[WindowItem]:
    """What a place keeps of a context: its receipt, and digests of what was put before a model."""
    items = [item for section in context.sections for item in section.items]
    people = [person.value for person in viewer.people]
    shown = _rests_on(items)
    named = [*shown, *_digests(context.receipt.cut)]
    receipt = {**receipt_to_json(context.receipt), "viewer": viewer_to_json(viewer)}
    home, id = viewer.home, context.id
    return [
        context_item(
            home, id, receipt, rests_on=named, people=people, beside=_beside(viewer), now=now
        ),
        injected_item(home, id, context.text, rests_on=shown, people=people, now=now),
    ]


def _beside(viewer: Viewer) -> list[Scope]:
    """All the viewer could read: whoever reads less must not learn what that made of a context."""
    return sorted(viewer.grant().scopes - {viewer.home})


def _rests_on(items: Iterable[Item]) -> list[str]:
    ids = (id for item in items for id in (item.id, *item.events))
    return [id for id in dict.fromkeys(ids) if DIGEST.fullmatch(id)]


def _digests(cut: Iterable[Cut]) -> list[str]:
    return [each.id for each in cut if DIGEST.fullmatch(each.id)]


def receipt_to_json(receipt: ContextReceipt) -> dict[str, Any]:
    return {
        **{name: getattr(receipt, name) for name in receipt.__slots__},
        "at": time_text(receipt.at),
        "plan": {part.value: why for part, why in receipt.plan.items()},
        "sections": {part.value: tokens for part, tokens in receipt.sections.items()},
        "seconds": dict(receipt.seconds),
        "shown": [_shown_to_json(each) for each in receipt.shown],
        "cut": [_cut_to_json(each) for each in receipt.cut],
        "degraded": list(receipt.degraded),
    }


def _shown_to_json(shown: Shown) -> dict[str, Any]:
    """Spelt out: a receipt has hundreds of lines."""
    return {
        "part": shown.part.value,
        "id": shown.id,
        "tokens": shown.tokens,
        "scope": shown.scope,
        "why": dict(shown.why),
    }


def _cut_to_json(cut: Cut) -> dict[str, Any]:
    return {"part": cut.part.value, "id": cut.id, "tokens": cut.tokens, "why": cut.why}


def receipt_from_json(told: Mapping[str, Any]) -> ContextReceipt:
    """As it was made; what is kept has lost the order of its stages and sections."""
    rest = {name: told[name] for name in ("id", "question", "budget", "tokens", "cached")}
    return ContextReceipt(
        **rest,
        at=text_time(told["at"]),
        plan=_in_order(told["plan"]),
        sections=_in_order(told.get("sections", {})),  # one of an earlier release has none
        frame=told.get("frame", 0),
        seconds={name: told["seconds"][name] for name in sorted(told["seconds"], key=_stage)},
        shown=tuple(Shown(**{**each, "part": Part(each["part"])}) for each in told["shown"]),
        cut=tuple(Cut(**{**each, "part": Part(each["part"])}) for each in told["cut"]),
        degraded=tuple(told["degraded"]),
    )


def _in_order(told: Mapping[str, T]) -> dict[Part, T]:
    return {part: told[part.value] for part in Part if part.value in told}


def _stage(name: str) -> int:
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


def viewer_from_json(workspace: WorkspaceId, told: Mapping[str, Any]) -> Viewer:
    return Viewer(
        workspace=workspace,
        agent=AgentId(told["agent"]),
        user=UserId(told["user"]) if told["user"] else None,
        room=told["room"],
        session=told["session"],
        participants=tuple(map(UserId, told["participants"])),
        project=told["project"],
    )
