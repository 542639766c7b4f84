"""Degradation: with a failing part, results come soon and name the missing part."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.loopback import Loopback, hang

from nexusmem import Nexus, Place
from nexusmem.config.settings import EmbeddingSettings, LlmSettings, Settings
from nexusmem.core.errors import EmbedderUnavailable, StoreUnavailable
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.recall.query import SearchSettings
from nexusmem.runtime.breaker import FAILURE_LIMIT, BreakerState

QUESTION = "Which database did we choose for the ledger?"
QUICK = SearchSettings(model_timeout_seconds=0.2)


class RemoteEmbedder:
    """An embedder with a network that can fail or hang."""

    is_local = False

    def __init__(self) -> None:
        self._inner = HashingEmbedder()
        self.trouble: Callable[[], object] = lambda: None
        self.spoil: Callable[[Any], Any] = lambda vectors: vectors
        self.asked = 0

    @property
    def profile(self) -> EmbeddingProfile:
        return self._inner.profile

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += 1
        self.trouble()
        return self.spoil(self._inner.embed(texts))


def _raising(error: Exception) -> Callable[[Any], Any]:
    def fail(_: Any) -> Any:
        raise error

    return fail


def away() -> None:
    raise EmbedderUnavailable("the network is down")


@pytest.fixture
def embedder() -> RemoteEmbedder:
    return RemoteEmbedder()


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


def told(open_nexus: Open, **options: Any) -> Place:
    nexus = open_nexus(**options)
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "We decided to use PostgreSQL for the ledger.", key="choice")
    room.observe("bob", "The cafeteria serves soup on Mondays.", key="soup")
    room.flush()
    return room


@pytest.mark.requirement("D24")
def test_hanging_embedder_times_out(open_nexus: Open, embedder: RemoteEmbedder) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    released = Event()
    embedder.trouble = released.wait

    try:
        started = time.perf_counter()
        found = room.recall(QUESTION)
        took = time.perf_counter() - started
    finally:
        released.set()

    assert took < 20  # would hang forever
    assert found[0].event_keys == ("choice",)
    assert found.degraded == ("vector: no answer within 0.2 seconds",)


@pytest.mark.requirement("D22", "D24")
def test_circuit_opens_after_three_failures(open_nexus: Open, embedder: RemoteEmbedder) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.trouble = away
    asked = embedder.asked

    remarks = [room.recall(f"{QUESTION} {n}").degraded for n in range(6)]

    assert embedder.asked - asked == FAILURE_LIMIT
    assert remarks[0] == ("vector: the network is down",)
    assert "the embedder is unavailable (circuit open)" in remarks[-1][0]
    assert room._parts.breakers.embedder.state is BreakerState.OPEN


@pytest.mark.requirement("D22")
def test_cached_query_vectors_work_without_embedder(
    open_nexus: Open, embedder: RemoteEmbedder
) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    room.recall(QUESTION)
    embedder.trouble = away
    for n in range(4):
        room.recall(f"something else {n}")

    assert room.recall(QUESTION).degraded == ()


@pytest.mark.requirement("D24")
def test_context_without_embedder_reports_degradation(
    open_nexus: Open, embedder: RemoteEmbedder
) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.trouble = away

    context = room.compose(QUESTION)

    assert any(remark.startswith("vector: ") for remark in context.receipt.degraded)
    assert "PostgreSQL" in context.text
    assert not room.compose(QUESTION).receipt.cached  # degraded contexts are not cached


@pytest.mark.requirement("D24")
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize(
    ("trouble", "remark"),
    [
        (lambda _: 1 / 0, "the embedder failed with ZeroDivisionError: division by zero"),
        (_raising(ConnectionError("refused")), "the embedder failed with ConnectionError: refused"),
        (_raising(TimeoutError()), "the embedder failed with TimeoutError: "),
        (_raising(OSError("no route")), "the embedder failed with OSError: no route"),
        (_raising(ValueError("x" * 999)), f"the embedder failed with ValueError: {'x' * 200}"),
        (
            lambda vectors: vectors * float("nan"),
            "the embedder returned a vector that is not finite",
        ),
        (
            lambda vectors: vectors[:, :5],
            "the embedder returned vectors of shape (1, 5), expected (1, 64)",
        ),
    ],
    ids="division connection timeout network value nan dimension".split(),
)
def test_user_supplied_embedder_may_raise_anything(
    open_nexus: Open,
    embedder: RemoteEmbedder,
    trouble: Callable[[Any], Any],
    remark: str,
    local: bool,
) -> None:
    embedder.is_local = local
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.spoil = trouble

    context = room.compose(QUESTION)
    room.observe("alice", "The server is called Zeus, and it stands in Leeds.")

    assert context.receipt.degraded == (f"vector: {remark}",)
    assert "PostgreSQL" in context.text
    assert room.recall("What is the server called?").hits[0].memory.text.startswith("The server")


@pytest.mark.requirement("D24")
def test_embedders_have_separate_breakers(open_nexus: Open, embedder: RemoteEmbedder) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.trouble = away
    for n in range(4):
        room.recall(f"{QUESTION} {n}")
    other = told(open_nexus, settings=Settings(search=QUICK), embedder=RemoteEmbedder())

    assert other.recall(QUESTION).degraded == ()


@pytest.mark.slow
@pytest.mark.requirement("D22", "D24")
def test_memories_share_breaker_of_provider(open_nexus: Open, server: Loopback) -> None:
    """Two memories with the same embedder and model share one circuit breaker."""
    url = server.url
    settings = Settings(
        search=SearchSettings(model_timeout_seconds=0.2, query_rewrites=("statement",)),
        llm=LlmSettings(provider="ollama", model="any", base_url=url, extract_facts=False),
        embeddings=EmbeddingSettings(provider="ollama", model="any", base_url=url),
    )
    room = told(open_nexus, settings=settings, embedder=None)
    twin = told(open_nexus, settings=settings, embedder=None)
    server.script(*[hang()] * 20)

    for n in range(FAILURE_LIMIT):
        room.recall(f"{QUESTION} {n}")
    asked = len(server.requests)
    found = twin.recall(QUESTION)

    assert len(server.requests) == asked  # no request was sent
    remarks = {remark.partition(":")[0]: remark for remark in found.degraded}
    assert "the model is unavailable (circuit open)" in remarks["statement"]
    assert "the embedder is unavailable (circuit open)" in remarks["vector"]


@pytest.mark.requirement("D24")
def test_unreachable_window_degrades_only_window(
    open_nexus: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = told(open_nexus)

    def gone(*_: object, **__: object) -> None:
        raise StoreUnavailable("the window is gone")

    window = room._parts.store.window
    for name in ("find", "put"):
        monkeypatch.setattr(window, name, gone)
    context = room.compose(QUESTION)

    assert "PostgreSQL" in context.text
    assert any("the window is gone" in remark for remark in context.receipt.degraded)


@pytest.mark.requirement("D23")
def test_context_is_cached_until_next_event(open_nexus: Open, url: str) -> None:
    room = told(open_nexus, where=url)
    first = room.compose(QUESTION)
    again = room.compose(QUESTION)

    assert (first.receipt.cached, again.receipt.cached) == (False, True)
    assert again.text == first.text
    room.observe("bob", "We decided to use MySQL for the archive.")
    newer = room.compose(QUESTION)
    assert not newer.receipt.cached
    assert "MySQL" in newer.text
    assert room._parts.context_cache.stats.hits == 1


@pytest.mark.requirement("D23")
def test_context_cache_expires_after_five_minutes(nexus: Nexus, clock: Clock) -> None:
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "We decided to use PostgreSQL for the ledger.")
    room.compose(QUESTION)

    clock.advance(minutes=4)
    assert room.compose(QUESTION).receipt.cached
    clock.advance(minutes=2)
    assert not room.compose(QUESTION).receipt.cached


@pytest.mark.requirement("D23")
def test_write_of_another_process_invalidates_cache(open_nexus: Open, shared_url: str) -> None:
    """Two stores of one memory simulate two processes without communication."""
    room = told(open_nexus, where=shared_url)
    room.compose(QUESTION)
    assert room.compose(QUESTION).receipt.cached
    other = open_nexus(shared_url).workspace("acme").room("design")

    other.observe("bob", "We decided to use MySQL for the archive.")

    context = room.compose(QUESTION)
    assert not context.receipt.cached
    assert "MySQL" in context.text


@pytest.mark.requirement("D23")
def test_event_in_another_scope_keeps_cache(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    room, dm = acme.room("design", participants=["alice", "bob"]), acme.dm("bob")
    room.observe("alice", "We decided to use PostgreSQL for the ledger.")
    room.compose(QUESTION)

    dm.observe("bob", "Between us, I decided to use MySQL.")
    dm.set_note("mine", "MySQL")
    acme.flush()

    assert room.compose(QUESTION).receipt.cached


@pytest.mark.requirement("D23")
def test_forget_clears_cache(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    room = acme.room("design", participants=["alice", "bob"])
    room.observe("alice", "We decided to use PostgreSQL for the ledger.", key="choice")
    room.compose(QUESTION)
    assert room._parts.context_cache.stats.contexts == 1

    acme.forget(user="alice")

    assert room._parts.context_cache.stats.contexts == 0
    assert "PostgreSQL" not in room.compose("Which one did we choose?").text


def test_long_reason_is_truncated_and_masked(open_nexus: Open, embedder: RemoteEmbedder) -> None:
    def refuses() -> None:
        raise EmbedderUnavailable("AKIAIOSFODNN7EXAMPLE is refused" + " and refused" * 1_000)

    embedder.trouble = refuses
    workspace = open_nexus(":memory:", embedder=embedder).workspace("acme")
    workspace.room("design").observe("alice", "The kettle is red.")
    workspace.flush()

    (waiting,) = workspace.pending_work()

    assert waiting.error is not None
    assert waiting.error.startswith("[redacted: api key] is refused and")
    assert len(waiting.error) == 500


@pytest.mark.requirement("X3", "X10")
def test_closed_memory_rejects_writes(open_nexus: Open, url: str) -> None:
    nexus = open_nexus(url)
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "Lunch is at noon.")

    nexus.close()

    with pytest.raises(StoreUnavailable, match="closed"):
        room.observe("alice", "After closing.")
    with pytest.raises(StoreUnavailable, match="closed"):
        room.recall("lunch")
    with pytest.raises(StoreUnavailable, match="closed"):
        room.set_note("key", "value")
