"""Tool sequences: which events form a task, and whether its tools solved it."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.making import NOON, event

from nexusmem.core.records import Event, EventKind, Trust
from nexusmem.learn.extract.tool_sequences import (
    MAX_TASK_CHARS,
    REPEAT_WINDOW,
    ToolTask,
    asks_back,
    is_error_result,
    judge_task,
)

REQUEST = "Please deploy the ferry app."


def result(text: str = "revision 17", tool: str = "deploy", **metadata: Any) -> Event:
    fields = {"kind": EventKind.TOOL, "role": "tool", "trust": Trust.EXTERNAL, "speaker": tool}
    return event(text, key=f"{tool} {text}", metadata=metadata, **fields)


def task(
    *results: Event, answer: str = "", reply: str = "", after: timedelta = timedelta(minutes=1)
) -> ToolTask:
    agent = {"speaker": "scribe", "role": "assistant", "trust": Trust.INFERRED}
    return ToolTask(
        (event(REQUEST, key="request"),),
        results or (result(),),
        (event(answer, key="answer", **agent),) if answer else (),
        event(reply, key="reply", at=NOON + after) if reply else None,
    )


@pytest.mark.requirement("E7")
@pytest.mark.parametrize(
    ("answer", "reply", "success"),
    [
        ("", "", None),
        ("Let me see.", "", None),
        ("Done.", "", True),
        ("I've deployed revision 17.", "", True),
        ("The app is now deployed.", "", True),
        ("Done! Would you like anything else?", "", True),
        ("I could not deploy it.", "", False),
        ("I deployed the app, but could not restart the crane.", "", None),
        ("I could not deploy it.", "What is for lunch?", False),
        ("Revision 17.", "What is for lunch?", True),
        ("Revision 17.", "Thanks!", True),
        ("Done.", "No, production!", False),
        ("Done.", "No problem, thanks.", True),
        ("Done.", "It still does not start.", False),
        ("Done.", "That isn't right.", False),
        ("Done.", "You forgot the database.", False),
        ("Done.", "Please try again", False),
        ("Done.", "The crane reports an error.", None),
        ("Done.", "Deploy the ferry app, please!", None),
        ("Which stage do you mean?", "Staging.", None),
    ],
)
def test_closing_messages_decide(answer: str, reply: str, success: bool | None) -> None:
    assert judge_task(task(answer=answer, reply=reply)) is success


@pytest.mark.requirement("E7")
def test_errors_decide_with_the_reply() -> None:
    error, other = result("Error: locked"), result("2 stages", "list_stages")

    assert judge_task(task(other, error, answer="Done.")) is False
    assert judge_task(task(error, other, answer="Done.")) is None  # one error is left
    assert judge_task(task(error, other, answer="Done.", reply="Perfect!")) is True
    assert judge_task(task(error, result(), answer="Done.")) is True  # the second attempt


def test_request_repeated_later_is_a_new_task() -> None:
    assert judge_task(task(reply=REQUEST, after=REPEAT_WINDOW)) is None
    assert judge_task(task(reply=REQUEST, after=REPEAT_WINDOW + timedelta(seconds=1))) is True


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("Error: permission denied", True),
        ("ERROR 17: no such stage", True),
        ("ValueError: no such stage", True),
        ("Traceback (most recent call last):\n …", True),
        ("HTTP 404 Not Found", True),
        ("503 Service Unavailable", True),
        ("failed to connect", True),
        ("timeout after 30 s", True),
        ("make: *** [all]\nExited with code 2", True),
        ('{"error": "locked"}', True),
        ('{"ok": false}', True),
        ('{"status": "failed", "log": "…"}', True),
        ('{"exit_code": 1}', True),
        ("42 passed, 0 failed", False),
        ("No error was found.", False),
        ("Process finished, exit code 0", False),
        ('{"error": null, "rows": 3}', False),
        ('{"ok": true}', False),
        ('{"status": "done", "exit_code": 0}', False),
        ("{broken", False),
        ("[" * 5_000, False),
        ("", False),
    ],
)
def test_errors_are_recognized(text: str, is_error: bool) -> None:
    assert is_error_result(result(text)) is is_error


def test_error_flag_of_a_message_counts() -> None:
    assert is_error_result(result("the stage is locked", is_error=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which stage?", True),
        ("There are two. **Which one do you mean?**", True),
        ("Anything else?", False),
        ("It is deployed. Is that what you need?", False),
        ("Which stage? I will wait.", False),
    ],
)
def test_agent_asks_back(text: str, expected: bool) -> None:
    assert asks_back(text) is expected


@pytest.mark.requirement("X8")
def test_name_of_a_task_is_short_and_has_no_secrets() -> None:
    request = event("Log in, the password is hunter2!x.\n" + "Then look. " * 99, key="request")
    named = ToolTask((request,), (result(),), (), None).text

    assert "hunter2" not in named
    assert named.startswith("Log in, the password is [redacted")
    assert len(named) <= MAX_TASK_CHARS
    assert "\n" not in named


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["no ", "it is ", "i ", "error ", "{", "exit code ", "? ", "did n"]
)
def test_long_messages_are_judged_in_linear_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    began = time.process_time()

    judge_task(task(result(text), answer=text, reply=text))

    assert time.process_time() - began < 2
