"""`nexus eval`: measure retrieval quality on benchmarks or your questions."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InvalidInput
from ..evaluation.benchmarks import BENCHMARK_READERS
from ..evaluation.evaluate import TOLERANCE, compare_baseline, diff_settings, load_baseline
from . import EXIT_NEGATIVE
from .options import CommandTarget, json_option
from .output import print_json, print_message, print_record, print_table, progress_bar

if TYPE_CHECKING:
    from ..evaluation.evaluate import Evaluation, Summary

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("benchmark", type=click.Choice(list(BENCHMARK_READERS)))
@click.option(
    "--data",
    required=True,
    envvar="NEXUS_DATA",
    show_envvar=True,
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path),
    help="The files of the benchmark; Nexus does not include them.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@click.option("--ranking", metavar="NAME", help="fused or contextual; default: as configured.")
@click.option(
    "--with-abstention", is_flag=True, help="Include unanswerable questions in the main figures."
)
@click.option(
    "--out", type=FILE, metavar="FILE", help="Write the result of every question as JSON."
)
@click.option("--plot", type=FILE, metavar="FILE.svg", help="Draw a chart.")
@click.option(
    "--baseline", type=FILE, metavar="FILE", help="Compare with it; exit 1 if quality fell."
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=TOLERANCE,
    show_default=True,
    help="How far a headline figure may fall below the baseline.",
)
@click.option("--save-baseline", type=FILE, metavar="FILE", help="Write the summary as a baseline.")
@click.option(
    "--store", metavar="FILE|URL", help="The store to measure; default: a temporary file."
)
@click.option("--config", metavar="FILE", help="Settings; else $NEXUS_CONFIG or ./nexus.yaml.")
@json_option
def eval(
    benchmark: str,
    data: Path,
    *,
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
    """Measure retrieval quality on benchmarks or your questions.

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
    _check_folders(out, plot, save_baseline)
    reference = load_baseline(baseline) if baseline else None
    evaluation = _run_benchmark(
        CommandTarget(config=config), benchmark, data, ranking, store=store, limit=limit
    )
    group = "with_abstention" if with_abstention else "without_abstention"
    _write_results(evaluation, group, out=out, plot=plot, save_baseline=save_baseline)
    _print_summary(evaluation.summary, group, as_json=as_json)
    if reference:
        _compare_with_baseline(reference, evaluation.summary, group, tolerance, as_json=as_json)


def _check_folders(*files: Path | None) -> None:
    """Raise InvalidInput if an output folder is missing, before the benchmark runs."""
    for file in files:
        if file and not file.absolute().parent.is_dir():
            raise InvalidInput(f"cannot write {file.name}: folder {file.parent} does not exist")


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
        _write_text(out, f'{{"summary": {summary},\n"rows": [\n{listed}\n]}}\n')
    if save_baseline:
        _write_text(save_baseline, summary + "\n")
    if plot:
        _write_text(plot, draw_chart(evaluation.summary, group))


def _write_text(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {file}: {error.strerror}") from error


def _print_summary(summary: Summary, group: str, *, as_json: bool) -> None:
    from ..evaluation.report import category_table, depth_table, run_record  # loaded on first use

    if as_json:
        print_json(summary)
        return
    print_record(run_record(summary, group))
    print_table(*depth_table(summary[group]))
    print_table(*category_table(summary))


def _compare_with_baseline(
    baseline: Summary, summary: Summary, group: str, tolerance: float, *, as_json: bool
) -> None:
    """Print the differences, and exit 1 if a headline figure fell too far."""
    differences = compare_baseline(summary, baseline, group)
    fallen = [each for each in differences if each.has_fallen(tolerance)]
    for name, values in diff_settings(summary, baseline).items():
        print_message(f"note: the baseline's {name} was {values}")
    if as_json:
        compared = [{**asdict(each), "change": each.change} for each in differences]
        print_json({"differences": compared, "fallen": len(fallen)})
    else:
        columns = ["level", "measure", "baseline", "now", "change"]
        rows = [(d.level, d.metric, d.before, d.now, f"{d.change:+.4f}") for d in differences]
        print_table(columns, rows)
    for each in fallen:
        print_message(f"{each.level} {each.metric} fell from {each.before} to {each.now}")
    if fallen:
        sys.exit(EXIT_NEGATIVE)
