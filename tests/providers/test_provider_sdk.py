"""Provider SDKs: missing packages and lazily created clients."""

from __future__ import annotations

import threading
import time

import pytest

from nexusmem.core.errors import MissingExtra
from nexusmem.runtime.provider_sdk import LazyClient, replace_surrogates, require_package


@pytest.mark.parametrize("package", ["no_such_package", "no_such_package.part"])
def test_missing_package_raises_missing_extra(package: str):
    with pytest.raises(MissingExtra, match=r"Vectors needs .* 'nexusmem\[some\]'"):
        require_package(package, "Vectors", "some")


def test_installed_package_is_not_imported():
    require_package("this", "Poetry", "zen")


def test_surrogate_becomes_a_question_mark():
    assert replace_surrogates("tea \ud83d, käse 😀") == "tea ?, käse 😀"


class Client:
    made = 0

    def __init__(self) -> None:
        time.sleep(0.01)  # long enough for the other threads to start
        Client.made += 1
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_concurrent_threads_share_one_client(monkeypatch):
    monkeypatch.setattr(Client, "made", 0)
    client = LazyClient(Client)
    threads = [threading.Thread(target=client) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Client.made == 1


def test_closed_client_is_created_again():
    client = LazyClient(Client)
    first = client()

    client.close()
    client.close()

    assert first.closed == 1
    assert client() is not first


def test_failed_creation_is_retried():
    tries = iter([ZeroDivisionError("no"), None])

    def make() -> Client:
        if error := next(tries):
            raise error
        return Client()

    client = LazyClient(make)

    with pytest.raises(ZeroDivisionError):
        client()
    assert isinstance(client(), Client)
