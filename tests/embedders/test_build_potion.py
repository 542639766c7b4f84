"""scripts/build_potion.py rebuilds the packaged table."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nexusmem.text.word_vectors import TABLE_SHA256

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_potion.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_potion", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_quantized_rows_are_close_to_the_original(script: ModuleType):
    table = np.random.default_rng(1).normal(size=(50, 256)).astype(np.float32)
    table[7] = 0

    rows, scales = script.quantize_rows(table)

    assert rows.dtype == np.int8
    assert not rows[7].any()
    assert np.abs(rows * scales[:, None] - table).max() < np.abs(table).max() / 250


def test_packing_is_reproducible(script: ModuleType):
    array = np.arange(10)

    assert script.pack(a=array) == script.pack(a=array.copy())


@pytest.mark.slow
def test_packaged_table_can_be_rebuilt(script: ModuleType):
    assert hashlib.sha256(script.build(None)).hexdigest() == TABLE_SHA256
