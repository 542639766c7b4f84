"""Frozen records that are made by the hundred.

A frozen dataclass sets each of its fields by a call, past the guard that says it does not change.
Here a record has no guard until it is whole, so that its fields are simply set: half the time.
To tell many fields by name takes longer than all else; where each is set by hand, it is a tenth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, make_dataclass
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


def quickly(cls: type[T]) -> type[T]:
    """Makes records of this frozen dataclass, which has slots and is told its fields by name."""

    def whole(self: Any) -> None:
        self.__class__ = cls

    told: list[tuple[str, Any, Any]] = [
        (each.name, each.type, field(default=each.default, default_factory=each.default_factory))
        for each in fields(cls)  # type: ignore[arg-type]  # whoever comes here has fields
    ]
    made_whole = {"__post_init__": whole, "__doc__": cls.__doc__}
    open = make_dataclass(  # all else is the record's own
        cls.__name__, told, kw_only=True, repr=False, eq=False, namespace=made_whole
    )
    return _unguarded(cls, __init__=vars(open)["__init__"], __post_init__=whole)


def open_for(cls: type[T]) -> Callable[[], Any]:
    """Gives empty records of this frozen dataclass with slots, to set each field of by hand.

    Whoever has set them all says `made.__class__ = cls`, and it changes no more.
    """
    return partial(object.__new__, _unguarded(cls))


def _unguarded(cls: type[T], **more: object) -> type[T]:
    """The same, but its fields can be set."""
    free = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(cls.__name__, (cls,), {"__slots__": (), **free, **more})
