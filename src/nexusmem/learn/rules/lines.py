"""Lines of notes: list items with owners, check boxes and headings, as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...text.dates import DateSpan
from ...text.gazetteer import is_first_name
from .landmark_cues import ASSIGNED_VERBS, TRAILING_OWNER

BULLET = re.compile(r"^[ \t]*(?P<mark>[-*•–]|\d{1,2}[.)]|\[[ xX✓]?\]|☐|☑|✅)[ \t]*(?P<rest>\S.*)$")
CHECKED = re.compile(r"^\s*(?:[-*•]\s*)?(?:\[[xX✓]\]|☑|✅)")
UNCHECKED = re.compile(r"^\s*(?:[-*•]\s*)?(?:\[ ?\]|☐)\s*")
OWNED = re.compile(
    r"^(?P<owner>@?[^\W\d_][\w-]*(?: [A-Z][\w-]+)?)\s*(?:(?P<colon>:|->|→|=>)|(?P<to>to)(?="
    r" [a-z]))\s*(?P<what>\S.*)$"
)
IN_BRACKETS = re.compile(r"^(?P<what>[^()]{2,60})\((?P<owner>[^\W\d_]+)\)\s*$")
TASK_LABEL = re.compile(
    r"^(?:to-?do|action items?|action|task)s?\s*[([]?(?:for )?@?(?P<owner>[^\W\d_]+)?[])]?"
    r"\s*:\s*(?P<what>\S.*)$",
    re.IGNORECASE,
)
OWNED_VERB = re.compile(  # "Faisal orders mince pies"
    r"^(?P<owner>@?[A-Z][\w-]+)\s+(?P<verb>[a-z]+?)(?:e?s) (?P<what>\S.*)$"
)
DECISION_LABEL = re.compile(
    r"^(?:(?:kill|killed|drop|dropped|cut|scrap|scrapped|decisions?|decided|agreed|approved|rejected"
    r"|parked|postponed|cancelled|canceled|out|in|chosen|winner|resolved|outcome|verdict|adopted)"
    r"\s*:\s+\S|hire \d)",
    re.IGNORECASE,
)
DECIDED = re.compile(
    r"\b(?:parked until|postponed|wins\b|approved|confirmed|switch(?:ing)? to|pushed(?: to|,|$)"
    r"|moved to|delayed|brought forward|(?:un)?animous(?:ly)?|in favou?r|cancelled|canceled"
    r"|called off|scrapped|shelved|axed|agreed|rejected|turned down|signed off|green light"
    r"|go-?ahead|voted|stays as (?:it )?is|gets? (?:binned|scrapped|replaced|dropped))\b"
    r"|\bpushed,"
    r"|(?:->|→|=>|:) ?(?:no|yes|nope|rejected|approved|ok|agreed|dropped)\b(?=\s*(?:[,.;!(–-]|$))",
    re.IGNORECASE,
)
LINE_VERBS = frozenset(["do", "make", "bring", "handle", "cover", "host", "drive", "bake", "set"])
ARROW = re.compile(r"(?P<old>.*\S)\s*(?:->|→|=>)\s*(?P<new>\S.*)")
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DAY_TAIL = re.compile(
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\.? {MONTH}|{MONTH} \d{{1,2}}|\w+day|\d{{1,2}}(?:st|nd|rd|th)"
    r"|\d[\d.:/-]+)\W*$",
    re.IGNORECASE,
)
DAY_HEAD = re.compile(
    rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?\b|{MONTH} \d|\w+day\b)", re.IGNORECASE
)
LABELLED = re.compile(r"^(?P<label>@?[^\W\d_][\w-]*)\s*:\s+\S")
STATUS = re.compile(
    r"\b(?:done|finished|starting|blocked|waiting|happy|wants|went|was|were|present|intro"
    r"|numbers|q&a)\b|\?$",
    re.IGNORECASE,
)
NOT_PEOPLE = frozenset(
    """present next chair aob hint note notes re fwd subject date time place topic agenda when where
    who what why decision decisions todo action actions invoices salary budget legal competitor
    champion bins hedge kill hire okr owner status update beta deadline ps p.s edit nb
    fyi""".split()
)
PEOPLE = frozenset(["me", "all", "everyone", "everybody", "team", "we", "us"])


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One line of a list."""

    start: int
    end: int
    text: str  # without bullet
    kind: str  # "task", "decision" or "" for anything else
    owner: str | None = None
    tasks: tuple[str, ...] = ()
    is_done: bool = False
    dates: tuple[DateSpan, ...] = ()


def read_note_lines(text: str, known_names: frozenset[str]) -> list[NoteLine]:
    """Return the lines of notes in a message; an empty list if it has none."""
    if "\n" not in text and not UNCHECKED.match(text):
        return []
    return (
        read_lines(text, known_names)
        or read_owned_lines(text, known_names)
        or read_labelled_lines(text, known_names)
    )


def read_lines(text: str, known_names: frozenset[str]) -> list[NoteLine]:
    """Return the list items of a message; an empty list if it has only one without a box."""
    rows = []
    place = 0
    for raw in text.split("\n"):
        if match := BULLET.match(raw):
            rows.append((place, raw, match["rest"]))
        place += len(raw) + 1
    if len(rows) < 2 and not any(UNCHECKED.match(raw) for _, raw, _ in rows):
        return []
    return [_read_line(*row, known_names) for row in rows]


