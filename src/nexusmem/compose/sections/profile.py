"""Section "profile": preferences, expertise and habits of the people in the place."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.records import Memory, Trust
from ...core.records.context import ContextItem
from ...core.records.facts import is_stable_fact
from ...recall.views.profile import Profile, ProfileEntry, get_profiles
from ..request import (
    MAX_LANDMARKS,
    OBSERVED,
    SectionInput,
    mention_reason,
    rank_worth,
    sure_reason,
)
from ..section import Section, always

MAX_PEOPLE = 4
MAX_ENTRIES = 8  # of one part of a profile; more would not fit
MIN_STYLE_MESSAGES = 15  # with fewer, each new message could change the writing style
PART_WORTH = {"preferences": 1.0, "expertise": 0.8, "about": 0.8, "patterns": 0.5}


def profile_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the profile entries of the people in the place, preferences first.

    In each part, the most important entries come first, then the newest. Archived facts are left
    out, except those that hold for years.
    The writing style is counted in the last messages, which are loaded already.
    """
    people = [person.value for person in inputs.viewer.people[:MAX_PEOPLE]]
    profiles = get_profiles(
        inputs.store,
        inputs.grant,
        people,
        now=inputs.now,
        messages=inputs.window_view.events,
        landmarks=_complete_landmarks(inputs),
        min_messages=MIN_STYLE_MESSAGES,
        include_stated=False,
    )
    return [item for each in profiles for item in _person_items(inputs, each)]


def _complete_landmarks(inputs: SectionInput) -> list[Memory] | None:
    """Return all landmarks, or None if there may be more than were read."""
    return inputs.landmarks if len(inputs.landmarks) < MAX_LANDMARKS else None


def _person_items(inputs: SectionInput, profile: Profile) -> Iterator[ContextItem]:
    for part, worth in PART_WORTH.items():
        entries = [entry for entry in getattr(profile, part) if _is_shown(inputs, entry.memory)]
        ranked = sorted(entries, key=lambda entry: -entry.memory.salience)[:MAX_ENTRIES]
        for rank, entry in enumerate(ranked):
            yield _make_item(inputs, entry, part, worth * rank_worth(rank))
    # The style counts today's messages, so a replay leaves it out.
    # Every person has a length of messages, so that alone says nothing about a person.
    is_known = profile.style.messages >= MIN_STYLE_MESSAGES and len(profile.style.traits) > 1
    if is_known and not inputs.is_replay:
        yield ContextItem(
            text=f"{profile.person} {', '.join(profile.style.traits)}.",
            id=f"style:{profile.person}",
            trust=Trust.INFERRED,
            worth=0.4,
            why={"strategy": "style", OBSERVED: 1},
        )


def _is_shown(inputs: SectionInput, memory: Memory) -> bool:
    """Return whether a memory is active, or states what holds for years, such as an allergy."""
    keeps = inputs.filter_recorded if is_stable_fact(memory) else inputs.filter_active
    return bool(keeps([memory]))


def _make_item(inputs: SectionInput, entry: ProfileEntry, part: str, worth: float) -> ContextItem:
    confidence, mentions = entry.confidence, mention_reason(entry.link)
    return inputs.make_item(
        entry.memory,
        worth * confidence,
        strategy="profile",
        part=part,
        confidence=confidence,
        **mentions,
        **sure_reason(entry.memory, confidence),
    )


PROFILE = Section(
    name="profile",
    heading="People",
    description="Preferences, expertise and habits of the people here.",
    priority=2,
    cap=300,
    floor=100,
    when=always("who is here"),
    stable=True,
    grows_with_budget=True,
    source=profile_items,
)
