"""Two-way synchronization of a notebook with a folder of text files, without lost edits.

A small state file in the folder holds the content of the last synchronization. A change on one side
is copied to the other. If both sides changed, the notebook's text keeps the file name and the other
text is stored as a conflict copy.

The state file also names the notebook. A path that the notebook never contained is not treated as
deleted, so another memory imports the files it finds.

All file access uses directory descriptors and follows no link, so nothing outside the folder is
read or written. A file is renamed before it is read, so that a concurrent save of an editor is not
overwritten.
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

from ..core.canonical import MAX_TEXT_LENGTH
from ..core.errors import Conflict, InvalidInput, NexusError
from ..core.records.notebook import Document, check_path, content_hash

STATE_FILE = ".nexus-notebook.json"
OWN_PREFIX = ".nexus-"  # prefix of our own files; no document path starts with it
OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
OPEN_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
TEXT_SUFFIXES = (".md", ".markdown", ".txt")  # of imported files; documents may have any name
MAX_BYTES = 4 * MAX_TEXT_LENGTH


class NotebookDocuments(Protocol):
    """The notebook operations that synchronization needs."""

    def list(self) -> list[Document]: ...
    def write(self, path: str, text: str, *, expected: str | None = ...) -> Document: ...
    def delete(self, path: str, *, expected: str | None = ...) -> Document: ...


@dataclass(slots=True, kw_only=True)
class SyncReport:
    """Paths by what the synchronization did with them."""

    to_folder: list[str] = field(default_factory=list)
    to_notebook: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)  # conflict copies
    skipped: dict[str, str] = field(default_factory=dict)  # path → reason

    @property
    def change_count(self) -> int:
        return len(self.to_folder) + len(self.to_notebook) + len(self.deleted)


def sync_folder(
    notebook: NotebookDocuments, folder: Path, *, owner_id: str, had_path: Callable[[str], bool]
) -> SyncReport:
    """Synchronize both sides and return the changed paths.

    `owner_id` names the notebook. `had_path` returns whether the notebook ever contained a path.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _open_folder(folder) as root:
        return _FolderSync(notebook, root, owner_id).run(had_path)


@contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    try:
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be opened as a folder: {error.strerror}") from None
    try:
        yield root
    finally:
        os.close(root)


