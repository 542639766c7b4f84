"""Knowledge hits: facts, entities, episodes and procedures beside the passages of a ranking.

A question about one name, a connection or a list (`question_intent`) is answered from what was
learned, too. Each kind of hit gets a share of the ranks by its weight; a kind without relevant
records leaves its share to the others. A fact and the message it comes from are one hit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from time import perf_counter
from typing import NamedTuple

from ...core.access import Grant
from ...core.derive import is_span_episode, normalize_name
from ...core.filters import Condition, Op, matches_filter
from ...core.protocols.store import Store
from ...core.records import Explanation, Memory, MemoryKind, StrategyReport, memory_id
from ...core.records.facts import is_sure
from ...core.records.memory import drop_copies
from ...text.terms import STOP_WORDS, WORD, extract_terms, normalize_words, query_terms
from ..list_topics import ListTopic, find_topic
from ..query import KindWeights, Query
from ..question_intent import COMPARISON_PATTERN, Intent, QuestionIntent, find_intent
from ..search import RankedId, RankedResults, Ranking
from ..views.connection import connect_names
from ..views.fact_timeline import FactStatus, fact_statuses
from ..views.question_names import (
    Guesses,
    QuestionName,
    correct_names,
    find_question_names,
)

MERGED_DEPTH = 60  # ranks of the passages that are merged; the rest follows unchanged
MIN_PEOPLE, MAX_PEOPLE = 2, 4  # names of a comparison that are searched for
MAX_FACTS_READ = 200  # the newest facts about a name
MENTIONS_READ = 100  # messages with words of a listed kind
MAX_FACTS = 12  # facts about a name that become hits
MAX_PROCEDURES = 3
MAX_SOURCES = 6  # messages of a fact whose passages are compared with it
MAX_PIECES = 8  # passages of a long message that a fact stands for
SHORT_MESSAGE_CHARS = 240  # a message up to this length is a better rendering than its fact
NAME = "knowledge"  # of the strategy in reports and reasons

# Scores of a step of a connection, of a record about a name, and of a listed value.
CONNECTED, NAMED, LISTED = 1.0, 0.8, 0.7

EPISODIC, FACTS, ENTITIES, PROCEDURES = "episodic", "facts", "entities", "procedures"
EPISODES = "episodes"  # a part of the episodic group
MESSAGES_BEFORE_EPISODE = 2
SURE_MESSAGES = 2  # of a list, before its facts: the best messages answer more often


class Entry(NamedTuple):
    """A result before merging, and the passages that say the same."""

    ranked: RankedId
    passages: frozenset[str] = frozenset()
    is_preferred: bool = False  # shown itself, also if its message is short
    sentence: str = ""  # of a fact


def with_knowledge(ranking: Ranking, store: Store, weights: KindWeights) -> Ranking:
    """Return a ranking that puts what was learned about the names of a question between passages.

    Questions without an intent keep the ranking as it is.
    """

    def rank_query(grant: Grant, query: Query) -> RankedResults:
        started, guesses = perf_counter(), Guesses()
        question = correct_names(store, grant, query.question, query.people, guesses=guesses)
        if question != query.question:
            query = replace(query, question=question)
        intent = find_intent(question)
        if intent.intent is Intent.NONE:
            return ranking(grant, query)
        with store.snapshot():
            names = find_question_names(store, grant, intent.subject, query.people, guesses=guesses)
        if intent.intent is Intent.OVERVIEW and not _covers(names, intent.subject):
            return ranking(grant, query)
        finder = _KnowledgeFinder(store, grant, query, weights)
        with store.snapshot():
            first, groups = finder.find(intent, names)
        search = _SideBySide(ranking, grant, query)
        results = search.run(_choose_compared(intent, names, has_path=bool(first)))
        if not first and not any(groups.values()) and len(search.lists) == 1:
            return results
        records = (*first, *chain.from_iterable(groups.values()))
        found = dict.fromkeys(each.ranked.id for each in records)
        own = {each.ranked.id for each in records if each.ranked.id not in each.passages}
        passages = [each for each in search.merge() if each.ranked.id not in own]
        episodic = [
            *passages[:MESSAGES_BEFORE_EPISODE],
            *groups.pop(EPISODES, ()),
            *passages[MESSAGES_BEFORE_EPISODE:],
        ]
        if intent.intent is Intent.LIST and not first:
            first, episodic = episodic[:SURE_MESSAGES], episodic[SURE_MESSAGES:]
        merged = finder.merge(first, {EPISODIC: episodic, **groups})
        seconds = perf_counter() - started - search.seconds
        return KnowledgeResults.build(results, merged, found, seconds)

    return rank_query


def _is_bare(intent: QuestionIntent, names: Sequence[QuestionName]) -> bool:
    """Return whether a comparison has no words but names, as "what do Ann and Bo have in common?".

    Then the ranking has nothing to search for.
    """
    rest = COMPARISON_PATTERN.sub(" ", intent.subject)
    for name in names:
        rest = _without(rest, name.written)
    return all(word.casefold() in STOP_WORDS for word in WORD.findall(rest))


def _covers(names: Sequence[QuestionName], subject: str) -> bool:
    """Return whether the subject of an overview is one name, and nothing but it."""
    if len(names) != 1:
        return False
    rest = subject
    for written in names[0].written:
        rest = rest.replace(written, " ", 1)
    return not re.search(r"[^\W_]", re.sub(r"['’]s?\b|\b(?:the|our|my|a|an)\b", " ", rest))


# -- several people side by side


def _choose_compared(
    intent: QuestionIntent, names: Sequence[QuestionName], *, has_path: bool
) -> Sequence[QuestionName]:
    """Return the names to search for one by one: the people of a list, or names without a path."""
    if intent.intent is Intent.LIST:
        return [each for each in names if each.is_person]
    return names if intent.intent is Intent.CONNECTION and not has_path else ()


class _SideBySide:
    """The search of a question, once as it is and once for each person that it compares."""

    def __init__(self, ranking: Ranking, grant: Grant, query: Query) -> None:
        self._ranking, self._grant, self._query = ranking, grant, query
        self.lists: list[list[RankedId]] = []
        self.seconds = 0.0

    def run(self, names: Sequence[QuestionName]) -> RankedResults:
        results = self._search(self._query)
        if MIN_PEOPLE <= len(names) <= MAX_PEOPLE:
            for name in names:
                others = [each for other in names if other is not name for each in other.written]
                self._search(replace(self._query, question=_without(self._query.question, others)))
        return results

    def _search(self, query: Query) -> RankedResults:
        started = perf_counter()
        results = self._ranking(self._grant, query)
        self.seconds += perf_counter() - started
        self.lists.append(results.get_slice(0, min(MERGED_DEPTH, len(results.scores))))
        return results

    def merge(self) -> list[Entry]:
        """Return the results of all searches, best first and in turn, each once."""
        merged: dict[str, RankedId] = {}
        # The question itself comes last in each turn: the persons' own searches know the speaker.
        lists = [*self.lists[1:], self.lists[0]]
        for rank in range(MERGED_DEPTH):
            for results in lists:
                if rank < len(results):
                    merged.setdefault(results[rank].id, results[rank])
        return [Entry(ranked) for ranked in merged.values()]


def _without(question: str, names: Iterable[str]) -> str:
    """Return the question without these names, and without the words that join them to others."""
    text = " ".join(question.split())
    for name in names:
        written = re.escape(" ".join(name.split()))
        pattern = rf"(?:,|\band\b|\bor\b|&)? ?(?<!\w){written}(?:['’]s)?(?!\w)"
        text = " ".join(re.sub(pattern, " ", text).split())
    return text


# -- records


class _KnowledgeFinder:
    """Reads the records that answer a question with an intent."""

    def __init__(self, store: Store, grant: Grant, query: Query, weights: KindWeights) -> None:
        self._store, self._grant, self._query, self._weights = store, grant, query, weights
        self._passage_texts: dict[str, str] = {}
        self._passages: dict[str, RankedId] = {}

    def find(
        self, intent: QuestionIntent, names: Sequence[QuestionName]
    ) -> tuple[list[Entry], dict[str, list[Entry]]]:
        """Return the entries that come first, in order, and the other ones by group."""
        if intent.intent is Intent.CONNECTION:
            path = connect_names(self._store, self._grant, names, now=self._query.now)
            if len(self._allowed(path)) < len(path):  # a path with a hole connects nothing
                return [], {}
            return self._make_entries(path, CONNECTED, is_preferred=True), {}
        if intent.intent is Intent.OVERVIEW:
            return [], self._find_overview(names[0])
        if intent.intent is Intent.LIST:
            values = self._list_values(intent, names)
            return (values, {}) if _is_bare(intent, names) else ([], {FACTS: values})
        return [], {}

    def _find_overview(self, name: QuestionName) -> dict[str, list[Entry]]:
        facts = self._load_facts(name)
        spellings = sorted(name.spellings)
        found = self._store.memories.find_by_name(
            self._grant, spellings, kinds=(MemoryKind.ENTITY,), limit=MAX_FACTS_READ
        )
        entities = [each for each in drop_copies(self._allowed(found)) if _is_informative(each)]
        entities.sort(key=lambda each: -len(each.text))  # stable: newest first
        procedures = self._find_procedures(name)
        return {
            FACTS: self._make_entries(facts[:MAX_FACTS], NAMED),
            ENTITIES: self._make_entries(entities[:1], NAMED, is_preferred=True),
            PROCEDURES: self._make_entries(procedures, NAMED, is_preferred=True),
            EPISODES: self._make_entries(self._find_episodes(name), NAMED, is_preferred=True),
        }

    def _find_episodes(self, name: QuestionName) -> list[Memory]:
        """Return the newest summary of a conversation or a day that names the subject."""
        found = self._store.memories.find_by_name(
            self._grant,
            sorted(name.spellings),
            kinds=(MemoryKind.EPISODE,),
            limit=MAX_FACTS_READ,
        )
        spans = [each for each in self._allowed(found) if is_span_episode(each)]
        return [each for each in drop_copies(spans) if not each.archived][:1]

    def _find_procedures(self, name: QuestionName) -> list[Memory]:
        """Return procedures whose text names the subject."""
        where = Condition("kind", Op.EQ, MemoryKind.PROCEDURE)
        terms = extract_terms(name.name)
        found = self._store.memories.search_keywords(
            self._grant, terms, where=where, limit=MAX_PROCEDURES
        )
        memories = self._store.memories.get(self._grant, [each.id for each in found])
        return [
            each for each in self._allowed(memories) if set(terms) <= set(extract_terms(each.text))
        ]

    def _list_values(self, intent: QuestionIntent, names: Sequence[QuestionName]) -> list[Entry]:
        """Return the facts of each person whose relation is the one that is listed, in turn."""
        topic = find_topic(intent.noun)
        people = [each for each in names if each.is_person][:MAX_PEOPLE]
        if topic is None:
            by_person = self._list_shared(people)
        else:
            by_person = [
                self._make_entries(
                    self._load_facts(name, topic)[:MAX_FACTS],
                    LISTED,
                )
                + self._find_mentions(topic, name)
                for name in people
            ]
        return [
            entries[rank]
            for rank in range(MAX_FACTS)
            for entries in by_person
            if rank < len(entries)
        ]

    def _list_shared(self, people: Sequence[QuestionName]) -> list[list[Entry]]:
        """Return for each person facts and messages about what facts of another one state."""
        facts = [self._load_facts(name) for name in people]
        stated = [frozenset[str]().union(*map(_value_terms, own)) for own in facts]
        mentions = [
            self._find_mentions(ListTopic(frozenset(), _union_others(stated, number)), name)
            for number, name in enumerate(people)
        ]
        said = [
            stated[number] | self._read_terms(entries) for number, entries in enumerate(mentions)
        ]
        listed: list[list[Entry]] = []
        for number, own in enumerate(facts):
            others = _union_others(said, number)
            shared = [each for each in own if others & _value_terms(each)]
            listed.append(self._make_entries(shared[:MAX_FACTS], LISTED) + mentions[number])
        return listed

    def _read_terms(self, entries: Sequence[Entry]) -> frozenset[str]:
        ids = [each.ranked.id for each in entries]
        texts = self._store.memories.load_texts(self._grant, ids) if ids else {}
        return frozenset(term for text in texts.values() for term in query_terms(text))

    def _find_mentions(self, topic: ListTopic, name: QuestionName) -> list[Entry]:
        """Return messages by this speaker with words of the listed kind, best first."""
        if not topic.terms:
            return []
        memories = self._store.memories
        found = memories.search_keywords(
            self._grant, sorted(topic.terms), where=self._query.where, limit=MENTIONS_READ
        )
        scores = {each.id: each.score for each in found}
        candidates = memories.load_candidates(self._grant, list(scores), ())
        own = [
            id
            for id in scores
            if id in candidates
            and candidates[id].speaker is not None
            and normalize_name(candidates[id].speaker or "") in name.spellings
        ]
        own.sort(key=lambda each: candidates[each].is_question)  # stable: statements come first
        return [
            Entry(self._rank(id, LISTED, position), frozenset([id]))
            for position, id in enumerate(own[:MAX_FACTS], start=1)
        ]

    def _load_facts(self, name: QuestionName, topic: ListTopic | None = None) -> list[Memory]:
        """Return the sure facts about a name, of a topic if given: current ones first, then newest.

        What is current depends on facts outside of the topic, too.
        """
        found = self._store.memories.find_by_name(
            self._grant,
            sorted(name.spellings),
            kinds=(MemoryKind.FACT,),
            limit=MAX_FACTS_READ,
        )
        now = self._query.now
        facts = [
            each
            for each in drop_copies(self._allowed(found))
            if not each.body.get("exact") and not each.archived and is_sure(each, now)
        ]
        chosen = facts if topic is None else [each for each in facts if topic.fits(each)]
        statuses = fact_statuses(facts, now, only={each.id for each in chosen})
        recency = {each.id: rank for rank, each in enumerate(facts)}
        steps = max(len(facts), 1)
        order = {
            each.id: (1 - self._weights.recency) * _status_rank(statuses.get(each.id))
            + self._weights.recency * recency[each.id] / steps
            for each in chosen
        }
        is_subject = {
            each.id: normalize_name(each.body["subject"]) in name.spellings for each in chosen
        }
        return sorted(chosen, key=lambda each: (order[each.id], not is_subject[each.id]))

    def _allowed(self, memories: Iterable[Memory]) -> list[Memory]:
        where = self._query.where
        return [each for each in memories if where is None or matches_filter(where, each)]

    def _make_entries(
        self, memories: Sequence[Memory], score: float, *, is_preferred: bool = False
    ) -> list[Entry]:
        ids = {each.id: _passage_ids(each) for each in memories if each.kind is MemoryKind.FACT}
        wanted = [id for passages in ids.values() for id in passages]
        texts = self._store.memories.load_texts(self._grant, wanted) if wanted else {}
        self._passage_texts |= texts
        return [
            Entry(
                self._rank(each.id, score, position),
                _restated(each, {id: texts[id] for id in ids.get(each.id, ()) if id in texts}),
                is_preferred,
                each.text,
            )
            for position, each in enumerate(memories, start=1)
        ]

    def _rank(self, id: str, score: float, position: int) -> RankedId:
        explanation = Explanation(found_by={NAME: position}, parts={NAME: score}, total=score)
        return RankedId(id, score, {NAME: score}, explanation if self._query.explain else None)

    # -- merge

    def merge(self, first: Sequence[Entry], groups: Mapping[str, Sequence[Entry]]) -> list[Entry]:
        """Return all entries: the first ones, then each group with its share of the ranks.

        Entries for a passage that was shown are dropped. A fact and its message are one entry: the
        message if it is short or states several sentences, else the sentence of the fact.
        """
        self._passages = {each.ranked.id: each.ranked for each in (*first, *groups[EPISODIC])}
        order = [*first, *share_ranks(groups, self._weights.shares())]
        facts: defaultdict[str, list[Entry]] = defaultdict(list)  # passage → facts it states
        for entry in order:
            for passage in entry.passages:
                facts[passage].append(entry)
        shown: set[str] = set()
        merged: list[Entry] = []
        for entry in order:
            same = {entry.ranked.id, *entry.passages}
            if shown.isdisjoint(same):
                chosen = self._render(entry, facts)
                merged.append(chosen)
                shown |= {*same, chosen.ranked.id, *chosen.passages}
        return merged

    def _render(self, entry: Entry, facts: Mapping[str, Sequence[Entry]]) -> Entry:
        """Return the better one of a fact and its message, in place of either."""
        passage = next(iter(entry.passages), entry.ranked.id)
        stated = facts.get(passage, ())
        if entry.is_preferred or len(entry.passages) > 1 or not stated:
            return entry
        is_short = len(self._passage_texts.get(passage, "")) <= SHORT_MESSAGE_CHARS
        if not is_short and len({each.sentence for each in stated}) == 1:
            return stated[0]
        own = self._passages.get(passage) or entry.ranked._replace(id=passage)
        return entry._replace(ranked=_add_reason(own, stated[0].ranked))


def _add_reason(passage: RankedId, fact: RankedId) -> RankedId:
    """Return a passage with the score of the fact that it states, if that is higher."""
    reasons = {**passage.reasons, **fact.reasons}
    return passage._replace(score=max(passage.score, fact.score), reasons=reasons)


def share_ranks(groups: Mapping[str, Sequence[Entry]], weights: Mapping[str, float]) -> list[Entry]:
    """Return the entries of all groups; each group gets ranks in proportion to its weight.

    The next rank goes to the group with the highest weight / (ranks it has + 1), the method of
    D'Hondt; the earlier group wins a tie. A group without weight comes last.
    """
    taken = dict.fromkeys(groups, 0)
    order: list[Entry] = []
    while left := [name for name in groups if taken[name] < len(groups[name])]:
        best = max(left, key=lambda name: weights.get(name, 0.0) / (taken[name] + 1))
        order.append(groups[best][taken[best]])
        taken[best] += 1
    return order


def _union_others(terms: Sequence[frozenset[str]], number: int) -> frozenset[str]:
    """Return the terms of all but one of these sets."""
    return frozenset[str]().union(*terms[:number], *terms[number + 1 :])


def _value_terms(fact: Memory) -> frozenset[str]:
    value = fact.body.get("object") or fact.body.get("value")
    return frozenset(query_terms(value)) if isinstance(value, str) else frozenset()


def _status_rank(status: FactStatus | None) -> float:
    return 1.0 if status is FactStatus.PAST else 0.0


def _is_informative(entity: Memory) -> bool:
    """Return whether an entity record says more than the type of the name."""
    body = entity.body
    if entity.archived or body.get("guess") or body.get("same_as"):
        return False
    return any(body.get(key) for key in ("aliases", "description", "properties"))


def _passage_ids(memory: Memory) -> list[str]:
    """Return the ids that the passages of a memory's source messages may have."""
    slots = ("", *(f"{number:06}" for number in range(MAX_PIECES)))
    return [
        memory_id(MemoryKind.PASSAGE, memory.scope, slot, [source])
        for source in memory.sources[:MAX_SOURCES]
        for slot in slots
    ]


