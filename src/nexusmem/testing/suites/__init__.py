"""Conformance suites: one for each protocol in `nexusmem.core.protocols`, its docstrings as
tests.
"""

from __future__ import annotations

from ...core.errors import MissingExtra

__all__ = ["pytest"]

try:
    import pytest
except ImportError as error:
    raise MissingExtra("nexusmem.testing.suites.store", "testing") from error

_SUITES = (
    "access accounts audit candidates eraser graph labels ledger memories names queue quotas"
    " shelves uses vectors whole window"
)
for _suite in _SUITES.split():
    pytest.register_assert_rewrite(f"{__name__}.{_suite}")
