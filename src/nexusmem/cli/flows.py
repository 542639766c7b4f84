"""`nexus flows`: the table of flows as configured, and applying it to earlier memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_NAME, CommandTarget, json_option, workspace_options
from .output import print_json, print_table, progress_bar

if TYPE_CHECKING:
    from ..core.flows import Flow, Sharing


@click.group()
def flows() -> None:
    """Show and apply the rules by which knowledge flows.

    \b
        nexus flows show
        nexus flows apply
    """


@flows.command()
@json_option
@workspace_options
def show(target: CommandTarget, as_json: bool) -> None:
    """Show the table of flows with the settings of a workspace.

    The section memory.sharing sets them.

    \b
        nexus flows show
        nexus flows show --workspace acme --json
    """
    from ..core.flows import FLOWS  # loaded on first use

    sharing = target.settings.sharing.for_workspace(target.workspace or DEFAULT_NAME)
    rows = [_flow_json(flow, sharing) for flow in FLOWS]
    if as_json:
        for row in rows:
            print_json(row)
    else:
        print_table(tuple(rows[0]), [tuple(row.values()) for row in rows], header=True)


@flows.command()
@json_option
@workspace_options
def apply(target: CommandTarget, as_json: bool) -> None:
    """Apply the flows to memories that were learned before a setting was changed.

    An interrupted run continues where it was. The flow `rooms` applies only to messages that were
    recorded while it was on: the participants of earlier ones are unknown.

    \b
        nexus flows apply --workspace acme
    """
    from ..core.errors import NotFound  # loaded on first use

    name = target.workspace or DEFAULT_NAME
    with target.open_nexus() as nexus, progress_bar(f"{name}: flows") as report:
        if name not in (known := nexus.workspaces()):
            names = ", ".join(sorted(known)) or "none"
            raise NotFound(f"no messages in workspace {name!r}; workspaces with messages: {names}")
        counts = nexus.workspace(name).apply_flows(report=report)
    if as_json:
        print_json({"workspace": name, **counts})
    else:
        print_table(("workspace", *counts), [(name, *counts.values())], header=True)


def _flow_json(flow: Flow, sharing: Sharing) -> dict[str, Any]:
    value = getattr(sharing, flow.setting) if flow.setting else "never"
    return {
        "setting": flow.setting or "",
        "value": str(value).lower(),  # as in nexus.yaml
        "allowed": ", ".join(flow.values),
        "from": flow.source,
        "to": flow.target,
        "what": flow.what,
    }
