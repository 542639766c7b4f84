"""Groups that import a command when it runs, and turn Nexus' errors into one line."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import IO, Any

import click

FOUND_NOTHING = 1


class Refused(click.ClickException):
    """An error of Nexus in one line: wrong input, if nothing else."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        from .output import one_line  # noqa: PLC0415  # seldom needed

        click.echo(f"error: {one_line(self.message)}", file=file, err=True)


class ProblemFound(Refused):
    exit_code = FOUND_NOTHING


class Unanswered(Refused):
    exit_code = 3


class LazyGroup(click.Group):
    """Knows the name, the module and the one-line help of each command, and no more."""

    def __init__(
        self, *args: Any, lazy: Mapping[str, tuple[str, str]], package: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(self.lazy)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002  # click's signature
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        module = import_module(f"{self.package}.{self.lazy[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002  # click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in self.lazy.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.lazy or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches  # noqa: PLC0415  # for a slip of the finger

        near = get_close_matches(args[0], self.lazy, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(self.lazy)}"
        raise click.UsageError(f"no command {args[0]!r}; {hint}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        from ..core.errors import NexusError  # noqa: PLC0415  # not for --help

        try:
            return super().invoke(ctx)
        except NexusError as error:
            raise refusal(error) from error


def refusal(error: Exception) -> Refused:
    from ..core.errors import Corrupt, JobFailed, QuotaExceeded, Unavailable  # noqa: PLC0415

    passes = isinstance(error, QuotaExceeded) and error.frees_at is not None
    if isinstance(error, Unavailable) or passes:
        return Unanswered(str(error))
    found = isinstance(error, Corrupt | JobFailed)
    return ProblemFound(str(error)) if found else Refused(str(error))
