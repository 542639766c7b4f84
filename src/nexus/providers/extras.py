"""What the SDKs of all providers have in common: they may be missing, and they raise anything."""

from __future__ import annotations

import importlib.util

from ..core.errors import MissingExtra

# What clients raise on an answer that is not the promised JSON.
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
# For a server of one's own: SDKs insist on a key, and would take the real one from the environment.
NO_KEY = "none"


def require(package: str, wanted: str, extra: str) -> None:
    """Say at once that a package is missing, without the second that importing it takes."""
    try:
        missing = importlib.util.find_spec(package) is None
    except ModuleNotFoundError:  # the parent of a dotted name
        missing = True
    if missing:
        raise MissingExtra(wanted, extra)


def sendable(text: str) -> str:
    """Half a surrogate pair cannot be sent; it becomes a question mark."""
    return text.encode(errors="replace").decode()
