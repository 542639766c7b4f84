"""Benchmark readers: LoCoMo, LongMemEval, BEAM and custom question files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InvalidInput

# Contexts of questions without a time are composed this long after the last message: a new
# conversation starts, and the window is empty.
ASKED_AFTER_HOURS = 48.0


def find_file(path: Path, names: Sequence[str], benchmark: str) -> Path:
    """Return `path` if it is a file, else the first of these names in the folder.

    Raise InvalidInput if there is none.
    """
    for file in (path, *(path / name for name in names)):
        if file.is_file():
            return file
    expected = " or ".join(names)
    raise InvalidInput(f"no {benchmark} at {path}; give the file, or a folder with {expected}")


def load_json(file: Path) -> Any:
    """Parse a JSON file; raise InvalidInput if it cannot be read or parsed."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from error


@contextmanager
def report_format_errors(benchmark: str, file: Path) -> Iterator[None]:
    """Turn errors of parsing a benchmark's data into InvalidInput."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"{file} does not have the format of {benchmark} ({detail})") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkMessage:
    """One message, with the arguments of `observe`."""

    speaker: str
    text: str
    key: str
    thread: str  # name of its session
    at: datetime
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkQuestion:
    """A question and the messages and sessions with its answer."""

    id: str
    text: str
    category: str
    gold: frozenset[str]  # keys of messages
    gold_sessions: frozenset[str]
    abstention: bool = False  # has no answer; gold are then the most similar messages
    answer: str | None = None  # expected, if the benchmark has one
    at: datetime | None = None  # time of the question, if the benchmark has one

    @property
    def has_evidence(self) -> bool:
        """True if the question has evidence; without it nothing can be measured."""
        return bool(self.gold or self.gold_sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkConversation:
    """A conversation: its messages in order, and the questions about them."""

    name: str
    people: tuple[str, ...]
    messages: tuple[BenchmarkMessage, ...]
    questions: tuple[BenchmarkQuestion, ...]

    @property
    def session_by_key(self) -> dict[str, str]:
        """Message key → session."""
        return {message.key: message.thread for message in self.messages}

    @property
    def scorable_questions(self) -> tuple[BenchmarkQuestion, ...]:
        return tuple(question for question in self.questions if question.has_evidence)

    @property
    def answerable_questions(self) -> tuple[BenchmarkQuestion, ...]:
        """The questions of the main figures: with evidence, without abstention."""
        return tuple(question for question in self.scorable_questions if not question.abstention)


def limit_questions(
    conversations: Sequence[BenchmarkConversation], limit: int
) -> Iterator[BenchmarkConversation]:
    """Yield conversations until they have `limit` scorable questions; drop the other questions."""
    for conversation in conversations:
        questions = conversation.scorable_questions[:limit]
        if questions:
            yield replace(conversation, questions=questions)
        limit -= len(questions)
        if not limit:
            return


def _expected_answer(item: Mapping[str, Any], *fields: str) -> str | None:
    """Return the first of these fields that the question has; an answer may be a number."""
    return next((str(item[name]) for name in fields if item.get(name) is not None), None)


LOCOMO_FILES = (
    "locomo/locomo_dev.json",
    "locomo/locomo10.json",
    "locomo_dev.json",
    "locomo10.json",
)
LOCOMO_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
LOCOMO_ADVERSARIAL = 5  # has no answer; its evidence is the turn it was derived from
LOCOMO_SESSION_KEY = re.compile(r"session_(\d+)")
LOCOMO_TURN_ID = re.compile(r"D(\d+):(\d+)")


def read_locomo(path: Path) -> list[BenchmarkConversation]:
    file = find_file(path, LOCOMO_FILES, "LoCoMo")
    samples = load_json(file)
    with report_format_errors("LoCoMo", file):
        return [_locomo_conversation(sample) for sample in samples]


def _locomo_conversation(sample: dict[str, Any]) -> BenchmarkConversation:
    conversation = sample["conversation"]
    messages = tuple(_locomo_messages(conversation))
    sessions = {message.key: message.thread for message in messages}
    return BenchmarkConversation(
        name=sample["sample_id"],
        people=(conversation["speaker_a"], conversation["speaker_b"]),
        messages=messages,
        questions=tuple(
            _locomo_question(f"{sample['sample_id']}/{number}", item, sessions)
            for number, item in enumerate(sample["qa"])
        ),
    )


def _locomo_messages(conversation: dict[str, Any]) -> Iterator[BenchmarkMessage]:
    numbers = sorted(
        int(match[1]) for name in conversation if (match := LOCOMO_SESSION_KEY.fullmatch(name))
    )
    for number in numbers:
        date = conversation[f"session_{number}_date_time"]
        start = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for index, turn in enumerate(conversation[f"session_{number}"]):
            caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield BenchmarkMessage(
                speaker=turn["speaker"],
                text=turn["text"] + caption,
                key=turn["dia_id"],
                thread=f"session {number}",
                at=start + timedelta(seconds=index),
            )


def _locomo_question(id: str, item: dict[str, Any], sessions: dict[str, str]) -> BenchmarkQuestion:
    gold = frozenset(parse_turn_ids(item.get("evidence") or ())) & sessions.keys()
    category = int(item["category"])
    return BenchmarkQuestion(
        id=id,
        text=item["question"],
        category=LOCOMO_CATEGORIES[category],
        gold=gold,
        gold_sessions=frozenset(sessions[key] for key in gold),
        abstention=category == LOCOMO_ADVERSARIAL,
        answer=_expected_answer(item, "answer"),
    )


def parse_turn_ids(evidence: Sequence[str]) -> Iterator[str]:
    """Yield the turn ids in the evidence.

    One string may have several ids, and numbers may have leading zeros. Other misspellings such as
    "D:11:26" are skipped, because they might name the wrong turn.
    """
    for session, number in LOCOMO_TURN_ID.findall(" ".join(evidence)):
        yield f"D{int(session)}:{int(number)}"


LONGMEMEVAL_NAMES = ("longmemeval_s_cleaned.json", "longmemeval_s.json")
LONGMEMEVAL_FILES = (*(f"longmemeval/{name}" for name in LONGMEMEVAL_NAMES), *LONGMEMEVAL_NAMES)
LONGMEMEVAL_ABSTENTION_SUFFIX = "_abs"  # of a question id


def read_longmemeval(path: Path) -> list[BenchmarkConversation]:
    file = find_file(path, LONGMEMEVAL_FILES, "LongMemEval")
    instances = load_json(file)
    with report_format_errors("LongMemEval", file):
        return [_longmemeval_conversation(instance) for instance in instances]


def _longmemeval_conversation(instance: dict[str, Any]) -> BenchmarkConversation:
    turns = list(_longmemeval_turns(instance))
    return BenchmarkConversation(
        name=instance["question_id"],
        people=("user",),
        messages=tuple(message for message, _ in turns),
        questions=(_longmemeval_question(instance, turns),),
    )


def _longmemeval_turns(instance: dict[str, Any]) -> Iterator[tuple[BenchmarkMessage, bool]]:
    """Yield each turn with text, and whether it is evidence.

    Keys use the index of the session, because a history may contain the same session twice.
    """
    fields = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    sessions = zip(*(instance[name] for name in fields), strict=True)
    for index, (session, day, turns) in enumerate(sessions, start=1):
        start = _parse_longmemeval_time(day)
        for number, turn in enumerate(turns, start=1):
            if not turn["content"].strip():
                continue
            message = BenchmarkMessage(
                speaker=turn["role"],
                role=turn["role"],
                text=turn["content"],
                key=f"S{index}:{number}",
                thread=session,
                at=start + timedelta(seconds=number - 1),
            )
            yield message, bool(turn.get("has_answer"))


def _longmemeval_question(
    instance: dict[str, Any], turns: list[tuple[BenchmarkMessage, bool]]
) -> BenchmarkQuestion:
    id = instance["question_id"]
    abstention = id.endswith(LONGMEMEVAL_ABSTENTION_SUFFIX)
    threads = {message.thread for message, _ in turns}
    return BenchmarkQuestion(
        id=id,
        text=instance["question"],
        category="abstention" if abstention else instance["question_type"],
        gold=frozenset(message.key for message, evidence in turns if evidence),
        gold_sessions=frozenset(instance["answer_session_ids"]) & threads,
        abstention=abstention,
        answer=_expected_answer(instance, "answer"),
        at=_parse_longmemeval_time(instance["question_date"]),
    )


def _parse_longmemeval_time(text: str) -> datetime:
    """Parse a time such as `2023/05/30 (Tue) 23:40`."""
    date, _, time = text.split()
    return datetime.strptime(f"{date} {time}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


BEAM_SIZE = "100K"  # default size
BEAM_QUESTION_FILES = ("probing_questions.json", "probing_questions/probing_questions.json")
BEAM_ABSTENTION = "abstention"
BEAM_ANSWER_FIELDS = (
    "answer",
    "ideal_answer",
    "ideal_response",
    "ideal_summary",
    "expected_compliance",
)
BEAM_START = datetime(2024, 1, 1, tzinfo=UTC)  # time of messages before the first date
BEAM_NUMBERING = re.compile(
    r"\s*->->\s*[\d,]+\s*$"
)  # at the end of a message; not part of its text


def read_beam(path: Path) -> list[BenchmarkConversation]:
    return [_beam_conversation(folder) for folder in _find_beam_chats(path)]


def _find_beam_chats(path: Path) -> list[Path]:
    """Return the folder of one chat, or the numbered folders of a size."""
    if (path / "chat.json").is_file():
        return [path]
    for folder in (path, path / BEAM_SIZE, path / "beam" / BEAM_SIZE, path / "chats" / BEAM_SIZE):
        numbered = [file.parent for file in folder.glob("*/chat.json")]
        chats = [chat for chat in numbered if chat.name.isdecimal()]
        if chats:
            return sorted(chats, key=lambda chat: int(chat.name))
    raise InvalidInput(
        f"no BEAM at {path}; give a folder with chat.json, one with numbered chats ({BEAM_SIZE}),"
        f" or one with beam/{BEAM_SIZE}"
    )


def _beam_conversation(folder: Path) -> BenchmarkConversation:
    file = find_file(folder, BEAM_QUESTION_FILES, "BEAM")
    batches, abilities = load_json(folder / "chat.json"), load_json(file)
    with report_format_errors("BEAM", folder):
        messages = tuple(_beam_messages(batches))
        sessions = {message.key: message.thread for message in messages}
        return BenchmarkConversation(
            name=f"beam-{folder.name}",
            people=("user",),
            messages=messages,
            questions=tuple(
                _beam_question(f"beam-{folder.name}/{ability}/{number}", ability, item, sessions)
                for ability, items in abilities.items()
                for number, item in enumerate(items)
            ),
        )


def _beam_messages(batches: list[dict[str, Any]]) -> Iterator[BenchmarkMessage]:
    at = BEAM_START
    for batch in batches:
        for number, messages in enumerate(batch["turns"]):
            for message in messages:
                if anchor := message.get("time_anchor"):
                    at = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
                at += timedelta(milliseconds=1)
                yield BenchmarkMessage(
                    speaker=message["role"],
                    role=message["role"],
                    text=BEAM_NUMBERING.sub("", message["content"]),
                    key=str(message["id"]),
                    thread=f"batch {batch['batch_number']} round {number}",
                    at=at,
                )


def _beam_question(
    id: str, ability: str, item: dict[str, Any], sessions: dict[str, str]
) -> BenchmarkQuestion:
    gold = frozenset(map(str, _collect_numbers(item.get("source_chat_ids")))) & sessions.keys()
    return BenchmarkQuestion(
        id=id,
        text=item["question"],
        category=ability,
        gold=gold,
        gold_sessions=frozenset(sessions[key] for key in gold),
        abstention=ability == BEAM_ABSTENTION,
        answer=_expected_answer(item, *BEAM_ANSWER_FIELDS),
    )


def _collect_numbers(value: Any) -> Iterator[int]:
    """Yield message numbers from nested lists and mappings; numbers may be strings."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _collect_numbers(each)
    elif isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
        yield int(value)


