"""Importing a part that asks a provider costs little and needs no extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nexus

SOURCE = Path(nexus.__file__).parent
MODULES = sorted(
    f"nexus.{package}.{path.stem}"
    for package in ("providers", "embedders", "llms", "rerankers", "prompts")
    for path in (SOURCE / package).glob("*.py")
    if path.stem != "__init__"
)
EXTRAS = [
    *("openai", "anthropic", "google", "google.genai"),
    *("onnx", "onnxruntime", "httpx", "httpx2"),
]


def test_every_module_can_be_imported_without_its_extra():
    code = f"""
import importlib, sys
sys.modules.update(dict.fromkeys({EXTRAS}))
for module in {MODULES}:
    importlib.import_module(module)
from nexus.embedders import builtin
assert builtin._table.cache_info().currsize == 0, "the table was loaded"
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.returncode == 0, result.stderr
