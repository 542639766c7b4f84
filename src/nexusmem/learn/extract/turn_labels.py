"""Message labels: headline, short text, topics and entity names of one message.

A label is built from extracted facts and landmarks, or else from sentences of the message. Search
does not index the text of labels: they show which entities and topics a conversation has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...core.records import Draft, Event, EventKind, MemoryKind
from ...core.records.landmarks import LANDMARK_TYPES
from ..rules.instructions import find_instructions
from ..rules.lexicon import ENGLISH_WORDS, FOREIGN_WORDS
from ..rules.noise import mask_quoted_text, mask_spans
from ..rules.results import ExtractionResult, Landmark, Statement
from ..rules.verbs import VERB_FORMS, third_person
from .topics import content_words, extract_topics, lowercase_tokens

MAX_READ_CHARS = 4_000  # of a message, for sentences and topics
MAX_TEXT_CHARS = 300
MAX_NAME_CHARS = 80
MAX_SENTENCES = 3
MAX_QUOTED_SENTENCES = 2
MAX_ENTITIES = 24
HEADLINE_WORDS = 6
MANY_WORDS, MIN_DISTINCT_SHARE = 40, 0.2  # a longer text needs this share of distinct words

SENTENCE = re.compile(
    r"[^\n]+?(?:[.!?…]+(?=\s|$)|(?=\n)|$)"
)  # a dot inside an address ends no sentence
DANGLING_WORDS = frozenset(
    """a an the of to in on at by for with from and or but as about into their his her its our my
    your that which who is are was be not very so""".split()
)
VAGUE_PREDICATES = frozenset("THINKS SAYS FEEL FEELS IS WANTS THINK".split())

LabelItem = Statement | Landmark


def label_draft(event: Event, extracted: ExtractionResult) -> Draft | None:
    """Return the label of a message; None for small talk and unreadable text."""
    if event.kind is not EventKind.MESSAGE:
        return None
    has_statements = bool(extracted.facts or extracted.landmarks)
    text = _speaker_text(event, extracted)
    words = lowercase_tokens(text)
    if not has_statements and not _is_readable(words):
        return None
    names = _collect_names(extracted, event.speaker)
    topics = extract_topics(
        words, [*names, event.speaker], [fact.object for fact in extracted.facts]
    )
    if not has_statements and _is_small_talk(topics, names):
        return None
    return Draft(
        scope=event.scope,
        kind=MemoryKind.EPISODE,
        text=_summary_text(extracted)
        if has_statements
        else _quote_sentences(event.speaker, text, topics),
        sources=(event.id,),
        slot="turn",
        indexed_text="",  # labels are looked up by names and thread only
        speaker=event.speaker,
        role=event.role,
        source=str(event.metadata.get("source", "message")),
        thread=event.thread,
        learned=True,
        metadata={"made_by": ["rules"]},
        body={
            "span": "turn",
            "label": _make_headline(event.speaker, text, extracted, topics),
            "topics": topics,
            "entities": names,
        },
    )


def _speaker_text(event: Event, extracted: ExtractionResult) -> str:
    """Return the text without secrets, code, quoted mail and instructions to a model."""
    text = mask_spans(event.text, extracted.secrets) if extracted.secrets else event.text
    text = text[:MAX_READ_CHARS]
    if ">" in text or "```" in text or "~~~" in text:
        text = mask_quoted_text(text)
    orders = find_instructions(text)
    if not orders:
        return text
    sentences = [
        match.group()
        for match in SENTENCE.finditer(text)
        if not any(each.start < match.end() and match.start() < each.end for each in orders)
    ]
    return "".join(sentences)


def _is_readable(words: Sequence[str]) -> bool:
    """Return whether the text is English and not a repetition of few words."""
    distinct = set(words)
    if len(words) > MANY_WORDS and len(distinct) < MIN_DISTINCT_SHARE * len(words):
        return False
    english = len(distinct & ENGLISH_WORDS)
    return english > 0 and len(distinct & FOREIGN_WORDS) <= english


def _is_small_talk(topics: Sequence[str], names: Sequence[str]) -> bool:
    words = sum(topic.count(" ") + 1 for topic in topics)
    return words < 2 and not (words and names)


def _collect_names(extracted: ExtractionResult, speaker: str) -> list[str]:
    """Return the entity names without duplicates, in the spelling of the facts."""
    names: dict[str, str] = {}
    for name in _all_names(extracted):
        if name and len(name) <= MAX_NAME_CHARS and (name == speaker or _looks_like_name(name)):
            names.setdefault(name.casefold(), name)
    return list(names.values())[:MAX_ENTITIES]


def _looks_like_name(text: str) -> bool:
    """Return whether the text is spelt like a name: "iPhone", but not "pup from Stamford"."""
    return text[0].isupper() or (" " not in text and text != text.lower())


def _all_names(extracted: ExtractionResult) -> Iterator[str | None]:
    for fact in extracted.facts:
        yield fact.subject
        if " and " in fact.subject:  # "Tyler and Sarah": add both names
            yield from fact.subject.split(" and ")
        yield fact.object
    for identity in extracted.identities:
        yield identity.owner
    for entity in extracted.entities:
        yield entity.name


# -- one to three sentences


def _summary_text(extracted: ExtractionResult) -> str:
    """Return up to MAX_SENTENCES sentences of landmarks and facts, in reading order."""
    chosen: list[LabelItem] = []
    for item in _rank_items(extracted):
        apart = all(item.source.start != each.source.start for each in chosen)
        if apart and len(chosen) < MAX_SENTENCES:
            chosen.append(item)
    chosen.sort(key=lambda item: item.source.start)
    return _join_sentences(_item_sentence(item) for item in chosen)


def _rank_items(extracted: ExtractionResult) -> list[LabelItem]:
    facts = sorted(extracted.facts, key=_rank_key) if len(extracted.facts) > 1 else extracted.facts
    return [*extracted.landmarks, *facts]


def _rank_key(fact: Statement) -> tuple[bool, float]:
    """Sort key: specific predicates first, then by confidence."""
    return fact.predicate in VAGUE_PREDICATES, -fact.confidence


def _item_sentence(item: LabelItem) -> str:
    return item.sentence if isinstance(item, Statement) else item.text


def _quote_sentences(speaker: str, text: str, topics: Sequence[str]) -> str:
    """Return the sentences with the most topics as a quotation of the speaker."""
    sentences = [match.group().strip() for match in SENTENCE.finditer(text)]
    ranked = sorted(sentences, key=lambda sentence: -_topic_overlap(sentence, topics))
    best = [
        sentence for sentence in ranked[:MAX_QUOTED_SENTENCES] if _topic_overlap(sentence, topics)
    ]
    verb = "asked" if best and all(each.endswith("?") for each in best) else "said"
    quoted = [sentence for sentence in sentences if sentence in best]
    opening = f"{speaker[:MAX_NAME_CHARS]} {verb}: "
    return f"{opening}“{_join_sentences(quoted, MAX_TEXT_CHARS - len(opening) - 2)}”"


def _topic_overlap(sentence: str, topics: Sequence[str]) -> int:
    low = sentence.lower()
    return sum(len(topic) for topic in topics if topic in low)


def _join_sentences(sentences: Iterable[str], max_chars: int = MAX_TEXT_CHARS) -> str:
    """Join complete sentences up to `max_chars`; only the first one may be cut."""
    text = ""
    for sentence in dict.fromkeys(" ".join(each.split()) for each in sentences):
        joined = f"{text} {sentence}" if text else sentence
        if len(joined) > max_chars:
            return text or _shorten_text(sentence, max_chars)
        text = joined
    return text


def _shorten_text(sentence: str, max_chars: int) -> str:
    words = sentence[:max_chars].rpartition(" ")[0] if len(sentence) >= max_chars else sentence
    return f"{(words or sentence)[: max_chars - 1]}…"


# -- the headline


def _make_headline(
    speaker: str, text: str, extracted: ExtractionResult, topics: Sequence[str]
) -> str:
    if extracted.landmarks:
        return _landmark_headline(extracted.landmarks[0])
    who = " ".join(speaker.split()[:2])
    if extracted.facts:
        return _fact_headline(min(extracted.facts, key=_rank_key), f"{who}:", topics)
    return _topic_headline(f"{who} asks:" if text.rstrip().endswith("?") else f"{who}:", topics)


def _landmark_headline(landmark: Landmark) -> str:
    kind = LANDMARK_TYPES[landmark.kind].label_prefix
    words = content_words(landmark.right or landmark.text)
    return " ".join([kind, *words[: HEADLINE_WORDS - len(kind.split())]])


def _fact_headline(fact: Statement, opening: str, topics: Sequence[str]) -> str:
    """Return the sentence if it is short, else subject, verb and the beginning of the object."""
    words = fact.sentence.split()
    if len(words) > HEADLINE_WORDS and topics and (fact.negated or _is_vague(fact)):
        return _topic_headline(opening, topics)
    if len(words) > HEADLINE_WORDS and not fact.negated:
        words = [*fact.subject.split(), *_verb_words(fact.predicate), *_object_text(fact).split()]
    words = words[:HEADLINE_WORDS]
    while len(words) > 2 and words[-1].lower() in DANGLING_WORDS:
        words.pop()
    return " ".join(words).rstrip(".,;:!")


def _is_vague(fact: Statement) -> bool:
    """Return whether the value is a clause rather than a thing."""
    return fact.predicate in VAGUE_PREDICATES or (fact.value or "").count(" ") >= HEADLINE_WORDS - 2


def _verb_words(predicate: str) -> list[str]:
    """Return the words of a predicate: WORKS_AT → works at, USE → uses."""
    first, *rest = predicate.lower().split("_")
    form = VERB_FORMS.get(first)
    return [third_person(first) if form and form.lemma == first else first, *rest]


def _object_text(fact: Statement) -> str:
    words = (fact.object or fact.value or "").split()
    while words and words[0].lower() in DANGLING_WORDS:
        words.pop(0)
    return " ".join([*([fact.aspect] if fact.aspect else []), *words])


def _topic_headline(opening: str, topics: Sequence[str]) -> str:
    """Return complete topics that fit; the first one may be cut."""
    room = HEADLINE_WORDS - opening.count(" ") - 1
    words = topics[0].split()[:room]
    for topic in topics[1:]:
        more = topic.split()
        if len(words) + len(more) > room:
            break
        words[-1] += ","
        words += more
    return " ".join([opening, *words])
