"""Documentation checks: code blocks run, links are valid, every error is documented."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import dedent

import pytest
from tests.architecture.sources import ROOT

from nexusmem.core import errors

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)
NO_RUN = "<!-- no-run -->"

RUNNER = """
import json, shlex, sys
from nexusmem.cli import main
page, blocks = json.load(sys.stdin)
names = {"__name__": "__main__"}
for block in blocks:
    if block["language"] == "python":
        exec(compile("\\n" * block["line"] + block["code"], page, "exec"), names)
        continue
    for command in block["code"].replace("\\\\\\n", " ").splitlines():
        words = shlex.split(command, comments=True)
        if not words:
            continue
        assert words[0] == "nexus", command
        sys.argv = words
        try:
            main()
        except SystemExit as ended:
            assert not ended.code, f"{command!r} ended with {ended.code}"
"""


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a page that are run: Python, and `nexus` commands."""
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()].rstrip().splitlines()[-1:]
        language, code = match["language"], match["code"]
        ours = language == "python" or (language == "bash" and code.startswith("nexus "))
        if ours and before != [NO_RUN]:
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(language, dedent(code), line))
    return found


FIRST = ("README.md", "docs/quickstart.md")  # run in the fast tests, too
TWICE = (*FIRST, "docs/howto/delete-export-import.md")  # a reader repeats them in one folder


def runnable() -> list[Path]:
    return [page for page in PAGES if page.exists() and blocks(page.read_text(encoding="utf-8"))]


def as_case(page: Path) -> object:
    """Return a parameter of the page; most pages are slow tests."""
    name = str(page.relative_to(ROOT))
    return pytest.param(page, id=name, marks=() if name in FIRST else pytest.mark.slow)


@pytest.mark.parametrize("page", list(map(as_case, runnable())))
def test_code_blocks_of_page_run(page: Path, tmp_path: Path) -> None:
    told = [asdict(block) for block in blocks(page.read_text(encoding="utf-8"))]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")},
        "NEXUS_STORE": str(tmp_path / "default.db"),
        "HOME": str(tmp_path),
    }

    for _ in range(2 if str(page.relative_to(ROOT)) in TWICE else 1):
        run = subprocess.run(
            [sys.executable, "-c", RUNNER],
            input=json.dumps([page.name, told]),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            timeout=100,
        )

        assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]


def test_readme_has_runnable_code() -> None:
    assert ROOT / "README.md" in runnable()


def test_code_blocks_are_extracted_in_order() -> None:
    page = (
        "```python\na = 1\n```\ntext\n\n```bash\nnexus verify\n```\n"
        "```bash\npip install x\n```\n```sh\nmake demo\n```\n```\nplain\n```\n"
        f"{NO_RUN}\n```python\nboom\n```\n{NO_RUN}\n\n```bash\nnexus boom\n```\n"
        "  ```python\n  indented = 1\n  ```\n"
    )

    assert [(block.language, block.code.strip(), block.line) for block in blocks(page)] == [
        ("python", "a = 1", 1),
        ("bash", "nexus verify", 6),
        ("python", "indented = 1", 27),
    ]


REFERENCE = [*(ROOT / "docs" / "reference").rglob("*.md"), *(ROOT / "docs").glob("errors.md")]


@pytest.mark.skipif(not REFERENCE, reason="no reference is written yet")
def test_every_error_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    named = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.NexusError)
    }

    assert {name for name in named if not re.search(rf"\b{name}\b", text)} == set()


def test_links_between_pages_are_valid() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert broken == []
