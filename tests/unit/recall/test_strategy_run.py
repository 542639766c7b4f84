"""Strategy runs: reports, ranks and failures."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.making import NOON

from nexusmem.core.errors import InvalidInput, ModelUnavailable
from nexusmem.core.protocols.embedder import TextRole
from nexusmem.core.protocols.memories import ScoredId
from nexusmem.recall.query import Query
from nexusmem.recall.question_analysis import analyze_question
from nexusmem.recall.rewriters import RewriteResult
from nexusmem.recall.strategy_run import PreparedQuestion, QuestionPreparer, StrategyResults
from nexusmem.testing.samples import ADMIN

QUESTION = PreparedQuestion(Query(question="tea?"), analyze_question("tea?", [], NOON), None, 10)


def make_strategy(*ids: str):
    return lambda _grant, _question: [ScoredId(id=id, score=0.5) for id in ids]


def unavailable(_grant, _question):
    raise ModelUnavailable("no answer within 3 seconds")


def broken(_grant, _question):
    raise InvalidInput("nonsense")


def run_strategies(**strategies) -> StrategyResults:
    results = StrategyResults()
    results.run_strategies(strategies, ADMIN, QUESTION)
    return results


@pytest.mark.requirement("E18")
def test_report_has_seconds_found_and_shown_per_strategy() -> None:
    results = run_strategies(
        keyword=make_strategy("a", "b", "c"),
        graph=make_strategy("c", "d"),
        timeline=make_strategy(),
    )

    reports = {report.name: report for report in results.build_reports(["a", "c", "x"])}

    assert [*reports] == ["keyword", "graph", "timeline"]
    assert {name: (r.found, r.shown) for name, r in reports.items()} == {
        "keyword": (3, 2),
        "graph": (2, 1),
        "timeline": (0, 0),
    }
    assert all(report.seconds > 0 for report in reports.values())


@pytest.mark.requirement("E18")
def test_seconds_of_repeated_steps_are_added() -> None:
    results = run_strategies(vector=make_strategy("a"))
    once = results.seconds["vector"]

    with results.measure_step("vector"):
        pass

    assert results.seconds["vector"] > once


@pytest.mark.requirement("E11")
def test_unavailable_strategy_is_degraded_and_others_run() -> None:
    results = run_strategies(vector=unavailable, keyword=make_strategy("a"))

    assert results.degraded == ["vector: no answer within 3 seconds"]
    assert results.ids == ["a"]
    assert [report.name for report in results.build_reports([])] == ["keyword"]
    assert results.seconds["vector"] > 0


def test_other_errors_of_a_strategy_are_raised() -> None:
    with pytest.raises(InvalidInput):
        run_strategies(keyword=broken)


@pytest.mark.requirement("X7")
def test_strategy_ranks_start_at_one() -> None:
    results = run_strategies(keyword=make_strategy("a", "b"), graph=make_strategy("b"))

    assert results.strategy_ranks("a") == {"keyword": 1}
    assert results.strategy_ranks("b") == {"keyword": 2, "graph": 1}
    assert results.strategy_ranks("c") == {}
    assert results.ids == ["a", "b"]


def test_invented_answers_are_embedded_as_documents() -> None:
    embedded: list[tuple[str, TextRole]] = []

    def embed(_workspace: object, text: str, role: TextRole) -> np.ndarray:
        embedded.append((text, role))
        return np.array([1.0, 0.0], np.float32)

    def prepare(result: RewriteResult) -> list[tuple[str, TextRole]]:
        embedded.clear()
        preparer = QuestionPreparer(embed, lambda _workspace: lambda _question: result)
        preparer.prepare(ADMIN, QUESTION.query, QUESTION.analysis, 10, StrategyResults())
        return embedded.copy()

    asked = (QUESTION.analysis.embedding_text, TextRole.QUERY)
    statement, passage = (("a statement", TextRole.DOCUMENT), ("a passage", TextRole.DOCUMENT))
    assert prepare(RewriteResult()) == [asked]
    assert prepare(RewriteResult(extra_texts=("a passage",))) == [asked, passage]
    both = RewriteResult(embedding_text="a statement", extra_texts=("a passage",))
    assert prepare(both) == [statement, passage]
