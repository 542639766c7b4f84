"""Continuity: what is told once is known where the same people are, and nowhere else.

    python bench/continuity.py                       # SQLite in memory
    python bench/continuity.py --store postgresql://…  # the same on Postgres
    python bench/continuity.py --speed               # cost of recall and compose with 200 sessions

Facts of ten kinds are told in one place and asked in another, a week and all jobs later, in other
words than they were told (`continuity_unseen.json`, written by people who had not seen the code).
The table of flows says where each must be found (at least 90 %) and where it must not (0).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings, SharingSettings, StoreSettings
from nexusmem.workspace import Workspace

FOLDER = Path(__file__).parent
UNSEEN = FOLDER / "continuity_unseen.json"  # not used for training
RESULTS = FOLDER / "results" / "continuity.json"
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
SELF = frozenset("preference identity work place people schedule expertise contact".split())
SHARED_PROFILE = frozenset("preference work schedule expertise contact".split())
PROJECT = frozenset(("decision", "project_fact"))
EVERYTHING = SELF | PROJECT
NOTHING: frozenset[str] = frozenset()
HITS = 5
MAX_MEMORIES = 1000
CLOCK_LINE = re.compile(r"^now: .*$", re.MULTILINE)
JOBS = ("consolidate", "near_duplicates", "episodes", "session_end", "promote", "decay", "cleanup")


@dataclass(frozen=True)
class Pair:
    """A place where alice tells a fact, a place where it is asked, and the kinds that may flow."""

    name: str
    told: Callable[[Workspace], Place]
    asked: Callable[[Workspace], Place]
    allowed: frozenset[str]
    by: str = "alice"  # who asks
    confidential: bool = False


def dm(user: str = "alice", agent: str = "helper", project: str | None = None):
    return lambda ws: ws.dm(user, agent=agent, project=project)


def session(name: str, agent: str = "helper", *, user: str = "alice", private: bool = False):
    return lambda ws: ws.session(name, user=user, agent=agent, private=private)


def room(name: str, people: str, project: str | None = "apollo"):
    return lambda ws: ws.room(name, agent="helper", participants=people.split(), project=project)


DESIGN, OPS = room("design", "alice bob"), room("ops", "alice carol")
PRIVATE = session("p", private=True)
ZEUS = room("sales", "alice dan", "zeus")
TEAM = SHARED_PROFILE | PROJECT
PAIRS = (
    Pair("session, same session", session("one"), session("one"), EVERYTHING),
    Pair("session → session", session("one"), session("two"), EVERYTHING),
    Pair("session → DM", session("one"), dm(), EVERYTHING),
    Pair("DM → session", dm(), session("two"), EVERYTHING),
    Pair("DM, same DM", dm(), dm(), EVERYTHING),
    Pair("DM → private session", dm(), session("two", private=True), EVERYTHING),
    Pair(
        "private session, same", session("p", private=True), session("p", private=True), EVERYTHING
    ),
    Pair("private session → session", PRIVATE, session("two"), NOTHING),
    Pair("private session → DM", PRIVATE, dm(), NOTHING),
    Pair("DM → DM with another agent", dm(), dm(agent="coder"), SELF),
    Pair("session → session with another agent", session("one"), session("x", "coder"), SELF),
    Pair("room, same room", DESIGN, DESIGN, EVERYTHING),
    Pair(
        "room → sister room with the speaker",
        DESIGN,
        room("ops", "alice carol"),
        SHARED_PROFILE | PROJECT,
    ),
    Pair("room → sister room without the speaker", DESIGN, room("qa", "bob carol"), PROJECT, "bob"),
    Pair(
        "room → room of another project", DESIGN, room("sales", "alice dan", "zeus"), SHARED_PROFILE
    ),
    Pair("room → unrelated room", DESIGN, room("yard", "dan", "zeus"), NOTHING, "dan"),
    Pair("room → speaker's DM", DESIGN, dm(), SHARED_PROFILE),
    Pair(
        "room → speaker's DM with the project",
        DESIGN,
        dm(project="apollo"),
        SHARED_PROFILE | PROJECT,
    ),
    Pair("room → other participant's DM", DESIGN, dm("bob"), NOTHING, "bob"),
    Pair(
        "room → other participant's DM with the project",
        DESIGN,
        dm("bob", project="apollo"),
        PROJECT,
        "bob",
    ),
    Pair("room → outsider's DM", DESIGN, dm("dan"), NOTHING, "dan"),
    Pair("DM → room", dm(), DESIGN, NOTHING, "bob"),
    Pair("DM → other person's DM", dm(), dm("bob"), NOTHING, "bob"),
    Pair("session → room", session("one"), DESIGN, NOTHING, "bob"),
    Pair("DM, confidential → another agent", dm(), dm(agent="coder"), NOTHING, confidential=True),
    Pair(
        "room, confidential → sister room",
        DESIGN,
        room("ops", "alice carol"),
        NOTHING,
        confidential=True,
    ),
    Pair("DM, confidential → session", dm(), session("two"), EVERYTHING, confidential=True),
)


class Clock:
    def __init__(self) -> None:
        self.now = MONDAY

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now


def run_pair(
    workspace: Workspace, clock: Clock, pair: Pair, facts: list[dict[str, str]]
) -> Iterator[tuple[str, bool]]:
    """Tell all facts, wait a week, run all jobs, and yield for each kind whether it was found."""
    told = pair.told(workspace)
    clock.now = MONDAY
    for fact in facts:
        told.observe("alice", fact["told"], confidential=pair.confidential)
        clock.now += timedelta(hours=3)
    workspace.flush()
    for _ in range(7):
        clock.now += timedelta(days=1)
        for job in JOBS:
            workspace.run_job(job)
    place = pair.asked(workspace)
    readable = [each.text.casefold() for each in place.memories(limit=MAX_MEMORIES)]
    allowed = " ".join(fact["told"] for fact in facts if fact["kind"] in pair.allowed).casefold()
    for fact in facts:
        about = fact.get("question_about", fact["question"]).format(name="alice")
        question = fact["question"] if pair.by == "alice" else about
        hits = place.recall(question, limit=HITS)
        shown = [hit.text.casefold() for hit in hits]
        answer = fact["answer"].casefold()
        word = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)")
        if fact["kind"] in pair.allowed:
            yield fact["kind"], any(answer in text for text in shown)
        elif answer in allowed or answer in question.casefold():
            yield fact["kind"], False  # another fact or the question says the same words
        else:
            context = place.compose(question).text.casefold()
            context = CLOCK_LINE.sub("", context)  # names a weekday
            yield fact["kind"], any(map(word.search, (context, *shown, *readable)))


def measure(store: str | None, all_facts: list[list[dict[str, str]]]) -> dict[str, object]:
    clock = Clock()
    settings = Settings(store=StoreSettings(url=store)) if store else None
    rows, by_kind, missed = {}, Counter(), Counter()
    with Nexus.open(store or ":memory:", settings=settings, clock=clock, background=False) as nexus:
        for pair in PAIRS:
            right = wanted = leaked = 0
            for number, facts in enumerate(all_facts):
                workspace = nexus.workspace(f"{pair.name} {number}")
                for kind, found in run_pair(workspace, clock, pair, facts):
                    if kind in pair.allowed:
                        wanted, right = wanted + 1, right + found
                        by_kind[kind] += 1
                        missed[kind] += not found
                    else:
                        leaked += found
            rows[pair.name] = {"found": right, "of": wanted, "leaked": leaked}
            print(f"{pair.name:50} found {right:3} of {wanted:3}   leaked {leaked}", flush=True)
    total, found = (sum(row[name] for row in rows.values()) for name in ("of", "found"))
    leaked = sum(row["leaked"] for row in rows.values())
    print(f"{'all':50} found {found} of {total} ({found / total:.1%})   leaked {leaked}")
    print("missed by kind:", {kind: f"{missed[kind]} of {by_kind[kind]}" for kind in by_kind})
    return {"pairs": rows, "found": found, "of": total, "leaked": leaked}


SESSIONS, TURNS, ROUNDS = 200, 10, 40


def measure_speed(all_facts: list[list[dict[str, str]]]) -> dict[str, float]:
    """Compare a store with 200 shared sessions with one whose messages are all in the DM."""
    places = {}
    for name, sharing in (
        ("sessions", SharingSettings()),
        ("one DM", SharingSettings(agents="none", profile=False, project=False)),
    ):
        clock = Clock()
        nexus = Nexus.open(
            ":memory:", settings=Settings(sharing=sharing), clock=clock, background=False
        )
        workspace = nexus.workspace("speed")
        for number in range(SESSIONS):
            place = (
                workspace.session(str(number), user="alice", agent="helper")
                if name == "sessions"
                else workspace.dm("alice", agent="helper")
            )
            facts = [fact for each in all_facts for fact in each]
            place.observe_many(
                {
                    "speaker": "alice",
                    "text": f"{facts[(number + turn) % len(facts)]['told']} ({number}.{turn})",
                }
                for turn in range(TURNS)
            )
        workspace.flush()
        places[name] = (
            workspace.session("new", user="alice", agent="helper")
            if name == "sessions"
            else workspace.dm("alice", agent="helper")
        )
    questions = [fact["question"] for each in all_facts for fact in each][:ROUNDS]
    seconds: dict[tuple[str, str], list[float]] = {}
    for question in questions:
        for name, place in places.items():
            for call in ("recall", "compose"):
                started = time.perf_counter()
                getattr(place, call)(question)
                seconds.setdefault((call, name), []).append(time.perf_counter() - started)
    result = {f"{call}, {name}, ms": 1e3 * median(took) for (call, name), took in seconds.items()}
    for call in ("recall", "compose"):
        result[f"{call} ratio"] = result[f"{call}, sessions, ms"] / result[f"{call}, one DM, ms"]
    for name, value in result.items():
        print(f"{name:30} {value:.2f}")
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="file or URL; default: SQLite in memory")
    parser.add_argument("--facts", type=Path, default=UNSEEN, help="your own facts, as JSON")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    chosen_facts = json.loads(options.facts.read_text())
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if options.speed:
        saved["speed"] = measure_speed(chosen_facts)
    else:
        kind = "postgres" if (options.store or "").startswith("postgres") else "sqlite"
        saved[kind] = measure(options.store, chosen_facts)
    if options.facts == UNSEEN:
        RESULTS.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")
