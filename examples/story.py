"""A short story of two people, a room and a DM, told through the real API.

make demo
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from nexus import Found, Nexus, Place

console = Console()
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

SAID_IN_THE_ROOM = [
    ("alice", "We decided to use PostgreSQL instead of MySQL for the billing service."),
    ("bob", "Good. I will write the migration script by Friday."),
    ("alice", "The staging database moves to the new cluster on Wednesday."),
    ("bob", "Customers keep asking for invoices in euros, not only dollars."),
]

SAID_IN_CONFIDENCE = [
    ("alice", "Please keep this to yourself: I am planning a surprise party for Bob on Friday."),
    ("alice", "The party is at the Heron pub, and the budget is 300 euros."),
]


def tell(place: Place, said: list[tuple[str, str]], name: str) -> None:
    for number, (speaker, text) in enumerate(said):
        receipt = place.observe(
            speaker, text, at=MONDAY + timedelta(minutes=number), key=f"{name}-{number}"
        )
        console.print(f"  [dim]{receipt.stage.value}[/]  [bold]{speaker}[/]: {text}")


def show(title: str, found: Found) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", expand=True)
    for heading in ("score", "what was found", "who said it", "from"):
        table.add_column(heading, overflow="fold")
    for hit in found[:3]:
        memory = hit.memory
        table.add_row(f"{hit.score:.2f}", hit.text, memory.speaker or "", str(memory.scope))
    if not found:
        table.add_row("", "[dim]nothing[/]", "", "")
    console.print(table)
    console.print(f"  [dim]{found.total} candidates in {found.seconds * 1000:.1f} ms[/]\n")


def show_knowledge(place: Place) -> None:
    table = Table(title="What is known in the room", title_justify="left", expand=True)
    for heading in ("who or what", "relation", "value", "sure", "said by"):
        table.add_column(heading, overflow="fold")
    for memory in place.facts():
        fact = memory.fact
        value = str(fact.object or fact.value)
        sure = f"{memory.confidence:.2f}"
        table.add_row(fact.subject, fact.predicate, value, sure, memory.speaker or "")
    console.print(table)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        with Nexus.open(file) as nexus:
            tell_the_story(nexus, file)


def tell_the_story(nexus: Nexus, file: Path) -> None:
    acme = nexus.workspace("acme")
    room = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")
    dm = acme.dm("alice", agent="scribe", project="apollo")
    bobs_dm = acme.dm("bob", agent="scribe", project="apollo")

    console.print(Panel("One file, no key, no server. Each line is on disk when it says durable."))
    console.print("[bold]In the room #design[/] (alice, bob and the agent scribe)")
    tell(room, SAID_IN_THE_ROOM, "room")
    console.print("\n[bold]In alice's DM with scribe[/]")
    tell(dm, SAID_IN_CONFIDENCE, "dm")
    room.set_fact("user:alice", "preferred_jwt_expiry", "30m")
    room.remember("The staging server is called heron.", scope="project")

    console.print(Panel("Questions. Who asks, and from where, decides what can be found."))
    show("In the room: which database did we choose?", room.recall("which database did we choose?"))
    show("In alice's DM: where is the party?", dm.recall("where is the party?"))
    in_the_room = room.recall("where is the party?", threshold=0.3)
    show("In the room, the same question: where is the party?", in_the_room)
    bobs = bobs_dm.recall("is anybody planning a surprise for me?", threshold=0.3)
    show("In bob's DM: is anybody planning a surprise for me?", bobs)
    value = room.fact("user:alice", "preferred_jwt_expiry")
    console.print(f"  An exact fact, byte for byte: preferred_jwt_expiry = [bold]{value!r}[/]\n")

    console.print(Panel("What was learned by itself, without a model."))
    show_knowledge(room)
    console.print(Panel("What an agent would be given before it answers in the room."))
    context = room.compose("When does the staging database move, and who writes the script?")
    console.print(context.text, markup=False, highlight=False)
    console.print(f"  [dim]{context.tokens} tokens; nexus explain says why each line is there[/]\n")

    console.print(Panel("Alice leaves, and wants to be forgotten. Then we look for traces."))
    report = acme.forget(user="alice")
    console.print(
        f"  erased {report.erased.events} events, {report.erased.memories} memories, "
        f"{report.erased.vectors} vectors, {report.erased.keywords} keywords\n"
        f"  searched {', '.join(report.files_searched)}: residue [bold]{report.residue}[/]"
    )
    ledger = acme.verify()
    console.print(
        f"  the ledger's hash chain of {ledger.events} events is "
        f"[bold]{'sound' if ledger.sound else 'broken'}[/], {ledger.erased} of them erased\n"
    )
    show("In the room: which database did we choose?", room.recall("which database did we choose?"))

    console.print(
        Panel(
            "Your turn:\n\n"
            "  [bold].venv-demo/bin/nexus init[/]\n"
            '  [bold].venv-demo/bin/nexus remember "The staging server is called heron."[/]\n'
            '  [bold].venv-demo/bin/nexus memory search "what is the staging server called?"[/]\n\n'
            f"README.md has the ten lines of Python. ({file.name} is gone: it was a demo.)"
        )
    )


if __name__ == "__main__":
    main()
