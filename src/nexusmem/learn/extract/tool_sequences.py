"""Tool sequences: learn from chat messages which tools solved a task, and which did not.

A task is a person's request, the tool results that follow, and what closes them: the agent's last
answer and the person's next message. It becomes one procedure with the names of the tools and the
result. A task without a clear result becomes none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from ...core.access import administrator_grant
from ...core.protocols.store import Store
from ...core.records import Draft, Event, EventKind, Memory, MemoryKind
from ...core.records.procedures import IS_ERROR, extract_steps, is_tool_result
from ...text.secrets import redact_secrets
from ...text.terms import query_terms
from .event_context import EventContext, event_order
from .fact_drafts import RULES

SOURCE = "conversation"  # of procedures that are learned from messages
SLOT = "tool sequence"
MAX_EVENTS = (50, 500)  # read back to the request, with a second read for long tasks
MAX_TASK_CHARS = 160
MAX_REQUEST_CHARS = 20_000  # longer than the name of a task, so that no secret is cut in two
MAX_JSON_CHARS = 100_000  # of a tool result that is parsed
MAX_READ_CHARS = 2_000  # of a message that closes a task
REPEATED_SHARE = 0.6  # of the terms of a request that a repeated request has
REPEAT_WINDOW = timedelta(minutes=30)  # a request repeated later is a new task
REQUEST_WINDOW = timedelta(minutes=10)  # between the messages of one request
ONE_MICROSECOND = timedelta(microseconds=1)

ERROR_START = re.compile(
    r"\W{0,20}(?:fatal |uncaught |internal |unexpected |unhandled )?"
    r"(?:error\b(?! count)|exception\b|traceback \(most recent|failed\b|failure\b|fatal:|panic:"
    r"|permission denied|access denied|command not found|not found\b|timed? ?out\b"
    r"|\w{1,60}(?:Error|Exception): )"
    r"|\W{0,20}(?:http(?:/[\d.]{1,3})? ?)?[45]\d\d (?:bad|not|forbidden|unauthorized|internal"
    r"|service|gateway|too many)",
    re.IGNORECASE,
)
EXIT_CODE = re.compile(
    r"\b(?:exit(?:ed)?|return) (?:with )?(?:code|status):? {0,2}(?!0\b)-?\d{1,3}\b", re.IGNORECASE
)
ERROR_FIELDS = ("error", "errors", "exception", "traceback")
FAILED_WORDS = frozenset({"error", "failed", "failure", "fail", "denied", "timeout"})

COMPLAINT = re.compile(
    r"^\W{0,5}(?:no|nope|wrong|incorrect)\b(?! (?:problem|worries|need|more|thanks|thank|rush))"
    r"|\b(?:that|this|it|these|those|they)(?:'s|’s| is| was| are| were)? (?:still |completely )?"
    r"(?:wrong|incorrect|broken|not (?:right|correct|working|true|done|what))\b"
    r"|\b(?:that|this|it) (?:still )?(?:did|does|has) ?(?:n['’]?t| not)"
    r" (?:really |actually )?(?:work|help|do|run|change|fix|solve|finish)"
    r"|\b(?:is|was|are|were) ?(?:n['’]t| not) (?:what i|right\b|correct\b|working\b)"
    r"|\bnot what i (?:asked|meant|wanted)\b|\btry (?:it |that |this )?again\b"
    r"|\bstill (?:not|does ?n|fail|broken|wrong|missing|the same|get|see|an error)"
    r"|\b(?:that|this|it) (?:failed|crashed|broke)\b"
    r"|\byou (?:forgot|missed|broke|misunderstood|did ?n['’]?t|did not)\b",
    re.IGNORECASE,
)
DOUBT = re.compile(
    r"\b(?:wrong|incorrect|broken|broke|fail(?:s|ed|ing|ure)?|errors?|crash(?:es|ed)?|undo|revert"
    r"|roll(?:ed)? back|problem)\b",
    re.IGNORECASE,
)
PRAISE = re.compile(
    r"\b(?:thanks?|thank you|thx|cheers|perfect|great|awesome|excellent|brilliant|wonderful|nice"
    r"|well done|good job|works|worked|looks good|lgtm|exactly)\b",
    re.IGNORECASE,
)
DONE = re.compile(
    r"\b(?:done|completed?|finished|successful(?:ly)?|succeeded|all set|is (?:now )?(?:ready|live)"
    r"|passed|resolved|here (?:is|are)|i(?:'ve|’ve| have)? (?:just |now )?[a-z]{2,20}ed\b"
    r"|i(?:'ve|’ve| have)? (?:just |now )?(?:sent|found|made|put|set|built|wrote|written|run)"
    r"|(?:is|are|was|were|been) (?:now )?[a-z]{2,20}ed\b)",
    re.IGNORECASE,
)
NOT_DONE = re.compile(
    r"\b(?:could ?n['’]t|could not|can ?not|can['’]t|unable to|not able to|was ?n['’]t able"
    r"|failed|did ?n['’]t (?:work|succeed)|did not (?:work|succeed)|unfortunately|gave up)\b",
    re.IGNORECASE,
)
OFFER = re.compile(
    r"\b(?:anything else|something else|would you like|do you want|want me to|shall i|should i"
    r"|let me know|need anything|(?:can|may) i (?:help|do))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ToolTask:
    """A request with the tools that were used for it, oldest first."""

    requests: tuple[Event, ...]
    results: tuple[Event, ...]  # of tools
    answers: tuple[Event, ...]  # of the agent, after the last result
    reply: Event | None  # the next message of a person
    previous_text: str = ""  # of the agent's message before the request

    @property
    def text(self) -> str:
        """The request in one line, without secrets; a password may answer the message before."""
        texts = [each.text[:MAX_REQUEST_CHARS] for each in self.requests]
        before = [self.previous_text, *texts]
        said = [
            redact_secrets(each, previous=last) for each, last in zip(texts, before, strict=False)
        ]
        line = " ".join(" ".join(said).split())
        return line if len(line) <= MAX_TASK_CHARS else line[: MAX_TASK_CHARS - 1].rstrip() + "…"


def sequence_drafts(store: Store, context: EventContext) -> list[Draft]:
    """Return the procedure of the task that this event closes, and delete its earlier versions.

    An answer may close a task first, and the next message of the person decides again.
    """
    task = load_task(store, context.event)
    if task is None:
        return []
    success = judge_task(task)
    draft = None if success is None else _make_draft(task, success)
    first, workspace = task.requests[0].id, context.event.workspace
    known = [
        each.id
        for each in store.eraser.list_derived(workspace, [first])
        if is_tool_sequence(each) and each.sources[0] == first
    ]
    drafts = [draft] if draft else []
    if old := {*known} - {each.id for each in drafts}:
        store.memories.delete(workspace, sorted(old))
    return drafts


def is_tool_sequence(memory: Memory) -> bool:
    """Return whether a memory is a procedure that was learned from messages."""
    return memory.kind is MemoryKind.PROCEDURE and memory.source == SOURCE


# -- reading a task


def load_task(store: Store, closing: Event) -> ToolTask | None:
    """Return the task that an answer or a reply closes; None if it used no tools.

    A task with an explicit outcome (`procedures.finish`) is left to that outcome.
    """
    here = administrator_grant(closing.workspace).narrow_to([closing.scope])
    task = None
    for limit in MAX_EVENTS:
        found = store.ledger.find(here, until=closing.at + ONE_MICROSECOND, limit=limit)
        events = [each for each in found if event_order(each) <= event_order(closing)]
        events.sort(key=event_order, reverse=True)
        others = (each for each in events if each.id != closing.id)
        thread = [each for each in others if each.thread == closing.thread]
        task, is_complete = _read_task(closing, thread)
        if is_complete or len(found) < limit:
            break
    if task is None:
        return None
    start = event_order(task.requests[0])
    during = (each for each in events if event_order(each) >= start)
    return None if any(each.kind is EventKind.OUTCOME for each in during) else task


def _read_task(closing: Event, newest_first: Sequence[Event]) -> tuple[ToolTask | None, bool]:
    """Read back from the closing message to the request, and return whether its start was found.

    If the agent asked back, the person's answer belongs to the same task.
    """
    reply = closing if closing.role == "user" else None
    answers: list[Event] = [] if reply else [closing]
    results: list[Event] = []
    requests: list[Event] = []
    previous_text, is_complete = "", False
    for event in newest_first:
        is_message = event.kind is EventKind.MESSAGE
        if is_message and event.role == "user":
            is_complete = not _continues(event, requests)
            requests += [] if is_complete else [event]
        elif is_message and event.role == "assistant":
            if requests and not asks_back(event.text):
                previous_text, is_complete = event.text, True
            elif requests:  # they answer the agent's question; the request is earlier
                requests.clear()
            elif not results:
                answers.append(event)
        elif is_tool_result(event):
            is_complete = bool(requests)
            results += [] if is_complete else [event]
        if is_complete:
            break
    if not requests or not results:
        return None, is_complete
    task = ToolTask(
        tuple(requests[::-1]), tuple(results[::-1]), tuple(answers[::-1]), reply, previous_text
    )
    return task, is_complete


def _continues(event: Event, later: Sequence[Event]) -> bool:
    """Return whether a message begins the request in the later ones, or is said before it."""
    if not later:
        return True
    return event.speaker == later[-1].speaker and later[-1].at - event.at <= REQUEST_WINDOW


# -- judging a task


def judge_task(task: ToolTask) -> bool | None:
    """Return whether the tools solved the task; None if that is not clear.

    They did if no error is left and the person goes on without a complaint, or the agent reports
    success. They did not if the person complains, the agent gives up or the last result is an
    error.
    """
    answer = task.answers[-1].text[-MAX_READ_CHARS:] if task.answers else ""
    reply = task.reply.text[:MAX_READ_CHARS] if task.reply else ""
    if COMPLAINT.search(reply):
        return False
    if asks_back(answer):
        return None
    is_done, is_given_up = bool(DONE.search(answer)), bool(NOT_DONE.search(answer))
    if is_error_result(task.results[-1]) or (is_given_up and not is_done):
        return False
    if PRAISE.search(reply):
        return True
    if is_given_up or _has_open_errors(task.results) or DOUBT.search(reply):
        return None
    return (True if not _is_repeated(task) else None) if reply else is_done or None


def asks_back(text: str) -> bool:
    """Return whether an agent's message ends with a question that it needs to go on."""
    end = text.rstrip(" \n\t*_\"'”’)")[-300:]
    return end.endswith(("?", "？")) and not OFFER.search(end) and not DONE.search(text[:300])


