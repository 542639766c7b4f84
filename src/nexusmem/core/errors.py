"""All exceptions that Nexus raises.

NexusError
├── InvalidInput           an argument is invalid; nothing was written
├── ConfigError            the configuration is invalid
│   └── MissingExtra       an optional package is missing; the message names the pip command
├── NotFound               no such record, or none this viewer may see (deliberately the same)
├── Conflict               an idempotency key was reused with different content
├── Forgotten              the record was erased on request and cannot be written again
├── LeaseLost              another worker holds the lease; nothing was written
├── QuotaExceeded          the workspace reached a quota; nothing was written
├── Corrupt                stored data fails its checksum or is in the wrong scope
├── JobFailed              a requested job failed; the reason is stored
├── BadOutput              the model answered in an unexpected form
└── Unavailable            a store, model or embedder did not answer
    ├── StoreUnavailable
    ├── EmbedderUnavailable
    └── ModelUnavailable
        └── BudgetSpent    the model budget of this day is spent

There is no AccessDenied error: it would confirm that a private record exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from .protocols.models import TokenUsage


class NexusError(Exception):
    """Nexus failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class InvalidInput(NexusError, ValueError):
    """An argument is invalid; nothing was written."""


class ConfigError(NexusError):
    """The configuration is invalid."""


class MissingExtra(ConfigError, ImportError):
    """An optional package is not installed."""

    def __init__(self, wanted: str, extra: str) -> None:
        super().__init__(f"{wanted} needs an optional package: pip install 'nexusmem[{extra}]'")


class NotFound(NexusError, LookupError):
    """No such record here."""


class Conflict(NexusError):
    """This idempotency key was already used with different content."""


class Forgotten(NexusError):
    """This record was erased on request and cannot be written again."""


class LeaseLost(NexusError):
    """Another worker holds the lease; nothing was written."""


class QuotaExceeded(NexusError):
    """This workspace reached a quota; nothing was written."""

    def __init__(
        self,
        message: str | None = None,
        *,
        quota: str = "",
        limit: int = 0,
        frees_at: datetime | None = None,
    ) -> None:
        super().__init__(message)
        self.quota = quota  # its name in the settings, such as "max_events"
        self.limit = limit
        self.frees_at = frees_at  # None: only erasing records frees space


class Corrupt(NexusError):
    """Stored data does not match its checksum."""


class JobFailed(NexusError):
    """A requested job failed; `nexus jobs` shows the reason."""


class BadOutput(NexusError):
    """The model answered in an unexpected form."""

    def __init__(
        self,
        message: str | None = None,
        *,
        problem: str = "unusable",
        output: str = "",
        used: TokenUsage | None = None,
    ) -> None:
        super().__init__(message)
        self.problem = problem  # empty | refused | cut off | too long | not JSON | wrong shape
        self.output = output  # start of the answer; not in the message, it may be private
        self.used = used  # tokens, which the provider bills all the same


class Unavailable(NexusError):
    """A store, model or embedder did not answer; try again."""


class StoreUnavailable(Unavailable):
    """The store did not answer; nothing was acknowledged."""


class EmbedderUnavailable(Unavailable):
    """The embedder did not answer; keyword search works and vectors are added later."""


class ModelUnavailable(Unavailable):
    """The model did not answer; functions without a model still work."""


class BudgetSpent(ModelUnavailable):
    """The model budget of this day is spent; functions without a model still work."""

    def __init__(self, message: str | None = None, *, until: datetime | None = None) -> None:
        super().__init__(message)
        self.until = until  # when the next budget begins


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a hint with the closest choice to `word`, or with all choices."""
    from difflib import get_close_matches  # only loaded after a typing error

    words = list(choices)
    near = get_close_matches(word, words, n=1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(words)}"
