"""Contact identifiers (email, phone, handle) in normalized form, for comparison."""

from __future__ import annotations

import re

KINDS = ("email", "phone", "handle", "username")

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
HANDLE = re.compile(r"[\w.-]{1,64}")
MIN_PHONE_DIGITS, MAX_PHONE_DIGITS = 6, 15  # digits; E.164 has at most fifteen


def normalize_identifier(kind: str, value: str) -> str | None:
    """Return the normalized identifier of this kind, or None if `value` is not one."""
    text = value.strip().rstrip(".,;!")
    if kind == "email":
        return text.lower() if EMAIL.fullmatch(text) else None
    if kind == "phone":
        return _normalize_phone(text)
    if kind in ("handle", "username"):
        bare = text.removeprefix("@").lower()
        return bare if HANDLE.fullmatch(bare) else None
    return None


def _normalize_phone(text: str) -> str | None:
    """Return the digits, with a plus sign (E.164) if the country code is given."""
    digits = re.sub(r"\D", "", text)
    has_country = text.startswith(("+", "(+")) or digits.startswith("00")
    number = digits.removeprefix("00") if digits.startswith("00") else digits
    if not MIN_PHONE_DIGITS <= len(number) <= MAX_PHONE_DIGITS:
        return None
    return f"+{number}" if has_country else number


def format_identifier(kind: str, value: str) -> str:
    """Return an identifier as an alias; a handle gets its @, so that it is not a plain name."""
    return f"@{value}" if kind in ("handle", "username") else value


def possible_identifiers(name: str) -> list[tuple[str, str]]:
    """Return the identifiers that `name` may be, most likely first; empty for a plain name."""
    if name.startswith("@"):
        kinds: tuple[str, ...] = ("handle", "username")
    elif "@" in name:
        kinds = ("email",)
    elif sum(map(str.isdigit, name)) >= MIN_PHONE_DIGITS:
        kinds = ("phone",)
    else:
        return []
    normalized = [(kind, normalize_identifier(kind, name)) for kind in kinds]
    return [(kind, value) for kind, value in normalized if value]
