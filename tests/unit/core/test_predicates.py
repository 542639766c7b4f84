"""What relations mean for each other, and when two values are the same."""

from __future__ import annotations

import pytest

from nexus.core.predicates import (
    ALSO_SAID_BY,
    DATED,
    DENIED_BY,
    LASTING,
    ONE_OF_AN_ASPECT,
    ONE_VALUE,
    bearing_on,
    contrary,
    denies,
    holds_one,
    plain,
    said_alike,
    value_of,
)
from nexus.core.records import Fact
from nexus.learn.explicit import PREDICATE
from nexus.learn.rules.relations import rules


def fact(predicate: str, value: object = "x", **more: object) -> Fact:
    return Fact(subject="Ann", predicate=predicate, value=value, **more)  # type: ignore[arg-type]


def test_every_listed_relation_is_written_as_relations_are() -> None:
    others = [name for table in (ALSO_SAID_BY, DENIED_BY) for row in table.values() for name in row]
    listed = {*ONE_VALUE, *ONE_OF_AN_ASPECT, *LASTING, *DATED, *ALSO_SAID_BY, *DENIED_BY, *others}

    assert [name for name in sorted(listed) if not PREDICATE.fullmatch(name)] == []


def test_what_the_rules_read_is_told_apart() -> None:
    """A new relation of the rules is looked at once: does it hold one value, or is it done?"""
    read = {rule.relation for found in rules().values() for rule in found}

    assert {"LIVES_IN", "WORKS_AT", "AGE", "SCHEDULED_FOR"} <= read & ONE_VALUE
    assert {"VISITED", "MOVED_TO", "GRADUATED_FROM", "BOUGHT"} <= read & LASTING
    assert {"LIKES", "KNOWS", "HAS_PET", "OWNS", "USES"} <= read - ONE_VALUE - LASTING


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
def test_one_value_or_many(said: Fact, one: bool) -> None:
    assert holds_one(said) is one


def test_relations_bear_on_each_other() -> None:
    assert bearing_on("lives_in") == ("LIVES_IN", "MOVED_TO", "MOVING_TO")
    assert bearing_on("KNOWS") == ("KNOWS",)
    assert said_alike("CHOSE") == said_alike("USES") == {"USES", "SWITCHED_TO", "CHOSE"}
    assert contrary("LEFT", "WORKS_AT")
    assert not contrary("WORKS_AT", "LEFT")


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
def test_values_are_compared_without_what_says_nothing(text: str, same: str) -> None:
    assert plain(text) == same


def test_other_values_are_compared_as_they_are() -> None:
    assert value_of(fact("AGE", 7)) != value_of(fact("AGE", "8"))
    assert value_of(fact("theme", "The Dark", exact=True)) != value_of(
        fact("theme", "dark", exact=True)
    )
    assert value_of(fact("HAS", {"b": 1, "a": 2})) == value_of(fact("HAS", {"a": 2, "b": 1}))


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
def test_a_denial_is_about_what_it_names(denial: Fact, value: str, denied: bool) -> None:
    assert denies(denial, value) is denied