def _read_line(start: int, raw: str, rest: str, known_names: frozenset[str]) -> NoteLine:
    end = start + len(raw)
    body = UNCHECKED.sub("", raw).strip() if UNCHECKED.match(raw) else rest.strip()
    if CHECKED.match(raw):
        return NoteLine(start, end, body, "", is_done=True)
    if UNCHECKED.match(raw):
        owner, what = _split_owner(body, known_names)
        return NoteLine(start, end, body, "task", owner=owner, tasks=(what,))
    if label := TASK_LABEL.match(body):
        owner, what = _split_owner(label["what"], known_names)
        owner = label["owner"] or owner
        return NoteLine(start, end, body, "task", owner=owner, tasks=(what,))
    if (owned := OWNED.match(body)) and _is_person(
        owned["owner"], known_names, is_named=bool(owned["to"])
    ):
        what = owned["what"]
        if STATUS.search(what):
            return NoteLine(start, end, body, "")
        return NoteLine(start, end, body, "task", owner=owned["owner"].lstrip("@"), tasks=(what,))
    if _assigns(body, known_names):
        owner, _, what = body.partition(" ")
        return NoteLine(start, end, body, "task", owner=owner.lstrip("@"), tasks=(what.strip(),))
    if _moves_date(body):
        return NoteLine(start, end, body, "correction")
    if DECISION_LABEL.match(body) or (DECIDED.search(body) and not body.endswith("?")):
        return NoteLine(start, end, body, "decision")
    return NoteLine(start, end, body, "")


def _split_owner(body: str, known_names: frozenset[str]) -> tuple[str | None, str]:
    """Return the owner that a task names at its begin or end, and the task."""
    owned = OWNED.match(body)
    if owned and _is_person(owned["owner"], known_names, is_named=bool(owned["to"])):
        return owned["owner"].lstrip("@"), owned["what"]
    match = TRAILING_OWNER.search(body)
    name = match[match.lastgroup] if match and match.lastgroup else None
    if match and name and (match["tagged"] or _is_person(name, known_names, is_named=False)):
        return name, body[: match.start()]
    return None, body


def _assigns(body: str, known_names: frozenset[str]) -> bool:
    """Return whether a line names a person and what this person does."""
    match = OWNED_VERB.match(body)
    if match is None or not _is_person(match["owner"], known_names, is_named=False):
        return False
    verb = match["verb"]
    assigned = any(each in ASSIGNED_VERBS | LINE_VERBS for each in (verb, verb + "e"))
    return assigned and not STATUS.search(match["what"])


def _moves_date(body: str) -> bool:
    """Return whether a line gives an old and a new date: "go live 1 June -> 15 June"."""
    match = ARROW.match(body)
    return match is not None and bool(
        DAY_TAIL.search(match["old"]) and DAY_HEAD.match(match["new"])
    )


def read_labelled_lines(text: str, known_names: frozenset[str]) -> list[NoteLine]:
    """Return the lines "Seun: report fri" of notes without bullets, if several name a person."""
    rows = []
    place = 0
    for raw in text.split("\n"):
        body = raw.strip()
        if (match := LABELLED.match(body)) and (
            DECISION_LABEL.match(body) or _is_person(match["label"], known_names, is_named=False)
        ):
            rows.append((place, raw, body, bool(DECISION_LABEL.match(body))))
        place += len(raw) + 1
    if sum(not is_decision for *_, is_decision in rows) < 2:
        return []
    return [_read_line(start, raw, body, known_names) for start, raw, body, _ in rows]


def read_owned_lines(text: str, known_names: frozenset[str]) -> list[NoteLine]:
    """Return the lines "tent (leo)" of a list without bullets."""
    found = []
    place = 0
    for raw in text.split("\n"):
        match = IN_BRACKETS.match(raw.strip())
        if (
            match
            and _is_person(match["owner"], known_names, is_named=True)
            and match["owner"].lower() not in ("all", "everyone")
        ):
            owner = match["owner"]
            found.append(
                NoteLine(
                    place,
                    place + len(raw),
                    raw.strip(),
                    "task",
                    owner=owner,
                    tasks=(match["what"].strip(),),
                )
            )
        place += len(raw) + 1
    return found if len(found) > 1 else []


def _is_person(name: str, known_names: frozenset[str], *, is_named: bool) -> bool:
    word = name.lower().lstrip("@")
    if word in NOT_PEOPLE:
        return False
    first = word.split()[0]
    return (
        word in PEOPLE
        or first in known_names
        or is_first_name(first)
        or (is_named and name[:1].isupper())
    )


OWNER_DASH = re.compile(r"(?:^|,\s*)(?P<owner>me|[A-Z][\w-]+)\s*[–:-]\s+(?P<what>[^,;]+)")


def split_owned(text: str) -> list[tuple[str, str]]:
    """Return owner and task of a list in one line: "Omar – hosting quote, me – privacy page"."""
    found = [(match["owner"], match["what"].strip(" .")) for match in OWNER_DASH.finditer(text)]
    return found if len(found) > 1 else []


def cover(lines: Sequence[NoteLine], start: int) -> NoteLine | None:
    """Return the line with a landmark that contains a place of the text."""
    return next((line for line in lines if line.kind and line.start <= start < line.end), None)
