"""The sections of a context, by name."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """The sections of a context, in the order they stand; what changes rarely comes first."""

    LANDMARKS = "landmarks"  # decisions, commitments, action items, stated preferences: pinned
    PROFILE = "profile"  # who is here: preferences, expertise, style
    AWARENESS = "awareness"  # what can be looked up
    SUMMARY = "summary"  # of this session so far
    GOALS = "goals"
    FACTS = "facts"  # exact values, and what is true now of those who are named
    EPISODES = "episodes"  # for questions about a time
    PROCEDURES = "procedures"  # for how-to questions
    ACTIVITY = "activity"  # what happened today
    RECALL = "recall"  # hits of the question
    WINDOW = "window"  # the last messages
