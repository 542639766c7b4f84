"""Metrics: counters, quantiles, thread safety and the Prometheus format."""

from __future__ import annotations

import threading
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from nexusmem.core.errors import NotFound
from nexusmem.telemetry.metrics import (
    BUCKET_BOUNDS,
    FAMILIES,
    Metrics,
    MetricsSnapshot,
    MetricType,
    make_sample,
    render_prometheus,
    safe_label,
)
from nexusmem.telemetry.spans import Telemetry


def test_quantile_is_in_the_measured_bucket() -> None:
    metrics = Metrics()
    for number in range(1, 1001):
        metrics.observe_seconds(
            "operation_seconds", "recall", number / 10_000
        )  # evenly up to 0.1 s

    timing = metrics.snapshot().timing("operation_seconds", operation="recall")

    assert timing.count == 1_000
    assert timing.seconds == pytest.approx(50.05)
    assert timing.p50 == pytest.approx(0.05, rel=0.01)
    assert timing.p95 == pytest.approx(0.095, rel=0.01)
    assert timing.p99 == pytest.approx(0.099, rel=0.01)


def test_quantile_is_capped_at_the_last_bound() -> None:
    metrics = Metrics()
    metrics.observe_seconds("operation_seconds", "model", 300.0)

    assert metrics.snapshot().timing("operation_seconds").p50 == BUCKET_BOUNDS[-1]
    assert Metrics().snapshot().timing("operation_seconds").p99 == 0.0


def test_concurrent_updates_are_not_lost() -> None:
    telemetry = Telemetry()

    def work() -> None:
        for _ in range(2_000):
            with telemetry.operation("recall"):
                telemetry.metrics.add("hits_total", (), 3)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    now = telemetry.metrics.snapshot()
    assert now.value("hits_total") == 8 * 2_000 * 3
    assert now.timing("operation_seconds", operation="recall").count == 8 * 2_000


def test_failed_operation_is_timed_and_counted_by_type() -> None:
    telemetry = Telemetry()

    with pytest.raises(NotFound), telemetry.operation("get"):
        raise NotFound

    now = telemetry.metrics.snapshot()
    assert now.value("errors_total", operation="get", error="NotFound") == 1
    assert now.timing("operation_seconds", operation="get").count == 1


def test_degraded_label_is_the_part_never_the_text() -> None:
    metrics = Metrics()

    metrics.count_degraded("rerank: no answer within 3 seconds")
    metrics.count_degraded("alice said: something that is no remark of ours")

    parts = {each.labels["part"] for each in metrics.snapshot().find_samples("degraded_total")}
    assert parts == {"rerank", "other"}
    assert safe_label("gpt-5.2-mini:2026") == "gpt-5.2-mini:2026"
    assert safe_label('x"} 1\nnexus_evil 1') == "other"


def everything() -> MetricsSnapshot:
    """Return a sample of each family, with labels that need escaping."""
    metrics = Metrics()
    metrics.observe_seconds("strategy_seconds", "vector", 0.0042)
    others = []
    for name, family in FAMILIES.items():
        labels = tuple(f'{each} "1" \\ \n2' for each in family.labels)
        if family.metric_type is MetricType.HISTOGRAM:
            metrics.observe_seconds(name, labels, 0.3)
        else:
            others.append(make_sample(name, labels, 1.5, workspace="ac\\me\n"))
    return metrics.snapshot(others)


@pytest.mark.requirement("E35")
def test_prometheus_parser_reads_every_family() -> None:
    snapshot = everything()

    read = {each.name: each for each in text_string_to_metric_families(render_prometheus(snapshot))}

    for name, family in FAMILIES.items():
        told = read["nexus_" + name.removesuffix("_total")]
        assert (told.type, told.documentation) == (family.metric_type.value, family.description)
    values = {
        (each.name, *each.labels.values()): each.value
        for family in read.values()
        for each in family.samples
    }
    assert values["nexus_strategy_seconds_bucket", "vector", "0.0025"] == 0
    assert values["nexus_strategy_seconds_bucket", "vector", "0.005"] == 1
    assert values["nexus_strategy_seconds_bucket", "vector", "+Inf"] == 1
    assert values["nexus_strategy_seconds_sum", "vector"] == pytest.approx(0.0042)
    escaped = ('operation "1" \\ \n2', 'error "1" \\ \n2', "ac\\me\n")
    assert values["nexus_errors_total", *escaped] == 1.5
    assert len(values) == sum(
        len(BUCKET_BOUNDS) + 3 if each.timing else 1 for each in snapshot.samples
    )


@pytest.mark.slow
def test_counting_is_fast() -> None:
    """Two microseconds on an idle machine; a busy one must not fail this."""
    telemetry = Telemetry()
    rounds = 20_000

    def seconds() -> float:
        started = time.thread_time()
        for _ in range(rounds):
            with telemetry.operation("recall"):
                pass
        return (time.thread_time() - started) / rounds

    assert min(seconds() for _ in range(5)) < 8e-6
