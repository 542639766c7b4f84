"""What a context is asked for with, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ..core.canonical import clean_text, clean_time
from ..core.errors import InvalidInput
from ..core.ids import check_name
from ..recall.query import LONGEST_QUESTION
from .settings import LEAST_BUDGET, MOST_BUDGET, MOST_EVENTS

if TYPE_CHECKING:
    from .messages import Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One call: the question, and whatever else was said about the answer."""

    question: str
    budget: int | None = None
    window: int | None = None
    model: str | None = None
    as_of: datetime | None = None
    explain: bool = False
    said: Sequence[Said] = ()  # messages the caller shows already
    thread: str | None = None


def checked(wish: Wish) -> Wish:
    """The same, with everything a caller may get wrong looked at."""
    question = clean_text(wish.question, "the question")[:LONGEST_QUESTION]
    _check_number("budget", wish.budget, LEAST_BUDGET, MOST_BUDGET)
    _check_number("window", wish.window, 1, MOST_EVENTS)
    if wish.model is not None and not isinstance(wish.model, str):
        raise InvalidInput(f"a model is named by a text, not {wish.model!r:.80}")
    if wish.thread is not None:
        check_name(wish.thread, "the thread")
    as_of = None if wish.as_of is None else clean_time(wish.as_of, "as_of")
    return replace(wish, question=question, as_of=as_of)


def _check_number(name: str, value: int | None, least: int, most: int) -> None:
    if value is not None and (type(value) is not int or not least <= value <= most):
        raise InvalidInput(f"{name} lies between {least} and {most}, not {value!r:.80}")
