"""Full disk: nothing is acknowledged that is not stored, and work continues afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.core.errors import StoreUnavailable
from nexusmem.embedders.feature_hash import HashingEmbedder

SIZE = 4_000_000
LONG = "herons and tea " * 600  # about 9 kB


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A small mounted disk, outside pytest's folders, which pytest renames later."""
    with TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder]
        try:
            done = subprocess.run(mount, capture_output=True)
        except FileNotFoundError:
            pytest.skip("there is no mount here")
        if done.returncode:
            pytest.skip(f"cannot mount a small disk: {done.stderr.decode().strip()}")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def opened(path: Path) -> Nexus:
    return Nexus.open(path, settings=Settings(), embedder=HashingEmbedder(), background=False)


def room_of(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", participants=["alice"])


def fill(nexus: Nexus, most: int = 5_000) -> tuple[list[str], StoreUnavailable]:
    """Write until the disk is full; return the acknowledged keys and the error."""
    told: list[str] = []
    room = room_of(nexus)
    for number in range(most):
        try:
            told.append(room.observe("alice", f"{number} {LONG}", key=str(number)).key)
        except StoreUnavailable as error:
            return told, error
    pytest.fail("the disk never became full")


@pytest.mark.requirement("X3")
def test_full_disk_is_reported_and_loses_nothing(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(SIZE * 3 // 4))
    nexus = opened(small_disk / "memory.db")

    told, error = fill(nexus)

    assert "full" in str(error)
    assert "memory.db" in str(error)
    known = {event.key for event in room_of(nexus).recent(5_000)}
    assert known == set(told)
    assert nexus.workspace("acme").verify().is_intact

    ballast.unlink()  # free space: work continues without reopening
    room_of(nexus).observe("alice", "it goes on", key="after")
    assert nexus.workspace("acme").flush() == 0
    assert nexus.workspace("acme").verify().events == len(told) + 1
    nexus.close()


@pytest.mark.requirement("X1", "X3")
def test_failed_write_leaves_no_cached_label(small_disk: Path) -> None:
    nexus = opened(small_disk / "memory.db")
    first, second = (nexus.workspace("acme").dm(name) for name in ("ann", "bob"))
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(free(small_disk)))

    with pytest.raises(StoreUnavailable):
        first.observe("ann", LONG * 20)
    ballast.unlink()
    second.observe("bob", "for Bob alone")
    first.observe("ann", "for Ann alone")

    assert [event.text for event in first.recent()] == ["for Ann alone"]
    assert [event.text for event in second.recent()] == ["for Bob alone"]
    nexus.close()


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_extraction_on_full_disk_loses_nothing(small_disk: Path) -> None:
    nexus = opened(small_disk / "memory.db")
    ballast = small_disk / "ballast"
    room = room_of(nexus)
    receipts = [room.observe("alice", f"{n} {LONG}", key=str(n)) for n in range(20)]
    ballast.write_bytes(bytes(free(small_disk) - 20_000))

    with pytest.raises(StoreUnavailable):
        nexus.workspace("acme").flush()
    ballast.unlink()

    assert nexus.workspace("acme").flush() == 0
    assert {room.progress(receipt).stage for receipt in receipts} == {"derived"}
    nexus.close()


def free(folder: Path) -> int:
    state = os.statvfs(folder)
    return state.f_bavail * state.f_bsize


LIMITED = """
import resource, sys
from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.errors import StoreUnavailable
from nexusmem.embedders.feature_hash import HashingEmbedder

nexus = Nexus.open(sys.argv[1], settings=Settings(), embedder=HashingEmbedder(), background=False)
room = nexus.workspace("acme").room("design", participants=["alice"])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
try:
    for number in range(5_000):
        room.observe("alice", f"{number} " + "herons and tea " * 600, key=str(number))
        print(number, flush=True)
except StoreUnavailable as error:
    print(error, file=sys.stderr)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
try:
    room.observe("alice", "after a write that failed, nobody knows what the disk holds", key="late")
except StoreUnavailable as error:
    print(error, file=sys.stderr)
    sys.exit(3)
"""


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_file_size_limit_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    done = subprocess.run(
        [sys.executable, "-c", LIMITED, path], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 3, done.stderr
    assert "memory.db" in done.stderr
    assert "open it again" in done.stderr  # no further write is acknowledged
    with opened(path) as nexus:
        told = set(done.stdout.split())
        assert told == {event.key for event in room_of(nexus).recent(5_000)}
        assert len(told) > 10
        assert nexus.workspace("acme").verify().is_intact
        assert nexus.workspace("acme").flush() == 0
