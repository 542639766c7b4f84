"""What the doctor says of servers: there, away, full, and never their passwords."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from tests.servers.databases import prepare
from tests.servers.postgres import Database, Postgres
from tests.servers.redis import Redis

from nexus.cli import doctor


def checks_of(lines, code: int = 0) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in lines("doctor", code=code)}


def test_a_redis_that_answers_is_told_with_its_version(lines, shell, redis_url) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window: '{redis_url}'}}\n")

    checks = checks_of(lines)

    assert checks["window"]["state"] == "ok"
    assert "ms for a round trip" in checks["window"]["detail"]
    assert checks["redis"]["detail"].startswith("version ")
    assert checks["redis memory"]["state"] == "note"


def test_a_redis_that_is_away_is_a_problem_without_its_password(run, lines, shell) -> None:
    address = "redis://u:s3cret@127.0.0.1:1/0"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window: '{address}'}}\n")

    checks = checks_of(lines, code=1)

    assert checks["window"]["state"] == "problem"
    assert "redis://u:***@127.0.0.1:1/0 does not answer" in checks["window"]["detail"]
    assert "s3cret" not in run("doctor", code=1).output


def test_the_redis_of_contexts_is_looked_at_like_that_of_the_window(
    lines, shell, redis_url
) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{contexts: '{redis_url}'}}\n")
    checks = checks_of(lines)
    assert "ms for a round trip" in checks["contexts"]["detail"]
    assert checks["redis"]["detail"].startswith("version ")

    both = f"{{window: '{redis_url}', contexts: '{redis_url}'}}"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {both}\n")
    assert checks_of(lines)["contexts"]["detail"] == "in the Redis of the window"

    away = "{contexts: 'redis://u:s3cret@127.0.0.1:1/0'}"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {away}\n")
    told = checks_of(lines, code=1)["contexts"]
    assert told["state"] == "problem"
    assert told["detail"].endswith("Nexus goes on without the contexts")
    assert "s3cret" not in told["detail"]


@pytest.mark.parametrize(
    "address",
    ["redis://127.0.0.1:x/0", "redis+sentinel://127.0.0.1:1", "redis+cluster://127.0.0.1:1/0"],
)
def test_an_address_of_redis_that_opening_refuses_is_told_so(run, lines, shell, address) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window: '{address}'}}\n")

    told = checks_of(lines, code=1)["window"]["detail"]

    assert "is no address of a Redis" in told
    assert "goes on" not in told
    assert told in run("remember", "The launch is on Tuesday.", code=2).output


@pytest.mark.parametrize("kind", ["sentinel", "cluster"])
def test_many_servers_that_are_away_are_told_in_few_words(lines, shell, kind: str) -> None:
    service = "/nexus" if kind == "sentinel" else ""
    address = f"redis+{kind}://127.0.0.1:1,127.0.0.1:2{service}"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window: '{address}'}}\n")

    told = checks_of(lines, code=1)["window"]["detail"]

    assert "does not answer" in told
    assert "ConnectionPool" not in told


@pytest.mark.slow
def test_a_redis_that_stands_still_is_given_up_soon(lines, shell, own_redis: Redis) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window: '{own_redis.url}'}}\n")
    own_redis.freeze()

    checks = checks_of(lines, code=1)

    own_redis.thaw()
    assert "does not answer" in checks["window"]["detail"]


def test_a_redis_that_refuses_when_full_is_noted(lines, shell, redis_server: Redis) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window: '{redis_server.url}'}}\n")
    redis_server.ask("CONFIG", "SET", "maxmemory", "100mb")

    detail = checks_of(lines)["redis memory"]["detail"]

    redis_server.ask("CONFIG", "SET", "maxmemory", "0")
    assert "noeviction" in detail
    assert "volatile-ttl" in detail


@pytest.mark.parametrize(
    "embeddings",
    [
        "{provider: ollama, ollama_url: 'http://127.0.0.1:1'}",
        "{provider: ollama, ollama_url: 'http://127.0.0.1:1', dimension: 768}",
        "{provider: openai, base_url: 'http://127.0.0.1:1/v1', api_key: s3cret, dimension: 1536}",
    ],
)
def test_an_embedder_that_does_not_answer_is_a_problem(
    lines, shell, embeddings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "WAIT_SECONDS", 0.3)
    (shell / "nexus.yaml").write_text(f"memory:\n  embeddings: {embeddings}\n")

    told = checks_of(lines, code=1)["embedder"]

    assert told["state"] == "problem"
    assert "no answer" in told["detail"]
    assert "s3cret" not in told["detail"]


@pytest.fixture
def prepared(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database that holds a memory, and is the configured store."""
    database = postgres_server.database(prepared=prepare)
    monkeypatch.setenv("NEXUS_STORE", database.url)
    yield database
    database.drop()


def problems_of(lines) -> list[str]:
    found = [check for check in lines("doctor", code=1) if check["state"] == "problem"]
    return [f"{check['name']}: {check['detail']}" for check in found]


