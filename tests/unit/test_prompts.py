"""Prompts: a file each, with a version people read and a hash machines keep."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from nexus import prompts
from nexus.prompts import load_prompt, parse_prompt

FOLDER = Path(prompts.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
TEA = '---\nname: tea\nversion: 3\n---\nBrew {leaf}: {"cups": 1}.\n---\n{asked}\n'


def test_there_are_some():
    assert {"hyde", "self_query", "statement"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_a_prompt_of_its_name_with_its_hash(name: str):
    prompt = load_prompt(name)

    assert prompt.name == name
    assert prompt.version >= 1
    assert prompt.system
    assert prompt.user
    assert prompt.hash == sha256((FOLDER / f"{name}.md").read_bytes()).hexdigest()


def test_a_file_has_a_header_instructions_and_what_is_sent():
    prompt = parse_prompt(TEA)

    assert (prompt.name, prompt.version) == ("tea", 3)
    rendered = prompt.render(leaf="sencha", asked="hot")
    assert rendered.system == 'Brew sencha: {"cups": 1}.'
    assert rendered.user == "hot"


@pytest.mark.parametrize(
    "value", ["{leaf}", "{0.__class__}", "%s", "$asked", r"\1\g<0>", "{", "}}"]
)
def test_a_value_is_put_in_as_it_is(value: str):
    assert parse_prompt(TEA).render(leaf="sencha", asked=value).user == value


@pytest.mark.parametrize("values", [{}, {"leaf": "x"}, {"leaf": "x", "asked": "y", "cup": "z"}])
def test_a_value_too_few_or_too_many_is_a_mistake(values):
    with pytest.raises(ValueError, match="the prompt tea takes"):
        parse_prompt(TEA).render(**values)


@pytest.mark.parametrize("text", ["", "Brew.", "Brew.\n" + TEA, "---\nname: x\n---\na\n"], ids=repr)
def test_another_file_is_no_prompt(text: str):
    with pytest.raises(ValueError, match=r"header|unpack"):
        parse_prompt(text)


def test_another_text_has_another_hash():
    assert parse_prompt(TEA).hash != parse_prompt(TEA.replace("Brew", "Boil")).hash
