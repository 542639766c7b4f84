"""A label for one message: what it is about, in a headline, a few sentences, topics and names.

Made from what the rules found, and from the message's own words where they found nothing. Labels
are never searched by their text: they tell which conversation knows whom, and what was talked
about there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..core.records import Draft, Event, EventKind, MemoryKind
from .rules.extracted import Extracted, Landmark, LandmarkKind, Statement
from .rules.instructions import instructions
from .rules.junk import told
from .rules.lexicon import ENGLISH, FOREIGN
from .rules.secrets import blanked
from .rules.verbs import FORMS, third
from .topics import content_words, small_letters, topics

LONGEST_READ = 4_000  # characters that sentences and topics are chosen from
LONGEST_TEXT = 300
LONGEST_NAME = 80
MOST_SENTENCES = 3
MOST_QUOTED = 2
MOST_ENTITIES = 24
HEADLINE = 6  # words
MANY_WORDS, FRESH = 40, 0.2  # of so many words, this share must be different ones

SENTENCE = re.compile(r"[^\n]+?(?:[.!?…]+(?=\s|$)|(?=\n)|$)")  # a dot in an address ends none
DANGLING = frozenset(
    """a an the of to in on at by for with from and or but as about into their his her its our my
    your that which who is are was be not very so""".split()
)
VAGUE = frozenset("THINKS SAYS FEEL FEELS IS WANTS THINK".split())
KINDS = {
    LandmarkKind.DECISION: "Decision:",
    LandmarkKind.ACTION_ITEM: "To do:",
    LandmarkKind.COMMITMENT: "Promise:",
    LandmarkKind.PREFERENCE_STATED: "Preference:",
    LandmarkKind.CORRECTION: "Correction:",
}

Said = Statement | Landmark


def label_draft(event: Event, extracted: Extracted) -> Draft | None:
    """The label of a message, or nothing for one that is about nothing."""
    if event.kind is not EventKind.MESSAGE:
        return None
    known = bool(extracted.facts or extracted.landmarks)
    text = _own_words(event, extracted)
    words = small_letters(text)
    if not known and not _readable(words):
        return None
    names = _names(extracted, event.speaker)
    about = topics(words, [*names, event.speaker], [fact.object for fact in extracted.facts])
    if not known and _is_small_talk(about, names):
        return None
    return Draft(
        scope=event.scope,
        kind=MemoryKind.EPISODE,
        text=_summary(extracted) if known else _quotation(event.speaker, text, about),
        sources=(event.id,),
        slot="turn",
        indexed_text="",  # found by its names and its thread only
        speaker=event.speaker,
        role=event.role,
        source=str(event.metadata.get("source", "message")),
        thread=event.thread,
        learned=True,
        metadata={"made_by": ["rules"]},
        body={
            "span": "turn",
            "label": _headline(event.speaker, text, extracted, about),
            "topics": about,
            "entities": names,
        },
    )


def _own_words(event: Event, extracted: Extracted) -> str:
    """What the speaker said: no secrets, no code, no quoted mail, and no orders to a model."""
    text = blanked(event.text, extracted.secrets) if extracted.secrets else event.text
    text = text[:LONGEST_READ]
    if ">" in text or "```" in text or "~~~" in text:
        text = told(text)
    orders = instructions(text)
    if not orders:
        return text
    kept = [
        match.group()
        for match in SENTENCE.finditer(text)
        if not any(each.start < match.end() and match.start() < each.end for each in orders)
    ]
    return "".join(kept)


def _readable(words: Sequence[str]) -> bool:
    """Whether it is English, and not one thing again and again."""
    different = set(words)
    if len(words) > MANY_WORDS and len(different) < FRESH * len(words):
        return False
    english = len(different & ENGLISH)
    return english > 0 and len(different & FOREIGN) <= english


def _is_small_talk(about: Sequence[str], names: Sequence[str]) -> bool:
    words = sum(topic.count(" ") + 1 for topic in about)
    return words < 2 and not (words and names)


def _names(extracted: Extracted, speaker: str) -> list[str]:
    """Who and what it speaks of, spelt as its facts spell them; each once."""
    found: dict[str, str] = {}
    for name in _every_name(extracted):
        if name and len(name) <= LONGEST_NAME and (name == speaker or _is_name(name)):
            found.setdefault(name.casefold(), name)
    return list(found.values())[:MOST_ENTITIES]


def _is_name(said: str) -> bool:
    """Whether it is spelt like a name: a pup from Stamford is a thing, an iPhone is not."""
    return said[0].isupper() or (" " not in said and said != said.lower())


def _every_name(extracted: Extracted) -> Iterator[str | None]:
    for fact in extracted.facts:
        yield fact.subject
        if " and " in fact.subject:  # Tyler and Sarah: each of them, too
            yield from fact.subject.split(" and ")
        yield fact.object
    for identity in extracted.identities:
        yield identity.owner
    for entity in extracted.entities:
        yield entity.name


# -- one to three sentences


def _summary(extracted: Extracted) -> str:
    """The sentences of its landmarks and facts, in the order they were said."""
    chosen: list[Said] = []
    for said in _by_weight(extracted):
        apart = all(said.source.start != each.source.start for each in chosen)
        if apart and len(chosen) < MOST_SENTENCES:
            chosen.append(said)
    chosen.sort(key=lambda said: said.source.start)
    return _fitted(_sentence(said) for said in chosen)


def _by_weight(extracted: Extracted) -> list[Said]:
    facts = sorted(extracted.facts, key=_weight) if len(extracted.facts) > 1 else extracted.facts
    return [*extracted.landmarks, *facts]


def _weight(fact: Statement) -> tuple[bool, float]:
    """What is said for sure of something definite comes first."""
    return fact.predicate in VAGUE, -fact.confidence


def _sentence(said: Said) -> str:
    return said.sentence if isinstance(said, Statement) else said.text


def _quotation(speaker: str, text: str, about: Sequence[str]) -> str:
    """The sentences that hold the most of its topics, as the speaker's words."""
    found = [match.group().strip() for match in SENTENCE.finditer(text)]
    ranked = sorted(found, key=lambda sentence: -_topics_in(sentence, about))
    best = [sentence for sentence in ranked[:MOST_QUOTED] if _topics_in(sentence, about)]
    verb = "asked" if best and all(each.endswith("?") for each in best) else "said"
    quoted = [sentence for sentence in found if sentence in best]
    opening = f"{speaker[:LONGEST_NAME]} {verb}: "
    return f"{opening}“{_fitted(quoted, LONGEST_TEXT - len(opening) - 2)}”"


