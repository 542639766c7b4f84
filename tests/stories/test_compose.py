"""Contexts: sections, budget, stable prefix, receipts, replay and access control."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team

from nexusmem import Nexus, NotFound, Place
from nexusmem.compose.sections import SECTIONS_BY_NAME
from nexusmem.core.errors import EmbedderUnavailable, InvalidInput
from nexusmem.core.records.context import Context, ContextReceipt
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.text.fence import remove_fences
from nexusmem.text.terms import normalize_words
from nexusmem.text.tokens import count_tokens, tokenizer_family

DECIDED = "We decided to use PostgreSQL for the ledger."
QUESTION = "Which database did we choose for the ledger?"
ALWAYS_SHOWN = {"landmarks", "profile", "awareness", "summary", "goals", "window"}


def chatter(place: Place, clock: Clock, number: int, about: str = "the train to Leeds") -> None:
    """Observe `number` unimportant messages, one per minute."""
    for turn in range(number):
        clock.advance(minutes=1)
        place.observe("bob" if turn % 2 else "alice", f"Remark {turn} about {about} was heard.")


def texts(context: Context, part: str) -> list[str]:
    return [item.text for item in context.section_items(part)]


def without_times(receipt: ContextReceipt) -> ContextReceipt:
    return replace(receipt, seconds={})


@pytest.mark.requirement("A13", "D16")
def test_context_has_header_and_sections_in_order(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    team.room.set_value("project", "jwt_expiry", "30m")
    chatter(team.room, team.clock, 60)

    context = team.room.compose(QUESTION)

    assert "Memory of scribe in room design with alice, bob" in context.text
    assert "## [RECALL] Relevant to this question" in context.text
    assert [section.part for section in context.sections] == [
        part for part in SECTIONS_BY_NAME if context.section_items(part)
    ]
    shown = {
        "landmarks",
        "facts",
        "recall",
        "window",
    }
    assert shown <= {section.part for section in context.sections}
    assert context.receipt.plan.keys() >= ALWAYS_SHOWN
    assert remove_fences(f"{context.text}\nHello.") == "Hello."


@pytest.mark.requirement("A15")
def test_decision_stays_pinned_after_many_messages(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    chatter(team.room, team.clock, 120)

    for question in ("What is the weather like?", "Hello"):
        (pinned,) = texts(team.room.compose(question), "landmarks")
        assert "PostgreSQL for the ledger" in pinned
    (pinned,) = texts(team.room.compose("And now?", budget=300), "landmarks")
    assert "PostgreSQL" in pinned


def test_replaced_decision_is_not_pinned(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    team.clock.advance(days=1)
    team.room.observe("alice", "We decided to use SQLite instead of PostgreSQL.")
    chatter(team.room, team.clock, 60)

    pinned = texts(team.room.compose(QUESTION), "landmarks")

    assert pinned == ["We decided to use SQLite instead of PostgreSQL."]


@pytest.mark.requirement("D18")
def test_context_lists_what_can_be_looked_up(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    team.room.add_document("# Runbook\n\nTurn it off and on.")
    team.room.notebook.write("plans/spring.md", "We plant tulips.")
    team.alices.add_document("# Diary\n\nDear diary.")
    crm = {"type": "function", "function": {"name": "crm_search", "parameters": {}}}

    told = texts(team.room.compose("Hello", tools=["recall", crm]), "awareness")

    assert told[0] == "Tools to look up more: recall(question) finds what was said; crm_search."
    assert told[1] == "Documents: plans/spring.md, Runbook."
    assert "room:design" in told[2]
    assert "dm:" not in told[2]
    by_chat = team.room.context_for([{"role": "user", "content": "Hello"}], tools=["recall"])
    assert by_chat.section_items("awareness")
    with pytest.raises(InvalidInput, match="a tool must be a name or a mapping with a name"):
        team.room.compose("Hello", tools=[{"type": "function"}])


@pytest.mark.requirement("D18")
def test_context_without_tools_does_not_say_what_can_be_looked_up(team: Team) -> None:
    team.room.observe("alice", DECIDED)

    with_tool = team.room.compose("Hello", tools=["recall"])
    without = team.room.compose("Hello")

    assert without.section_items("awareness") == ()
    assert "recall(question)" in with_tool.text
    assert "look up" not in without.text


def test_attached_files_are_shown_by_name(team: Team) -> None:
    files = [{"name": "plan.pdf"}, {"name": "Tr0ub4dor password is hunter2.txt"}]
    team.room.observe("alice", "Here is the garden plan for Leeds.", attachments=files)

    (line,) = texts(team.room.compose("Hi"), "window")
    chatter(team.room, team.clock, 60)
    context = team.room.compose("Where is the garden plan for Leeds?")

    assert line.startswith("Here is the garden plan for Leeds. [attached: plan.pdf, ")
    shown = " ".join(texts(context, "recall") + texts(context, "summary"))
    assert "Here is the garden plan for Leeds. [attached: plan.pdf" in shown
    assert "hunter2" not in line + shown


def test_session_summary_is_of_this_session(team: Team) -> None:
    team.room.observe("alice", "The venue in Ghent costs 900 euros on 3 May.")
    chatter(team.room, team.clock, 10)
    team.clock.advance(days=3)
    team.room.observe("alice", "The caterer from Bruges serves 40 guests on Friday.")
    chatter(team.room, team.clock, 60)

    told = " ".join(texts(team.room.compose("What comes next?"), "summary"))

    assert "Bruges" in told
    assert "Ghent" not in told


@pytest.mark.requirement("X11")
def test_turns_share_a_stable_prefix(team: Team) -> None:
    team.room.observe("alice", f"{DECIDED} I prefer short answers.")
    chatter(team.room, team.clock, 60)

    one = team.room.compose(QUESTION)
    chatter(team.room, team.clock, 1)
    team.clock.advance(hours=2)
    other = team.room.compose("How do I deploy what Tyler built yesterday?")

    assert other.text[: one.stable_prefix_length] == one.text[: one.stable_prefix_length]
    assert one.stable_prefix_length == other.stable_prefix_length
    assert "PostgreSQL" in one.text[: one.stable_prefix_length]
    assert one.messages("anthropic")[0] == other.messages("anthropic")[0]


@pytest.mark.requirement("D23", "D24")
def test_stable_sections_are_cached_between_questions(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    chatter(team.room, team.clock, 50)
    team.workspace.flush()
    first = team.room.compose("Which database did we choose?")
    second = team.room.compose("Who chose the database for the ledger?")

    assert "landmarks" in first.receipt.seconds
    assert "landmarks" not in second.receipt.seconds
    assert first.section_items("landmarks") == second.section_items("landmarks") != ()
    assert first.text[: first.stable_prefix_length] == second.text[: second.stable_prefix_length]


@pytest.mark.requirement("D23")
def test_writes_and_deletions_show_immediately(team: Team) -> None:
    told = team.room.observe("alice", DECIDED)
    chatter(team.room, team.clock, 50)
    team.workspace.flush()
    team.room.compose("Which database did we choose?")
    team.room.observe("bob", "We decided to call the product Heron.")
    chatter(team.room, team.clock, 50, about="the bus to York")
    team.workspace.flush()
    pinned = team.room.compose("What is the product called?").section_items("landmarks")
    assert any("Heron" in item.text for item in pinned)

    team.workspace.forget(event=told.event_id)
    after = team.room.compose("Which database do we use?")
    assert "PostgreSQL" not in after.text


@pytest.mark.requirement("D17")
@pytest.mark.parametrize("budget", [300, 700, 1_500, 2_500])
def test_context_stays_within_its_budget(team: Team, budget: int) -> None:
    team.room.observe("alice", DECIDED)
    chatter(team.room, team.clock, 60, about="the train; " * 24)

    for model in (None, "claude-opus-4", "gpt-5"):
        context = team.room.compose(QUESTION, budget=budget, model=model)
        assert count_tokens(context.text, tokenizer_family(model)) <= context.tokens <= budget
        assert context.tokens > 0.7 * budget  # and most of it is used
        assert any(cut.why == "budget" for cut in context.receipt.cut)


@pytest.mark.requirement("X11")
def test_nothing_is_shown_twice(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    team.room.observe("bob", "Tyler works at Anthropic.")

    question = "Where does Tyler work, and which database did we choose?"
    context = team.room.compose(question, tools=["recall"])

    assert Counter(context.text.split("\n"))[""] > 1  # only the empty line may occur twice
    lines = [line for line in context.text.split("\n") if line]
    assert len(lines) == len(set(lines))
    assert context.text.count("PostgreSQL for the ledger") == 1
    assert context.text.count("works at Anthropic") == 1
    assert {cut.why for cut in context.receipt.cut} == {"in the window"}


@pytest.mark.parametrize("budget", [300, 400, 500, 700])
def test_original_of_a_dropped_repetition_is_shown(team: Team, budget: int) -> None:
    for number in range(40):
        team.room.observe("alice", f"Bob will send the report number {number} to Dana.")
    team.clock.now += timedelta(days=2)  # the window no longer shows it
    context = team.room.compose("Who sends the report number 7 to Dana?", budget=budget)

    shown = "\n".join(normalize_words(i.text) for each in context.sections for i in each.items)
    again = [each for each in context.receipt.cut if each.why == "said above"]
    store = team.workspace._parts.store
    assert again or budget > 500
    for each in store.memories.get(team.room.grant, [each.id for each in again]):
        assert normalize_words(each.text) in shown or each.id in {
            i.id for i in context.receipt.shown
        }


@pytest.mark.requirement("X11")
def test_empty_recall_is_reported(team: Team) -> None:
    chatter(team.room, team.clock, 5)

    context = team.room.compose("zebra quagga okapi?")

    assert "Nothing relevant is known." in context.text
    assert context.section_items("recall") == ()


@pytest.mark.requirement("E1", "E2")
def test_dm_and_user_scope_are_searched_together(team: Team) -> None:
    team.alices.observe("alice", "The blue heron is nesting again by the mill.")
    team.alices.remember("The blue heron is nesting again by the mill.", scope="user")
    team.alices.remember("What a mess, the blue heron pictures and the green folder!", scope="user")
    chatter(team.alices, team.clock, 60)

    context = team.alices.compose("Where are the blue heron pictures?")
    items = context.section_items("recall")

    from_elsewhere = {each.id for each in context.receipt.shown if each.scope == "user:alice"}
    assert from_elsewhere >= {item.id for item in items if "folder" in item.text}
    assert [item.text for item in items if "folder" in item.text]
    assert len({item.text for item in items}) == len(items)
    assert {item.scope for item in items if "folder" in item.text} == {"user:alice"}


@pytest.mark.requirement("X7")
def test_receipt_has_reasons_for_every_item(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    team.room.observe("alice", "The database of the ledger was slow last night.")
    chatter(team.room, team.clock, 60)

    context = team.room.compose(QUESTION, explain=True)
    receipt = context.receipt
    items = [item for section in context.sections for item in section.items]

    assert [each.id for each in receipt.shown] == [item.id for item in items]
    assert all(each.why["strategy"] for each in receipt.shown)
    (slow,) = [item.id for item in context.section_items("recall") if "slow" in item.text]
    (hit,) = [each for each in receipt.shown if each.id == slow]
    assert 0 < float(hit.why["score"]) <= 1
    assert float(hit.why["+keyword"]) > 0
    assert not any(
        "+" in name for each in team.room.compose(QUESTION).receipt.shown for name in each.why
    )
    assert float(hit.why["age_days"]) > 0
    assert {"plan", "recall", "window", "landmarks", "budget", "render"} <= receipt.seconds.keys()
    assert all(seconds >= 0 for seconds in receipt.seconds.values())
    assert receipt.degraded == ()


@pytest.mark.requirement("X7")
def test_context_is_explained_by_its_id(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    context = team.room.compose(QUESTION)

    found = team.room.explain(context.id)

    assert found.receipt == context.receipt
    assert found.texts[context.section_items("window")[0].id] == DECIDED
    assert found.hidden_hits is None
    with pytest.raises(NotFound):
        team.room.explain("0" * 32)
    with pytest.raises(NotFound):
        team.alices.explain(context.id)
    with pytest.raises(NotFound):  # the context contains alice's private scope
        team.workspace.room("design", agent="scribe", project="apollo").explain(context.id)
    assert team.workspace.explain(context.id).receipt == context.receipt
    team.clock.advance(days=2)
    with pytest.raises(NotFound):
        team.room.explain(context.id)


def test_background_receipt_is_readable_immediately(open_nexus: Open, clock: Clock) -> None:
    room = open_nexus(background=True).workspace("acme").room("design", participants=["alice"])
    for number in range(30):
        room.observe("alice", f"Remark {number} about the ledger.")

    context = room.compose(QUESTION)

    assert room.explain(context.id).receipt.id == context.id


@pytest.mark.requirement("X7", "X6")
def test_receipt_is_erased_with_its_sources(team: Team) -> None:
    receipt = team.room.observe("alice", DECIDED)
    context = team.room.compose(QUESTION)

    team.workspace.forget(event=receipt)

    with pytest.raises(NotFound):
        team.room.explain(context.id)


@pytest.mark.requirement("X2", "X7")
def test_only_an_administrator_sees_hidden_hits(open_nexus: Open, clock: Clock) -> None:
    contexts: list[Context] = []
    withheld = []
    for secret in (False, True):
        clock.now = Clock().now
        workspace = open_nexus().workspace("acme")
        room = workspace.room("design", agent="scribe", participants=["alice"])
        room.observe("alice", DECIDED, key="choice")
        if secret:
            said = "The ledger database will be Oracle, and nobody may know it."
            workspace.dm("bob", agent="scribe").observe("bob", said, key="secret")
            workspace.flush()
        clock.advance(hours=1)
        contexts.append(room.compose(QUESTION))
        withheld.append(workspace.explain(contexts[-1].id).hidden_hits)
        assert room.explain(contexts[-1].id).hidden_hits is None

    without, beside = contexts
    assert without.text == beside.text
    assert without_times(without.receipt) == without_times(beside.receipt)
    assert withheld == [0, 1]


@pytest.mark.requirement("X7")
def test_replay_equals_the_past_context(nexus: Nexus, clock: Clock) -> None:
    room = nexus.workspace("acme").room("design", agent="scribe", participants=["alice"])
    room.observe("alice", DECIDED)
    room.set_value("room", "color", "blue")
    room.set_active_goal("Move the ledger.")
    chatter(room, clock, 5)
    then = clock.advance(minutes=1)
    given = room.compose(QUESTION)
    clock.advance(minutes=1)
    room.observe("alice", "We decided to use SQLite for the ledger instead of PostgreSQL.")
    room.set_value("room", "color", "red")
    room.observe("alice", "I moved to Leeds.")

    replayed = room.compose(QUESTION, as_of=then + timedelta(seconds=1))

    for part in (
        "landmarks",
        "facts",
        "recall",
        "window",
        "summary",
        "goals",
    ):
        assert texts(replayed, part) == texts(given, part), part
    assert "Move the ledger." in replayed.text
    assert "As of: Monday" in replayed.text
    assert "SQLite" not in replayed.text
    assert "SQLite" in room.compose(QUESTION).text


@pytest.mark.requirement("X7")
def test_replay_shows_no_later_goal(nexus: Nexus, clock: Clock) -> None:
    room = nexus.workspace("acme").room("design", agent="scribe", participants=["alice"])
    room.observe("alice", DECIDED)
    then = clock.advance(minutes=1)
    clock.advance(minutes=1)
    room.set_active_goal("Move the ledger.")

    assert "Move the ledger." in room.compose(QUESTION).text
    assert "Move the ledger." not in room.compose(QUESTION, as_of=then).text


@pytest.mark.requirement("X7")
def test_compose_works_without_an_embedder(open_nexus: Open) -> None:
    class Away(HashingEmbedder):
        def embed(self, texts: Any) -> Any:
            raise EmbedderUnavailable("the embedder does not answer")

    room = open_nexus(embedder=Away()).workspace("acme").room("design", participants=["alice"])
    room.observe("alice", DECIDED)

    context = room.compose(QUESTION)

    assert "PostgreSQL" in context.text
    assert any("embedder" in remark for remark in context.receipt.degraded)


@pytest.mark.requirement("B17")
def test_episodes_are_found_by_vector(team: Team) -> None:
    team.tell_the_week()
    team.clock.advance(days=9)
    team.workspace.refresh_episodes()

    context = team.room.compose("What happened back then with the ledger?")

    told = context.section_items("episodes")
    assert told
    assert all(item.why["vector"] > 0 for item in told)
    assert context.receipt.degraded == ()


def test_unavailable_embedder_is_called_once(open_nexus: Open) -> None:
    class Away(HashingEmbedder):
        asked = 0

        def embed(self, texts: Any) -> Any:
            Away.asked += 1
            raise EmbedderUnavailable("the embedder does not answer")

    room = open_nexus(embedder=Away()).workspace("acme").room("design", participants=["alice"])
    room.observe("alice", DECIDED)
    room.compose(QUESTION)
    Away.asked = 0

    context = room.compose("What happened with the ledger last week?")

    assert "episodes" in context.receipt.plan
    assert Away.asked == 1
    assert [remark.split(":")[0] for remark in context.receipt.degraded] == ["vector"]


def test_many_long_names_fit_a_small_budget(team: Team) -> None:
    crowd = [f"{'Wolfeschlegelsteinhausenbergerdorff' * 5} {number}" for number in range(40)]
    hall = team.workspace.room("h" * 190, agent="a" * 190, participants=crowd, project="p" * 190)
    hall.observe(crowd[0], DECIDED)

    context = hall.compose(QUESTION, budget=300, model="claude")

    assert count_tokens(context.text, "anthropic") <= context.tokens <= 300
    assert "PostgreSQL" in context.text


def test_empty_place_has_a_context(team: Team) -> None:
    for context in (team.room.context_for([]), team.room.compose("")):
        assert context.receipt.question == ""
        assert "recall" not in context.receipt.plan
        assert context.sections == ()


def test_context_for_does_not_repeat_the_messages(team: Team) -> None:
    team.alices.observe("alice", "The launch of the ferry is on the ninth of May.")
    team.alices.observe("alice", DECIDED)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": DECIDED},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": [{"type": "text", "text": "When is the launch?"}]},
    ]

    context = team.alices.context_for(messages)

    assert context.receipt.question == "When is the launch?"
    assert "ninth of May" in context.text
    assert "PostgreSQL" not in context.text
    assert "in the window" in {cut.why for cut in context.receipt.cut}


def test_record_writes_each_message_once(team: Team) -> None:
    context = team.alices.compose("hello")
    chat: list[dict[str, Any]] = [
        {"role": "system", "content": context.text},
        {"role": "user", "content": "My sister Mira lives in Leeds."},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "Mira"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "one result"}],
        },
        {"role": "assistant", "content": "I found her."},
    ]

    first = team.alices.record(chat)
    again = team.alices.record([*chat[2:], {"role": "user", "content": "Thank you!"}])

    assert [receipt.duplicate for receipt in first] == [False] * 4
    assert [receipt.duplicate for receipt in again] == [True] * 3 + [False]
    said = [(event.speaker, event.role, event.text) for event in reversed(team.alices.recent())]
    assert said == [
        ("alice", "user", "My sister Mira lives in Leeds."),
        ("scribe", "assistant", "Let me look."),
        ("search", "tool", "one result"),
        ("scribe", "assistant", "I found her."),
        ("alice", "user", "Thank you!"),
    ]
    assert "Mira" in team.alices.compose("Where does my sister live?").text
    assert team.alices.record([]) == []


def test_compound_question_finds_each_part(team: Team) -> None:
    team.room.observe("alice", "The ferry to Hull leaves at seven.")
    team.room.observe("bob", "Parking in Leeds costs nine pounds.")
    chatter(team.room, team.clock, 60, about="nothing much")

    found = texts(team.room.compose("When does the ferry leave? What does parking cost?"), "recall")

    assert any("seven" in text for text in found)
    assert any("nine pounds" in text for text in found)


def test_active_goal_is_shown(team: Team) -> None:
    team.room.set_active_goal("Ship the ledger before the regatta")

    assert texts(team.room.compose("hello"), "goals") == ["Ship the ledger before the regatta"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"budget": 10}, "budget"),
        ({"budget": True}, "budget"),
        ({"recent_messages": 0}, "recent_messages"),
        ({"model": 7}, "model"),
        ({"as_of": "yesterday"}, "as_of"),
    ],
)
def test_invalid_arguments_are_refused(team: Team, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        team.room.compose(QUESTION, **wrong)
    with pytest.raises(InvalidInput, match="question"):
        team.room.compose(7)  # type: ignore[arg-type]


@pytest.mark.requirement("D17")
@pytest.mark.parametrize("said", ["QXZJVKWPYTRB ", "wehn yuo tpye ", "ຕັດສິນໃຈ ", "a\u202eb\u200b "])
@pytest.mark.parametrize("model", [None, "gpt-4", "claude-sonnet-4-5"])
def test_budget_holds_for_any_text(team: Team, said: str, model: str | None) -> None:
    for number in range(30):
        team.clock.advance(minutes=1)
        team.room.observe("alice", f"Note {number}: {said * 12}")

    context = team.room.compose("What notes are there?", budget=1000, model=model)

    assert count_tokens(context.text, tokenizer_family(model)) <= context.tokens <= 1000


@pytest.mark.requirement("X7")
def test_each_request_and_viewer_has_its_own_receipt(team: Team) -> None:
    team.room.observe("alice", DECIDED)
    then = team.clock()
    team.clock.advance(hours=2)
    others = team.workspace.room("design", agent="scribe", participants=["alice", "bob", "dora"])

    contexts = [
        team.room.compose(QUESTION, as_of=then, budget=300),
        team.room.compose(QUESTION, as_of=then, budget=3000),
        team.room.compose(QUESTION, as_of=then, budget=3000, recent_messages=5),
        others.compose(QUESTION, as_of=then, budget=3000),
    ]

    assert len({context.id for context in contexts}) == 4
    for context in contexts[:3]:
        assert team.room.explain(context.id).receipt == context.receipt
    assert others.explain(contexts[3].id).receipt == contexts[3].receipt


@pytest.mark.requirement("A15")
def test_larger_budget_pins_more_landmarks(team: Team) -> None:
    for number in range(80):
        team.clock.advance(minutes=1)
        team.room.observe("alice", f"We decided to use tool number {number} for part {number * 7}.")
    chatter(team.room, team.clock, 45)

    usual, greater, again = (
        team.room.compose(question, budget=budget)
        for question, budget in (("Hi", None), ("Hi", 8000), ("Which tool is for part 7?", 8000))
    )

    pinned = [len(context.section_items("landmarks")) for context in (usual, greater, again)]
    assert pinned[1] == pinned[2] >= 1.8 * pinned[0]
    assert greater.text[: greater.stable_prefix_length] == again.text[: again.stable_prefix_length]
    assert greater.tokens <= 8000


@pytest.mark.requirement("X7")
def test_receipt_sums_are_consistent_and_complete(team: Team) -> None:
    for number in range(60):
        team.clock.advance(minutes=1)
        more = "It went on and on through the hills. " * (30 if number == 3 else 0)
        team.room.observe("alice", f"Train {number} to Leeds had {number} wagons. {more}")
    for number in range(45):
        team.clock.advance(minutes=1)
        team.room.observe("bob", f"We decided to use tool number {number} for part {number * 7}.")
    chatter(team.room, team.clock, 45, "soup")

    context = team.room.compose("Which trains to Leeds had wagons?", budget=1200)
    receipt = context.receipt

    assert receipt.sections == {each.part: each.tokens for each in context.sections}
    assert sum(receipt.sections.values()) + receipt.frame == receipt.tokens
    parts = ("recall", "related")
    found = [each.id for each in (*receipt.shown, *receipt.cut) if each.part in parts]
    assert len(found) == len(set(found)) > 0
    pinned = [each for each in (*receipt.shown, *receipt.cut) if each.part == "landmarks"]
    assert len(pinned) == 5
    assert "budget" in {cut.why for cut in receipt.cut}


def test_shortened_item_is_marked(team: Team) -> None:
    for number in range(30):
        team.clock.advance(minutes=1)
        wagons = (f"The wagon {n} of train {number} was painted blue." for n in range(40))
        team.room.observe("alice", " ".join(wagons))

    context = team.room.compose("Which wagons were painted?", budget=1500)

    shown = {(each.part, each.id): each.why for each in context.receipt.shown}
    for section in context.sections:
        for item in section.items:
            in_part = {"shortened_from", "excerpt"} & shown[section.part, item.id].keys()
            assert bool(in_part) == (item.text.endswith("…") or " … " in item.text)
    assert any("shortened_from" in why for why in shown.values())


def test_explanation_has_a_text_for_every_line_in_order(
    team: Team,
) -> None:
    team.room.observe("alice", DECIDED)
    team.room.set_active_goal("Ship the ledger")
    for number in range(20):
        team.clock.advance(minutes=1)
        team.room.observe("alice", f"Remark {number} about the train was heard by all of us.")
    context = team.room.compose(QUESTION)

    found = team.room.explain(context.id)

    assert all(found.texts.get(each.id) for each in found.receipt.shown)
    assert list(found.receipt.plan) == [
        part for part in SECTIONS_BY_NAME if part in context.receipt.plan
    ]
    assert list(found.receipt.seconds) == list(context.receipt.seconds)
    assert list(found.receipt.sections) == list(context.receipt.sections)


@pytest.mark.requirement("D17")
@pytest.mark.parametrize("letter", ["ꦏ", "𒀀", "😀", "ກ", "Q", "é"])
@pytest.mark.parametrize("model", [None, "gpt-4", "claude-sonnet-4-5"])
def test_minimum_budget_holds_for_any_names(nexus: Nexus, letter: str, model: str | None) -> None:
    people = [letter * 38 + str(number) for number in range(4)]
    name = letter * 40
    room = nexus.workspace("acme").room(name, agent=name, participants=people, project=name)

    context = room.compose("Which database?", budget=300, model=model)

    assert count_tokens(context.text, tokenizer_family(model)) <= context.tokens <= 300
