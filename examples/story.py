"""Guided tour of Nexus: two people, one agent, a room and two DMs. Run it with `make demo`."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table

from nexusmem import Hits, Nexus, Place, Workspace

console = Console()
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

ROOM_MESSAGES = [
    ("alice", "We decided to use PostgreSQL instead of MySQL for the billing service."),
    ("bob", "Good. I will write the migration script by Friday."),
    ("alice", "The staging database moves to the new cluster on Wednesday."),
    ("bob", "Customers keep asking for invoices in euros, not only dollars."),
]

DM_MESSAGES = [
    ("alice", "Please keep this to yourself: I am planning a surprise party for Bob on Friday."),
    ("alice", "The party is at the Heron pub, and the budget is 300 euros."),
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with Nexus.open(path) as nexus:
            run_tour(nexus.workspace("acme"))


def run_tour(acme: Workspace) -> None:
    room = acme.room("design", agent="scribe", participants=["alice", "bob"], project="apollo")
    alice_dm = acme.dm("alice", agent="scribe", project="apollo")
    bob_dm = acme.dm("bob", agent="scribe", project="apollo")

    print_step(1, "Write", "Each message is on disk when the call returns. No server, no API key.")
    write_messages(room, "room #design: alice, bob and the agent scribe", ROOM_MESSAGES)
    write_messages(alice_dm, "DM: alice and scribe", DM_MESSAGES)
    room.set_value("user:alice", "preferred_jwt_expiry", "30m")
    room.remember("The staging server is called heron.", scope="project")

    print_step(2, "Search", "The same question returns different hits for different viewers.")
    ask(room, "room #design", "PostgreSQL or MySQL?")
    ask(alice_dm, "alice's DM", "where is the party?")
    ask(room, "room #design", "where is the party?", threshold=0.3)
    ask(bob_dm, "bob's DM", "is anybody planning a surprise for me?", threshold=0.3)

    print_step(3, "Facts", "Extracted by rules from the messages, without a language model.")
    print_facts(room)
    value = room.get_value("user:alice", "preferred_jwt_expiry")
    console.print(f"  Exact value [cyan]preferred_jwt_expiry[/] = [bold]{value!r}[/]\n")

    print_step(4, "Context", "The text to send to a language model before it answers in the room.")
    print_context(room, "When does the staging database move, and who writes the script?")

    print_step(5, "Delete", "Erase alice with everything derived from her messages, then verify.")
    delete_user(acme, "alice")
    ask(room, "room #design", "PostgreSQL or MySQL?", threshold=0.3)

    print_next_steps()


def print_step(number: int, title: str, text: str) -> None:
    console.print(Rule(f"[bold green]{number} · {title}[/]", style="green", align="left"))
    console.print(f"{text}\n", style="italic")


def write_messages(place: Place, title: str, messages: list[tuple[str, str]]) -> None:
    table = make_table(title, "stage", "speaker", "message")
    for number, (speaker, text) in enumerate(messages):
        at = MONDAY + timedelta(minutes=number)
        receipt = place.observe(speaker, text, at=at, key=f"{place.viewer.home}-{number}")
        table.add_row(f"[green]{receipt.stage.value}[/]", f"[cyan]{speaker}[/]", escape(text))
    console.print(table)
    console.print()


def ask(place: Place, viewer: str, question: str, *, threshold: float | None = None) -> None:
    hits = place.recall(question, threshold=threshold)
    table = make_table(f"{viewer} · {question}", "score", "hit", "speaker", "scope")
    for hit in hits[:3]:
        speaker, scope = hit.memory.speaker or "", str(hit.memory.scope)
        table.add_row(f"{hit.score:.2f}", escape(hit.text), f"[cyan]{speaker}[/]", scope)
    if not hits:
        table.add_row("", "[yellow]no hits[/]", "", "")
    console.print(table)
    console.print(f"  [dim]{describe_search(hits)}[/]\n")


def describe_search(hits: Hits) -> str:
    return f"{hits.total} candidates, {hits.seconds * 1000:.1f} ms"


def print_facts(place: Place) -> None:
    table = make_table("facts in room #design", "subject", "predicate", "value", "confidence")
    for memory in place.facts():
        fact = memory.fact
        value = escape(str(fact.object or fact.value))
        table.add_row(fact.subject, f"[cyan]{fact.predicate}[/]", value, f"{memory.confidence:.2f}")
    console.print(table)


def print_context(place: Place, question: str) -> None:
    context = place.compose(question)
    console.print(f"[bold]question:[/] {question}")
    console.print(
        Panel(escape(context.text), title=f"{context.tokens} tokens", border_style="blue")
    )
    console.print("  [dim]`nexus explain` shows why each line was selected.[/]\n")


def delete_user(workspace: Workspace, user: str) -> None:
    report = workspace.forget(user=user)
    ledger = workspace.verify()
    table = make_table(f"forget(user={user!r})", "check", "result")
    counts = report.erased
    table.add_row(
        "erased",
        f"{counts.events} events, {counts.memories} memories, "
        f"{counts.vectors} vectors, {counts.keywords} keywords",
    )
    table.add_row("files searched", ", ".join(report.files_searched))
    table.add_row("residue in files", f"[bold]{report.residue}[/] pieces of erased text")
    state = "[green]intact[/]" if ledger.is_intact else "[red]broken[/]"
    table.add_row("hash chain", f"{state}: {ledger.events} events, {ledger.erased} of them erased")
    console.print(table)
    console.print()


def print_next_steps() -> None:
    console.print(
        Panel(
            "[bold].venv-demo/bin/nexus init[/]\n"
            '[bold].venv-demo/bin/nexus remember "The staging server is called heron."[/]\n'
            '[bold].venv-demo/bin/nexus memory search "what is the staging server called?"[/]\n\n'
            "Python: README.md and docs/quickstart.md. This tour used a temporary file.",
            title="Next steps",
            border_style="green",
        )
    )


def make_table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", expand=True)
    for name in columns:
        wide = name in ("message", "hit", "result")
        table.add_column(name, overflow="fold", ratio=1 if wide else None)
    return table


if __name__ == "__main__":
    main()
