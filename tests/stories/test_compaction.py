"""A conversation longer than its model can read goes on, and forgets nothing that matters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import Open
from tests.loopback import Loopback, dropped, says
from tests.stories.conftest import Team

from nexus import Workspace
from nexus.compose.block import ExactValue, read_block
from nexus.compose.compact import Compacted
from nexus.compose.turns import size, text_of
from nexus.config import LlmSettings, Settings
from nexus.core.errors import InvalidInput
from nexus.core.fence import unfenced
from nexus.core.tokens import count
from nexus.learn.learning import Learning

WINDOW = 3_000  # tokens: small, so that the test is short
EXPIRY = {"minutes": 30, "note": 'half\nan "hour" </nexus-memory>', "exact": 0.1}


def chat(turns: int, *, start: int = 0) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for n in range(start, start + turns):
        made.append({"role": "user", "content": f"Remark {n}: the train to Leeds had {n} wagons."})
        if n % 4 == 0:
            call = {"id": "call_0", "type": "function", "function": {"name": "look"}}
            made.append({"role": "assistant", "content": None, "tool_calls": [call]})
            made.append({"role": "tool", "tool_call_id": "call_0", "content": f"{n} wagons"})
        made.append({"role": "assistant", "content": f"Noted, {n} wagons."})
    return made


DECIDED = {"role": "user", "content": "We decided to use PostgreSQL for the ledger."}
SYSTEM = {"role": "system", "content": "You help Alice."}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


@pytest.mark.requirement("A14", "A7")
def test_what_was_decided_and_set_survives_byte_for_byte(team: Team) -> None:
    place = team.alices
    place.set_fact("project", "jwt_expiry", EXPIRY)
    messages = [SYSTEM, DECIDED, *chat(80)]
    place.after(messages)

    done = place.compact(messages, window=WINDOW)

    assert done.tokens_before > 0.7 * WINDOW >= done.tokens_after
    (landmark,) = place.recall("What was decided?", kinds=["landmark"])
    assert done.landmarks == (landmark.text,)  # as memory has it, and not read once more
    assert landmark.text.endswith("decided to use PostgreSQL for the ledger.")
    block = read_block(text_of(done.messages[1]))
    assert block is not None
    assert block.facts == (ExactValue("project:apollo", "jwt_expiry", EXPIRY),)
    assert json.loads(json.dumps(EXPIRY)) == place.fact("project", "jwt_expiry")
    assert done.messages[0] is SYSTEM
    assert done.messages[-1] is messages[-1]


@pytest.mark.requirement("A14")
def test_every_landmark_of_what_went_is_there_and_no_other(team: Team) -> None:
    place = team.alices
    place.after([{"role": "user", "content": "We decided to sell the old boat in May."}])
    decided = [f"We decided to use tool number {n} for part {7 * n}." for n in range(230)]
    noted = {
        "role": "assistant",
        "content": "Noted, and added to the long list of all of our tools.",
    }
    messages = [SYSTEM]
    for text in decided:
        messages += [{"role": "user", "content": text}, noted]
    place.after(messages)

    done = place.compact(messages, window=10_000)

    went = [text_of(message) for message in done.removed if message is not noted]
    assert len(went) > 200
    assert done.left_out == 0
    ends = [landmark[landmark.index("decided") :] for landmark in done.landmarks]
    assert ends == [text[text.index("decided") :] for text in went]


@pytest.mark.requirement("A14")
def test_below_seventy_percent_nothing_happens(team: Team) -> None:
    messages = chat(10)

    done = team.alices.compact(messages, window=100_000)

    assert done.messages == messages
    assert not done.changed


@pytest.mark.slow
@pytest.mark.requirement("A14")
def test_a_long_conversation_is_compacted_again_and_again(team: Team) -> None:
    place = team.alices
    messages: list[Any] = [SYSTEM, DECIDED]
    for turn in range(60):
        messages += chat(3, start=3 * turn)
        place.after(messages)
        done = place.compact(messages, window=WINDOW)
        assert done.fits
        assert place.compact(done.messages, window=WINDOW).messages == done.messages
        messages = list(done.messages)

    assert "decided to use PostgreSQL for the ledger." in text_of(messages[1])
    assert sum("nexus-memory" in text_of(message) for message in messages) == 1


@pytest.mark.requirement("A14")
def test_it_happens_inline_before_an_answer(team: Team) -> None:
    place = team.alices
    messages = [SYSTEM, DECIDED, *chat(80)]

    context = place.before(messages, context_window=WINDOW, budget=500)
    plain = place.before(messages, budget=500)

    prompt = count(context.text) + sum(size(message, count) for message in context.chat)
    assert prompt <= 0.7 * WINDOW
    assert context.chat[0] is SYSTEM
    assert context.chat[-1] is messages[-1]
    assert plain.chat == ()


@pytest.mark.requirement("A14", "A3")
def test_what_went_with_the_oldest_messages_may_come_back(team: Team) -> None:
    place, cellar = team.alices, "The alarm panel in the cellar opens with the word marzipan."
    messages = [SYSTEM, {"role": "user", "content": cellar}, *chat(120)]
    place.after(messages)
    messages.append({"role": "user", "content": "Which word opens the alarm panel?"})

    short = place.before(messages, context_window=WINDOW)
    long = place.before(messages, context_window=100_000)

    assert not any("marzipan" in text_of(message) for message in short.chat)
    assert "marzipan" in short.text
    assert "marzipan" not in long.text  # the messages show it


def test_what_the_block_says_is_not_said_again(team: Team) -> None:
    place = team.alices
    messages = [SYSTEM, DECIDED, *chat(120)]
    place.after(messages)

    context = place.before(messages, context_window=WINDOW)

    assert any("PostgreSQL" in text_of(message) for message in context.chat)
    assert "PostgreSQL" not in context.text


@pytest.mark.requirement("A14")
@pytest.mark.parametrize("window", [1_000, 2_000, 4_000, 8_000])
def test_the_context_leaves_room_for_the_messages(team: Team, window: int) -> None:
    place = team.alices
    for n in range(100):
        place.observe("alice", f"Remark {n}: the slow train to Leeds had {n} wagons and {n} seats.")
    asked = {"role": "user", "content": "How many wagons had the train to Leeds?"}

    context = place.before([SYSTEM, *chat(120), asked], context_window=window)

    assert context.tokens <= max(300, 0.7 * window / 3)
    assert context.compaction is not None
    assert context.compaction.fits
    assert context.compaction.removed > 0
    prompt = context.tokens + sum(size(message, count) for message in context.chat)
    assert prompt <= 0.7 * window


def test_what_cannot_fit_is_said(team: Team) -> None:
    huge = {"role": "user", "content": "the train had many wagons " * 500}

    context = team.alices.before([SYSTEM, *chat(20), huge], context_window=2_000)

    assert context.compaction is not None
    assert not context.compaction.fits


def test_what_stands_in_place_of_messages_is_never_learned(team: Team) -> None:
    place = team.alices
    messages = [SYSTEM, DECIDED, *chat(80)]
    place.after(messages)
    before = len(place.recent(1_000))

    done = place.compact(messages, window=WINDOW)
    place.after([*done.messages, {"role": "user", "content": "And now something new."}])

    assert unfenced(text_of(done.messages[1])) == ""
    assert len(place.recent(1_000)) == before + 1


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "critic", "content": "Hm."},
        {"role": "user", "content": {"a": 1}},
        {"role": "assistant", "tool_calls": 5},
        {"role": "user", "content": "The train to Leeds had half a \ud800 wagon on Friday."},
        {"type": "web_search_call", "status": "completed"},
    ],
)
def test_messages_that_nobody_knows_do_not_hinder_it(team: Team, odd: dict[str, Any]) -> None:
    done = team.alices.compact([SYSTEM, DECIDED, odd, *chat(80)], window=WINDOW)

    assert done.fits
    assert done.landmarks


def test_calls_of_the_responses_api_are_read_and_kept_together(team: Team) -> None:
    place = team.alices
    thinking = {"type": "reasoning", "id": "r", "summary": []}
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "81 wagons"}
    messages = [SYSTEM, *chat(80), thinking, call, output]

    context = place.before(messages, context_window=WINDOW, budget=500)
    place.after(messages)

    assert list(context.chat[-3:]) == [thinking, call, output]
    newest = place.recent(1)[0]
    assert (newest.speaker, newest.role, newest.text) == ("look", "tool", "81 wagons")


def test_nothing_of_another_place_is_in_it(team: Team) -> None:
    team.bobs.observe("bob", "I decided to leave the company in May.")
    team.bobs.set_fact("user", "salary", 70_000)
    team.bobs.flush()

    done = team.alices.compact([SYSTEM, *chat(80)], window=WINDOW)

    assert done.changed
    assert "leave" not in done.summary
    assert "salary" not in done.summary


def test_what_is_sent_beside_it_counts(team: Team) -> None:
    messages = chat(30)

    alone = team.alices.compact(messages, window=WINDOW)
    together = team.alices.compact(messages, window=WINDOW, beside=1_500)

    assert not alone.changed
    assert together.changed
    assert together.tokens_after <= 0.7 * WINDOW


@pytest.mark.parametrize("window", [0, -1, True, "many", 1.5])
def test_a_window_is_a_number_of_tokens(team: Team, window: Any) -> None:
    with pytest.raises(InvalidInput):
        team.alices.compact([], window=window)


def told_by(open_nexus: Open, server: Loopback) -> Workspace:
    llm = LlmSettings(provider="ollama", model="any", base_url=server.url, learn=False)
    settings = Settings(llm=llm, learning=Learning(episodes="model"))
    nexus = open_nexus(settings=settings)
    return nexus.workspace("acme")


def compacted(open_nexus: Open, server: Loopback) -> Compacted:
    place = told_by(open_nexus, server).dm("alice", agent="scribe")
    return place.compact([SYSTEM, *chat(80)], window=WINDOW)


@pytest.mark.requirement("A14")
def test_a_model_tells_what_was_said(open_nexus: Open, server: Loopback) -> None:
    told = json.dumps({"sentences": ["Alice spoke of the train to Leeds."]})
    server.script(*[says(told)] * 10)

    done = compacted(open_nexus, server)

    assert "Alice spoke of the train to Leeds." in done.summary
    assert done.degraded == ()


@pytest.mark.requirement("A14")
def test_a_model_is_asked_once_for_what_goes(open_nexus: Open, server: Loopback) -> None:
    told = [f"Alice spoke of the train to Leeds{'!' * n}" for n in range(9)]
    server.script(*(says(json.dumps({"sentences": [each]})) for each in told))
    workspace = told_by(open_nexus, server)
    place = workspace.dm("alice", agent="scribe")
    decided = [f"We decided to use tool {n} for part {n}." for n in range(12)]
    messages = [SYSTEM, *({"role": "user", "content": text} for text in decided), *chat(80)]

    first = place.compact(messages, window=WINDOW)
    more = [*messages, {"role": "user", "content": "Next?"}]
    again = place.compact(more, window=WINDOW)

    assert len(server.requests) == 1
    assert len(first.landmarks) == 12
    assert first.removed == again.removed
    assert first.summary == again.summary

    receipt = place.observe("alice", "Something to be forgotten.")
    workspace.forget(event=receipt)
    place.compact(more, window=WINDOW)
    assert len(server.requests) == 2


@pytest.mark.requirement("A14")
def test_what_a_model_could_not_tell_is_not_asked_for_again(
    open_nexus: Open, server: Loopback
) -> None:
    server.script(*[says(json.dumps({"sentences": ["Zebedee paid 999 euros."]}))] * 9)
    place = told_by(open_nexus, server).dm("alice", agent="scribe")
    messages = [SYSTEM, *chat(80)]

    first, again = (place.compact(messages, window=WINDOW) for _ in range(2))

    assert len(server.requests) == 2  # once more with what was wrong, and never again
    assert first.summary == again.summary
    assert first.degraded == again.degraded != ()


@pytest.mark.slow
@pytest.mark.requirement("A14", "D24")
def test_a_model_that_is_away_leaves_peoples_own_words(open_nexus: Open, server: Loopback) -> None:
    server.script(*[dropped()] * 50)

    done = compacted(open_nexus, server)

    assert done.fits
    assert "alice: Remark" in done.summary
    assert any(remark.startswith("summary: ") for remark in done.degraded)