class _FolderSync:
    def __init__(self, notebook: NotebookDocuments, root: int, owner_id: str) -> None:
        self._notebook = notebook
        self._root = root
        self._owner_id = owner_id
        self._report = SyncReport()
        self._base = self._load_state()

    def run(self, had_path: Callable[[str], bool]) -> SyncReport:
        documents = {each.path: each for each in self._notebook.list()}
        for path in [each for each in self._base if each not in documents and not had_path(each)]:
            del self._base[path]
        notebook_paths = documents.keys() | self._base.keys()
        files = self._read_files(notebook_paths)
        for path in sorted(notebook_paths | files.keys()):
            if self._is_skipped(path):
                continue
            try:
                self._sync_path(path, documents.get(path), files.get(path))
            except (OSError, NexusError) as error:
                self._report.skipped[path] = str(error)
            else:
                self._save_state()
        return self._report

    def _is_skipped(self, path: str) -> bool:
        """Return whether the path is in an unreadable folder: such a path was not deleted."""
        parts = path.split("/")
        above = ("/".join(parts[:end]) for end in range(1, len(parts)))
        for folder in above:
            if folder in self._report.skipped:
                self._report.skipped[path] = f"{folder}: {self._report.skipped[folder]}"
        return path in self._report.skipped

    def _sync_path(self, path: str, document: Document | None, file: str | None) -> None:
        base = self._base.get(path)
        here = content_hash(file) if file is not None else None
        there = document.hash if document else None
        if here == there:
            self._set_base(path, there)
        elif here == base:
            self._copy_to_folder(path, document, base)
        elif there == base:
            self._copy_to_notebook(path, file, base)
        elif document is None:  # deleted in the notebook and edited in the folder: the edit wins
            self._copy_to_notebook(path, file, None)
        else:
            self._copy_to_folder(path, document, base)

    def _copy_to_notebook(self, path: str, file: str | None, base: str | None) -> None:
        if file is None:
            self._notebook.delete(path, expected=base)
            self._report.deleted.append(path)
            self._set_base(path, None)
        else:
            self._set_base(path, self._notebook.write(path, file, expected=base).hash)
            self._report.to_notebook.append(path)

    def _copy_to_folder(self, path: str, document: Document | None, base: str | None) -> None:
        """Rename the present file, compare it, and write the notebook's text."""
        with self._open_parent(path, make=document is not None) as (parent, name):
            if parent is None:
                self._set_base(path, None)
                return
            aside = f"{OWN_PREFIX}{secrets.token_hex(8)}"
            moved = _move_aside(parent, name, aside)
            if moved and (copy := self._keep_conflict(parent, path, aside, base, document)):
                self._report.conflicts.append(copy)
            if document is not None:
                self._create_file(parent, name, document.text)
                self._report.to_folder.append(path)
            elif moved:
                self._report.deleted.append(path)
        self._set_base(path, document.hash if document else None)

    def _keep_conflict(
        self, parent: int, path: str, aside: str, base: str | None, document: Document | None
    ) -> str | None:
        """Store the renamed file as a conflict copy, unless it has a synchronized text."""
        text = _read_text(parent, aside)
        expected = {base, document.hash if document else None}
        if text is not None and content_hash(text) in expected:
            os.unlink(aside, dir_fd=parent)
            return None
        stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
        stem, dot, suffix = (stem, dot, suffix) if dot else (suffix, "", "")
        name = f"{stem}.conflict-{secrets.token_hex(4)}{dot}{suffix}"
        os.rename(aside, name, src_dir_fd=parent, dst_dir_fd=parent)
        return "/".join([*path.split("/")[:-1], name])

    def _create_file(self, parent: int, name: str, text: str) -> None:
        """Create the file atomically. A file that was created meanwhile stays."""
        fresh = f"{OWN_PREFIX}{secrets.token_hex(8)}"
        file = os.open(fresh, OPEN_CREATE, 0o644, dir_fd=parent)
        try:
            with os.fdopen(file, "wb") as writer:
                writer.write(text.encode())
                writer.flush()
                os.fsync(writer.fileno())
            os.link(fresh, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
        except FileExistsError:
            raise Conflict("this file changed meanwhile: synchronize again") from None
        finally:
            os.unlink(fresh, dir_fd=parent)

    def _read_files(self, notebook_paths: Collection[str]) -> dict[str, str]:
        """Return the text of every text file by its path inside the folder."""
        texts: dict[str, str] = {}
        for path, parent, name in _walk_files(self._root, skip=self._report.skipped.__setitem__):
            if path not in notebook_paths and not name.endswith(TEXT_SUFFIXES):
                continue  # images and databases: a folder may contain other files
            try:
                text = _read_text(parent, name)
                if text is None:
                    self._report.skipped[path] = "it is not a plain file"
                else:
                    texts[check_path(unicodedata.normalize("NFC", path))] = text
            except (OSError, ValueError) as error:
                self._report.skipped[path] = str(error)
        return texts

    @contextmanager
    def _open_parent(self, path: str, *, make: bool) -> Iterator[tuple[int | None, str]]:
        """Open the parent directory of a path without following links."""
        *folders, name = path.split("/")
        here = os.dup(self._root)
        try:
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, 0o755, dir_fd=here)
                try:
                    below = os.open(folder, OPEN_DIRECTORY, dir_fd=here)
                except FileNotFoundError:
                    yield None, name
                    return
                os.close(here)
                here = below
            yield here, name
        finally:
            os.close(here)

    def _set_base(self, path: str, digest: str | None) -> None:
        if digest is None:
            self._base.pop(path, None)
        else:
            self._base[path] = digest

    def _load_state(self) -> dict[str, str]:
        """Return the text hashes of the last synchronization; empty if the file is unreadable."""
        text = None
        with suppress(OSError, ValueError):
            text = _read_text(self._root, STATE_FILE)
        with suppress(LookupError, ValueError, TypeError):
            state: Any = json.loads(text or "{}")
            if state.get("of", self._owner_id) != self._owner_id:
                raise Conflict(
                    "this folder belongs to another notebook: choose another folder, or delete"
                    f" {STATE_FILE} to merge both notebooks here"
                )
            return {str(path): str(hash) for path, hash in dict(state["documents"]).items()}
        return {}

    def _save_state(self) -> None:
        fresh = f"{OWN_PREFIX}{secrets.token_hex(8)}"
        file = os.open(fresh, OPEN_CREATE, 0o644, dir_fd=self._root)
        with os.fdopen(file, "w") as writer:
            json.dump(
                {"of": self._owner_id, "documents": self._base}, writer, indent=1, sort_keys=True
            )
        os.replace(fresh, STATE_FILE, src_dir_fd=self._root, dst_dir_fd=self._root)


def _walk_files(
    root: int, above: str = "", *, skip: Callable[[str, str], None]
) -> Iterator[tuple[str, int, str]]:
    """Yield path, directory and name of every visible file. Report other entries as skipped."""
    for name in sorted(os.listdir(root)):
        if name.startswith("."):
            continue
        path = f"{above}{name}"
        try:
            below = os.open(name, OPEN_DIRECTORY, dir_fd=root)
        except OSError as error:
            if reason := _skip_reason(root, name, error):
                skip(path, reason)
            elif ".conflict-" not in name:
                yield path, root, name
            continue
        try:
            yield from _walk_files(below, f"{path}/", skip=skip)
        finally:
            os.close(below)


def _skip_reason(parent: int, name: str, error: OSError) -> str | None:
    """Return why an entry is skipped, or None if it may be a file."""
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return "it was deleted during the synchronization"
    if stat.S_ISLNK(mode):
        return "it is a link"
    return f"the folder cannot be opened: {error.strerror}" if stat.S_ISDIR(mode) else None


def _read_text(parent: int, name: str) -> str | None:
    """Return the text of a regular file, or None for other file types."""
    try:
        file = os.open(name, OPEN_READ, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, or a pipe without a writer
            return None
        raise
    with os.fdopen(file, "rb") as reader:
        status = os.fstat(reader.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        data = reader.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"the file has more than {MAX_BYTES} bytes")
    if b"\0" in data:
        raise ValueError("the file is not text")
    return data.decode()


def _move_aside(parent: int, name: str, aside: str) -> bool:
    try:
        os.rename(name, aside, src_dir_fd=parent, dst_dir_fd=parent)
    except FileNotFoundError:
        return False
    return True
