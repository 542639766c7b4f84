"""What `after` writes down: everything that is said, also again, and nothing twice."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Open
from tests.stories.conftest import Team

from nexus import Place
from nexus.compose.written import ENOUGH
from nexus.core.errors import Forgotten

Chat = list[dict[str, Any]]


def asked(*texts: str) -> Chat:
    """A person and an agent in turns."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


def tool(id: str, arguments: str, result: str = "ok") -> Chat:
    call = {"id": id, "type": "function", "function": {"name": "write", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


def again(place: Place, chat: Chat, **options: Any) -> list[bool]:
    return [receipt.repeated for receipt in place.after(chat, **options)]


def texts(place: Place) -> list[str]:
    return [event.text for event in reversed(place.recent(1_000))]


def talk(turns: int, *, start: int = 0) -> Chat:
    return asked(
        *(f"{who} {n}" for n in range(start, start + turns) for who in ("question", "answer"))
    )


@pytest.mark.requirement("D24")
def test_a_tool_that_says_the_same_of_another_call_is_written_down(team: Team) -> None:
    team.alices.after(tool("1", '{"f":"a"}'))
    team.alices.after(tool("2", '{"f":"b"}'))

    assert again(team.alices, tool("2", '{"f":"b"}')) == [True]
    assert texts(team.alices) == ["ok", "ok"]


def test_a_new_list_that_begins_like_another_is_written_down_whole(team: Team) -> None:
    for day in range(3):
        chat = asked("Good morning, what is new?", f"Day {day}: nothing.", "Yes, deploy it.")

        assert again(team.alices, chat) == [False] * 3
        assert again(team.alices, chat) == [True] * 3
        team.clock.advance(days=1)

    assert texts(team.alices).count("Yes, deploy it.") == 3


def test_words_said_again_after_what_is_left_of_a_list_are_new(team: Team) -> None:
    chat = asked("continue", "part 1", "continue", "part 2")
    team.alices.after(chat)

    left = chat[2:] + asked("continue", "part 3")
    assert again(team.alices, left) == [True, True, False, False]
    left = left[1:] + asked("continue", "part 4", "continue", "part 4")
    assert again(team.alices, left) == [True] * 3 + [False] * 4
    assert texts(team.alices).count("continue") == 5


def test_a_turn_at_a_time_with_the_same_question_is_new_each_time(team: Team) -> None:
    for part in range(40):
        assert again(team.alices, asked("continue", f"part {part}")) == [False, False]

    assert again(team.alices, asked("continue", "part 39")) == [True, True]
    assert texts(team.alices).count("continue") == 40


def test_a_list_that_lost_what_was_done_after_the_question_is_known(team: Team) -> None:
    question = {"role": "user", "content": "Write them all."}
    calls = [message for n in range(9) for message in tool(str(n), "{}", f"wrote {n}")]
    team.alices.after([question, *calls])

    left = [question, *calls[-4:], {"role": "assistant", "content": "Done."}]
    assert again(team.alices, left) == [True, True, True, False]


def test_a_list_with_something_new_in_front_is_known(team: Team) -> None:
    chat = talk(5)
    team.alices.after(chat)

    summed = [{"role": "user", "content": "So far: five questions."}, *chat[-5:]]
    assert again(team.alices, summed) == [False] + [True] * 5


def test_a_long_list_that_goes_on_otherwise_is_the_same_list(team: Team) -> None:
    chat = talk(5)
    team.alices.after(chat)

    edited = [*chat[:-1], {"role": "assistant", "content": "another answer"}]
    assert again(team.alices, edited) == [True] * 9 + [False]
    assert again(team.alices, chat[:ENOUGH]) == [True] * ENOUGH


def test_two_lists_in_turns_in_one_place_are_both_known(team: Team) -> None:
    one, other = talk(3), talk(3, start=100)
    for round in range(3):
        team.alices.after(one)
        team.alices.after(other)
        one, other = one + talk(1, start=10 + round), other + talk(1, start=110 + round)

    assert len(set(texts(team.alices))) == len(texts(team.alices)) == 20


def test_a_list_of_the_beginning_is_known_however_much_came_after_it(team: Team) -> None:
    chat = talk(3)
    team.alices.after(chat)
    for n in range(250):
        team.alices.observe("alice", f"Remark {n}")

    assert again(team.alices, [*chat, *talk(1, start=50)]) == [True] * 6 + [False] * 2


def test_threads_and_places_are_apart(team: Team) -> None:
    chat = talk(2)

    assert again(team.alices, chat) == [False] * 4
    assert again(team.alices, chat, thread="other") == [False] * 4
    assert again(team.bobs, chat) == [False] * 4
    assert again(team.alices, chat) == again(team.bobs, chat) == [True] * 4


@pytest.mark.requirement("X2")
def test_what_others_say_elsewhere_makes_no_difference(team: Team) -> None:
    chat = asked("Shall I?", "Yes.")
    team.bobs.after(chat)
    keys = [receipt.key for receipt in team.alices.after(chat)]

    lonely = team.workspace.dm("carol", agent="scribe")
    assert [receipt.repeated for receipt in lonely.after(chat)] == [False, False]
    assert keys == [receipt.key for receipt in team.alices.after(chat)]


def test_what_was_forgotten_does_not_come_back_with_its_list(team: Team) -> None:
    chat = talk(3)
    receipts = team.alices.after(chat)
    team.workspace.forget(event=receipts[2])

    with pytest.raises(Forgotten):
        team.alices.after(chat)
    assert "question 1" not in texts(team.alices)


@pytest.mark.parametrize("lengths", [(3,), (8, 6, 7)], ids=["the same", "growing"])
def test_the_same_list_at_the_same_time_is_written_down_once(
    team: Team, lengths: tuple[int, ...]
) -> None:
    chat = asked("continue", "part 1")
    team.alices.after(chat)
    more = chat + asked("continue", "part 2", "continue", "part 3", "continue", "part 4")

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(team.alices.after, more[:length]) for length in lengths * 6]
        assert all(each.result() for each in done)

    said = [message["content"] for message in more[: max(lengths)]]
    assert sorted(texts(team.alices)) == sorted(said)


KILLED = """
import os, sys
from nexus import Nexus

place = Nexus.open(sys.argv[1], background=False).workspace("acme").dm("alice", agent="scribe")
append = place._append


def killed(events):
    append(events)
    os.kill(os.getpid(), 9)


place._append = killed
chat = [{"role": "user", "content": "continue"}, {"role": "assistant", "content": "part 1"}]
place.after(chat)
"""


@pytest.mark.slow
@pytest.mark.requirement("D24")
def test_a_killed_program_hands_in_the_same_list(tmp_path: Path, open_nexus: Open) -> None:
    """It is killed after the list was written down, and before it could know."""
    path = str(tmp_path / "memory.db")
    run = [sys.executable, "-c", KILLED, path]

    first, second = (subprocess.run(run, check=False, timeout=60).returncode for _ in range(2))

    assert (first, second) == (-9, 0)  # the second time nothing was new to be appended
    place = open_nexus(path).workspace("acme").dm("alice", agent="scribe")
    assert texts(place) == ["continue", "part 1"]
