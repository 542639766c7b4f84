"""How to go on after a word that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """The one that was probably meant, or else all."""
    from difflib import get_close_matches  # noqa: PLC0415  # few mistype

    words = list(known)
    near = get_close_matches(word, words, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(words)}"
