"""Command line: each command parses its options, calls Nexus and prints the result."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import IO, Any, NamedTuple

import click

EXIT_NEGATIVE = 1  # nothing found, or a problem found


class CommandError(click.ClickException):
    """An error of Nexus, printed on one line; exit code 2: wrong usage or input."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        from .output import one_line  # loaded on first use

        click.echo(f"error: {one_line(self.message)}", file=file, err=True)


class ProblemError(CommandError):
    """A problem that a command detected; exit code 1."""

    exit_code = EXIT_NEGATIVE


class UnavailableError(CommandError):
    """A store or provider that does not answer; exit code 3."""

    exit_code = 3


class LazyCommand(NamedTuple):
    """A command that is not imported yet."""

    module: str
    section: str  # of the help text
    help: str
    hidden: bool = False


class LazyGroup(click.Group):
    """A group that knows the module, the section and the one-line help of each command."""

    def __init__(
        self, *args: Any, lazy: Mapping[str, LazyCommand], package: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # click's signature  # noqa: ARG002
        return [name for name, command in self.lazy.items() if not command.hidden]

    def get_command(
        self,
        ctx: click.Context,  # click's signature  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        module = import_module(f"{self.package}.{self.lazy[cmd_name].module}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one help section for each section of commands."""
        shown = [(name, self.lazy[name]) for name in self.list_commands(ctx)]
        for section in dict.fromkeys(command.section for _, command in shown):
            rows = [(name, command.help) for name, command in shown if command.section == section]
            with formatter.section(section):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.lazy or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches  # loaded on first use

        paths = self._command_paths(ctx)
        near = get_close_matches(args[0], paths, n=1)
        commands = ", ".join(self.list_commands(ctx))
        hint = f"did you mean {paths[near[0]]!r}?" if near else f"commands: {commands}"
        raise click.UsageError(f"no command {args[0]!r}; {hint}", ctx)

    def _command_paths(self, ctx: click.Context) -> dict[str, str]:
        """Return the words of each command by its name, such as "nexus memory search"."""
        names = self.list_commands(ctx)
        paths = {name: f"{ctx.command_path} {name}" for name in names}
        for name in names:
            command = self.get_command(ctx, name)
            if isinstance(command, click.Group):
                for each in command.list_commands(ctx):
                    paths.setdefault(each, f"{ctx.command_path} {name} {each}")
        return paths

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn a NexusError into an error message with its exit code."""
        from ..core.errors import NexusError  # not loaded for --help

        try:
            return super().invoke(ctx)
        except NexusError as error:
            raise to_command_error(error) from error


def to_command_error(error: Exception) -> CommandError:
    """Return the command error with the exit code of a NexusError."""
    from ..core.errors import Corrupt, JobFailed, QuotaExceeded, Unavailable  # loaded on first use

    is_temporary = isinstance(error, QuotaExceeded) and error.frees_at is not None
    if isinstance(error, Unavailable) or is_temporary:
        return UnavailableError(str(error))
    if isinstance(error, Corrupt | JobFailed):
        return ProblemError(str(error))
    return CommandError(str(error))


__all__ = ["COMMANDS", "EXIT_NEGATIVE", "CommandError", "main", "nexus", "to_command_error"]

TALK, KNOW, WORK = "Talk", "Know", "Work"
ADMIN, RUN = "Admin", "Run"

# The function of a command has the name of the command.
COMMANDS = {
    "observe": LazyCommand("observe", TALK, "Record a message."),
    "remember": LazyCommand("remember", TALK, "Store a note, word for word."),
    "compose": LazyCommand("compose", TALK, "Print the context for a model's next answer."),
    "explain": LazyCommand("explain", TALK, "Show why a context has its content."),
    "memory": LazyCommand(
        "memory", KNOW, "Search, list, correct, index, export and import memories."
    ),
    "facts": LazyCommand("facts", KNOW, "Show what holds about a person or thing."),
    "landmarks": LazyCommand("landmarks", KNOW, "List decisions and tasks with their status."),
    "entity": LazyCommand("entity", KNOW, "List people, companies, projects and places."),
    "profile": LazyCommand("profile", KNOW, "Show a person's profile; refresh habits."),
    "episodes": LazyCommand("episodes", KNOW, "Summaries of threads, sessions, days and weeks."),
    "sessions": LazyCommand("sessions", KNOW, "Find the session for a topic; list outdated facts."),
    "dossier": LazyCommand("dossier", KNOW, "Documents about a person or thing, with sources."),
    "goal": LazyCommand("goal", WORK, "Goals, subgoals, blockers and results."),
    "procedure": LazyCommand("procedure", WORK, "Tool calls, task outcomes, and what worked."),
    "notebook": LazyCommand("notebook", WORK, "Versioned documents, synchronized with a folder."),
    "window": LazyCommand("window", WORK, "Recent messages, notes, thoughts and the active goal."),
    "layers": LazyCommand("layers", WORK, "Show what lies in each layer: contexts to documents."),
    "skills": LazyCommand("skills", WORK, "Export files that teach an agent to use Nexus."),
    "forget": LazyCommand("forget", ADMIN, "Erase data and everything derived from it."),
    "share": LazyCommand("share", ADMIN, "Share a memory with more people."),
    "review": LazyCommand("review", ADMIN, "Accept or reject proposed merges."),
    "audit": LazyCommand("audit", ADMIN, "Show, verify and export the audit log."),
    "verify": LazyCommand("verify", ADMIN, "Check the ledger's hash chain and the indexes."),
    "flows": LazyCommand("flows", ADMIN, "Show and apply the rules by which knowledge flows."),
    "quota": LazyCommand("quota", ADMIN, "Show the quotas of a workspace and their use."),
    "usage": LazyCommand("usage", ADMIN, "Show the cost of language models and the budget."),
    "metrics": LazyCommand("metrics", ADMIN, "Show sizes, timings, caches and pending work."),
    "init": LazyCommand("init", RUN, "Write nexus.yaml and create the store."),
    "worker": LazyCommand("worker", RUN, "Learn and run background jobs until stopped."),
    "jobs": LazyCommand("jobs", RUN, "List, retry and run background work."),
    "doctor": LazyCommand("doctor", RUN, "Check this machine and every configured product."),
    "migrate": LazyCommand("migrate", RUN, "Copy a memory into another store and compare both."),
    "rebuild": LazyCommand("rebuild", RUN, "Derive memories and indexes again from the ledger."),
    "reembed": LazyCommand("re_embed", RUN, "Embed every memory with the configured embedder."),
    "rekey": LazyCommand("rekey", RUN, "Encrypt a SQLite file with another key."),
    "models": LazyCommand("models", RUN, "Pull, list and remove models that run on this machine."),
    "completion": LazyCommand("completion", RUN, "Print the completion script of a shell."),
    "eval": LazyCommand(
        "eval_", RUN, "Measure retrieval, contexts and learning on benchmarks or your own data."
    ),
    "leaktest": LazyCommand("leaktest", RUN, "Search for access control leaks, for some time."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, package=__name__)
@click.version_option(package_name="nexusmem", prog_name="nexus")
def nexus() -> None:
    """Nexus: memory for AI agents and the people they work with.

    \b
        nexus init
        nexus observe alice "We decided to use PostgreSQL." --room design
        nexus memory search "which database did we choose?" --room design

    Exit codes: 0 found or done, 1 nothing found or a problem found, 2 wrong usage or input,
    3 a store or provider does not answer.
    """


def main() -> None:
    """Run the command line; characters the terminal cannot encode are printed as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    nexus(prog_name="nexus")
