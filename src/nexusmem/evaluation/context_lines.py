"""Context measures: evidence, topic and repetition of the lines of one context. Pure.

docs/howto/evaluate-contexts.md defines every measure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from ..compose.budget import CUT_BY_BUDGET
from ..compose.deduplicate import CUT_IN_WINDOW, CUT_SHOWN_ABOVE
from ..compose.sections.activity import ACTIVITY
from ..compose.sections.episodes import EPISODES
from ..compose.sections.facts import FACTS
from ..compose.sections.procedures import PROCEDURES
from ..compose.sections.recall import RECALL, RELATED
from ..compose.selection import CUT_BY_LIMIT
from ..core.records.context import Context, ContextItem
from ..text.terms import SENTENCE, normalize_words, query_terms
from .benchmarks import BenchmarkConversation, BenchmarkQuestion

# The sections that a question fills. The others are shown with every question.
RETRIEVED_SECTIONS = (
    FACTS.name,
    RECALL.name,
    RELATED.name,
    EPISODES.name,
    PROCEDURES.name,
    ACTIVITY.name,
)
# Relevant items that are not shown in their section: shown elsewhere, or without room.
FOUND_CUTS = (CUT_IN_WINDOW, CUT_SHOWN_ABOVE, CUT_BY_BUDGET, CUT_BY_LIMIT)
MIN_QUOTED_WORDS = 4  # fewer words in a row occur by chance
QUOTED_SHARE = 0.9  # of the terms of the sentence, on one line
SOURCED_SHARE = 0.5  # of these terms, on a line that was derived from the turn
MAX_TOPIC_SOURCES = 3  # a line of more sources is on topic only if it shows a gold turn
REPEATED_SHARE = 0.8  # of the terms of a sentence on one other line, and of a line's sentences
MIN_REPEATED_TERMS = 3  # lines of fewer terms repeat only a line with the same words

Terms = frozenset[str]


@lru_cache(maxsize=200_000)
def content_terms(text: str) -> Terms:
    """Return the stemmed words of a text without stop words, unless it has no others."""
    return frozenset(query_terms(text))


@lru_cache(maxsize=200_000)
def sentence_terms(text: str) -> tuple[Terms, ...]:
    """Return the content terms of each sentence."""
    return tuple(map(content_terms, split_sentences(text)))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text that have words; a text without any is one sentence."""
    sentences = (each.strip() for each in SENTENCE.findall(text))
    return [each for each in sentences if normalize_words(each)] or [text]


