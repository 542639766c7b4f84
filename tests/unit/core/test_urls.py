"""Addresses are shown without their passwords."""

from __future__ import annotations

import pytest

from nexus.core.urls import masked, nearest_scheme, scheme_of


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("memory.db", "memory.db"),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
        ("postgresql://localhost/nexus", "postgresql://localhost/nexus"),
        ("postgresql://app:s3cret@db:5432/nexus", "postgresql://app:***@db:5432/nexus"),
        ("postgresql://app:s3c@ret/x@db/nexus", "postgresql://app:***@db/nexus"),
        ("postgresql://app:s3c:r#et?@db/nexus", "postgresql://app:***@db/nexus"),
        ("redis://:s3cret@cache:6379/0", "redis://:***@cache:6379/0"),
        ("rediss://u:s3cret@a,b/0?x=1", "rediss://u:***@a,b/0?x=1"),
        ("neo4j+s://neo4j:s3cret@graph", "neo4j+s://neo4j:***@graph"),
        ("postgresql:///n?user=u&password=s3cret&sslmode=x", None),
        ("postgresql:///n?host=/run&sslpassword=s3cret", None),
        ("host=db password=s3cret user=u", "host=db password=*** user=u"),
        ('could not connect to "redis://u:s3cret@h/0" twice', None),
    ],
)
def test_a_password_is_not_shown(address: str, shown: str | None) -> None:
    assert "s3c" not in masked(address)
    assert shown is None or masked(address) == shown


def test_what_is_no_password_stays() -> None:
    text = "postgresql://app@db:5432/nexus?sslmode=require refused: ask bob@example.com"

    assert masked(text) == text


@pytest.mark.parametrize(
    ("url", "scheme"),
    [
        ("postgresql://x", "postgresql"),
        ("Redis+Sentinel://x", "redis+sentinel"),
        ("memory.db", None),
        (":memory:", None),
        ("C:/memory.db", None),
    ],
)
def test_what_stands_before_the_slashes(url: str, scheme: str | None) -> None:
    assert scheme_of(url) == scheme


def test_an_unknown_scheme_is_answered_with_the_nearest_or_with_all() -> None:
    known = ["sqlite", "postgresql"]

    assert nearest_scheme("postgre", known) == "did you mean postgresql://?"
    assert nearest_scheme("mongodb", known) == "known are sqlite://, postgresql://"
