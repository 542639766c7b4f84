"""Verdicts: what a model says about the facts that the rules read in the same messages.

A confirmed fact gains confidence. A rejected one is replaced by a review of kind "misreading", so
no timeline, profile, dossier or search has it. A person who accepts the review restores the fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...core.ids import digest
from ...core.records import Draft, Memory, MemoryKind
from ...core.records.facts import fact_sentence
from ...core.records.links import MISREADING
from ...core.records.memory import is_copy, statement_key
from ..extract.fact_drafts import RULES
from .merge import draft_from_memory
from .turns import Claim

CONFIRMATION_GAIN = 0.1
MAX_CONFIRMED_CONFIDENCE = 0.95


def make_claim(memory: Memory) -> Claim | None:
    """Return the claim for a fact that only the rules read; None for all other memories."""
    is_rules_fact = memory.kind is MemoryKind.FACT and memory.metadata.get("made_by") == [RULES]
    if not is_rules_fact or "accepted" in memory.metadata:
        return None
    fact = memory.fact
    denied = "NOT " if fact.negated else ""
    tense = "" if fact.tense == "current" else f", {fact.tense}"
    value = fact.object if fact.object is not None else fact.value
    text = f"{fact.subject} {denied}{fact.predicate} {value}{tense}"
    return Claim(memory.id, memory.sources[0], text)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of one answer."""

    maker: str  # name, version and hash of the prompt
    model: str
    confirmed: frozenset[str]  # ids of facts
    rejected: frozenset[str]

    def apply(self, memories: Iterable[Memory]) -> list[tuple[Memory, Draft]]:
        """Return the memories that are not rejected, with their drafts after confirmation."""
        return [
            (memory, self._confirm(memory)) for memory in memories if memory.id not in self.rejected
        ]

    def _confirm(self, memory: Memory) -> Draft:
        draft = draft_from_memory(memory)
        if memory.id not in self.confirmed:
            return draft
        raised = min(memory.confidence + CONFIRMATION_GAIN, MAX_CONFIRMED_CONFIDENCE)
        makers = [*memory.metadata.get("made_by", [RULES]), self.maker]
        read = {"made_by": makers, "model": self.model, "words": memory.text}
        return replace(
            draft,
            confidence=max(memory.confidence, raised),
            metadata={**memory.metadata, **read},
        )

    def find_retracted(self, memories: Sequence[Memory]) -> list[str]:
        """Return the ids of rejected facts and of their copies in other places."""
        return [
            id
            for memory in memories
            if memory.id in self.rejected
            for id in _same_statement(memory, memories)
        ]

    def make_reviews(self, memories: Sequence[Memory]) -> list[Draft]:
        """Return one review for each rejected fact."""
        return [
            self._make_review(memory, _same_statement(memory, memories))
            for memory in memories
            if memory.id in self.rejected
        ]

    def _make_review(self, memory: Memory, retracted: Sequence[str]) -> Draft:
        fact = memory.fact
        names = [fact.subject, *([fact.object] if fact.object else [])]
        return Draft(
            scope=memory.scope,
            kind=MemoryKind.REVIEW,
            text=f"Misreading: “{fact_sentence(fact)}” was read in “{memory.text}”.",
            sources=memory.sources,
            slot=digest(MISREADING, memory.id),
            indexed_text="",
            at=memory.at,
            confidence=memory.confidence,
            valid_from=memory.valid_from,
            valid_to=memory.valid_to,
            speaker=memory.speaker,
            role=memory.role,
            source=memory.source,
            thread=memory.thread,
            learned=True,
            metadata={"made_by": [RULES, self.maker], "model": self.model, "words": memory.text},
            body={
                "what": MISREADING,
                "new": memory.id,
                "retracted": list(retracted),
                "supersedes": [],
                "fact": dict(memory.body),
                "said": memory.text,
                "trust": int(memory.trust),
                "names": names,
                "predicate": fact.predicate,
                "confidence": memory.confidence,
                "because": f"{self.model or 'the model'} does not read it in these words",
            },
            flow=draft_from_memory(memory).flow,
        )


def _same_statement(memory: Memory, memories: Iterable[Memory]) -> list[str]:
    """Return the id of a fact, and those of its copies."""
    key = statement_key(memory)
    copies = [each.id for each in memories if is_copy(each) and statement_key(each) == key]
    return [memory.id, *copies]
