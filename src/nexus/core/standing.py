"""Whether questions can be asked by meaning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """How the vectors stand that a question would be compared with."""

    usable: bool = True
    remark: str | None = None  # what whoever asks should know