CUSTOM_FILES = ("questions.yaml", "questions.json")
CUSTOM_START = datetime(2026, 1, 1, 9, tzinfo=UTC)  # time of the first message without one
ONE_SESSION, ACROSS_SESSIONS = "one session", "across sessions"
MESSAGE_FIELDS = {"speaker", "text"}, {"key", "at", "session", "role"}
QUESTION_FIELDS = {"question"}, {"id", "evidence", "category", "answer", "at"}
CONVERSATION_FIELDS = {"messages", "questions"}, {"name"}


def read_custom(path: Path) -> list[BenchmarkConversation]:
    """Read conversations and questions from a YAML or JSON file of the user."""
    file = find_file(path, CUSTOM_FILES, "questions of your own")
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise InvalidInput(f"cannot read {file}: {error}") from error
    listed = _check_list(data, str(file))
    return [
        _custom_conversation(each, f"conversation {n}") for n, each in enumerate(listed, start=1)
    ]


def _custom_conversation(value: Any, where: str) -> BenchmarkConversation:
    given = _check_fields(value, CONVERSATION_FIELDS, where)
    name = str(given.get("name", where))
    listed = _check_list(given["messages"], f"messages of {name}")
    messages = tuple(_custom_message(each, n, name) for n, each in enumerate(listed, start=1))
    sessions = {message.key: message.thread for message in messages}
    if len(sessions) < len(messages):
        raise InvalidInput(f"two messages of {name} have the same key; keys must be unique")
    questions = enumerate(_check_list(given["questions"], f"questions of {name}"), start=1)
    return BenchmarkConversation(
        name=name,
        people=tuple(sorted({each.speaker for each in messages if each.role in (None, "user")})),
        messages=messages,
        questions=tuple(_custom_question(each, n, name, sessions) for n, each in questions),
    )


