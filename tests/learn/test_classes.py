"""Classes of sentences: clauses, lists, plans, endings, quotes, pronouns, requests, names.

A careful secretary notes what is said, and nothing else.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.learn.making import MONDAY, ROOM, TWO, said

from nexusmem.learn.rules import ExtractionResult, MessageContext
from nexusmem.learn.rules.noise import is_english
from nexusmem.learn.rules.results import Landmark, Statement
from nexusmem.learn.rules.tokens import tokenize

ONE_SECOND = timedelta(seconds=1)


def notes(text: str, context: MessageContext = TWO) -> list[str]:
    """Return what is learned from a message of Alice, written to Bob on Monday, 2 March 2026."""
    found = said(text, context=context)
    return sorted(
        [*map(_note_fact, found.facts), *map(_note_landmark, found.landmarks), *_names(found)]
    )


def _note_fact(fact: Statement) -> str:
    tense = "" if fact.temporal == "current" else f"{fact.temporal}: "
    negated = "not: " if fact.negated else ""
    return f"{tense}{negated}{fact.subject} {fact.predicate} {fact.object or fact.value}"


def _note_landmark(landmark: Landmark) -> str:
    until = f" until {(landmark.due - ONE_SECOND).date()}" if landmark.due else ""
    return f"{landmark.kind} of {landmark.owner}{until}"


def _names(found: ExtractionResult) -> list[str]:
    return [
        f"name of {each.owner}: {each.value}" for each in found.identities if each.kind == "name"
    ]


# -- clauses


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "My brother lives in Ghent, but I live in Bruges.",
            ["Alice LIVES_IN Bruges", "Alice's brother LIVES_IN Ghent"],
        ),
        (
            "Nadia, who works at Roche, lives in Basel.",
            ["Nadia LIVES_IN Basel", "Nadia WORKS_AT Roche"],
        ),
        ("Since Omar lives in Cairo, we talk on Sundays.", ["Omar LIVES_IN Cairo"]),
        ("The cat is asleep while Marek works at home.", []),
        (
            "I'm vegan, and Ingrid is allergic to walnuts.",
            ["Alice HAS_DIET vegan", "Ingrid ALLERGIC_TO walnuts"],
        ),
        (
            "Petra moved to Brno after she left Škoda.",
            ["Petra LIVES_IN Brno", "past: Petra WORKS_AT Škoda"],
        ),
        (
            "Rafael lives in Faro; his daughter lives in Evora.",
            ["Rafael LIVES_IN Faro", "Rafael's daughter LIVES_IN Evora"],
        ),
        ("My car is old, which is why I take the tram.", []),
        ("haha yeah I live in Ostrava, it's cold here", ["Alice LIVES_IN Ostrava"]),
        (
            "Although Bianca works at Ferrari, she drives a Fiat.",
            ["Bianca DRIVES Fiat", "Bianca WORKS_AT Ferrari"],
        ),
        (
            "Yusuf is a carpenter and Leyla is a dentist.",
            ["Leyla HAS_ROLE dentist", "Yusuf HAS_ROLE carpenter"],
        ),
        (
            "I prefer trains, my husband prefers planes.",
            [
                "Alice PREFERS trains",
                "Alice's husband PREFERS planes",
                "preference_stated of Alice",
            ],
        ),
        (
            "I live in Tampere and my cousin Pekka works at Wärtsilä.",
            ["Alice LIVES_IN Tampere", "Alice RELATIVE_OF Pekka", "Pekka WORKS_AT Wärtsilä"],
        ),
        (
            "I work at Lufthansa and Tim works at Ryanair.",
            ["Alice WORKS_AT Lufthansa", "Tim WORKS_AT Ryanair"],
        ),
    ],
)
def test_each_clause_has_its_own_facts(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- lists


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "I'm allergic to kiwi and shellfish.",
            ["Alice ALLERGIC_TO kiwi", "Alice ALLERGIC_TO shellfish"],
        ),
        ("Lena and Marta live in Graz.", ["Lena LIVES_IN Graz", "Marta LIVES_IN Graz"]),
        ("I have two cats, Miso and Tofu.", ["Alice HAS_PET Miso", "Alice HAS_PET Tofu"]),
        ("I play the cello and the oboe.", ["Alice PLAYS cello", "Alice PLAYS oboe"]),
        ("Both Igor and Vera work at Yandex.", ["Igor WORKS_AT Yandex", "Vera WORKS_AT Yandex"]),
        (
            "Sofia, Liam and I use Obsidian.",
            ["Alice USES Obsidian", "Liam USES Obsidian", "Sofia USES Obsidian"],
        ),
        (
            "Zoe, Ines and Pablo live in Cádiz.",
            ["Ines LIVES_IN Cádiz", "Pablo LIVES_IN Cádiz", "Zoe LIVES_IN Cádiz"],
        ),
        (
            "i'm allergic to bees, dust and penicillin",
            ["Alice ALLERGIC_TO bees", "Alice ALLERGIC_TO dust", "Alice ALLERGIC_TO penicillin"],
        ),
        (
            "I met Tariq, Bella and Yann.",
            ["past: Alice MET Bella", "past: Alice MET Tariq", "past: Alice MET Yann"],
        ),
        (
            "I like climbing, chess and strong coffee.",
            ["Alice LIKES chess", "Alice LIKES climbing", "Alice LIKES strong coffee"],
        ),
        (
            "Hamid works at Nokia and lives in Espoo.",
            ["Hamid LIVES_IN Espoo", "Hamid WORKS_AT Nokia"],
        ),
        ("Neither Lena nor Marta likes olives.", ["Lena DISLIKES olives", "Marta DISLIKES olives"]),
        (
            "I've lived in Oulu, Turku and Lahti.",
            [
                "past: Alice LIVES_IN Lahti",
                "past: Alice LIVES_IN Oulu",
                "past: Alice LIVES_IN Turku",
            ],
        ),
    ],
)
def test_each_item_of_a_list_is_a_fact(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "We use Kafka, Redis and ClickHouse.",
            ["Apollo USES ClickHouse", "Apollo USES Kafka", "Apollo USES Redis"],
        ),
        (
            "We use Terraform and Ansible for the servers.",
            ["Apollo USES Ansible", "Apollo USES Terraform"],
        ),
    ],
)
def test_project_uses_each_item_of_a_list(text: str, noted: list[str]) -> None:
    assert notes(text, ROOM) == noted


# -- dates of plans


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "We decided to launch the newsletter on 20 March.",
            ["decision of we", "future: newsletter SCHEDULED_FOR 2026-03-20"],
        ),
        (
            "I promised Greta to fix the printer by Wednesday.",
            ["commitment of Alice until 2026-03-04"],
        ),
        ("I'll mail you the slides tomorrow.", ["action_item of Alice until 2026-03-03"]),
        (
            "The dentist appointment is on 12 March.",
            ["future: dentist appointment SCHEDULED_FOR 2026-03-12"],
        ),
        (
            "The grant application is due on 31 March.",
            ["future: grant application DUE_ON 2026-03-31"],
        ),
        (
            "Let's have lunch on Wednesday at noon.",
            ["commitment of we until 2026-03-04", "future: lunch SCHEDULED_FOR 2026-03-04"],
        ),
        ("We decided last Friday to hire a designer.", ["decision of we"]),
        ("The kickoff is next Tuesday.", ["future: kickoff SCHEDULED_FOR 2026-03-10"]),
        ("Team offsite is on 18 May.", ["future: Team offsite SCHEDULED_FOR 2026-05-18"]),
        ("My passport expires on 1 June 2027.", ["future: passport ENDED_ON 2027-06-01"]),
        (
            "I'll finish the translation by the end of March.",
            ["action_item of Alice until 2026-03-31"],
        ),
        ("I'm flying to Oslo on 14 March.", ["future: Alice TRAVELING_TO Oslo"]),
        ("The conference ended on 27 February.", ["past: conference ENDED_ON 2026-02-27"]),
        ("The course starts on 6 April.", ["future: course STARTED_ON 2026-04-06"]),
        ("heads up: my surgery is on 23 April", ["future: surgery SCHEDULED_FOR 2026-04-23"]),
        ("The tax return is due by 30 April.", ["future: tax return DUE_ON 2026-04-30"]),
        ("My birthday is 11 August.", ["Alice BORN_ON --08-11"]),
    ],
)
def test_plan_lies_ahead(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


@pytest.mark.parametrize(
    "text",
    [
        "We agreed to meet the auditors on Thursday.",
        "I agreed to give the keynote on 8 May.",
        "Kim promised to repaint the hall on Saturday.",
        "We planned the picnic for 17 May.",
        "They scheduled the inspection for Tuesday.",
        "We decided to postpone the workshop to 2 April.",
    ],
)
def test_date_of_a_plan_is_not_behind(text: str) -> None:
    found = said(text, context=TWO)
    dates = [fact.valid_from for fact in found.facts] + [each.due for each in found.landmarks]

    assert all(date > MONDAY for date in dates if date)
    assert all(fact.temporal != "past" for fact in found.facts)


@pytest.mark.parametrize(
    "text",
    [
        "I go swimming every Friday.",
        "Every morning I run five kilometres.",
        "I usually call my mother on Sundays.",
        "Our choir rehearses on Tuesdays.",
        "We have pizza every Thursday night.",
        "Mondays are for paperwork.",
    ],
)
def test_habit_has_no_day(text: str) -> None:
    found = said(text, context=TWO)

    assert [fact.valid_from for fact in found.facts if fact.valid_from] == []
    assert [each.due for each in found.landmarks if each.due] == []


# -- endings


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I no longer live in Utrecht.", ["past: Alice LIVES_IN Utrecht"]),
        ("Viktor left Ericsson in January.", ["past: Viktor WORKS_AT Ericsson"]),
        ("I quit Accenture.", ["past: Alice WORKS_AT Accenture"]),
        ("Jonas and I broke up.", ["past: Jonas DATING Alice"]),
        ("I sold my Vespa.", ["past: Alice OWNS Vespa"]),
        ("I was laid off from Wayfair last week.", ["past: Alice WORKS_AT Wayfair"]),
        ("Ana started at Novartis in February.", ["Ana WORKS_AT Novartis"]),
        ("I used to play the drums.", ["past: Alice PLAYS drums"]),
        ("I don't drink coffee anymore.", ["past: Alice DRINKS coffee"]),
        ("Mia isn't my manager anymore.", ["past: Alice REPORTS_TO Mia"]),
        ("Emma quit Google last week.", ["past: Emma WORKS_AT Google"]),
        ("I stopped eating meat.", ["past: Alice EATS meat"]),
        ("Ralf used to work at Opel.", ["past: Ralf WORKS_AT Opel"]),
        ("I didn't quit.", []),
        ("Kofi left the room.", []),
        ("Kofi left the keys at Volvo.", []),
        ("Nora resigned from Equinor.", ["past: Nora WORKS_AT Equinor"]),
        ("I don't work at Renault anymore.", ["past: Alice WORKS_AT Renault"]),
        (
            "Joanna has left IKEA and joined Maersk.",
            ["Joanna WORKS_AT Maersk", "past: Joanna WORKS_AT IKEA"],
        ),
        ("Tina is no longer vegan.", ["past: Tina HAS_DIET vegan"]),
        ("Torvald left Nokia in May.", ["past: Torvald WORKS_AT Nokia"]),
        (
            "Oskar left Ericsson in May, he's at a startup in Lund now.",
            ["Oskar WORKS_AT startup in Lund", "past: Oskar WORKS_AT Ericsson"],
        ),
        ("Dmitri got laid off from Klarna.", ["past: Dmitri WORKS_AT Klarna"]),
        ("I haven't left Siemens.", []),
        ("Sigrid and Lars got divorced.", ["past: Sigrid SPOUSE_OF Lars"]),
        ("Moa and I split up in January.", ["past: Moa DATING Alice"]),
        ("Nils is my ex.", ["past: Alice DATING Nils"]),
        ("My ex-husband is Nils.", ["past: Alice SPOUSE_OF Nils"]),
        ("lol I got fired from Starbucks", ["past: Alice WORKS_AT Starbucks"]),
    ],
)
def test_end_of_a_state_is_past(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("We stopped using Trello.", ["past: Apollo USES Trello"]),
        (
            "We replaced Jenkins with Buildkite.",
            ["Apollo USES Buildkite", "past: Apollo USES Jenkins"],
        ),
        (
            "We switched from Slack to Zulip last month.",
            ["Apollo USES Zulip", "past: Apollo USES Slack"],
        ),
        ("We dropped MongoDB.", ["past: Apollo USES MongoDB"]),
        (
            "We migrated from Angular to Svelte.",
            ["Apollo USES Svelte", "past: Apollo USES Angular"],
        ),
    ],
)
def test_project_no_longer_uses_a_replaced_product(text: str, noted: list[str]) -> None:
    assert notes(text, ROOM) == noted


# -- quotes


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("He told me: I live in Dublin.", []),
        ("She wrote: 'I quit my job at SAP.'", []),
        ('My landlord said "I own three houses".', []),
        ("Fwd:\n> From: Ulla\n> I moved to Aarhus.\nsee above", []),
        ("The sign says: We accept dogs.", []),
        ("Freya asked: do you live in Turin?", []),
        ("The lyrics go 'I was born in a crossfire hurricane'.", []),
        (
            "todo from the meeting:\n- Hanna: book the bus\n- Leo: order the cake",
            ["action_item of Hanna", "action_item of Leo"],
        ),
        ("Tove said she lives in Malmö.", ["Tove LIVES_IN Malmö"]),
        ("My boss wrote: 'We use Oracle.'", []),
        ("And then she goes: I hate Mondays!", []),
        ("Quote of the day: I never liked mornings.", []),
        ("As Seneca said, I live in hope.", []),
        ("From the docs: You should use Postgres.", []),
        ("Nils told me he works at Skanska.", ["Nils WORKS_AT Skanska"]),
        (
            "On Tue, Feb 24, Ulla wrote:\n> I live in Aarhus.\n> I'll send it tomorrow.\n\nthanks!",
            [],
        ),
        ('Tamar texted me "I am moving to Haifa".', []),
        ("The manual reads: We support Windows.", []),
        ("Lucas says he lives in Recife.", ["Lucas LIVES_IN Recife"]),
        (
            "Action items:\n- Wanda: call the caterer by Thursday\n- Alice: print the badges",
            ["action_item of Alice", "action_item of Wanda until 2026-03-05"],
        ),
        (
            "-- Forwarded message --\nFrom: Ulla <u@firm.example>\n\nI work at Vestas.",
            [],
        ),
        ("Ben: my number is 555-010-4477", []),
    ],
)
def test_words_of_others_are_not_the_speakers(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- pronouns


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (
            "My aunt lives in Lyon. She works at Sanofi.",
            ["Alice's aunt LIVES_IN Lyon", "Alice's aunt WORKS_AT Sanofi"],
        ),
        ("Talked to Edgar today. He lives in Riga now.", ["Edgar LIVES_IN Riga"]),
        ("He lives in Kyiv.", []),
        ("Their office is in Porto.", []),
        (
            "Sven and his wife live in Bergen.",
            ["Sven LIVES_IN Bergen", "Sven's wife LIVES_IN Bergen"],
        ),
        (
            "Elif is my sister. Her birthday is 3 October.",
            ["Alice SIBLING_OF Elif", "Elif BORN_ON --10-03"],
        ),
        ("I gave Rosa the keys. They are hers now.", []),
        ("Ilse called. She lives in Gent now.", ["Ilse LIVES_IN Gent"]),
        ("She is allergic to cats.", []),
        (
            "My uncle is a pilot. He lives in Doha.",
            ["Alice's uncle HAS_ROLE pilot", "Alice's uncle LIVES_IN Doha"],
        ),
        ("You live in Essen.", ["Bob LIVES_IN Essen"]),
        ("Just spoke with Beatriz. She's allergic to gluten.", ["Beatriz ALLERGIC_TO gluten"]),
        (
            "My grandma is 90. She lives in Sibiu.",
            ["Alice's grandma HAS_AGE 90", "Alice's grandma LIVES_IN Sibiu"],
        ),
        ("Someone lives in the attic.", []),
        ("Paula met Irene. She lives in Vigo.", ["past: Paula MET Irene"]),
        ("It works at Siemens.", []),
        (
            "My neighbour Tilda is a vet and she loves goats.",
            ["Alice NEIGHBOR_OF Tilda", "Tilda HAS_ROLE vet", "Tilda LIKES goats"],
        ),
        ("They use Windows.", []),
        ("Ask Dario or Mattia, he speaks Italian.", []),
        ("Talked to Omar and Pavel at the fair. He lives in Cork.", []),
        ("Had tea with Omar at the fair. He lives in Cork.", ["Omar LIVES_IN Cork"]),
    ],
)
def test_pronoun_refers_to_a_clear_name_only(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- requests


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("Could you book a table for Friday?", ["action_item of Bob until 2026-03-06"]),
        ("Bob, please review my draft.", ["action_item of Bob"]),
        ("remind me to call the plumber tomorrow", ["action_item of Alice until 2026-03-03"]),
        ("Can you believe it?", []),
        ("Would you like some tea?", []),
        ("Do you know where Lena works?", []),
        ("I need you to order new badges by Thursday.", ["action_item of Bob until 2026-03-05"]),
        ("Don't forget to water the plants.", ["action_item of Bob"]),
        ("Can I work at home tomorrow?", []),
        ("Please don't call me after nine.", ["preference_stated of Alice"]),
        ("Where can I buy a Vespa?", []),
        ("Please be patient.", []),
        ("Thank you for sending the file!", []),
        ("Bob, could you call Irma on Thursday?", ["action_item of Bob until 2026-03-05"]),
        ("You don't need to call me.", []),
        ("Please send me the invoice by Wednesday.", ["action_item of Bob until 2026-03-04"]),
    ],
)
def test_request_is_a_task_and_a_question_is_not(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- we


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("We live in Antwerp.", ["we LIVES_IN Antwerp"]),
        ("We use Figma.", ["we USES Figma"]),
        (
            "My wife and I live in Gdynia.",
            ["Alice LIVES_IN Gdynia", "Alice's wife LIVES_IN Gdynia"],
        ),
        ("We moved to Trieste.", ["we LIVES_IN Trieste"]),
        ("We love hiking.", ["we LIKES hiking"]),
        ("We're vegetarians.", ["we HAS_DIET vegetarian"]),
        ("We bought a house in Vejle.", ["past: we BOUGHT house"]),
        ("We should use Kafka.", []),
    ],
)
def test_we_without_a_project_stays_we(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("We live in Antwerp.", ["we LIVES_IN Antwerp"]),
        ("We deploy on Fly.io.", ["Apollo USES Fly.io"]),
        ("We have a rabbit called Mochi.", ["we HAS_PET Mochi"]),
        ("Our budget is 12,000 euros.", ["Apollo HAS_BUDGET 12,000 euros"]),
        ("We switched to Linear.", ["Apollo USES Linear"]),
        ("We don't use Docker.", ["not: Apollo USES Docker"]),
        (
            "We'll publish the report on Friday.",
            ["action_item of Apollo until 2026-03-06", "future: report SCHEDULED_FOR 2026-03-06"],
        ),
        ("We host everything on Hetzner.", ["Apollo USES Hetzner"]),
    ],
)
def test_we_is_the_project(text: str, noted: list[str]) -> None:
    assert notes(text, ROOM) == noted


# -- self-description


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I'm vegetarian.", ["Alice HAS_DIET vegetarian"]),
        ("fyi im allergic to latex", ["Alice ALLERGIC_TO latex"]),
        ("Please answer in bullets.", ["preference_stated of Alice"]),
        ("I'm a paramedic.", ["Alice HAS_ROLE paramedic"]),
        ("My favourite editor is Helix.", ["Alice PREFERS Helix"]),
        ("I prefer window seats.", ["Alice PREFERS window seats", "preference_stated of Alice"]),
        ("I don't eat pork.", ["not: Alice EATS pork"]),
        ("Always use metric units when you answer me.", ["preference_stated of Alice"]),
        ("I'm from Porto originally", ["Alice FROM Porto"]),
        (
            "My name is Alicia but everyone calls me Al.",
            ["name of Alice: Al", "name of Alice: Alicia"],
        ),
        ("I'm pescatarian btw", ["Alice HAS_DIET pescatarian"]),
        ("I can't stand cilantro.", ["Alice DISLIKES cilantro", "preference_stated of Alice"]),
        ("I'm married to Henrike.", ["Alice SPOUSE_OF Henrike"]),
        ("I go by Ally.", ["name of Alice: Ally"]),
        ("Never send me voice messages.", ["preference_stated of Alice"]),
        ("I don't like phone calls.", ["Alice DISLIKES phone calls"]),
        ("I'm an expert in tax law.", ["Alice SKILLED_IN tax law"]),
        ("My timezone is Europe/Helsinki.", ["Alice HAS_TIMEZONE Europe/Helsinki"]),
        ("Keep your answers short, please.", ["preference_stated of Alice"]),
        ("I'm 41 years old.", ["Alice HAS_AGE 41"]),
        ("Please reply in German.", ["preference_stated of Alice"]),
        ("I'm a big fan of jazz.", ["Alice LIKES jazz"]),
    ],
)
def test_self_description_is_a_fact_or_a_preference(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- what is not asserted


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("If I move to Tartu I'll need a bike.", []),
        ("Maybe Hugo works at Lidl.", []),
        ("I wish I lived in Madeira.", []),
        ("I might move to Vilnius.", []),
        ("Does Irina live in Minsk?", []),
        ("Tom doesn't live in Bath.", ["not: Tom LIVES_IN Bath"]),
        ("Unless Karim quits Uber, nothing changes.", []),
        ("Assume that Lea works at Roche.", []),
        ("Rumour has it that Otto left Bayer.", []),
        ("I thought you lived in Kassel.", []),
        ("No one here speaks Danish.", []),
        ("I hope to work at CERN one day.", []),
        ("I used to think I was allergic to nuts.", []),
        ("What if we used Erlang?", []),
        ("I could use a coffee.", []),
        ("I'd love to live in Kyoto.", []),
        ("Gustav probably works at Spotify.", []),
        ("Should I move to Plovdiv?", []),
        ("Apparently Mira quit Zalando.", []),
        ("I'm not sure whether Dina lives in Aachen.", []),
        ("Had I stayed at Intel, I'd be rich.", []),
        ("I never worked at Oracle.", ["past: not: Alice WORKS_AT Oracle"]),
        ("I almost bought a Tesla.", []),
        ("I was going to move to Bern, but I didn't.", []),
        ("I can't say that I like jazz.", []),
    ],
)
def test_only_assertions_are_noted(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- negation


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I don't think Rania lives in Tunis.", []),
        ("Contrary to what Jo says, I don't live in Cork.", ["not: Alice LIVES_IN Cork"]),
        ("It isn't true that Kasper works at Carlsberg.", []),
    ],
)
def test_denial_is_negated(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


def test_denial_about_the_project_is_negated() -> None:
    assert notes("We never used Oracle.", ROOM) == ["past: not: Apollo USES Oracle"]


# -- small talk


@pytest.mark.parametrize(
    "text",
    [
        "I could eat a horse.",
        "I'm dying to see it.",
        "You work like a machine.",
        "I'm all ears.",
        "Time flies.",
        "That's a great question!",
        "I love it!",
        "I live for this stuff.",
        "Let me think about it.",
        "I'm on fire today.",
        "She's a star.",
        "We'll see.",
        "I owe you one.",
        "I'll be right back.",
        "I'll think about it.",
        "Let's go!",
        "I'm at the airport.",
        "I'm a bit tired.",
        "He's such a clown.",
    ],
)
def test_idiom_teaches_nothing(text: str) -> None:
    assert notes(text) == []


# -- commands to an assistant


@pytest.mark.parametrize(
    "text",
    [
        "Write a poem about Lisbon.",
        "Summarize this article.",
        "Explain how Kafka works.",
        "What is the capital of Peru?",
        "Give me five names for a cat.",
        "Fix this code: x = Foo()",
        "Tell me a story about Anna who lives in Prague.",
        "Pretend you are a pirate named Jack.",
        "Act as if I worked at NASA.",
    ],
)
def test_command_to_the_assistant_teaches_nothing(text: str) -> None:
    assert notes(text) == []


# -- fiction and examples


@pytest.mark.parametrize(
    "text",
    [
        "In the novel, Emma lives in Highbury.",
        "For example, John works at Acme.",
        "Say Maria lives in Rome. What train would she take?",
        "In my dream I lived on Mars.",
        "The character Walter is a chemistry teacher.",
        "Once upon a time a king lived in Zamora.",
    ],
)
def test_fiction_teaches_nothing(text: str) -> None:
    assert notes(text) == []


# -- dates


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I moved to Liverpool in 2018.", ["Alice LIVES_IN Liverpool"]),
        ("My lease ends on 30 September.", ["future: lease ENDED_ON 2026-09-30"]),
        ("The demo might be on Friday.", []),
    ],
)
def test_date_is_resolved(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- addresses


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("My email is a.meyer@post.example.", ["Alice HAS_EMAIL a.meyer@post.example"]),
        ("Try Jana Vos, 0471 22 33 55", ["Jana Vos HAS_PHONE 0471 22 33 55"]),
        ("Piotr's email is piotr@lab.example", ["Piotr HAS_EMAIL piotr@lab.example"]),
        ("Write to support@shop.example if it breaks.", []),
    ],
)
def test_address_belongs_to_its_owner(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- names


@pytest.mark.requirement("B2")
@pytest.mark.parametrize(
    ("text", "name", "type"),
    [
        ("I met Ana Lucía Herrera at the station.", "Ana Lucía Herrera", "person"),
        ("I work at Norsk Hydro.", "Norsk Hydro", "company"),
        ("I live in Rio de Janeiro.", "Rio de Janeiro", "place"),
        ("I graduated from the University of Ljubljana.", "University of Ljubljana", "company"),
        ("I live in New Delhi.", "New Delhi", "place"),
        ("I had lunch with Siobhan Murphy.", "Siobhan Murphy", "person"),
        ("My manager is Priyanka Chandrasekhar.", "Priyanka Chandrasekhar", "person"),
        ("We visited the Louvre in Paris.", "Paris", "place"),
        ("Summer lives in Reno.", "Summer", "person"),
        ("I had coffee with Fatima Zahra El Idrissi.", "Fatima Zahra El Idrissi", "person"),
        ("I work at Banco Santander.", "Banco Santander", "company"),
        ("I live in San Sebastián.", "San Sebastián", "place"),
        ("April works at Target.", "April", "person"),
    ],
)
def test_name_is_complete_and_has_its_type(text: str, name: str, type: str) -> None:
    assert {each.name: each.type for each in said(text).entities}[name] == type


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("I met Ana Lucía Herrera at the station.", ["past: Alice MET Ana Lucía Herrera"]),
        ("My dentist is Dr. Ifeoma Obi.", ["Alice HAS_DOCTOR Dr. Ifeoma Obi"]),
        ("I work at Norsk Hydro.", ["Alice WORKS_AT Norsk Hydro"]),
        ("I live in Rio de Janeiro.", ["Alice LIVES_IN Rio de Janeiro"]),
        (
            "I graduated from the University of Ljubljana.",
            ["past: Alice GRADUATED_FROM University of Ljubljana"],
        ),
        ("I live in New Delhi.", ["Alice LIVES_IN New Delhi"]),
        ("Ludwig van Beethoven was born in Bonn.", ["past: Ludwig van Beethoven BORN_IN Bonn"]),
        ("My manager is Priyanka Chandrasekhar.", ["Alice REPORTS_TO Priyanka Chandrasekhar"]),
        ("Thanks, Monday works for me.", []),
        ("We visited the Louvre in Paris.", []),
        ("Summer lives in Reno.", ["Summer LIVES_IN Reno"]),
        ("I work at Banco Santander.", ["Alice WORKS_AT Banco Santander"]),
        ("My doctor is Mrs. Novotná.", ["Alice HAS_DOCTOR Mrs. Novotná"]),
        ("I live in San Sebastián.", ["Alice LIVES_IN San Sebastián"]),
        ("April works at Target.", ["April WORKS_AT Target"]),
    ],
)
def test_fact_has_the_complete_name(text: str, noted: list[str]) -> None:
    assert notes(text) == noted


# -- other languages


@pytest.mark.requirement("B2")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Vivo en Sevilla y trabajo en Telefónica.", ["Sevilla", "Telefónica"]),
        ("Mi hermano Javier no come carne.", ["Javier"]),
        ("J'habite à Nantes et je travaille chez Airbus.", ["Airbus", "Nantes"]),
        ("Ma fille Chloé est allergique aux noix.", ["Chloé"]),
        ("Mieszkam w Krakowie i pracuję w firmie Allegro.", ["Allegro", "Krakowie"]),
        ("Moja siostra Agnieszka nie lubi kawy.", ["Agnieszka"]),
        ("Am Montag habe ich einen Termin in Wien.", ["Wien"]),
        ("Hola, me llamo Lucía.", ["Lucía"]),
        ("Peux-tu m'envoyer le fichier demain ?", []),
        ("Die Frist ist am 3. April.", []),
        ("Trabajo con Pablo Ruiz en Bilbao.", ["Bilbao", "Pablo Ruiz"]),
        ("Nous avons décidé d'utiliser Redis.", ["Redis"]),
        ("Spotkanie z Tomaszem Nowakiem jest w piątek.", ["Tomaszem Nowakiem"]),
        ("Mein Bruder Matthias arbeitet bei Daimler in Stuttgart.", ["Daimler", "Stuttgart"]),
        ("Mañana tengo una reunión con Carmen Ortega.", ["Carmen Ortega"]),
        ("On a décidé de passer à Kubernetes.", ["Kubernetes"]),
        ("Jutro mam spotkanie z Kasią.", ["Kasią"]),
        ("No me gusta el café, prefiero el té.", []),
        ("Bitte schick mir die Datei bis Freitag.", []),
        ("Je suis végétarienne.", []),
        ("Der Klempner war am Montag da, ich war zum Glück im Garten.", []),
        ("Nuestro casero sube el alquiler en mayo", []),
    ],
)
def test_other_language_teaches_names_only(text: str, names: list[str]) -> None:
    found = said(text, context=TWO)

    assert (found.facts, found.landmarks, found.identities) == ((), (), ())
    assert set(names) <= {each.name for each in found.entities}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Der Klempner war am Montag da, ich war zum Glück im Garten.", None),
        ("Nuestro casero sube el alquiler en mayo", None),
        ("Tu penses qu'il va pleuvoir demain ?", None),
        ("Ab Herbst wohne ich ja in Kassel.", "Kassel"),
    ],
)
def test_other_language_has_only_listed_names(text: str, name: str | None) -> None:
    assert [each.name for each in said(text, context=TWO).entities] == ([name] if name else [])


@pytest.mark.parametrize(
    "text", ["We live in La Paz.", "I am moving to Los Angeles.", "Is the Café del Mar open today?"]
)
def test_foreign_words_of_a_name_are_english(text: str) -> None:
    assert is_english(tokenize(text))
