"""`nexus memory`: search, list, correct, index, export and import memories."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..core.errors import InvalidInput
from . import EXIT_NEGATIVE
from .options import (
    DEFAULT_NAME,
    TIME,
    CommandTarget,
    admin_option,
    json_option,
    limit_option,
    make_scope_option,
    open_stdin,
    parse_json,
    scope_option,
    store_options,
    text_or_stdin,
    viewer_options,
)
from .output import (
    one_line,
    print_archive,
    print_json,
    print_message,
    print_record,
    print_table,
    progress_bar,
)

if TYPE_CHECKING:
    from ..place.place import Place


TEXT_SUFFIXES = frozenset(
    (
        ".adoc .asciidoc .c .cc .cfg .clj .cpp .cs .css .csv .dart .erl .ex .exs .go .h .hpp .hs"
        " .htm .html .ini .java .jl .js .json .jsonl .jsx .kt .lua .m .markdown .md .mdx .mm .org"
        " .php .pl .proto .ps1 .py .pyi .r .rb .rs .rst .scala .sh .sql .srt .svelte .swift .tex"
        " .text .tf .toml .ts .tsv .tsx .txt .vtt .vue .xml .yaml .yml .zig"
    ).split()
)
TEXT_NAMES = frozenset(
    "README LICENSE NOTICE CHANGELOG CONTRIBUTING AUTHORS Makefile Dockerfile".split()
)
IGNORED_FOLDERS = frozenset(["node_modules", "__pycache__"])
MAX_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file, with a name relative to the indexed folder."""

    name: str
    text: str
    modified_at: datetime

    @property
    def key(self) -> str:
        """Idempotency key: the same name and text is the same document."""
        hash = sha256(f"{self.name}\0{self.text}".encode()).hexdigest()[:16]
        return f"file:{self.name[-400:]}@{hash}"


@dataclass(frozen=True, slots=True)
class FileCandidate:
    """A file that may be indexed."""

    path: Path
    name: str
    is_explicit: bool  # named on the command line: symbolic links are followed


def find_text_files(paths: Iterable[Path]) -> list[FileCandidate]:
    """Return every file that may be a text document, in a stable order."""
    return [candidate for path in paths for candidate in _walk_path(path)]


def _walk_path(path: Path) -> Iterator[FileCandidate]:
    if not path.exists():
        raise InvalidInput(f"no file or folder {path}")
    root = path.resolve()
    if not root.is_dir():
        yield FileCandidate(root, _portable_name(Path(path.name)), is_explicit=True)
        return
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(name for name in inner if name not in IGNORED_FOLDERS and name[0] != ".")
        for name in sorted(filter(_is_text_name, files)):
            file = Path(folder, name)
            yield FileCandidate(
                file, _portable_name(file.relative_to(root.parent)), is_explicit=False
            )


def _is_text_name(name: str) -> bool:
    return name[0] != "." and (name in TEXT_NAMES or Path(name).suffix.lower() in TEXT_SUFFIXES)


def _portable_name(path: Path) -> str:
    """Return a name in UTF-8, also if the name in the file system is not."""
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


class FileSkipped(Exception):
    """A file is not indexed; the message says why."""


def read_text_file(candidate: FileCandidate) -> TextFile:
    """Read a file as UTF-8; raise FileSkipped if it cannot be indexed."""
    try:
        content, changed_at = _read_bytes(candidate)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileSkipped("not text") from None
    except OSError as error:
        link = error.errno == errno.ELOOP
        raise FileSkipped("a link" if link else (error.strerror or "unreadable").lower()) from None
    if not text.strip():
        raise FileSkipped("empty")
    if "\0" in text:
        raise FileSkipped("not text")
    return TextFile(candidate.name, text, changed_at)


def _read_bytes(candidate: FileCandidate) -> tuple[bytes, datetime]:
    """Read a regular file: no pipe, no device, and no link unless it was named explicitly."""
    follow = 0 if candidate.is_explicit else getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(candidate.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | follow)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise FileSkipped("not a regular file")
        if state.st_size > MAX_BYTES:
            raise FileSkipped(f"larger than {MAX_BYTES // 1_000_000} MB")
        return file.read(MAX_BYTES), datetime.fromtimestamp(max(state.st_mtime, 0), UTC)


