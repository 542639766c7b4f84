"""Predicates: single and many values, equivalents, contraries and value comparison."""

from __future__ import annotations

import pytest

from nexusmem.core.records import Fact
from nexusmem.core.records.facts import PREDICATE_PATTERN
from nexusmem.learn.rules.relations import load_rules
from nexusmem.text.predicates import (
    CONTRARIES,
    DATED,
    EQUIVALENTS,
    LASTING,
    SINGLE_VALUED,
    SINGLE_VALUED_BY_ASPECT,
    denies_value,
    equivalent_predicates,
    is_contrary,
    is_single_valued,
    normalize_fact_value,
    normalize_phrase,
    predicates_about,
)


def fact(predicate: str, value: object = "x", **more: object) -> Fact:
    return Fact(subject="Ann", predicate=predicate, value=value, **more)  # type: ignore[arg-type]


def test_listed_predicates_are_in_upper_snake_case() -> None:
    others = [name for table in (EQUIVALENTS, CONTRARIES) for row in table.values() for name in row]
    listed = {
        *SINGLE_VALUED,
        *SINGLE_VALUED_BY_ASPECT,
        *LASTING,
        *DATED,
        *EQUIVALENTS,
        *CONTRARIES,
        *others,
    }

    assert [name for name in sorted(listed) if not PREDICATE_PATTERN.fullmatch(name)] == []


def test_predicates_of_the_rules_are_classified() -> None:
    """Each new predicate of the rules must be classified: single-valued, lasting, or neither."""
    read = {rule.predicate for found in load_rules().values() for rule in found}

    assert {"LIVES_IN", "WORKS_AT", "BORN_IN", "REPORTS_TO"} <= read & SINGLE_VALUED
    assert {"ATTENDED", "FOUNDED", "GRADUATED_FROM", "BOUGHT"} <= read & LASTING
    assert {"LIKES", "SPEAKS", "HAS_PET", "OWNS", "USES"} <= read - SINGLE_VALUED - LASTING


@pytest.mark.parametrize(
    ("said", "one"),
    [
        (fact("LIVES_IN"), True),
        (fact("lives_in"), True),
        (fact("LIKES"), False),
        (fact("PREFERS"), False),
        (fact("PREFERS", aspect="color"), True),
        (fact("NEVER_HEARD_OF"), False),
        (fact("theme", exact=True), True),
    ],
)
def test_single_valued_predicates(said: Fact, one: bool) -> None:
    assert is_single_valued(said) is one


def test_related_predicates() -> None:
    assert predicates_about("lives_in") == ("LIVES_IN", "MOVED_TO", "MOVING_TO")
    assert predicates_about("KNOWS") == ("KNOWS",)
    assert (
        equivalent_predicates("CHOSE")
        == equivalent_predicates("USES")
        == {"USES", "SWITCHED_TO", "CHOSE"}
    )
    assert is_contrary("LEFT", "WORKS_AT")
    assert not is_contrary("WORKS_AT", "LEFT")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The  Coffee", "coffee"),
        ("coffee any more", "coffee"),
        ("blue, now", "blue"),
        ("knowhow", "knowhow"),
        ("her medication at 9am.", "medication at 9am"),
    ],
)
def test_values_are_compared_without_fillers(text: str, same: str) -> None:
    assert normalize_phrase(text) == same


def test_non_text_values_are_compared_exactly() -> None:
    assert normalize_fact_value(fact("AGE", 7)) != normalize_fact_value(fact("AGE", "8"))
    assert normalize_fact_value(fact("theme", "The Dark", exact=True)) != normalize_fact_value(
        fact("theme", "dark", exact=True)
    )
    assert normalize_fact_value(fact("HAS", {"b": 1, "a": 2})) == normalize_fact_value(
        fact("HAS", {"a": 2, "b": 1})
    )


@pytest.mark.parametrize(
    ("denial", "value", "denied"),
    [
        (fact("USES", "MySQL", negated=True), "mysql for the backend", True),
        (fact("LIKES", "coffee", negated=True), "coffee ice cream", False),
        (fact("QUIT", "my job at Google"), "google", True),
        (fact("QUIT", "smoking"), "google", False),
        (fact("QUIT", "my job"), "google", True),
        (fact("WORKS_AT", None, negated=True), "google", True),
    ],
)
def test_denial_applies_to_its_value(denial: Fact, value: str, denied: bool) -> None:
    assert denies_value(denial, value) is denied
