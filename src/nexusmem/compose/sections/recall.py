"""Sections "recall" and "related": the hits of the question ([RECALL] of specification 000).

Each hit has the probability that it helps to answer. The likely ones are in the first section,
with the messages around them. The others of which there is some hope follow in the second one, in
short. Hits below `memory.compose.min_relevance` are not shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import chain

from ...core.records import Explanation, Hit, Memory, Trust
from ...core.records.context import ContextItem
from ...recall.views.message_neighbours import MessageNeighbours, load_neighbours
from ...text.terms import SENTENCE, normalize_words
from ..question import needs_no_memory
from ..request import EXACT_KIND, TRUST_MARKS, SectionInput, rank_worth
from ..section import QuestionText, Section

MAX_FULL_CHARS = 900  # of a longer text only the sentences that answer are shown
MAX_NEIGHBOUR_CHARS = 300
MAX_SILENCE = timedelta(hours=3)  # to a message around a hit; a reply may be later
MAX_RELATED_CHARS = 400
MIN_REST_WORDS = 5  # of an item without the sentences that are shown above
SPOKEN = (Trust.DIRECT, Trust.INFERRED)  # the name of the speaker tells which
WORTH_OF_UNRATED = 0.5  # of a hit without a probability


def asks_for_something(question: QuestionText) -> str | None:
    """Return why the question needs a search, or None for small talk and plain commands."""
    return None if needs_no_memory(question.text) else "it asks for something"


def split_hits(inputs: SectionInput) -> tuple[list[Hit], list[Hit]]:
    """Return the likely hits, and the others; the best hit is always among the first.

    A hit without a probability, such as a fact about a name, is likely.
    """
    hits = inputs.search_results.hits if inputs.search_results else ()
    limit, least = inputs.settings.max_hits, inputs.settings.likely_relevance
    likely = [
        hit
        for rank, hit in enumerate(hits)
        if rank == 0 or hit.relevance is None or hit.relevance >= least
    ][:limit]
    ids = {hit.id for hit in likely}
    return likely, [hit for hit in hits if hit.id not in ids]


def recall_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the likely hits, best first, each with the messages before and after it."""
    likely, _ = split_hits(inputs)
    around = load_neighbours(
        inputs.store,
        inputs.grant,
        [hit.memory for hit in likely if len(hit.text) <= MAX_FULL_CHARS],
        where=inputs.as_of_filter,
    )
    shown: set[str] = set()  # ids of messages
    items = []
    for rank, hit in enumerate(likely):
        if hit.memory.sources and shown.issuperset(hit.memory.sources):
            continue  # another line has it
        item = _make_item(inputs, hit, rank)
        if hit.id in around and item.why.get("kind") is None:
            item = _with_neighbours(
                item, around[hit.id], shown, is_marked="source" in inputs.settings.marks
            )
        shown.update(item.events)
        items.append(item)
    return items


