"""`nexus usage`: what language models cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from .options import HERE, Door, json_option, workspace_options
from .output import message, print_json, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import Spent
    from ..learn.spending import Usage

COLUMNS = ("day", "purpose", "model", "calls", "input tokens", "output tokens", "cost")
DAYS = 30


@click.command()
@click.option(
    "--days", type=click.IntRange(1, 3650), default=DAYS, show_default=True, help="Back from today."
)
@json_option
@workspace_options
def usage(door: Door, days: int, as_json: bool) -> None:
    """What language models cost, and what is left of today's budget.

    Days are those of UTC. Prices and the budget are set by memory.llm.prices and memory.llm.budget.

    \b
        nexus usage
        nexus usage --days 7 --workspace acme --json
    """
    since = datetime.now(UTC) - timedelta(days=days - 1)
    with door.open() as nexus:
        told = nexus.workspace(door.workspace or HERE).usage(since=since)
    if as_json:
        for spent in told.spent:
            print_json({"kind": "spent", **_row(spent)})
        print_json({"kind": "today", **_today(told)})
    else:
        rows = [_row(spent) for spent in told.spent]
        print_table(COLUMNS, [(*list(row.values())[:-1], f"{row['cost']:.4f}") for row in rows])
        print_record(_today(told))
    _remark(told)


def _row(spent: Spent) -> dict[str, Any]:
    return {
        "day": f"{spent.at:%Y-%m-%d}",
        "purpose": spent.purpose,
        "model": spent.model,
        "calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": spent.cost,
    }


def _today(told: Usage) -> dict[str, Any]:
    """Without a budget there is nothing left, and nothing that ends."""
    left = {"cost_left": told.money_left, "tokens_left": told.tokens_left}
    return {
        "cost_today": round(told.cost_today, 6),
        "tokens_today": told.tokens_today,
        **{name: value for name, value in left.items() if value is not None},
        "spent": told.exhausted,
        "resets_at": told.resets_at.isoformat(),
    }


def _remark(told: Usage) -> None:
    if told.unpriced:
        names = ", ".join(told.unpriced)
        message(f"no price is set for {names} (memory.llm.prices): what it costs is not known")
    if told.exhausted:
        message("the budget of today is spent: until tomorrow the rules learn without the model")
