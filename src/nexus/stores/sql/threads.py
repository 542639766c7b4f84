"""Conversations, by number: a name that callers gave is written once for all its memories."""

from __future__ import annotations

from .session import Session


def thread_number(session: Session, number: int, label: int, name: str) -> int:
    named = {"workspace": number, "label": label, "name": name}
    row = session.run("thread", named).fetchone()
    if row:
        return int(row[0])
    (thread,) = session.run("add_thread", named).fetchone()
    session.run("threads_counted", {**named, "more": 1})
    return int(thread)


def drop_empty_thread(session: Session, where: dict[str, int]) -> None:
    """A thread's name is the caller's word: it goes with the last memory of the thread."""
    gone = session.run("drop_empty_thread", where).rowcount
    if gone:
        session.run("threads_counted", {**where, "more": -1})
