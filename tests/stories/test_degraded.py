"""Degraded, not dead: whatever is away, the rest still comes, soon, and says what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.loopback import Loopback, hang

from nexus import Nexus, Place
from nexus.config import EmbeddingSettings, LlmSettings, Settings
from nexus.core.breaker import FAILURES, State
from nexus.core.errors import EmbedderUnavailable, StoreUnavailable
from nexus.core.records import EmbeddingProfile
from nexus.embedders.hashing import HashingEmbedder
from nexus.recall.query import Search

QUESTION = "Which database did we choose for the ledger?"
QUICK = Search(model_wait_seconds=0.2)


class FarAway:
    """An embedder over a network that can be cut, or hang."""

    local = False

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
def embedder() -> FarAway:
    return FarAway()


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
def test_an_embedder_that_hangs_keeps_nobody_waiting(open_nexus: Open, embedder: FarAway) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    released = Event()
    embedder.trouble = released.wait

    try:
        started = time.perf_counter()
        found = room.recall(QUESTION)
        took = time.perf_counter() - started
    finally:
        released.set()

    assert took < 20  # it would hang for ever
    assert found[0].event_keys == ("choice",)
    assert found.degraded == ("meaning: no answer within 0.2 seconds",)


@pytest.mark.requirement("D22", "D24")
def test_after_three_failures_it_is_not_asked_any_more(open_nexus: Open, embedder: FarAway) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.trouble = away
    asked = embedder.asked

    remarks = [room.recall(f"{QUESTION} {n}").degraded for n in range(6)]

    assert embedder.asked - asked == FAILURES
    assert remarks[0] == ("meaning: the network is down",)
    assert "the embedder is away and not asked" in remarks[-1][0]
    assert room._parts.breakers.embedder.state is State.OPEN


@pytest.mark.requirement("D22")
def test_questions_asked_before_are_answered_although_it_is_away(
    open_nexus: Open, embedder: FarAway
) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    room.recall(QUESTION)
    embedder.trouble = away
    for n in range(4):
        room.recall(f"something else {n}")

    assert room.recall(QUESTION).degraded == ()


@pytest.mark.requirement("D24")
def test_a_context_comes_without_an_embedder_and_says_so(
    open_nexus: Open, embedder: FarAway
) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.trouble = away

    context = room.compose(QUESTION)

    assert any(remark.startswith("meaning: ") for remark in context.receipt.degraded)
    assert "PostgreSQL" in context.text
    assert not room.compose(QUESTION).receipt.cached  # what is degraded is for once


@pytest.mark.requirement("D24")
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize(
    ("trouble", "remark"),
    [
        (lambda _: 1 / 0, "it failed with ZeroDivisionError: division by zero"),
        (_raising(ConnectionError("refused")), "it failed with ConnectionError: refused"),
        (_raising(TimeoutError()), "it failed with TimeoutError: "),
        (_raising(OSError("no route")), "it failed with OSError: no route"),
        (_raising(ValueError("x" * 999)), f"it failed with ValueError: {'x' * 200}"),
        (lambda vectors: vectors * float("nan"), "its vectors hold something that is no number"),
        (lambda vectors: vectors[:, :5], "its vectors are (1, 5), not (1, 64)"),
    ],
    ids="division connection timeout network value nan dimension".split(),
)
def test_an_embedder_of_ones_own_may_fail_in_any_way(
    open_nexus: Open, embedder: FarAway, trouble: Callable[[Any], Any], remark: str, local: bool
) -> None:
    embedder.local = local
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.spoil = trouble

    context = room.compose(QUESTION)
    room.observe("alice", "The server is called Zeus, and it stands in Leeds.")

    assert context.receipt.degraded == (f"meaning: {remark}",)
    assert "PostgreSQL" in context.text
    assert room.recall("What is the server called?").hits[0].memory.text.startswith("The server")


@pytest.mark.requirement("D24")
def test_one_embedder_away_is_not_another_one_away(open_nexus: Open, embedder: FarAway) -> None:
    room = told(open_nexus, settings=Settings(search=QUICK), embedder=embedder)
    embedder.trouble = away
    for n in range(4):
        room.recall(f"{QUESTION} {n}")
    other = told(open_nexus, settings=Settings(search=QUICK), embedder=FarAway())

    assert other.recall(QUESTION).degraded == ()


@pytest.mark.slow
@pytest.mark.requirement("D22", "D24")
def test_a_provider_that_hangs_is_left_alone_by_everybody(
    open_nexus: Open, server: Loopback
) -> None:
    """Two memories with the same embedder and model share what one of them found out."""
    url = server.url
    settings = Settings(
        search=Search(model_wait_seconds=0.2, rewrite=("statement",)),
        llm=LlmSettings(provider="ollama", model="any", base_url=url, learn=False),
        embeddings=EmbeddingSettings(provider="ollama", model="any", base_url=url),
    )
    room = told(open_nexus, settings=settings, embedder=None)
    twin = told(open_nexus, settings=settings, embedder=None)
    server.script(*[hang()] * 20)

    for n in range(FAILURES):
        room.recall(f"{QUESTION} {n}")
    asked = len(server.requests)
    found = twin.recall(QUESTION)

    assert len(server.requests) == asked  # so it waited for neither
    remarks = {remark.partition(":")[0]: remark for remark in found.degraded}
    assert "the model is away and not asked" in remarks["statement"]
    assert "the embedder is away and not asked" in remarks["meaning"]


@pytest.mark.requirement("D24")
def test_a_window_that_is_away_is_missed_and_nothing_else(
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
def test_a_context_is_cached_until_somebody_says_something(open_nexus: Open, url: str) -> None:
    room = told(open_nexus, where=url)
    first = room.compose(QUESTION)
    again = room.compose(QUESTION)

    assert (first.receipt.cached, again.receipt.cached) == (False, True)
    assert again.text == first.text
    room.observe("bob", "We decided to use MySQL for the archive.")
    newer = room.compose(QUESTION)
    assert not newer.receipt.cached
    assert "MySQL" in newer.text
    assert room._parts.contexts.stats.hits == 1


@pytest.mark.requirement("D23")
def test_a_context_is_cached_for_five_minutes(nexus: Nexus, clock: Clock) -> None:
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "We decided to use PostgreSQL for the ledger.")
    room.compose(QUESTION)

    clock.advance(minutes=4)
    assert room.compose(QUESTION).receipt.cached
    clock.advance(minutes=2)
    assert not room.compose(QUESTION).receipt.cached


@pytest.mark.requirement("D23")
def test_another_process_that_writes_ends_it_too(open_nexus: Open, shared_url: str) -> None:
    """Two stores of one memory stand for two processes: nothing tells the one of the other."""
    room = told(open_nexus, where=shared_url)
    room.compose(QUESTION)
    assert room.compose(QUESTION).receipt.cached
    other = open_nexus(shared_url).workspace("acme").room("design")

    other.observe("bob", "We decided to use MySQL for the archive.")

    context = room.compose(QUESTION)
    assert not context.receipt.cached
    assert "MySQL" in context.text


@pytest.mark.requirement("D23")
def test_what_is_said_elsewhere_is_no_reason_to_compose_again(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    room, dm = acme.room("design", participants=["alice", "bob"]), acme.dm("bob")
    room.observe("alice", "We decided to use PostgreSQL for the ledger.")
    room.compose(QUESTION)

    dm.observe("bob", "Between us, I decided to use MySQL.")
    dm.note("mine", "MySQL")
    acme.flush()

    assert room.compose(QUESTION).receipt.cached


@pytest.mark.requirement("D23")
def test_forgetting_empties_the_cache(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    room = acme.room("design", participants=["alice", "bob"])
    room.observe("alice", "We decided to use PostgreSQL for the ledger.", key="choice")
    room.compose(QUESTION)
    assert room._parts.contexts.stats.contexts == 1

    acme.forget(user="alice")

    assert room._parts.contexts.stats.contexts == 0
    assert "PostgreSQL" not in room.compose("Which one did we choose?").text


def test_of_a_long_reason_the_beginning_is_kept_without_secrets(
    open_nexus: Open, embedder: FarAway
) -> None:
    def refuses() -> None:
        raise EmbedderUnavailable("AKIAIOSFODNN7EXAMPLE is refused" + " and refused" * 1_000)

    embedder.trouble = refuses
    workspace = open_nexus(":memory:", embedder=embedder).workspace("acme")
    workspace.room("design").observe("alice", "The kettle is red.")
    workspace.flush()

    (waiting,) = workspace.waiting()

    assert waiting.error is not None
    assert waiting.error.startswith("[redacted: api key] is refused and")
    assert len(waiting.error) == 500


@pytest.mark.requirement("X3", "X10")
def test_a_memory_that_was_closed_acknowledges_nothing(open_nexus: Open, url: str) -> None:
    nexus = open_nexus(url)
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "Lunch is at noon.")

    nexus.close()

    with pytest.raises(StoreUnavailable, match="closed"):
        room.observe("alice", "After closing.")
    with pytest.raises(StoreUnavailable, match="closed"):
        room.recall("lunch")
    with pytest.raises(StoreUnavailable, match="closed"):
        room.note("key", "value")
