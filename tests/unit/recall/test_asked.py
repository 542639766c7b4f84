"""What is measured of the strategies, and what becomes of one that is away."""

from __future__ import annotations

import pytest
from tests.unit.making import NOON

from nexus.core.errors import InvalidInput, ModelUnavailable
from nexus.core.protocols import Scored
from nexus.recall.asked import Asked, Results
from nexus.recall.query import Query
from nexus.recall.understand import understand
from nexus.testing.samples import ADMIN

ASKED = Asked(Query(question="tea?"), understand("tea?", [], NOON), None, 10)


def finding(*ids: str):
    return lambda _grant, _asked: [Scored(id=id, score=0.5) for id in ids]


def away(_grant, _asked):
    raise ModelUnavailable("no answer within 3 seconds")


def broken(_grant, _asked):
    raise InvalidInput("nonsense")


def ran(**strategies) -> Results:
    results = Results()
    results.run(strategies, ADMIN, ASKED)
    return results


@pytest.mark.requirement("E18")
def test_each_strategy_is_reported_with_time_finds_and_share_of_what_is_shown() -> None:
    results = ran(keyword=finding("a", "b", "c"), graph=finding("c", "d"), timeline=finding())

    reports = {report.name: report for report in results.reports(["a", "c", "x"])}

    assert [*reports] == ["keyword", "graph", "timeline"]
    assert {name: (r.found, r.shown) for name, r in reports.items()} == {
        "keyword": (3, 2),
        "graph": (2, 1),
        "timeline": (0, 0),
    }
    assert all(report.seconds > 0 for report in reports.values())


@pytest.mark.requirement("E18")
def test_time_spent_twice_under_one_name_is_added_up() -> None:
    results = ran(meaning=finding("a"))
    once = results.seconds["meaning"]

    with results.measured("meaning"):
        pass

    assert results.seconds["meaning"] > once


@pytest.mark.requirement("E11")
def test_a_strategy_that_is_away_is_remarked_on_and_the_others_go_on() -> None:
    results = ran(meaning=away, keyword=finding("a"))

    assert results.degraded == ["meaning: no answer within 3 seconds"]
    assert results.ids == ["a"]
    assert [report.name for report in results.reports([])] == ["keyword"]
    assert results.seconds["meaning"] > 0


def test_a_strategy_that_is_wrong_is_not_passed_over() -> None:
    with pytest.raises(InvalidInput):
        ran(keyword=broken)


@pytest.mark.requirement("X7")
def test_places_are_counted_from_one_in_every_list() -> None:
    results = ran(keyword=finding("a", "b"), graph=finding("b"))

    assert results.places("a") == {"keyword": 1}
    assert results.places("b") == {"keyword": 2, "graph": 1}
    assert results.places("c") == {}
    assert results.ids == ["a", "b"]
