"""What the doctor says of servers: there, away, full, and never their passwords."""

from __future__ import annotations

import pytest
from tests.servers.redis import Redis


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
