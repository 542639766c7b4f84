"""Noise gives no memories and takes little time."""

from __future__ import annotations

import base64
import random
import time

import pytest
from tests.learn.making import said

SOME = random.Random(7)
BYTES = bytes(SOME.randrange(256) for _ in range(100_000))
LETTERS = "abcdefghijklmnopqrstuvwxyzABC "
WORDS = ["tea", "is", "Bob", "likes", "the", "a", "red", "in", "Berlin"]

JUNK = {
    "one word": "spam " * 58_000,
    "one name": "Bob " * 58_000,
    "one sentence": "I love Berlin. " * 58_000,
    "one sentence, ten times": "Bob loves tea. " * 10,
    "laughter": "haha" * 20_000,
    "emoji": "😀🎉👍🏽" * 20_000,
    "emoji and words": "😀 lol 🎉 " * 20_000,
    "bytes": BYTES.decode("latin-1"),
    "bytes, repaired": BYTES.decode("utf-8", "replace"),
    "few bytes": BYTES[:200].decode("latin-1"),
    "letters": "".join(SOME.choice(LETTERS) for _ in range(100_000)),
    "hexadecimal": BYTES.hex(),
    "base64": base64.b64encode(BYTES).decode(),
    "a line of 5 MB": "lorem ipsum dolor sit amet " * 190_000,
    "a word of 5 MB": "a" * 5_000_000,
    "words at random": " ".join(SOME.choice(WORDS) for _ in range(100_000)),
    "numbers": "\n".join(f"{SOME.random()},{SOME.random()}" for _ in range(5_000)),
    "a log": "\n".join(f"2026-03-02T09:00:00 INFO worker-{n} done" for n in range(5_000)),
    "marks": "?!.,;:" * 50_000,
    "capitals": "BUY NOW! " * 20_000,
    "marks on letters": "Z̴̢a̷l̵g̶o̸ " * 20_000,
    "spaces": " \n\t" * 100_000,
}


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("text", JUNK.values(), ids=JUNK)
def test_junk_gives_no_memories(text: str) -> None:
    began = time.process_time()

    found = said(text)

    assert time.process_time() - began < 10
    assert found.facts == ()
    assert found.landmarks == ()
    assert found.identities == ()
    assert found.entities == ()


PLEASANTRIES = """Hi Bob! | Hello Alice | Thanks, Bob! | Good morning everyone | ok | lol | 👍 | hmm
    | Sounds good | Yes | Sure thing | Cool cool cool | Good night, Tom | See you tomorrow | Great!
    | Thanks a lot, Sarah | np | ... | Hey Sarah, how are you? | I'm good, you? | Merry Christmas!
    | Congrats! | Oh my God | Talk to you later | Me too | I see | Got it | No worries | Sorry
    | Bye | Take care, Tom! | Haha | Nice to meet you, Bob | Happy New Year!"""


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("text", [" ".join(each.split()) for each in PLEASANTRIES.split("|")])
def test_pleasantries_give_no_memories(text: str) -> None:
    found = said(text)

    assert (found.facts, found.landmarks, found.identities, found.entities) == ((), (), (), ())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hi Bob, I moved to Berlin.", "Berlin"),
        ("Thanks! Sarah works at Globex now.", "Sarah"),
        ("Good news: Tom got the job at Acme.", "Tom"),
        (f"Tom sent me this: {base64.b64encode(BYTES[:90]).decode()}", "Tom"),
    ],
)
def test_greeting_or_blob_does_not_hide_news(text: str, name: str) -> None:
    assert name in [entity.name for entity in said(text).entities]


def test_blob_is_no_name() -> None:
    blob = base64.b64encode(BYTES[:90]).decode()

    names = " ".join(entity.name for entity in said(f"Tom sent me this: {blob}").entities)

    assert "Tom" in names
    assert not any(piece in names for piece in (blob[:8], blob[20:28]))
