"""`nexus metrics`: sizes, timings, caches and pending work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from .options import CommandTarget, json_option, store_options
from .output import is_terminal, print_json, print_message, print_table

if TYPE_CHECKING:
    from ..telemetry.metrics import MetricsSnapshot, Sample, Timing

BARS = "▁▂▃▄▅▆▇█"
TIMING_PREFIXES = {  # metric → prefix of its rows
    "operation_seconds": "",
    "strategy_seconds": "recall: ",
    "section_seconds": "compose: ",
    "job_seconds": "job: ",
}


@click.command()
@click.option("--prometheus", is_flag=True, help="Print the Prometheus text format.")
@click.option(
    "--watch",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    is_flag=False,
    flag_value=2.0,
    help="Repeat until interrupted.",
)
@json_option
@store_options
def metrics(target: CommandTarget, prometheus: bool, watch: float | None, as_json: bool) -> None:
    """Show sizes, timings, caches and pending work.

    Sizes, pending work and model costs are read from the store. Timings and caches come from the
    processes that write to memory.telemetry.metrics_folder, if it is configured.

    \b
        nexus metrics
        nexus metrics --watch 5
        nexus metrics --prometheus
        nexus metrics --json
    """
    if prometheus and as_json:
        raise click.UsageError("use either --prometheus or --json")
    with target.open_nexus() as nexus:
        try:
            while True:
                if prometheus:
                    click.echo(nexus.prometheus(), nl=False)
                else:
                    _print_snapshot(nexus.metrics(), as_json=as_json, repeats=watch is not None)
                if watch is None:
                    return
                time.sleep(watch)
        except KeyboardInterrupt:
            print_message("stopped")


def _print_snapshot(snapshot: MetricsSnapshot, *, as_json: bool, repeats: bool) -> None:
    if as_json:
        for each in snapshot.samples:
            print_json(_sample_json(each))
        return
    if repeats and is_terminal():
        click.clear()
    timed = [row for name in TIMING_PREFIXES for row in _timing_rows(snapshot, name)]
    if timed:
        print_table(("operation", "count", "p50", "p95", "p99", "histogram"), timed)
    print_table(("metric", "labels", "value"), _value_rows(snapshot))


def _sample_json(sample: Sample) -> dict[str, Any]:
    record = {"name": sample.name, **({"labels": dict(sample.labels)} if sample.labels else {})}
    if sample.timing is None:
        return {**record, "value": sample.value}
    timing = sample.timing
    return {
        **record,
        "count": timing.count,
        "seconds": timing.seconds,
        **{name: getattr(timing, name) for name in ("p50", "p95", "p99")},
    }


def _timing_rows(snapshot: MetricsSnapshot, name: str) -> list[tuple[object, ...]]:
    rows = []
    for each in snapshot.find_samples(name):
        timing = each.timing
        if timing is not None:
            times = (_format_seconds(value) for value in (timing.p50, timing.p95, timing.p99))
            what = TIMING_PREFIXES[name] + ", ".join(each.labels.values())
            rows.append((what, timing.count, *times, draw_sparkline(timing)))
    return rows


def _value_rows(snapshot: MetricsSnapshot) -> list[tuple[object, ...]]:
    """Return a row for each metric that is not a timing; caches show their hit rate."""
    rows: list[tuple[object, ...]] = []
    for each in snapshot.samples:
        if each.timing is not None or each.name == "cache_misses_total":
            continue
        name, value = each.name, _format_number(each.value)
        if each.name == "cache_hits_total":
            misses = snapshot.value("cache_misses_total", **each.labels)
            total = each.value + misses
            name = "cache"
            value = f"{each.value / total:.0%} of {total:.0f}" if total else "unused"
        rows.append((name.removesuffix("_total"), ", ".join(each.labels.values()), value))
    return rows


def draw_sparkline(timing: Timing) -> str:
    """Return a histogram as one line of bars, one bar per bucket, fastest first."""
    used = [number for number, count in enumerate(timing.counts) if count]
    counts = timing.counts[used[0] : used[-1] + 1] if used else ()
    most = max(counts, default=0)
    return "".join(
        BARS[(count * (len(BARS) - 1) + most - 1) // most] if count else " " for count in counts
    )


def _format_seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


def _format_number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.6g}"
