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
    "access audit counters embedder eraser graph jobs ledger memories queue store vectors window"
)
for _suite in _SUITES.split():
    pytest.register_assert_rewrite(f"{__name__}.{_suite}")
