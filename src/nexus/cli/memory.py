"""`nexus memory …`: the commands of seed 002, in its spelling."""

from __future__ import annotations

import sys
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .lazy import FOUND_NOTHING
from .options import (
    HERE,
    Door,
    admin_option,
    json_object,
    json_option,
    scope_option,
    standard_input,
    store_options,
    time,
    viewer_options,
)
from .output import message, one_line, print_archive, print_json, print_record, progress

if TYPE_CHECKING:
    from ..place import Place
    from .documents import Candidate

DONE = ("indexed", "repeated")
OFTEN = 16  # documents between two rounds of learning, so that the bar tells the truth


@click.group()
def memory() -> None:
    """Search, index, count, compact, export and import.

    \b
        nexus memory search "how did we implement auth?" --scope channel --limit 5
    """


@memory.command()
@click.argument("query")
@scope_option
@click.option("--limit", type=int, metavar="N", help="How many at most.")
@click.option("--threshold", type=float, metavar="X", help="Least score, from 0 to 1.")
@click.option(
    "--filter",
    "where",
    metavar="JSON",
    type=json_object,
    help="""For example '{"speaker": "alice"}'.""",
)
@click.option("--since", type=time, help="From this time on.")
@click.option("--until", type=time, help="Before this time.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="passage, fact, …; many.")
@click.option("--as-of", type=time, help="Only what had been told by then; a date is its start.")
@click.option("--per-conversation", type=int, metavar="N", help="Of one conversation at most.")
@click.option("--full", is_flag=True, help="Show whole texts.")
@click.option("--explain", is_flag=True, help="Show why each is there, and what it took.")
@json_option
@viewer_options
def search(
    door: Door, query: str, scope: str | None, *, full: bool, as_json: bool, **asked: Any
) -> None:
    """Find memories by meaning and by word, best first.

    \b
        nexus memory search "how did we implement auth?" --scope channel --limit 5
        nexus memory search "deadline" --room design --since 2026-01-01 --json
        nexus memory search "which database?" --as-of 2026-03-01 --explain

    --explain shows where each strategy had a hit, the largest parts of its sum and the keys of the
    events it rests on; below, the time and the finds of each strategy. With --json they are the
    last line.
    """
    from .hits import print_hits  # noqa: PLC0415  # pulls in the records

    asked["kinds"] = asked["kinds"] or None
    with door.enter(scope) as place:
        found = place.recall(query, scope=scope, **asked)
    for reason in found.degraded:
        message(f"warning: {reason}")
    print_hits(found, as_json=as_json, full=full, explain=asked["explain"])
    if not found:
        sys.exit(FOUND_NOTHING)


@memory.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@scope_option
@json_option
@viewer_options
def index(door: Door, paths: tuple[Path, ...], scope: str | None, *, as_json: bool) -> None:
    """Take in text files and folders; running it again adds only what is new.

    A changed file is taken in again, and its earlier text stays. Hidden files, links and what is
    not text are left out.

    \b
        nexus memory index ./docs --scope global
    """
    from .documents import find_candidates  # noqa: PLC0415

    candidates = find_candidates(paths)
    with door.enter(scope, create=True) as place, progress("Indexing") as report:
        outcomes = []
        for number, candidate in enumerate(candidates, start=1):
            outcomes.append(_index(place, candidate, scope))
            if number % OFTEN == 0 or number == len(candidates):
                place.flush()
            report(number, len(candidates))
    for candidate, outcome in zip(candidates, outcomes, strict=True):
        if outcome not in DONE:
            message(f"skipped {one_line(candidate.name)}: {outcome}")
    counts = {name: outcomes.count(name) for name in DONE}
    counts["skipped"] = len(outcomes) - sum(counts.values())
    (print_json if as_json else print_record)(counts)
    if counts["skipped"] == len(outcomes):
        sys.exit(FOUND_NOTHING)


def _index(place: Place, candidate: Candidate, scope: str | None) -> str:
    """What became of it: one of DONE, or why it was left out."""
    from ..core.errors import Conflict, Forgotten  # noqa: PLC0415
    from .documents import Skipped, read_document  # noqa: PLC0415

    try:
        document = read_document(candidate)
        told: dict[str, Any] = {"key": document.key, "at": document.changed_at}
        told["metadata"] = {"path": document.name}
        receipt = place.index(document.text, scope=scope, **told)
    except (Skipped, Conflict, Forgotten) as error:
        return str(error)
    return "repeated" if receipt.repeated else "indexed"


@memory.command()
@click.argument("id")
@json_option
@viewer_options
def show(door: Door, id: str, *, as_json: bool) -> None:
    """One memory with its state: how strong it is, and why.

    Uses are those in places that can be read from here.

    \b
        nexus memory show 5a1555516a49d8ef2f7e71d074180004 --room design
    """
    from .showing import print_memory  # noqa: PLC0415  # pulls in the records

    with door.enter(None) as place:
        found, strength = place.get(id), place.strength(id)
    print_memory(found, strength, as_json=as_json)


@memory.command()
@scope_option
@admin_option
@json_option
@viewer_options
def stats(door: Door, scope: str | None, *, as_admin: bool, as_json: bool) -> None:
    """Count events, memories of each kind, and vectors.

    \b
        nexus memory stats --scope session
        nexus memory stats --as-admin
    """
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        grant = door.grant(workspace, scope, as_admin=as_admin)
        door.place(workspace, scope).flush()
        counts = workspace.stats(grant=grant)
    (print_json if as_json else print_record)(counts)


@memory.command()
@json_option
@store_options
def compact(door: Door, as_json: bool) -> None:
    """Finish what waits to be learned, tidy up, and give back disk space.

    \b
        nexus memory compact
    """
    from ..storing import file_of  # noqa: PLC0415

    file = file_of(door.settings.store)
    with door.open() as nexus:
        before = file.stat().st_size if file else None
        waiting = sum(nexus.workspace(name).flush() for name in nexus.workspaces())
        nexus.optimize()
    done = {"still_waiting": waiting}
    if file and before is not None:  # a server gives its space back to itself
        done = {"bytes_before": before, "bytes_after": file.stat().st_size, **done}
    (print_json if as_json else print_record)(done)


@memory.command()
@scope_option
@click.option("--output", "-o", metavar="FILE", default="-", help="Default: standard output.")
@click.option("--vectors", is_flag=True, help="With embeddings.")
@admin_option
@json_option
@viewer_options
def export(
    door: Door, scope: str | None, *, output: str, vectors: bool, as_admin: bool, as_json: bool
) -> None:
    """Write what may be seen as JSON lines, with provenance.

    \b
        nexus memory export --scope session --output memories.json
        nexus memory export --as-admin --vectors --output backup.jsonl
    """
    written = StringIO()
    with door.open() as nexus:
        workspace = nexus.workspace(door.workspace or HERE)
        grant = door.grant(workspace, scope, as_admin=as_admin)
        to = written if output == "-" else output
        exported = asdict(workspace.export(to, grant=grant, vectors=vectors))
    if output == "-":
        print_archive(written.getvalue())
        message(", ".join(f"{count} {name}" for name, count in exported.items()))
    else:
        (print_json if as_json else print_record)({**exported, "file": output})


@memory.command("import")
@click.argument("file")
@scope_option
@admin_option
@json_option
@viewer_options
def import_(door: Door, file: str, scope: str | None, *, as_admin: bool, as_json: bool) -> None:
    """Read an archive, or seed 002's list of entries. Twice is once.

    With --scope everything goes there; else each record goes where it was, if that can be reached
    from here. FILE "-" is standard input.

    \b
        nexus memory import memories.json --scope global
    """
    source = standard_input() if file == "-" else file
    with door.open(create=True) as nexus, progress("Importing") as report:
        workspace = nexus.workspace(door.workspace or HERE)
        grant, one = door.reach(workspace, scope, as_admin=as_admin)
        imported = asdict(workspace.import_(source, grant=grant, scope=one, report=report))
    (print_json if as_json else print_record)(imported)
    if not imported["events"] and not imported["repeated"]:
        sys.exit(FOUND_NOTHING)
