"""`nexus eval`: how much is found, on public benchmarks or by questions of your own."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InvalidInput
from ..evaluation.baseline import TOLERANCE, compare, load_baseline, other_settings
from ..evaluation.read import READERS
from .lazy import FOUND_NOTHING
from .options import Door, json_option
from .output import message, print_json, print_record, print_table, progress

if TYPE_CHECKING:
    from ..evaluation.evaluate import Evaluation, Summary

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("benchmark", type=click.Choice(list(READERS)))
@click.option(
    "--data",
    required=True,
    envvar="NEXUS_DATA",
    show_envvar=True,
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path),
    help="The benchmark's own files; none come with Nexus.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@click.option("--ranking", metavar="NAME", help="fused or contextual; else as configured.")
@click.option(
    "--with-abstention", is_flag=True, help="Count questions nobody can answer in the main figures."
)
@click.option("--out", type=FILE, metavar="FILE", help="Write every question as JSON.")
@click.option("--plot", type=FILE, metavar="FILE.svg", help="Draw the figures.")
@click.option("--baseline", type=FILE, metavar="FILE", help="Compare; exit 1 if quality fell.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=TOLERANCE,
    show_default=True,
    help="How far a headline figure may fall below the baseline.",
)
@click.option("--save-baseline", type=FILE, metavar="FILE", help="Keep the summary for later.")
@click.option("--store", metavar="FILE|URL", help="Measure this store; else a temporary file.")
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
    """Measure how much is found, on benchmarks or by your questions.

    Conversations are told and questions asked the way an application does it, with the
    configured embedder, index and ranking. No model writes an answer or judges one: what counts
    is the evidence found. Your memory is not touched: it happens in a temporary file unless
    --store names another. docs/evaluation.md defines every figure.

    \b
        nexus eval locomo --data locomo10.json --ranking contextual
        nexus eval longmemeval --data longmemeval_s_cleaned.json --limit 50 --out rows.json
        nexus eval beam --data chats/100K --baseline eval-beam.json
        nexus eval own --data questions.yaml
    """
    _check_folders(out, plot, save_baseline)
    kept = load_baseline(baseline) if baseline else None
    made = _evaluate(Door(config=config), benchmark, data, ranking, store=store, limit=limit)
    group = "with_abstention" if with_abstention else "without_abstention"
    _write(made, group, out=out, plot=plot, save_baseline=save_baseline)
    _print(made.summary, group, as_json=as_json)
    if kept:
        _hold_against(kept, made.summary, group, tolerance, as_json=as_json)


def _check_folders(*files: Path | None) -> None:
    """Before the work, not after it."""
    for file in files:
        if file and not file.absolute().parent.is_dir():
            raise InvalidInput(f"there is no folder {file.parent} to write {file.name} to")


def _evaluate(
    door: Door, benchmark: str, data: Path, ranking: str | None, **asked: Any
) -> Evaluation:
    from ..evaluation.evaluate import evaluate  # noqa: PLC0415  # pulls in the whole memory

    settings = door.settings
    if ranking:
        settings = replace(settings, search=replace(settings.search, ranking=ranking))
    with progress(f"{benchmark}: questions") as report:
        return evaluate(benchmark, data, settings, report=report, **asked)


def _write(
    made: Evaluation,
    group: str,
    *,
    out: Path | None,
    plot: Path | None,
    save_baseline: Path | None,
) -> None:
    from ..evaluation.plot import draw  # noqa: PLC0415

    summary = json.dumps(made.summary, indent=2, ensure_ascii=False)
    if out:
        rows = [json.dumps(asdict(row), ensure_ascii=False, default=str) for row in made.rows]
        listed = ",\n".join(rows)  # one a line: long, but a line can be searched for
        _write_text(out, f'{{"summary": {summary},\n"rows": [\n{listed}\n]}}\n')
    if save_baseline:
        _write_text(save_baseline, summary + "\n")
    if plot:
        _write_text(plot, draw(made.summary, group))


def _write_text(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {file}: {error.strerror}") from error


def _print(summary: Summary, group: str, *, as_json: bool) -> None:
    from ..evaluation.report import category_table, depth_table, run_record  # noqa: PLC0415

    if as_json:
        print_json(summary)
        return
    print_record(run_record(summary, group))
    print_table(*depth_table(summary[group]))
    print_table(*category_table(summary))


def _hold_against(
    kept: Summary, summary: Summary, group: str, tolerance: float, *, as_json: bool
) -> None:
    """Print the differences, and exit 1 if a headline figure fell too far."""
    differences = compare(summary, kept, group)
    fallen = [each for each in differences if each.fell(tolerance)]
    for name, values in other_settings(summary, kept).items():
        message(f"note: the baseline's {name} was {values}")
    if as_json:
        compared = [{**asdict(each), "change": each.change} for each in differences]
        print_json({"differences": compared, "fallen": len(fallen)})
    else:
        columns = ["level", "measure", "baseline", "now", "change"]
        rows = [(d.level, d.metric, d.before, d.now, f"{d.change:+.4f}") for d in differences]
        print_table(columns, rows)
    for each in fallen:
        message(f"{each.level} {each.metric} fell from {each.before} to {each.now}")
    if fallen:
        sys.exit(FOUND_NOTHING)