def _custom_message(value: Any, number: int, conversation: str) -> BenchmarkMessage:
    where = f"message {number} of {conversation}"
    given = _check_fields(value, MESSAGE_FIELDS, where)
    return BenchmarkMessage(
        speaker=str(given["speaker"]),
        text=str(given["text"]),
        key=str(given.get("key", number)),
        thread=str(given.get("session", "session 1")),
        at=_parse_custom_time(given.get("at", CUSTOM_START + timedelta(minutes=number)), where),
        role=given.get("role"),
    )


def _custom_question(
    value: Any, number: int, conversation: str, sessions: Mapping[str, str]
) -> BenchmarkQuestion:
    where = f"question {number} of {conversation}"
    given = _check_fields(value, QUESTION_FIELDS, where)
    evidence = given.get("evidence") or []
    gold = frozenset(map(str, _check_list(evidence, f"evidence of {where}")))
    if unknown := sorted(gold - sessions.keys()):
        raise InvalidInput(f"{where} names {unknown[0]!r} as evidence; no message has that key")
    gold_sessions = frozenset(sessions[key] for key in gold)
    return BenchmarkQuestion(
        id=f"{conversation}/{given.get('id', number)}",
        text=str(given["question"]),
        category=str(
            given.get("category", ACROSS_SESSIONS if len(gold_sessions) > 1 else ONE_SESSION)
        ),
        gold=gold,
        gold_sessions=gold_sessions,
        answer=_expected_answer(given, "answer"),
        at=_parse_custom_time(given["at"], where) if "at" in given else None,
    )