def _restated(fact: Memory, texts: Mapping[str, str]) -> frozenset[str]:
    """Return the passages that contain the sentence of a fact, else those of its only source."""
    sentence = normalize_words(fact.text)
    same = {id for id, text in texts.items() if sentence in normalize_words(text)}
    return frozenset(same or (texts.keys() if len(fact.sources) == 1 else ()))


# -- results


@dataclass(frozen=True, slots=True)
class KnowledgeResults:
    """A ranking whose first results are merged with records."""

    results: RankedResults
    head: Sequence[RankedId]  # all results, best first
    found: Mapping[str, None]  # ids of the records
    seconds: float
    scores: Sequence[float] = field(default=())

    @classmethod
    def build(
        cls,
        results: RankedResults,
        merged: Sequence[Entry],
        found: Mapping[str, None],
        seconds: float,
    ) -> KnowledgeResults:
        """Return the results with descending scores: a score is at least that of any later hit."""
        shown = {entry.ranked.id for entry in merged}
        shown |= {id for entry in merged for id in entry.passages}
        later = results.get_slice(MERGED_DEPTH, len(results.scores))
        rest = [each for each in later if each.id not in shown]
        own = [entry.ranked for entry in merged] + rest
        best = 0.0
        scores: list[float] = []
        for each in reversed(own):
            best = max(best, each.score)
            scores.append(best)
        scores.reverse()
        ranked = [each._replace(score=score) for each, score in zip(own, scores, strict=True)]
        return cls(results, ranked, found, seconds, scores)

    @property
    def query_terms(self) -> tuple[str, ...]:
        return self.results.query_terms

    @property
    def degraded(self) -> tuple[str, ...]:
        return self.results.degraded

    def get_slice(self, start: int, end: int) -> list[RankedId]:
        return list(self.head[start:end])

    def build_reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        report = StrategyReport(
            name=NAME,
            seconds=self.seconds,
            found=len(self.found),
            shown=len(self.found.keys() & set(shown)),
        )
        return (*self.results.build_reports(shown), report)
