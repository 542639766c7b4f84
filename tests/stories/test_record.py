"""`record`: every message is recorded once, including repeated words."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.stories.conftest import Team

from nexusmem import Place
from nexusmem.core.errors import Forgotten
from nexusmem.observe.message_dedup import MIN_RUN

Chat = list[dict[str, Any]]


def asked(*texts: str) -> Chat:
    """Return alternating user and assistant messages."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


def tool(id: str, arguments: str, result: str = "ok") -> Chat:
    call = {"id": id, "type": "function", "function": {"name": "write", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


def again(place: Place, chat: Chat, **options: Any) -> list[bool]:
    return [receipt.duplicate for receipt in place.record(chat, **options)]


def texts(place: Place) -> list[str]:
    return [event.text for event in reversed(place.recent(1_000))]


def talk(turns: int, *, start: int = 0) -> Chat:
    return asked(
        *(f"{who} {n}" for n in range(start, start + turns) for who in ("question", "answer"))
    )


@pytest.mark.requirement("D24")
def test_equal_result_of_another_call_is_recorded(team: Team) -> None:
    team.alices.record(tool("1", '{"f":"a"}'))
    team.alices.record(tool("2", '{"f":"b"}'))

    assert again(team.alices, tool("2", '{"f":"b"}')) == [True]
    assert texts(team.alices) == ["ok", "ok"]


def test_new_list_with_a_known_beginning_is_recorded_completely(team: Team) -> None:
    for day in range(3):
        chat = asked("Good morning, what is new?", f"Day {day}: nothing.", "Yes, deploy it.")

        assert again(team.alices, chat) == [False] * 3
        assert again(team.alices, chat) == [True] * 3
        team.clock.advance(days=1)

    assert texts(team.alices).count("Yes, deploy it.") == 3


def test_repeated_words_after_a_truncated_list_are_new(team: Team) -> None:
    chat = asked("continue", "part 1", "continue", "part 2")
    team.alices.record(chat)

    left = chat[2:] + asked("continue", "part 3")
    assert again(team.alices, left) == [True, True, False, False]
    left = left[1:] + asked("continue", "part 4", "continue", "part 4")
    assert again(team.alices, left) == [True] * 3 + [False] * 4
    assert texts(team.alices).count("continue") == 5


def test_repeated_single_turn_is_new_each_time(team: Team) -> None:
    for part in range(40):
        assert again(team.alices, asked("continue", f"part {part}")) == [False, False]

    assert again(team.alices, asked("continue", "part 39")) == [True, True]
    assert texts(team.alices).count("continue") == 40


def test_list_without_tool_messages_is_recognized(team: Team) -> None:
    question = {"role": "user", "content": "Write them all."}
    calls = [message for n in range(9) for message in tool(str(n), "{}", f"wrote {n}")]
    team.alices.record([question, *calls])

    left = [question, *calls[-4:], {"role": "assistant", "content": "Done."}]
    assert again(team.alices, left) == [True, True, True, False]


def test_list_with_a_new_beginning_is_recognized(team: Team) -> None:
    chat = talk(5)
    team.alices.record(chat)

    summed = [{"role": "user", "content": "So far: five questions."}, *chat[-5:]]
    assert again(team.alices, summed) == [False] + [True] * 5


def test_list_with_an_edited_end_is_recognized(team: Team) -> None:
    chat = talk(5)
    team.alices.record(chat)

    edited = [*chat[:-1], {"role": "assistant", "content": "another answer"}]
    assert again(team.alices, edited) == [True] * 9 + [False]
    assert again(team.alices, chat[:MIN_RUN]) == [True] * MIN_RUN


def test_alternating_lists_in_one_place_are_recognized(team: Team) -> None:
    one, other = talk(3), talk(3, start=100)
    for round in range(3):
        team.alices.record(one)
        team.alices.record(other)
        one, other = one + talk(1, start=10 + round), other + talk(1, start=110 + round)

    assert len(set(texts(team.alices))) == len(texts(team.alices)) == 20


def test_old_list_is_recognized_after_many_events(team: Team) -> None:
    chat = talk(3)
    team.alices.record(chat)
    for n in range(250):
        team.alices.observe("alice", f"Remark {n}")

    assert again(team.alices, [*chat, *talk(1, start=50)]) == [True] * 6 + [False] * 2


def test_threads_and_places_are_separate(team: Team) -> None:
    chat = talk(2)

    assert again(team.alices, chat) == [False] * 4
    assert again(team.alices, chat, thread="other") == [False] * 4
    assert again(team.bobs, chat) == [False] * 4
    assert again(team.alices, chat) == again(team.bobs, chat) == [True] * 4


@pytest.mark.requirement("X2")
def test_messages_of_other_places_do_not_matter(team: Team) -> None:
    chat = asked("Shall I?", "Yes.")
    team.bobs.record(chat)
    keys = [receipt.key for receipt in team.alices.record(chat)]

    lonely = team.workspace.dm("carol", agent="scribe")
    assert [receipt.duplicate for receipt in lonely.record(chat)] == [False, False]
    assert keys == [receipt.key for receipt in team.alices.record(chat)]


def test_forgotten_message_is_not_recorded_again(team: Team) -> None:
    chat = talk(3)
    receipts = team.alices.record(chat)
    team.workspace.forget(event=receipts[2])

    with pytest.raises(Forgotten):
        team.alices.record(chat)
    assert "question 1" not in texts(team.alices)


@pytest.mark.parametrize("lengths", [(3,), (8, 6, 7)], ids=["the same", "growing"])
def test_concurrent_calls_record_a_list_once(team: Team, lengths: tuple[int, ...]) -> None:
    chat = asked("continue", "part 1")
    team.alices.record(chat)
    more = chat + asked("continue", "part 2", "continue", "part 3", "continue", "part 4")

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(team.alices.record, more[:length]) for length in lengths * 6]
        assert all(each.result() for each in done)

    said = [message["content"] for message in more[: max(lengths)]]
    assert sorted(texts(team.alices)) == sorted(said)


KILLED = """
import os, sys
from nexusmem import Nexus

place = Nexus.open(sys.argv[1], background=False).workspace("acme").dm("alice", agent="scribe")
append = place._append_events


def killed(events):
    append(events)
    os.kill(os.getpid(), 9)


place._append_events = killed
chat = [{"role": "user", "content": "continue"}, {"role": "assistant", "content": "part 1"}]
place.record(chat)
"""


@pytest.mark.slow
@pytest.mark.requirement("D24")
def test_list_is_recorded_once_after_a_crash(tmp_path: Path, open_nexus: Open) -> None:
    """The process is killed after the commit and before `record` returns."""
    path = str(tmp_path / "memory.db")
    run = [sys.executable, "-c", KILLED, path]

    first, second = (subprocess.run(run, check=False, timeout=60).returncode for _ in range(2))

    assert (first, second) == (-9, 0)  # the second run appends nothing
    place = open_nexus(path).workspace("acme").dm("alice", agent="scribe")
    assert texts(place) == ["continue", "part 1"]
