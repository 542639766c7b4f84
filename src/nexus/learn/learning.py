"""What is learned by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PROJECT = "project"  # metadata in which an event says whose place it is: "we" means the project

FREQUENCIES = ("every_turn", "manual")  # manual: a model reads when somebody calls `flush`
CONTRADICTIONS = ("append", "prefer_new", "prefer_old", "review", "flag_review")
EPISODES = ("extractive", "model", "off")  # off: told when somebody calls `learn_episodes`


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """Switches of what is derived from what was said, which is kept and found in any case."""

    facts: bool = True  # facts, entities and landmarks
    labels: bool = True  # a headline, topics and names for each message
    contradictions: str = "append"  # see CONTRADICTIONS
    episodes: str = "extractive"  # who tells them: see EPISODES
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # type → its words

    @property
    def type_of(self) -> dict[str, str]:
        """What a word says that stands before a name or ends it: ferry → vessel."""
        return {word.casefold(): type for type, words in self.types.items() for word in words}
