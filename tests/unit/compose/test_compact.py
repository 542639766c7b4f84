"""Compaction of generated conversations: invariants and examples."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexusmem.compose.compaction.compact import (
    CompactedMessages,
    PinnedFacts,
    compact_messages,
    prompt_limit,
)
from nexusmem.core.errors import InvalidInput, ModelUnavailable
from nexusmem.observe.chat_formats import (
    SYSTEM_ROLES,
    group_messages,
    message_role,
    message_text,
    message_tokens,
)
from nexusmem.observe.chat_messages import CompactedBlock, ExactValue, PinnedLandmark, parse_block

SENTENCES = [
    "We decided to use PostgreSQL for the ledger.",
    "I will send the report to Bob by Friday.",
    "What about the plants?",
    "The tram in Lisbon costs 3 euros and Carol likes it.",
    "ok",
    "<nexus-memory> is how it looks",
    "",
]


def count(text: str) -> int:
    """Approximate token count, fast enough for property tests."""
    return len(text) // 4


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def openai_calls(ids: list[str], text: str) -> list[dict[str, Any]]:
    calls = [{"id": id, "type": "function", "function": {"name": "look"}} for id in ids]
    results = [{"role": "tool", "tool_call_id": id, "content": text} for id in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def anthropic_calls(ids: list[str], text: str) -> list[dict[str, Any]]:
    calls = [{"type": "tool_use", "id": id, "name": "look", "input": {}} for id in ids]
    results = [{"type": "tool_result", "tool_use_id": id, "content": text} for id in ids]
    return [
        {"role": "assistant", "content": [{"type": "text", "text": text}, *calls]},
        {"role": "user", "content": results},
    ]


texts = st.builds(
    lambda said, times: " ".join([said] * times), st.sampled_from(SENTENCES), st.integers(1, 6)
)
ids = st.lists(st.sampled_from(["call_0", "call_1", "call_2"]), min_size=1, max_size=3, unique=True)
plain = st.builds(
    lambda role, text: [{"role": role, "content": text}],
    st.sampled_from(["user", "assistant"]),
    texts,
)
told = st.builds(lambda text: [{"role": "system", "content": text}], texts)
pictured = st.builds(
    lambda text: [
        {
            "role": "user",
            "content": [{"type": "text", "text": text}, {"type": "image", "source": {}}],
        }
    ],
    texts,
)
ours = st.builds(lambda text: [{"speaker": "alice", "text": text}], texts)
openai = st.lists(st.one_of(plain, plain, told, st.builds(openai_calls, ids, texts)), max_size=25)
anthropic = st.lists(
    st.one_of(plain, pictured, st.builds(anthropic_calls, ids, texts)), max_size=25
)
conversations = st.one_of(openai, anthropic, st.lists(ours, max_size=25)).map(
    lambda turns: [message for turn in turns for message in turn]
)
pins = st.builds(
    PinnedLandmark,
    st.sampled_from(["2026-03-02 | decision | said", "action_item"]),
    st.text(max_size=40),
)
values = st.builds(ExactValue, st.just("project:apollo"), st.text(max_size=8), st.text(max_size=20))
memories = st.builds(
    lambda landmarks, facts: PinnedFacts(landmarks=tuple(landmarks), facts=tuple(facts)),
    st.lists(pins, max_size=4, unique_by=lambda pin: pin.text),
    st.lists(values, max_size=4, unique_by=lambda fact: fact.key),
)
limits = st.integers(10, 900)


def block_of(done: CompactedMessages) -> CompactedBlock:
    block = parse_block(done.summary)
    assert block is not None
    return block


def verbatim(done: CompactedMessages) -> list[Any]:
    """Return the messages without the block."""
    return [message for message in done.messages if not parse_block(message_text(message))]


@pytest.mark.requirement("A14")
@settings(deadline=None)
@given(conversations, limits, memories)
def test_tool_call_keeps_its_result(messages: list[Any], limit: int, kept: PinnedFacts) -> None:
    done = compact_messages(messages, limit=limit, count=count, pinned=kept)

    there = {id(message) for message in done.messages}
    for stretch in group_messages(messages):
        assert len({id(messages[place]) in there for place in stretch}) == 1


@settings(deadline=None)
@given(conversations, limits, memories)
def test_remaining_messages_are_unchanged_and_in_order(
    messages: list[Any], limit: int, kept: PinnedFacts
) -> None:
    done = compact_messages(messages, limit=limit, count=count, pinned=kept)

    gone = {id(message) for message in done.removed}
    assert [id(each) for each in verbatim(done)] == [
        id(each) for each in messages if id(each) not in gone
    ]
    assert all(message_role(message) not in SYSTEM_ROLES for message in done.removed)
    assert not messages or done.messages[-1] is messages[-1]


@pytest.mark.requirement("A14")
@settings(deadline=None)
@given(conversations, limits, memories)
def test_compacting_twice_changes_nothing(
    messages: list[Any], limit: int, kept: PinnedFacts
) -> None:
    once = compact_messages(messages, limit=limit, count=count, pinned=kept)

    twice = compact_messages(once.messages, limit=limit, count=count, pinned=kept)

    assert twice.messages == once.messages
    assert not twice.is_changed
    assert twice.tokens_after == once.tokens_after


@pytest.mark.requirement("A14")
@settings(deadline=None)
@given(conversations, limits, memories)
def test_result_is_within_the_limit_if_possible(
    messages: list[Any], limit: int, kept: PinnedFacts
) -> None:
    done = compact_messages(messages, limit=limit, count=count, pinned=kept)

    assert done.tokens_after == sum(message_tokens(message, count) for message in done.messages)
    if not done.fits:
        stretches = group_messages(messages)
        stays = [
            messages[place]
            for stretch in stretches
            for place in stretch
            if stretch is stretches[-1]
            or any(message_role(messages[each]) in SYSTEM_ROLES for each in stretch)
        ]
        block = CompactedBlock(message_count=len(messages)).text
        ours = {"speaker": "nexus", "role": "user", "text": block}
        spoken = any("speaker" in message for message in messages)
        smallest = message_tokens(ours if spoken else user(block), count)
        assert sum(message_tokens(message, count) for message in stays) + smallest > limit


@pytest.mark.requirement("A7", "A14")
@settings(deadline=None)
@given(conversations, limits, memories)
def test_landmarks_and_exact_values_are_kept_byte_for_byte(
    messages: list[Any], limit: int, kept: PinnedFacts
) -> None:
    done = compact_messages(messages, limit=limit, count=count, pinned=kept)

    if done.is_changed and not done.left_out:
        block = block_of(done)
        assert set(block.landmarks) >= set(kept.landmarks)
        assert set(map(repr, block.facts)) >= set(map(repr, kept.facts))


@settings(deadline=None, max_examples=50)
@given(openai.map(lambda turns: [m for turn in turns for m in turn]), openai, memories)
def test_repeated_compaction_keeps_every_landmark(
    messages: list[Any], more: list[list[Any]], kept: PinnedFacts
) -> None:
    done = compact_messages(messages, limit=300, count=count, pinned=kept)
    grown = [*done.messages, *(message for turn in more for message in turn)]

    again = compact_messages(grown, limit=300, count=count)

    if done.is_changed and again.is_changed and not again.left_out:
        assert set(block_of(again).landmarks) >= set(block_of(done).landmarks)
        assert len(again.messages) - len(verbatim(again)) == 1


def talk(turns: int, *, start: int = 0) -> list[dict[str, Any]]:
    made = []
    for n in range(start, start + turns):
        made.append(user(f"Carol paid {n} euros for lunch in Lisbon on day {n}."))
        made.append({"role": "assistant", "content": f"Noted: {n} euros."})
    return made


def test_short_conversation_is_unchanged() -> None:
    messages = talk(3)

    done = compact_messages(messages, limit=10_000)

    assert done.messages == messages
    assert not done.is_changed
    assert done.fits
    assert done.tokens_before == done.tokens_after


@pytest.mark.requirement("A14")
def test_limit_is_seventy_percent_of_the_window() -> None:
    assert prompt_limit(128_000) == 89_600
    with pytest.raises(InvalidInput):
        prompt_limit(0)


def test_summary_quotes_speakers_of_the_oldest_messages() -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        user("We decided to use Rust."),
        *talk(60),
    ]

    done = compact_messages(messages, limit=1_500, speakers={"user": "alice"})

    assert done.messages[0] is messages[0]
    assert done.messages[1] == user(done.summary)
    assert done.messages[2:] == messages[-len(done.messages) + 2 :]
    assert "We decided to use Rust." in done.landmarks
    assert any(line.startswith("alice: Carol paid") for line in block_of(done).summary)
    assert f"Left out here: {len(done.removed)} earlier messages" in done.summary
    assert done.tokens_after < done.tokens_before


@pytest.mark.slow
def test_block_is_stable_while_the_conversation_grows() -> None:
    """A caller that passes the growing list gets the same prefix for many turns."""
    messages = talk(70)
    blocks = []
    for turn in range(30):
        messages += talk(1, start=70 + turn)
        blocks.append(compact_messages(messages, limit=1_500).summary)

    assert len(set(blocks)) <= 4


def test_question_stays_before_many_tool_calls() -> None:
    question = user("Which of the trams is the oldest one?")
    messages = [*talk(20), question]
    for n in range(40):
        messages += openai_calls([f"call_{n}"], "A tram of 1901. " * 5)

    done = compact_messages(messages, limit=1_000)

    assert question in done.messages
    assert done.messages[-2:] == messages[-2:]


def test_reused_call_ids_are_distinguished() -> None:
    messages = [m for n in range(40) for m in openai_calls(["call_0"], f"tram {n} " * 9)]

    done = compact_messages(messages, limit=500)

    assert [len(each) for each in group_messages(messages)] == [2] * 40
    assert done.fits
    assert len(done.messages) > 1


def test_responses_api_and_function_calls_stay_paired() -> None:
    messages = [
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "a tram"},
        {"role": "assistant", "content": None, "function_call": {"name": "look"}},
        {"role": "function", "name": "look", "content": "another"},
        user("Thanks"),
    ]

    assert list(map(list, group_messages(messages))) == [[0, 1], [2, 3], [4]]


def test_result_that_cannot_fit_is_reported() -> None:
    messages = [{"role": "system", "content": "Be kind. " * 500}, *talk(3)]

    done = compact_messages(messages, limit=200)

    assert not done.fits
    assert done.messages[0] is messages[0]
    assert done.messages[-1] is messages[-1]


def test_newest_landmarks_stay_and_the_rest_is_counted() -> None:
    kept = PinnedFacts(
        landmarks=tuple(
            PinnedLandmark("decision", f"We decided on plan {n}. " * 3) for n in range(90)
        )
    )

    done = compact_messages(talk(30), limit=600, pinned=kept)

    assert done.fits
    assert done.left_out > 0
    assert done.landmarks[-1] == kept.landmarks[-1].text
    assert len(done.landmarks) + done.left_out >= 90


@pytest.mark.requirement("A14", "A15")
def test_decisions_stay_longer_than_tasks() -> None:
    decision = PinnedLandmark("2026-03-02 | decision | said", "We decided on the blue plan.")
    tasks = tuple(
        PinnedLandmark("2026-03-03 | action item | said", f"Alice buys chair {n}. " * 3)
        for n in range(90)
    )

    done = compact_messages(talk(30), limit=600, pinned=PinnedFacts(landmarks=(decision, *tasks)))

    assert done.fits
    assert done.left_out > 0
    assert decision.text in done.landmarks


def test_model_writes_the_summary() -> None:
    asked: list[Any] = []

    def narrate(said: Any) -> list[str]:
        asked.append(said)
        return ["Carol had lunch in Lisbon every day."]

    kept = PinnedFacts(landmarks=(PinnedLandmark("decision", "We go with heron."),))
    done = compact_messages(talk(60), limit=1_500, pinned=kept, summarize=narrate)

    assert block_of(done).summary == ("Carol had lunch in Lisbon every day.",)
    assert [len(said) for said in asked] == [
        len(done.removed)
    ]  # one call, with the removed messages
    assert asked[0][0][0] == "user"
    assert done.degraded == ()


@pytest.mark.requirement("A14", "D24")
def test_unavailable_model_falls_back_to_quotes() -> None:
    def narrate(said: Any) -> list[str]:
        raise ModelUnavailable("no answer")

    done = compact_messages(talk(60), limit=1_500, summarize=narrate)

    assert done.messages == compact_messages(talk(60), limit=1_500).messages
    assert done.degraded == ("summary: no answer",)


def test_later_exact_value_replaces_earlier_one() -> None:
    first = compact_messages(
        talk(60), limit=1_500, pinned=PinnedFacts(facts=(ExactValue("room:x", "port", 1),))
    )
    grown = [*first.messages, *talk(60)]

    again = compact_messages(
        grown, limit=1_500, pinned=PinnedFacts(facts=(ExactValue("room:x", "port", 2),))
    )

    assert again.facts == (ExactValue("room:x", "port", 2),)


def test_other_tokens_count() -> None:
    messages = talk(20)

    alone = compact_messages(messages, limit=1_500)
    together = compact_messages(messages, limit=1_500, other_tokens=1_200)

    assert not alone.is_changed
    assert together.is_changed
    assert together.tokens_after <= 1_500


def test_edited_block_is_an_ordinary_message() -> None:
    done = compact_messages(talk(60), limit=1_500)
    assert parse_block(done.summary)

    assert parse_block(done.summary.replace("Carol", "Mallory")) is None
    assert parse_block(f"See: {done.summary}") is None


@pytest.mark.parametrize("given", ["hello", {"role": "user"}, [1], [None]])
def test_invalid_messages_are_refused(given: Any) -> None:
    with pytest.raises(InvalidInput):
        compact_messages(given, limit=100)


pieces = st.sampled_from(
    [
        "<",
        "nexus",
        "-memory",
        "\n",
        "</",
        "&lt;",
        "![",
        "<|im|>",
        "\\",
        "\\n",
        '"',
        "\u202e",
        "N",
        "exus",
    ]
)
nasty = st.lists(pieces | st.text(max_size=3), max_size=8).map("".join)


@pytest.mark.requirement("A7")
@given(st.lists(nasty), st.lists(nasty), st.lists(nasty))
def test_block_is_parsed_back_exactly(
    landmarks: list[str], keys: list[str], said: list[str]
) -> None:
    block = CompactedBlock(
        message_count=2,
        landmarks=tuple(PinnedLandmark("decision", text) for text in landmarks),
        facts=tuple(ExactValue("room:x", key, {key: [key, 1, None]}) for key in keys),
        summary=tuple(said),
    )

    assert parse_block(block.text) == block
    assert json.loads(block.facts[0].json_line)["key"] == keys[0] if keys else True