def _has_open_errors(results: Sequence[Event]) -> bool:
    """Return whether the last call of any tool is an error."""
    return any(is_error_result(each) for each in {each.speaker: each for each in results}.values())


def _is_repeated(task: ToolTask) -> bool:
    """Return whether the reply asks for the same again soon."""
    if task.reply is None or task.reply.at - task.requests[-1].at > REPEAT_WINDOW:
        return False
    asked = _terms(" ".join(each.text for each in task.requests))
    again = _terms(task.reply.text)
    return len(asked & again) >= REPEATED_SHARE * max(1, len(asked), len(again))


def is_error_result(event: Event) -> bool:
    """Return whether a tool result is an error: by the flag of its message, or by its text."""
    if event.metadata.get(IS_ERROR) is True:
        return True
    text = event.text[:MAX_READ_CHARS].lstrip()
    if text.startswith("{"):
        return _is_error_object(event.text)
    return bool(ERROR_START.match(text) or EXIT_CODE.search(text))


def _is_error_object(text: str) -> bool:
    try:
        result = json.loads(text) if len(text) <= MAX_JSON_CHARS else None
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, Mapping):
        return False
    if any(result.get(name) for name in ERROR_FIELDS):
        return True
    if any(result.get(name) is False for name in ("success", "ok")):
        return True
    status = result.get("status")
    if isinstance(status, str):
        return status.casefold() in FAILED_WORDS
    codes = [result.get(name) for name in ("exit_code", "exitCode", "returncode")]
    return any(isinstance(code, int) and code != 0 for code in codes)