def _topics_in(sentence: str, about: Sequence[str]) -> int:
    low = sentence.lower()
    return sum(len(topic) for topic in about if topic in low)


def _fitted(sentences: Iterable[str], room: int = LONGEST_TEXT) -> str:
    """As many whole sentences as there is room for; the first is cut if it must be."""
    kept = ""
    for sentence in dict.fromkeys(" ".join(each.split()) for each in sentences):
        joined = f"{kept} {sentence}" if kept else sentence
        if len(joined) > room:
            return kept or _cut(sentence, room)
        kept = joined
    return kept


def _cut(sentence: str, room: int) -> str:
    whole = sentence[:room].rpartition(" ")[0] if len(sentence) >= room else sentence
    return f"{(whole or sentence)[: room - 1]}…"


# -- the headline


def _headline(speaker: str, text: str, extracted: Extracted, about: Sequence[str]) -> str:
    if extracted.landmarks:
        return _of_landmark(extracted.landmarks[0])
    who = " ".join(speaker.split()[:2])
    if extracted.facts:
        return _of_fact(min(extracted.facts, key=_weight), f"{who}:", about)
    return _with_topics(f"{who} asks:" if text.rstrip().endswith("?") else f"{who}:", about)


def _of_landmark(landmark: Landmark) -> str:
    kind = KINDS[landmark.kind]
    words = content_words(landmark.right or landmark.text)
    return " ".join([kind, *words[: HEADLINE - len(kind.split())]])


def _of_fact(fact: Statement, opening: str, about: Sequence[str]) -> str:
    """The sentence itself if it is short, or else who, what, and as much of the rest as fits."""
    words = fact.sentence.split()
    if len(words) > HEADLINE and about and (fact.negated or _rambles(fact)):
        return _with_topics(opening, about)
    if len(words) > HEADLINE and not fact.negated:
        words = [*fact.subject.split(), *_verb(fact.predicate), *_said_of(fact).split()]
    words = words[:HEADLINE]
    while len(words) > 2 and words[-1].lower() in DANGLING:
        words.pop()
    return " ".join(words).rstrip(".,;:!")


def _rambles(fact: Statement) -> bool:
    """Whether what is said is half a sentence rather than a thing."""
    return fact.predicate in VAGUE or (fact.value or "").count(" ") >= HEADLINE - 2


def _verb(predicate: str) -> list[str]:
    """WORKS_AT is works at; a verb that stands as in a dictionary gets its ending."""
    first, *rest = predicate.lower().split("_")
    form = FORMS.get(first)
    return [third(first) if form and form.lemma == first else first, *rest]


def _said_of(fact: Statement) -> str:
    words = (fact.object or fact.value or "").split()
    while words and words[0].lower() in DANGLING:
        words.pop(0)
    return " ".join([*([fact.aspect] if fact.aspect else []), *words])


def _with_topics(opening: str, about: Sequence[str]) -> str:
    """Whole topics, as many as fit; at least some words of the first."""
    room = HEADLINE - opening.count(" ") - 1
    kept = about[0].split()[:room]
    for topic in about[1:]:
        words = topic.split()
        if len(kept) + len(words) > room:
            break
        kept[-1] += ","
        kept += words
    return " ".join([opening, *kept])
