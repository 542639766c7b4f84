"""Provider SDKs: optional packages, lazily created clients and their exceptions."""

from __future__ import annotations

import importlib.util
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from ..core.errors import ConfigError, MissingExtra
from .backoff import TransientError

# Exceptions of clients on a response that is not the documented JSON.
INVALID_RESPONSE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
# For self-hosted servers: without a key, an SDK would send the real one from the environment.
NO_KEY = "none"


def transport_errors(*sdk_errors: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the exceptions of a failed transport, and those of the SDK.

    SDKs do not wrap the exceptions of their HTTP client inside of a stream.
    """
    clients = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    http_errors = [client.HTTPError for client in clients]
    return (*sdk_errors, OSError, *http_errors, *INVALID_RESPONSE_ERRORS)


def require_package(package: str, wanted: str, extra: str) -> None:
    """Raise MissingExtra if a package is not installed, without the cost of importing it."""
    try:
        missing = importlib.util.find_spec(package) is None
    except ModuleNotFoundError:  # the parent of a dotted name
        missing = True
    if missing:
        raise MissingExtra(wanted, extra)


def replace_surrogates(text: str) -> str:
    """Return `text` with lone surrogates replaced by a question mark, so that it can be sent."""
    return text.encode(errors="replace").decode()


class Closable(Protocol):
    """An object with a `close` method."""

    def close(self) -> None: ...


Client = TypeVar("Client", bound=Closable)


class LazyClient(Generic[Client]):
    """Creates one client on first use and shares it between threads."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._lock = Lock()
        self._client: Client | None = None

    def __call__(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

    def close(self) -> None:
        """Close the client; the next call creates a new one."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


RETRYABLE_STATUSES = (408, 429)
MAX_RESPONSE_BYTES = 64_000_000  # ten times the vectors of a full request


class RequestRefused(Exception):
    """The server rejected the request; a retry would not help."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class JsonEndpoint:
    """A URL that accepts and returns JSON."""

    def __init__(
        self, name: str, url: str, *, api_key: str | None = None, use_proxy: bool = True
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(
                f"the address of {name} must start with http:// or https://, got {url:.80}"
            )
        self._name = name
        self._url = url
        self._api_key = api_key
        proxies = urllib.request.ProxyHandler(None if use_proxy else {})
        self._opener = urllib.request.build_opener(proxies)

    def post(self, body: Mapping[str, Any], *, timeout_seconds: float) -> Any:
        """Return the decoded response; raise TransientError or RequestRefused on failure."""
        with self._convert_errors(), self._open(body, timeout_seconds) as response:
            return json.loads(response.read(MAX_RESPONSE_BYTES))

    def post_lines(self, body: Mapping[str, Any], *, timeout_seconds: float) -> Iterator[Any]:
        """Yield the lines of a response, each decoded, as they arrive.

        `timeout_seconds` is the longest silence. Raise TransientError or RequestRefused on failure.
        """
        left = MAX_RESPONSE_BYTES
        with self._convert_errors(), self._open(body, timeout_seconds) as response:
            while left > 0 and (line := response.readline(left)):
                left -= len(line)
                if line.strip():
                    yield json.loads(line)

    def _open(self, body: Mapping[str, Any], timeout_seconds: float) -> HTTPResponse:
        request = urllib.request.Request(  # noqa: S310
            self._url,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        if self._api_key:  # must not follow a redirect to another server
            request.add_unredirected_header("Authorization", f"Bearer {self._api_key}")
        response: HTTPResponse = self._opener.open(request, timeout=timeout_seconds)
        return response

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        try:
            yield
        except urllib.error.HTTPError as error:
            raise self._classify_error(error) from error
        except (OSError, HTTPException, *INVALID_RESPONSE_ERRORS) as error:
            raise TransientError(f"{self._name} did not answer ({type(error).__name__})") from error

    def _classify_error(self, error: urllib.error.HTTPError) -> Exception:
        """Return the exception for an HTTP error status."""
        with error:
            body = error.read(MAX_RESPONSE_BYTES).decode(errors="replace")
        if error.code in RETRYABLE_STATUSES or error.code >= 500:
            retry_after = error.headers.get("Retry-After")
            return TransientError(f"{self._name} answered {error.code}", retry_after=retry_after)
        return RequestRefused(error.code, body)
