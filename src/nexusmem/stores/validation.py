"""Checks and conversions that all stores share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import datetime
from math import sqrt

import numpy as np

from ..core.errors import InvalidInput
from ..core.ids import WorkspaceId
from ..core.protocols.embedder import Floats
from ..core.protocols.memories import ScoredId
from ..core.records import EmbeddingProfile, Event, ModelCost, NewEvent
from ..runtime.clock import start_of_day

SCORE_DIGITS = 9  # smaller differences depend on the machine


def rank_scores(scores: Iterable[tuple[str, float]]) -> list[ScoredId]:
    """Return rounded scores, best first, ties by id: the same order in every store."""
    rounded = ((id, min(1.0, round(score, SCORE_DIGITS))) for id, score in scores)
    return [
        ScoredId(id=id, score=score) for id, score in sorted(rounded, key=lambda x: (-x[1], x[0]))
    ]


def check_vector(profile: EmbeddingProfile, vector: Floats) -> Floats:
    """Return the vector as float32; raise InvalidInput for a wrong size or length."""
    array = np.ascontiguousarray(vector, dtype=np.float32)
    if array.shape != (profile.dimension,):
        raise InvalidInput(
            f"a vector of {profile.name} must have {profile.dimension} numbers, got shape"
            f" {array.shape}"
        )
    wide = array.astype(np.float64)
    length = sqrt(wide @ wide)
    if not abs(length - 1) <= 0.01:  # also true for NaN
        raise InvalidInput(f"a vector must have length 1, got {length:.3g}: normalize it")
    return array


_NEW_EVENT_FIELDS = [field.name for field in fields(NewEvent)]


def to_event(workspace: WorkspaceId, event: NewEvent, at: datetime) -> Event:
    """Return the event to store. An imported event keeps its original `recorded_at`."""
    recorded_at = event.recorded_at if isinstance(event, Event) else at
    values = {name: getattr(event, name) for name in _NEW_EVENT_FIELDS}
    return Event(workspace=workspace, recorded_at=recorded_at, **values)


def to_daily_cost(spent: ModelCost) -> ModelCost:
    """Return the cost dated to the start of its day; raise InvalidInput if a value is negative."""
    if min(spent.calls, spent.input_tokens, spent.output_tokens, spent.cost) < 0:
        raise InvalidInput(f"calls, tokens and cost must not be negative, got {spent}")
    return replace(spent, at=start_of_day(spent.at))


MAX_WORKSPACES_PER_CLAIM = 8


def split_evenly(total: int, parts: int) -> list[int]:
    """Divide `total` into at most MAX_WORKSPACES_PER_CLAIM even shares, none of them 0.

    Each workspace costs a query, so the others get their turn with the next claim.
    """
    count = min(total, parts, MAX_WORKSPACES_PER_CLAIM)
    return [total // count + (index < total % count) for index in range(count)]
