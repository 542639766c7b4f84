"""Options that commands share: the store, the workspace and the viewer, as one CommandTarget."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, wraps
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

if TYPE_CHECKING:
    from ..client import Nexus
    from ..config.settings import Settings
    from ..core.access import Grant
    from ..core.scope import Scope
    from ..place.place import Place
    from ..workspace import Workspace

Command = TypeVar("Command", bound=Callable[..., Any])
Options = dict[str, Callable[[Any], Any]]  # field of CommandTarget → option

DEFAULT_NAME = "default"  # of the workspace, session or room if none is given


def login_name() -> str:
    """Return the login name, or "user" if the system has none."""
    from getpass import getuser  # loaded on first use

    try:
        return getuser()
    except (KeyError, OSError):  # users of containers may have no name
        return "user"


STORE_OPTIONS: Options = {
    "store": click.option(
        "--store",
        metavar="FILE|URL",
        help="The store; default: $NEXUS_STORE, else nexus.yaml, else ~/.nexus/memory.db.",
    ),
    "config": click.option(
        "--config", metavar="FILE", help="Settings file; default: $NEXUS_CONFIG or ./nexus.yaml."
    ),
}
WORKSPACE_OPTIONS: Options = {
    "workspace": click.option(
        "--workspace",
        "-w",
        metavar="NAME",
        envvar="NEXUS_WORKSPACE",
        default=DEFAULT_NAME,
        show_default=True,
        show_envvar=True,
        help="The memory of one team or tenant.",
    ),
}


class RoomOption(click.Option):
    """--room; the help does not list its alias --channel."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        return record and (record[0].replace(", --channel", ""), record[1])


VIEWER_OPTIONS: Options = {
    "room": click.option(
        "--room", "--channel", "room", cls=RoomOption, metavar="NAME", help="Run in this room."
    ),
    "dm": click.option("--dm", is_flag=True, help="Run in the user's DM with the agent."),
    "session": click.option(
        "--session",
        metavar="NAME",
        envvar="NEXUS_SESSION",
        show_envvar=True,
        help="Run in this session of the user.",
    ),
    "private": click.option(
        "--private",
        is_flag=True,
        help="With --session: a private session, which no other session reads.",
    ),
    "user": click.option(
        "--user",
        metavar="NAME",
        envvar="NEXUS_USER",
        default=login_name,
        show_default="your login name",
        show_envvar=True,
        help="The user who runs the command.",
    ),
    "agent": click.option(
        "--agent",
        metavar="NAME",
        envvar="NEXUS_AGENT",
        default="assistant",
        show_default=True,
        show_envvar=True,
        help="The agent.",
    ),
    "participants": click.option(
        "--participant",
        "participants",
        metavar="NAME",
        multiple=True,
        help="A participant of the room; repeatable.",
    ),
    "project": click.option("--project", metavar="NAME", help="The project."),
}
PLACE_HELP = """

    Default place: your session "default". Choose another with --room, --dm or --session.
"""


@dataclass(frozen=True, kw_only=True)
class CommandTarget:
    """The values of the shared options."""

    store: str | None = None
    config: str | None = None
    workspace: str | None = None
    room: str | None = None
    dm: bool = False
    session: str | None = None
    private: bool = False
    user: str = ""
    agent: str = ""
    participants: tuple[str, ...] = ()
    project: str | None = None

    @cached_property
    def settings(self) -> Settings:
        from ..config.settings import load_settings

        chosen = load_settings(self.config)
        if self.store is None:
            return chosen
        return replace(chosen, store=replace(chosen.store, url=self.store))

    @contextmanager
    def open_nexus(self, *, create: bool = False) -> Iterator[Nexus]:
        """Open the store; only commands that write may create a missing file."""
        from ..client import Nexus
        from ..core.errors import NotFound
        from ..wiring.stores import store_file

        file = store_file(self.settings.store)
        if file and not create and not file.exists():
            raise NotFound(f"no store at {file}; `nexus init` or the first message creates it")
        with Nexus.open(settings=self.settings, background=False) as nexus:
            yield nexus

    @contextmanager
    def open_place(self, scope: str | None = None, *, create: bool = False) -> Iterator[Place]:
        """Open the store and the place that the options name."""
        with self.open_nexus(create=create) as nexus:
            place = self.resolve_place(nexus.workspace(self.workspace or DEFAULT_NAME), scope)
            with name_place(place):
                yield place

    def resolve_place(self, workspace: Workspace, scope: str | None = None) -> Place:
        """Return the place of the options, else of the scope, else the user's session."""
        from ..core.scope import ScopeKind, parse_kind, parse_scope

        named = scope or self.settings.search.default_scope
        kind = parse_kind(named.partition(":")[0])
        ids = parse_scope(named).ids if ":" in named else (DEFAULT_NAME,)
        project = self.project or (ids[0] if kind is ScopeKind.PROJECT and ":" in named else None)
        given = self.room or self.dm or self.session
        if self.private and not self.session:
            raise click.UsageError("--private needs --session NAME")
        if self.room or (kind is ScopeKind.ROOM and not given):
            people = self.participants
            room = self.room or ids[0]
            return workspace.room(room, agent=self.agent, participants=people, project=project)
        if self.dm or (kind is ScopeKind.DM and not given):
            return workspace.dm(self.user, agent=self.agent, project=project)
        session = self.session or (ids[-1] if kind is ScopeKind.SESSION else DEFAULT_NAME)
        return workspace.session(
            session, user=self.user, agent=self.agent, project=project, private=self.private
        )

    def resolve_access(
        self, workspace: Workspace, scope: str | None, *, as_admin: bool
    ) -> tuple[Grant, Scope | None]:
        """Return the grant of the viewer or administrator, and the one scope given, if any."""
        from ..core.scope import Scope, parse_scope

        place = self.resolve_place(workspace, scope)
        grant = workspace.admin_grant if as_admin else place.grant
        if scope is None:
            return grant, None
        if not as_admin or ":" not in scope:
            return grant, place.scope(scope)
        named = parse_scope(scope)
        if named.is_legacy_session:  # session:alice:monday, with the agent of the options
            named = Scope.session(named.ids[0], self.agent, named.ids[1])
        return grant, named

    def resolve_grant(self, workspace: Workspace, scope: str | None, *, as_admin: bool) -> Grant:
        """Return that grant, narrowed to the scope."""
        grant, one = self.resolve_access(workspace, scope, as_admin=as_admin)
        return grant.narrow_to([one]) if one else grant


