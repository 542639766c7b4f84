"""Coreference: the names that pronouns and noun phrases of a message refer to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...text.gazetteer import is_first_name, name_type, person_gender
from ...text.terms import STOP_WORDS
from .grammar import Clause, Phrase
from .lexicon import FEMALE_NOUNS, KIN, MALE_NOUNS, PARENTS, PLURAL_NOUNS, word_set
from .results import MessageContext, SourceMessage

PRONOUN_WINDOW = 2  # earlier messages in which a pronoun may find its name
MAX_SCANNED_CHARS = 2_000
MAX_NAMES = 4  # nearest mentions among which a pronoun chooses
WE = "we"  # the people of the place, if it has no project
FIRST_PERSON = word_set("i me my mine myself im")
FIRST_PLURAL = word_set("we us our ours ourselves")
SECOND_PERSON = word_set("you your yours u")
THIRD_PERSON = {
    **dict.fromkeys(("he", "him", "his", "himself"), "he"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "she"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
    **dict.fromkeys(("it", "its"), "it"),
}
INDEFINITE = word_set(
    """this that these those there what which who whom someone somebody anyone anybody everyone
    everybody something anything everything nothing nobody none one ones some any all both each
    another other others mine yours here same such rest lot lots thing things stuff bit way kind
    sort people guys folks woman man lady girl boy person guy someone's"""
)
PRIVATE_NOUNS = word_set(  # "ours" refers to the speakers, also in a project room
    """family house home wedding kids children dog cat parents flat apartment garden car neighbors
    neighbours anniversary son daughter marriage honeymoon baby fence landlord place"""
)
TITLES = word_set("mr mrs ms miss mister dr prof doctor professor sir")
CAPITALIZED = re.compile(r"(?<![\w@#])[^\W\d_a-z][^\W\d_]+(?:[ -][^\W\d_a-z][^\W\d_]+)?")


@dataclass(slots=True)
class Speakers:
    """The names that "I", "we", "you" and "she" refer to in one message."""

    speaker: str
    group: str  # "we"
    addressee: str | None  # "you", if only one person is possible
    project: str | None
    known_names: frozenset[str]  # words of known names, lower case
    participants: tuple[str, ...] = ()
    recent: Sequence[SourceMessage] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    mentions: list[tuple[str, str]] = field(default_factory=list)  # name, pronoun
    pending: list[tuple[str, str]] = field(default_factory=list)  # of the clause being read
    relatives: dict[str, str] = field(default_factory=dict)  # "Alice's boss" → "Priya"
    _scanned_recent: bool = False

    @classmethod
    def from_message(cls, message: SourceMessage, context: MessageContext) -> Speakers:
        others = tuple(name for name in context.participants if name != message.speaker)
        known = {*context.known_names, *context.participants, message.speaker}
        return cls(
            speaker=message.speaker,
            group=context.project or WE,
            addressee=others[0] if len(others) == 1 else _find_salutation(message.text),
            project=context.project,
            known_names=frozenset(
                part.lower() for name in known for part in (name, *name.split())
            ).difference(STOP_WORDS),
            participants=others,
            recent=context.recent,
            types=context.types,
        )

    def add_mention(self, name: str, phrase: Phrase | None = None) -> None:
        """Register a mentioned person or thing, so that later pronouns can refer to it."""
        name = self.relatives.get(name, name)
        if name in (self.speaker, self.project, WE) or "@" in name:
            return
        if "'s " in name and name.rsplit(maxsplit=1)[-1].lower() not in KIN:
            return
        self.pending.append((name, _guess_pronoun(name, phrase)))

    def end_clause(self) -> None:
        """Let later clauses refer to the mentions of this one."""
        fresh = [name for name, fits in self.pending if fits in ("he", "she")]
        if len(set(fresh)) == len(fresh) > 1:  # "Paula met Irene. She …": nobody knows who
            kinds = {fits for _, fits in self.pending if fits in ("he", "she")}
            for kind in kinds:
                same = {name for name, fits in self.pending if fits == kind}
                if len(same) > 1:
                    self.pending.append(("", kind))
        self.mentions += self.pending
        self.pending = []

    def resolve_pronoun(self, pronoun: str) -> str | None:
        """Return the nearest mention that fits a pronoun of the third person; None if unclear."""
        if not self._scanned_recent:
            self._scanned_recent = True
            earlier = [
                each
                for message in self.recent[-PRONOUN_WINDOW:]
                for each in _find_mentions(message)
            ]
            self.mentions[:0] = earlier
        near = self.mentions[-MAX_NAMES:]
        fitting = [name for name, fits in near if fits == pronoun]
        if fitting and not fitting[-1]:
            return None
        if fitting:
            return fitting[-1] if pronoun != "it" or len(set(fitting)) == 1 else None
        if pronoun == "they":  # a company
            named = [
                name
                for name, fits in near
                if name[:1].isupper()
                and fits in ("it", "?")
                and not is_first_name(name.split()[0])
                and name_type(name) != "place"
            ]
            return named[-1] if len(set(named)) == 1 else None
        unsure = [name for name, fits in near if fits == "?"]
        return unsure[-1] if len(set(unsure)) == 1 and pronoun in ("he", "she") else None

    def resolve(self, phrase: Phrase, clause: Clause | None = None) -> str | None:
        """Return the name that a noun phrase refers to; None if that is not clear."""
        word = phrase.token.text.lower()
        if word in FIRST_PERSON or phrase.lemma == "i":
            return self._quoted_or_speaker(clause)
        if word in FIRST_PLURAL:
            return self.group if clause is None or clause.quoted_speaker is None else None
        if word in SECOND_PERSON:
            return self.addressee
        if word in THIRD_PERSON:
            return self.resolve_pronoun(THIRD_PERSON[word])
        if word in INDEFINITE or phrase.is_pronoun:
            return None
        return self._resolve_noun(phrase, clause)

    def _quoted_or_speaker(self, clause: Clause | None) -> str | None:
        if clause is not None and clause.quoted_speaker is not None:
            return self.resolve(clause.quoted_speaker)
        return self.speaker

    def _resolve_noun(self, phrase: Phrase, clause: Clause | None) -> str | None:
        name = phrase.apposition or _name_after_kin(phrase)
        word = phrase.lemma
        if name is not None and (word in KIN or phrase.token.upos == "NOUN"):
            return name.text
        if phrase.possessor is not None:
            return self._resolve_possessed(phrase, clause)
        if word in PARENTS and not phrase.determiner:
            return f"{self.speaker}'s {word}"
        text = phrase.text
        first, _, rest = text.partition(" ")
        if first.lower() in KIN and rest[:1].isupper():  # "my cousin Pekka" as one name
            text = rest
        return text if text and any(map(str.isalnum, text)) else None

    def _resolve_possessed(self, phrase: Phrase, clause: Clause | None) -> str | None:
        owner = self.resolve_owner(phrase, clause)
        if owner is None:
            return None
        rest = own_text(phrase)
        if owner in (WE, self.project) or (owner == self.speaker and phrase.lemma not in KIN):
            return rest
        return f"{owner}'s {rest}"

    def resolve_owner(self, phrase: Phrase, clause: Clause | None = None) -> str | None:
        """Return the owner that the possessive of a phrase names; None without one."""
        possessor = phrase.possessor
        if possessor is None:
            return None
        token = phrase.tree.sentence[possessor]
        word = token.text.lower()
        if word in FIRST_PERSON:
            return self._quoted_or_speaker(clause)
        if word in FIRST_PLURAL:
            private = phrase.lemma in PRIVATE_NOUNS or phrase.lemma in KIN
            return self.speaker if private and self.project else self.group
        if word in SECOND_PERSON:
            return self.addressee
        if word in THIRD_PERSON:
            return self.resolve_pronoun(THIRD_PERSON[word])
        return self.resolve(Phrase(phrase.tree, possessor), clause)


