"""Derived memories and keyword search of the reference store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from ...core.access import Grant, Label, check_grant
from ...core.derive import (
    DEFAULT_NAMED_KINDS,
    derive_memory,
    is_instruction,
    is_question,
    is_text_searchable,
    lookup_names,
    normalize_name,
    thread_name,
)
from ...core.filters import Filter, matches_filter
from ...core.ids import WorkspaceId
from ...core.json_codec import content_to_json
from ...core.protocols.bulk_copy import check_administrator
from ...core.protocols.embedder import Floats
from ...core.protocols.memories import ScoredId
from ...core.records import Draft, EmbeddingProfile, Memory, MemoryKind, Tier, Tombstone
from ...core.records.projections import (
    Candidate,
    FactOutline,
    MemoryState,
    is_pinned,
    make_state,
    with_state,
)
from ...core.strength import KNOWLEDGE_KINDS, NO_EXCLUSION, SweepExclusion
from ...stores.validation import SCORE_DIGITS, check_vector, rank_scores
from ...text.terms import BM25_B, BM25_K1, inverse_document_frequency, max_bm25_score
from .state import StorePart, WorkspaceData, as_write, sort_newest_first, with_lock
from .usage_counts import is_used_since, usage_in_label


class ReferenceMemories(StorePart):
    """Reference implementation of the protocol `Memories`."""

    @as_write
    def put(
        self,
        workspace: WorkspaceId,
        drafts: Sequence[Draft],
        *,
        tombstones: frozenset[Tombstone] | None = None,
    ) -> list[Memory]:
        home = self._state.get_workspace(workspace)
        erased = {tombstone.digest for tombstone in home.tombstones if tombstone.kind == "memory"}
        memories = []
        for draft in drafts:
            sources = {id: home.find_source(id) for id in draft.sources}
            present = {id: source for id, source in sources.items() if source}
            if len(present) < len(sources) or draft.id in erased:
                continue
            memories.append(derive_memory(workspace, draft, present))
        if tombstones is not None:
            memories = [
                each for each in memories if tombstones >= home.scope_tombstones(each.label)
            ]
        memories = [self._keep_state(home, memory) for memory in memories]
        for memory in memories:
            before = home.memories.get(memory.id)
            if before is None or content_to_json(before) != content_to_json(memory):
                self._drop_vectors(home, memory.id)
                home.epochs.update(each.label for each in (before, memory) if each)
                home.write_memory(memory)
            elif before != memory:
                home.epochs[memory.label] += 1
                home.memories[memory.id] = memory
        return memories

    @staticmethod
    def _keep_state(home: WorkspaceData, memory: Memory) -> Memory:
        """Keep the existing tier and archive flag when a memory is derived again."""
        before = home.memories.get(memory.id)
        return with_state(memory, tier=before.tier, archived=before.archived) if before else memory

    @staticmethod
    def _drop_vectors(home: WorkspaceData, id: str) -> int:
        return sum(vectors.pop(id, None) is not None for vectors in home.vectors.values())

    @with_lock
    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        visible = {memory.id: memory for memory in self._state.visible_memories(grant)}
        return [visible[id] for id in ids if id in visible]

    @with_lock
    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        matches = (m for m in self._state.visible_memories(grant) if matches_filter(where, m))
        return sort_newest_first(matches)[:limit]

    @with_lock
    def search_keywords(
        self,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[ScoredId]:
        home = self._state.get_workspace(check_grant(grant).workspace)
        visible = {m.id: m for m in self._state.visible_memories(grant, learned=learned)}
        scores = bm25_scores({id: home.words[id] for id in visible}, terms)
        return rank_scores(
            (id, score)
            for id, score in scores.items()
            if score > 0 and matches_filter(where, visible[id])
        )[:limit]

    @with_lock
    def count_matching(self, grant: Grant, terms: Sequence[str], *, learned: bool = False) -> int:
        words = self._state.get_workspace(check_grant(grant).workspace).words
        visible = self._state.visible_memories(grant, learned=learned)
        return sum(not set(terms).isdisjoint(words[memory.id]) for memory in visible)

    @with_lock
    def load_candidates(
        self, grant: Grant, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        everything = list(self._state.visible_memories(grant))
        explicit = [memory for memory in everything if not memory.learned]
        explicit_scores = self._score_terms(explicit, terms)
        all_scores = self._score_terms(everything, terms)
        words = self._state.workspace_for(grant).words
        return {
            memory.id: _to_candidate(
                memory, len(words[memory.id]), all_scores if memory.learned else explicit_scores
            )
            for memory in self.get(grant, ids)
        }

    def _score_terms(self, memories: Sequence[Memory], terms: Sequence[str]) -> KeywordScores:
        """Return the BM25 scores of these memories and of their conversations."""
        words: dict[object, Sequence[str]] = {}
        conversations: dict[object, list[str]] = defaultdict(list)
        for memory in memories:
            words[memory.id] = self._state.get_workspace(memory.workspace).words[memory.id]
            conversations[_conversation_key(memory)] += words[memory.id]
        return bm25_scores(words, terms), bm25_scores(conversations, terms)

    @with_lock
    def load_texts(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        return {memory.id: memory.text for memory in self.get(grant, ids)}

    @with_lock
    def ids_between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        visible = self._state.visible_memories(grant, learned=learned)
        inside = sort_newest_first(memory for memory in visible if since <= memory.at < until)
        return [memory.id for memory in inside[:limit]]

    @with_lock
    def find_by_name(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
        oldest_first: bool = False,
    ) -> list[Memory]:
        wanted = set(map(normalize_name, names))
        wanted_kinds = DEFAULT_NAMED_KINDS if kinds is None else kinds
        visible = self._state.visible_memories(grant, learned=learned)
        of_kind = (memory for memory in visible if memory.kind in wanted_kinds)
        about = (memory for memory in of_kind if not wanted.isdisjoint(lookup_names(memory)))
        if oldest_first:
            return sorted(about, key=lambda each: (each.at, each.id))[:limit]
        return sort_newest_first(about)[:limit]

    @with_lock
    def find_by_source(
        self, grant: Grant, sources: Sequence[str], *, kinds: Sequence[MemoryKind]
    ) -> list[Memory]:
        visible = self._state.visible_memories(grant, learned=True)
        wanted = set(sources)
        return sort_newest_first(
            memory
            for memory in visible
            if memory.kind in kinds and not wanted.isdisjoint(memory.sources)
        )

    @with_lock
    def fact_outlines(self, grant: Grant, names: Sequence[str], *, limit: int) -> list[FactOutline]:
        facts = self.find_by_name(grant, names, limit=limit, kinds=[MemoryKind.FACT])
        return [
            FactOutline.from_body(id=each.id, body=each.body, learned=each.learned)
            for each in facts
        ]

    @with_lock
    def latest_facts(
        self, grant: Grant, subjects: Sequence[str], *, limit: int | None = None
    ) -> list[Memory]:
        visible = self._state.visible_memories(grant, learned=False)
        facts = sort_newest_first(memory for memory in visible if memory.kind is MemoryKind.FACT)
        newest: dict[tuple[object, object], Memory] = {}
        for memory in facts:
            if (subject := memory.body.get("subject")) in subjects:
                newest.setdefault((subject, memory.body.get("predicate")), memory)
        return list(newest.values())[:limit]

    @with_lock
    def find_neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        visible = list(self._state.visible_memories(grant))
        conversations: dict[object, list[Memory]] = defaultdict(list)
        for memory in sorted(visible, key=lambda memory: (memory.at, memory.id)):
            conversations[_conversation_key(memory)].append(memory)
        wanted = set(ids)
        neighbours = {}
        for conversation in conversations.values():
            order = [memory.id for memory in conversation]
            for index, id in enumerate(order):
                if id in wanted:
                    before = order[max(0, index - reach) : index][::-1]
                    neighbours[id] = (tuple(before), tuple(order[index + 1 : index + 1 + reach]))
        return neighbours

    @as_write
    def set_state(
        self,
        workspace: WorkspaceId,
        ids: Sequence[str],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> int:
        home = self._state.get_workspace(workspace)
        existing = [home.memories[id] for id in dict.fromkeys(ids) if id in home.memories]
        marked = [
            (
                memory,
                replace(
                    memory,
                    tier=memory.tier if tier is None else tier,
                    archived=memory.archived if archived is None else archived,
                ),
            )
            for memory in existing
        ]
        changed = [after for before, after in marked if before != after]
        home.memories.update({memory.id: memory for memory in changed})
        home.epochs.update({memory.label for memory in changed})
        return len(changed)

    @as_write
    def set_state_many(
        self,
        ids: Mapping[WorkspaceId, Sequence[str]],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> dict[WorkspaceId, int]:
        return {
            workspace: self.set_state(workspace, some, tier=tier, archived=archived)
            for workspace, some in ids.items()
        }

    def list_states_many(
        self,
        positions: Sequence[tuple[Grant, str | None]],
        *,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        exclude: SweepExclusion = NO_EXCLUSION,
    ) -> list[list[MemoryState]]:
        with self._state.lock:
            return [
                self.list_states(
                    grant,
                    after=after,
                    limit=limit,
                    used_since=used_since,
                    idle_since=idle_since,
                    archived=archived,
                    exclude=exclude,
                )
                for grant, after in positions
            ]

    @with_lock
    def list_states(
        self,
        grant: Grant,
        *,
        after: str | None = None,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        exclude: SweepExclusion = NO_EXCLUSION,
    ) -> list[MemoryState]:
        home = self._state.get_workspace(check_administrator(grant))
        memories = sorted(home.memories.values(), key=lambda memory: memory.id)
        late = {_conversation_key(m) for m in memories if idle_since and m.at >= idle_since}
        return [
            make_state(
                memory, len(home.words[memory.id]), usage_in_label(home.uses, memory), memory.id
            )
            for memory in memories
            if memory.id > (after or "")
            and (
                is_used_since(home.uses, memory, used_since) and memory.archived >= archived
                if used_since
                else _can_fade(memory)
                and (idle_since is None or _conversation_key(memory) not in late)
                and not _is_spared(memory, exclude)
            )
        ][:limit]

    @with_lock
    def oldest_active_times(
        self, grants: Sequence[Grant], *, since: datetime
    ) -> list[datetime | None]:
        times = []
        for grant in grants:
            last: dict[object, datetime] = {}
            for memory in self._state.get_workspace(check_administrator(grant)).memories.values():
                if _can_fade(memory) and memory.at >= since:
                    conversation = _conversation_key(memory)
                    last[conversation] = max(memory.at, last.get(conversation, since))
            times.append(min(last.values(), default=None))
        return times

    @with_lock
    def changes_since(
        self, workspace: WorkspaceId, kinds: Sequence[MemoryKind], *, after: int, limit: int
    ) -> list[tuple[int, Memory]]:
        home = self._state.get_workspace(workspace)
        changes = [
            (number, home.memories[id])
            for id, number in home.write_numbers.items()
            if number > after and home.memories[id].kind in kinds
        ]
        return sorted(changes, key=lambda each: each[0])[:limit]

    @as_write
    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        home = self._state.get_workspace(workspace)
        removed = (home.memories.pop(id, None) for id in ids)
        gone = {memory.id: memory for memory in removed if memory}
        for id, memory in gone.items():
            home.epochs[memory.label] += 1
            del home.words[id], home.write_numbers[id]
            self._drop_vectors(home, id)
        return len(gone)


def _can_fade(memory: Memory) -> bool:
    return memory.tier is Tier.SHORT and not memory.archived and not is_pinned(memory)


def _is_spared(memory: Memory, exclude: SweepExclusion) -> bool:
    since = exclude.knowledge_since if memory.kind in KNOWLEDGE_KINDS else exclude.since
    return memory.salience >= exclude.salience and memory.at >= since


def _conversation_key(memory: Memory) -> tuple[Label, bool, str]:
    return memory.label, memory.learned, thread_name(memory)


KeywordScores = tuple[
    Mapping[object, float], Mapping[object, float]
]  # of memories, of conversations


def _to_candidate(memory: Memory, length: int, scores: KeywordScores) -> Candidate:
    keyword, thread_keyword = scores
    conversation = _conversation_key(memory)
    return Candidate(
        id=memory.id,
        kind=memory.kind,
        thread=repr(conversation),
        at=memory.at,
        speaker=memory.speaker,
        role=memory.role,
        length=length,
        is_question=is_question(memory.text),
        is_instruction=is_instruction(memory),
        keyword=min(1.0, round(keyword[memory.id], SCORE_DIGITS)),
        thread_keyword=min(1.0, round(thread_keyword[conversation], SCORE_DIGITS)),
    )


K = TypeVar("K")


def bm25_scores(texts: Mapping[K, Sequence[str]], terms: Sequence[str]) -> dict[K, float]:
    """Return the BM25 score of each text, divided by the highest score of these terms."""
    counts = {key: Counter(words) for key, words in texts.items()}
    average = sum(map(len, texts.values())) / len(texts) if texts else 0.0
    holding = {term: sum(term in counted for counted in counts.values()) for term in terms}
    weights = {term: inverse_document_frequency(len(counts), holding[term]) for term in holding}

    def score_text(key: K) -> float:
        slack = BM25_K1 * (1 - BM25_B + BM25_B * len(texts[key]) / average) if average else BM25_K1
        frequencies = ((weights[term], counts[key][term]) for term in weights)
        return sum(w * f * (BM25_K1 + 1) / (f + slack) for w, f in frequencies if f)

    best = max_bm25_score(list(weights.values()))
    return {key: score_text(key) / best if best else 0.0 for key in texts}


class ReferenceVectors(StorePart):
    """Reference implementation of the protocol `Vectors`."""

    @as_write
    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        home = self._state.get_workspace(workspace)
        checked = {id: check_vector(profile, vector) for id, vector in vectors.items()}
        accepted = {id: vector for id, vector in checked.items() if id in home.memories}
        existing = home.vectors[profile.name]
        new = [
            id for id, row in accepted.items() if id not in existing or (existing[id] != row).any()
        ]
        existing.update(accepted)
        home.epochs.update(home.memories[id].label for id in new)
        self._state.profiles.add(profile)
        if accepted:
            home.profile = home.profile or profile
        return len(accepted)

    @with_lock
    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        visible = {memory.id for memory in self._state.visible_memories(grant)}
        vectors = self._state.workspace_for(grant).vectors[profile.name]
        return {id: vectors[id] for id in ids if id in visible and id in vectors}

    @with_lock
    def find_nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[ScoredId]:
        query = check_vector(profile, vector).astype(np.float64)
        vectors = self._state.workspace_for(grant).vectors[profile.name]
        visible = self._state.visible_memories(grant, learned=learned)
        passed = (m.id for m in visible if m.id in vectors and matches_filter(where, m))
        scores = ((id, max(0.0, float(vectors[id] @ query))) for id in passed)
        return rank_scores(scores)[:limit]

    @with_lock
    def score_ids(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        query = check_vector(profile, vector).astype(np.float64)
        vectors = self.get(grant, profile, ids)
        return {
            id: round(max(0.0, float(row @ query)), SCORE_DIGITS) for id, row in vectors.items()
        }

    @with_lock
    def list_missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        vectors = self._state.workspace_for(grant).vectors[profile.name]
        visible = filter(is_text_searchable, self._state.visible_memories(grant))
        without = [each for each in visible if each.id not in vectors and each.id > after]
        return sorted(without, key=lambda memory: memory.id)[:limit]

    @with_lock
    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        home = self._state.workspace_for(grant)
        worded = [m.id for m in self._state.visible_memories(grant) if home.words[m.id]]
        vectors = home.vectors[profile.name]
        done = sum(id in vectors for id in worded)
        return {"embedded": done, "missing": len(worded) - done}

    @with_lock
    def list_profiles(self) -> list[EmbeddingProfile]:
        return sorted(self._state.profiles, key=astuple)

    @with_lock
    def active_profile(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        return self._state.get_workspace(workspace).profile

    @as_write
    def activate_profile(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        self._state.profiles.add(profile)
        home = self._state.get_workspace(workspace)
        home.profile = profile
        home.epochs.update(list(home.epochs))

    @as_write
    def delete_profile(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int
    ) -> int:
        home = self._state.get_workspace(workspace)
        if home.profile == profile:
            return 0
        vectors = home.vectors[profile.name]
        gone = list(vectors)[:limit]
        for id in gone:
            del vectors[id]
        return len(gone)
