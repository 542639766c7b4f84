"""Noise filter: repetition, random text, greetings, code, quoted mail and data teach nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text import secrets as core
from ...text.gazetteer import is_common_word, is_first_name, name_type
from .coreference import Speakers
from .lexicon import (
    ENGLISH_WORDS,
    FOREIGN_FUNCTION_WORDS,
    SHARED_SMALL_WORDS,
    SHARED_WORDS,
    word_set,
)
from .results import Entity, TextSpan
from .tokens import Token

# Scripts with capital letters: Latin with accents, Greek, Cyrillic, Armenian.
UPPER = "A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩΆ-ΏА-ЯЁԱ-Ֆ"
CAPITAL = rf"[{UPPER}][^\W\d_]+(?:[-'’][^\W\d_]+)?"
CAPITALIZED_RUN = re.compile(rf"{CAPITAL}(?: (?:(?:de|del|da|di|von|van|le|la) )?{CAPITAL})*")
SENTENCE_START = re.compile(r"(?:^|[.!?…:;\n\"“„«»(¿¡-])\s*$")  # any word is capitalized here
NAME_BEFORE_TITLE = re.compile("([\u4e00-\u9fff\u30a0-\u30ff]{1,6})(?:さん|様|氏)")  # Japanese
QUOTED_TITLE = re.compile("[《「『]([^》」』\n]{1,40})[》」』]")
NAME_PARTICLES = word_set("van von der den de del della di da du la le el los las ten ter")
GERMAN_WORDS = word_set(
    "der die das und ist nicht mit wir ich haben ein eine auf für den dem von zu"
)
MAX_NAME_CHARACTERS = 60  # characters of a name
MAX_CAPITALIZED_SHARE = 0.5  # share of capitalized words above which the text is shouting


def find_foreign_names(text: str, speakers: Speakers) -> Iterator[Entity]:
    """Return capitalized words inside sentences, and titles or quotations in scripts without
    capitals.

    German capitalizes every noun, so only listed names and names of several words count there.
    """
    found: dict[str, list[TextSpan]] = {}
    for start, end in (*_find_capitalized_names(text), *_find_marked_names(text)):
        name = text[start:end]
        if len(name) <= MAX_NAME_CHARACTERS:
            found.setdefault(name, []).append(TextSpan(start, end))
    for name, spans in found.items():
        person = name in (speakers.speaker, speakers.addressee) or is_first_name(name.split()[0])
        type = "person" if person else name_type(name) or "thing"
        yield Entity(name=name, type=type, mentions=tuple(spans))


def _find_capitalized_names(text: str) -> Iterator[tuple[int, int]]:
    low = [word.casefold() for word in re.findall(r"[^\W\d_]+", text)]
    if text.isascii() and FOREIGN_FUNCTION_WORDS.isdisjoint(low):
        return  # a language without a list of function words
    runs = [
        match
        for match in CAPITALIZED_RUN.finditer(text)
        if not match.group().isupper()
        and not SENTENCE_START.search(text[max(0, match.start() - 3) : match.start()])
    ]
    if sum(len(match.group().split()) for match in runs) > MAX_CAPITALIZED_SHARE * len(low):
        return
    is_german = not GERMAN_WORDS.isdisjoint(low)
    yield from (match.span() for match in runs if not is_german or _is_known(match.group()))


def _is_known(name: str) -> bool:
    """Return whether capitals mean a name in German: a name of several words, or a listed one."""
    is_listed = is_first_name(name) or name_type(name) is not None
    return " " in name or (is_listed and not is_common_word(name))


def _find_marked_names(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (NAME_BEFORE_TITLE, QUOTED_TITLE):
        yield from (match.span(1) for match in pattern.finditer(text))


CODE_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
QUOTED_LINE = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
QUOTE_HEADER = re.compile(
    r"^[ \t]*On [^\n]{4,160}\bwrote:[ \t]*$", re.MULTILINE
)  # header of a quoted mail
MANY_WORDS, MIN_DISTINCT_SHARE = 40, 0.2  # number of words, and the minimum share of distinct words
FEW_WORDS = 3
LONG_TEXT_WORDS, MIN_SMALL_WORD_SHARE = (
    100,
    0.03,
)  # number of words, and the minimum share of function words in natural text
ENCODED_DATA = re.compile(r"[A-Za-z0-9+/=_%-]{40,}")  # encoded data
MAX_WORD_CHARACTERS = 40
GARBLED_CHARACTERS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
MAX_GARBLED_SHARE = 0.05  # share of characters

GREETINGS = word_set(
    """hi hello hey hiya dear good thanks thank cheers bye goodbye see welcome congrats
    congratulations oh wow sorry nice great happy merry take talk"""
)
PLEASANTRIES = GREETINGS | word_set(
    """morning afternoon evening night day you ya later soon again tomorrow care a lot so much very
    well for your how are is it going what's up all everyone everybody team folks guys there and to
    meet my god gosh please ok okay sure yes no yeah lol haha new year christmas luck weekend"""
)


FORWARDED = re.compile(
    r"^[ \t]*(?:-{2,}[ \t]*(?:Forwarded|Original) [Mm]essage|Begin forwarded message:"
    r"|From: [^\n]{1,80}<[^\n>]{3,80}>)",
    re.MULTILINE,
)
CHAT_LINE = re.compile(
    r"^[ \t]*(?:[-*•][ \t]*)?(?P<name>[A-Z][\w.-]{1,30}(?: [A-Z][\w.-]{1,30})?)(?::| [-–]) "
    r"(?=[^\n]*(?<![\w'’])(?:I|I['’]\w+|[Mm]y|[Ww]e)\b)[^\n]*",
    re.MULTILINE,
)
LABELS = word_set(
    """update correction decision decided note notes todo task action reminder ps edit subject re
    fwd summary question answer info news fyi context status plan goal warning hint tip"""
)


def mask_other_speakers(text: str, speaker: str) -> str:
    """Replace forwarded mail and pasted chat lines by spaces: "I" in them is somebody else."""
    if (match := FORWARDED.search(text)) is not None:
        text = text[: match.start()] + re.sub(r"\S", " ", text[match.start() :])
    if ": " not in text and " - " not in text and " – " not in text:
        return text
    own = speaker.lower().split()

    def mask(match: re.Match[str]) -> str:
        name = match["name"].lower()
        first = name.split()[0]
        named = is_first_name(first) or match.group()[len(match["name"]) :].lstrip()[:1] == ":"
        is_other = named and first not in LABELS and first not in own
        return " " * len(match.group()) if is_other else match.group()

    return CHAT_LINE.sub(mask, text)


def mask_quoted_text(text: str) -> str:
    """Replace code, data and quoted lines by spaces, so that offsets stay valid."""
    kept = QUOTED_LINE.sub(_spaces_for, text) if ">" in text else text
    kept = QUOTE_HEADER.sub(_spaces_for, kept) if " wrote:" in kept else kept
    if max(map(len, kept.split()), default=0) >= MAX_WORD_CHARACTERS:
        kept = ENCODED_DATA.sub(_spaces_for, kept)
    fences = (
        [match.start() for match in CODE_FENCE.finditer(kept)]
        if "```" in kept or "~~~" in kept
        else []
    )
    pieces, place = [], 0
    for opened, closed in zip(fences[::2], [*fences[1::2], len(kept)], strict=False):
        pieces += [kept[place:opened], " " * (closed - opened)]
        place = closed
    return "".join([*pieces, kept[place:]])


def _spaces_for(match: re.Match[str]) -> str:
    return " " * len(match.group())


def is_junk(text: str, all_words: Sequence[Token]) -> bool:
    """Return whether the message teaches nothing, not even a name."""
    return is_repetition(all_words) or is_greeting(all_words) or is_noise(text, all_words)


MACHINE_LINE = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[(?:[a-z]{3,20}|\+)\]|npm (?:warn|err)|traceback"
    r"|diff --git"
    r"|\$ \w+|select\b.*\bfrom\b|-----begin|[{\[]\s*\"|failed tests?/|\w+error:|at \w+[.(]"
    r"|[+-]\s{2,}\w+:"
    r"|import \w+|def \w+\(|function \w+\(|const \w+ =|public \w+ \w+\(|insert into|update \w+ set"
    r"|error\b.*:\d+|warn(?:ing)?:|file \"[^\"]+\", line|create table|git \w+ -"
    r"|docker \w+|curl -|sudo "
    r"|<\w+[^>]*>|\w+ = .*[;({]$)",
    re.IGNORECASE,
)


def is_machine_output(text: str) -> bool:
    """Return whether at least half of the lines are logs, code or data."""
    lines = [line for line in text.split("\n") if line.strip()]
    machine = sum(MACHINE_LINE.match(line) is not None for line in lines[:200])
    return bool(lines) and machine * 2 >= min(len(lines), 200)


def is_noise(text: str, all_words: Sequence[Token]) -> bool:
    """Return whether the text is binary data or lacks function words."""
    garbled = not text.isprintable() or "\ufffd" in text
    if garbled and len(GARBLED_CHARACTERS.findall(text)) > MAX_GARBLED_SHARE * len(text):
        return True
    if len(all_words) <= LONG_TEXT_WORDS:
        return False
    small = sum(word.lower in ENGLISH_WORDS and len(word.lower) > 1 for word in all_words)
    return small < MIN_SMALL_WORD_SHARE * len(all_words)


def is_greeting(all_words: Sequence[Token]) -> bool:
    """Return whether the message is only a greeting, thanks or a goodbye."""
    if len(all_words) > MANY_WORDS or not all_words or all_words[0].lower not in GREETINGS:
        return False
    return all(
        word.lower in PLEASANTRIES or word.kind == "mark" or word.text[:1].isupper()
        for word in all_words
    )


def is_repetition(words: Sequence[Token]) -> bool:
    return len(words) >= MANY_WORDS and len(
        {word.lower for word in words}
    ) < MIN_DISTINCT_SHARE * min(len(words), 400)


def is_english(words: Sequence[Token]) -> bool:
    """Return whether function words indicate English. Very short texts count as English.

    A capitalized word may be part of a name: "we live in La Paz".
    """
    plain = [word for word in words if word.kind == "word"]
    low = [word.lower for word in plain]
    if not low:
        return False
    if not any(map(str.isascii, low)):
        return False
    foreign = _count_foreign(plain)
    english = sum(map(ENGLISH_WORDS.__contains__, low))
    if foreign:
        shared = SHARED_WORDS if foreign > 1 else SHARED_SMALL_WORDS
        english -= sum(map(shared.__contains__, low))
    if foreign:
        return foreign <= english
    return english > 0 or len(low) <= FEW_WORDS * 2 or all(map(str.isascii, low))


def _count_foreign(words: Sequence[Token]) -> int:
    """Return the number of foreign function words that are no part of a name: "Joost van Dijk"."""
    is_shouted = all(word.text.isupper() for word in words)
    found, in_name = 0, False
    for at, word in enumerate(words):
        is_capital = word.text[:1].isupper()
        in_name = is_capital or (in_name and word.lower in NAME_PARTICLES)
        if word.lower in FOREIGN_FUNCTION_WORDS and (at == 0 or is_shouted or not in_name):
            found += 1
    return found


def secret_spans(text: str) -> list[TextSpan]:
    """Return the positions of secrets, in order and without overlap."""
    return [TextSpan(found.start, found.end) for found in core.find_secrets(text)]


def mask_spans(text: str, spans: Sequence[TextSpan]) -> str:
    """Replace each span by spaces, so that offsets stay valid."""
    if not spans:
        return text
    pieces, place = [], 0
    for span in spans:
        pieces += [text[place : span.start], " " * (span.end - span.start)]
        place = span.end
    return "".join([*pieces, text[place:]])
