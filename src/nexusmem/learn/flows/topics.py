"""Topics of sentences: what speakers say about themselves, and what concerns their project.

The patterns are in `patterns.txt`. They have no nested repetition, so their time is linear in the
text. They are features of the classifier, and decide alone if there is none.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .patterns import compile_section, section_topics

MAX_SENTENCE_CHARS = 600  # a longer sentence is not recognized
MIN_PROJECT_WORDS = 4
CACHED_SENTENCES = 64
ROOM_TOPICS = frozenset({"preference", "work", "expertise", "contact", "schedule", "style"})

SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=[^\s\"')\]])[^.!?\n]*)*[.!?]*[\"')\]]*")
FIRST_PERSON = re.compile(r"(?<![\w'])(?:i|im|i'm|ive|i've|my|me|mine|myself)\b")
WE = re.compile(r"(?<![\w'])we(?:'re|'ve|'ll|'d|’re|’ve|’ll)?(?![\w'])", re.IGNORECASE)
I_SUBJECT = re.compile(r"(?<![\w'])(?:i|im|i'm|ive|i've|i'd)(?![\w'])(?!'ll)")
CLAUSE = re.compile(
    r"[,;]? (?:and|but|so|while|whereas) (?=(?:i|i'm|im|i've|my|we|we're|our|the|this|that)\b)"
    r"|; | [-–—] ",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, stripped; lines end sentences, too."""
    found = (match[0].strip() for match in SENTENCE.finditer(text))
    return [sentence for sentence in found if sentence]


def split_clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence that have their own subject, stripped.

    A sentence that is too long to be recognized is one clause.
    """
    if len(sentence) > MAX_SENTENCE_CHARS:
        return [sentence]
    plain = _SPACE.sub(" ", sentence)
    return [clause for each in CLAUSE.split(plain) if (clause := each.strip(" ,;"))]


def normalize_quotes(text: str) -> str:
    """Return the text with straight quotation marks and apostrophes."""
    return text.translate(_QUOTES)


@lru_cache(maxsize=CACHED_SENTENCES)  # the classifier and the decision ask about each sentence
def self_topics(sentence: str) -> frozenset[str]:
    """Return what the speaker states about themselves in a case-folded sentence."""
    if len(sentence) > MAX_SENTENCE_CHARS or not compile_section("about self").search(sentence):
        return frozenset()
    for section in ("not self", "passing state"):
        if compile_section(section).search(sentence):
            return frozenset()
    return frozenset(
        topic
        for topic in section_topics("self")
        if compile_section(f"self {topic}").search(sentence)
    )


def is_about_home(sentence: str) -> bool:
    """Return whether a case-folded sentence has words of home, family, origin or body."""
    return bool(compile_section("home").search(sentence[:MAX_SENTENCE_CHARS]))


def is_about_us(sentence: str) -> bool:
    """Return whether a sentence tells what the speaker's group does or decided."""
    return bool(WE.search(sentence)) or is_project(normalize_quotes(sentence))


@lru_cache(maxsize=CACHED_SENTENCES)
def is_project(sentence: str) -> bool:
    """Return whether a sentence states a decision, a task or a fact about the project."""
    if len(sentence.split()) < MIN_PROJECT_WORDS or len(sentence) > MAX_SENTENCE_CHARS:
        return False
    lower = sentence.casefold()
    if compile_section("not project").search(lower):
        return False
    found = compile_section("project").search(lower)
    return bool(found or compile_section("project cased").search(sentence))
