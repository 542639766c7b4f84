"""Settings of learning: the kinds of memories derived from events, and the model's limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MODEL_FREQUENCIES = ("every_turn", "manual")  # manual: a model reads only during `flush`
CONTRADICTION_POLICIES = ("append", "prefer_new", "prefer_old", "review", "flag_review")
EPISODE_MODES = ("extractive", "model", "off")  # off: only by `refresh_episodes`


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnSettings:
    """Kinds of memories to derive from messages; passages are indexed in any case."""

    extract_facts: bool = True  # facts, entities and landmarks
    label_messages: bool = True  # headline, topics and names of each message
    on_contradiction: str = "append"  # one of CONTRADICTION_POLICIES
    episodes: str = "extractive"  # one of EPISODE_MODES
    entity_types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # type → its words
    extractors: tuple[str, ...] = ()  # plug-ins of the entry-point group nexusmem.extractors

    @property
    def types_by_word(self) -> dict[str, str]:
        """Entity type by the word before or at the end of a name: ferry → vessel."""
        return {
            word.casefold(): type for type, words in self.entity_types.items() for word in words
        }


DEFAULT_TURNS = 10
DEFAULT_CHARACTERS = 12_000
DEFAULT_MAX_CONFIDENCE = 0.85
ANSWER_TOKENS, ANSWER_TOKENS_PER_TURN, LABEL_TOKENS = 256, 256, 128  # a fact has about 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReadLimits:
    """Limits of one call to the model that reads messages."""

    turns: int = DEFAULT_TURNS
    characters: int = DEFAULT_CHARACTERS
    context_turns: int = 4  # earlier turns, to resolve pronouns
    items_per_turn: int = 8  # items of each kind in the answer
    labels: bool = False  # the model writes labels of messages, too
    max_confidence: float = DEFAULT_MAX_CONFIDENCE  # of what only the model read

    def count_answer_tokens(self, turns: int) -> int:
        """Return the output limit for this number of turns."""
        per_turn = ANSWER_TOKENS_PER_TURN + (LABEL_TOKENS if self.labels else 0)
        return ANSWER_TOKENS + per_turn * turns
