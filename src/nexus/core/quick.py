"""Frozen records that are made by the hundred.

A frozen dataclass sets each of its fields by a call, past the guard that says it does not change.
Here a record has no guard until it is whole, so that its fields are simply set: half the time.
"""

from __future__ import annotations

from dataclasses import field, fields, make_dataclass
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
    unguarded = {
        "__slots__": (),
        "__init__": vars(open)["__init__"],
        "__post_init__": whole,
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    return type(cls.__name__, (cls,), unguarded)
