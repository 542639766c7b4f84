"""`nexus worker`: learn and run background jobs in separate processes."""

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

from . import EXIT_NEGATIVE, CommandError
from .options import CommandTarget, json_option, store_options
from .output import is_terminal, one_line, print_json, print_message, print_record

if TYPE_CHECKING:
    from ..maintain.standalone_worker import WorkerReport

MAX_PROCESSES = 256
RESTART_SECONDS = 1.0  # before an ended process is started again
CLEAR_LINE = "\r\033[K"  # clears the current line of the terminal


@click.command()
@click.option(
    "--processes",
    type=click.IntRange(1, MAX_PROCESSES),
    default=1,
    show_default=True,
    help="Number of processes; a process that dies is started again.",
)
@click.option("--once", is_flag=True, help="Do all pending work, then exit.")
@click.option("--jobs", metavar="A,B", help="Learn, and run only these jobs.")
@json_option
@store_options
def worker(
    target: CommandTarget, processes: int, once: bool, jobs: str | None, as_json: bool
) -> None:
    """Learn and run background jobs until stopped, for all workspaces.

    Several workers may run, on all machines that reach the store: leases keep them from doing the
    same work twice. Ctrl-C or SIGTERM stops a worker after its current step. The work of a killed
    worker is taken over after half a minute. `nexus jobs` shows the state of the work. With
    `--once` the exit code is 1 if a job failed.

    \b
        nexus worker
        nexus worker --processes 4
        nexus worker --once --jobs habits,episodes
    """
    names = None if jobs is None else [name.strip() for name in jobs.split(",")]
    if processes == 1:
        done = _run_worker(target, names, once=once, as_json=as_json)
        _print_result(done, as_json)
        if once and done["failed"]:
            sys.exit(EXIT_NEGATIVE)  # cron and CI notice the failure
        return
    _check_job_names(target, names)
    workers = WorkerProcesses(
        processes, _worker_command(target, jobs, once), once=once, as_json=as_json
    )
    _print_result(workers.run(), as_json)
    sys.exit(workers.code)


def _print_result(done: dict[str, Any], as_json: bool) -> None:
    """Print the counts, in place of the status line."""
    if as_json:
        print_json(done)
        return
    if is_terminal():
        click.echo(CLEAR_LINE, err=True, nl=False)
    print_record(done)


def _check_job_names(target: CommandTarget, names: Sequence[str] | None) -> None:
    """Raise InvalidInput for unknown jobs before any process starts, if the store answers."""
    from ..core.errors import Unavailable  # loaded on first use

    with suppress(Unavailable), target.open_nexus(create=True) as nexus:
        nexus.worker(names)


def _run_worker(
    target: CommandTarget, names: Sequence[str] | None, *, once: bool, as_json: bool
) -> dict[str, Any]:
    """Run a worker in this process and return its counts."""
    with target.open_nexus(create=True) as nexus:
        standalone = nexus.worker(names, report=_make_reporter(as_json))
        with _stop_on_signals(standalone.stop):
            return asdict(standalone.run(once=once))


def _make_reporter(as_json: bool) -> Callable[[WorkerReport], None]:
    """Return a callback that prints the status whenever it changes."""
    last = ""

    def report_progress(worked: WorkerReport) -> None:
        nonlocal last
        status = json.dumps(asdict(worked)) if as_json else _format_status(asdict(worked))
        if status != last:
            last = status
            _print_status(status, as_json)

    return report_progress


def _print_status(status: str, as_json: bool) -> None:
    if as_json:
        click.echo(status)
    elif is_terminal():
        click.echo(CLEAR_LINE + one_line(status, 100), err=True, nl=False)
    else:
        print_message(status)


def _format_status(worked: dict[str, Any]) -> str:
    failed = f", {worked['failed']} failed" if worked["failed"] else ""
    last = f"; last: {worked['last']}" if worked["last"] else ""
    return f"learned {worked['learned']}, jobs {worked['steps']}{failed}{last}"


@contextmanager
def _stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGTERM and SIGINT; a second signal kills the process."""

    def handle_signal(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop()

    before = {
        number: signal.signal(number, handle_signal) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _worker_command(target: CommandTarget, jobs: str | None, once: bool) -> list[str]:
    """Return the command line of one worker process."""
    given = {"--store": target.store, "--config": target.config, "--jobs": jobs}
    options = [word for name, value in given.items() if value for word in (name, value)]
    more = ["--json", *(["--once"] if once else [])]
    return [sys.executable, "-m", "nexusmem", "worker", *options, *more]


class WorkerProcesses:
    """Worker processes, their summed counts and the highest exit code."""

    def __init__(self, size: int, command: Sequence[str], *, once: bool, as_json: bool) -> None:
        self.code = 0
        self._size = size
        self._command = command
        self._once = once
        self._as_json = as_json
        self._processes: dict[int, subprocess.Popen[str]] = {}
        self._finished_counts: dict[str, int] = dict.fromkeys(("learned", "steps", "failed"), 0)
        self._statuses: dict[int, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._last_status = ""

    def run(self) -> dict[str, Any]:
        """Run the processes until they end or are stopped; return the summed counts."""
        with _stop_on_signals(self.stop):
            threads = [
                threading.Thread(target=self._run_process, args=(n,)) for n in range(self._size)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return self._sum_status()

    def stop(self) -> None:
        """Send SIGTERM to every process and start no new one."""
        self._stopping.set()
        for process in list(self._processes.values()):
            process.terminate()

    def _run_process(self, number: int) -> None:
        """Run one process; start it again if it ends and a restart may help."""
        while not self._stopping.is_set():
            pipe = subprocess.PIPE
            with subprocess.Popen(self._command, stdout=pipe, text=True) as process:  # noqa: S603
                self._processes[number] = process
                if self._stopping.is_set():
                    process.terminate()
                for line in process.stdout or ():
                    self._update_status(number, json.loads(line))
            with self._lock:
                ended = self._statuses.pop(number, {})
                for name in self._finished_counts:
                    self._finished_counts[name] += ended.get(name, 0)
            if self._is_finished(process.returncode):
                return
            self._stopping.wait(RESTART_SECONDS)

    def _is_finished(self, code: int) -> bool:
        """Return whether the process must not be restarted; invalid input stops all processes."""
        refused = code == CommandError.exit_code
        if self._stopping.is_set() or not (self._once or refused):
            return self._stopping.is_set()
        with self._lock:
            self.code = max(
                self.code, code if code >= 0 else 128 - code
            )  # like a shell: 128 + signal
        if refused:
            self.stop()
        return True

    def _update_status(self, number: int, worked: dict[str, Any]) -> None:
        with self._lock:
            self._statuses[number] = worked
            status = (
                json.dumps(self._sum_status())
                if self._as_json
                else _format_status(self._sum_status())
            )
            if status != self._last_status:
                self._last_status = status
                _print_status(status, self._as_json)

    def _sum_status(self) -> dict[str, Any]:
        every = list(self._statuses.values())
        total: dict[str, Any] = {
            name: count + sum(each[name] for each in every)
            for name, count in self._finished_counts.items()
        }
        last = [each["last"] for each in every if each["last"]]
        return {**total, "last": last[-1] if last else "", "processes": len(every)}
