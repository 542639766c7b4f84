"""`nexus compose`: print the context for a model's next answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import TIME, CommandTarget, json_option, text_or_stdin, viewer_options
from .output import escape_invisible, print_json, print_message

if TYPE_CHECKING:
    from ..core.records.context import Context

FORMATS = ("text", "openai", "anthropic")


@click.command()
@click.argument("question")
@click.option("--budget", type=int, metavar="TOKENS", help="Maximum length of the context.")
@click.option(
    "--recent-messages",
    type=int,
    metavar="N",
    help="Number of recent messages to consider; 40 by default.",
)
@click.option("--model", metavar="NAME", help="The model whose tokenizer counts the tokens.")
@click.option("--as-of", type=TIME, help="Compose the context of an earlier time.")
@click.option(
    "--template",
    metavar="NAME",
    help="How the text is written: markdown, compact, xml, json or a plug-in.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Output format.",
)
@json_option
@viewer_options
def compose(
    target: CommandTarget, question: str, *, form: str, as_json: bool, **options: Any
) -> None:
    """Print the context for a model's next answer. QUESTION "-" is standard input.

    \b
        nexus compose "which database did we choose?" --room design --budget 2000
        nexus compose "what did we do yesterday?" --dm --format anthropic

    The id of the context is printed on standard error; `nexus explain ID` shows its reasons.
    """
    with target.open_place() as place:
        context = place.compose(text_or_stdin(question), **options)
    if as_json:
        print_json(_context_json(context))
    elif form == "text":
        click.echo(escape_invisible(context.text))
    else:
        print_json(context.messages(form))  # type: ignore[call-overload]  # click checked it
    print_message(f"context {context.id}: {context.tokens} of {context.receipt.budget} tokens")
    for remark in context.receipt.degraded:
        print_message(f"degraded: {remark}")


def _context_json(context: Context) -> dict[str, Any]:
    from ..compose.receipts import receipt_to_json  # loaded on first use

    return {"text": context.text, "receipt": receipt_to_json(context.receipt)}
