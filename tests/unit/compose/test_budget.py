"""Token budget: shares of sections and shortened items."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.compose.budget import (
    CONTIGUOUS_SECTIONS,
    PRIORITY,
    STABLE_SECTIONS,
    SectionOffer,
    SectionShare,
    share_budget,
    shorten_item,
    worth_per_token,
)
from nexusmem.compose.sections import SECTIONS_BY_NAME
from nexusmem.core.records.context import ContextItem


def words(item: ContextItem, _part: str = "recall") -> int:
    """Count one token for each word."""
    return len(item.text.split())


def item(id: str, length: int, worth: float = 0.5) -> ContextItem:
    made = ContextItem(text=" ".join(["word"] * length), id=id, worth=worth)
    return replace(made, tokens=words(made))


def offer(
    part: str, *items: ContextItem, budget: int = 0, floor: int = 0, heading: int = 0
) -> SectionOffer:
    return SectionOffer(part=part, items=items, budget=budget, floor=floor, heading_tokens=heading)


def ids(shares: dict[str, SectionShare], part: str) -> list[str]:
    return [each.id for each in shares[part].items] if part in shares else []


@some.composite
def offers(draw: some.DrawFn) -> list[SectionOffer]:
    parts = draw(some.lists(some.sampled_from(list(SECTIONS_BY_NAME)), unique=True))
    made = []
    for part in parts:
        drawn = draw(some.lists(some.tuples(some.integers(1, 120), some.floats(0, 1)), max_size=12))
        items = [item(f"{part}{n}", length, worth) for n, (length, worth) in enumerate(drawn)]
        room = {name: draw(some.integers(0, 300)) for name in ("budget", "floor")}
        made.append(offer(part, *items, **room, heading=draw(some.integers(0, 8))))
    return made


@pytest.mark.requirement("D17", "X11")
@given(offers(), some.integers(0, 900))
def test_total_is_not_exceeded_and_every_item_is_shown_or_cut(
    given_offers: list[SectionOffer], total: int
) -> None:
    shares, cut = share_budget(given_offers, total, words)

    assert sum(each.tokens for each in shares.values()) <= total
    for each in given_offers:
        shown = set(ids(shares, each.part))
        gone = {one.id for one in cut if one.part == each.part}
        assert shown | gone == {one.id for one in each.items}
        assert not shown & gone
        heading = each.heading_tokens if shown else 0
        assert shares[each.part].tokens == heading + sum(
            words(one) for one in shares[each.part].items
        )


@given(offers(), some.integers(0, 900))
def test_floors_are_reserved_if_they_fit(given_offers: list[SectionOffer], total: int) -> None:
    shares, _ = share_budget(given_offers, total, words)

    if sum(min(each.floor, each.needed_tokens) for each in given_offers) <= total:
        for each in given_offers:
            if each.needed_tokens <= each.floor:
                assert len(shares[each.part].items) == len(each.items)


@given(offers(), some.integers(0, 900))
def test_no_better_item_that_fits_is_cut(given_offers: list[SectionOffer], total: int) -> None:
    shares, cut = share_budget(given_offers, total, words)
    left = total - sum(each.tokens for each in shares.values())
    for each in given_offers:
        if each.part in CONTIGUOUS_SECTIONS or each.part in STABLE_SECTIONS:
            continue
        gone = {one.id for one in cut if one.part == each.part}
        whole = {one.id for one in shares[each.part].items if one in each.items}
        for missed in (one for one in each.items if one.id in gone):
            for kept in (one for one in each.items if one.id in whole):
                if worth_per_token(kept) < worth_per_token(missed):
                    assert missed.tokens > kept.tokens + left


def test_leftovers_flow_to_the_next_section() -> None:
    recalled = [item(f"hit{n}", 50) for n in range(10)]
    wanted = [
        offer("facts", item("fact", 10), budget=200),
        offer("recall", *recalled, budget=100),
        offer("activity", *[item(f"today{n}", 50) for n in range(10)], budget=100),
    ]

    shares, _ = share_budget(wanted, 400, words)

    assert len(shares["recall"].items) == 5  # its cap of 100, and 190 left by the facts
    assert len(shares["activity"].items) == 2


def test_items_with_most_worth_per_token_are_chosen() -> None:
    long, short = item("long", 60, worth=0.6), item("short", 10, worth=0.5)

    shares, cut = share_budget([offer("recall", long, short, budget=65)], 65, words)

    assert ids(shares, "recall") == ["short"]
    assert [(each.id, each.why) for each in cut] == [("long", "budget")]


def test_items_keep_their_order() -> None:
    old, new = item("old", 10, worth=0.1), item("new", 10, worth=0.9)

    shares, _ = share_budget([offer("landmarks", old, new, budget=100)], 100, words)

    assert ids(shares, "landmarks") == ["old", "new"]


def test_window_keeps_the_newest_items_without_a_gap() -> None:
    said = [item("1", 5), item("2", 90), item("3", 5), item("4", 5)]

    shares, _ = share_budget([offer("window", *said, floor=50)], 50, words)

    assert ids(shares, "window") == ["3", "4"]


def test_stable_sections_do_not_depend_on_other_sections() -> None:
    steady = [
        offer("landmarks", *[item(f"l{n}", 30) for n in range(9)], budget=100, floor=50),
        offer("profile", *[item(f"p{n}", 30) for n in range(9)], budget=60, floor=30),
    ]
    recalled = offer("recall", *[item(f"r{n}", 30) for n in range(9)], budget=200)

    alone, _ = share_budget(steady, 400, words)
    beside, _ = share_budget([*steady, recalled], 400, words)

    assert alone["landmarks"] == beside["landmarks"]
    assert alone["profile"] == beside["profile"]


def test_long_item_is_cut_at_a_sentence() -> None:
    text = "The ledger goes to PostgreSQL. " * 10 + "And that was all there was to say about it."
    long = ContextItem(text=text, id="long", tokens=len(text.split()))

    piece = shorten_item(long, 26, "recall", words)

    assert piece is not None
    assert piece.text.endswith("PostgreSQL. …")
    assert piece.tokens <= 26
    assert shorten_item(long, 10, "recall", words) is None  # below MIN_PIECE_TOKENS


def test_long_item_without_sentences_is_cut_between_words() -> None:
    piece = shorten_item(item("long", 100), 30, "recall", words)

    assert piece is not None
    assert piece.text.endswith("word…")
    assert 20 <= piece.tokens <= 30


def test_every_section_has_a_priority() -> None:
    assert set(PRIORITY) == set(SECTIONS_BY_NAME)


@pytest.mark.requirement("X11", "D17")
def test_answer_comes_first_if_the_floors_do_not_fit() -> None:
    def offer(part: str, floor: int) -> SectionOffer:
        items = tuple(
            ContextItem(text="word", id=f"{part}{number}", tokens=30) for number in range(20)
        )
        return SectionOffer(part=part, items=items, budget=500, floor=floor)

    offers = [offer("landmarks", 250), offer("profile", 100), offer("recall", 400)]

    shares, _ = share_budget(offers, 300, lambda item, _part: item.tokens)

    assert shares["recall"].tokens >= 200
    assert shares["landmarks"].tokens > 0
    assert sum(each.tokens for each in shares.values()) <= 300
