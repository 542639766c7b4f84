"""Test kit: conformance suites for third-party stores and embedders, and a leak test for stores.

`StoreSuite` checks the contracts of a store, `EmbedderSuite` those of an embedder. `viewer_groups`
generates small worlds for Hypothesis, and `run_leaktest` searches for any effect that one user's
secrets have on another user. Install with `pip install 'nexusmem[testing]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .leaks.state_machine import LeakReport, Violation, run_leaktest
    from .suites.embedder import EmbedderSuite
    from .suites.store import StoreSuite

__all__ = ["EmbedderSuite", "LeakReport", "StoreSuite", "Violation", "run_leaktest"]


def __getattr__(name: str) -> Any:
    """Import a name on first access: the suites need pytest, the leak test needs Hypothesis."""
    if name == "EmbedderSuite":
        from .suites import embedder

        return embedder.EmbedderSuite
    if name == "StoreSuite":
        from .suites import store

        return store.StoreSuite
    if name in __all__:
        from .leaks import state_machine

        return getattr(state_machine, name)
    raise AttributeError(f"module 'nexusmem.testing' has no attribute {name!r}")
