"""Server URLs: schemes, SQLite files and masked passwords."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.errors import ConfigError, did_you_mean

MASK = "***"
# Greedy on purpose: a password may contain an unquoted @, and masking more does no harm.
WITH_PASSWORD = re.compile(r"([A-Za-z][\w+.-]*://[^\s:@/?#]*):\S*@")
PASSWORD_PARAMETER = re.compile(
    r"\b((?:ssl)?(?:password|passwd|pwd|key|token)\s*=\s*)[^\s&'\"]+", re.IGNORECASE
)
SPLIT_PASSWORD = re.compile(r"[A-Za-z][\w+.-]*://[^:@/?#]*:[^@]*[/?#][^@]*@")
SCHEME = re.compile(r"([A-Za-z][\w+.-]*)://")
# Malformed URLs: postgresql:db, sqlite//x.db, " redis://h", host=db
NOT_A_FILE = re.compile(
    r"\s*$|[A-Za-z][A-Za-z+]+:|(?:sqlite|postgres(?:ql)?)//|.*://"
    r"|\s*(?:host|hostaddr|port|dbname|user|password|service)\s*="
)


def mask_passwords(text: str) -> str:
    """Return a text with the passwords of all URLs in it replaced by `***`."""
    masked = WITH_PASSWORD.sub(rf"\1:{MASK}@", text)
    return PASSWORD_PARAMETER.sub(rf"\1{MASK}", masked)


def is_quoted(url: str) -> bool:
    """Return whether a URL has no unquoted @, / or ? in its password.

    Otherwise a part of the password would be taken for the host and shown in an error.
    """
    authority = url.partition("://")[2].partition("?")[0]
    return authority.count("@") <= 1 and not SPLIT_PASSWORD.match(url)


def url_scheme(url: str) -> str | None:
    """Return the scheme in lower case; None for a file name."""
    match = SCHEME.match(url)
    return match[1].lower() if match else None


def lowercase_scheme(url: str) -> str:
    """Return the URL with a lowercase scheme: libpq does not accept POSTGRESQL://."""
    scheme = url_scheme(url)
    return scheme + url[len(scheme) :] if scheme else url


def parse_file_url(url: str) -> str:
    """Return the file of `sqlite:///file` or of a plain file name.

    Raise ConfigError for anything else, without the value, which may contain a password.
    """
    if url_scheme(url) is None:
        if NOT_A_FILE.match(url):
            raise ConfigError(
                "memory.store.url is neither a file nor a URL; expected sqlite:///memory.db,"
                " postgresql://user@host/database, or ./name for a file with such a name"
            )
        return url
    from urllib.parse import unquote  # only needed for URLs

    path = url.partition("://")[2].removeprefix("/")
    if not path or "?" in path or "#" in path:
        raise ConfigError(
            "memory.store.url: a SQLite URL must be sqlite:///memory.db, with nothing after the"
            " file; write ? and # in its name as %3F and %23"
        )
    return unquote(path)


def suggest_scheme(scheme: str, schemes: Iterable[str]) -> str:
    """Return a "did you mean" hint for an unknown scheme."""
    return did_you_mean(f"{scheme}://", [f"{name}://" for name in schemes])
