"""Query rewriting with a language model: statement, HyDE and self-query.

All rewriters are optional. If the model is unavailable, slow or wrong, the question stays unchanged
and the failure is reported in `degraded`. The output of the model is only used to search: it is
neither shown nor stored.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from ..core.access import Grant
from ..core.canonical import clean_text, clean_time, format_time
from ..core.derive import normalize_name
from ..core.errors import InvalidInput
from ..core.filters import Filter, parse_filter
from ..core.protocols.models import LanguageModel, Schema
from ..core.protocols.store import Store
from ..core.records import Hit, Hits, MemoryKind, memory_id
from ..prompts import load_prompt
from ..runtime.breaker import CircuitBreaker
from ..runtime.timeouts import WAIT_SECONDS
from ..text.terms import extract_terms

MAX_OUTPUT_TOKENS = 1_000
MAX_QUESTION_CHARS = 4_000  # longer texts are cut before the model reads them
MAX_TEXT_CHARS = 2_000
TEXT_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteInput:
    """The question with its reference time and the participants."""

    text: str
    now: datetime
    people: tuple[str, ...] = ()  # names of participants, in their stored spelling


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteResult:
    """Texts and filters to search with, in addition to the question or instead of it."""

    embedding_text: str | None = None  # embedded instead of the question
    extra_texts: tuple[str, ...] = ()  # their vectors are added to the question vector
    where: Filter | None = None  # additional filter; it can only narrow the results
    remarks: tuple[str, ...] = ()  # what the rewriters did, for logs and traces
    degraded: tuple[str, ...] = ()  # rewriters that failed, each as `name: reason`

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that are embedded instead of the question or with it."""
        return (self.embedding_text, *self.extra_texts) if self.embedding_text else self.extra_texts


Rewriter = Callable[[LanguageModel, RewriteInput, float], RewriteResult]  # timeout in seconds
CombinedRewriter = Callable[[RewriteInput], RewriteResult]


def combine_rewriters(
    model: LanguageModel,
    rewriters: Mapping[str, Rewriter],
    *,
    wait_seconds: float = WAIT_SECONDS,
    breaker: CircuitBreaker | None = None,
) -> CombinedRewriter:
    """Return a rewriter that runs these concurrently; failures are listed in `degraded`."""
    guard = breaker or CircuitBreaker("the model")

    def rewrite_question(question: RewriteInput) -> RewriteResult:
        if not question.text.strip():
            return RewriteResult()
        calls = {
            name: partial(rewriter, model, question, wait_seconds)
            for name, rewriter in rewriters.items()
        }
        answers, errors = guard.call_all(calls, wait_seconds)
        failures = tuple(f"{name}: {error}" for name, error in errors.items())
        return _merge_results(list(answers.values()), failures)

    return rewrite_question


def _merge_results(parts: Sequence[RewriteResult], failures: tuple[str, ...]) -> RewriteResult:
    """Return the first embedding text, the first filter and all other values of the parts."""
    return RewriteResult(
        embedding_text=next((part.embedding_text for part in parts if part.embedding_text), None),
        extra_texts=tuple(text for part in parts for text in part.extra_texts),
        where=next((part.where for part in parts if part.where), None),
        remarks=tuple(remark for part in parts for remark in part.remarks),
        degraded=(*failures, *(remark for part in parts for remark in part.degraded)),
    )


def rewrite_as_statement(
    model: LanguageModel, question: RewriteInput, timeout: float
) -> RewriteResult:
    """Rewrite the question as a statement: memories are statements and have closer vectors."""
    text = clean_search_text(ask_model(model, "statement", question, TEXT_SCHEMA, timeout)["text"])
    return (
        RewriteResult(embedding_text=text, remarks=(f"statement: {text}",))
        if text
        else RewriteResult()
    )


def rewrite_as_hypothetical(
    model: LanguageModel, question: RewriteInput, timeout: float
) -> RewriteResult:
    """Add a hypothetical passage that answers the question (HyDE; Gao, Ma, Lin, Callan 2022)."""
    text = clean_search_text(ask_model(model, "hyde", question, TEXT_SCHEMA, timeout)["text"])
    return (
        RewriteResult(extra_texts=(text,), remarks=(f"hyde: {text}",)) if text else RewriteResult()
    )


