"""Which leases each thread holds. A store asks in the transaction of each write."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ..core.leases import Lease


class Holding:
    """The leases of one store's threads."""

    def __init__(self) -> None:
        self._here = threading.local()

    @property
    def leases(self) -> tuple[Lease, ...]:
        """Those that this thread's writes depend on."""
        held: tuple[Lease, ...] = getattr(self._here, "leases", ())
        return held

    @contextmanager
    def hold(self, leases: Sequence[Lease]) -> Iterator[None]:
        """Inside another one, both are held."""
        before = self.leases
        self._here.leases = (*before, *leases)
        try:
            yield
        finally:
            self._here.leases = before

    def let_go(self, leases: Iterable[Lease]) -> None:
        """This work is done, or put off: nothing depends on it any longer."""
        if self.leases:
            gone = set(leases)
            self._here.leases = tuple(each for each in self.leases if each not in gone)
