"""Names in texts that are not English: by their script, and nothing that could be a wrong fact."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .cast import Cast
from .extracted import Entity, Span
from .lexicon import FOREIGN, words

# Letters that know capitals: Latin with its accents, Greek, Cyrillic, Armenian.
UPPER = "A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩΆ-ΏА-ЯЁԱ-Ֆ"
CAPITAL = rf"[{UPPER}][^\W\d_]+(?:[-'’][^\W\d_]+)?"
RUN = re.compile(rf"{CAPITAL}(?: (?:(?:de|del|da|di|von|van|le|la) )?{CAPITAL})*")
BEGINS = re.compile(r"(?:^|[.!?…:;\n\"“„«»(¿¡-])\s*$")  # where any word has a capital
TITLED = re.compile("([\u4e00-\u9fff\u30a0-\u30ff]{1,6})(?:さん|様|氏)")  # Japanese
QUOTED = re.compile("[《「『]([^》」』\n]{1,40})[》」』]")
GERMAN = words("der die das und ist nicht mit wir ich haben ein eine auf für den dem von zu")
LONGEST = 60  # characters of a name
FEW_CAPITALS = 0.5  # of all words: else somebody shouts


def names_in_other_languages(text: str, cast: Cast) -> Iterator[Entity]:
    """Capitalised words inside sentences; titles and quotation marks where there are no capitals.

    German writes every noun with a capital: only names of several words are taken there.
    """
    found: dict[str, list[Span]] = {}
    for start, end in (*_capitalised(text), *_marked(text)):
        name = text[start:end]
        if len(name) <= LONGEST:
            found.setdefault(name, []).append(Span(start, end))
    for name, spans in found.items():
        person = name in (cast.speaker, cast.other)
        yield Entity(name=name, type="person" if person else "thing", mentions=tuple(spans))


def _capitalised(text: str) -> Iterator[tuple[int, int]]:
    low = [word.casefold() for word in re.findall(r"[^\W\d_]+", text)]
    if text.isascii() and FOREIGN.isdisjoint(low):
        return  # no language we know the small words of
    runs = [
        match
        for match in RUN.finditer(text)
        if not match.group().isupper()
        and not BEGINS.search(text[max(0, match.start() - 3) : match.start()])
    ]
    if sum(len(match.group().split()) for match in runs) > FEW_CAPITALS * len(low):
        return
    several = not GERMAN.isdisjoint(low)
    yield from (match.span() for match in runs if not several or " " in match.group())


def _marked(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (TITLED, QUOTED):
        yield from (match.span(1) for match in pattern.finditer(text))