DONE_OUTCOMES = ("indexed", "duplicate")
FLUSH_EVERY = 16  # documents learned at a time, so that the progress bar is accurate
MAX_TEXT_CHARACTERS = 200


@click.group()
def memory() -> None:
    """Search, list, correct, index, export and import memories.

    \b
        nexus memory search "how did we implement auth?" --room design --limit 5
    """


@memory.command()
@click.argument("query")
@scope_option
@click.option("--limit", type=int, metavar="N", help="Maximum number of hits.")
@click.option("--threshold", type=float, metavar="X", help="Minimum score, from 0 to 1.")
@click.option(
    "--min-relevance",
    type=float,
    metavar="P",
    help="Withhold hits that help to answer with a smaller probability, from 0 to 1.",
)
@click.option(
    "--filter",
    "where",
    metavar="JSON",
    type=parse_json,
    help="""For example '{"speaker": "alice"}'.""",
)
@click.option("--since", type=TIME, help="Only from this time on.")
@click.option("--until", type=TIME, help="Only before this time.")
@click.option("--kind", metavar="KIND", multiple=True, help="passage, fact, …; repeatable.")
@click.option("--as-of", type=TIME, help="Only events recorded until then; a date is its start.")
@click.option(
    "--max-per-conversation", type=int, metavar="N", help="Maximum hits of one conversation."
)
@click.option("--full", is_flag=True, help="Show the complete texts.")
@click.option("--explain", is_flag=True, help="Show how each hit was ranked, and the times.")
@json_option
@viewer_options
def search(
    target: CommandTarget,
    query: str,
    scope: str | None,
    *,
    full: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Search memories by meaning and keyword, best first.

    \b
        nexus memory search "how did we implement auth?" --room design --limit 5
        nexus memory search "deadline" --room design --since 2026-01-01 --json
        nexus memory search "which database?" --as-of 2026-03-01 --explain

    With --min-relevance 0.05, a question that nothing answers prints nothing and exits with 1.
    --explain shows the rank of each hit in each strategy, the largest parts of its score and the
    keys of its events; then the time and the number of results of each strategy. With --json these
    are the last line.
    """
    from .output import exit_empty, print_hits  # loaded on first use

    options["kind"] = options["kind"] or None
    with target.open_place(scope) as place:
        found = place.recall(query, scope=scope, **options)
        home = place.scope(scope)
    for reason in found.degraded:
        print_message(f"warning: {reason}")
    print_hits(found, as_json=as_json, full=full, explain=options["explain"])
    if found.withheld:
        print_message(f"withheld {found.withheld} hits that are not likely to help")
    if not found:
        exit_empty(home)


@memory.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@make_scope_option("Where to store the documents; default: this place")
@json_option
@viewer_options
def index(
    target: CommandTarget, paths: tuple[Path, ...], scope: str | None, *, as_json: bool
) -> None:
    """Index text files and folders; running it again adds only new and changed files.

    The earlier text of a changed file stays. Hidden files, symbolic links and files that are not
    text are skipped.

    \b
        nexus memory index ./docs --scope workspace
    """
    candidates = find_text_files(paths)
    with target.open_place(scope, create=True) as place, progress_bar("Indexing") as report:
        outcomes = []
        for number, candidate in enumerate(candidates, start=1):
            outcomes.append(_index_file(place, candidate, scope))
            if number % FLUSH_EVERY == 0 or number == len(candidates):
                place.flush()
            report(number, len(candidates))
    for candidate, outcome in zip(candidates, outcomes, strict=True):
        if outcome not in DONE_OUTCOMES:
            print_message(f"skipped {one_line(candidate.name)}: {outcome}")
    counts = {name: outcomes.count(name) for name in DONE_OUTCOMES}
    counts["skipped"] = len(outcomes) - sum(counts.values())
    (print_json if as_json else print_record)(counts)
    if counts["skipped"] == len(outcomes):
        sys.exit(EXIT_NEGATIVE)


def _index_file(place: Place, candidate: FileCandidate, scope: str | None) -> str:
    """Index a file; return one of DONE_OUTCOMES, or why it was skipped."""
    from ..core.errors import Conflict, Forgotten  # loaded on first use

    try:
        document = read_text_file(candidate)
        receipt = place.add_document(
            document.text,
            scope=scope,
            key=document.key,
            at=document.modified_at,
            metadata={"path": document.name},
        )
    except (FileSkipped, Conflict, Forgotten) as error:
        return str(error)
    return "duplicate" if receipt.duplicate else "indexed"


@memory.command()
@click.argument("id")
@click.option("--why", is_flag=True, help="Also show which rule lets you see it.")
@json_option
@viewer_options
def show(target: CommandTarget, id: str, *, why: bool, as_json: bool) -> None:
    """Show one memory and its strength.

    Only uses in places that the viewer can read are counted.

    \b
        nexus memory show 5a1555516a49d8ef2f7e71d074180004 --room design
        nexus memory show 5a1555516a49d8ef2f7e71d074180004 --why
    """
    from .output import print_memory  # loaded on first use

    with target.open_place(None) as place:
        found, strength = place.get(id), place.strength(id)
        reason = place.why_visible(id) if why else None
    print_memory(found, strength, reason, as_json=as_json)


@memory.command("list")
@click.option("--kind", metavar="KIND", multiple=True, help="passage, fact, …; repeatable.")
@click.option(
    "--filter",
    "where",
    metavar="JSON",
    type=parse_json,
    help="""For example '{"speaker": "alice"}'.""",
)
@scope_option
@limit_option
@click.option("--cursor", metavar="CURSOR", help="The cursor of the previous page.")
@json_option
@viewer_options
def list_(
    target: CommandTarget,
    scope: str | None,
    *,
    kind: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """List memories, newest first, one page at a time.

    \b
        nexus memory list --kind fact --room design
        nexus memory list --filter '{"speaker": "alice"}' --limit 20 --json

    The cursor of the next page is printed on standard error.
    """
    from ..core.json_codec import memory_to_json  # loaded on first use

    with target.open_place(scope) as place:
        page = place.memories(kind or None, scope=scope, **options)
    if as_json:
        for each in page:
            print_json(memory_to_json(each))
    elif page.items:
        rows = [
            (
                each.id,
                each.kind.value,
                f"{each.at:%Y-%m-%d %H:%M}",
                one_line(each.text, MAX_TEXT_CHARACTERS),
            )
            for each in page
        ]
        print_table(["id", "kind", "time", "text"], rows)
    print_message(
        f"next page: --cursor {page.cursor!r}" if page.cursor else f"{len(page)} memories"
    )
    if not page.items:
        sys.exit(EXIT_NEGATIVE)


@memory.command()
@click.argument("id")
@click.argument("text")
@json_option
@viewer_options
def correct(target: CommandTarget, id: str, text: str, *, as_json: bool) -> None:
    """Replace a memory by a new text. TEXT "-" is standard input.

    The old text stays in `nexus memory history`. Only the author, or the user whose private place
    it is, may correct a memory.

    \b
        nexus memory correct 5a15… "The staging server is called kestrel." --dm
    """
    with target.open_place() as place:
        new = place.correct(id, text_or_stdin(text))
    (print_json if as_json else print_record)(
        {"id": new.id, "replaces": id, "scope": str(new.scope), "text": one_line(new.text)}
    )


@memory.command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@json_option
@viewer_options
def forget(target: CommandTarget, id: str, *, yes: bool, as_json: bool) -> None:
    """Erase a memory, or a message by its event id, with everything derived from it.

    Only the author, or the user whose private place it is, may erase. The administrator's command
    is `nexus forget`.

    \b
        nexus memory forget 5a15… --dm --yes
    """
    from ..place.memories import check_erasable  # loaded on first use

    with target.open_place() as place:
        check_erasable(place, id)
        if not yes and not as_json:
            question = f"Erase {one_line(id)} and everything derived from it?"
            click.confirm(question, abort=True, err=True)
        place.forget(id)
    (print_json if as_json else print_record)({"erased": id})


@memory.command()
@click.argument("id")
@json_option
@viewer_options
def history(target: CommandTarget, id: str, *, as_json: bool) -> None:
    """Show every version of a memory or fact, oldest first.

    \b
        nexus memory history 5a15… --dm
    """
    with target.open_place() as place:
        versions = place.history(id)
    if as_json:
        for each in versions:
            times = {"at": each.at.isoformat(), "until": each.until and each.until.isoformat()}
            print_json({**asdict(each), **times})
        return
    rows = [
        (
            f"{each.at:%Y-%m-%d %H:%M}",
            "current" if each.current else f"{each.until:%Y-%m-%d %H:%M}" if each.until else "",
            each.by or "",
            one_line(each.text, MAX_TEXT_CHARACTERS),
        )
        for each in versions
    ]
    print_table(["from", "until", "by", "text"], rows)


@memory.command()
@scope_option
@admin_option
@json_option
@viewer_options
def stats(target: CommandTarget, scope: str | None, *, as_admin: bool, as_json: bool) -> None:
    """Count events, memories of each kind, and vectors.

    \b
        nexus memory stats --scope session
        nexus memory stats --as-admin
    """
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        grant = target.resolve_grant(workspace, scope, as_admin=as_admin)
        target.resolve_place(workspace, scope).flush()
        counts = workspace.stats(grant=grant)
    (print_json if as_json else print_record)(counts)


@memory.command()
@json_option
@store_options
def vacuum(target: CommandTarget, as_json: bool) -> None:
    """Learn all pending events, delete expired data, and give back disk space.

    \b
        nexus memory vacuum
    """
    from ..wiring.stores import store_file  # loaded on first use

    file = store_file(target.settings.store)
    with target.open_nexus() as nexus:
        before = file.stat().st_size if file else None
        pending = sum(nexus.workspace(name).flush() for name in nexus.workspaces())
        nexus.optimize()
    done = {"pending": pending}
    if file and before is not None:  # the files of a server cannot be measured
        done = {"bytes_before": before, "bytes_after": file.stat().st_size, **done}
    (print_json if as_json else print_record)(done)


# Specification 002 calls this command `compact`.
memory.add_command(
    click.Command(
        "compact",
        params=vacuum.params,
        callback=vacuum.callback,
        help=(vacuum.help or "").replace("memory vacuum", "memory compact"),
        hidden=True,
    )
)


@memory.command()
@scope_option
@click.option("--output", "-o", metavar="FILE", default="-", help="Default: standard output.")
@click.option("--vectors", is_flag=True, help="Include the embeddings.")
@admin_option
@json_option
@viewer_options
def export(
    target: CommandTarget,
    scope: str | None,
    *,
    output: str,
    vectors: bool,
    as_admin: bool,
    as_json: bool,
) -> None:
    """Write everything the viewer can see as JSON lines, with provenance.

    \b
        nexus memory export --scope session --output memories.json
        nexus memory export --as-admin --vectors --output backup.jsonl
    """
    written = StringIO()
    with target.open_nexus() as nexus:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        grant, home = target.resolve_access(workspace, scope, as_admin=as_admin)
        to = written if output == "-" else output
        exported = asdict(workspace.export(to, grant=grant, scope=home, vectors=vectors))
    if output == "-":
        print_archive(written.getvalue())
        print_message(", ".join(f"{count} {name}" for name, count in exported.items()))
    else:
        (print_json if as_json else print_record)({**exported, "file": output})


@memory.command("import")
@click.argument("file")
@make_scope_option("Write everything to this scope")
@admin_option
@json_option
@viewer_options
def import_(
    target: CommandTarget, file: str, scope: str | None, *, as_admin: bool, as_json: bool
) -> None:
    """Import an archive of `nexus memory export`, or a JSON list of texts.

    An entry of such a list needs only "content". Importing twice changes nothing.

    \b
        [{"content": "We use PostgreSQL.", "created_at": "2026-01-31T09:00:00Z"}]

    With --scope everything is written to that scope, else each record to its own scope, if the
    viewer can reach it. FILE "-" is standard input.

    \b
        nexus memory import backup.jsonl --as-admin
        nexus memory import notes.json --scope workspace
    """
    source = open_stdin() if file == "-" else file
    with target.open_nexus(create=True) as nexus, progress_bar("Importing") as report:
        workspace = nexus.workspace(target.workspace or DEFAULT_NAME)
        grant, one = target.resolve_access(workspace, scope, as_admin=as_admin)
        imported = asdict(workspace.import_(source, grant=grant, scope=one, report=report))
    (print_json if as_json else print_record)(imported)
    if not imported["events"] and not imported["repeated"]:
        sys.exit(EXIT_NEGATIVE)
