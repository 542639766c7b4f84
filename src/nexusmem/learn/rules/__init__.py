"""Rule-based extraction: entities, facts, identities and landmarks from one message.

Deterministic and free of model calls: a compact grammar of English clauses (`clauses`), a table of
relations (`relations`), and a check for assertions (`assertions`). The rules skip what they cannot
parse. The message stays searchable as a passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...text.dates import DateSpan, find_dates
from .assertions import is_question
from .clauses import Clause, parse_clauses
from .coreference import Speakers
from .entities import find_entities, find_files
from .facts import FactReader
from .instructions import SpeakerPolicy
from .landmarks import (
    ParsedSentence,
    apply_decisions,
    find_landmarks,
    is_pledge,
    may_hold_landmarks,
)
from .noise import (
    find_foreign_names,
    is_english,
    is_junk,
    mask_quoted_text,
    mask_spans,
    secret_spans,
)
from .relations import find_identities, kin_identities, may_state_identity
from .results import (
    Entity,
    ExtractionResult,
    Identity,
    Landmark,
    MessageContext,
    SourceMessage,
    Statement,
    TextSpan,
)
from .tokens import Token, split_sentences, tokenize

__all__ = ["ExtractionResult", "MessageContext", "SourceMessage", "extract"]

MAX_PATTERN_CHARACTERS = 600  # characters of a sentence that patterns are applied to
MIN_SENTENCE_WORDS = 3  # shorter ones say nothing: "Thanks, Bob"
MAX_MESSAGE_CHARACTERS = (
    50_000  # characters: text beyond this limit becomes passages and is not read for facts
)


def extract(message: SourceMessage, context: MessageContext) -> ExtractionResult:
    """Return everything the rules extract from one message. Never raises, for any text."""
    hidden = tuple(secret_spans(message.text))
    text = mask_quoted_text(mask_spans(message.text, hidden)[:MAX_MESSAGE_CHARACTERS])
    words = tokenize(text)
    voice = SpeakerPolicy.for_message(message, context)
    if is_junk(text, words) or voice.is_hostile(text):
        return ExtractionResult(secrets=hidden)
    cast = Speakers.from_message(message, voice.restrict_context(context))
    if not is_english(words):
        named = find_foreign_names(text, cast) if len(words) >= MIN_SENTENCE_WORDS else ()
        return ExtractionResult(entities=_merge_file_entities(text, tuple(named)), secrets=hidden)
    reading = _MessageReader(message, voice, cast, text, find_dates(text, message.at))
    for sentence in split_sentences(words):
        reading.read_sentence(sentence)
    return ExtractionResult(
        entities=_merge_file_entities(
            text, find_entities(words, reading.facts, reading.speakers, reading.dates)
        ),
        facts=tuple(reading.facts),
        identities=tuple(reading.identities),
        landmarks=tuple(reading.landmarks),
        secrets=hidden,
    )


def _merge_file_entities(text: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Return names and files. A name that is part of a file name is dropped."""
    documents = tuple(find_files(text))
    if not documents:
        return tuple(entities)
    inside = {span for each in documents for span in each.mentions}
    apart = [
        each
        for each in entities
        if not any(
            outer.start <= span.start and span.end <= outer.end
            for span in each.mentions
            for outer in inside
        )
    ]
    return (*apart, *documents)


@dataclass(slots=True)
class _MessageReader:
    """Extraction state of one message, sentence by sentence."""

    message: SourceMessage
    policy: SpeakerPolicy
    speakers: Speakers
    text: str
    dates: Sequence[DateSpan]
    facts: list[Statement] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    landmarks: list[Landmark] = field(default_factory=list)
    instruction_spans: list[TextSpan] = field(init=False)
    may_have_identities: bool = field(init=False)
    fact_reader: FactReader = field(init=False)

    def __post_init__(self) -> None:
        self.instruction_spans = self.policy.instruction_spans(self.text)
        self.may_have_identities = may_state_identity(self.text)
        self.fact_reader = FactReader(self.speakers, self.dates, self.message.at)

    def read_sentence(self, sentence: Sequence[Token]) -> None:
        start, end = sentence[0].start, sentence[-1].end
        ordered = self.instruction_spans and any(
            order.start < end and start < order.end for order in self.instruction_spans
        )
        if len(sentence) < MIN_SENTENCE_WORDS or ordered:
            return  # an instruction to the model is never a fact
        question = is_question(sentence)
        found = [] if question else parse_clauses(sentence)  # a question asserts nothing
        person = self.policy.is_person
        aliases = (
            list(self._find_identities(start, end)) if person and self.may_have_identities else []
        )
        facts = [] if aliases or question else self.fact_reader.read_facts(sentence, found)
        low = frozenset([word.lower for word in sentence])
        if not self.policy.is_external and may_hold_landmarks(low, found, facts):
            said = self._build_sentence(sentence, low, found, facts, question=question)
            turning = list(find_landmarks(said))
            self.landmarks += self.policy.filter_landmarks(turning)
            facts = (
                [] if is_pledge(said) else apply_decisions(turning, facts)
            )  # a promise is not a fact yet
        silent = person and not facts and not aliases and not question
        if silent and not self.fact_reader.append_continuation(self.facts, sentence):
            facts = list(self.fact_reader.read_opinions(sentence, found))
        self.facts += self.policy.filter_facts(facts)
        self.identities += aliases
        self.identities += kin_identities(facts) if person else ()

    def _find_identities(self, start: int, end: int) -> Iterator[Identity]:
        return find_identities(
            self.text[start : min(end, start + MAX_PATTERN_CHARACTERS)], start, self.speakers
        )

    def _build_sentence(
        self,
        words: Sequence[Token],
        lower_words: frozenset[str],
        clauses: Sequence[Clause],
        facts: Sequence[Statement],
        *,
        question: bool,
    ) -> ParsedSentence:
        start, end = words[0].start, words[-1].end
        return ParsedSentence(
            words=words,
            text=self.text[start : min(end, start + MAX_PATTERN_CHARACTERS)],
            clauses=clauses,
            facts=facts,
            is_question=question,
            render=lambda: (
                facts[0].sentence if len(facts) == 1 else self.fact_reader.write_sentence(words)
            ),
            lower_words=lower_words,
            speakers=self.speakers,
            dates=[span for span in self.dates if start <= span.start < end],
            at=self.message.at,
        )
