"""`nexus eval context`: measure composed contexts on a benchmark or your own questions."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InvalidInput
from ..evaluation.benchmarks import ASKED_AFTER_HOURS, BENCHMARK_READERS
from ..evaluation.evaluate import load_baseline
from .eval_options import (
    FILE,
    baseline_options,
    check_folders,
    config_option,
    data_option,
    print_comparison,
    write_text,
)
from .options import CommandTarget, json_option
from .output import print_json, print_record, print_table, progress_bar

if TYPE_CHECKING:
    from ..evaluation.context_evaluate import ContextEvaluation
    from ..evaluation.evaluate import Summary


@click.command(short_help="Composed contexts: evidence, noise, repetition, silence.")
@click.argument("benchmark", type=click.Choice(list(BENCHMARK_READERS)), default="locomo")
@data_option
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="At most N questions of each kind, evenly spaced; the same in every run.",
)
@click.option(
    "--unanswerable",
    type=FILE,
    metavar="FILE",
    help="Questions about things never mentioned: JSON Lines with sample_id and question.",
)
@click.option(
    "--asked-after",
    type=click.FloatRange(0),
    metavar="HOURS",
    default=ASKED_AFTER_HOURS,
    show_default=True,
    help="Time between the last message and the questions; below 24 the window is not empty.",
)
@click.option(
    "--answer",
    metavar="MODEL",
    help="Let this model answer from each context: PROVIDER/MODEL, or of memory.llm.provider.",
)
@click.option("--judge", metavar="MODEL", help="Judges the answers; default: the same model.")
@click.option(
    "--out", type=FILE, metavar="FILE", help="Write the result of every question as JSON."
)
@click.option("--plot", type=FILE, metavar="FILE.svg", help="Draw a chart.")
@baseline_options
@click.option(
    "--store", metavar="FILE|URL", help="The store to measure; default: a temporary file."
)
@config_option
@json_option
def context(
    *,
    benchmark: str,
    data: Path,
    sample: int | None,
    unanswerable: Path | None,
    asked_after: float,
    answer: str | None,
    judge: str | None,
    out: Path | None,
    plot: Path | None,
    baseline: Path | None,
    tolerance: float,
    save_baseline: Path | None,
    store: str | None,
    config: str | None,
    as_json: bool,
) -> None:
    """Measure the contexts that `compose` returns, on a benchmark or your questions.

    Messages are written and contexts composed as in an application. The figures are the evidence
    that is inside at 250 to 4,000 tokens, the lines on topic, repeated lines, the questions
    without an answer that get nothing, former values shown first, small talk, tokens and
    durations. With --answer, a model answers from each context, and --judge rates the answers.
    docs/howto/evaluate-contexts.md defines every figure.

    \b
        nexus eval context locomo --data locomo10.json --sample 100
        nexus eval context locomo --data locomo10.json --unanswerable never.jsonl
        nexus eval context own --data questions.yaml --out rows.json
        nexus eval context beam --data chats/100K --baseline eval-context-beam.json
    """
    from ..evaluation.context_evaluate import evaluate_contexts  # slow to load
    from ..evaluation.context_report import compare_context_baseline  # slow to load

    if judge and not answer:
        raise InvalidInput("--judge needs --answer: it judges the answers of that model")
    check_folders(out, plot, save_baseline)
    reference = load_baseline(baseline) if baseline else None
    with progress_bar(f"{benchmark}: contexts") as report:
        evaluation = evaluate_contexts(
            benchmark,
            data,
            CommandTarget(config=config).settings,
            store=store,
            sample=sample,
            unanswerable=unanswerable,
            asked_after_hours=asked_after,
            answer=answer,
            judge=judge,
            report=report,
        )
    _write_results(evaluation, out=out, plot=plot, save_baseline=save_baseline)
    _print_summary(evaluation.summary, as_json=as_json)
    if reference:
        differences = compare_context_baseline(evaluation.summary, reference)
        print_comparison(reference, evaluation.summary, differences, tolerance, as_json=as_json)


def _write_results(
    evaluation: ContextEvaluation,
    *,
    out: Path | None,
    plot: Path | None,
    save_baseline: Path | None,
) -> None:
    from ..evaluation.context_chart import draw_context_chart  # loaded on first use

    summary = json.dumps(evaluation.summary, indent=2, ensure_ascii=False)
    if out:
        listed = ",\n".join(_format_row(row) for row in evaluation.rows)  # so that grep works
        write_text(out, f'{{"summary": {summary},\n"rows": [\n{listed}\n]}}\n')
    if save_baseline:
        write_text(save_baseline, summary + "\n")
    if plot:
        write_text(plot, draw_context_chart(evaluation.summary))


def _format_row(row: Any) -> str:
    return json.dumps(asdict(row), ensure_ascii=False, default=str)


def _print_summary(summary: Summary, *, as_json: bool) -> None:
    from ..evaluation.context_report import (  # slow to load
        abstention_table,
        answer_table,
        budget_table,
        context_category_table,
        context_record,
        section_table,
    )

    if as_json:
        print_json(summary)
        return
    print_record(context_record(summary))
    for table in (budget_table, context_category_table, abstention_table, section_table):
        print_table(*table(summary), header=True)
    if "answers" in summary:
        print_table(*answer_table(summary), header=True)