def related_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the less likely hits, newest first."""
    likely, others = split_hits(inputs)
    items = [
        _shorten(_make_item(inputs, hit, len(likely) + rank)) for rank, hit in enumerate(others)
    ]
    return sorted(items, key=lambda item: (item.at is None, item.at), reverse=True)


def drop_shown_sentences(
    items: Iterable[ContextItem], sections: Iterable[Iterable[ContextItem]]
) -> list[ContextItem]:
    """Return the items without the sentences that an item of these sections quotes.

    Items of which little is left are dropped.
    """
    quoted: defaultdict[str, list[str]] = defaultdict(list)  # event → normalized words
    for item in chain.from_iterable(sections):
        for event in item.events:
            quoted[event].append(normalize_words(item.text))
    kept = []
    for item in items:
        shown = [words for event in item.events for words in quoted.get(event, ())]
        text = _without_sentences(item.text, shown) if shown else item.text
        if text == item.text:
            kept.append(item)
        elif len(text.split()) >= MIN_REST_WORDS:
            kept.append(replace(item, text=text, line="", tokens=0, words=""))
    return kept


def _without_sentences(text: str, shown: Iterable[str]) -> str:
    """Return the sentences of a text that are in none of the shown texts, nor one of them."""
    quotes = [words for words in shown if words]
    rest = []
    for sentence in SENTENCE.findall(text):
        words = normalize_words(sentence)
        if not any(words in quote or quote in words for quote in quotes):
            rest.append(sentence.strip())
    return " ".join(rest)


def _make_item(inputs: SectionInput, hit: Hit, rank: int) -> ContextItem:
    reasons = hit.reasons
    best = max(reasons, key=reasons.__getitem__, default="conversation")
    why: dict[str, float | str] = {"strategy": best, "score": round(hit.score, 3)}
    for name, score in reasons.items():
        why[name] = round(score, 3)
    if hit.relevance is not None:
        why["relevance"] = hit.relevance
    if hit.explanation:
        why |= _signal_parts(hit.explanation)
    if hit.memory.role == "tool":
        why["kind"] = "tool result"
    if hit.validity:
        why["status"], why["kind"] = hit.validity.status.value, hit.validity.mark
        why["superseded_by"] = hit.validity.by
    chance = WORTH_OF_UNRATED if hit.relevance is None else hit.relevance
    item = inputs.make_item(hit.memory, rank_worth(rank) * (0.5 + chance / 2), **why)
    is_long = len(item.text) > MAX_FULL_CHARS and item.why.get("kind") != EXACT_KIND
    return _use_highlights(item, hit) if is_long else item


def _with_neighbours(
    item: ContextItem, around: MessageNeighbours, shown: Iterable[str], *, is_marked: bool
) -> ContextItem:
    """Return the item as an excerpt: with the message before and after it, unless shown above."""
    seen = set(shown)
    pairs = (around.question, around.reply)
    before, after = (
        each
        if each is not None
        and seen.isdisjoint(each.sources)
        and (each in pairs or abs(each.at - around.message.at) <= MAX_SILENCE)
        else None
        for each in (around.before, around.after)
    )
    if before is None and after is None:
        return item
    lines = [_format_turn(around.message, item.text, is_marked=is_marked) if before else item.text]
    if before:
        lines.insert(0, _cut(before.text, MAX_NEIGHBOUR_CHARS))
    if after:
        text = _cut(after.text, MAX_NEIGHBOUR_CHARS)
        lines.append(_format_turn(after, text, is_marked=is_marked))
    events = [id for each in (before, around.message, after) if each for id in each.sources]
    return replace(
        item,
        text="\n".join(lines),
        speaker=before.speaker if before else item.speaker,
        trust=before.trust if before else item.trust,  # its mark stands before the first speaker
        events=tuple(dict.fromkeys((*events, *item.events))),
        why={**item.why, "excerpt": "with the messages around it"},
    )


def _format_turn(memory: Memory, text: str, *, is_marked: bool) -> str:
    """Return a further line of an excerpt; it is marked unless a person or an agent said it."""
    origin = f"{memory.speaker}: " if memory.speaker else ""
    mark = f"[{TRUST_MARKS[memory.trust]}] " if is_marked and memory.trust not in SPOKEN else ""
    return f"{mark}{origin}{text}"


def _shorten(item: ContextItem) -> ContextItem:
    if len(item.text) <= MAX_RELATED_CHARS or item.why.get("kind") == EXACT_KIND:
        return item
    why = {**item.why, "excerpt": "the beginning"}
    return replace(item, text=_cut(item.text, MAX_RELATED_CHARS), why=why)


def _cut(text: str, length: int) -> str:
    """Return the beginning of a text, in one line, cut between words."""
    line = " ".join(text[: 2 * length].split())
    return line if len(line) <= length else line[:length].rpartition(" ")[0] + " …"


def _signal_parts(explanation: Explanation) -> Mapping[str, float]:
    """Return what each ranking signal added to the score of the hit."""
    return {f"+{name}": round(part, 3) for name, part in explanation.parts.items() if part}


def _use_highlights(item: ContextItem, hit: Hit) -> ContextItem:
    excerpt = " … ".join(hit.highlights)
    if not 0 < len(excerpt) < len(item.text):
        return item
    return replace(item, text=excerpt, why={**item.why, "excerpt": "the sentences that answer"})


RECALL = Section(
    name="recall",
    heading="[RECALL] Relevant to this question",
    description="Messages and facts that are likely to answer the question.",
    priority=6,
    cap=800,
    floor=400,
    when=asks_for_something,
    source=recall_items,
)
RELATED = Section(
    name="related",
    heading="Possibly related",
    description="Search results that may help, newest first.",
    priority=10,
    cap=600,
    floor=300,
    when=asks_for_something,
    source=related_items,
)
