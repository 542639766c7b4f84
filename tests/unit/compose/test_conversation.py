"""Questions in conversation: what the turns before a message add to it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from nexusmem.compose.conversation.resolve import MAX_QUESTION_CHARS, resolve_question
from nexusmem.compose.conversation.turns import MAX_TURNS, Turn
from nexusmem.compose.question import needs_no_memory


def turns(*texts: str) -> list[Turn]:
    """Return turns of a user and an assistant, who speaks second."""
    return [Turn(text, is_user=number % 2 == 0) for number, text in enumerate(texts)]


def resolve(question: str, *texts: str) -> str:
    return resolve_question(question, turns(*texts)).text


PRONOUNS = [
    ("Fine. Where does she live again?", "My sister called.", "How is she?", "my sister live"),
    ("which day is he closed?", "I must see Dr Haddad.", "This week?", "Dr Haddad closed"),
    ("What brand do we give him?", "Biscuit won't eat.", "Since when?", "give Biscuit"),
    ("What's their number?", "The Novaks are back.", "Nice!", "Novaks's number"),
    ("What does it cost?", "I want the red bike.", "A good choice.", "red bike"),
    ("who runs it now?", "The Osprey project slipped.", "By how long?", "Osprey project"),
    ("yes. Who feeds him?", "Our cat Moss is ill.", "Oh no!", "Who feeds our cat Moss"),
    ("Do they have a key?", "Who waters the plant?", "The Bergs.", "Do Bergs have"),
    ("What was it she wanted?", "Ines texted me.", "How nice.", "it Ines wanted"),
]


@pytest.mark.parametrize(("question", "first", "answer", "wanted"), PRONOUNS)
def test_pronoun_is_replaced(question: str, first: str, answer: str, wanted: str) -> None:
    assert wanted in resolve(question, first, answer)


def test_pronoun_follows_the_gender_of_names() -> None:
    said = ("Anna asked Peter about the rent.", "Did they agree?")

    assert resolve("Where does she work?", *said) == "Where does Anna work?"
    assert resolve("Where does he work?", *said) == "Where does Peter work?"


FRAGMENTS = {
    "And Priya's?": "When is Priya's birthday?",
    "what about my brother": "When is my brother's birthday?",
    "and in 2019?": "When is Tom's birthday in 2019?",
}


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_fragment_completes_the_question_before(fragment: str) -> None:
    assert resolve(fragment, "When is Tom's birthday?", "In May.") == FRAGMENTS[fragment]


def test_fragment_after_a_fragment_completes_the_same_question() -> None:
    said = ("When is Tom's birthday?", "In May.", "And Priya's?", "In June.")

    assert resolve("and Ana's?", *said) == "When is Ana's birthday?"


def test_fragment_keeps_the_rest_of_the_question() -> None:
    asked = resolve("and the gate code?", "What's the wifi password at the cabin?", "spruce-41")

    assert asked == "What's the gate code at the cabin?"
    lease = "When does the lease for the Berlin office end?"
    assert "Hamburg office" in resolve("What about Hamburg?", lease, "In March.")
    paint = "Which paint did we use in the hall?"
    asked = resolve("what about the kids' room", paint, "Sage green.")
    assert asked == "Which paint did we use in the kids' room?"
    size = resolve("and shoes?", "I need Tom's size for the jacket.", "Tom wears L.")
    assert size == "I need Tom's shoes for the jacket."


def test_question_without_topic_gets_that_of_the_turns() -> None:
    said = ("The billing service is on Postgres now.", "Yes, since the migration from MySQL.")

    for question in ("why did we do that?", "why?", "since when?", "When did we decide?"):
        text = resolve(question, *said)
        assert {"billing", "Postgres"} <= set(text.replace(".", "").split()), text


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("what's the dose of the second?", "metformin"),
        ("And the first one?", "Ramipril"),
        ("and the latter?", "metformin"),
    ],
)
def test_ordinal_chooses_from_a_list(question: str, wanted: str) -> None:
    lists = ("Ramipril and metformin.", "Here:\n1. Ramipril, mornings\n2. metformin, evenings")
    for answer in lists:
        assert wanted in resolve(question, "What do I take?", answer)


def test_noun_gets_its_description_from_the_turns() -> None:
    asked = resolve("Who owns the database?", "My rows in the staging database are gone.", "Oh.")

    assert asked == "Who owns the staging database?"


def test_yes_to_an_offer_searches_for_what_was_offered() -> None:
    offer = "Shall I look up the route of last year?"

    assert "the route of last year" in resolve("yes please", "Let's plan the hike.", offer)
    for refusal in ("no thanks", "thanks!", "not now"):
        assert not resolve_question(refusal, turns("Let's plan the hike.", offer)).added


STANDS_ALONE = [
    "What's my blood type?",
    "Where does Marta live?",
    "What is the name of Tim's dog?",
    "My sister called, where does she live?",
    "I saw Tom yesterday. Is he still in Leeds?",
    "How do I deploy the ledger?",
    "What did we decide about the ledger?",
    "Is it raining?",
    "What time is it?",
    "How are you?",
    "Translate 'good morning' into French.",
    "a bit more casual please",
    "Thanks, that was helpful!",
    "ok",
    "",
]


@pytest.mark.parametrize("question", STANDS_ALONE)
def test_message_that_stands_alone_is_unchanged(question: str) -> None:
    said = turns("We celebrate Ruben's promotion at Casa Nuno.", "Congratulations to him!")

    resolved = resolve_question(question, said)

    assert resolved.text == question
    assert resolved.added == ()


NO_MEMORY = [
    "perfect, thanks a lot",
    "Haha, good one. Another!",
    "shorter, please",
    "can you make it a bit more formal?",
    "please translate this into French: the meeting is on Monday",
    "ok do that",
    "never mind",
]
NEEDS_MEMORY = [
    "Who are you?",
    "which one?",
    "The English title?",
    "what was the French word",
    "Postgres",
    "make a list of my allergies",
    "translate the letter to my landlord",
    "did we fix the table?",
]


@pytest.mark.parametrize("message", NO_MEMORY)
def test_small_talk_and_form_requests_need_no_memory(message: str) -> None:
    assert needs_no_memory(message)


@pytest.mark.parametrize("message", NEEDS_MEMORY)
def test_other_messages_need_memory(message: str) -> None:
    assert not needs_no_memory(message)


def test_answer_to_a_greeting_needs_no_memory() -> None:
    greeting = turns("Morning!", "Good morning! How are you today?")

    assert not resolve_question("Not bad, some sunshine at last :)", greeting).needs_memory
    assert resolve_question("Bad, the talk with Rosa failed.", greeting).needs_memory
    assert resolve_question("Fine. Where is the key?", greeting).needs_memory


def test_short_answer_is_searched_with_what_it_is_about() -> None:
    assert "Ines" in resolve("about the key", "Please write a letter to Ines.", "About what?")
    assert resolve("My phone is broken again.", "I'm late.", "Why?") == "My phone is broken again."


def test_another_form_of_a_translation_needs_no_memory() -> None:
    said = turns("Translate “good luck” into Italian.", "Buona fortuna.")

    assert not resolve_question("and in Spanish?", said).needs_memory
    assert resolve_question(
        "and in Spanish?", turns("Is the menu in Italian?", "Yes.")
    ).needs_memory


def test_added_words_name_their_reason_and_their_messages() -> None:
    said = [
        Turn("My sister Marta called.", load_ids=lambda: ("first",)),
        Turn("Nice.", is_user=False, load_ids=lambda: ("second",)),
    ]

    (added,) = resolve_question("Where does she live?", said).added

    assert (added.words, added.why, added.events) == (
        "my sister Marta",
        "instead of “she”",
        ("first",),
    )


def test_only_the_last_turns_are_read() -> None:
    old = turns("My sister Marta called.", "Nice.", *["The train was late.", "Oh."] * 10)
    recent = turns("The train was late.", *["Oh.", "Yes."] * 10, "My sister Marta called.")

    assert "Marta" not in resolve_question("Where does she live?", old).text
    assert "Marta" in resolve_question("Where does she live?", recent[-MAX_TURNS - 3 :]).text


LONG = [
    "My sister Marta moved to Porto with Tom's dog. " * 3_000,
    "!?.,;" * 20_000,
    "Aa Bb Cc " * 11_000,
    "- a\n" * 25_000,
    "1. a" * 25_000,
    " \n" * 50_000,
    "can i how are you " * 6_000 + "?",
    "«“\"'" * 25_000,
]


@pytest.mark.parametrize("text", LONG)
def test_work_is_bounded(text: str) -> None:
    said = turns(*[text] * 3_000)
    questions = ["Where does she live?", "the second one?", "yes please", text, text[:290]]
    for question in questions:  # warm up: the network of the parser is loaded
        resolve_question(question, said)

    assert max(_seconds(question, said) for question in questions) < 0.05


def _seconds(question: str, said: Sequence[Turn]) -> float:
    def once() -> float:
        started = time.thread_time()
        resolved = resolve_question(question, said)
        took = time.thread_time() - started
        assert len(resolved.text) <= len(question) + 10 * MAX_QUESTION_CHARS
        return took

    return min(once() for _ in range(3))
