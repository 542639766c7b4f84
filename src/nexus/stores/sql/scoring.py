"""How near vectors are, exactly: from their floats, in double precision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.protocols import Floats
from ..checks import DIGITS
from .codes import LABEL, MEMORY, NUMBER, Codes, Ints
from .labels import Readable
from .session import Session

Cosines = NDArray[np.float64]


def scored_by_number(
    session: Session, view: Readable, profile: int, asked: Floats, ids: Mapping[int, str]
) -> dict[str, float]:
    """By the numbers of their memories, which is half the way."""
    bound = {**view.parameters, "profile": profile, "numbers": json.dumps(sorted(ids))}
    rows = session.run("vectors_by_number", bound).fetchall()
    table = session.floats([data for _, data in rows])
    return scored({ids[memory]: row for (memory, _), row in zip(rows, table, strict=True)}, asked)


def scored(vectors: Mapping[str, Floats], asked: Floats) -> dict[str, float]:
    if not vectors:
        return {}
    found = cosines(np.stack(list(vectors.values())), asked)
    return dict(zip(vectors, found.tolist(), strict=True))


def cosines(table: Floats, asked: Floats) -> Cosines:
    wide: Cosines = np.maximum(table.astype(np.float64) @ asked.astype(np.float64), 0.0)
    return wide.round(DIGITS)


def exact_scores(
    session: Session, workspace: int, profile: int, rows: Ints, asked: Floats
) -> tuple[Ints, Cosines]:
    places = json.dumps(rows[:, [LABEL, NUMBER]].tolist())
    bound = {"workspace": workspace, "profile": profile, "places": places}
    found = session.run("vectors_at", bound).fetchall()
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    table = session.floats([data for _, data in found])
    numbers = np.array([memory for memory, _ in found], dtype=np.int64)
    return numbers, cosines(table, asked)


@dataclass(frozen=True, slots=True)
class Near:
    """How near each of a few vectors is to one question."""

    view: Readable
    profile: int
    asked: bytes
    scores: dict[int, float]  # by the numbers of memories

    @classmethod
    def of(
        cls, view: Readable, profile: int, blocks: Sequence[Codes], asked: Floats
    ) -> Near | None:
        """None, where the vectors themselves are not kept."""
        scores: dict[int, float] = {}
        for block in blocks:
            if (floats := block.floats) is None:
                return None
            found = cosines(floats, asked).tolist()
            scores |= zip(block.rows[:, MEMORY].tolist(), found, strict=True)
        return cls(view, profile, asked.tobytes(), scores)

    def tells(self, view: Readable, profile: int, asked: Floats) -> bool:
        here = self.view is view and self.profile == profile
        return here and self.asked == asked.tobytes()
