"""`nexus doctor` with servers: reachable, unreachable, misconfigured; passwords are masked."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from tests.servers.databases import prepare
from tests.servers.postgres import Database, Postgres
from tests.servers.redis import Redis

from nexusmem.cli import doctor


def run_checks(lines, code: int = 0) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in lines("doctor", code=code)}


def test_redis_version_is_reported(lines, shell, redis_url) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window_url: '{redis_url}'}}\n")

    checks = run_checks(lines)

    assert checks["window"]["state"] == "ok"
    assert "ms for a round trip" in checks["window"]["detail"]
    assert checks["redis"]["detail"].startswith("version ")
    assert checks["redis memory"]["state"] == "note"


def test_unreachable_redis_is_a_problem_without_password(run, lines, shell) -> None:
    address = "redis://u:s3cret@127.0.0.1:1/0"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window_url: '{address}'}}\n")

    checks = run_checks(lines, code=1)

    assert checks["window"]["state"] == "problem"
    assert "redis://u:***@127.0.0.1:1/0 does not answer" in checks["window"]["detail"]
    assert "s3cret" not in run("doctor", code=1).output


def test_context_cache_is_checked_like_window(lines, shell, redis_url) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{context_cache_url: '{redis_url}'}}\n")
    checks = run_checks(lines)
    assert "ms for a round trip" in checks["contexts"]["detail"]
    assert checks["redis"]["detail"].startswith("version ")

    both = f"{{window_url: '{redis_url}', context_cache_url: '{redis_url}'}}"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {both}\n")
    assert run_checks(lines)["contexts"]["detail"] == "uses the Redis of the window"

    away = "{context_cache_url: 'redis://u:s3cret@127.0.0.1:1/0'}"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {away}\n")
    check = run_checks(lines, code=1)["contexts"]
    assert check["state"] == "problem"
    assert check["detail"].endswith("Nexus continues without the contexts")
    assert "s3cret" not in check["detail"]


@pytest.mark.parametrize(
    "address",
    ["redis://127.0.0.1:x/0", "redis+sentinel://127.0.0.1:1", "redis+cluster://127.0.0.1:1/0"],
)
def test_invalid_redis_url_is_a_problem(run, lines, shell, address) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window_url: '{address}'}}\n")

    check = run_checks(lines, code=1)["window"]["detail"]

    assert "is not a valid Redis URL" in check
    assert "continues" not in check
    assert check in run("remember", "The launch is on Tuesday.", code=2).output


@pytest.mark.parametrize("kind", ["sentinel", "cluster"])
def test_unreachable_sentinel_and_cluster_have_short_texts(lines, shell, kind: str) -> None:
    service = "/nexus" if kind == "sentinel" else ""
    address = f"redis+{kind}://127.0.0.1:1,127.0.0.1:2{service}"
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window_url: '{address}'}}\n")

    check = run_checks(lines, code=1)["window"]["detail"]

    assert "does not answer" in check
    assert "ConnectionPool" not in check


@pytest.mark.slow
def test_frozen_redis_times_out(lines, shell, own_redis: Redis) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window_url: '{own_redis.url}'}}\n")
    own_redis.freeze()

    checks = run_checks(lines, code=1)

    own_redis.thaw()
    assert "does not answer" in checks["window"]["detail"]


def test_noeviction_is_noted(lines, shell, redis_server: Redis) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  store: {{window_url: '{redis_server.url}'}}\n")
    redis_server.execute("CONFIG", "SET", "maxmemory", "100mb")

    detail = run_checks(lines)["redis memory"]["detail"]

    redis_server.execute("CONFIG", "SET", "maxmemory", "0")
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
def test_unreachable_embedder_is_a_problem(
    lines, shell, embeddings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "WAIT_SECONDS", 0.3)
    (shell / "nexus.yaml").write_text(f"memory:\n  embeddings: {embeddings}\n")

    check = run_checks(lines, code=1)["embedder"]

    assert check["state"] == "problem"
    assert "no answer" in check["detail"]
    assert "s3cret" not in check["detail"]


@pytest.fixture
def prepared(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """Return a database with a memory, configured as the store."""
    database = postgres_server.database(prepared=prepare)
    monkeypatch.setenv("NEXUS_STORE", database.url)
    yield database
    database.drop()


def run_problems(lines) -> list[str]:
    found = [check for check in lines("doctor", code=1) if check["state"] == "problem"]
    return [f"{check['name']}: {check['detail']}" for check in found]


@pytest.mark.requirement("C3")
def test_healthy_postgres(run, lines, prepared: Database) -> None:
    run("remember", "The launch is on Tuesday.")

    checks = run_checks(lines)

    assert {check["state"] for check in checks.values()} == {"ok", "note"}
    assert checks["postgres"]["detail"].startswith("version ")
    assert checks["pgvector"]["detail"].startswith("version ")
    assert checks["schema"]["detail"] == "version 1"
    assert "bound by row-level security" in checks["user"]["detail"]
    assert "forced on all" in checks["row security"]["detail"]
    assert "owns nothing" in checks["privileges"]["detail"]
    assert "memory.store.max_connections" in checks["connections"]["detail"]
    assert checks["vectors"]["state"] == "ok"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", "statements time out after 30 s, lock waits after 10 s"),
        ("-c statement_timeout=7s", "statements time out after 7 s, lock waits after 10 s"),
        ("-c statement_timeout=500", "statements time out after 0.5 s, lock waits after 10 s: too"),
        ("-c lock_timeout=0", "lock waits never"),
    ],
)
def test_timeouts_of_url_are_reported(
    lines, prepared, monkeypatch, options: str, expected: str
) -> None:
    mark = "&" if "?" in prepared.url else "?"
    address = f"{prepared.url}{mark}options={quote(options)}" if options else prepared.url
    monkeypatch.setenv("NEXUS_STORE", address)

    check = run_checks(lines, code=1 if "too" in expected else 0)["connections"]

    assert expected in check["detail"]


def test_short_statement_timeout_is_a_problem(lines, prepared, monkeypatch) -> None:
    mark = "&" if "?" in prepared.url else "?"
    limit = quote("-c statement_timeout=1")
    monkeypatch.setenv("NEXUS_STORE", f"{prepared.url}{mark}options={limit}")

    assert any("statement" in problem for problem in run_problems(lines))


def test_doctor_does_not_change_empty_database(lines, postgres, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", postgres.url)

    checks = run_checks(lines)

    assert "the first opening creates it" in checks["schema"]["detail"]
    assert postgres.run("SELECT to_regnamespace('nexus')") == [(None,)]


def test_missing_privileges_name_grant_statement(lines, postgres, monkeypatch):
    monkeypatch.setenv("NEXUS_STORE", postgres.url_of("stranger"))

    (problem,) = run_problems(lines)

    assert "GRANT CREATE ON DATABASE" in problem
    assert 'TO "stranger"' in problem


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (
            "REVOKE DELETE ON nexus.memories FROM nexus_app",
            "privileges: GRANT DELETE ON nexus.memories TO nexus_app;",
        ),
        (
            "REVOKE USAGE ON SCHEMA nexus FROM nexus_app",
            "privileges: GRANT USAGE ON SCHEMA nexus TO nexus_app;",
        ),
        (
            "ALTER TABLE nexus.events NO FORCE ROW LEVEL SECURITY",
            "row security: events: row-level security does not apply to its owner",
        ),
        (
            "ALTER TABLE nexus.events DISABLE ROW LEVEL SECURITY",
            "row security: events: row-level security is off",
        ),
        ("DROP POLICY bound ON nexus.links", "row security: links: row-level security is off"),
        (
            "GRANT SELECT ON nexus.events_3 TO nexus_app",
            "privileges: 1 partitions are directly accessible",
        ),
        (
            "INSERT INTO nexus.schema_version VALUES (999, 'from the future', now())",
            "schema: version 999 was written by a newer Nexus",
        ),
    ],
)
def test_problem_names_remedy(lines, prepared, damage, expected) -> None:
    prepared.run(damage)

    problems = run_problems(lines)

    assert any(problem.startswith(expected) for problem in problems), problems


def test_superuser_is_a_problem(lines, prepared: Database, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", prepared.url_of("postgres"))

    (problem,) = run_problems(lines)

    assert problem.startswith("user: postgres is a superuser, which bypasses row-level security")


def test_unreachable_postgres_is_a_problem_without_password(run, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", "postgresql://app:s3cret@127.0.0.1:1/nexus")

    expected = run("doctor", code=1).output

    assert "s3cret" not in expected
    assert "postgresql://app:***@127.0.0.1:1/nexus" in expected
    assert "refused" in expected


def test_failed_work_is_reported(run, lines, prepared: Database) -> None:
    run("observe", "alice", "The launch is on Tuesday.", "--workspace", "acme")
    requeue = "UPDATE nexus.outbox SET attempts = 3, error = 'away'"
    prepared.run(
        "INSERT INTO nexus.outbox (workspace, priority, seq, label, step, due_at)"
        " SELECT workspace, 0, seq, label, 'indexed', now() FROM nexus.events"
        " ON CONFLICT DO NOTHING"
    )
    prepared.run(requeue)

    (problem,) = run_problems(lines)

    assert problem == "outbox: 1 events of acme failed after 3 attempts: away"


def test_password_with_url_characters_is_masked(run, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", "postgresql://app:hunter2@corner/x@127.0.0.1:1/nexus")

    for words in (
        ["doctor"],
        ["verify"],
        ["migrate", "sqlite:///a.db", "postgresql://a:b@corner/x@h/d"],
    ):
        expected = run(*words, code=1 if words == ["doctor"] else 2).output
        assert "corner" not in expected, words
