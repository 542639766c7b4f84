"""The sections of a context: each a small function from what is asked to items."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.part import Part
from ..asking import Source
from .activity import activity
from .awareness import awareness
from .episodes import episodes
from .facts import facts
from .goals import goals
from .landmarks import landmarks
from .procedures import procedures
from .profile import people
from .recall import recalled
from .summary import summary
from .window import window

SECTIONS: Mapping[Part, Source] = {
    Part.LANDMARKS: landmarks,
    Part.PROFILE: people,
    Part.AWARENESS: awareness,
    Part.SUMMARY: summary,
    Part.GOALS: goals,
    Part.FACTS: facts,
    Part.EPISODES: episodes,
    Part.PROCEDURES: procedures,
    Part.ACTIVITY: activity,
    Part.RECALL: recalled,
    Part.WINDOW: window,
}
