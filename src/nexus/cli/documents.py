"""Finding text files to index.

A folder is walked without following links, so nothing outside it comes in by accident; hidden
files stay hidden. A file that is named itself is taken whatever it is called.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from ..core.errors import InvalidInput

SUFFIXES = frozenset(
    (
        ".adoc .asciidoc .c .cc .cfg .clj .cpp .cs .css .csv .dart .erl .ex .exs .go .h .hpp .hs"
        " .htm .html .ini .java .jl .js .json .jsonl .jsx .kt .lua .m .markdown .md .mdx .mm .org"
        " .php .pl .proto .ps1 .py .pyi .r .rb .rs .rst .scala .sh .sql .srt .svelte .swift .tex"
        " .text .tf .toml .ts .tsv .tsx .txt .vtt .vue .xml .yaml .yml .zig"
    ).split()
)
NAMES = frozenset(
    "README LICENSE NOTICE CHANGELOG CONTRIBUTING AUTHORS Makefile Dockerfile".split()
)
TEDIOUS = frozenset(["node_modules", "__pycache__"])
LARGEST = 10_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Document:
    """A file's text under a name that is the same wherever the folder lies."""

    name: str
    text: str
    changed_at: datetime

    @property
    def key(self) -> str:
        """The same file with the same text is the same document."""
        mark = sha256(f"{self.name}\0{self.text}".encode()).hexdigest()[:16]
        return f"file:{self.name[-400:]}@{mark}"


@dataclass(frozen=True, slots=True)
class Candidate:
    path: Path
    name: str
    named: bool  # by the caller, so a link is meant


def find_candidates(paths: Iterable[Path]) -> list[Candidate]:
    """Every file that may be a document, in a stable order."""
    return [candidate for path in paths for candidate in _candidates(path)]


def _candidates(path: Path) -> Iterator[Candidate]:
    if not path.exists():
        raise InvalidInput(f"no file or folder {path}")
    root = path.resolve()
    if not root.is_dir():
        yield Candidate(root, _spelt(Path(path.name)), named=True)
        return
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(name for name in inner if name not in TEDIOUS and name[0] != ".")
        for name in sorted(filter(_looks_like_text, files)):
            file = Path(folder, name)
            yield Candidate(file, _spelt(file.relative_to(root.parent)), named=False)


def _looks_like_text(name: str) -> bool:
    return name[0] != "." and (name in NAMES or Path(name).suffix.lower() in SUFFIXES)


def _spelt(path: Path) -> str:
    """A name any store can keep, even if the file system's is no UTF-8."""
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


class Skipped(Exception):
    """Why a file is not taken in."""


def read_document(candidate: Candidate) -> Document:
    try:
        content, changed_at = _content(candidate)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Skipped("not text") from None
    except OSError as error:
        link = error.errno == errno.ELOOP
        raise Skipped("a link" if link else (error.strerror or "unreadable").lower()) from None
    if not text.strip():
        raise Skipped("empty")
    if "\0" in text:
        raise Skipped("not text")
    return Document(candidate.name, text, changed_at)


def _content(candidate: Candidate) -> tuple[bytes, datetime]:
    """Bytes of a regular file; never of a pipe or device, and in a folder never through a link."""
    follow = 0 if candidate.named else getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(candidate.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | follow)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise Skipped("no regular file")
        if state.st_size > LARGEST:
            raise Skipped(f"larger than {LARGEST // 1_000_000} MB")
        return file.read(LARGEST), datetime.fromtimestamp(max(state.st_mtime, 0), UTC)
