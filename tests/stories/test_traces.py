"""Spans as an OpenTelemetry SDK receives them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from nexusmem import AsyncNexus, Conflict, Nexus, NotFound
from nexusmem.config.settings import Settings, TelemetrySettings

Open = Callable[..., Nexus]
Spans = Callable[[str], list[ReadableSpan]]
CANARY = "zanzibar"


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """A process can have one tracer provider only."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[Spans]:
    """Return the ended spans of this name."""
    exporter.clear()
    yield lambda name: [each for each in exporter.get_finished_spans() if each.name == name]
    exporter.clear()


def traced(open_nexus: Open, **telemetry: bool) -> Nexus:
    settings = Settings(telemetry=TelemetrySettings(traces=True, **telemetry))
    return open_nexus(":memory:", settings=settings)


def children(spans: list[ReadableSpan], parent: ReadableSpan) -> set[str]:
    assert parent.context is not None
    ours = [each for each in spans if each.parent and parent.context]
    return {each.name for each in ours if each.parent.span_id == parent.context.span_id}


def test_operations_use_convention_names(open_nexus: Open, spans: Spans) -> None:
    workspace = traced(open_nexus, workspace_names=True).workspace("acme")
    room = workspace.room("design")
    receipt = room.observe("alice", "The kettle is red.")
    found = room.recall("kettle")
    workspace.forget(event=receipt)

    (created,) = spans("create_memory")
    (searched,) = spans("search_memory")
    (deleted,) = spans("delete_memory")
    assert spans("upsert_memory")
    assert created.kind is SpanKind.CLIENT
    assert created.attributes == {
        "gen_ai.operation.name": "create_memory",
        "gen_ai.provider.name": "nexus",
        "gen_ai.memory.store.id": "acme",
        "gen_ai.memory.record.count": 1,
        "gen_ai.memory.record.id": receipt.event_id,
    }
    told = dict(searched.attributes or {})
    assert told["gen_ai.operation.name"] == "search_memory"
    assert told["gen_ai.memory.record.count"] == len(found) == 1
    assert (told["nexus.keyword.found"], told["nexus.degraded"]) == (1, ())
    assert told["nexus.keyword.seconds"] > 0
    assert deleted.attributes["gen_ai.memory.record.count"] >= 2


def test_steps_are_child_spans(
    open_nexus: Open, spans: Spans, exporter: InMemorySpanExporter, tmp_path
) -> None:
    settings = Settings(telemetry=TelemetrySettings(traces=True))
    room = open_nexus(str(tmp_path / "m.db"), settings=settings).workspace("acme").room("design")
    with trace.get_tracer("app").start_as_current_span("agent") as agent:
        room.observe("alice", "The kettle is red.")
        room.recall("kettle")
        room.compose("Which kettle?")

    every = list(exporter.get_finished_spans())
    (created,), (searched,), (composed,) = map(
        spans, ("create_memory", "search_memory", "nexus.compose")
    )
    for each in (created, searched, composed):
        assert each.parent is not None
        assert each.parent.span_id == agent.get_span_context().span_id
    assert children(every, created) == {"nexus.store.append"}
    techniques = {f"nexus.recall.{name}" for name in ("keyword", "vector", "timeline", "graph")}
    assert techniques | {"upsert_memory", "nexus.recall.wording"} <= children(every, searched)
    assert {"nexus.compose.plan", "nexus.compose.recall"} <= children(every, composed)
    (vector, *_) = spans("nexus.recall.vector")
    assert "embeddings" in children(every, vector)


def test_embedding_span_names_the_model(open_nexus: Open, spans: Spans) -> None:
    room = traced(open_nexus).workspace("acme").room("design")
    room.recall("kettle")

    (made, *_) = spans("embeddings")

    assert made.attributes is not None
    assert made.attributes["gen_ai.provider.name"] == "hashing"
    assert made.attributes["gen_ai.request.model"] == "terms"
    assert made.attributes["gen_ai.embeddings.dimension.count"] > 0


def test_text_given_as_id_is_not_in_the_span(open_nexus: Open, spans: Spans) -> None:
    room = traced(open_nexus).workspace("acme").room("design")
    room.remember("The kettle is red.")
    id = room.recall("kettle")[0].memory.id
    room.get(id)
    with pytest.raises(NotFound):
        room.get(CANARY)

    known, unknown = spans("nexus.get")

    assert known.attributes is not None
    assert known.attributes["gen_ai.memory.record.id"] == id
    assert CANARY not in unknown.to_json()


def test_error_span_has_no_message(open_nexus: Open, spans: Spans) -> None:
    room = traced(open_nexus).workspace("acme").room("design")
    room.observe("alice", "The kettle is red.", key=CANARY)
    with pytest.raises(Conflict, match=CANARY):
        room.observe("alice", "The kettle is blue.", key=CANARY)

    _, failed = spans("create_memory")

    assert failed.status.status_code is StatusCode.ERROR
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == failed.status.description == "Conflict"
    assert [each.name for each in failed.events] == ["exception"]
    assert CANARY not in failed.to_json()


def test_spans_have_no_contents_by_default(
    open_nexus: Open, spans: Spans, exporter: InMemorySpanExporter
) -> None:
    def use(nexus: Nexus) -> str:
        exporter.clear()
        name = f"x-{CANARY}"
        room = nexus.workspace(name).room(name, participants=[name])
        room.observe(name, f"The {CANARY} kettle is red.", thread=name, tags=[CANARY])
        room.recall(f"Which {CANARY} kettle?")
        room.compose(f"Where is {CANARY}?")
        with pytest.raises(NotFound):
            room.entity(f"nobody called {CANARY}")
        return "".join(each.to_json() for each in exporter.get_finished_spans())

    assert CANARY not in use(traced(open_nexus))
    assert CANARY in use(traced(open_nexus, trace_contents=True))
    (asked,) = spans("search_memory")
    told = dict(asked.attributes or {})
    assert told["gen_ai.memory.query.text"] == f"Which {CANARY} kettle?"
    (record,) = json.loads(str(told["gen_ai.memory.records"]))
    assert record["content"] == f"The {CANARY} kettle is red."
    assert {*record} == {"id", "content", "score"}
    assert "gen_ai.memory.store.id" not in told


async def test_async_client_continues_the_trace(spans: Spans) -> None:
    settings = Settings(telemetry=TelemetrySettings(traces=True))
    async with await AsyncNexus.open(":memory:", settings=settings, background=False) as nexus:
        with trace.get_tracer("app").start_as_current_span("agent") as agent:
            await nexus.workspace("acme").room("design").observe("alice", "The kettle is red.")

    (created,) = spans("create_memory")
    assert created.parent is not None
    assert created.parent.span_id == agent.get_span_context().span_id


def test_nothing_is_traced_by_default(open_nexus: Open, exporter: InMemorySpanExporter) -> None:
    exporter.clear()
    room = open_nexus(":memory:").workspace("acme").room("design")
    room.observe("alice", "The kettle is red.")
    room.recall("kettle")

    assert exporter.get_finished_spans() == ()


LOADS = """
import sys
from nexusmem import Nexus
with Nexus.open(":memory:", background=False) as nexus:
    nexus.workspace("acme").room("design").observe("alice", "The kettle is red.")
print(any(name.startswith("opentelemetry") for name in sys.modules))
"""


@pytest.mark.slow
def test_opentelemetry_is_not_imported_by_default() -> None:
    said = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"
