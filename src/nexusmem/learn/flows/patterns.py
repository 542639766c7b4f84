"""Reader of `patterns.txt`: sections of regular expressions, with macros."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

PATTERNS_PATH = Path(__file__).with_name("patterns.txt")
WORD_START = r"(?<!\w)"  # a condition: no letter or digit before
MACRO = re.compile(r"<([A-Z_]+)>")


@cache
def load_sections() -> dict[str, list[str]]:
    """Return the lines of each section, with macros expanded."""
    sections: defaultdict[str, list[str]] = defaultdict(list)
    name = ""
    for line in PATTERNS_PATH.read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:2].isalpha():
            name = line[1:-1]
        elif line.strip() and not line.startswith("# "):
            sections[name].append(_expand(line, sections))
    return dict(sections)


def _expand(line: str, sections: dict[str, list[str]]) -> str:
    def alternatives(match: re.Match[str]) -> str:
        lines = sections[f"macro {match[1]}"]
        return lines[0] if len(lines) == 1 else f"(?:{'|'.join(lines)})"

    return MACRO.sub(alternatives, line)


@cache
def compile_section(name: str) -> re.Pattern[str]:
    """Return one pattern that matches any line of a section.

    The condition that most lines begin with is checked once for each place of a text: that takes a
    third of the time.
    """
    lines = load_sections()[name]
    at_word = [line.removeprefix(WORD_START) for line in lines if line.startswith(WORD_START)]
    others = [line for line in lines if not line.startswith(WORD_START)]
    parts = [f"(?:{line})" for line in others]
    if at_word:
        parts.append(WORD_START + "(?:" + "|".join(f"(?:{line})" for line in at_word) + ")")
    return re.compile("|".join(parts))


@cache
def compile_words(name: str) -> re.Pattern[str]:
    """Return one pattern that matches any line of a section or of its topics as whole words."""
    sections = load_sections()
    names = [name] if name in sections else [f"{name} {topic}" for topic in section_topics(name)]
    words = "|".join(line for each in names for line in sections[each])
    return re.compile(rf"{WORD_START}(?:{words})(?!\w)")


@cache
def section_topics(prefix: str) -> tuple[str, ...]:
    """Return the topics of the sections whose names start with this word."""
    return tuple(
        name.partition(" ")[2] for name in load_sections() if name.startswith(f"{prefix} ")
    )
