"""`nexus metrics`: how much there is, how long things take, what waits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from .options import Door, json_option, store_options
from .output import for_person, message, print_json, print_table

if TYPE_CHECKING:
    from ..core.metrics import Sample, Snapshot, Timing

BARS = "▁▂▃▄▅▆▇█"
TIMED = {  # a family → what a row of it is called
    "operation_seconds": "",
    "strategy_seconds": "recall: ",
    "section_seconds": "compose: ",
    "job_seconds": "job: ",
}


@click.command()
@click.option("--prometheus", is_flag=True, help="The text format that Prometheus reads.")
@click.option(
    "--watch",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    is_flag=False,
    flag_value=2.0,
    help="Again and again, until you stop it.",
)
@json_option
@store_options
def metrics(door: Door, prometheus: bool, watch: float | None, as_json: bool) -> None:
    """How much there is, how long things take, what waits, what models cost.

    Sizes, work that waits and what models cost are read from the store. Times and caches are of
    processes: of those that leave their numbers in memory.telemetry.folder, if one is configured.

    \b
        nexus metrics
        nexus metrics --watch 5
        nexus metrics --prometheus
        nexus metrics --json
    """
    if prometheus and as_json:
        raise click.UsageError("--prometheus and --json are two formats: choose one")
    with door.open() as nexus:
        try:
            while True:
                if prometheus:
                    click.echo(nexus.prometheus(), nl=False)
                else:
                    _show(nexus.metrics(), as_json=as_json, again=watch is not None)
                if watch is None:
                    return
                time.sleep(watch)
        except KeyboardInterrupt:
            message("stopped")


def _show(snapshot: Snapshot, *, as_json: bool, again: bool) -> None:
    if as_json:
        for each in snapshot.samples:
            print_json(_json(each))
        return
    if again and for_person():
        click.clear()
    timed = [row for name in TIMED for row in _timed_rows(snapshot, name)]
    if timed:
        print_table(("what", "times", "p50", "p95", "p99", "spread"), timed)
    print_table(("metric", "of", "value"), _rows(snapshot))


def _json(each: Sample) -> dict[str, Any]:
    told = {"name": each.name, **({"labels": dict(each.labels)} if each.labels else {})}
    if each.timing is None:
        return {**told, "value": each.value}
    timing = each.timing
    return {
        **told,
        "count": timing.count,
        "seconds": timing.seconds,
        **{name: getattr(timing, name) for name in ("p50", "p95", "p99")},
    }


def _timed_rows(snapshot: Snapshot, name: str) -> list[tuple[object, ...]]:
    rows = []
    for each in snapshot.named(name):
        timing = each.timing
        if timing is not None:
            times = (_seconds(value) for value in (timing.p50, timing.p95, timing.p99))
            what = TIMED[name] + ", ".join(each.labels.values())
            rows.append((what, timing.count, *times, spark(timing)))
    return rows


def _rows(snapshot: Snapshot) -> list[tuple[object, ...]]:
    """What is no time; a cache with its share of hits."""
    rows: list[tuple[object, ...]] = []
    for each in snapshot.samples:
        if each.timing is not None or each.name == "cache_misses_total":
            continue
        name, value = each.name, _number(each.value)
        if each.name == "cache_hits_total":
            missed = snapshot.value("cache_misses_total", **each.labels)
            asked = each.value + missed
            name = "cache"
            value = f"{each.value / asked:.0%} of {asked:.0f}" if asked else "not asked"
        rows.append((name.removesuffix("_total"), ", ".join(each.labels.values()), value))
    return rows


def spark(timing: Timing) -> str:
    """From the fastest to the slowest that there were; each column is a bucket."""
    used = [place for place, count in enumerate(timing.counts) if count]
    counts = timing.counts[used[0] : used[-1] + 1] if used else ()
    most = max(counts, default=0)
    return "".join(
        BARS[(count * (len(BARS) - 1) + most - 1) // most] if count else " " for count in counts
    )


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.6g}"
