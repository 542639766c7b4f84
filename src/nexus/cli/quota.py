"""`nexus quota`: how much a workspace may keep and do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import HERE, Door, json_option, workspace_options
from .output import print_json, print_table

if TYPE_CHECKING:
    from ..core.quotas import QuotaUse


@click.command()
@json_option
@workspace_options
def quota(door: Door, as_json: bool) -> None:
    """How much a workspace may keep and do, and how much is used.

    Quotas are set by memory.quotas. What is counted by the minute is counted by each process for
    itself, so this command knows the limit and not how much is used.

    \b
        nexus quota
        nexus quota --workspace acme --json
    """
    with door.open() as nexus:
        quotas = nexus.workspace(door.workspace or HERE).quota()
    if as_json:
        for each in quotas:
            print_json(_row(each))
    else:
        print_table(("quota", "used", "limit", "frees"), [_cells(each) for each in quotas])


def _row(each: QuotaUse) -> dict[str, Any]:
    return {
        "quota": each.name,
        "used": _used(each),
        "limit": each.limit,
        "frees_at": each.frees_at.isoformat() if each.frees_at else None,
    }


def _used(each: QuotaUse) -> int | None:
    from ..core.quotas import RATES  # noqa: PLC0415

    return None if each.name in RATES else each.used


def _cells(each: QuotaUse) -> tuple[object, ...]:
    limit, used = "none" if each.limit is None else each.limit, _used(each)
    frees = f"{each.frees_at:%Y-%m-%d %H:%M}" if each.frees_at else "by forgetting"
    return each.name, "of each process" if used is None else used, limit, frees
