"""Metrics of several processes: each leaves its own in a folder, and whoever asks adds them up."""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .core.metrics import FAMILIES, Sample, Timing

EVERY_SECONDS = 5.0
GONE_SECONDS = 60.0  # after such a silence a process has ended, however it did;
LEFT_SECONDS = 3600.0  # after this one its file goes, too
OURS = "nexus-"  # how names of files begin; a number of a process would be that of many containers

log = logging.getLogger(__name__)


class Shared:
    """Writes what this process counted, every few seconds until it is closed."""

    def __init__(self, folder: Path, read: Callable[[], list[Sample]]) -> None:
        self.file = folder / f"{OURS}{secrets.token_hex(16)}.json"
        self._read = read
        self._ended = threading.Event()
        folder.mkdir(parents=True, exist_ok=True)
        _remove_silent(folder)
        self._thread = threading.Thread(target=self._run, name="nexus-metrics", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            self.write()

    def write(self) -> None:
        """In one go: a reader sees the old file or the new one."""
        draft = self.file.with_suffix(".tmp")
        try:
            draft.write_text(json.dumps([_told(each) for each in self._read()]), encoding="utf-8")
            draft.replace(self.file)
        except OSError as error:
            log.warning("metrics were not left in the folder: %s", error.strerror)

    def close(self) -> None:
        """Its numbers go with the process."""
        self._ended.set()
        self._thread.join()
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


def left_in(folder: Path, *, own: Path | None = None) -> list[Sample]:
    """What those that run have left there, but for the `own` file of who asks."""
    found: list[Sample] = []
    for file in sorted(folder.glob(f"{OURS}*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):  # gone, or not one of ours
            if file != own and _silence(file) <= GONE_SECONDS:
                found += _read(json.loads(file.read_text(encoding="utf-8")))
    return found


def _remove_silent(folder: Path) -> None:
    """Whoever was killed left its file, and perhaps a draft of it."""
    for file in (*folder.glob(f"{OURS}*.json"), *folder.glob(f"{OURS}*.tmp")):
        with suppress(OSError):
            if _silence(file) > LEFT_SECONDS:
                file.unlink()


def _silence(file: Path) -> float:
    return time.time() - file.stat().st_mtime


def _told(each: Sample) -> dict[str, Any]:
    told: dict[str, Any] = {"name": each.name, "labels": dict(each.labels)}
    if each.timing is None:
        return {**told, "value": each.value}
    return {**told, "counts": each.timing.counts, "seconds": each.timing.seconds}


def _read(lines: list[dict[str, Any]]) -> Iterator[Sample]:
    for each in lines:
        if each["name"] in FAMILIES:
            timing = None
            if "counts" in each:
                timing = Timing(counts=tuple(map(int, each["counts"])), seconds=each["seconds"])
            value = float(each.get("value", 0))
            labels = {str(name): str(label) for name, label in each["labels"].items()}
            yield Sample(name=each["name"], labels=labels, value=value, timing=timing)