@dataclass(frozen=True, slots=True)
class TermWeights:
    """Weights of terms: rare terms of a conversation weigh more."""

    messages: int
    frequency: Mapping[str, int]

    @classmethod
    def from_texts(cls, texts: Collection[str]) -> TermWeights:
        return cls(len(texts), Counter(term for text in texts for term in content_terms(text)))

    def sum_weights(self, terms: Iterable[str]) -> float:
        return sum(log(1 + self.messages / self.frequency.get(term, 1)) for term in terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldTurn:
    """A message with the answer, and the sentence of it that answers."""

    key: str
    event_id: str
    words: str  # of the whole message, normalized
    sentence_words: str
    sentence_terms: Terms

    def is_shown(self, page: ContextPage) -> bool:
        """Return whether a context shows the turn, its sentence, or a line that quotes it."""
        if any(_is_quoted(words, page.words) for words in (self.words, self.sentence_words)):
            return True
        return any(self.is_on_line(line) for line in page.lines)

    def is_on_line(self, line: ContextLine) -> bool:
        """Return whether one line has enough of the sentence's terms.

        A line that was derived from the turn needs fewer.
        """
        needed = SOURCED_SHARE if self.event_id in line.sources else QUOTED_SHARE
        if needed == QUOTED_SHARE and len(self.sentence_terms) < MIN_QUOTED_WORDS:
            return False
        return _has_most(line.terms, self.sentence_terms, needed)


def _is_quoted(words: str, page_words: str) -> bool:
    return words.count(" ") >= MIN_QUOTED_WORDS - 1 and f" {words} " in page_words


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One item of a context, as it is compared."""

    section: str
    words: str
    terms: Terms
    sentences: tuple[Terms, ...]
    sources: frozenset[str]  # ids of the item and of its source events

    @classmethod
    def from_item(cls, section: str, item: ContextItem) -> ContextLine:
        words, terms = normalize_words(item.text), content_terms(item.text)
        sources = frozenset({item.id, *item.events})
        return cls(section, words, terms, sentence_terms(item.text), sources)

    def is_repeated(self, others: Collection[ContextLine]) -> bool:
        """Return whether other lines show this content, sentence by sentence."""
        if len(self.terms) < MIN_REPEATED_TERMS:
            return bool(self.words) and any(self.words == other.words for other in others)
        shown = sum(
            len(sentence)
            for sentence in self.sentences
            if any(_has_most(other.terms, sentence, REPEATED_SHARE) for other in others)
        )
        return shown >= REPEATED_SHARE * sum(map(len, self.sentences))


def _has_most(terms: Terms, wanted: Terms, share: float) -> bool:
    needed = share * len(wanted)
    return len(terms) >= needed and len(wanted & terms) >= needed


@dataclass(frozen=True, slots=True)
class ContextPage:
    """The words and lines of a context."""

    words: str  # normalized, with a space at both ends
    lines: tuple[ContextLine, ...]

    @classmethod
    def from_context(cls, context: Context) -> ContextPage:
        lines = (
            ContextLine.from_item(section.part, item)
            for section in context.sections
            for item in section.items
        )
        return cls(f" {normalize_words(context.text)} ", tuple(lines))

    def lines_of(self, *sections: str) -> tuple[ContextLine, ...]:
        return tuple(line for line in self.lines if line.section in sections)

    @property
    def retrieved(self) -> tuple[ContextLine, ...]:
        """The lines that the question brought into the context."""
        return self.lines_of(*RETRIEVED_SECTIONS)

    @property
    def recall(self) -> tuple[ContextLine, ...]:
        return self.lines_of(RECALL.name)


def has_found(context: Context) -> bool:
    """Return whether the question brought anything into the context, or would have.

    An item that another section shows, or that did not fit, was found.
    """
    shown = any(each.part in RETRIEVED_SECTIONS and each.items for each in context.sections)
    return shown or any(
        cut.part in RETRIEVED_SECTIONS and cut.why in FOUND_CUTS for cut in context.receipt.cut
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldEvidence:
    """The gold turns of a question, and the events of these turns and of their neighbours."""

    turns: tuple[GoldTurn, ...]
    near_events: frozenset[str]

    def count_shown(self, page: ContextPage) -> int:
        """Return how many gold turns a context shows."""
        return sum(turn.is_shown(page) for turn in self.turns)

    def is_on_topic(self, line: ContextLine) -> bool:
        """Return whether a line comes from a gold turn, from its neighbour, or quotes it."""
        is_near = not self.near_events.isdisjoint(line.sources)
        if is_near and len(line.sources) <= MAX_TOPIC_SOURCES + 1:  # and its own id
            return True
        return any(turn.is_on_line(line) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class EvidenceFinder:
    """Finds the gold evidence of the questions of one conversation."""

    conversation: BenchmarkConversation
    event_ids: Mapping[str, str]  # message key → event id
    weights: TermWeights

    @classmethod
    def from_conversation(
        cls, conversation: BenchmarkConversation, event_ids: Mapping[str, str]
    ) -> EvidenceFinder:
        texts = [message.text for message in conversation.messages]
        return cls(conversation, event_ids, TermWeights.from_texts(texts))

    def find_evidence(self, question: BenchmarkQuestion) -> GoldEvidence:
        """Return the gold turns of a question; a session without gold turns is not used."""
        asked = content_terms(question.text) | content_terms(question.answer or "")
        turns, near = [], set[str]()
        messages = self.conversation.messages
        for position, message in enumerate(messages):
            if message.key not in question.gold:
                continue
            turns.append(self._make_turn(message.key, message.text, asked))
            around = messages[max(0, position - 1) : position + 2]
            near |= {self.event_ids[m.key] for m in around if m.thread == message.thread}
        return GoldEvidence(turns=tuple(turns), near_events=frozenset(near))

    def _make_turn(self, key: str, text: str, asked: Terms) -> GoldTurn:
        sentence = choose_sentence(text, asked, self.weights)
        return GoldTurn(
            key=key,
            event_id=self.event_ids[key],
            words=normalize_words(text),
            sentence_words=normalize_words(sentence),
            sentence_terms=content_terms(sentence),
        )


def choose_sentence(text: str, asked: Terms, weights: TermWeights) -> str:
    """Return the sentence that shares most weight with question and answer.

    If several share as much, the sentence with most weight of its own is returned.
    """

    def rate_sentence(sentence: str) -> tuple[float, float]:
        terms = content_terms(sentence)
        return weights.sum_weights(terms & asked), weights.sum_weights(terms)

    return max(split_sentences(text), key=rate_sentence)


def count_repeated(lines: Sequence[ContextLine]) -> int:
    """Return the number of lines whose content other lines of the context show.

    Long lines are compared first, and a line that repeats others is not compared again. So a
    summary of three shown messages is one repetition, and so is a fact that quotes a message. Of
    two lines with the same content, the second is the repetition.
    """
    kept = dict(enumerate(lines))
    order = sorted(kept, key=lambda number: (-len(lines[number].terms), -number))
    for number in order:
        line = kept.pop(number)
        if not line.is_repeated(kept.values()):
            kept[number] = line
    return len(lines) - len(kept)
