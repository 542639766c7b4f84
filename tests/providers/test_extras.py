"""Packages that may be missing, and clients that are made once."""

from __future__ import annotations

import threading
import time

import pytest

from nexus.core.errors import MissingExtra
from nexus.providers.extras import require, sendable
from nexus.providers.once import Once


@pytest.mark.parametrize("package", ["no_such_package", "no_such_package.part"])
def test_a_package_that_is_not_there_is_named(package: str):
    with pytest.raises(MissingExtra, match=r"Vectors needs .* 'nexus-memory\[some\]'"):
        require(package, "Vectors", "some")


def test_a_package_that_is_there_is_not_imported():
    require("this", "Poetry", "zen")


def test_half_a_character_becomes_a_question_mark():
    assert sendable("tea \ud83d, käse 😀") == "tea ?, käse 😀"


class Client:
    made = 0

    def __init__(self) -> None:
        time.sleep(0.01)  # long enough for the others to arrive
        Client.made += 1
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_threads_that_arrive_together_share_one_client(monkeypatch):
    monkeypatch.setattr(Client, "made", 0)
    client = Once(Client)
    threads = [threading.Thread(target=client) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Client.made == 1


def test_a_closed_client_is_closed_once_and_made_anew():
    client = Once(Client)
    first = client()

    client.close()
    client.close()

    assert first.closed == 1
    assert client() is not first


def test_what_cannot_be_made_is_tried_again():
    tries = iter([ZeroDivisionError("no"), None])

    def make() -> Client:
        if error := next(tries):
            raise error
        return Client()

    client = Once(make)

    with pytest.raises(ZeroDivisionError):
        client()
    assert isinstance(client(), Client)
