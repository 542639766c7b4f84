"""The options commands share, gathered into one `Door`: which memory, and who asks from where."""

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
    from ..config import Settings
    from ..core.access import Grant
    from ..core.scope import Scope
    from ..nexus import Nexus
    from ..place import Place
    from ..workspace import Workspace

Command = TypeVar("Command", bound=Callable[..., Any])
Options = dict[str, Callable[[Any], Any]]  # by the name in Door

HERE = "default"  # the name of the session or room nobody named


def login_name() -> str:
    from getpass import getuser  # noqa: PLC0415  # imports the password database

    try:
        return getuser()
    except (KeyError, OSError):  # a container's user need not have a name
        return "user"


STORE: Options = {
    "store": click.option("--store", metavar="FILE|URL", help="The memory; else $NEXUS_STORE."),
    "config": click.option(
        "--config", metavar="FILE", help="Settings; else $NEXUS_CONFIG or ./nexus.yaml."
    ),
}
WORKSPACE: Options = {
    "workspace": click.option(
        "--workspace",
        "-w",
        metavar="NAME",
        envvar="NEXUS_WORKSPACE",
        default=HERE,
        show_default=True,
        show_envvar=True,
        help="The wall around one team.",
    ),
}
VIEWER: Options = {
    "room": click.option("--room", "--channel", "room", metavar="NAME", help="In this room."),
    "dm": click.option("--dm", is_flag=True, help="In the user's DM with the agent."),
    "session": click.option(
        "--session",
        metavar="NAME",
        envvar="NEXUS_SESSION",
        show_envvar=True,
        help="In this session of the user.",
    ),
    "user": click.option(
        "--user",
        metavar="NAME",
        envvar="NEXUS_USER",
        default=login_name,
        show_default="your login name",
        show_envvar=True,
        help="Who asks.",
    ),
    "agent": click.option(
        "--agent",
        metavar="NAME",
        envvar="NEXUS_AGENT",
        default="assistant",
        show_default=True,
        show_envvar=True,
        help="The agent that is asked.",
    ),
    "participants": click.option(
        "--participant", "participants", metavar="NAME", multiple=True, help="Of the room; many."
    ),
    "project": click.option("--project", metavar="NAME", help="The project this is about."),
}
WHERE = """

    Without --room, --dm and --session it happens in the user's session "default", as seed 002 has
    it; memory.search.default_scope can name another place. --scope channel without --room means
    the room "default". What can be seen follows from the place: --scope only narrows it.
"""


@dataclass(frozen=True, kw_only=True)
class Door:
    """What the shared options said."""

    store: str | None = None
    config: str | None = None
    workspace: str | None = None
    room: str | None = None
    dm: bool = False
    session: str | None = None
    user: str = ""
    agent: str = ""
    participants: tuple[str, ...] = ()
    project: str | None = None

    @cached_property
    def settings(self) -> Settings:
        from ..config import load_settings  # noqa: PLC0415

        chosen = load_settings(self.config)
        if self.store is None:
            return chosen
        return replace(chosen, store=replace(chosen.store, url=self.store))

    @contextmanager
    def open(self, *, create: bool = False) -> Iterator[Nexus]:
        """The memory; a file that is not there is made only by commands that write."""
        from ..core.errors import NotFound  # noqa: PLC0415
        from ..nexus import Nexus  # noqa: PLC0415
        from ..storing import file_of  # noqa: PLC0415

        file = file_of(self.settings.store)
        if file and not create and not file.exists():
            raise NotFound(f"no memory at {file} yet; `nexus init` or the first message makes one")
        with Nexus.open(settings=self.settings, background=False) as nexus:
            yield nexus

    @contextmanager
    def enter(self, scope: str | None = None, *, create: bool = False) -> Iterator[Place]:
        """The place the command is given from."""
        with self.open(create=create) as nexus:
            yield self.place(nexus.workspace(self.workspace or HERE), scope)

    def place(self, workspace: Workspace, scope: str | None = None) -> Place:
        """Where the options say; else where the scope lies; else the user's session."""
        from ..core.scope import Kind, kind_named, parse_scope  # noqa: PLC0415

        named = scope or self.settings.search.default_scope
        kind = kind_named(named.partition(":")[0])
        ids = parse_scope(named).ids if ":" in named else (HERE,)
        project = self.project or (ids[0] if kind is Kind.PROJECT and ":" in named else None)
        said = self.room or self.dm or self.session
        if self.room or (kind is Kind.ROOM and not said):
            people = self.participants
            room = self.room or ids[0]
            return workspace.room(room, agent=self.agent, participants=people, project=project)
        if self.dm or (kind is Kind.DM and not said):
            return workspace.dm(self.user, agent=self.agent, project=project)
        session = self.session or (ids[-1] if kind is Kind.SESSION else HERE)
        return workspace.session(session, user=self.user, agent=self.agent, project=project)

    def reach(
        self, workspace: Workspace, scope: str | None, *, as_admin: bool
    ) -> tuple[Grant, Scope | None]:
        """What may be seen from here, or by the administrator; and the one scope meant, if any."""
        from ..core.scope import parse_scope  # noqa: PLC0415

        place = self.place(workspace, scope)
        whole = workspace.administrator if as_admin else place.grant
        if scope is None:
            return whole, None
        return whole, parse_scope(scope) if as_admin and ":" in scope else place.scope(scope)

    def grant(self, workspace: Workspace, scope: str | None, *, as_admin: bool) -> Grant:
        """That, narrowed to the scope."""
        whole, one = self.reach(workspace, scope, as_admin=as_admin)
        return whole.within([one]) if one else whole


def store_options(command: Command) -> Command:
    """--store and --config."""
    return _gathering(command, STORE)


def workspace_options(command: Command) -> Command:
    """Those, and --workspace."""
    return _gathering(command, {**STORE, **WORKSPACE})


def viewer_options(command: Command) -> Command:
    """Those, and who asks from where."""
    command.__doc__ = (command.__doc__ or "").rstrip() + WHERE
    return _gathering(command, {**STORE, **WORKSPACE, **VIEWER})


def _gathering(command: Command, options: Options) -> Command:
    """Add the options, and hand what they say to the command as one Door."""

    @wraps(command)
    def gathered(*args: Any, **said: Any) -> Any:
        door = Door(**{name: said.pop(name) for name in options})
        return command(door, *args, **said)

    wrapped: Any = gathered
    for option in reversed(options.values()):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]  # the same command, with a Door in front


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
admin_option = click.option(
    "--as-admin", is_flag=True, help="Everything in the workspace, not only what the user may see."
)
scope_option = click.option(
    "--scope",
    metavar="SCOPE",
    help="session, channel, agent, global, user, project, dm, or kind:id.",
)


def time(text: str) -> datetime:
    """An ISO 8601 time; without a zone it is UTC."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        hint = "write 2026-01-31 or 2026-01-31T09:00:00Z"
        raise click.BadParameter(f"{text!r:.80} is no time; {hint}") from None


def json_object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}") from None


def standard_input() -> TextIO:
    return TextIOWrapper(sys.stdin.buffer, encoding="utf-8")


def given_text(text: str) -> str:
    """The text of the command line, or standard input for "-"."""
    if text != "-":
        return text
    try:
        return standard_input().read()
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"standard input is not UTF-8: {error.reason}") from None
