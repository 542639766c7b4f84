"""Contact identifiers: normalization and detection."""

from __future__ import annotations

import pytest

from nexusmem.text.identifiers import format_identifier, normalize_identifier, possible_identifiers


@pytest.mark.requirement("B9")
@pytest.mark.parametrize(
    ("kind", "said", "normal"),
    [
        ("email", "Sarah.Chen@Example.COM.", "sarah.chen@example.com"),
        ("email", " a+b@c.io ", "a+b@c.io"),
        ("phone", "+1 (555) 123-4567", "+15551234567"),
        ("phone", "0049 30 1234567", "+49301234567"),
        ("phone", "555-123-4567", "5551234567"),
        ("handle", "@SarahC", "sarahc"),
        ("username", "Sarah_C", "sarah_c"),
    ],
)
def test_identifier_is_normalized(kind: str, said: str, normal: str) -> None:
    assert normalize_identifier(kind, said) == normal


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("email", "sarah at example"),
        ("phone", "12"),
        ("phone", "1" * 16),
        ("handle", "two words"),
        ("handle", "@"),
        ("shoe size", "44"),
    ],
)
def test_invalid_identifier_is_none(kind: str, said: str) -> None:
    assert normalize_identifier(kind, said) is None


def test_handle_alias_keeps_its_at_sign() -> None:
    assert format_identifier("handle", "sam") == "@sam"
    assert format_identifier("email", "sam@x.io") == "sam@x.io"


def test_name_is_distinguished_from_identifiers() -> None:
    assert possible_identifiers("Sarah Chen") == []
    assert possible_identifiers("Apollo 11") == []
    assert possible_identifiers("@Sam") == [("handle", "sam"), ("username", "sam")]
    assert possible_identifiers("Sam@X.io") == [("email", "sam@x.io")]
    assert possible_identifiers("+1 555 123 4567") == [("phone", "+15551234567")]
