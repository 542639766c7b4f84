"""What models are told, in `.md` files beside this one.

    ---
    name: hyde
    version: 1
    ---
    What the model is to do: the same for everybody.
    ---
    {question}

The version is for people: raise it when the meaning changes. The hash is for machines: it tells
exactly which text made something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from ..core.models import Prompt

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
SEPARATOR = re.compile(r"^---\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One prompt file."""

    name: str
    version: int
    system: str
    user: str
    hash: str  # sha256 of the whole file

    def render(self, **values: str) -> Prompt:
        """Put the values in, all at once: a placeholder inside a value is just text."""
        wanted = set(PLACEHOLDER.findall(self.system + self.user))
        if wanted != values.keys():
            asked, given = sorted(wanted), sorted(values)
            raise ValueError(f"the prompt {self.name} takes {asked}, not {given}")
        return Prompt(system=_filled(self.system, values), user=_filled(self.user, values))


@cache
def load_prompt(name: str) -> Template:
    """The prompt of this name; read once."""
    return parse_prompt(files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8"))


def hashes() -> dict[str, str]:
    """Which text each prompt is, by its name."""
    names = sorted(entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".md"))
    return {name[:-3]: load_prompt(name[:-3]).hash for name in names}


def parse_prompt(text: str) -> Template:
    """A file's text: a header, the instructions, and what is sent for each request."""
    before, header, system, user = SEPARATOR.split(text, maxsplit=3)
    if before:
        raise ValueError("a prompt begins with its header")
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    return Template(
        name=fields["name"],
        version=int(fields["version"]),
        system=system.strip(),
        user=user.strip(),
        hash=sha256(text.encode()).hexdigest(),
    )


def _filled(text: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: values[found[1]], text)
