"""Which leases each thread holds. A store asks in the transaction of each write."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ..core.leases import Lease


class Holding(threading.local):
    """The leases of one store's threads."""

    leases: tuple[Lease, ...] = ()  # those that this thread's writes depend on

    @contextmanager
    def hold(self, leases: Sequence[Lease]) -> Iterator[None]:
        """Inside another one, both are held."""
        before = self.leases
        self.leases = (*before, *leases)
        try:
            yield
        finally:
            self.leases = before

    def let_go(self, leases: Iterable[Lease]) -> None:
        """This work is done, or put off: nothing depends on it any longer."""
        if self.leases:
            gone = set(leases)
            self.leases = tuple(each for each in self.leases if each not in gone)
