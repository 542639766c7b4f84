"""Addresses of servers, and how they are shown: a password is never printed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .errors import ConfigError
from .nearest import nearest

HIDDEN = "***"
# Greedy on purpose: a password may hold an @ that nobody quoted, and hiding more is no harm.
WITH_PASSWORD = re.compile(r"([A-Za-z][\w+.-]*://[^\s:@/?#]*):\S*@")
AS_PARAMETER = re.compile(
    r"\b((?:ssl)?(?:password|passwd|pwd|key|token)\s*=\s*)[^\s&'\"]+", re.IGNORECASE
)
SPLIT_PASSWORD = re.compile(r"[A-Za-z][\w+.-]*://[^:@/?#]*:[^@]*[/?#][^@]*@")
SCHEME = re.compile(r"([A-Za-z][\w+.-]*)://")
# What looks like an address and is none: postgresql:db, sqlite//x.db, " redis://h", host=db
NO_NAME = re.compile(
    r"\s*$|[A-Za-z][A-Za-z+]+:|(?:sqlite|postgres(?:ql)?)//|.*://"
    r"|\s*(?:host|hostaddr|port|dbname|user|password|service)\s*="
)


def masked(text: str) -> str:
    """An address, or any text that holds some, without the passwords in it."""
    hidden = WITH_PASSWORD.sub(rf"\1:{HIDDEN}@", text)
    return AS_PARAMETER.sub(rf"\1{HIDDEN}", hidden)


def is_quoted(url: str) -> bool:
    """Whether an address is split where its writer meant it to be.

    A password with an @, / or ? that is not written %40, %2F or %3F is not: part of it would be
    taken for the host, and shown in an error.
    """
    place = url.partition("://")[2].partition("?")[0]
    return place.count("@") <= 1 and not SPLIT_PASSWORD.match(url)


def scheme_of(url: str) -> str | None:
    """What stands before "://", in small letters; None for a file."""
    found = SCHEME.match(url)
    return found[1].lower() if found else None


def with_small_scheme(url: str) -> str:
    """The address as drivers know it: POSTGRESQL:// is none to libpq."""
    scheme = scheme_of(url)
    return scheme + url[len(scheme) :] if scheme else url


def file_named(url: str) -> str:
    """The file in `sqlite:///file`, or in a name that cannot be meant as an address.

    Of what is refused nothing is shown: it may hold a password.
    """
    if scheme_of(url) is None:
        if NO_NAME.match(url):
            raise ConfigError(
                "memory.store.url is neither a file nor an address; write sqlite:///memory.db,"
                " postgresql://user@host/database, or ./name for a file with such a name"
            )
        return url
    from urllib.parse import unquote  # noqa: PLC0415  # a plain name needs none

    path = url.partition("://")[2].removeprefix("/")
    if not path or "?" in path or "#" in path:
        raise ConfigError(
            "memory.store.url: an address of SQLite is sqlite:///memory.db, with nothing after the"
            " file; ? and # in its name are written %3F and %23"
        )
    return unquote(path)


def nearest_scheme(scheme: str, known: Iterable[str]) -> str:
    """How to go on after a scheme that nobody knows."""
    return nearest(f"{scheme}://", [f"{name}://" for name in known])
