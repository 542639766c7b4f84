"""`nexus quota`: the quotas of a workspace and their use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_NAME, CommandTarget, json_option, workspace_options
from .output import print_json, print_table

if TYPE_CHECKING:
    from ..runtime.quotas import QuotaUse


@click.command()
@json_option
@workspace_options
def quota(target: CommandTarget, as_json: bool) -> None:
    """Show the quotas of a workspace and their use.

    The section memory.quotas sets them. Limits per minute are counted by each process, so their
    use is not shown.

    \b
        nexus quota
        nexus quota --workspace acme --json
    """
    with target.open_nexus() as nexus:
        quotas = nexus.workspace(target.workspace or DEFAULT_NAME).quota()
    if as_json:
        for each in quotas:
            print_json(_quota_json(each))
    else:
        rows = [_quota_cells(each) for each in quotas]
        print_table(("quota", "used", "limit", "resets"), rows, header=True)


def _quota_json(use: QuotaUse) -> dict[str, Any]:
    return {
        "quota": use.name,
        "used": _usage_count(use),
        "limit": use.limit,
        "frees_at": use.frees_at.isoformat() if use.frees_at else None,
    }


def _usage_count(use: QuotaUse) -> int | None:
    from ..runtime.quotas import RATE_NAMES  # loaded on first use

    return None if use.name in RATE_NAMES else use.used


def _quota_cells(use: QuotaUse) -> tuple[object, ...]:
    limit, used = "none" if use.limit is None else use.limit, _usage_count(use)
    frees = f"{use.frees_at:%Y-%m-%d %H:%M}" if use.frees_at else "by erasing data"
    return use.name, "per process" if used is None else used, limit, frees
