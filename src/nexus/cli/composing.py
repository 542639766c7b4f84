"""`nexus compose` and `nexus explain`: what a model is given, and why."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import HERE, Door, given_text, json_option, viewer_options
from .options import time as a_time
from .output import for_person, message, one_line, print_json, print_table, visible

if TYPE_CHECKING:
    from ..compose.explain import Explained
    from ..core.context import Context, ContextReceipt

FORMATS = ("text", "openai", "anthropic")
LONGEST_TEXT = 60
Row = tuple[str, int, str, str]


@click.command()
@click.argument("question")
@click.option("--budget", type=int, metavar="TOKENS", help="For the whole context.")
@click.option("--window", type=int, metavar="N", help="Messages to look at; 40 by default.")
@click.option("--model", metavar="NAME", help="Whose tokens are counted.")
@click.option("--as-of", type=a_time, metavar="TIME", help="What would have been given then.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Shape."
)
@json_option
@viewer_options
def compose(door: Door, question: str, *, form: str, as_json: bool, **wishes: Any) -> None:
    """Print what a model should know before it answers ("-": the question from standard input).

    \b
        nexus compose "which database did we choose?" --room design --budget 2000
        nexus compose "what did we do yesterday?" --dm --format anthropic

    The id of the context goes to standard error; `nexus explain <id>` tells why it is as it is.
    """
    with door.enter() as place:
        context = place.compose(given_text(question), **wishes)
    if as_json:
        print_json(_record(context))
    elif form == "text":
        click.echo(visible(context.text))
    else:
        print_json(context.messages(form))  # type: ignore[call-overload]  # click checked it
    message(f"context {context.id}: {context.tokens} of {context.receipt.budget} tokens")
    for remark in context.receipt.degraded:
        message(f"degraded: {remark}")


@click.command()
@click.argument("id")
@click.option(
    "--as-admin", is_flag=True, help="Any context of the workspace, and how much was withheld."
)
@json_option
@viewer_options
def explain(door: Door, id: str, *, as_admin: bool, as_json: bool) -> None:
    """Show why a context was as it was: every item, what was cut, tokens and times.

    \b
        nexus explain 4f1c… --room design --participant alice
        nexus explain 4f1c… --as-admin --json
    """
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        found = workspace.explain(id) if as_admin else door.place(workspace).explain(id)
    if as_json:
        print_json(explained_record(found))
    else:
        _print(found)
    sys.exit(0 if found.receipt.shown else FOUND_NOTHING)


def _print(found: Explained) -> None:
    receipt = found.receipt
    print_table(["section", "tokens", "why", "text"], list(_rows(found)))
    cut = [(each.part.value, each.tokens, each.why, _text(found, each.id)) for each in receipt.cut]
    if cut and for_person():
        click.echo("Found, and not shown:")
    print_table(["section", "tokens", "cut because", "text"], cut)
    for line in _totals(receipt):
        message(line)
    if found.withheld is not None:
        message(f"withheld from the viewer: {found.withheld} of the best hits")


def _rows(found: Explained) -> Iterator[Row]:
    for each in found.receipt.shown:
        yield each.part.value, each.tokens, _reasons(each.why), _text(found, each.id)


def _reasons(why: Mapping[str, float | str]) -> str:
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else str(value)
        for name, value in why.items()
    )


def _text(found: Explained, id: str) -> str:
    return one_line(found.texts.get(id, ""), LONGEST_TEXT)


def _totals(receipt: ContextReceipt) -> Iterator[str]:
    yield f"question: {one_line(receipt.question, 200)}"
    yield f"asked for {_moment(receipt.at)}; {receipt.tokens} of {receipt.budget} tokens"
    parts = [f"{part.value} {tokens}" for part, tokens in receipt.sections.items()]
    yield f"tokens: {', '.join([*parts, f'frame {receipt.frame}'])}"
    times = ", ".join(f"{name} {took * 1000:.1f} ms" for name, took in receipt.seconds.items())
    yield f"times: {times}"
    yield from (f"plan: {part.value}: {why}" for part, why in receipt.plan.items())
    yield from (f"degraded: {remark}" for remark in receipt.degraded)


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _record(context: Context) -> dict[str, Any]:
    from ..compose.receipts import receipt_to_json  # noqa: PLC0415

    return {"text": context.text, "receipt": receipt_to_json(context.receipt)}


def explained_record(found: Explained) -> dict[str, Any]:
    from ..compose.receipts import receipt_to_json, viewer_to_json  # noqa: PLC0415

    told = {"receipt": receipt_to_json(found.receipt), "viewer": viewer_to_json(found.viewer)}
    rest = {} if found.withheld is None else {"withheld": found.withheld}
    return {**told, "texts": dict(found.texts), **rest}