@pytest.mark.requirement("C3")
def test_a_postgres_that_is_as_it_should_be(run, lines, prepared: Database) -> None:
    run("remember", "The launch is on Tuesday.")

    checks = checks_of(lines)

    assert {check["state"] for check in checks.values()} == {"ok", "note"}
    assert checks["postgres"]["detail"].startswith("version ")
    assert checks["pgvector"]["detail"].startswith("version ")
    assert checks["schema"]["detail"] == "version 1"
    assert "bound by row-level security" in checks["user"]["detail"]
    assert "forced on all" in checks["walls"]["detail"]
    assert "owns nothing" in checks["rights"]["detail"]
    assert "memory.store.connections" in checks["connections"]["detail"]
    assert checks["vectors"]["state"] == "ok"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "statements end after 30 s, waits for locks after 10 s"),
        ("-c statement_timeout=7s", "statements end after 7 s, waits for locks after 10 s"),
        ("-c statement_timeout=500", "statements end after 0.5 s, waits for locks after 10 s: too"),
        ("-c lock_timeout=0", "waits for locks never"),
    ],
)
def test_limits_are_told_as_the_address_sets_them(
    lines, prepared, monkeypatch, options: str, said: str
) -> None:
    mark = "&" if "?" in prepared.url else "?"
    address = f"{prepared.url}{mark}options={quote(options)}" if options else prepared.url
    monkeypatch.setenv("NEXUS_STORE", address)

    told = checks_of(lines, code=1 if "too" in said else 0)["connections"]

    assert said in told["detail"]


def test_a_limit_that_lets_nothing_through_is_a_problem(lines, prepared, monkeypatch) -> None:
    mark = "&" if "?" in prepared.url else "?"
    limit = quote("-c statement_timeout=1")
    monkeypatch.setenv("NEXUS_STORE", f"{prepared.url}{mark}options={limit}")

    assert any("statement" in problem for problem in problems_of(lines))


def test_an_empty_database_is_looked_at_and_left_empty(lines, postgres, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", postgres.url)

    checks = checks_of(lines)

    assert "the first opening prepares it" in checks["schema"]["detail"]
    assert postgres.run("SELECT to_regnamespace('nexus')") == [(None,)]


def test_whoever_may_not_prepare_a_database_is_told_what_to_grant(lines, postgres, monkeypatch):
    monkeypatch.setenv("NEXUS_STORE", postgres.url_of("stranger"))

    (problem,) = problems_of(lines)

    assert "GRANT CREATE ON DATABASE" in problem
    assert 'TO "stranger"' in problem


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (
            "REVOKE DELETE ON nexus.memories FROM nexus_app",
            "rights: GRANT DELETE ON nexus.memories TO nexus_app;",
        ),
        (
            "REVOKE USAGE ON SCHEMA nexus FROM nexus_app",
            "rights: GRANT USAGE ON SCHEMA nexus TO nexus_app;",
        ),
        ("ALTER TABLE nexus.events NO FORCE ROW LEVEL SECURITY", "walls: events binds everybody"),
        ("ALTER TABLE nexus.events DISABLE ROW LEVEL SECURITY", "walls: events is open"),
        ("DROP POLICY bound ON nexus.links", "walls: links is open"),
        ("GRANT SELECT ON nexus.events_3 TO nexus_app", "rights: 1 partitions are open"),
        (
            "INSERT INTO nexus.schema_version VALUES (999, 'from the future', now())",
            "schema: version 999 is of a newer Nexus",
        ),
    ],
)
def test_what_is_wrong_is_told_with_the_line_that_helps(lines, prepared, harm, said) -> None:
    prepared.run(harm)

    problems = problems_of(lines)

    assert any(problem.startswith(said) for problem in problems), problems


def test_a_superuser_is_a_problem(lines, prepared: Database, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", prepared.url_of("postgres"))

    (problem,) = problems_of(lines)

    assert problem.startswith("user: postgres is a superuser, whom no wall stops")


def test_a_postgres_that_is_away_is_told_soon_and_without_its_password(run, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", "postgresql://app:s3cret@127.0.0.1:1/nexus")

    said = run("doctor", code=1).output

    assert "s3cret" not in said
    assert "postgresql://app:***@127.0.0.1:1/nexus" in said
    assert "refused" in said


def test_work_that_waits_is_told(run, lines, prepared: Database) -> None:
    run("observe", "alice", "The launch is on Tuesday.", "--workspace", "acme")
    requeue = "UPDATE nexus.outbox SET attempts = 3, error = 'away'"
    prepared.run(
        "INSERT INTO nexus.outbox (workspace, priority, seq, label, step, due_at)"
        " SELECT workspace, 0, seq, label, 'indexed', now() FROM nexus.events"
        " ON CONFLICT DO NOTHING"
    )
    prepared.run(requeue)

    (problem,) = problems_of(lines)

    assert problem == "outbox: 1 events of acme are stuck after 3 attempts: away"


def test_a_password_that_splits_its_address_is_not_shown(run, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", "postgresql://app:hunter2@corner/x@127.0.0.1:1/nexus")

    for words in (
        ["doctor"],
        ["verify"],
        ["migrate", "sqlite:///a.db", "postgresql://a:b@corner/x@h/d"],
    ):
        said = run(*words, code=1 if words == ["doctor"] else 2).output
        assert "corner" not in said, words
