"""The list of requirements and the markers of tests agree."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.requirements import REQUIREMENTS

HERE = Path(__file__).parent
SHIPPED = HERE.parent / "src" / "nexusmem" / "testing"  # suites that tests inherit from
ROWS = {"A": 16, "B": 27, "C": 23, "D": 33, "E": 35, "X": 12}


@cache
def marked() -> dict[str, set[str]]:
    """Return the test files marked with each requirement, read without importing them."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in [*HERE.rglob("*.py"), *SHIPPED.rglob("*.py")]:
        for id in ids_in(ast.parse(file.read_text(encoding="utf-8"))):
            found[id].add(file.name)
    return found


def ids_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_the_marker(node.func):
            yield from (ast.literal_eval(argument) for argument in node.args)


def _is_the_marker(node: ast.expr) -> bool:
    named = isinstance(node, ast.Attribute) and node.attr == "requirement"
    return named and ast.unparse(node) == "pytest.mark.requirement"


def test_requirements_are_listed_once_and_in_order() -> None:
    expected = [f"{letter}{n}" for letter, rows in ROWS.items() for n in range(1, rows + 1)]

    assert list(REQUIREMENTS) == expected


def test_done_requirement_has_a_test() -> None:
    due = {id for id, row in REQUIREMENTS.items() if row.status != "later"}

    untested = due - marked().keys()

    assert untested == set()


def test_marker_names_an_active_requirement() -> None:
    wrong = {
        id: sorted(files)
        for id, files in marked().items()
        if id not in REQUIREMENTS or REQUIREMENTS[id].status == "later"
    }

    assert wrong == {}


def test_open_requirement_has_a_reason() -> None:
    silent = [id for id, row in REQUIREMENTS.items() if row.status != "works" and not row.why]

    assert silent == []


def test_markers_are_found_on_functions_classes_parameters_and_modules() -> None:
    source = """
pytestmark = pytest.mark.requirement("A1", "A2")
class TestThing:
    @pytest.mark.requirement("B1")
    def test_one(self): ...
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("C1"))])
def test_two(x): ...
"""

    assert sorted(ids_in(ast.parse(source))) == ["A1", "A2", "B1", "C1"]
