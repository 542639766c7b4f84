"""A notebook as a folder of files that people edit, in both directions, without losing a word.

What both sides had the last time stands in a small file inside the folder. What changed on one
side goes to the other; where both changed, the notebook's text takes the file's name and the
person's text stays beside it under another one. That file says whose notebook it is, and what the
notebook never had is not taken for deleted: another memory takes in what it finds.

Every step goes through descriptors of directories and follows no link, so that nothing outside the
folder is read or written, whatever somebody puts into it meanwhile. A file is first moved out of
the way and then looked at: what an editor saved a moment ago is not overwritten.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import unicodedata
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..core.canonical import LONGEST_TEXT
from ..core.errors import Conflict, InvalidInput, NexusError
from ..core.notebook import Document, check_path, content_hash

STATE = ".nexus-notebook.json"
MINE = ".nexus-"  # how the names of our own files begin; a document's never does
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MAKING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
WORDS = (".md", ".markdown", ".txt")  # what is taken in; what the notebook has goes out anyhow
MOST_BYTES = 4 * LONGEST_TEXT


class Documents(Protocol):
    """What a folder needs of a notebook."""

    def list(self) -> list[Document]: ...
    def write(self, path: str, text: str, *, expected: str | None = ...) -> Document: ...
    def delete(self, path: str, *, expected: str | None = ...) -> Document: ...


@dataclass(slots=True, kw_only=True)
class Synced:
    """What a synchronisation did, by path."""

    to_folder: list[str] = field(default_factory=list)
    to_notebook: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)  # the copies that were kept
    skipped: dict[str, str] = field(default_factory=dict)  # path → why

    @property
    def changed(self) -> int:
        return len(self.to_folder) + len(self.to_notebook) + len(self.deleted)


def sync(notebook: Documents, folder: Path, *, of: str, had: Callable[[str], bool]) -> Synced:
    """Make both the same. `of` is whose notebook it is, `had` whether it ever held a path."""
    folder.mkdir(parents=True, exist_ok=True)
    with _opened(folder) as root:
        return _Mirror(notebook, root, of).run(had)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    try:
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidInput(f"{folder} is not a folder one can open: {error.strerror}") from None
    try:
        yield root
    finally:
        os.close(root)


class _Mirror:
    def __init__(self, notebook: Documents, root: int, of: str) -> None:
        self._notebook = notebook
        self._root = root
        self._of = of
        self._did = Synced()
        self._base = self._state()

    def run(self, had: Callable[[str], bool]) -> Synced:
        documents = {each.path: each for each in self._notebook.list()}
        for path in [each for each in self._base if each not in documents and not had(each)]:
            del self._base[path]
        known = documents.keys() | self._base.keys()
        files = self._files(known)
        for path in sorted(known | files.keys()):
            if self._is_skipped(path):
                continue
            try:
                self._one(path, documents.get(path), files.get(path))
            except (OSError, NexusError) as error:
                self._did.skipped[path] = str(error)
            else:
                self._keep_state()
        return self._did

    def _is_skipped(self, path: str) -> bool:
        """Also if it lies in a folder that could not be looked into: nobody deleted it."""
        parts = path.split("/")
        above = ("/".join(parts[:end]) for end in range(1, len(parts)))
        for folder in above:
            if folder in self._did.skipped:
                self._did.skipped[path] = f"{folder}: {self._did.skipped[folder]}"
        return path in self._did.skipped

    def _one(self, path: str, document: Document | None, file: str | None) -> None:
        base = self._base.get(path)
        here = content_hash(file) if file is not None else None
        there = document.hash if document else None
        if here == there:
            self._agreed(path, there)
        elif here == base:
            self._to_folder(path, document, base)
        elif there == base:
            self._to_notebook(path, file, base)
        elif document is None:  # deleted there, edited here: what somebody wrote stays
            self._to_notebook(path, file, None)
        else:
            self._to_folder(path, document, base)

    def _to_notebook(self, path: str, file: str | None, base: str | None) -> None:
        if file is None:
            self._notebook.delete(path, expected=base)
            self._did.deleted.append(path)
            self._agreed(path, None)
        else:
            self._agreed(path, self._notebook.write(path, file, expected=base).hash)
            self._did.to_notebook.append(path)

    def _to_folder(self, path: str, document: Document | None, base: str | None) -> None:
        """Move away what is there, see what it was, and put ours in its place."""
        with self._parent(path, make=document is not None) as (parent, name):
            if parent is None:
                self._agreed(path, None)
                return
            aside = f"{MINE}{secrets.token_hex(8)}"
            moved = _moved(parent, name, aside)
            if moved and (copy := self._edited(parent, path, aside, base, document)):
                self._did.conflicts.append(copy)
            if document is not None:
                self._place(parent, name, document.text)
                self._did.to_folder.append(path)
            elif moved:
                self._did.deleted.append(path)
        self._agreed(path, document.hash if document else None)

    def _edited(
        self, parent: int, path: str, aside: str, base: str | None, document: Document | None
    ) -> str | None:
        """What was moved away, kept under a name of its own if it was not as both knew it."""
        text = _text(parent, aside)
        expected = {base, document.hash if document else None}
        if text is not None and content_hash(text) in expected:
            os.unlink(aside, dir_fd=parent)
            return None
        stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
        stem, dot, suffix = (stem, dot, suffix) if dot else (suffix, "", "")
        name = f"{stem}.conflict-{secrets.token_hex(4)}{dot}{suffix}"
        os.rename(aside, name, src_dir_fd=parent, dst_dir_fd=parent)
        return "/".join([*path.split("/")[:-1], name])

    def _place(self, parent: int, name: str, text: str) -> None:
        """Whole or not at all; a file that appeared meanwhile is somebody's: it stays."""
        fresh = f"{MINE}{secrets.token_hex(8)}"
        file = os.open(fresh, MAKING, 0o644, dir_fd=parent)
        try:
            with os.fdopen(file, "wb") as writer:
                writer.write(text.encode())
                writer.flush()
                os.fsync(writer.fileno())
            os.link(fresh, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
        except FileExistsError:
            raise Conflict("somebody just wrote this file: synchronise again") from None
        finally:
            os.unlink(fresh, dir_fd=parent)

    def _files(self, known: Collection[str]) -> dict[str, str]:
        """The text of every file of words, by its path inside the folder."""
        found: dict[str, str] = {}
        for path, parent, name in _walked(self._root, skip=self._did.skipped.__setitem__):
            if path not in known and not name.endswith(WORDS):
                continue  # pictures, databases: a folder may hold more than documents
            try:
                text = _text(parent, name)
                if text is None:
                    self._did.skipped[path] = "it is not a plain file"
                else:
                    found[check_path(unicodedata.normalize("NFC", path))] = text
            except (OSError, ValueError) as error:
                self._did.skipped[path] = str(error)
        return found

    @contextmanager
    def _parent(self, path: str, *, make: bool) -> Iterator[tuple[int | None, str]]:
        """The directory a path lies in, reached without following a link."""
        *folders, name = path.split("/")
        here = os.dup(self._root)
        try:
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, 0o755, dir_fd=here)
                try:
                    below = os.open(folder, DIRECTORY, dir_fd=here)
                except FileNotFoundError:
                    yield None, name
                    return
                os.close(here)
                here = below
            yield here, name
        finally:
            os.close(here)

    def _agreed(self, path: str, known: str | None) -> None:
        if known is None:
            self._base.pop(path, None)
        else:
            self._base[path] = known

    def _state(self) -> dict[str, str]:
        """What both sides had the last time; if the file cannot be read, nothing is known."""
        text = None
        with suppress(OSError, ValueError):
            text = _text(self._root, STATE)
        with suppress(LookupError, ValueError, TypeError):
            told: Any = json.loads(text or "{}")
            if told.get("of", self._of) != self._of:
                raise Conflict(
                    "this folder mirrors another notebook: take another folder; or delete"
                    f" {STATE} in it, and the documents of both come together here"
                )
            return {str(path): str(known) for path, known in dict(told["documents"]).items()}
        return {}

    def _keep_state(self) -> None:
        fresh = f"{MINE}{secrets.token_hex(8)}"
        file = os.open(fresh, MAKING, 0o644, dir_fd=self._root)
        with os.fdopen(file, "w") as writer:
            json.dump({"of": self._of, "documents": self._base}, writer, indent=1, sort_keys=True)
        os.replace(fresh, STATE, src_dir_fd=self._root, dst_dir_fd=self._root)


