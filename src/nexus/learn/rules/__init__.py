"""From one message to entities, facts, identities and landmarks, by rules alone.

Deterministic and free: a compact grammar of English clauses (`clauses`), a table of relations
(`relations`), and a sense for what is asserted at all (`mood`). What it cannot read it leaves
alone: the message itself stays findable as a passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...core.dates import DateSpan, dates_in
from .cast import Cast
from .clauses import Clause, clauses
from .entities import entities, files
from .extracted import Context, Entity, Extracted, Identity, Landmark, Message, Span, Statement
from .facts import FactReader
from .foreign import names_in_other_languages
from .identities import identities, kin, may_name
from .instructions import Voice
from .junk import is_english, is_junk, told
from .landmarks import Sentence, is_pledge, landmarks, may_hold_landmarks, settled
from .mood import is_question
from .secrets import blanked, secrets
from .tokens import Token, sentences, tokens

__all__ = ["Context", "Extracted", "Message", "extract"]

LONGEST_SEARCHED = 600  # characters of a sentence that patterns see
SHORTEST = 3  # words: "Thanks, Bob"
LONGEST_READ = 50_000  # characters: what is beyond is kept as passages, and not read for facts


def extract(message: Message, context: Context) -> Extracted:
    """Everything the rules find in one message. Never raises, whatever the text."""
    hidden = tuple(secrets(message.text))
    text = told(blanked(message.text, hidden)[:LONGEST_READ])
    words = tokens(text)
    voice = Voice.of(message, context)
    if is_junk(text, words) or voice.hostile(text):
        return Extracted(secrets=hidden)
    cast = Cast.of(message, voice.context(context))
    if not is_english(words):
        named = names_in_other_languages(text, cast) if len(words) >= SHORTEST else ()
        return Extracted(entities=_named(text, tuple(named)), secrets=hidden)
    reading = _Reading(message, voice, cast, text, dates_in(text, message.at))
    for sentence in sentences(words):
        reading.read(sentence)
    return Extracted(
        entities=_named(text, entities(words, reading.facts, reading.cast, reading.dates)),
        facts=tuple(reading.facts),
        identities=tuple(reading.identities),
        landmarks=tuple(reading.landmarks),
        secrets=hidden,
    )


def _named(text: str, found: Sequence[Entity]) -> tuple[Entity, ...]:
    """Names and files; a name that is a part of a file's is none."""
    documents = tuple(files(text))
    if not documents:
        return tuple(found)
    inside = {span for each in documents for span in each.mentions}
    apart = [
        each
        for each in found
        if not any(
            outer.start <= span.start and span.end <= outer.end
            for span in each.mentions
            for outer in inside
        )
    ]
    return (*apart, *documents)


@dataclass(slots=True)
class _Reading:
    """One message, sentence after sentence."""

    message: Message
    voice: Voice
    cast: Cast
    text: str
    dates: Sequence[DateSpan]
    facts: list[Statement] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    landmarks: list[Landmark] = field(default_factory=list)
    orders: list[Span] = field(init=False)
    naming: bool = field(init=False)
    reader: FactReader = field(init=False)

    def __post_init__(self) -> None:
        self.orders = self.voice.orders(self.text)
        self.naming = may_name(self.text)
        self.reader = FactReader(self.cast, self.dates, self.message.at)

    def read(self, sentence: Sequence[Token]) -> None:
        start, end = sentence[0].start, sentence[-1].end
        ordered = self.orders and any(
            order.start < end and start < order.end for order in self.orders
        )
        if len(sentence) < SHORTEST or ordered:
            return  # what talks to the model is never a fact, whoever wrote it
        question = is_question(sentence)
        found = [] if question else clauses(sentence)  # a question asserts and plans nothing
        person = self.voice.person
        aliases = list(self._aliases(start, end)) if person and self.naming else []
        facts = [] if aliases or question else self.reader.read(sentence, found)
        low = frozenset([word.low for word in sentence])
        if not self.voice.distant and may_hold_landmarks(low, found, facts):
            said = self._said(sentence, low, found, facts, question=question)
            turning = list(landmarks(said))
            self.landmarks += self.voice.landmarks(turning)
            facts = [] if is_pledge(said) else settled(turning, facts)  # a promise is no fact yet
        silent = person and not facts and not aliases and not question
        if silent and not self.reader.continued(self.facts, sentence):
            facts = list(self.reader.opinions(sentence, found))
        self.facts += self.voice.facts(facts)
        self.identities += aliases
        self.identities += kin(facts) if person else ()

    def _aliases(self, start: int, end: int) -> Iterator[Identity]:
        return identities(self.text[start : min(end, start + LONGEST_SEARCHED)], start, self.cast)

    def _said(
        self,
        words: Sequence[Token],
        low: frozenset[str],
        found: Sequence[Clause],
        facts: Sequence[Statement],
        *,
        question: bool,
    ) -> Sentence:
        start, end = words[0].start, words[-1].end
        return Sentence(
            words=words,
            text=self.text[start : min(end, start + LONGEST_SEARCHED)],
            clauses=found,
            facts=facts,
            question=question,
            write=lambda: facts[0].sentence if len(facts) == 1 else self.reader.write(words),
            low=low,
            cast=self.cast,
            dates=[span for span in self.dates if start <= span.start < end],
            at=self.message.at,
        )
