"""URLs: masked passwords, schemes and hints."""

from __future__ import annotations

import pytest

from nexusmem.text.urls import is_quoted, mask_passwords, suggest_scheme, url_scheme


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
def test_password_is_masked(address: str, shown: str | None) -> None:
    assert "s3c" not in mask_passwords(address)
    assert shown is None or mask_passwords(address) == shown


def test_text_without_password_is_unchanged() -> None:
    text = "postgresql://app@db:5432/nexus?sslmode=require refused: ask bob@example.com"

    assert mask_passwords(text) == text


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("memory@home.db", True),
        ("folder/a:b@c.db", True),
        ("postgresql://app:s3cret@db/nexus", True),
        ("postgresql://app:s3%40cret@db/nexus?application_name=x@y", True),
        ("redis://:s3cret@a:1,b:2/service/0?namespace=x", True),
        ("postgresql:///nexus?host=/run/postgres@here", True),
        ("postgresql://app:s3@cret@db/nexus", False),
        ("postgresql://app:s3/cret@db/nexus", False),
        ("postgresql://app:s3@c/ret@db/nexus", False),
        ("redis://:s3?cret@db", False),
        ("neo4j://neo4j:s3#cret@graph", False),
    ],
)
def test_unquoted_password_is_detected(url: str, right: bool) -> None:
    assert is_quoted(url) is right


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
def test_scheme_of_a_url(url: str, scheme: str | None) -> None:
    assert url_scheme(url) == scheme


def test_unknown_scheme_hint() -> None:
    known = ["sqlite", "postgresql"]

    assert suggest_scheme("postgre", known) == "did you mean postgresql://?"
    assert suggest_scheme("mongodb", known) == "expected one of sqlite://, postgresql://"