def ask_model(
    model: LanguageModel, prompt: str, question: RewriteInput, schema: Schema, timeout: float
) -> Mapping[str, Any]:
    """Render a prompt with the question and return the model's answer as JSON data.

    The question is sent as a JSON string, so that its text cannot continue as an instruction.
    """
    asked = {"question": question.text[:MAX_QUESTION_CHARS], "now": format_time(question.now)}
    rendered = load_prompt(prompt).render(asked=json.dumps(asked, ensure_ascii=False))
    answer = model.complete(rendered, schema=schema, max_tokens=MAX_OUTPUT_TOKENS, timeout=timeout)
    data: Mapping[str, Any] = answer.data
    return data


def clean_search_text(text: str) -> str | None:
    """Return the trimmed text of at most MAX_TEXT_CHARS characters, or None if it is empty."""
    return clean_text(text, "a rewritten question").strip()[:MAX_TEXT_CHARS] or None


KIND_NAMES = [kind.value for kind in MemoryKind]
SELF_QUERY_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "kinds": {"type": "array", "items": {"type": "string", "enum": KIND_NAMES}},
        "speaker": {"type": "string"},
        "since": {"type": "string"},
        "until": {"type": "string"},
    },
    "required": ["text", "kinds", "speaker", "since", "until"],
    "additionalProperties": False,
}
PRONOUNS = frozenset("i me my you your he him she her it we us our they them who".split())


def self_query(model: LanguageModel, question: RewriteInput, timeout: float) -> RewriteResult:
    """Let the model extract a filter from the question, and embed the rest of the question."""
    answer = ask_model(model, "self_query", question, SELF_QUERY_SCHEMA, timeout)
    since, until = _parse_window(answer["since"], answer["until"])
    conditions = {
        "kind": _kind_condition(answer["kinds"]),
        "speaker": _speaker_condition(answer["speaker"], question),
        "since": {"at": {"gte": since}} if since else None,
        "until": {"at": {"lt": until}} if until else None,
    }
    usable = {name: condition for name, condition in conditions.items() if condition}
    ignored = [
        name for name, value in _answer_values(answer).items() if value and name not in usable
    ]
    return RewriteResult(
        embedding_text=clean_search_text(answer["text"]) if usable else None,
        where=parse_filter({"AND": list(usable.values())}) if usable else None,
        remarks=tuple(f"self_query: {_format_condition(each)}" for each in usable.values()),
        degraded=tuple(f"self_query: {name} was not usable" for name in ignored),
    )


def _answer_values(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": answer["kinds"],
        "speaker": answer["speaker"].strip(),
        "since": answer["since"].strip(),
        "until": answer["until"].strip(),
    }


def _kind_condition(kinds: Sequence[str]) -> dict[str, Any] | None:
    """Return the condition on kinds; None if the model chose no kind or all kinds."""
    chosen = sorted(set(kinds))
    return {"kind": {"in": chosen}} if 0 < len(chosen) < len(KIND_NAMES) else None


def _speaker_condition(name: str, question: RewriteInput) -> dict[str, Any] | None:
    """Return the condition on the speaker; None unless the question contains the name.

    Models tend to guess a speaker that the question does not name.
    """
    wanted = name.strip().casefold()
    is_named = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", question.text.casefold())
    if not wanted or wanted in PRONOUNS or not is_named:
        return None
    people = [person for person in question.people if person.casefold() == wanted]
    return {"speaker": {"in": people} if people else {"contains": wanted}}


def _parse_window(since: str, until: str) -> tuple[datetime | None, datetime | None]:
    """Parse both ends of a window; return (None, None) if the start is not before the end."""
    start, end = _parse_time(since), _parse_time(until)
    return (None, None) if start and end and start >= end else (start, end)


def _parse_time(text: str) -> datetime | None:
    try:
        return clean_time(datetime.fromisoformat(text.strip()))
    except (ValueError, InvalidInput):
        return None


