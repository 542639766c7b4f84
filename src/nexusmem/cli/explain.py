"""`nexus explain`: show why a context has its content."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from . import EXIT_NEGATIVE
from .options import DEFAULT_NAME, CommandTarget, json_option, name_place, viewer_options
from .output import is_terminal, one_line, print_json, print_message, print_table

if TYPE_CHECKING:
    from ..compose.receipts import ContextExplanation
    from ..core.records.context import ContextReceipt

MAX_TEXT_CHARACTERS = 60
Row = tuple[str, int, str, str]


@click.command()
@click.argument("id")
@click.option(
    "--as-admin",
    is_flag=True,
    help="Any context of the workspace, with the number of hidden hits.",
)
@json_option
@viewer_options
def explain(target: CommandTarget, id: str, *, as_admin: bool, as_json: bool) -> None:
    """Show why a context has its content: every item, what was cut, tokens and times.

    \b
        nexus explain 4f1c… --room design --participant alice
        nexus explain 4f1c… --as-admin --json
    """
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        place = target.resolve_place(workspace)
        if as_admin:
            explanation = workspace.explain(id)
        else:
            with name_place(place):
                explanation = place.explain(id)
    if as_json:
        print_json(explanation_json(explanation))
    else:
        _print_explanation(explanation)
    sys.exit(0 if explanation.receipt.shown else EXIT_NEGATIVE)


def _print_explanation(explanation: ContextExplanation) -> None:
    receipt = explanation.receipt
    shown = list(_item_rows(explanation))
    print_table(["section", "tokens", "why", "text"], shown, header=True)
    cut = [
        (each.part, each.tokens, each.why, _item_text(explanation, each.id)) for each in receipt.cut
    ]
    if cut and is_terminal():
        click.echo("Not shown:")
    if cut or is_terminal():
        print_table(["section", "tokens", "cut because", "text"], cut, header=True)
    for line in _total_lines(receipt):
        print_message(line)
    if explanation.hidden_hits is not None:
        print_message(f"hidden from the viewer: {explanation.hidden_hits} of the best hits")


def _item_rows(explanation: ContextExplanation) -> Iterator[Row]:
    for each in explanation.receipt.shown:
        text = _item_text(explanation, each.id)
        yield each.part, each.tokens, _format_reasons(each.why), text


def _format_reasons(reasons: Mapping[str, float | str]) -> str:
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else str(value)
        for name, value in reasons.items()
    )


def _item_text(explanation: ContextExplanation, id: str) -> str:
    return one_line(explanation.texts.get(id, ""), MAX_TEXT_CHARACTERS)


def _total_lines(receipt: ContextReceipt) -> Iterator[str]:
    yield f"question: {one_line(receipt.question, 200)}"
    if receipt.searched:
        yield f"searched: {one_line(receipt.searched, 200)}"
    yield from (
        f"added: {one_line(each.words, 100)}: {one_line(each.why, 100)}" for each in receipt.added
    )
    yield f"composed for {_format_time(receipt.at)}; {receipt.tokens} of {receipt.budget} tokens"
    parts = [f"{part} {tokens}" for part, tokens in receipt.sections.items()]
    yield f"tokens: {', '.join([*parts, f'frame {receipt.frame}'])}"
    times = ", ".join(f"{name} {took * 1000:.1f} ms" for name, took in receipt.seconds.items())
    yield f"times: {times}"
    yield from (f"plan: {part}: {why}" for part, why in receipt.plan.items())
    yield from (f"degraded: {remark}" for remark in receipt.degraded)


def _format_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def explanation_json(explanation: ContextExplanation) -> dict[str, Any]:
    from ..compose.receipts import receipt_to_json, viewer_to_json  # loaded on first use

    hidden = explanation.hidden_hits
    return {
        "receipt": receipt_to_json(explanation.receipt),
        "viewer": viewer_to_json(explanation.viewer),
        "texts": dict(explanation.texts),
        **({} if hidden is None else {"withheld": hidden}),
    }
