"""Per-thread hooks that run inside the next write transaction, and per-thread leases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from ..runtime.leases import Lease

S = TypeVar("S")  # the transaction
R = TypeVar("R")


class WriteHooks(threading.local, Generic[S]):
    """Hooks that run in the next write transaction of this thread."""

    def __init__(self) -> None:
        self.hooks: list[Callable[[S, Any], None]] = []

    def __bool__(self) -> bool:
        return bool(self.hooks)

    @contextmanager
    def add_hook(self, hook: Callable[[S, Any], None]) -> Iterator[None]:
        """Run `hook(transaction, value)` in the first successful write inside the block."""
        self.hooks.append(hook)
        try:
            yield
        finally:
            if hook in self.hooks:
                self.hooks.remove(hook)

    def wrap_work(self, work: Callable[[S], R]) -> Callable[[S], R]:
        """Return `work` followed by all hooks; call `clear` after the commit."""
        hooks = tuple(self.hooks)

        def run_with_hooks(session: S) -> R:
            value = work(session)
            for hook in hooks:
                hook(session, value)
            return value

        return run_with_hooks

    def clear(self) -> None:
        self.hooks.clear()


class HeldLeases(threading.local):
    """Leases that each thread of a store holds."""

    leases: tuple[Lease, ...] = ()  # a write of this thread fails if one is lost

    @contextmanager
    def hold(self, leases: Sequence[Lease]) -> Iterator[None]:
        """Hold leases inside the block, in addition to those of outer blocks."""
        before = self.leases
        self.leases = (*before, *leases)
        try:
            yield
        finally:
            self.leases = before

    def release(self, leases: Iterable[Lease]) -> None:
        """Stop checking leases whose task is finished or deferred."""
        if self.leases:
            gone = set(leases)
            self.leases = tuple(each for each in self.leases if each not in gone)