def _format_condition(condition: Mapping[str, Any]) -> str:
    """Format a condition for the trace, such as `at gte 2026-03-01…`."""
    [(field, test)] = condition.items()
    [(op, value)] = test.items()
    return f"{field} {op} {format_time(value) if isinstance(value, datetime) else value}"


SearchFunction = Callable[[str], Hits]  # question → hits
LeadFinder = Callable[[Hits], Sequence[str]]  # hits → names for the next search

LEAD_HITS = 5  # number of best hits to take names from
MAX_LEAD_NAMES = 3
KEPT_HITS = 5  # first hits that keep their ranks; measured with `bench/multi_step.py`
TURN_SLOT = "turn"  # slot of the label of one message


def search_in_steps(
    search: SearchFunction,
    question: str,
    *,
    steps: Sequence[str] = (),
    find_leads: LeadFinder | None = None,
    kept_hits: int = KEPT_HITS,
) -> Hits:
    """Search with the question, its steps and the names of its first hits; merge the hits."""
    first = search(question)
    names = find_leads(first) if find_leads else ()
    rounds = [search(step) for step in steps if step != question]
    if names:
        rounds.append(search(bridge_question(question, first, names)))
    return merge_rounds(first, rounds, kept_hits=kept_hits)


def find_lead_names(
    store: Store, grant: Grant, question: str, results: Hits, people: Iterable[str] = ()
) -> list[str]:
    """Return names that the best hits contain and the question lacks, most frequent first.

    Names of participants are left out: too many messages mention them.
    """
    ids = [id for hit in results.hits[:LEAD_HITS] for id in _turn_label_ids(hit)]
    labels = store.memories.get(grant, ids)
    question_terms = set(extract_terms(question))
    participants = set(map(normalize_name, people))
    counts: Counter[str] = Counter()
    for label in labels:
        counts.update(
            name
            for name in label.body.get("entities", ())
            if normalize_name(name) not in participants
            and not set(extract_terms(name)) <= question_terms
        )
    return [name for name, _ in counts.most_common(MAX_LEAD_NAMES)]


def bridge_question(question: str, results: Hits, names: Sequence[str]) -> str:
    """Return the words of the question that the best hits lack, followed by the names.

    "Which language is Carol's project written in?" finds that the project is called Heron. The
    next question is "which language written Heron".
    """
    answered = set(
        chain.from_iterable(
            extract_terms(hit.text) for hit in results.hits[:LEAD_HITS] if _mentions_any(hit, names)
        )
    )
    open_words = [
        word for word in question.split() if not answered.intersection(extract_terms(word))
    ]
    return " ".join([*open_words, *names])


def _mentions_any(hit: Hit, names: Sequence[str]) -> bool:
    text = hit.text.casefold()
    return any(name.casefold() in text for name in names)


def _turn_label_ids(hit: Hit) -> list[str]:
    memory = hit.memory
    return [
        memory_id(MemoryKind.EPISODE, memory.scope, TURN_SLOT, [event]) for event in memory.sources
    ]


def merge_rounds(first: Hits, rounds: Sequence[Hits], *, kept_hits: int = KEPT_HITS) -> Hits:
    """Return the best first hits, then the hits of all rounds alternately, each memory once."""
    best = {hit.memory.id: hit for hit in first.hits[:kept_hits]}
    new_hits = [[hit for hit in found.hits if hit.memory.id not in best] for found in rounds]
    first_by_id = {hit.memory.id: hit for hit in first.hits}  # scored by the original question
    for hit in chain.from_iterable(zip_longest(*new_hits, first.hits[kept_hits:])):
        if hit is not None:
            best.setdefault(hit.memory.id, first_by_id.get(hit.memory.id, hit))
    return replace(
        first,
        hits=tuple(best.values()),
        total=max(found.total for found in (first, *rounds)),
        seconds=first.seconds + sum(found.seconds for found in rounds),
        degraded=tuple(
            dict.fromkeys(each for found in (first, *rounds) for each in found.degraded)
        ),
    )
