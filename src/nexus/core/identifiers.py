"""Addresses people are reached by, in one spelling each: what is compared must be the same."""

from __future__ import annotations

import re

KINDS = ("email", "phone", "handle", "username")

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
HANDLE = re.compile(r"[\w.-]{1,64}")
SHORTEST_PHONE, LONGEST_PHONE = 6, 15  # digits; E.164 has at most fifteen


def normal_identifier(kind: str, value: str) -> str | None:
    """The one spelling of an address of this kind, or nothing if it is none."""
    told = value.strip().rstrip(".,;!")
    if kind == "email":
        return told.lower() if EMAIL.fullmatch(told) else None
    if kind == "phone":
        return _phone(told)
    if kind in ("handle", "username"):
        bare = told.removeprefix("@").lower()
        return bare if HANDLE.fullmatch(bare) else None
    return None


def _phone(told: str) -> str | None:
    """Digits; where the country was said, with it in front and a plus, like E.164."""
    digits = re.sub(r"\D", "", told)
    abroad = told.startswith(("+", "(+")) or digits.startswith("00")
    number = digits.removeprefix("00") if digits.startswith("00") else digits
    if not SHORTEST_PHONE <= len(number) <= LONGEST_PHONE:
        return None
    return f"+{number}" if abroad else number


def spelt_identifier(kind: str, value: str) -> str:
    """How an address stands among the aliases: a handle keeps its @, so it is no plain name."""
    return f"@{value}" if kind in ("handle", "username") else value


def possible_identifiers(name: str) -> list[tuple[str, str]]:
    """Which address a name could be, most likely first; none for what reads like a name."""
    if name.startswith("@"):
        kinds: tuple[str, ...] = ("handle", "username")
    elif "@" in name:
        kinds = ("email",)
    elif sum(map(str.isdigit, name)) >= SHORTEST_PHONE:
        kinds = ("phone",)
    else:
        return []
    spelt = [(kind, normal_identifier(kind, name)) for kind in kinds]
    return [(kind, value) for kind, value in spelt if value]
