"""Who gets how many tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.compose.budget import (
    IN_A_ROW,
    PRIORITY,
    STEADY,
    Offer,
    Share,
    share,
    shortened,
    value,
)
from nexus.core.context import Item
from nexus.core.part import Part


def words(item: Item, _part: Part = Part.RECALL) -> int:
    """A token for each word."""
    return len(item.text.split())


def item(id: str, length: int, worth: float = 0.5) -> Item:
    made = Item(text=" ".join(["word"] * length), id=id, worth=worth)
    return replace(made, tokens=words(made))


def offer(part: Part, *items: Item, budget: int = 0, floor: int = 0, heading: int = 0) -> Offer:
    return Offer(part=part, items=items, budget=budget, floor=floor, heading=heading)


def ids(shares: dict[Part, Share], part: Part) -> list[str]:
    return [each.id for each in shares[part].items] if part in shares else []


@some.composite
def offers(draw: some.DrawFn) -> list[Offer]:
    parts = draw(some.lists(some.sampled_from(Part), unique=True))
    made = []
    for part in parts:
        drawn = draw(some.lists(some.tuples(some.integers(1, 120), some.floats(0, 1)), max_size=12))
        items = [item(f"{part}{n}", length, worth) for n, (length, worth) in enumerate(drawn)]
        room = {name: draw(some.integers(0, 300)) for name in ("budget", "floor")}
        made.append(offer(part, *items, **room, heading=draw(some.integers(0, 8))))
    return made


@pytest.mark.requirement("D17", "X11")
@given(offers(), some.integers(0, 900))
def test_the_total_is_never_exceeded_and_every_item_is_shown_or_cut(
    given_offers: list[Offer], total: int
) -> None:
    shares, cut = share(given_offers, total, words)

    assert sum(each.tokens for each in shares.values()) <= total
    for each in given_offers:
        shown = set(ids(shares, each.part))
        gone = {one.id for one in cut if one.part is each.part}
        assert shown | gone == {one.id for one in each.items}
        assert not shown & gone
        heading = each.heading if shown else 0
        assert shares[each.part].tokens == heading + sum(
            words(one) for one in shares[each.part].items
        )


@given(offers(), some.integers(0, 900))
def test_floors_are_kept_when_they_fit_at_all(given_offers: list[Offer], total: int) -> None:
    shares, _ = share(given_offers, total, words)

    if sum(min(each.floor, each.need) for each in given_offers) <= total:
        for each in given_offers:
            if each.need <= each.floor:
                assert len(shares[each.part].items) == len(each.items)


@given(offers(), some.integers(0, 900))
def test_nothing_that_fits_is_left_out_while_worse_is_kept(
    given_offers: list[Offer], total: int
) -> None:
    shares, cut = share(given_offers, total, words)
    left = total - sum(each.tokens for each in shares.values())
    for each in given_offers:
        if each.part in IN_A_ROW or each.part in STEADY:
            continue
        gone = {one.id for one in cut if one.part is each.part}
        whole = {one.id for one in shares[each.part].items if one in each.items}
        for missed in (one for one in each.items if one.id in gone):
            for kept in (one for one in each.items if one.id in whole):
                if value(kept) < value(missed):
                    assert missed.tokens > kept.tokens + left


def test_what_a_section_leaves_flows_to_the_next() -> None:
    recalled = [item(f"hit{n}", 50) for n in range(10)]
    wanted = [
        offer(Part.FACTS, item("fact", 10), budget=200),
        offer(Part.RECALL, *recalled, budget=100),
        offer(Part.ACTIVITY, *[item(f"today{n}", 50) for n in range(10)], budget=100),
    ]

    shares, _ = share(wanted, 400, words)

    assert len(shares[Part.RECALL].items) == 5  # 100 of its own, and 190 the facts left
    assert len(shares[Part.ACTIVITY].items) == 2


def test_the_most_for_its_length_is_kept() -> None:
    long, short = item("long", 60, worth=0.6), item("short", 10, worth=0.5)

    shares, cut = share([offer(Part.RECALL, long, short, budget=65)], 65, words)

    assert ids(shares, Part.RECALL) == ["short"]
    assert [(each.id, each.why) for each in cut] == [("long", "budget")]


def test_items_stand_in_the_order_they_were_offered() -> None:
    old, new = item("old", 10, worth=0.1), item("new", 10, worth=0.9)

    shares, _ = share([offer(Part.LANDMARKS, old, new, budget=100)], 100, words)

    assert ids(shares, Part.LANDMARKS) == ["old", "new"]


def test_the_window_keeps_the_newest_without_a_gap() -> None:
    said = [item("1", 5), item("2", 90), item("3", 5), item("4", 5)]

    shares, _ = share([offer(Part.WINDOW, *said, floor=50)], 50, words)

    assert ids(shares, Part.WINDOW) == ["3", "4"]


def test_what_stands_first_does_not_depend_on_what_the_question_brings() -> None:
    steady = [
        offer(Part.LANDMARKS, *[item(f"l{n}", 30) for n in range(9)], budget=100, floor=50),
        offer(Part.PROFILE, *[item(f"p{n}", 30) for n in range(9)], budget=60, floor=30),
    ]
    recalled = offer(Part.RECALL, *[item(f"r{n}", 30) for n in range(9)], budget=200)

    alone, _ = share(steady, 400, words)
    beside, _ = share([*steady, recalled], 400, words)

    assert alone[Part.LANDMARKS] == beside[Part.LANDMARKS]
    assert alone[Part.PROFILE] == beside[Part.PROFILE]


def test_a_long_item_is_cut_at_a_sentence() -> None:
    text = "The ledger goes to PostgreSQL. " * 10 + "And that was all there was to say about it."
    long = Item(text=text, id="long", tokens=len(text.split()))

    piece = shortened(long, 26, Part.RECALL, words)

    assert piece is not None
    assert piece.text.endswith("PostgreSQL. …")
    assert piece.tokens <= 26
    assert shortened(long, 10, Part.RECALL, words) is None  # of so little nothing is understood


def test_a_long_item_without_sentences_is_cut_between_words() -> None:
    piece = shortened(item("long", 100), 30, Part.RECALL, words)

    assert piece is not None
    assert piece.text.endswith("word…")
    assert 20 <= piece.tokens <= 30


def test_every_section_has_its_place_in_the_order() -> None:
    assert set(PRIORITY) == set(Part)