# -- the procedure


def _make_draft(task: ToolTask, success: bool) -> Draft | None:
    uses = [{"name": each.speaker, "success": not is_error_result(each)} for each in task.results]
    steps = extract_steps(uses, success=success)
    if not steps or not (name := task.text):
        return None
    first, answer = task.requests[0], task.answers[-1] if task.answers else None
    events = [*task.requests, *task.results, *([answer] if answer else [])]
    if task.reply and judge_task(replace(task, reply=None)) is not success:
        events.append(task.reply)  # it decides, so the procedure is erased with it
    return Draft(
        scope=first.scope,
        kind=MemoryKind.PROCEDURE,
        text=f"{name}: {' → '.join(steps)} ({'worked' if success else 'failed'})",
        indexed_text=name,
        sources=tuple(each.id for each in events),
        at=task.results[-1].at,
        slot=SLOT,
        speaker=answer.speaker if answer else None,
        role=answer.role if answer else None,
        source=SOURCE,
        thread=first.thread,
        learned=True,
        metadata={"made_by": [RULES]},
        body={
            "task": name,
            "task_type": None,
            "steps": list(steps),
            "success": success,
            "topic": sorted(_terms(name)),
        },
    )


def _terms(text: str) -> set[str]:
    return set(query_terms(text[:MAX_READ_CHARS]))
