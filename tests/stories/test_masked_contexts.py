"""Contexts and compacted messages show no secret, and leave ordinary texts as they are.

The texts were written before the detectors were read. Of each kind of secret there are two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from nexusmem import Nexus, Place
from nexusmem.text.secrets import SECRET_MARK, mask_text, mask_value


class Planted(NamedTuple):
    """A kind of secret: a key to store it under, two sentences, and a secret for each."""

    key: str
    one: str
    other: str
    secret: str
    other_secret: str


# The secrets are written in pieces, so that scanners of repositories do not report them.
PLANTED = (
    Planted(
        "staging.password",
        "btw the staging password is {}, don't lose it",
        "Password for the wiki: {} (I changed it on Monday)",
        ("Tr0ub4dor&3"),
        ("gr33nHouse!77"),
    ),
    Planted(
        "db.password",
        "export DB_PASSWORD={} and restart",
        "put PGPASSWORD={} in front of psql",
        ("hX92kqLm31"),
        ("s3cr3t-w0rd9"),
    ),
    Planted(
        "ssh.passphrase",
        "my ssh passphrase is {}",
        'the disk\'s passphrase: "{}"',
        ("correct horse battery staple"),
        ("seven purple lamps dance"),
    ),
    Planted(
        "openai key",
        "use {} for the demo please",
        "the key {} is over quota",
        ("sk-proj-Ab3dEf6hIj9kLmN0pQrStUvWxYz1234567890abcd"),
        ("sk-4fT9xQ2LmZ7wRk1YbN8vC3sHdJ6gP0aE5uXoKiMt"),
    ),
    Planted(
        "anthropic key",
        "I pasted {} into the config",
        "{} <- that is the claude one",
        ("sk-ant-api03-Zk3nQ8vY1pW7xC5bN2mL9kJ4hG6fD0sA-aB12cD34EfGh"),
        ("sk-ant-api03-M7xQp2LrT9vB4nK8wJ3cF6hD1sZ5gY0e-qW98eR76TyUi"),
    ),
    Planted(
        "aws access key id",
        "aws id {} belongs to the ci user",
        "rotate {} by tonight",
        ("AKIAQX7ZP4LMN2RTB6WK"),
        ("AKIA3FJ9DKW8VHS2YCMQ"),
    ),
    Planted(
        "aws.secret_key",
        "aws_secret_access_key = {}",
        "AWS secret: {}",
        ("wJ9rKx2TnFEMI/K7MDENG/bPxRfiCYq8zLm4Vs1T"),
        ("Hq4+zT8nYpLw2/Rk6VbXc0JfMd1sGa5uEo3iQy7B"),
    ),
    Planted(
        "github pat classic",
        "git remote set-url origin https://x:{}@github.com/acme/site",
        "token {} works for the bot",
        ("ghp_k3Jd82Lsm0QpWz91XvBnT6yRf4HcU7eA5gMi"),
        ("ghp_Z9xW8vU7tS6rQ5pO4nM3lK2jI1hG0fE9dC8b"),
    ),
    Planted(
        "github pat fine",
        "new one: {}",
        "CI uses {} since March",
        (
            "github_pat_11ABCDEFG0abcdefghi"
            "jkl_MNOPqrstUVWXyz0123456789ab"
            "cdefghIJKLmnopQRSTuvwxYZ012345"
        ),
        (
            "github_pat_22ZYXWVUT9zyxwvutsr"
            "qpo_nmlkJIHGfedcba9876543210zy"
            "xwvutSRQPonmlKJIHgfedCBA98765"
        ),
    ),
    Planted(
        "gitlab pat",
        "gitlab wants {} as the password",
        "{} is the runner's",
        ("glpat-xY7kLm92QpRtVw3ZbNc1"),
        ("glpat-9sDf8gHj7kLq6wEr5tYu"),
    ),
    Planted(
        "slack bot token",
        "the bot logs in with {}",
        "slack: {}",
        ("xoxb-318274650918-4827364510293-Kd83jLs02mXpQz71VbNtYr4F"),
        ("xoxb-927364518273-1827364509182-Qw82eRt71yUi60oPa59sDf48"),
    ),
    Planted(
        "slack webhook",
        "post to {} when it fails",
        "alerts go via {}",
        ("https://hooks.slack.com/services/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"),
        ("https://hooks.slack.com/services/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"),
    ),
    Planted(
        "stripe live",
        "stripe {} \u2014 live, careful",
        "charge with {}",
        ("sk_live_51Hx9LmK2pQrT8vWzYbNc4dF"),
        ("sk_live_7uJ3kM9nB2vC5xZ8lA1sD4fG"),
    ),
    Planted(
        "google api key",
        "maps key {}",
        "the page loads with ?key={}",
        ("AIzaSyD3kF9mLq2XzPw7RtVb1NcYh4JgUe8AoMi"),
        ("AIzaSyB8nHj5KlZx3CvQw1ErTy6UiOp9AsDf2Gh"),
    ),
    Planted(
        "jwt",
        "curl -H 'Authorization: Bearer {}' api.acme.io",
        "session={}",
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI"
            "0MiIsIm5hbWUiOiJBbGljZSJ9.k3Ld82"
            "mXpQz71VbNtYr4FhGcUe5AoMi9sWj0"
        ),
        (
            "eyJ0eXAiOiJKV1QifQ.eyJ1c2VyIjoi"
            "Ym9iIiwiZXhwIjoxN30.Qw82eRt71yU"
            "i60oPa59sDf48gHj37kLz26xCv15bNm"
        ),
    ),
    Planted(
        "pem private key",
        "here you go:\n{}\nkeep it safe",
        "the deploy key is\n{}",
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEow"
            "IBAAKCAQEA7k3Jd82Lsm0QpWz91XvBnT6yRf4H"
            "cU7eA5gMiZ9x\nW8vU7tS6rQ5pO4nM3lK2jI1hG"
            "0fE9dC8b\n-----END RSA PRIVATE KEY-----"
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3"
            "BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9u"
            "ZQAAAAAAAAABAAAAMwAA\nAAtzc2gtZWQyNTUxO"
            "Q\n-----END OPENSSH PRIVATE KEY-----"
        ),
    ),
    Planted(
        "db.password",
        "DATABASE_URL is postgres://nexus:{}@db.acme.io:5432/prod",
        "connect with postgresql+psycopg://ana:{}@10.0.0.7/crm",
        ("Zx81kkQ-p"),
        ("mango77Tree"),
    ),
    Planted(
        "feed.password",
        "the feed is at https://reader:{}@feeds.acme.io/all.xml",
        "redis://:{}@cache:6379/0 is the broker",
        ("tulip_44x"),
        ("r3dis-P4ss"),
    ),
    Planted(
        "credit card",
        "book it on my visa {}, exp 09/28",
        "card number {} please",
        ("4539 1488 0343 6467"),
        ("5425233430109903"),
    ),
    Planted(
        "iban",
        "transfer the deposit to {}",
        "IBAN: {}",
        ("DE89370400440532013000"),
        ("GB29 NWBK 6016 1331 9268 19"),
    ),
    Planted(
        "ssn",
        "my social is {} for the form",
        "SSN {} (Maria)",
        ("536-22-8726"),
        ("219-09-9998"),
    ),
    Planted(
        "alarm.pin",
        "the alarm pin is {}",
        "PIN for the safe: {}",
        ("8830"),
        ("417209"),
    ),
    Planted(
        "login.code",
        "my login code is {}",
        "your verification code: {}",
        ("482913"),
        ("003871"),
    ),
    Planted(
        "npm token",
        "//registry.example/:_authToken={}",
        "npm login failed, so I used {}",
        ("npm_aB3dE6fG9hJ2kL5mN8pQ1rS4tU7vW0xY3zA6"),
        ("npm_Q7wE4rT1yU8iO5pA2sD9fG6hJ3kL0zX7cV4b"),
    ),
    Planted(
        "pypi token",
        "twine wants {}",
        "PYPI upload: {}",
        ("pypi-AgEIcHlwaS5vcmcCJDk3ZmQ4NzVhLTBiZjEtNDM2Yi1hOGQ3LWFiY2RlZjEyMzQ1Ng"),
        ("pypi-AgENdGVzdC5weXBpLm9yZwIkMTIzNDU2NzgtYWJjZC1lZjAxLTIzNDUtNjc4OWFiY2RlZg"),
    ),
    Planted(
        "sendgrid",
        "mail goes through {}",
        "SENDGRID_KEY={}",
        ("SG.kLm7NoPqRs8TuVwXyZ9aBc.DeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJ"),
        ("SG.9sDf8gHj7kLq6wEr5tYuIo.PaSdFgHjKlZxCvBnMqWeRtYuIoP1234567890AsDfGh"),
    ),
    Planted(
        "telegram bot",
        "the telegram bot answers on {}",
        "BotFather gave me {}",
        ("6283947561:AAHk3Jd82Lsm0QpWz91XvBnT6yRf4HcU7eA"),
        ("5719283746:AAFz9XwV8uT7sR6qP5oN4mL3kJ2iH1gF0eD"),
    ),
    Planted(
        "weather.api_key",
        "weather api key: {}",
        "set X-Api-Key to {}",
        ("9f8e7d6c5b4a39281706f5e4d3c2b1a0"),
        ("b7Kx02mZq9Lw4Tn6"),
    ),
    Planted(
        "storage.account_key",
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",
        "the storage account key is {}",
        (
            "Eby8vdM02xNOcqFlqUwJPLlmEtlCDX"
            "J1OUzFT50uSRZ6IFsuFq2UVErCz4I6"
            "tq/K1SZFPTOtr/KBHBeksoGMGw=="
        ),
        ("kL9mN8bV7cX6zA5sD4fG3hJ2kL1qW0eR9tY8uI7oP6aS5dF4gH3jK2lZ1xC0vB9nM8qW7eR6tY5uI4oP3a=="),
    ),
    Planted(
        "oauth.client_secret",
        "client_secret={} goes into the vault",
        "oauth client secret: {}",
        ("8Q~k3Jd82Lsm0QpWz91XvBnT6yRf4HcU7eA"),
        ("GOCSPX-x7Kd92LmQp4RtVw8ZbNc1YhJ"),
    ),
    Planted(
        "wifi.password",
        "wifi is AcmeGuest, password {}",
        "the guest network's wifi key is {}",
        ("bluewhale2024"),
        ("Rosenheim!19"),
    ),
    Planted(
        "huggingface",
        "login with {}",
        "HF_TOKEN={}",
        ("hf_kLmNoPqRsTuVwXyZaBcDeFgHiJkLmNoPqR"),
        ("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"),
    ),
    Planted(
        "wallet.seed phrase",
        "wallet seed phrase: {}",
        "my recovery phrase is {}",
        ("abandon ladder velvet crane orbit maple tunnel siren copper drift hazel pond"),
        ("gravity lemon pistol onyx saddle quiz timber umbrella vivid walnut yellow zebra"),
    ),
    Planted(
        "session.token",
        "Cookie: sessionid={}",
        "set-cookie: auth_token={}; HttpOnly",
        ("q8Zk3nYv1pW7xC5bN2mL9kJ4"),
        ("f4HcU7eA5gMiZ9xW8vU7tS6r"),
    ),
)
HARMLESS = (
    "my password manager is great",
    "I forgot my password again, sigh",
    "The password policy needs twelve characters.",
    "can you reset the password for me?",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the build",
    "git revert b4fd983 fixed it",
    "ISBN 978-3-16-148410-0 is the one I mean",
    "isbn 9780306406157, second edition",
    "call me at +1 415 555 2671",
    "his number is 0176 2345 6789",
    "the meeting id is 845 2291 7730",
    "order 112-4839201-5522014 arrives on Tuesday",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 is the empty digest",
    "uuid 550e8400-e29b-41d4-a716-446655440000 in the log",
    "The key to a good sauce is patience.",
    "the secret is butter, lots of it",
    "I have a token of appreciation for you",
    "each token costs 0.002 cents",
    "we need 4,000 tokens of context",
    "the access token expires after an hour",
    "keep it a secret please",
    "our secret santa is on the 12th",
    "public key cryptography is fun",
    "pin the tab please",
    "I pinned the message yesterday",
    "the PIN pad in the lobby is broken",
    "zip code 94107, San Francisco",
    "flight LH 1234 leaves at 18:40",
    "train ICE 1021 from platform 7",
    "ticket ACME-2211 is still open",
    "version 2.14.0-rc.3 is out",
    "192.168.178.1 is the router",
    "https://docs.acme.io/guide?page=2&section=auth#tokens",
    "see https://github.com/acme/site/commit/9fceb02d0ae598e95dc970b74767f19372d61af8",
    "my birthday is 12/04/1991",
    "invoice 2024-00017 over 1.234,50 EUR",
    "The MAC address is 3c:22:fb:9a:10:7e",
    "we flew 12 345 678 miles together",
    "pi is 3.14159265358979323846",
    "the API key concept confuses new users",
    "api keys should be rotated every quarter",
    "the passphrase should be long",
    "an auth token is needed for that endpoint",
    "the client secret goes into the vault, never into git",
    "basic auth is deprecated",
    "bearer of bad news: the demo failed",
    "the bank closes at four",
    "account number? which one?",
    "my credit card was declined",
    "the login code did not arrive",
    "The verification code is sent by text message.",
    "he said the password was wrong",
    "def get_password(self): return self._password",
    "SELECT password_hash FROM users WHERE id = 7",
    "password: see the vault",
    "recovery phrases are written on paper",
    "supercalifragilisticexpialidocious",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    "wifi password is on the fridge",
    "latitude 48.137154, longitude 11.576124",
)
SENTENCES = [
    (sentence.replace("{}", secret), secret)
    for each in PLANTED
    for sentence, secret in ((each.one, each.secret), (each.other, each.other_secret))
]


def leaked(text: str, secret: str) -> bool:
    """Return whether a text shows the secret, or a long piece of it."""
    plain = " ".join(text.split())
    lines = [line for line in secret.split("\n") if "-----" not in line]
    return any(" ".join(line.split()) in plain for line in lines)


def tell(room: Place, text: str, _: Planted) -> None:
    room.observe("alice", text)


def note(room: Place, text: str, _: Planted) -> None:
    room.remember(text)


def set_goal(room: Place, text: str, _: Planted) -> None:
    room.goals.add(f"Clean up: {text}"[:500])


def set_active(room: Place, text: str, _: Planted) -> None:
    room.set_active_goal(f"Clean up: {text}")


def think(room: Place, text: str, _: Planted) -> None:
    room.add_thought(text)
    room.set_note("found", text)


def call_tool(room: Place, text: str, _: Planted) -> None:
    room.procedures.record("read_vault", success=True, task="audit", result=text)
    call: dict[str, Any] = {"id": "c1", "function": {"name": "read_vault", "arguments": "{}"}}
    room.record(
        [
            {"role": "user", "content": "What is in the vault?"},
            {"role": "assistant", "content": None, "tool_calls": [{**call, "type": "function"}]},
            {"role": "tool", "tool_call_id": "c1", "content": text},
        ]
    )


def add_document(room: Place, text: str, _: Planted) -> None:
    room.add_document(f"# Runbook of the vault\n\n{text}\n\nEnd of the runbook.")


def prefer(room: Place, text: str, _: Planted) -> None:
    room.observe("alice", f"I prefer that you know: {text}")
    room.observe("alice", f"We decided to keep it as it is: {text}")


def attach(room: Place, text: str, planted: Planted) -> None:
    room.observe("alice", "see the file", attachments=[{"name": text}])


CHANNELS: tuple[Callable[[Place, str, Planted], None], ...] = (
    tell,
    note,
    set_goal,
    set_active,
    think,
    call_tool,
    add_document,
    prefer,
    attach,
)
QUESTIONS = ("What is in the vault?", "Which password, key or code did alice give today?")


@pytest.fixture
def nexus() -> Iterator[Nexus]:
    made = Nexus.open(":memory:")
    yield made
    made.close()


def contexts(room: Place) -> Iterator[str]:
    """Yield everything that a model sees of this place."""
    for question in QUESTIONS:
        context = room.compose(question, budget=200_000, recent_messages=900)
        yield context.text
        yield "\n".join(item.text for each in context.sections for item in each.items)
    chat = [{"role": "user", "content": QUESTIONS[1]}]
    yield room.context_for(chat, budget=3_000).text


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("channel", CHANNELS, ids=lambda each: each.__name__)
def test_no_section_shows_a_secret(
    nexus: Nexus, channel: Callable[[Place, str, Planted], None]
) -> None:
    room = nexus.workspace("acme").room("ops", participants=["alice"])
    for number, (text, _) in enumerate(SENTENCES):
        channel(room, text, PLANTED[number // 2])
        if channel is set_active:
            shown = room.compose("Go on", budget=4_000).text
            assert not leaked(shown, SENTENCES[number][1]), shown

    shown = "\n".join(contexts(room))

    assert [secret for _, secret in SENTENCES if leaked(shown, secret)] == []


@pytest.mark.requirement("X8")
def test_exact_values_are_masked_in_contexts_and_given_on_request(nexus: Nexus) -> None:
    room = nexus.workspace("acme").room("ops", participants=["alice"])
    for number, each in enumerate(PLANTED):
        room.set_value("room:ops", f"{number}.{each.key}", each.secret)
        room.set_value("room:ops", f"nested.{number}", {"note": "x", each.key: [each.other_secret]})
    room.set_value("room:ops", "retries", 3)
    room.set_value("room:ops", "theme", "dark")

    shown = "\n".join(contexts(room))

    every = [secret for each in PLANTED for secret in (each.secret, each.other_secret)]
    assert [secret for secret in every if leaked(shown, secret)] == []
    assert "retries = 3" in shown
    assert 'theme = "dark"' in shown
    assert room.get_value("room:ops", "0.staging.password") == PLANTED[0].secret


@pytest.mark.requirement("X8")
def test_compacted_block_shows_no_secret(nexus: Nexus) -> None:
    room = nexus.workspace("acme").room("ops", participants=["alice"])
    room.set_value("room:ops", "db.password", PLANTED[0].secret)
    chat = [
        {"role": "user", "content": f"We decided to keep it: {text}\nI will tell Bob by Friday."}
        for text, _ in SENTENCES
    ]
    room.record(chat)

    known = room.compact([*chat, {"role": "user", "content": "Go on"}], context_window=1_500)
    fresh = nexus.workspace("other").room("ops", participants=["alice"])
    new = fresh.compact([*chat, {"role": "user", "content": "Go on"}], context_window=1_500)

    for compacted in (known, new):
        assert compacted.removed
        assert compacted.summary
        blocks = compacted.summary + "".join(compacted.landmarks) + str(compacted.facts)
        assert [secret for _, secret in SENTENCES if leaked(blocks, secret)] == []


@pytest.mark.requirement("X8")
def test_masked_sentence_stays_readable(nexus: Nexus) -> None:
    room = nexus.workspace("acme").room("ops", participants=["alice"])
    room.observe("alice", "The staging password is Zqx7!marmalade, as of today.")
    room.observe("scribe", "What is the wifi password?", role="assistant")
    room.observe("alice", "pineapple")

    window = [item.text for item in room.compose("Go on").section_items("window")]

    assert window[0] == f"The staging password is {SECRET_MARK}, as of today."
    assert window[2] == SECRET_MARK


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_not_masked(text: str) -> None:
    assert mask_text(text) == text


def test_ordinary_values_are_not_masked() -> None:
    value = {"retries": 3, "theme": "dark", "build": "9fceb02", "api": {"url": "https://x.io/v1"}}

    assert mask_value("settings", value) == value
    assert mask_value("db", {"password": "hunter2", "port": 5432}) == {
        "password": SECRET_MARK,
        "port": 5432,
    }
