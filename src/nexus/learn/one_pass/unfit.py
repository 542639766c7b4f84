"""An item of an answer that cannot be kept."""

from __future__ import annotations


class Unfit(Exception):
    """Why this one item is left out. Never holds what it said, which may be private."""