@contextmanager
def name_place(place: Place) -> Iterator[None]:
    """Replace "here" in the message of a NotFound error by the place and a hint."""
    from ..core.errors import NotFound

    try:
        yield
    except NotFound as error:
        what, _, rest = str(error).rpartition(" here")
        if not what.startswith("no ") or (rest and not rest.startswith(";")):
            raise
        hint = "choose another place with --room, --dm or --session"
        raise NotFound(f"{what} in {place.scope(None)}; {hint}{rest}") from error


confidential_option = click.option(
    "--confidential", is_flag=True, help="Keep it in this place: no flow copies it."
)


def config_options(command: Command) -> Command:
    """Add --config."""
    return _add_options(command, {"config": STORE_OPTIONS["config"]})


def store_options(command: Command) -> Command:
    """Add --store and --config."""
    return _add_options(command, STORE_OPTIONS)


def workspace_options(command: Command) -> Command:
    """Add --store, --config and --workspace."""
    return _add_options(command, {**STORE_OPTIONS, **WORKSPACE_OPTIONS})


def viewer_options(command: Command) -> Command:
    """Add --store, --config, --workspace and the options of the viewer."""
    command.__doc__ = (command.__doc__ or "").rstrip() + PLACE_HELP
    return _add_options(command, {**STORE_OPTIONS, **WORKSPACE_OPTIONS, **VIEWER_OPTIONS})


def _add_options(command: Command, options: Options) -> Command:
    """Add the options; the command gets their values as one CommandTarget."""

    @wraps(command)
    def call_with_target(*args: Any, **values: Any) -> Any:
        target = CommandTarget(**{name: values.pop(name) for name in options})
        return command(target, *args, **values)

    wrapped: Any = call_with_target
    for option in reversed(options.values()):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]  # the same command with one more argument


one_workspace_option = click.option(
    "--workspace", "-w", "workspace_name", metavar="NAME", help="One workspace; default: all."
)
limit_option = click.option(
    "--limit", type=int, default=100, show_default=True, metavar="N", help="Maximum number."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per line."
)
admin_option = click.option(
    "--as-admin",
    is_flag=True,
    help="Read everything in the workspace, not only what the user may see.",
)


def make_scope_option(purpose: str) -> Callable[[Any], Any]:
    """Return the option --scope; its help states the purpose and the accepted scopes."""
    accepted = "session, room, dm, user, agent, project, workspace, or kind:id"
    return click.option("--scope", metavar="SCOPE", help=f"{purpose}. Accepted: {accepted}.")


scope_option = make_scope_option("Only this scope")


class TimeType(click.ParamType):  # type: ignore[type-arg]  # not generic in click 8.1
    """An ISO 8601 time; without an offset it is UTC."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            hint = "write 2026-01-31 or 2026-01-31T09:00:00Z"
            self.fail(f"{value!r:.80} is not a time; {hint}", param, ctx)


TIME = TimeType()


def parse_json(text: str) -> Any:
    """Parse JSON; raise click.BadParameter if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}") from None


def open_stdin() -> TextIO:
    """Return standard input as UTF-8 text."""
    return TextIOWrapper(sys.stdin.buffer, encoding="utf-8")


def text_or_stdin(text: str) -> str:
    """Return the argument, or standard input for "-"."""
    if text != "-":
        return text
    try:
        return open_stdin().read()
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"standard input is not UTF-8: {error.reason}") from None


key_option = click.option(
    "--key", metavar="KEY", help="Idempotency key: writing the same key twice has no effect."
)
at_option = click.option("--at", type=TIME, help="Time of the event; default: now.")
