"""What a memory does for itself while nobody waits, and how often."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from ..core.strength import Strengthening

BATCH = 1_000  # light rows in one step of a sweep
LOOKING_BACK = timedelta(days=3)  # for uses
MOST_MINUTES = 10 * 365 * 24 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Minutes between two runs of a job in a workspace; 0: never by itself."""

    consolidate: float = 15.0  # seed 004's
    near_duplicates: float = 7 * 24 * 60.0
    patterns: float = 60.0  # seeds 001 and 004
    episodes: float = 5.0  # what is over by then is told; days and weeks when they are over
    dossiers: float = 15.0  # those that are stale by then are made anew
    session_end: float = 60.0  # seed 003: an hour after the last word
    promote: float = 60.0  # seed 004, as the next two
    decay: float = 24 * 60.0
    cleanup: float = 24 * 60.0
    audit_partitions: float = 24 * 60.0  # seed 004
    reembed: float = 24 * 60.0  # at once, where somebody asks a memory of another embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintaining:
    """What a memory does for itself while nobody waits."""

    enabled: bool = True
    uses: bool = True  # recall and compose count what they show
    strength: Strengthening = field(default_factory=Strengthening)
    intervals: Intervals = field(default_factory=Intervals)
