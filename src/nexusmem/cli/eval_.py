"""`nexus eval`: measure retrieval, contexts and learning on benchmarks or your own data."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..evaluation.benchmarks import BENCHMARK_READERS
from ..evaluation.evaluate import compare_baseline, load_baseline
from .eval_chat import chat
from .eval_context import context
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
    from ..evaluation.evaluate import Evaluation, Summary


@click.group()
def eval() -> None:
    """Measure retrieval, contexts and learning on benchmarks or your own data.

    \b
        nexus eval locomo --data locomo10.json --ranking contextual
        nexus eval own --data questions.yaml
        nexus eval context locomo --data locomo10.json --sample 100
        nexus eval chat --data dev.jsonl --output learned.jsonl
    """


@click.command()
@data_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@click.option("--ranking", metavar="NAME", help="fused or contextual; default: as configured.")
@click.option(
    "--with-abstention", is_flag=True, help="Include unanswerable questions in the main figures."
)
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
def retrieval(
    benchmark: str,
    *,
    data: Path,
    limit: int | None,
    ranking: str | None,
    with_abstention: bool,
    out: Path | None,
    plot: Path | None,
    baseline: Path | None,
    tolerance: float,
    save_baseline: Path | None,
    store: str | None,
    config: str | None,
    as_json: bool,
) -> None:
    """Measure retrieval quality on a benchmark or your questions.

    Messages are written and questions searched as in an application, with the configured
    embedder, index and ranking. No model writes or judges answers: the figures count the evidence
    that was found. It uses a temporary file unless --store is given.
    docs/howto/evaluate-retrieval.md defines every figure.

    \b
        nexus eval locomo --data locomo10.json --ranking contextual
        nexus eval longmemeval --data longmemeval_s_cleaned.json --limit 50 --out rows.json
        nexus eval beam --data chats/100K --baseline eval-beam.json
        nexus eval own --data questions.yaml
    """
    check_folders(out, plot, save_baseline)
    reference = load_baseline(baseline) if baseline else None
    evaluation = _run_benchmark(
        CommandTarget(config=config), benchmark, data, ranking, store=store, limit=limit
    )
    group = "with_abstention" if with_abstention else "without_abstention"
    _write_results(evaluation, group, out=out, plot=plot, save_baseline=save_baseline)
    _print_summary(evaluation.summary, group, as_json=as_json)
    if reference:
        differences = compare_baseline(evaluation.summary, reference, group)
        print_comparison(reference, evaluation.summary, differences, tolerance, as_json=as_json)


BENCHMARK_HELP = {
    "locomo": "Retrieval on LoCoMo: two people over months.",
    "longmemeval": "Retrieval on LongMemEval: the history of one user.",
    "beam": "Retrieval on BEAM: long chats with an assistant.",
    "own": "Retrieval on your own conversations and questions.",
}
for _name in BENCHMARK_READERS:
    eval.add_command(
        click.Command(
            _name,
            params=retrieval.params,
            callback=retrieval.callback and partial(retrieval.callback, _name),
            help=retrieval.help,
            short_help=BENCHMARK_HELP[_name],
        )
    )
eval.add_command(chat)
eval.add_command(context)


def _run_benchmark(
    target: CommandTarget, benchmark: str, data: Path, ranking: str | None, **options: Any
) -> Evaluation:
    from ..evaluation.evaluate import evaluate_benchmark  # slow to load

    settings = target.settings
    if ranking:
        settings = replace(settings, search=replace(settings.search, ranking=ranking))
    with progress_bar(f"{benchmark}: questions") as report:
        return evaluate_benchmark(benchmark, data, settings, report=report, **options)


def _write_results(
    evaluation: Evaluation,
    group: str,
    *,
    out: Path | None,
    plot: Path | None,
    save_baseline: Path | None,
) -> None:
    from ..evaluation.report import draw_chart  # loaded on first use

    summary = json.dumps(evaluation.summary, indent=2, ensure_ascii=False)
    if out:
        rows = [json.dumps(asdict(row), ensure_ascii=False, default=str) for row in evaluation.rows]
        listed = ",\n".join(rows)  # one per line, so that grep works
        write_text(out, f'{{"summary": {summary},\n"rows": [\n{listed}\n]}}\n')
    if save_baseline:
        write_text(save_baseline, summary + "\n")
    if plot:
        write_text(plot, draw_chart(evaluation.summary, group))


def _print_summary(summary: Summary, group: str, *, as_json: bool) -> None:
    from ..evaluation.report import category_table, depth_table, run_record  # loaded on first use

    if as_json:
        print_json(summary)
        return
    print_record(run_record(summary, group))
    print_table(*depth_table(summary[group]))
    print_table(*category_table(summary))