def _walked(
    root: int, above: str = "", *, skip: Callable[[str, str], None]
) -> Iterator[tuple[str, int, str]]:
    """Path, directory and name of every file that is not hidden; what else there is, is skipped."""
    for name in sorted(os.listdir(root)):
        if name.startswith("."):
            continue
        path = f"{above}{name}"
        try:
            below = os.open(name, DIRECTORY, dir_fd=root)
        except OSError as error:
            if reason := _no_file(root, name, error):
                skip(path, reason)
            elif ".conflict-" not in name:
                yield path, root, name
            continue
        try:
            yield from _walked(below, f"{path}/", skip=skip)
        finally:
            os.close(below)


def _no_file(parent: int, name: str, error: OSError) -> str | None:
    """Why something that is no folder one can open is no file either; None: it may be one."""
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return "it went away meanwhile"
    if stat.S_ISLNK(mode):
        return "it is a link"
    return f"the folder cannot be opened: {error.strerror}" if stat.S_ISDIR(mode) else None


def _text(parent: int, name: str) -> str | None:
    """The text of a plain file; None if it is something else."""
    try:
        file = os.open(name, READING, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, or a pipe nobody writes to
            return None
        raise
    with os.fdopen(file, "rb") as reader:
        about = os.fstat(reader.fileno())
        if not stat.S_ISREG(about.st_mode):
            return None
        data = reader.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    if b"\0" in data:
        raise ValueError("it is not a text")
    return data.decode()


def _moved(parent: int, name: str, aside: str) -> bool:
    try:
        os.rename(name, aside, src_dir_fd=parent, dst_dir_fd=parent)
    except FileNotFoundError:
        return False
    return True
