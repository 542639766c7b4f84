"""`nexus eval chat`: measure what is learned from messages, on a labelled chat corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..evaluation.chat_format import SURE_CONFIDENCE
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
from .output import print_json, print_message, print_record, print_table, progress_bar

if TYPE_CHECKING:
    from ..evaluation.evaluate import Summary


@click.command(short_help="Learning from messages, on a labelled chat corpus.")
@data_option
@click.option(
    "--output", type=FILE, metavar="FILE", help="Write what was learned, in the corpus's format."
)
@click.option(
    "--scorer",
    type=FILE,
    metavar="FILE.py",
    help="The scorer; default: score.py beside the corpus.",
)
@click.option("--errors", type=FILE, metavar="FILE", help="Write every miss and every false item.")
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=SURE_CONFIDENCE,
    show_default=True,
    help="Leave out facts below it.",
)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Only the first N lines of the corpus."
)
@baseline_options
@config_option
@json_option
def chat(
    *,
    data: Path,
    output: Path | None,
    scorer: Path | None,
    errors: Path | None,
    min_confidence: float,
    limit: int | None,
    baseline: Path | None,
    tolerance: float,
    save_baseline: Path | None,
    config: str | None,
    as_json: bool,
) -> None:
    """Measure what is learned from messages, on a labelled chat corpus.

    Each message is observed in a workspace of its own, each conversation in a room, with the rules
    alone or with the configured language model. The facts, landmarks, entities and aliases of each
    message are read back and compared with the labels by the corpus's own scorer, which is
    imported as Python code. docs/howto/evaluate-learning.md explains the figures.

    \b
        nexus eval chat --data dev.jsonl --output learned.jsonl
        nexus eval chat --data dev.jsonl --config model.yaml --errors errors.jsonl
        nexus eval chat --data dev.jsonl --baseline eval-chat.json
    """
    from ..evaluation.chat_scores import compare_chat_baseline, evaluate_chat  # slow to load

    check_folders(output, errors, save_baseline)
    reference = load_baseline(baseline) if baseline else None
    with progress_bar("chat: messages and conversations") as report:
        evaluation = evaluate_chat(
            data,
            CommandTarget(config=config).settings,
            scorer=scorer,
            min_confidence=min_confidence,
            limit=limit,
            report=report,
        )
    if output:
        _write_lines(output, evaluation.records)
    if errors:
        _write_lines(errors, evaluation.errors)
    if save_baseline:
        write_text(save_baseline, _format_baseline(evaluation.summary))
    _print_summary(evaluation.summary, as_json=as_json)
    if reference:
        differences = compare_chat_baseline(evaluation.summary, reference)
        print_comparison(reference, evaluation.summary, differences, tolerance, as_json=as_json)


def _write_lines(file: Path, records: Iterable[dict[str, Any]]) -> None:
    write_text(file, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records))


def _format_baseline(summary: Summary) -> str:
    """Return JSON with one line per figure and register, so that changes are readable."""

    def format_part(name: str, value: object, indent: str) -> str:
        return f"{indent}{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"

    parts = []
    for name, value in summary.items():
        if isinstance(value, dict):
            inner = ",\n".join(format_part(key, each, "    ") for key, each in value.items())
            parts.append(f"  {json.dumps(name)}: {{\n{inner}\n  }}")
        else:
            parts.append(format_part(name, value, "  "))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _print_summary(summary: Summary, *, as_json: bool) -> None:
    from ..evaluation.chat_scores import (  # slow to load
        error_table,
        match_table,
        register_table,
        share_record,
    )

    if as_json:
        print_json(summary)
        return
    run = {"not_learned": summary["not_learned"], "seconds": summary["seconds"]}
    print_record({**summary["questions"], **summary["settings"], **run})
    if "total" not in summary:
        print_message("note: no scorer beside the corpus, nothing is scored; give --scorer")
        return
    print_table(*match_table(summary["total"]), header=True)
    print_record(share_record(summary["total"]))
    print_table(*register_table(summary["registers"]), header=True)
    print_table(*error_table(summary["errors"]), header=True)
