"""Connection: the facts that lead from one name in a question to the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core.access import Grant
from ...core.derive import normalize_name
from ...core.protocols.store import Store
from ...core.records import Memory
from ..question_intent import Intent, find_intent
from .neighbourhood import find_connection
from .question_names import QuestionName, find_question_names


def find_asked_connection(
    store: Store, grant: Grant, question: str, people: Iterable[str] = (), *, now: datetime
) -> list[Memory]:
    """Return the facts between the two names of a question, in order.

    Empty if the question does not ask how two known names are connected, or if no path is known.
    """
    intent = find_intent(question)
    if intent.intent is not Intent.CONNECTION:
        return []
    with store.snapshot():
        names = find_question_names(store, grant, intent.subject, people)
        return connect_names(store, grant, names, now=now)


def connect_names(
    store: Store, grant: Grant, names: Sequence[QuestionName], *, now: datetime
) -> list[Memory]:
    """Return the facts of the shortest path between two names; empty without one."""
    if len(names) != 2:
        return []
    first, second = (_spell(each) for each in names)
    return [each.fact for each in find_connection(store, grant, first, second, now=now)]


def _spell(name: QuestionName) -> list[str]:
    return [name.name, *sorted(name.spellings - {normalize_name(name.name)})]
