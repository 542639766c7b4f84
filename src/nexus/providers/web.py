"""JSON over HTTP, for providers that need no package of their own."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any

from ..core.errors import ConfigError
from .extras import UNREADABLE
from .retry import Transient

WORTH_RETRYING = (408, 429)
LARGEST_ANSWER = 64_000_000  # bytes; the vectors of a full request take a tenth of it


class Refused(Exception):
    """The server will not do it, however often it is asked."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(status)
        self.status = status
        self.said = said


class Endpoint:
    """One address that takes JSON and answers with JSON."""

    def __init__(
        self, name: str, url: str, *, api_key: str | None = None, proxied: bool = True
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"{name}'s address begins with http:// or https://, not {url:.80}")
        self._name = name
        self._url = url
        self._api_key = api_key
        proxies = urllib.request.ProxyHandler(None if proxied else {})
        self._opener = urllib.request.build_opener(proxies)

    def post(self, body: Mapping[str, Any], *, timeout_seconds: float) -> Any:
        """The answer, or Transient or Refused and nothing else."""
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        if self._api_key:  # a redirection must not carry it to another server
            request.add_unredirected_header("Authorization", f"Bearer {self._api_key}")
        try:
            with self._opener.open(request, timeout=timeout_seconds) as response:
                return json.loads(response.read(LARGEST_ANSWER))
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from error
        except (OSError, HTTPException, *UNREADABLE) as error:
            raise Transient(f"{self._name} gave no answer ({type(error).__name__})") from error

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """What a status means."""
        with error:
            said = error.read(LARGEST_ANSWER).decode(errors="replace")
        if error.code in WORTH_RETRYING or error.code >= 500:
            retry_after = error.headers.get("Retry-After")
            return Transient(f"{self._name} answered {error.code}", retry_after=retry_after)
        return Refused(error.code, said)
