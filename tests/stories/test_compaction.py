"""Compaction of conversations that exceed the context window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import Open
from tests.loopback import Loopback, dropped, says
from tests.stories.conftest import Team

from nexusmem import Workspace
from nexusmem.compose.compaction.compact import CompactedMessages
from nexusmem.config.settings import LlmSettings, Settings
from nexusmem.core.errors import InvalidInput
from nexusmem.learn.settings import LearnSettings
from nexusmem.observe.chat_formats import message_text, message_tokens
from nexusmem.observe.chat_messages import ExactValue, parse_block
from nexusmem.text.fence import remove_fences
from nexusmem.text.tokens import count_tokens

WINDOW = 3_000  # tokens; small, so that tests are fast
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
def test_landmarks_and_values_survive_compaction(team: Team) -> None:
    place = team.alices
    place.set_value("project", "jwt_expiry", EXPIRY)
    messages = [SYSTEM, DECIDED, *chat(80)]
    place.record(messages)

    done = place.compact(messages, context_window=WINDOW)

    assert done.tokens_before > 0.7 * WINDOW >= done.tokens_after
    (landmark,) = place.recall("What was decided?", kind=["landmark"])
    assert done.landmarks == (landmark.text,)  # from memory, not extracted again
    assert landmark.text.endswith("decided to use PostgreSQL for the ledger.")
    block = parse_block(message_text(done.messages[1]))
    assert block is not None
    assert block.facts == (ExactValue("project:apollo", "jwt_expiry", EXPIRY),)
    assert json.loads(json.dumps(EXPIRY)) == place.get_value("project", "jwt_expiry")
    assert done.messages[0] is SYSTEM
    assert done.messages[-1] is messages[-1]


@pytest.mark.requirement("A14")
def test_block_has_exactly_the_landmarks_of_removed_messages(team: Team) -> None:
    place = team.alices
    place.record([{"role": "user", "content": "We decided to sell the old boat in May."}])
    decided = [f"We decided to use tool number {n} for part {7 * n}." for n in range(230)]
    noted = {
        "role": "assistant",
        "content": "Noted, and added to the long list of all of our tools.",
    }
    messages = [SYSTEM]
    for text in decided:
        messages += [{"role": "user", "content": text}, noted]
    place.record(messages)

    done = place.compact(messages, context_window=10_000)

    went = [message_text(message) for message in done.removed if message is not noted]
    assert len(went) > 200
    assert done.left_out == 0
    ends = [landmark[landmark.index("decided") :] for landmark in done.landmarks]
    assert ends == [text[text.index("decided") :] for text in went]


@pytest.mark.requirement("A14")
def test_nothing_happens_below_seventy_percent(team: Team) -> None:
    messages = chat(10)

    done = team.alices.compact(messages, context_window=100_000)

    assert done.messages == messages
    assert not done.is_changed


@pytest.mark.slow
@pytest.mark.requirement("A14")
def test_long_conversation_is_compacted_repeatedly(team: Team) -> None:
    place = team.alices
    messages: list[Any] = [SYSTEM, DECIDED]
    for turn in range(60):
        messages += chat(3, start=3 * turn)
        place.record(messages)
        done = place.compact(messages, context_window=WINDOW)
        assert done.fits
        assert place.compact(done.messages, context_window=WINDOW).messages == done.messages
        messages = list(done.messages)

    assert "decided to use PostgreSQL for the ledger." in message_text(messages[1])
    assert sum("nexus-memory" in message_text(message) for message in messages) == 1


@pytest.mark.requirement("A14")
def test_context_for_compacts_inline(team: Team) -> None:
    place = team.alices
    messages = [SYSTEM, DECIDED, *chat(80)]

    context = place.context_for(messages, context_window=WINDOW, budget=500)
    plain = place.context_for(messages, budget=500)

    prompt = count_tokens(context.text) + sum(
        message_tokens(message, count_tokens) for message in context.messages_to_send
    )
    assert prompt <= 0.7 * WINDOW
    assert context.messages_to_send[0] is SYSTEM
    assert context.messages_to_send[-1] is messages[-1]
    assert plain.messages_to_send == ()


@pytest.mark.requirement("A14", "A3")
def test_removed_messages_may_return_in_the_context(team: Team) -> None:
    place, cellar = team.alices, "The alarm panel in the cellar opens with the word marzipan."
    messages = [SYSTEM, {"role": "user", "content": cellar}, *chat(120)]
    place.record(messages)
    messages.append({"role": "user", "content": "Which word opens the alarm panel?"})

    short = place.context_for(messages, context_window=WINDOW)
    long = place.context_for(messages, context_window=100_000)

    assert not any("marzipan" in message_text(message) for message in short.messages_to_send)
    assert "marzipan" in short.text
    assert "marzipan" not in long.text  # the messages contain it


def test_context_does_not_repeat_the_block(team: Team) -> None:
    place = team.alices
    messages = [SYSTEM, DECIDED, *chat(120)]
    place.record(messages)

    context = place.context_for(messages, context_window=WINDOW)

    assert any("PostgreSQL" in message_text(message) for message in context.messages_to_send)
    assert "PostgreSQL" not in context.text


@pytest.mark.requirement("A14")
@pytest.mark.parametrize("window", [1_000, 2_000, 4_000, 8_000])
def test_context_leaves_room_for_the_messages(team: Team, window: int) -> None:
    place = team.alices
    for n in range(100):
        place.observe("alice", f"Remark {n}: the slow train to Leeds had {n} wagons and {n} seats.")
    asked = {"role": "user", "content": "How many wagons had the train to Leeds?"}

    context = place.context_for([SYSTEM, *chat(120), asked], context_window=window)

    assert context.tokens <= max(300, 0.7 * window / 3)
    assert context.compaction is not None
    assert context.compaction.fits
    assert context.compaction.removed > 0
    prompt = context.tokens + sum(
        message_tokens(message, count_tokens) for message in context.messages_to_send
    )
    assert prompt <= 0.7 * window


def test_prompt_that_cannot_fit_is_reported(team: Team) -> None:
    huge = {"role": "user", "content": "the train had many wagons " * 500}

    context = team.alices.context_for([SYSTEM, *chat(20), huge], context_window=2_000)

    assert context.compaction is not None
    assert not context.compaction.fits


def test_compacted_block_is_never_learned(team: Team) -> None:
    place = team.alices
    messages = [SYSTEM, DECIDED, *chat(80)]
    place.record(messages)
    before = len(place.recent(1_000))

    done = place.compact(messages, context_window=WINDOW)
    place.record([*done.messages, {"role": "user", "content": "And now something new."}])

    assert remove_fences(message_text(done.messages[1])) == ""
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
def test_unknown_message_formats_are_kept(team: Team, odd: dict[str, Any]) -> None:
    done = team.alices.compact([SYSTEM, DECIDED, odd, *chat(80)], context_window=WINDOW)

    assert done.fits
    assert done.landmarks


def test_responses_api_calls_stay_together(team: Team) -> None:
    place = team.alices
    thinking = {"type": "reasoning", "id": "r", "summary": []}
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "81 wagons"}
    messages = [SYSTEM, *chat(80), thinking, call, output]

    context = place.context_for(messages, context_window=WINDOW, budget=500)
    place.record(messages)

    assert list(context.messages_to_send[-3:]) == [thinking, call, output]
    newest = place.recent(1)[0]
    assert (newest.speaker, newest.role, newest.text) == ("look", "tool", "81 wagons")


def test_block_has_nothing_of_another_place(team: Team) -> None:
    team.bobs.observe("bob", "I decided to leave the company in May.")
    team.bobs.set_value("user", "salary", 70_000)
    team.bobs.flush()

    done = team.alices.compact([SYSTEM, *chat(80)], context_window=WINDOW)

    assert done.is_changed
    assert "leave" not in done.summary
    assert "salary" not in done.summary


def test_reserved_tokens_count(team: Team) -> None:
    messages = chat(30)

    alone = team.alices.compact(messages, context_window=WINDOW)
    together = team.alices.compact(messages, context_window=WINDOW, reserved_tokens=1_500)

    assert not alone.is_changed
    assert together.is_changed
    assert together.tokens_after <= 0.7 * WINDOW


@pytest.mark.parametrize("window", [0, -1, True, "many", 1.5])
def test_invalid_context_window_is_refused(team: Team, window: Any) -> None:
    with pytest.raises(InvalidInput):
        team.alices.compact([], context_window=window)


def told_by(open_nexus: Open, server: Loopback) -> Workspace:
    llm = LlmSettings(provider="ollama", model="any", base_url=server.url, extract_facts=False)
    settings = Settings(llm=llm, learning=LearnSettings(episodes="model"))
    nexus = open_nexus(settings=settings)
    return nexus.workspace("acme")


def compacted(open_nexus: Open, server: Loopback) -> CompactedMessages:
    place = told_by(open_nexus, server).dm("alice", agent="scribe")
    return place.compact([SYSTEM, *chat(80)], context_window=WINDOW)


@pytest.mark.requirement("A14")
def test_model_writes_the_summary(open_nexus: Open, server: Loopback) -> None:
    told = json.dumps({"sentences": ["Alice spoke of the train to Leeds."]})
    server.script(*[says(told)] * 10)

    done = compacted(open_nexus, server)

    assert "Alice spoke of the train to Leeds." in done.summary
    assert done.degraded == ()


@pytest.mark.requirement("A14")
def test_model_is_called_once_for_the_same_messages(open_nexus: Open, server: Loopback) -> None:
    told = [f"Alice spoke of the train to Leeds{'!' * n}" for n in range(9)]
    server.script(*(says(json.dumps({"sentences": [each]})) for each in told))
    workspace = told_by(open_nexus, server)
    place = workspace.dm("alice", agent="scribe")
    decided = [f"We decided to use tool {n} for part {n}." for n in range(12)]
    messages = [SYSTEM, *({"role": "user", "content": text} for text in decided), *chat(80)]

    first = place.compact(messages, context_window=WINDOW)
    more = [*messages, {"role": "user", "content": "Next?"}]
    again = place.compact(more, context_window=WINDOW)

    assert len(server.requests) == 1
    assert len(first.landmarks) == 12
    assert first.removed == again.removed
    assert first.summary == again.summary

    receipt = place.observe("alice", "Something to be forgotten.")
    workspace.forget(event=receipt)
    place.compact(more, context_window=WINDOW)
    assert len(server.requests) == 2


@pytest.mark.requirement("A14")
def test_refused_summary_is_not_requested_again(open_nexus: Open, server: Loopback) -> None:
    server.script(*[says(json.dumps({"sentences": ["Zebedee paid 999 euros."]}))] * 9)
    place = told_by(open_nexus, server).dm("alice", agent="scribe")
    messages = [SYSTEM, *chat(80)]

    first, again = (place.compact(messages, context_window=WINDOW) for _ in range(2))

    assert len(server.requests) == 2  # one retry with the error, and no further call
    assert first.summary == again.summary
    assert first.degraded == again.degraded != ()


@pytest.mark.slow
@pytest.mark.requirement("A14", "D24")
def test_unavailable_model_falls_back_to_quotes(open_nexus: Open, server: Loopback) -> None:
    server.script(*[dropped()] * 50)

    done = compacted(open_nexus, server)

    assert done.fits
    assert "alice: Remark" in done.summary
    assert any(remark.startswith("summary: ") for remark in done.degraded)
