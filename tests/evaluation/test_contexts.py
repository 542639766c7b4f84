"""Context evaluation: evidence, topic, repetition, former values, and a run on tiny data."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.evaluation.samples import (
    LONGMEMEVAL,
    write_beam,
    write_json,
    write_locomo,
    write_longmemeval,
)
from tests.loopback import Loopback, says, status

from nexusmem.config.settings import LlmSettings, Settings
from nexusmem.core.errors import InvalidInput, ModelUnavailable
from nexusmem.core.records.context import (
    Context,
    ContextItem,
    ContextReceipt,
    ContextSection,
    CutItem,
)
from nexusmem.evaluation.benchmarks import (
    BenchmarkConversation,
    BenchmarkMessage,
    BenchmarkQuestion,
    read_benchmark,
)
from nexusmem.evaluation.context_answers import make_named_model
from nexusmem.evaluation.context_evaluate import evaluate_contexts
from nexusmem.evaluation.context_lines import (
    ContextPage,
    EvidenceFinder,
    GoldEvidence,
    TermWeights,
    choose_sentence,
    content_terms,
    count_repeated,
    has_found,
)
from nexusmem.evaluation.context_report import compare_context_baseline
from nexusmem.evaluation.context_run import (
    ANSWERABLE,
    NEVER_MENTIONED,
    SMALL_TALK,
    choose_questions,
    load_unanswerable,
    pick_evenly,
)
from nexusmem.evaluation.context_story import (
    CURRENT,
    MISSING,
    STALE_FIRST,
    STALE_MARKS,
    STALE_ONLY,
    ChangedValue,
    has_words,
    load_story,
    parse_story,
)
from nexusmem.text.terms import normalize_words

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SHORT_STORY = parse_story("""
== 2026-01-05 09:30
ole: I live in Oslo.
== 2026-02-05 09:30
ole: I live in Rome now.
? Rome | Oslo | Where does Ole live?
""")
TALK = {
    "m1": "Morning! I finally adopted a grey cat from the shelter. Her name is Pepper.",
    "m2": "How lovely, does she sleep on the couch already?",
    "m3": "The plumber comes on Friday because of the kitchen tap.",
    "m4": "Then I will be at home in the afternoon.",
}


def item(text: str, *events: str, id: str = "memory") -> ContextItem:
    return ContextItem(text=text, id=id, events=events)


def context(**sections: list[ContextItem]) -> Context:
    """A context with these items, rendered one per line."""
    lines = [each.text for items in sections.values() for each in items]
    receipt = ContextReceipt(id="c", at=START, question="", budget=4_000, tokens=0, plan={})
    return Context(
        sections=tuple(
            ContextSection(part=name, items=tuple(items), tokens=0)
            for name, items in sections.items()
        ),
        receipt=receipt,
        text="\n".join(lines),
    )


def page(**sections: list[ContextItem]) -> ContextPage:
    return ContextPage.from_context(context(**sections))


def evidence(question: str, *gold: str, answer: str | None = None) -> GoldEvidence:
    """The evidence of a question about TALK; the event of message m1 is e-m1."""
    messages = tuple(
        BenchmarkMessage(
            speaker="nora",
            text=text,
            key=key,
            thread="kitchen" if key in ("m3", "m4") else "cat",
            at=START + timedelta(minutes=number),
        )
        for number, (key, text) in enumerate(TALK.items())
    )
    asked = BenchmarkQuestion(
        id="q",
        text=question,
        category="c",
        gold=frozenset(gold),
        gold_sessions=frozenset(),
        answer=answer,
    )
    talk = BenchmarkConversation(name="t", people=("nora",), messages=messages, questions=(asked,))
    events = {key: f"e-{key}" for key in TALK}
    return EvidenceFinder.from_conversation(talk, events).find_evidence(asked)


# Evidence


def test_sentence_of_the_answer_is_chosen() -> None:
    weights = TermWeights.from_texts(list(TALK.values()))

    def choose(question: str) -> str:
        return choose_sentence(TALK["m1"], content_terms(question), weights)

    assert choose("What is the name of Nora's cat? Pepper") == "Her name is Pepper."
    assert choose("Where is the cat from?") == "I finally adopted a grey cat from the shelter."
    assert choose("Anything else?") == "I finally adopted a grey cat from the shelter."


@pytest.mark.requirement("D28")
@pytest.mark.parametrize(
    ("line", "is_shown"),
    [
        (item(TALK["m1"]), True),
        (item("I finally adopted a grey cat from the shelter …"), True),
        (item("From the shelter: finally a grey cat adopted by Nora"), True),  # all its terms
        (item("Nora adopted a cat", "e-m1"), False),  # two of five terms
        (item("Nora has a grey cat of the shelter", "e-m1"), True),  # derived, and over half
        (item("Nora has a grey cat of the shelter", "e-m2"), False),  # of another message
        (item("Her name is Pepper.", "e-m1"), False),  # of the turn, but not what was asked
        (item("I finally saw a grey heron"), False),
    ],
)
def test_gold_turn_is_shown_by_its_words(line: ContextItem, *, is_shown: bool) -> None:
    gold = evidence("Where did Nora adopt the grey cat?", "m1", answer="at the shelter")

    assert gold.count_shown(page(recall=[line])) == is_shown


def test_every_gold_turn_counts_once_wherever_it_is() -> None:
    gold = evidence("What happens at home?", "m3", "m4")

    assert len(gold.turns) == 2
    assert gold.count_shown(page(window=[item(TALK["m3"])], recall=[item(TALK["m3"])])) == 1
    assert gold.count_shown(page(window=[item(TALK["m3"])], facts=[item(TALK["m4"])])) == 2


def test_topic_is_the_gold_turn_its_neighbours_and_what_was_derived() -> None:
    gold = evidence("When does the plumber come?", "m3", answer="on Friday")
    lines = {
        "gold": item(TALK["m3"], "e-m3"),
        "fact": item("plumber visit: Friday", "e-m3"),
        "next": item(TALK["m4"], "e-m4"),
        "other session": item(TALK["m2"], "e-m2"),
        "summary": item("They spoke about pets.", "e-m1", "e-m2", "e-m3", "e-m4"),
        "quoting summary": item(
            f"They spoke about pets. {TALK['m3']}", "e-m1", "e-m2", "e-m3", "e-m4"
        ),
    }

    shown = page(recall=list(lines.values())).recall

    on_topic = {name for name, line in zip(lines, shown, strict=True) if gold.is_on_topic(line)}
    assert on_topic == {"gold", "fact", "next", "quoting summary"}


@pytest.mark.parametrize(
    ("texts", "repeated"),
    [
        ([TALK["m1"], TALK["m2"], TALK["m3"]], 0),
        ([TALK["m1"], TALK["m1"]], 1),
        (["Her name is Pepper, the cat.", f"{TALK['m1']} She is a cat."], 1),
        ([f"{TALK['m1']} {TALK['m3']}", TALK["m1"], TALK["m3"]], 1),  # a summary of two messages
        (["Yes.", "Yes, sure.", "Yes."], 1),  # short lines repeat only the same words
        (["The plumber comes on Monday.", "The plumber comes on Friday."], 0),
        ([], 0),
    ],
)
def test_repeated_lines_are_counted(texts: list[str], repeated: int) -> None:
    assert count_repeated(page(recall=[item(text) for text in texts]).lines) == repeated


@pytest.mark.parametrize(
    ("part", "why", "is_found"),
    [
        ("recall", "said above", True),
        ("recall", "in the window", True),
        ("facts", "budget", True),
        ("recall", "limit", True),
        ("recall", "not relevant", False),
        ("landmarks", "budget", False),  # shown with every question
    ],
)
def test_item_that_is_shown_elsewhere_was_found(part: str, why: str, *, is_found: bool) -> None:
    made = context(landmarks=[item("We chose Postgres.")])
    cut = CutItem(part=part, id="m", tokens=9, why=why)

    assert has_found(replace(made, receipt=replace(made.receipt, cut=(cut,)))) == is_found
    assert has_found(context(recall=[item("Postgres")]))


# Former values


@pytest.mark.parametrize(
    ("lines", "outcome", "has_stale"),
    [
        (["ole: I live in Rome now."], CURRENT, False),
        (["ole: I live in Rome now.", "ole: I live in Oslo."], CURRENT, True),
        (["ole: I live in Oslo.", "ole: I live in Rome now."], STALE_FIRST, True),
        (["[until March] ole: I live in Oslo.", "ole: I live in Rome now."], CURRENT, False),
        (["ole: I moved from Oslo to Rome."], CURRENT, False),
        (["ole: I live in Bonn."], STALE_ONLY, True),
        (["[former] ole: I live in Oslo."], MISSING, False),
        (["ole: I eat romesco."], MISSING, False),
    ],
)
def test_context_is_rated_by_the_value_it_shows_first(
    lines: list[str], outcome: str, *, has_stale: bool
) -> None:
    change = ChangedValue(question="Where does Ole live?", current="Rome", former=("Bonn", "Oslo"))

    rating = change.rate_context("\n".join(lines))

    assert (rating.outcome, rating.has_stale) == (outcome, has_stale)


def test_story_states_every_value_and_marks_none() -> None:
    story = load_story()
    texts = [f" {normalize_words(message.text)} " for message in story.messages]

    def stating(value: str) -> list[int]:
        return [number for number, text in enumerate(texts) if has_words(text, value)]

    assert len(story.changes) == 30
    assert not [mark for mark in STALE_MARKS if stating(mark)]
    for change in story.changes:
        first_current = min(stating(change.current))
        for value in change.former:
            assert min(stating(value)) < first_current, change.question
            # Later messages may name the former value only together with the current one.
            later = [number for number in stating(value) if number >= first_current]
            assert set(later) <= set(stating(change.current)), change.question


def test_unknown_line_of_a_story_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="expected a heading, message or question, got 'hello'"):
        parse_story("== 2026-01-05 09:30\nana: Hi.\nhello")


# Questions


def test_sample_is_evenly_spaced() -> None:
    assert pick_evenly(range(10), 4) == [0, 2, 5, 7]
    assert list(pick_evenly(range(3), 4)) == [0, 1, 2]
    assert list(pick_evenly(range(3), None)) == [0, 1, 2]


def test_sample_limits_each_group(tmp_path: Path) -> None:
    write_locomo(tmp_path)
    conversations = read_benchmark("locomo", tmp_path)

    (asked,) = choose_questions(conversations, {"conv-1": ["Has Ivo a boat?", "Is Nora tall?"]}, 1)

    groups = [each.group for each in asked.questions]
    assert groups == [ANSWERABLE, "adversarial", NEVER_MENTIONED]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{}", "line 2 of .* must be a JSON object with sample_id and question"),
        ("[1]", "line 2 of .* must be a JSON object"),
        ("no", "line 2 of .* must be a JSON object"),
        ('{"sample_id": "conv-9", "question": "Why?"}', "'conv-9'; the conversations are conv-1"),
    ],
)
def test_bad_line_of_unanswerable_questions_is_explained(
    tmp_path: Path, line: str, said: str
) -> None:
    write_locomo(tmp_path)
    file = tmp_path / "never.jsonl"
    file.write_text(f'{{"sample_id": "conv-1", "question": "Has Ivo a boat?"}}\n{line}\n')

    with pytest.raises(InvalidInput, match=said):
        load_unanswerable(file, read_benchmark("locomo", tmp_path))


# Runs


@pytest.mark.requirement("D28", "X11")
def test_run_measures_contexts(tmp_path: Path) -> None:
    write_locomo(tmp_path)
    never = tmp_path / "never.jsonl"
    never.write_text('{"sample_id": "conv-1", "question": "Which boat does Ivo own?"}\n')

    made = evaluate_contexts("locomo", tmp_path, Settings(), store=":memory:", unanswerable=never)

    summary = made.summary
    assert summary["questions"] == {"answerable": 2, "adversarial": 1, "never mentioned": 1}
    full = summary["budgets"]["4000"]
    assert (full["evidence"], full["any"], full["all"]) == (1.0, 1.0, 1.0)
    assert 0 <= full["retrieved_on_topic"] <= full["on_topic"] <= 1
    assert 0 <= full["repeated"] < 0.5
    assert 0 < full["tokens"] < 4_000
    assert 0 < full["p50_ms"] <= full["p95_ms"]
    assert 0 < full["p50_cpu_ms"] <= full["p95_cpu_ms"]
    assert summary["budgets"]["500"]["tokens"] <= 500
    assert summary["small_talk"]["contexts"] == len(SMALL_TALK)
    assert summary["small_talk"]["thanks_tokens"] > 0
    assert 0 < summary["empty_tokens"] <= 40
    assert summary["changes"]["questions"] == 30
    outcomes = ("current", "stale_first", "stale_only", "missing")
    assert sum(summary["changes"][name] for name in outcomes) == 30
    assert summary["changes"]["missing"] < 5
    assert set(summary["abstention"]["never mentioned"]) >= {"share", "precision", "no_recall"}
    assert [len(row.contexts) for row in made.rows] == [5, 5, 1, 1]


@pytest.mark.parametrize(
    ("benchmark", "write", "answerable"),
    [("beam", write_beam, 2), ("longmemeval", write_longmemeval, 1)],
)
def test_other_benchmarks_are_measured(
    tmp_path: Path, benchmark: str, write, answerable: int
) -> None:
    write(tmp_path)

    summary = evaluate_contexts(
        benchmark, tmp_path, Settings(), store=":memory:", story=SHORT_STORY
    ).summary

    assert summary["questions"] == {"answerable": answerable, "abstention": 1}
    assert summary["budgets"]["4000"]["evidence"] == 1.0
    assert summary["changes"]["questions"] == 1


def test_questions_without_gold_turns_are_rejected(tmp_path: Path) -> None:
    """LongMemEval may name sessions alone; then no turn can be looked for."""
    instance = {**LONGMEMEVAL[0], "haystack_sessions": [[{"role": "user", "content": "Hi."}]]}
    sessions = {"haystack_session_ids": ["answer_1"], "haystack_dates": ["2023/05/20 (Sat) 02:21"]}
    file = write_json(tmp_path / "longmemeval_s.json", [{**instance, **sessions}])

    with pytest.raises(InvalidInput, match="names the messages with its answer"):
        evaluate_contexts("longmemeval", file, Settings())


def test_conversation_without_messages_is_measured(tmp_path: Path) -> None:
    empty = {"name": "silence", "messages": [], "questions": []}
    never = tmp_path / "never.jsonl"
    never.write_text('{"sample_id": "silence", "question": "Has Ole a boat?"}\n')

    summary = evaluate_contexts(
        "own",
        write_json(tmp_path / "questions.json", [*OWN, empty]),
        Settings(),
        store=":memory:",
        story=SHORT_STORY,
        unanswerable=never,
    ).summary

    silent = summary["abstention"][NEVER_MENTIONED]
    assert (silent["share"], silent["precision"]) == (1.0, 1.0)
    assert summary["abstention"][ANSWERABLE]["share"] == 0.0


OWN = [
    {
        "name": "kitchen",
        "messages": [
            {"speaker": "nora", "text": TALK["m3"], "key": "m3"},
            {"speaker": "ole", "text": TALK["m4"], "key": "m4"},
        ],
        "questions": [
            {"question": "When does the plumber come?", "evidence": ["m3"], "answer": "on Friday"},
            {"question": "Who is at home?", "evidence": ["m4"], "answer": "Ole"},
            {"question": "Why does Ole stay at home?", "evidence": ["m3", "m4"]},
        ],
    }
]


def judged_run(tmp_path: Path, server: Loopback, **options: str) -> dict[str, object]:
    """Run with a model of the server, which answers and judges as scripted."""
    llm = LlmSettings(
        provider="openai",
        model="unused",
        api_key="k",
        base_url=f"{server.url}/v1",
        extract_facts=False,
    )
    never = tmp_path / "never.jsonl"
    never.write_text('{"sample_id": "kitchen", "question": "Has Ole a boat?"}\n')
    made = evaluate_contexts(
        "own",
        write_json(tmp_path / "questions.json", OWN),
        Settings(llm=llm),
        store=":memory:",
        story=SHORT_STORY,
        unanswerable=never,
        **options,
    )
    answers: dict[str, object] = made.summary["answers"]
    return answers


@pytest.mark.requirement("D28")
def test_model_answers_from_the_context_and_another_judges(tmp_path: Path) -> None:
    with Loopback() as server:
        server.script(
            *(says("On Friday."), says('{"correct": true}')),
            *(says("Nora."), says('{"correct": false}')),
            *(says("I do not know."), says('{"correct": true}')),
        )
        answers = judged_run(tmp_path, server, answer="small", judge="openai/large")

    assert (answers["answer"], answers["judge"]) == ("small", "openai/large")
    assert answers["answerable"] == {"questions": 2, "accuracy": 0.5}
    assert answers["abstention"] == {"questions": 1, "accuracy": 1.0}
    assert (answers["failed"], answers["tokens"]) == (0, 6 * 18)
    sent = [request.body for request in server.requests]
    assert [body["model"] for body in sent] == ["small", "large"] * 3
    asked, judged = (json.loads(body["messages"][-1]["content"]) for body in sent[:2])
    assert TALK["m3"] in asked["memory"]
    assert judged == {
        "question": "When does the plumber come?",
        "expected": "on Friday",
        "given": "On Friday.",
    }
    assert json.loads(sent[-1]["messages"][-1]["content"])["expected"] is None


def test_answers_that_fail_are_counted(tmp_path: Path) -> None:
    with Loopback() as server:
        server.script(status(401))
        server.script(says("Ole."), says("certainly"))  # a judge that does not answer in JSON
        server.script(says("I do not know."), says('{"correct": true}'))
        answers = judged_run(tmp_path, server, answer="openai/small")

    assert answers["failed"] == 2
    assert answers["answerable"] == {"questions": 0, "accuracy": None}
    assert answers["abstention"] == {"questions": 1, "accuracy": 1.0}


def test_provider_that_keeps_failing_ends_the_run(tmp_path: Path) -> None:
    with Loopback() as server:
        server.script(*[status(401)] * 3)
        with pytest.raises(ModelUnavailable):
            judged_run(tmp_path, server, answer="openai/small")


@pytest.mark.parametrize(
    ("settings", "name"),
    [(LlmSettings(), "small"), (LlmSettings(), "openai/"), (LlmSettings(), "none/small")],
)
def test_model_without_a_provider_is_rejected(settings: LlmSettings, name: str) -> None:
    with pytest.raises(InvalidInput, match=f"--answer '{name}'"):
        make_named_model(settings, name, "--answer")


# Baselines


def make_summary(**changed: object) -> dict[str, object]:
    """A summary as a run returns it, with few figures."""
    full = {"evidence": 0.8, "on_topic": 0.5, "repeated": 0.1}
    summary: dict[str, object] = {
        "benchmark": "context locomo",
        "settings": {},
        "questions": {ANSWERABLE: 10, "adversarial": 4},
        "budgets": {"250": None, "4000": full},
        "abstention": {ANSWERABLE: {"share": 0.1}, "adversarial": {"share": 0.25}},
        "small_talk": {"nothing": 0.5},
        "changes": {"questions": 30, "current": 15},
    }
    return {**summary, **changed}


def test_baseline_compares_what_is_better_with_more() -> None:
    worse = {"250": None, "4000": {"evidence": 0.7, "on_topic": None, "repeated": 0.3}}

    compared = compare_context_baseline(make_summary(budgets=worse), make_summary())

    changes = {(each.level, each.metric): each.change for each in compared}
    assert changes == {
        ("@4000", "evidence"): -0.1,
        ("@4000", "not repeated"): -0.2,
        (ANSWERABLE, "got something"): 0.0,
        ("adversarial", "got nothing"): 0.0,
        ("small talk", "got nothing"): 0.0,
        ("changes", "current first"): 0.0,
    }
    assert [each.metric for each in compared if each.has_fallen(0.01)] == [
        "evidence",
        "not repeated",
    ]


def test_groups_of_another_size_are_not_compared() -> None:
    more = {ANSWERABLE: 10, "adversarial": 5}

    compared = compare_context_baseline(make_summary(questions=more), make_summary())

    assert "adversarial" not in {each.level for each in compared}


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        (make_summary(benchmark="context beam"), "benchmark context beam in the baseline"),
        (make_summary(questions={ANSWERABLE: 9}), "answerable 9 in the baseline, 10 in this run"),
        (make_summary(abstention=None), "the baseline has no figure"),
    ],
)
def test_another_baseline_is_rejected(baseline: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        compare_context_baseline(make_summary(), baseline)


def test_recent_messages_are_shown_if_asked_soon(tmp_path: Path) -> None:
    file = write_json(tmp_path / "questions.json", OWN)

    def section_names(hours: float) -> set[str]:
        made = evaluate_contexts(
            "own",
            file,
            Settings(),
            store=":memory:",
            story=SHORT_STORY,
            asked_after_hours=hours,
        )
        return set(made.summary["sections"])

    assert "window" in section_names(1)
    assert "window" not in section_names(48)
