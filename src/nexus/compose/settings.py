"""How much room each section of a context has, in tokens (seed 003's numbers)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from ..core.part import Part

LEAST_BUDGET = 300  # below it not even the frame and a few lines fit
MOST_BUDGET = 1_000_000
CONTEXT_SHARE = 3  # a third of a prompt is the most a context takes of itself
MOST_EVENTS = 1_000
FLOORS = ("landmarks_floor", "profile_floor", "window_floor")
ROOMS = (*(part.value for part in Part if part is not Part.WINDOW), *FLOORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composing:
    """What a context is made with when nothing else is said."""

    budget: int = 4_000
    window: int = 40  # events
    idle_hours: float = 24  # without a message or a note, until a place's window is empty
    hits: int = 10
    cached_seconds: int = 300  # how long the same question has the same context; 0: never
    least_score: float = 0.2  # what is less relevant is not shown
    landmarks: int = 500
    landmarks_floor: int = 250
    profile: int = 300
    profile_floor: int = 100
    awareness: int = 200
    summary: int = 500
    goals: int = 200
    facts: int = 400
    episodes: int = 600
    procedures: int = 300
    activity: int = 400
    recall: int = 800
    window_floor: int = 600  # the window has what the others leave, and this much in any case

    @property
    def idle(self) -> timedelta:
        return timedelta(hours=self.idle_hours)

    def within(self, budget: int | None) -> Composing:
        """With more than the usual budget, the sections that stand first have more room, too.

        What others leave cannot flow to them: it depends on the question, and they shall not.
        """
        if budget is None or budget <= self.budget:
            return self
        more = budget / self.budget
        return replace(
            self,
            budget=budget,
            landmarks=int(self.landmarks * more),
            profile=int(self.profile * more),
        )

    def budget_of(self, part: Part) -> int:
        """What a section may use of its own; what it leaves flows on."""
        return 0 if part is Part.WINDOW else int(getattr(self, part.value))

    def floor_of(self, part: Part) -> int:
        """What nobody takes from a section that needs it."""
        return int(getattr(self, f"{part.value}_floor", 0))


def budget_within(limit: int, asked: int | None, usual: int) -> int:
    """The budget of a context in a prompt that may be so long: as asked for, or what is usual."""
    most = limit if asked else limit // CONTEXT_SHARE
    return max(LEAST_BUDGET, min(asked or usual, most))
