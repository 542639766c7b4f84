"""Context cache: keys, expiry, eviction and invalidation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem.compose.caching.context_cache import ContextCache, context_key
from nexusmem.compose.request import ContextRequest
from nexusmem.core.access import Viewer
from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.records.context import Context, ContextReceipt
from nexusmem.observe.chat_messages import ChatMessage

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ACME, OTHER = WorkspaceId("acme"), WorkspaceId("other")
ALICE = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"))
ASKED = ContextRequest(question="What did we decide?")


class World:
    """A fake store with an epoch and a clock that counts compositions."""

    def __init__(self) -> None:
        self.now, self.epoch, self.composed = NOON, 1, 0
        self.degraded: tuple[str, ...] = ()
        self.length = 10
        self.cache = ContextCache(lambda: self.now, max_bytes=10_000)

    def compose(self, epoch: int | None = None) -> tuple[Context, int]:
        del epoch  # unused: the epoch is read again
        self.composed += 1
        receipt = ContextReceipt(
            id=f"{self.composed}",
            at=self.now,
            question="",
            budget=1,
            tokens=1,
            plan={},
            degraded=self.degraded,
        )
        return Context(sections=(), receipt=receipt, text="x" * self.length), self.epoch

    def ask(self, viewer: Viewer = ALICE, wish: ContextRequest = ASKED) -> Context:
        return self.cache.get_or_compose(viewer, wish, lambda: self.epoch, self.compose)


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.requirement("D23")
def test_same_request_returns_cached_context(world: World) -> None:
    first, second = world.ask(), world.ask()

    assert world.composed == 1
    assert (first.receipt.cached, second.receipt.cached) == (False, True)
    assert first.id == second.id
    assert first.text == second.text
    assert (world.cache.stats.hits, world.cache.stats.misses) == (1, 1)
    assert world.cache.stats.hit_rate == 0.5


@pytest.mark.requirement("D23")
def test_write_invalidates_context(world: World) -> None:
    world.ask()
    world.epoch += 1

    assert not world.ask().receipt.cached


@pytest.mark.requirement("D23")
def test_entry_expires_after_ttl_even_if_read_often(world: World) -> None:
    world.ask()
    for _ in range(4):
        world.now += timedelta(minutes=1)
        assert world.ask().receipt.cached
    world.now += timedelta(minutes=1)

    assert not world.ask().receipt.cached


def test_entry_from_the_future_is_expired(world: World) -> None:
    world.ask()
    world.now -= timedelta(seconds=1)

    assert not world.ask().receipt.cached


def elsewhere() -> Iterator[tuple[Viewer, ContextRequest]]:
    bob = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("bob"))
    tenant = Viewer(workspace=OTHER, agent=AgentId("scribe"), user=UserId("alice"))
    agent = Viewer(workspace=ACME, agent=AgentId("other"), user=UserId("alice"))
    project = Viewer(
        workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"), project="apollo"
    )
    yield from ((viewer, ASKED) for viewer in (bob, tenant, agent, project))
    for wish in (
        ContextRequest(question="What did we decide"),
        ContextRequest(question=ASKED.question, budget=500),
        ContextRequest(question=ASKED.question, recent_messages=3),
        ContextRequest(question=ASKED.question, model="claude"),
        ContextRequest(question=ASKED.question, as_of=NOON),
        ContextRequest(question=ASKED.question, explain=True),
        ContextRequest(question=ASKED.question, thread="t"),
        ContextRequest(question=ASKED.question, messages=[ChatMessage(role="user", text="hello")]),
    ):
        yield ALICE, wish


@pytest.mark.parametrize(("viewer", "wish"), list(elsewhere()))
def test_other_viewer_or_request_is_a_miss(
    world: World, viewer: Viewer, wish: ContextRequest
) -> None:
    world.ask()

    assert not world.ask(viewer, wish).receipt.cached
    assert context_key(viewer, wish, 1) != context_key(ALICE, ASKED, 1)


def test_participant_order_does_not_collide_in_the_key() -> None:
    def viewer(*people: str) -> Viewer:
        return Viewer(
            workspace=ACME,
            agent=AgentId("scribe"),
            room="design",
            participants=tuple(map(UserId, people)),
        )

    assert context_key(viewer("a", "b"), ASKED, 1) != context_key(viewer("a"), ASKED, 1)
    assert context_key(viewer("sees"), ASKED, 1) != context_key(viewer(), ASKED, 1)


def test_write_during_composition_is_not_missed(world: World) -> None:
    def compose(_: int | None) -> tuple[Context, int]:
        context, epoch = world.compose()
        world.epoch += 1  # a write during rendering
        return context, epoch

    world.cache.get_or_compose(ALICE, ASKED, lambda: world.epoch, compose)

    assert not world.ask().receipt.cached


def test_degraded_context_is_not_cached(world: World) -> None:
    world.degraded = ("vector: away",)
    world.ask()
    world.degraded = ()

    assert not world.ask().receipt.cached


def test_unavailable_epoch_composes_without_cache(world: World) -> None:
    def away() -> int:
        raise StoreUnavailable("away")

    assert world.cache.get_or_compose(ALICE, ASKED, away, world.compose).id == "1"


def test_eviction_removes_outdated_contexts_of_the_workspace(world: World) -> None:
    tenant = Viewer(workspace=OTHER, agent=AgentId("scribe"), user=UserId("alice"))
    world.ask()
    world.ask(tenant)
    world.epoch += 1  # an erased event was visible to alice

    world.cache.evict_workspace(ACME)

    assert world.cache.stats.contexts == 1
    assert not world.ask().receipt.cached


@pytest.mark.requirement("X2")
def test_eviction_keeps_contexts_that_are_still_current(world: World) -> None:
    world.ask()

    world.cache.evict_workspace(ACME)

    assert world.ask().receipt.cached


def test_eviction_during_composition_prevents_caching(world: World) -> None:
    def compose(_: int | None) -> tuple[Context, int]:
        made = world.compose()
        world.cache.evict_workspace(ACME)
        return made

    world.cache.get_or_compose(ALICE, ASKED, lambda: world.epoch, compose)

    assert world.cache.stats.contexts == 0


def test_least_recently_used_context_is_evicted_over_max_bytes(world: World) -> None:
    world.length = 1_500  # 3,000 bytes each: three of them fit
    wishes = [ContextRequest(question=f"{n}?") for n in range(4)]
    for wish in wishes[:3]:
        world.ask(ALICE, wish)
    world.ask(ALICE, wishes[0])

    world.ask(ALICE, wishes[3])

    assert world.cache.stats.bytes <= 10_000
    assert world.ask(ALICE, wishes[0]).receipt.cached
    assert not world.ask(ALICE, wishes[1]).receipt.cached


def test_context_larger_than_max_bytes_is_not_cached(world: World) -> None:
    world.length = 1_000_000
    world.ask()

    assert world.cache.stats.contexts == 0


def test_zero_seconds_disables_the_cache(world: World) -> None:
    world.cache = ContextCache(lambda: world.now, seconds=0)

    assert not world.ask().receipt.cached
    assert not world.ask().receipt.cached
