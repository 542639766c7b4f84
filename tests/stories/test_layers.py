"""Layers: what lies in each layer of a place, within the grant of its viewer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.stories.conftest import Team

from nexusmem.compose.layers import LAYERS
from nexusmem.core.errors import InvalidInput
from nexusmem.core.records.memory import drop_copies

DECIDED = "We decided to use PostgreSQL for the ledger."
SECRET = "Privately: I will ask for a raise on Friday."


@pytest.mark.requirement("D1")
def test_every_layer_of_an_empty_memory_is_empty(team: Team) -> None:
    for name in LAYERS:
        layer = team.room.layer(name)
        assert (layer.name, layer.title) == (name, LAYERS[name])
        assert (layer.count, layer.oldest, layer.newest, layer.examples) == (0, None, None, ())


@pytest.mark.requirement("D1")
def test_each_layer_has_counts_ages_and_examples(team: Team) -> None:
    room, start = team.room, team.clock.now
    room.add_document("The runbook says: restart the ledger at night.", key="runbook")
    team.clock.advance(minutes=1)
    told = room.observe("alice", DECIDED)
    room.set_note("deadline", "Friday")
    room.add_thought("They may mean the other ledger.")
    team.clock.advance(minutes=1)
    room.remember("The ledger has two replicas.")
    shown = room.compose("Which database did we choose for the ledger?")
    team.clock.advance(minutes=1)

    context, window, short, long, sources = (room.layer(name, examples=50) for name in LAYERS)

    ids = {item.id for section in shown.sections for item in section.items}
    assert {each.id for each in context.examples} <= ids
    assert told.event_id in {each.id for each in context.examples}
    assert {(each.kind, each.text) for each in window.examples} >= {
        ("message", DECIDED),
        ("note", 'deadline = "Friday"'),
        ("thought", "They may mean the other ledger."),
    }
    everything = team.workspace._parts.store.memories.find(room.grant)
    assert short.count + long.count == len(everything)
    shown_ids = {each.id for each in (*short.examples, *long.examples)}
    assert shown_ids == {each.id for each in drop_copies(everything)}
    assert "The ledger has two replicas." in {each.text for each in long.examples}
    assert [(each.kind, each.text) for each in sources.examples] == [
        ("document", "The runbook says: restart the ledger at night.")
    ]
    assert (sources.count, sources.oldest, sources.newest) == (1, start, start)
    for layer in (context, window, long):
        times = [each.at for each in layer.examples]
        assert times == sorted(times, reverse=True)
        assert (layer.newest, layer.oldest) == (times[0], times[-1])
        assert layer.count == len(times)


@pytest.mark.requirement("D1")
def test_examples_are_limited_and_the_count_is_not(team: Team) -> None:
    for number in range(9):
        team.clock.advance(minutes=1)
        team.room.observe("alice", f"Remark {number} about the train to Leeds was heard.")

    window, short = (team.room.layer(name, examples=2) for name in ("L1", "L2"))

    assert window.count >= 9
    assert short.count >= 9
    assert [len(each.examples) for each in (window, short)] == [2, 2]
    assert "Remark 8" in window.examples[0].text


@pytest.mark.requirement("D1")
def test_promotion_moves_a_memory_to_the_next_layer(team: Team) -> None:
    receipt = team.room.observe("alice", "Remark about the train to Leeds was heard.")
    (passage,) = [each for each in team.room.memories().items if receipt.event_id in each.sources][
        :1
    ]
    before = [team.room.layer(name).count for name in ("L2", "L3")]

    team.workspace._parts.store.memories.set_state(
        team.room.viewer.workspace, [passage.id], tier=passage.tier.LONG
    )

    after = [team.room.layer(name).count for name in ("L2", "L3")]
    assert after == [before[0] - 1, before[1] + 1]


@pytest.mark.requirement("D1", "X2")
def test_layers_show_only_what_the_viewer_may_see(team: Team) -> None:
    team.alices.observe("alice", SECRET)
    team.alices.add_document(SECRET, key="plan")
    team.alices.set_note("plan", SECRET)
    team.alices.compose("What will I ask for?")
    team.room.observe("bob", DECIDED)

    for place in (team.room, team.bobs):
        assert SECRET not in repr([place.layer(name, examples=100) for name in LAYERS])
    assert SECRET in team.alices.layer("L4").examples[0].text


@pytest.mark.requirement("D1", "X2")
def test_context_of_a_viewer_who_sees_more_is_not_shown(team: Team) -> None:
    team.room.remember("Alice likes green tea in the morning.", scope="workspace")
    wider = team.room
    narrow = team.workspace.room("design", agent="scribe", project="apollo")
    wider.observe("alice", DECIDED)
    wider.compose("Who likes tea?")

    assert wider.layer("L0").count > 0
    assert narrow.layer("L0").count == 0
    narrow.compose("Who likes tea?")
    assert narrow.layer("L0").count > 0


def test_old_context_is_no_longer_shown(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    team.room.compose("Which database?")
    team.clock.now += timedelta(days=3)

    assert team.room.layer("L0").count == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "L5"}, "L0, L1, L2, L3, L4, got 'L5'"),
        ({"name": "L1", "examples": 0}, "examples must be between 1 and 100, got 0"),
        ({"name": "L1", "examples": True}, "examples must be between 1 and 100, got True"),
    ],
)
def test_wrong_arguments_are_refused(arguments: Any, said: str, team: Team) -> None:
    with pytest.raises(InvalidInput, match=said):
        team.room.layer(**arguments)
