"""What Nexus is tested with, shipped: a store of your own can be held to the same promises.

`StoreSuite` are the contracts, `worlds` makes up small worlds, and `run_leaktest` looks for
anything one person's secrets change for another. Install with
`pip install 'nexus-memory[testing]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .leaks import LeakReport, Violation, run_leaktest
    from .stores import StoreSuite

__all__ = ["LeakReport", "StoreSuite", "Violation", "run_leaktest"]


def __getattr__(name: str) -> Any:
    """The suite needs pytest, the leak test Hypothesis; each loads when somebody asks for it."""
    if name == "StoreSuite":
        from . import stores  # noqa: PLC0415

        return stores.StoreSuite
    if name in __all__:
        from . import leaks  # noqa: PLC0415

        return getattr(leaks, name)
    raise AttributeError(f"module 'nexus.testing' has no attribute {name!r}")
