"""Modules that call providers import fast and without their optional packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nexusmem

SOURCE = Path(nexusmem.__file__).parent
MODULES = sorted(
    f"nexusmem.{package}.{path.stem}"
    for package in ("runtime", "telemetry", "embedders", "llms", "rerankers", "prompts")
    for path in (SOURCE / package).glob("*.py")
    if path.stem != "__init__"
)
EXTRAS = [
    *("openai", "anthropic", "google", "google.genai"),
    *("onnx", "onnxruntime", "httpx", "httpx2"),
]


def test_every_module_imports_without_its_extra():
    code = f"""
import importlib, sys
sys.modules.update(dict.fromkeys({EXTRAS}))
for module in {MODULES}:
    importlib.import_module(module)
from nexusmem.text import word_vectors
assert word_vectors.load_table.cache_info().currsize == 0, "the table was loaded"
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.returncode == 0, result.stderr
