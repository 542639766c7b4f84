"""`nexus worker`: learning and maintenance, apart from those who ask."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING, Refused
from .options import Door, json_option, store_options
from .output import for_person, message, one_line, print_json, print_record

if TYPE_CHECKING:
    from ..maintain.shift import Worked

MOST_PROCESSES = 256
AGAIN_SECONDS = 1.0  # before a process that ended is started again
LINE_ANEW = "\r\033[K"  # what stands on this line of the terminal goes


@click.command()
@click.option(
    "--processes",
    type=click.IntRange(1, MOST_PROCESSES),
    default=1,
    show_default=True,
    help="How many work at once; one that dies is started again.",
)
@click.option("--once", is_flag=True, help="Do what there is, and end.")
@click.option("--jobs", metavar="A,B", help="Only these jobs, and what is to be learned.")
@json_option
@store_options
def worker(door: Door, processes: int, once: bool, jobs: str | None, as_json: bool) -> None:
    """Learn and do the jobs of all workspaces, until told to end.

    Start as many as you like, on as many machines as reach the store: no work is done by two of
    them. Ctrl-C, or SIGTERM, ends them after what is at hand; whoever is killed loses nothing, and
    another one does it after half a minute. `nexus jobs` shows how the work stands. With `--once`
    the code is 1 if a job did not work.

    \b
        nexus worker
        nexus worker --processes 4
        nexus worker --once --jobs patterns,episodes
    """
    names = None if jobs is None else [name.strip() for name in jobs.split(",")]
    if processes == 1:
        done = _work(door, names, once=once, as_json=as_json)
        _tell_all(done, as_json)
        if once and done["failed"]:
            sys.exit(FOUND_NOTHING)  # whoever starts it now and then hears of it
        return
    _check(door, names)
    crew = Crew(processes, _own_command(door, jobs, once), once=once, as_json=as_json)
    _tell_all(crew.run(), as_json)
    sys.exit(crew.code)


def _tell_all(done: dict[str, Any], as_json: bool) -> None:
    """In the place of the line that told how it goes."""
    if as_json:
        print_json(done)
        return
    if for_person():
        click.echo(LINE_ANEW, err=True, nl=False)
    print_record(done)


def _check(door: Door, names: Sequence[str] | None) -> None:
    """Refuse here what each of them would refuse; for a store that is away they wait."""
    from ..core.errors import Unavailable  # noqa: PLC0415

    with suppress(Unavailable), door.open(create=True) as nexus:
        nexus.shift(names)


def _work(door: Door, names: Sequence[str] | None, *, once: bool, as_json: bool) -> dict[str, Any]:
    """In this process."""
    with door.open(create=True) as nexus:
        shift = nexus.shift(names, report=_printer(as_json))
        with _at_the_end(shift.end):
            return asdict(shift.run(once=once))


def _printer(as_json: bool) -> Callable[[Worked], None]:
    """Tells how it goes: on one line for a person, a line each time it changed for a program."""
    last = ""

    def tell(worked: Worked) -> None:
        nonlocal last
        told = json.dumps(asdict(worked)) if as_json else _sentence(asdict(worked))
        if told != last:
            last = told
            _show(told, as_json)

    return tell


def _show(told: str, as_json: bool) -> None:
    if as_json:
        click.echo(told)
    elif for_person():
        click.echo(LINE_ANEW + one_line(told, 100), err=True, nl=False)
    else:
        message(told)


def _sentence(worked: dict[str, Any]) -> str:
    failed = f", {worked['failed']} failed" if worked["failed"] else ""
    last = f"; last: {worked['last']}" if worked["last"] else ""
    return f"learned {worked['learned']}, jobs {worked['steps']}{failed}{last}"


@contextmanager
def _at_the_end(end: Callable[[], None]) -> Iterator[None]:
    """Let both signals end it; a second one ends it at once."""

    def asked(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        end()

    before = {number: signal.signal(number, asked) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _own_command(door: Door, jobs: str | None, once: bool) -> list[str]:
    """How a process of ours is started."""
    given = {"--store": door.store, "--config": door.config, "--jobs": jobs}
    options = [word for name, value in given.items() if value for word in (name, value)]
    more = ["--json", *(["--once"] if once else [])]
    return [sys.executable, "-m", "nexus", "worker", *options, *more]


class Crew:
    """Several processes, what they did together, and the worst code that one ended with."""

    def __init__(self, size: int, command: Sequence[str], *, once: bool, as_json: bool) -> None:
        self.code = 0
        self._size = size
        self._command = command
        self._once = once
        self._as_json = as_json
        self._running: dict[int, subprocess.Popen[str]] = {}
        self._before: dict[str, int] = dict.fromkeys(("learned", "steps", "failed"), 0)
        self._now: dict[int, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._shown = ""

    def run(self) -> dict[str, Any]:
        with _at_the_end(self.end):
            threads = [threading.Thread(target=self._keep, args=(n,)) for n in range(self._size)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return self._total()

    def end(self) -> None:
        self._ends.set()
        for process in list(self._running.values()):
            process.terminate()

    def _keep(self, number: int) -> None:
        """One of them, started again if it ends by itself and another try may do better."""
        while not self._ends.is_set():
            pipe = subprocess.PIPE
            with subprocess.Popen(self._command, stdout=pipe, text=True) as process:  # noqa: S603
                self._running[number] = process
                if self._ends.is_set():
                    process.terminate()
                for line in process.stdout or ():
                    self._heard(number, json.loads(line))
            with self._lock:
                ended = self._now.pop(number, {})
                for name in self._before:
                    self._before[name] += ended.get(name, 0)
            if self._is_over(process.returncode):
                return
            self._ends.wait(AGAIN_SECONDS)

    def _is_over(self, code: int) -> bool:
        """Bad input is as bad at the next try, and for all of them."""
        refused = code == Refused.exit_code
        if self._ends.is_set() or not (self._once or refused):
            return self._ends.is_set()
        with self._lock:
            self.code = max(self.code, code if code >= 0 else 128 - code)  # as shells tell signals
        if refused:
            self.end()
        return True

    def _heard(self, number: int, worked: dict[str, Any]) -> None:
        with self._lock:
            self._now[number] = worked
            told = json.dumps(self._total()) if self._as_json else _sentence(self._total())
            if told != self._shown:
                self._shown = told
                _show(told, self._as_json)

    def _total(self) -> dict[str, Any]:
        every = list(self._now.values())
        total: dict[str, Any] = {
            name: count + sum(each[name] for each in every) for name, count in self._before.items()
        }
        last = [each["last"] for each in every if each["last"]]
        return {**total, "last": last[-1] if last else "", "processes": len(every)}
