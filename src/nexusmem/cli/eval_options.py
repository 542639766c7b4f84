"""Options, files and baselines that all evaluations share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InvalidInput
from ..evaluation.evaluate import TOLERANCE, MetricDifference, diff_settings
from . import EXIT_NEGATIVE
from .output import print_json, print_message, print_table

if TYPE_CHECKING:
    from ..evaluation.evaluate import Summary

FILE = click.Path(dir_okay=False, path_type=Path)

data_option = click.option(
    "--data",
    required=True,
    envvar="NEXUS_DATA",
    show_envvar=True,
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path),
    help="The files of the benchmark; Nexus does not include them.",
)
config_option = click.option(
    "--config", metavar="FILE", help="Settings; else $NEXUS_CONFIG or ./nexus.yaml."
)


def baseline_options(command: Any) -> Any:
    """Add --baseline, --tolerance and --save-baseline to a command."""
    for option in reversed(
        [
            click.option(
                "--baseline",
                type=FILE,
                metavar="FILE",
                help="Compare with it; exit 1 if quality fell.",
            ),
            click.option(
                "--tolerance",
                type=click.FloatRange(0, 1),
                default=TOLERANCE,
                show_default=True,
                help="How far a headline figure may fall below the baseline.",
            ),
            click.option(
                "--save-baseline",
                type=FILE,
                metavar="FILE",
                help="Write the summary as a baseline.",
            ),
        ]
    ):
        command = option(command)
    return command


def check_folders(*files: Path | None) -> None:
    """Raise InvalidInput if an output folder is missing, before the evaluation runs."""
    for file in files:
        if file and not file.absolute().parent.is_dir():
            raise InvalidInput(f"cannot write {file.name}: folder {file.parent} does not exist")


def write_text(file: Path, text: str) -> None:
    """Write a text file; raise InvalidInput if the system refuses."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {file}: {error.strerror}") from error


def print_comparison(
    baseline: Summary,
    summary: Summary,
    differences: Sequence[MetricDifference],
    tolerance: float,
    *,
    as_json: bool,
) -> None:
    """Print the differences, and exit 1 if a headline figure fell too far."""
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
