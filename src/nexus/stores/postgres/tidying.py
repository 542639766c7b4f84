"""One VACUUM for all who wait for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock


class Tidying:
    """Whoever comes while tables are tidied waits for the next time, together with all others.

    What somebody erased before coming here is in a time that begins afterwards. If that does not
    work, those who waited for it try it themselves.
    """

    def __init__(self, vacuum: Callable[[Sequence[str]], None]) -> None:
        self._vacuum = vacuum
        self._turn = Lock()  # one at a time
        self._asked = Lock()
        self._wanted: set[str] = set()
        self._begun = 0  # how many times
        self._worked = 0  # the last of them that worked

    def __call__(self, tables: Sequence[str]) -> None:
        with self._asked:
            self._wanted.update(tables)
            ours = self._begun + 1
        with self._turn:
            with self._asked:
                if self._worked >= ours:
                    return
                chosen, self._wanted = sorted(self._wanted.union(tables)), set()
                self._begun += 1
            self._vacuum(chosen)
            self._worked = self._begun
