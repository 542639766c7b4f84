"""Closing cues: what counts as a report that something is done or cancelled."""

from __future__ import annotations

import time

import pytest

from nexusmem.core.records.landmark_status import LandmarkStatus
from nexusmem.learn.closings.cues import MAX_CHARS, find_cues, is_affirmative, past_verbs, topic_of

pytestmark = pytest.mark.requirement("B16")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Done!", set()),
        ("Done, I mailed it.", set()),
        ("already paid it", set()),
        ("The brochure is finished.", {"brochur"}),
        ("brochure sent ✅", {"brochur"}),
        ("[x] brochure", {"brochur"}),
        ("- [X] order the paint", {"order", "paint"}),
        ("The tickets are taken care of.", {"ticket"}),
        ("Just booked the ferry", {"ferri"}),
        ("Renewed the passport at last", {"passport"}),
        ("I’ve signed the lease.", {"leas"}),
        ("The slides are in your inbox.", {"slide"}),
        ("The landing page is live", {"land", "page"}),
        ("It took a while, but the invoice has been paid.", {"invoic"}),
        ("The fence is done and I will paint it tomorrow.", {"fenc"}),
        ("Invoice is 100% done", {"invoic", "100"}),
    ],
)
def test_report_of_a_finished_task_is_a_cue(text: str, terms: set[str]) -> None:
    cues = find_cues(text)

    assert {each.status for each in cues} == {LandmarkStatus.DONE}
    assert set().union(*(each.terms for each in cues)) == terms


@pytest.mark.parametrize(
    "text",
    [
        "Not done yet.",
        "I haven't sent it.",
        "The brochure isn't finished",
        "The brochure will be done by Friday.",
        "The brochure should be finished.",
        "Is the brochure done?",
        "Have you sent the brochure",
        "who sent the brochure",
        "If it is done, call me.",
        "Once it's sent, tell Maya.",
        "The brochure is half done",
        "Almost finished",
        "The brochure is 80% done",
        "Brochure done by Friday.",
        "Please get it done.",
        "I thought I sent it",
        "> The brochure is done.",
        "- [ ] order the paint",
        "The brochure looks great.",
        "Good morning!",
        "Well done, Jo!",
        "We're done for today.",
        "Easier said than done",
        "I got paid today",
        "",
    ],
)
def test_question_plan_condition_and_partial_report_are_no_cues(text: str) -> None:
    assert find_cues(text) == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Never mind.", set()),
        ("nvm", set()),
        ("Cancel that.", set()),
        ("No need, thanks", set()),
        ("Forget about the fence, Jo does it.", {"fenc"}),
        ("The picnic is cancelled.", {"picnic"}),
        ("The picnic has been called off", {"picnic"}),
        ("We're not painting the fence any more.", {"paint", "fenc"}),
        ("The projector is no longer needed.", {"projector"}),
        ("You don't have to fetch the keys.", {"fetch", "key"}),
        ("Don’t bother with the receipts.", {"receipt"}),
        ("I take that back.", set()),
    ],
)
def test_cancellation_is_a_cue(text: str, terms: set[str]) -> None:
    (cue,) = find_cues(text)

    assert (cue.status, cue.terms) == (LandmarkStatus.CANCELLED, terms)


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget the milk.",
        "Don't forget about the fence.",
        "I always forget the milk",
        "The picnic is not cancelled.",
        "Is the picnic cancelled?",
        "If it rains, the picnic is cancelled.",
        "The picnic might be called off",
        "Please cancel the hotel booking.",
        "Drop the kids at school.",
        "Scratch the old paint off the door.",
    ],
)
def test_reminder_and_possible_cancellation_are_no_cues(text: str) -> None:
    assert [each for each in find_cues(text) if each.status is LandmarkStatus.CANCELLED] == []


def test_past_forms_have_the_verbs_of_their_synonyms() -> None:
    assert {"send", "email"} <= past_verbs("sent")
    assert past_verbs("varnished") == {"varnish"}
    assert past_verbs("brochure") == frozenset()


@pytest.mark.parametrize(("text", "expected"), [("Yes!", True), ("I did", True), ("Yesterday", 0)])
def test_affirmative_message_only_says_yes(text: str, expected: bool) -> None:
    assert is_affirmative(text) is bool(expected)


@pytest.mark.parametrize(
    "piece", ["ok ", "not ", "and ", "n't ", "is now ", "- ", "done and ", "[x", ", ", "the "]
)
def test_no_text_is_slow(piece: str) -> None:
    started = time.perf_counter()

    find_cues((piece * MAX_CHARS)[:MAX_CHARS])

    assert time.perf_counter() - started < 0.5
    assert find_cues("done " * MAX_CHARS) == []


@pytest.mark.parametrize(
    "text", ["Got it.", "Yeah, a lot has happened since.", "We're excited!", "A fixed price."]
)
def test_idiom_closes_no_task_by_its_verb(text: str) -> None:
    assert not any(each.is_general for each in find_cues(text))
    assert not {"get", "buy", "happen", "fix"} & {
        verb for each in find_cues(text) for verb in each.verbs
    }


def test_report_names_its_sentence_and_its_author() -> None:
    (mine,) = find_cues("Thanks, Jo! I painted the fence.")
    (other,) = find_cues("The fence is painted, thanks Jo.")

    assert (mine.is_own, "Jo" in mine.sentence) == (True, False)
    assert (other.is_own, "Jo" in other.sentence) == (False, True)


def test_scratched_thing_is_cancelled() -> None:
    (cue,) = find_cues("scratch the ladder, Omar has one")
    assert (cue.status, cue.terms) == (LandmarkStatus.CANCELLED, topic_of("ladder"))
