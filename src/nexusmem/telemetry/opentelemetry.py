"""OpenTelemetry spans with the semantic conventions for memories.

The names come from semantic-conventions-genai (`create_memory`, `search_memory`, …), which no
package provides as constants yet. Attributes without a convention start with `nexus.`. Texts,
questions, hits and workspace names are only included if the operator enables them. Nexus exports
nothing itself: the application configures an SDK and an exporter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from ..core.ids import WorkspaceId, is_digest
from .spans import SpanAttributes

Attributes = dict[str, Any]

OPERATIONS = {  # our operation → its name in the conventions
    "observe": "create_memory",
    "recall": "search_memory",
    "learn": "upsert_memory",
    "forget": "delete_memory",
    "embed": "embeddings",
    "model": "chat",
}
OWN_PREFIX = "nexus."


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTelemetryTracer:
    """Creates OpenTelemetry spans.

    `include_contents` adds questions, hits and error messages; `include_workspaces` adds workspace
    names.
    """

    include_contents: bool = False
    include_workspaces: bool = False

    def start_span(self, name: str, attributes: SpanAttributes) -> OpenTelemetrySpan:
        operation = OPERATIONS.get(name, OWN_PREFIX + name)
        kind = SpanKind.CLIENT if name in OPERATIONS else SpanKind.INTERNAL
        fixed = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "nexus"}
        span = trace.get_tracer("nexus").start_span(
            operation, kind=kind, attributes={**fixed, **self.to_attributes(attributes)}
        )
        return OpenTelemetrySpan(self, span)

    def to_attributes(self, values: SpanAttributes) -> Attributes:
        """Return the values under their OpenTelemetry attribute names."""
        attributes: Attributes = {}
        for name, value in values.items():
            if name in ATTRIBUTE_READERS:
                attributes |= ATTRIBUTE_READERS[name](value)
            elif isinstance(value, WorkspaceId) and self.include_workspaces:
                attributes["gen_ai.memory.store.id"] = value.value
            elif name == "question" and self.include_contents:
                attributes["gen_ai.memory.query.text"] = str(value)
        if self.include_contents and "found" in values:
            attributes["gen_ai.memory.records"] = _records_json(values["found"])
        return attributes


class OpenTelemetrySpan:
    """A span that is current in its thread until it ends."""

    def __init__(self, tracer: OpenTelemetryTracer, span: trace.Span) -> None:
        self._tracer = tracer
        self._span = span
        self._context_token = context.attach(trace.set_span_in_context(span))

    def set_attributes(self, attributes: SpanAttributes) -> None:
        if self._span.is_recording():
            self._span.set_attributes(self._tracer.to_attributes(attributes))

    def end(self, error: BaseException | None) -> None:
        context.detach(self._context_token)
        if error is not None:
            kind = type(error).__name__
            self._span.set_attribute("error.type", kind)
            self._span.set_status(Status(StatusCode.ERROR, kind))
            message = {"exception.message": str(error)} if self._tracer.include_contents else {}
            self._span.add_event("exception", {"exception.type": kind, **message})
        self._span.end()


def _receipt_attributes(receipts: Any) -> Attributes:
    one = {"gen_ai.memory.record.id": receipts[0].event_id} if len(receipts) == 1 else {}
    return {"gen_ai.memory.record.count": len(receipts), **one}


def _hits_attributes(hits: Any) -> Attributes:
    attributes: Attributes = {
        "gen_ai.memory.record.count": len(hits.hits),
        "nexus.total": hits.total,
        "nexus.degraded": _part_names(hits.degraded),
    }
    for each in hits.strategies:
        attributes[f"nexus.{each.name}.seconds"] = each.seconds
        attributes[f"nexus.{each.name}.found"] = each.found
    return attributes


def _context_attributes(composed: Any) -> Attributes:
    receipt = composed.receipt
    return {
        "gen_ai.memory.record.count": len(receipt.shown),
        "nexus.tokens": receipt.tokens,
        "nexus.cached": receipt.cached,
        "nexus.degraded": _part_names(receipt.degraded),
    }


def _profile_attributes(profile: Any) -> Attributes:
    return {
        "gen_ai.provider.name": profile.provider,
        "gen_ai.request.model": profile.model,
        "gen_ai.embeddings.dimension.count": profile.dimension,
    }


def _usage_attributes(usage: Any) -> Attributes:
    return {
        "gen_ai.response.model": usage.model,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
    }


def _part_names(remarks: Any) -> list[str]:
    """Return the names of missing parts; the reasons may contain private data."""
    return sorted({remark.partition(":")[0] for remark in remarks})


def _records_json(result: Any) -> str:
    """Return the hits in the JSON form of the conventions."""
    hits = [{"id": h.memory.id, "content": h.text, "score": h.score} for h in result.hits]
    return json.dumps(hits, ensure_ascii=False)


ATTRIBUTE_READERS: Mapping[str, Callable[[Any], Attributes]] = {
    "receipts": _receipt_attributes,
    "found": _hits_attributes,
    "context": _context_attributes,
    "profile": _profile_attributes,
    "usage": _usage_attributes,
    "record": lambda record_id: (
        {"gen_ai.memory.record.id": record_id} if is_digest(record_id) else {}
    ),
    "model": lambda name: {"gen_ai.request.model": name},
    "events": lambda count: {"nexus.events": count},
    "texts": lambda count: {"nexus.texts": count},
    "job": lambda name: {"nexus.job": name},
    "forgotten": lambda report: {
        "gen_ai.memory.record.count": report.erased.events + report.erased.memories
    },
}
