"""Spans of OpenTelemetry, with the names its conventions have for memories.

The conventions are those of semantic-conventions-genai (`create_memory`, `search_memory`, …), which
no package of constants has yet. What has no name there begins with `nexus.`. Words that somebody
said, questions and hits are in a span only where that is asked for; so are names of workspaces.
Nothing is sent by us: whoever wants spans configures an SDK and an exporter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from ..core.ids import WorkspaceId, is_digest
from ..core.telemetry import Told

Attributes = dict[str, Any]

OPERATIONS = {  # what is done → as the conventions call it
    "observe": "create_memory",
    "recall": "search_memory",
    "learn": "upsert_memory",
    "forget": "delete_memory",
    "embed": "embeddings",
    "model": "chat",
}
OWN = "nexus."


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Writes spans. `contents`: with questions, hits and messages of errors."""

    contents: bool = False
    workspaces: bool = False

    def start(self, name: str, told: Told) -> OneSpan:
        operation = OPERATIONS.get(name, OWN + name)
        kind = SpanKind.CLIENT if name in OPERATIONS else SpanKind.INTERNAL
        given = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "nexus"}
        span = trace.get_tracer("nexus").start_span(
            operation, kind=kind, attributes={**given, **self.attributes(told)}
        )
        return OneSpan(self, span)

    def attributes(self, told: Told) -> Attributes:
        """What is told, in the words of the conventions."""
        found: Attributes = {}
        for name, value in told.items():
            if name in SPELT:
                found |= SPELT[name](value)
            elif isinstance(value, WorkspaceId) and self.workspaces:
                found["gen_ai.memory.store.id"] = value.value
            elif name == "question" and self.contents:
                found["gen_ai.memory.query.text"] = str(value)
        if self.contents and "found" in told:
            found["gen_ai.memory.records"] = _records(told["found"])
        return found


class OneSpan:
    """A span that is the current one of this thread until it ends."""

    def __init__(self, traces: Traces, span: trace.Span) -> None:
        self._traces = traces
        self._span = span
        self._before = context.attach(trace.set_span_in_context(span))

    def tell(self, told: Told) -> None:
        if self._span.is_recording():
            self._span.set_attributes(self._traces.attributes(told))

    def end(self, error: BaseException | None) -> None:
        context.detach(self._before)
        if error is not None:
            kind = type(error).__name__
            self._span.set_attribute("error.type", kind)
            self._span.set_status(Status(StatusCode.ERROR, kind))
            message = {"exception.message": str(error)} if self._traces.contents else {}
            self._span.add_event("exception", {"exception.type": kind, **message})
        self._span.end()


def _receipts(receipts: Any) -> Attributes:
    one = {"gen_ai.memory.record.id": receipts[0].event_id} if len(receipts) == 1 else {}
    return {"gen_ai.memory.record.count": len(receipts), **one}


def _found(found: Any) -> Attributes:
    attributes: Attributes = {
        "gen_ai.memory.record.count": len(found.hits),
        "nexus.total": found.total,
        "nexus.degraded": _parts(found.degraded),
    }
    for each in found.strategies:
        attributes[f"nexus.{each.name}.seconds"] = each.seconds
        attributes[f"nexus.{each.name}.found"] = each.found
    return attributes


def _context(composed: Any) -> Attributes:
    receipt = composed.receipt
    return {
        "gen_ai.memory.record.count": len(receipt.shown),
        "nexus.tokens": receipt.tokens,
        "nexus.cached": receipt.cached,
        "nexus.degraded": _parts(receipt.degraded),
    }


def _profile(profile: Any) -> Attributes:
    return {
        "gen_ai.provider.name": profile.provider,
        "gen_ai.request.model": profile.model,
        "gen_ai.embeddings.dimension.count": profile.dimension,
    }


def _used(said: Any) -> Attributes:
    return {
        "gen_ai.response.model": said.model,
        "gen_ai.usage.input_tokens": said.input_tokens,
        "gen_ai.usage.output_tokens": said.output_tokens,
    }


def _parts(remarks: Any) -> list[str]:
    """What was missing; why may say more than is wanted here."""
    return sorted({remark.partition(":")[0] for remark in remarks})


def _records(found: Any) -> str:
    """As the conventions spell records."""
    hits = [{"id": h.memory.id, "content": h.text, "score": h.score} for h in found.hits]
    return json.dumps(hits, ensure_ascii=False)


SPELT: Mapping[str, Callable[[Any], Attributes]] = {
    "receipts": _receipts,
    "found": _found,
    "context": _context,
    "profile": _profile,
    "used": _used,
    "record": lambda wanted: {"gen_ai.memory.record.id": wanted} if is_digest(wanted) else {},
    "asked": lambda name: {"gen_ai.request.model": name},
    "events": lambda count: {"nexus.events": count},
    "texts": lambda count: {"nexus.texts": count},
    "job": lambda name: {"nexus.job": name},
    "forgotten": lambda report: {
        "gen_ai.memory.record.count": report.erased.events + report.erased.memories
    },
}
