"""Prompts for models, stored as `.md` files in this folder.

    ---
    name: hyde
    version: 1
    ---
    System prompt: the instructions, the same for all requests.
    ---
    {question}

The version is for people: raise it when the meaning changes. The hash identifies the exact text
that produced a result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from ..core.protocols.models import Prompt

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
SEPARATOR = re.compile(r"^---\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """A prompt file."""

    name: str
    version: int
    system: str
    user: str
    hash: str  # SHA-256 of the file

    def render(self, **values: str) -> Prompt:
        """Return the prompt with all placeholders replaced in one pass.

        Braces inside a value stay plain text. Raise ValueError if names are missing or unknown.
        """
        wanted = set(PLACEHOLDER.findall(self.system + self.user))
        if wanted != values.keys():
            expected, given = sorted(wanted), sorted(values)
            raise ValueError(f"the prompt {self.name} needs the values {expected}, got {given}")
        return Prompt(
            system=_fill_placeholders(self.system, values),
            user=_fill_placeholders(self.user, values),
        )


@cache
def load_prompt(name: str) -> PromptTemplate:
    """Return the prompt of this name; each file is read once."""
    return parse_prompt(files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8"))


def prompt_hashes() -> dict[str, str]:
    """Return the hash of each prompt by name."""
    names = sorted(entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".md"))
    return {name[:-3]: load_prompt(name[:-3]).hash for name in names}


def parse_prompt(text: str) -> PromptTemplate:
    """Parse a prompt file: header, system prompt and user prompt."""
    before, header, system, user = SEPARATOR.split(text, maxsplit=3)
    if before:
        raise ValueError("a prompt file must start with its header")
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    return PromptTemplate(
        name=fields["name"],
        version=int(fields["version"]),
        system=system.strip(),
        user=user.strip(),
        hash=sha256(text.encode()).hexdigest(),
    )


def _fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)
