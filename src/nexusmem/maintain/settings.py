"""Settings of background jobs: their intervals and the strength of memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from ..core.strength import StrengthSettings

BATCH = 1_000  # rows that one step of a sweep job reads
USAGE_WINDOW = timedelta(days=3)  # usage rows that are read at a time
MAX_MINUTES = 10 * 365 * 24 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class JobIntervals:
    """Minutes between two runs of each job in a workspace; 0: only on request."""

    consolidate: float = 15.0  # specification 004
    near_duplicates: float = 7 * 24 * 60.0
    habits: float = 60.0  # specifications 001 and 004
    episodes: float = 5.0  # ended threads and sessions; days and weeks when they end
    dossiers: float = 15.0  # rebuilds stale dossiers
    session_end: float = 60.0  # specification 003: an hour after the last message
    promote: float = 60.0  # specification 004, as the next two
    decay: float = 24 * 60.0
    cleanup: float = 24 * 60.0
    audit_partitions: float = 24 * 60.0  # specification 004
    reembed: float = 24 * 60.0  # immediately if a search meets vectors of another embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainSettings:
    """Settings of the background jobs."""

    enabled: bool = True
    count_uses: bool = True  # recall and compose count the memories they return
    strength: StrengthSettings = field(default_factory=StrengthSettings)
    interval_minutes: JobIntervals = field(default_factory=JobIntervals)
