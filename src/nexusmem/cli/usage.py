"""`nexus usage`: the cost of language models and the budget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_NAME, CommandTarget, json_option, workspace_options
from .output import print_json, print_message, print_record, print_table

if TYPE_CHECKING:
    from ..core.records import ModelCost
    from ..learn.model_budget import Usage

COLUMNS = ("day", "purpose", "model", "calls", "input tokens", "output tokens", "cost")
DEFAULT_DAYS = 30


@click.command()
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=DEFAULT_DAYS,
    show_default=True,
    help="Number of days, until today.",
)
@json_option
@workspace_options
def usage(target: CommandTarget, days: int, as_json: bool) -> None:
    """Show the cost of language models and the budget.

    Days are UTC days. The settings memory.llm.prices and memory.llm.budget define prices and
    budget.

    \b
        nexus usage
        nexus usage --days 7 --workspace acme --json
    """
    since = datetime.now(UTC) - timedelta(days=days - 1)
    with target.open_nexus() as nexus:
        report = nexus.workspace(target.workspace or DEFAULT_NAME).usage(since=since)
    if as_json:
        for spent in report.spent:
            print_json({"kind": "spent", **_cost_row(spent)})
        print_json({"kind": "today", **_today_record(report)})
    else:
        rows = [_cost_row(spent) for spent in report.spent]
        print_table(COLUMNS, [(*list(row.values())[:-1], f"{row['cost']:.4f}") for row in rows])
        print_record(_today_record(report))
    _print_warnings(report)


def _cost_row(spent: ModelCost) -> dict[str, Any]:
    return {
        "day": f"{spent.at:%Y-%m-%d}",
        "purpose": spent.purpose,
        "model": spent.model,
        "calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": spent.cost,
    }


def _today_record(report: Usage) -> dict[str, Any]:
    """Return today's usage; without a budget nothing remains to report."""
    left = {"cost_left": report.money_left, "tokens_left": report.tokens_left}
    return {
        "cost_today": round(report.cost_today, 6),
        "tokens_today": report.tokens_today,
        **{name: value for name, value in left.items() if value is not None},
        "spent": report.is_exhausted,
        "resets_at": report.resets_at.isoformat(),
    }


def _print_warnings(report: Usage) -> None:
    if report.unpriced:
        names = ", ".join(report.unpriced)
        print_message(f"no price is set for {names} (memory.llm.prices); its cost is unknown")
    if report.is_exhausted:
        print_message("today's budget is spent: until tomorrow only the rules extract facts")
