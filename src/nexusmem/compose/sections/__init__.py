"""The sections of a context, in the order in which they are rendered."""

from __future__ import annotations

from ..section import Section
from .activity import ACTIVITY
from .awareness import AWARENESS
from .episodes import EPISODES
from .facts import FACTS
from .goals import GOALS
from .landmarks import LANDMARKS
from .procedures import PROCEDURES
from .profile import PROFILE
from .recall import RECALL, RELATED
from .reviews import REVIEWS
from .summary import SUMMARY
from .window import WINDOW

# Stable sections come first: the text up to their end is what a provider's prompt cache can reuse.
SECTIONS: tuple[Section, ...] = (
    LANDMARKS,
    PROFILE,
    AWARENESS,
    SUMMARY,
    GOALS,
    FACTS,
    REVIEWS,
    EPISODES,
    PROCEDURES,
    ACTIVITY,
    RECALL,
    RELATED,
    WINDOW,
)
SECTIONS_BY_NAME = {section.name: section for section in SECTIONS}
STABLE_SECTIONS = frozenset(section.name for section in SECTIONS if section.stable)
