"""Coreference: resolve pronouns to the speaker, the room and recently mentioned names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...text.terms import STOP_WORDS
from .lexicon import (
    ADVERBS,
    FEMALE_NOUNS,
    KIN,
    MALE_NOUNS,
    PARENTS,
    PLURAL_NOUNS,
    POSSESSIVES,
    word_set,
)
from .results import MessageContext, SourceMessage
from .tokens import NAME_WORD, Token, tokenize

PRONOUN_WINDOW = 2  # earlier messages in which a pronoun may find its name

FEMALE_NAMES = word_set(
    """sarah mary anna emma olivia sophia julia jenny jennifer maria laura linda susan karen lisa
    nancy alice carol caroline melanie priya nadia fatima chloe ines olga katarzyna erin
    dana hannah emily jessica amy angela helen kate katie lucy rachel rebecca victoria maya
    nina eva elena sofia claire"""
)
MALE_NAMES = word_set(
    """john james robert michael william david richard joseph thomas tom charles daniel matthew
    mark paul george kevin brian steven edward peter henry jack ryan tyler sam samuel bob
    rob luis marco diego leo ravi henrik marcus evan tim adam alex ben chris eric frank greg
    ian jim joe josh luke max nick oliver oscar patrick pedro simon steve tony"""
)
PRIVATE_NOUNS = word_set(  # "ours" refers to the speakers, also in a project room
    """company family house home wedding kids children dog cat parents flat apartment garden car
    neighbors neighbours anniversary son daughter marriage honeymoon baby fence landlord place"""
)


@dataclass(slots=True)
class Speakers:
    """The names that "I", "we", "you" and "she" refer to in one message."""

    speaker: str
    group: str  # "we"
    addressee: str | None  # "you", if only one person is possible
    all_participants: str  # owners of joint decisions and plans
    project: str | None
    known_names: frozenset[str]
    recent: Sequence[SourceMessage] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    mentions: list[tuple[str, str]] = field(default_factory=list)  # name, pronoun
    _scanned_recent: bool = False

    @classmethod
    def from_message(cls, message: SourceMessage, context: MessageContext) -> Speakers:
        others = [name for name in context.participants if name != message.speaker]
        everybody = " and ".join([message.speaker, *others]) if others else message.speaker
        known = {*context.known_names, *context.participants, message.speaker}
        return cls(
            speaker=message.speaker,
            group=context.project or message.speaker,
            addressee=others[0] if len(others) == 1 else None,
            all_participants=context.project or everybody,
            project=context.project,
            known_names=frozenset(
                part.lower() for name in known for part in (name, *name.split())
            ).difference(STOP_WORDS),
            recent=context.recent,
            types=context.types,
        )

    def add_mention(self, name: str, phrase: str) -> None:
        """Register a mentioned person, so that later pronouns can refer to them."""
        if name not in (self.speaker, self.project):
            self.mentions.append((name, _guess_pronoun(phrase)))

    def resolve_pronoun(self, pronoun: str) -> str | None:
        """Return the name a pronoun refers to: for the third person the nearest, None if
        ambiguous.
        """
        if pronoun in ("i", "we"):
            return self.speaker if pronoun == "i" else self.group
        if pronoun not in ("he", "she", "they"):
            return None
        if not self._scanned_recent:
            self._scanned_recent = True
            self.mentions[:0] = [
                each
                for message in self.recent[-PRONOUN_WINDOW:]
                for each in _find_mentions(message)
            ]
        fitting = [name for name, fits in self.mentions[-4:] if fits == pronoun]
        if fitting:
            return fitting[-1]
        unsure = {name for name, fits in self.mentions[-4:] if fits == "?"}
        return unsure.pop() if len(unsure) == 1 and pronoun in ("he", "she") else None

    def split_names(self, names: str, *, people_only: bool) -> list[str]:
        """Split a coordination: "Tyler and Sarah" are two, "Marks and Spencer" is one unless
        `people`.
        """
        parts = NAME_SEPARATOR.split(names) if " and " in names else [names]
        if len(parts) == 1 or not all(NAME_PATTERN.fullmatch(part) for part in parts):
            return [names]
        known = all(_is_person_name(part.lower(), self.known_names) for part in parts)
        return parts if people_only or known else [names]

    def resolve_our(self, noun: str) -> str:
        return self.speaker if noun in PRIVATE_NOUNS or noun in KIN else self.group

    def _resolve_possessive(self, possessive: str, noun: str) -> str | None:
        if possessive == "my":
            return self.speaker
        if possessive == "our":
            return self.resolve_our(noun)
        return (
            self.addressee
            if possessive == "your"
            else self.resolve_pronoun(PRONOUN_OF_POSSESSIVE.get(possessive, ""))
        )

    def resolve_phrase(self, phrase: Sequence[Token]) -> str | None:
        """Return the name that a noun phrase refers to, or None."""
        while phrase and (phrase[0].lower in ADVERBS or phrase[0].kind == "mark"):
            phrase = phrase[1:]
        if not phrase:
            return None
        first = phrase[0].lower
        rest = join_tokens(phrase[1:])
        if first in POSSESSIVES:
            owner = self._resolve_possessive(first, phrase[-1].lower)
            kin = _apposition_name(phrase) if first in ("my", "our") else None
            return kin or (f"{owner}'s {rest}" if owner else None)
        if first in PARENTS and (len(phrase) == 1 or phrase[1].lower == "'s"):
            return f"{self.speaker}'s {first}{_join_tail(phrase, 1)}"
        if first in ("the", "a", "an"):
            return rest or None
        if first in ("this", "that", "these", "those"):
            return None
        return re.sub(r"\bmy\b", f"{self.speaker}'s", join_tokens(phrase))


NAME_SEPARATOR = re.compile(r",? and |, ")
NAME_PATTERN = re.compile(rf"(?:[^\W\d_][\w-]*|{NAME_WORD})(?: {NAME_WORD}){{0,2}}")


def _is_person_name(lowercase: str, known: frozenset[str]) -> bool:
    return (
        lowercase in known
        or (first := lowercase.split(maxsplit=1)[0]) in FEMALE_NAMES
        or first in MALE_NAMES
    )


PRONOUN_OF_POSSESSIVE = {"his": "he", "her": "she", "their": "they"}


def join_tokens(phrase: Sequence[Token]) -> str:
    """Join words with single spaces, in their original spelling."""
    text = ""
    for place, word in enumerate(phrase):
        apart = place > 0 and phrase[place - 1].end < word.start
        text += (" " if apart else "") + word.text
    return text


def _join_tail(phrase: Sequence[Token], position: int) -> str:
    tail = join_tokens(phrase[position:])
    return tail if tail.startswith(("'", "’")) or not tail else f" {tail}"


def _apposition_name(phrase: Sequence[Token]) -> str | None:
    """Return "Tom" for "my brother Tom"."""
    for place in range(1, len(phrase) - 1):
        if phrase[place].lower in KIN and phrase[place + 1].text[:1].isupper():
            return join_tokens(phrase[place + 1 :])
    return None


def _guess_pronoun(phrase: str) -> str:
    found = set(phrase.lower().replace("'s", " ").split())
    if " and " in phrase or found & PLURAL_NOUNS:
        return "they"
    last = phrase.lower().split()[-1] if phrase else ""
    if last in FEMALE_NOUNS or last in FEMALE_NAMES:
        return "she"
    if last in MALE_NOUNS or last in MALE_NAMES:
        return "he"
    if last in KIN or (len(found) == 1 and phrase[:1].isupper()):
        return "?"
    return "it"


def _find_mentions(message: SourceMessage) -> list[tuple[str, str]]:
    """Return mentions of an earlier message: names inside sentences, and people called "my
    …".
    """
    found: list[tuple[str, str]] = []
    before = ""
    for word in tokenize(message.text[:2000]):
        person = word.lower in FEMALE_NAMES or word.lower in MALE_NAMES
        if person and word.text[:1].isupper() and word.text != message.speaker:
            found.append((word.text, _guess_pronoun(word.text)))
        elif before == "my" and word.lower in KIN:
            found.append((f"{message.speaker}'s {word.lower}", _guess_pronoun(word.lower)))
        before = word.lower
    return found
