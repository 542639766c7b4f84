"""Context evaluation: measure the contexts of a benchmark with given settings."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from ..config.settings import Settings
from ..core.errors import InvalidInput
from ..runtime.progress import ProgressCallback, ignore_progress
from ..wiring.providers import make_embedder
from .benchmarks import ASKED_AFTER_HOURS, read_benchmark
from .chat import ReplayClock
from .context_answers import open_judge, summarize_answers
from .context_report import summarize_contexts
from .context_run import (
    ANSWERABLE,
    ContextResult,
    choose_questions,
    load_unanswerable,
    run_contexts,
)
from .context_story import ChangingStory, load_story, run_story
from .evaluate import Summary, open_memory, store_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEvaluation:
    """The summary of a run, and the result of each question."""

    summary: Summary
    rows: tuple[ContextResult, ...]


def evaluate_contexts(
    benchmark: str,
    data: Path,
    settings: Settings,
    *,
    store: str | None = None,
    sample: int | None = None,
    unanswerable: Path | None = None,
    asked_after_hours: float = ASKED_AFTER_HOURS,
    answer: str | None = None,
    judge: str | None = None,
    story: ChangingStory | None = None,
    report: ProgressCallback = ignore_progress,
) -> ContextEvaluation:
    """Compose the contexts of a benchmark's questions and measure them.

    The configured store is never used. Without `store`, a temporary file is used and deleted.
    `sample` limits the questions of each group. `unanswerable` is a file of questions about
    things never mentioned. `asked_after_hours` is the time between the last message and the
    questions. With `answer`, that model answers from each context, and the model
    `judge` rates the answers. `story` replaces the story of changing values.
    """
    conversations = read_benchmark(benchmark, data)
    never = load_unanswerable(unanswerable, conversations) if unanswerable else {}
    asked = choose_questions(conversations, never, sample)
    if not any(each.group == ANSWERABLE for chosen in asked for each in chosen.questions):
        raise InvalidInput(f"no question in {data} names the messages with its answer")
    embedder, clock = make_embedder(settings.embeddings), ReplayClock()
    name = f"eval-context-{benchmark}-{secrets.token_hex(4)}"
    with ExitStack() as stack:
        answering = stack.enter_context(open_judge(settings.llm, answer, judge)) if answer else None
        nexus = stack.enter_context(open_memory(settings, store, embedder, clock=clock))
        outcome = run_contexts(
            nexus,
            clock,
            asked,
            name=name,
            asked_after=timedelta(hours=asked_after_hours),
            judge=answering,
            report=report,
        )
        ratings = run_story(nexus, clock, story or load_story(), workspace=f"{name}-story")
    used = {
        "ranking": settings.search.ranking,
        "embedder": embedder.profile.name,
        "store": store_kind(store),
        "vectors": settings.store.vector_index,
        "asked_after_hours": f"{asked_after_hours:g}",
        "nexus": version("nexusmem"),
    }
    summary = summarize_contexts(benchmark, outcome, ratings, used)
    if answering:
        models = {"answer": answer, "judge": judge or answer}
        summary["answers"] = {**models, **summarize_answers(answering.answers)}
    return ContextEvaluation(summary=summary, rows=outcome.rows)