def _check_list(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{where}: expected a list; see docs/howto/evaluate-retrieval.md")
    return value


def _check_fields(value: Any, names: tuple[set[str], set[str]], where: str) -> Mapping[str, Any]:
    """Return the mapping; raise InvalidInput if a field is missing or unknown."""
    required, optional = names
    if not isinstance(value, Mapping) or not required <= value.keys():
        raise InvalidInput(f"{where} needs {' and '.join(sorted(required))}")
    if unknown := value.keys() - required - optional:
        accepted = ", ".join(sorted(required | optional))
        raise InvalidInput(f"{where} has {min(map(str, unknown))!r}; accepted: {accepted}")
    return value


def _parse_custom_time(value: Any, where: str) -> datetime:
    """Parse a time; the default zone is UTC, and a date means its midnight."""
    try:
        at = value if isinstance(value, date) else datetime.fromisoformat(str(value))
    except ValueError as error:
        raise InvalidInput(
            f"`at` of {where} must be an ISO 8601 time, got {value!r:.80}"
        ) from error
    at = at if isinstance(at, datetime) else datetime(at.year, at.month, at.day)  # noqa: DTZ001
    return at if at.tzinfo else at.replace(tzinfo=UTC)


BENCHMARK_READERS: Mapping[str, Callable[[Path], list[BenchmarkConversation]]] = {
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
    "beam": read_beam,
    "own": read_custom,
}


def read_benchmark(name: str, data: Path) -> list[BenchmarkConversation]:
    """Read the conversations of a benchmark.

    Raise InvalidInput if the name is unknown or no question has evidence.
    """
    if name not in BENCHMARK_READERS:
        raise InvalidInput(f"unknown benchmark {name!r}; accepted: {', '.join(BENCHMARK_READERS)}")
    conversations = BENCHMARK_READERS[name](data)
    if not any(conversation.scorable_questions for conversation in conversations):
        raise InvalidInput(f"no question in {data} has evidence")
    return conversations
