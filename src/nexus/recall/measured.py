"""What each technique of a search took and brought, for the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.access import Grant
from ..core.metrics import Metrics
from ..core.records import StrategyReport
from .answer import Order, Ranked, Ranking
from .query import Query


def measured(ranking: Ranking, metrics: Metrics) -> Ranking:
    """The same ranking; whoever asks it for reports leaves them in the metrics, too."""

    def ranked(grant: Grant, query: Query) -> MeasuredOrder:
        return MeasuredOrder(ranking(grant, query), metrics)

    return ranked


@dataclass(frozen=True, slots=True)
class MeasuredOrder:
    """An order whose reports are counted: `answer` asks for them once a question."""

    order: Order
    metrics: Metrics

    @property
    def asked(self) -> tuple[str, ...]:
        return self.order.asked

    @property
    def degraded(self) -> tuple[str, ...]:
        return self.order.degraded

    @property
    def scores(self) -> Sequence[float]:
        return self.order.scores

    def part(self, start: int, end: int) -> list[Ranked]:
        return self.order.part(start, end)

    def reports(self, shown: Sequence[str]) -> tuple[StrategyReport, ...]:
        reports, metrics = self.order.reports(shown), self.metrics
        for each in reports:
            metrics.took("strategy_seconds", each.name, each.seconds)
            metrics.add("strategy_found_total", each.name, each.found)
            metrics.add("strategy_shown_total", each.name, each.shown)
        metrics.add("hits_total", (), len(shown))
        return reports
