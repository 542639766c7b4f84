"""Prompt files: header, version, hash and placeholders."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from nexusmem import prompts
from nexusmem.prompts import load_prompt, parse_prompt

FOLDER = Path(prompts.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
APPENDED = {"labels"}  # instructions that follow those of another prompt: no user text
TEA = '---\nname: tea\nversion: 3\n---\nBrew {leaf}: {"cups": 1}.\n---\n{asked}\n'


def test_prompt_files_exist():
    assert {"hyde", "self_query", "statement"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_a_prompt_with_its_name_and_hash(name: str):
    prompt = load_prompt(name)

    assert prompt.name == name
    assert prompt.version >= 1
    assert prompt.system
    assert prompt.user or name in APPENDED
    assert prompt.hash == sha256((FOLDER / f"{name}.md").read_bytes()).hexdigest()


def test_file_has_header_system_and_user_prompt():
    prompt = parse_prompt(TEA)

    assert (prompt.name, prompt.version) == ("tea", 3)
    rendered = prompt.render(leaf="sencha", asked="hot")
    assert rendered.system == 'Brew sencha: {"cups": 1}.'
    assert rendered.user == "hot"


@pytest.mark.parametrize(
    "value", ["{leaf}", "{0.__class__}", "%s", "$asked", r"\1\g<0>", "{", "}}"]
)
def test_value_is_inserted_unchanged(value: str):
    assert parse_prompt(TEA).render(leaf="sencha", asked=value).user == value


@pytest.mark.parametrize("values", [{}, {"leaf": "x"}, {"leaf": "x", "asked": "y", "cup": "z"}])
def test_missing_or_unknown_value_raises(values):
    with pytest.raises(ValueError, match="the prompt tea needs the values"):
        parse_prompt(TEA).render(**values)


@pytest.mark.parametrize("text", ["", "Brew.", "Brew.\n" + TEA, "---\nname: x\n---\na\n"], ids=repr)
def test_other_file_is_rejected(text: str):
    with pytest.raises(ValueError, match=r"header|unpack"):
        parse_prompt(text)


def test_hash_depends_on_the_text():
    assert parse_prompt(TEA).hash != parse_prompt(TEA.replace("Brew", "Boil")).hash