SALUTATION = re.compile(
    r"^\W*(?:Subject:[^\n]*\n\s*)?(?:Dear|Hi|Hello|Hey|Hallo)\s+(?P<name>(?:(?:Mr|Mrs|Ms"
    r"|Dr)\.?\s+)?[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)?)\s*[,!:\n]"
)
NO_SALUTATION = word_set(
    "all everyone team folks colleagues customer parents tenants guys there sir madam one"
)


def _find_salutation(text: str) -> str | None:
    """Return the person whom a letter greets: "Dear Lucía, …"."""
    match = SALUTATION.match(text[:200])
    return match["name"] if match and match["name"].lower() not in NO_SALUTATION else None


def _name_after_kin(phrase: Phrase) -> Phrase | None:
    """Return the name after "my neighbour", which the tree may attach elsewhere."""
    at = phrase.head + 1
    sentence = phrase.tree.sentence
    if phrase.lemma not in KIN or phrase.possessor is None or at >= len(sentence):
        return None
    is_name = sentence[at].upos == "PROPN" and sentence[at].text[:1].isupper()
    return Phrase(phrase.tree, at) if is_name else None


def own_text(phrase: Phrase) -> str:
    """Return a phrase without its owner: "car" for "my car" and "Theo's car"."""
    positions = phrase.positions
    if phrase.possessor is not None:
        skip = {phrase.possessor, *phrase.tree.subtree(phrase.possessor)}
        positions = [at for at in positions if at not in skip]
    return phrase.tree.join(positions)


def _guess_pronoun(name: str, phrase: Phrase | None) -> str:
    words = name.lower().replace("'s", " ").split()
    if not words:
        return "it"
    last, first = words[-1], words[0]
    plural = (
        phrase is not None
        and phrase.token.upos == "NOUN"
        and last.endswith("s")
        and phrase.lemma != last
    )
    if last in PLURAL_NOUNS or " and " in name or plural:
        return "they"
    if last in FEMALE_NOUNS or first in ("mrs", "ms", "miss"):
        return "she"
    if last in MALE_NOUNS or first in ("mr", "mister"):
        return "he"
    if gender := person_gender(first):
        return {"they": "?"}.get(gender, gender)
    if last in KIN or first.rstrip(".") in TITLES:
        return "?"
    named = name[:1].isupper() and (phrase is None or phrase.token.upos == "PROPN")
    return "?" if named and phrase is not None and phrase.token.deprel.startswith("nsubj") else "it"


def _find_mentions(message: SourceMessage) -> list[tuple[str, str]]:
    """Return first names of an earlier message, and people called "my …"."""
    found: list[tuple[str, str]] = []
    text = message.text[:MAX_SCANNED_CHARS]
    names = [match.group() for match in CAPITALIZED.finditer(text)]
    found += [
        (name, _guess_pronoun(name, None))
        for name in names
        if is_first_name(name.split()[0]) and name != message.speaker
    ]
    for match in re.finditer(r"\bmy (\w+)", text, re.IGNORECASE):
        if (word := match.group(1).lower()) in KIN:
            found.append((f"{message.speaker}'s {word}", _guess_pronoun(word, None)))
    return found
