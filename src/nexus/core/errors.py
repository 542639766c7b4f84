"""Every error Nexus raises.

NexusError
├── InvalidInput           what was given cannot be taken; nothing was written
├── ConfigError            the configuration does not make sense
│   └── MissingExtra       an optional package is not installed: says which pip line
├── NotFound               no such record, or none this viewer may see (the same error, on purpose)
├── Conflict               a key was used before with other content
├── Forgotten              this was erased on request and is not taken in again
├── LeaseLost              somebody else does this work by now; nothing was written
├── QuotaExceeded          a workspace has or does as much as it may; nothing was written
├── Corrupt                stored data does not match its checksums, or lies where it must not
├── JobFailed              a job that somebody asked for did not work; it is kept why
├── BadOutput              a model answered, but not with what was asked for
└── Unavailable            a part did not answer
    ├── StoreUnavailable
    ├── EmbedderUnavailable
    └── ModelUnavailable
        └── BudgetSpent    the model is not asked any more today

There is no AccessDenied: it would confirm that a secret exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from .models import Tokens


class NexusError(Exception):
    """Something went wrong in Nexus."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class InvalidInput(NexusError, ValueError):
    """What was given cannot be taken; nothing was written."""


class ConfigError(NexusError):
    """The configuration does not make sense."""


class MissingExtra(ConfigError, ImportError):
    """An optional package is not installed."""

    def __init__(self, wanted: str, extra: str) -> None:
        super().__init__(f"{wanted} needs an optional package: pip install 'nexus-memory[{extra}]'")


class NotFound(NexusError, LookupError):
    """No such record here."""


class Conflict(NexusError):
    """This key was used before with other content."""


class Forgotten(NexusError):
    """This was erased on request and is not taken in again."""


class LeaseLost(NexusError):
    """Somebody else does this work by now; nothing was written."""


class QuotaExceeded(NexusError):
    """This workspace has or does as much as it may; nothing was written."""

    def __init__(
        self,
        message: str | None = None,
        *,
        quota: str = "",
        limit: int = 0,
        frees_at: datetime | None = None,
    ) -> None:
        super().__init__(message)
        self.quota = quota  # its name in the settings
        self.limit = limit
        self.frees_at = frees_at  # None: when something is forgotten


class Corrupt(NexusError):
    """Stored data does not match its own checksums."""


class JobFailed(NexusError):
    """A job that was asked for did not work; `nexus jobs` shows why."""


class BadOutput(NexusError):
    """A model answered, but not with what was asked for."""

    def __init__(
        self,
        message: str | None = None,
        *,
        problem: str = "unusable",
        output: str = "",
        used: Tokens | None = None,
    ) -> None:
        super().__init__(message)
        self.problem = problem  # empty | refused | cut off | too long | not JSON | wrong shape
        self.output = output  # the start of what it said. Not in the message: it may be private
        self.used = used  # it is paid for all the same


class Unavailable(NexusError):
    """A part did not answer; try again."""


class StoreUnavailable(Unavailable):
    """The store did not answer; nothing was acknowledged."""


class EmbedderUnavailable(Unavailable):
    """The embedder did not answer; keywords still work and vectors follow later."""


class ModelUnavailable(Unavailable):
    """The model did not answer; what does not need one still works."""


class BudgetSpent(ModelUnavailable):
    """The model is not asked any more today; what does not need one still works."""

    def __init__(self, message: str | None = None, *, until: datetime | None = None) -> None:
        super().__init__(message)
        self.until = until  # when there is money again
