"""Tokenizer for English: sentences and words with their places, as Universal Dependencies has them.

Contractions are two words (do n't, I 'm, gon na), hyphenated words three (well - known). E-mail
addresses, URLs, handles, emoticons, emoji, times and dates are one. Every repetition in the
patterns is bounded, so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_SENTENCE_TOKENS = 120  # a longer sentence is split
MIN_WRAPPED_CHARS = 50  # a shorter line was not broken by an e-mail program


class Span(NamedTuple):
    """A word and its place in the source."""

    text: str
    start: int
    end: int


# Words that include the period after them. Words that are common without one are missing.
ABBREVIATIONS = frozenset(
    """mr mrs ms dr st prof rev gen sen rep gov lt col sgt capt jr sr inc ltd corp vs etc eg ie al
    ft ave blvd dept est approx fig vol pp jan feb apr aug sept oct nov dec tues thurs p.m a.m ph.d
    """.split()
)
HYPHEN_PREFIXES = frozenset(
    """e co non pre post re anti ex semi multi sub over mid neo micro pro un counter intra inter
    ultra vice t""".split()
)
# Contractions without an apostrophe → the lengths of their parts. "its", "were", "well", "ill",
# "id" and "lets" are missing: they are words, too.
SPLIT_WORDS = {
    word.replace("|", ""): tuple(map(len, word.split("|")))
    for word in """can|not gon|na wan|na got|ta out|ta lem|me gim|me do|nt does|nt did|nt ca|nt
    wo|nt is|nt are|nt was|nt were|nt has|nt have|nt had|nt could|nt would|nt should|nt ai|nt i|m
    i|ve you|re you|ve they|re they|ve we|ve that|s there|s what|s he|s she|s who|s""".split()
}
NEGATION = re.compile(r"n['’`´]t$", re.IGNORECASE)
CLITIC = re.compile(r"['’`´](?:s|m|d|re|ve|ll)$", re.IGNORECASE)

TOKEN = re.compile(
    r"""
    (?P<url>(?:https?://|ftp://|www\.)[^\s<>"]{0,180}[^\s<>"'.,;:!?)\]}])
    |(?P<email>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6})
    |(?P<domain>[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,4}
        \.(?:com|org|net|edu|gov|io|html?|pdf|docx?|xlsx?|txt|py|js|jpg|png|zip|md|csv|json)
        (?:/[^\s<>"]{0,150}[^\s<>"'.,;:!?)\]}])?(?![\w@]))
    |(?P<handle>[@\#][A-Za-z_]\w{0,100})
    |(?P<emoticon>(?:[:;=]['’]?-?[)(DPpOo3/\\|\]\[*]{1,3}|[xX]D|<3|\^_\^|[oO]_[oO]|-_-)(?!\w))
    |(?P<date>\d{1,4}(?P<mark>[/-])\d{1,2}(?P=mark)\d{1,4}(?!\w)|\d{1,2}/\d{1,2}(?![\w/]))
    |(?P<phone>\d{1,4}(?:[-.]\d{2,4}){2,4}(?![\w-])|\d{3}-\d{4}(?![\w-]))
    |(?P<number>(?:\d{1,20}(?:[.,:]\d{1,20}){1,6}|\d{1,20}|\.\d{1,20})
        (?:(?:st|nd|rd|th|['’]?s)(?!\w)|(?=(?:am|pm|[kmbx]|[km]m|cm|ft|lb|kg|[kmg]b|hrs?|mins?)
        (?!\w))|(?![^\W_])))
    |(?P<initials>(?:[^\W\d_]\.){2,8}(?:[^\W\d_](?!\w))?)
    |(?P<word>[^\W_](?:[^\W_]|_(?=\w)|['’`´](?=[^\W_])|&(?=[^\W\d_])){0,99})
    |(?P<clitic>['’`´](?:s|m|d|re|ve|ll|em|til|cause|bout)(?!\w))
    |(?P<run>\.{1,50}[!?]{1,50}|[!?]{1,50}\.{0,50}|\.{2,100}|-{2,100}|_{2,100}|\*{2,100}|={2,100}
        |~{2,100}|``|''|’’|‘’|>{2,100}|<{2,100})
    |(?P<emoji>[\U0001F1E6-\U0001F1FF]{2}|[☀-➿⬀-⯿\U0001F300-\U0001FAFF]
        [\uFE0F\U0001F3FB-\U0001F3FF]{0,2}
        (?:\u200D[☀-➿\U0001F300-\U0001FAFF]\uFE0F?){0,4})
    |(?P<other>\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?]+")
CLOSING = frozenset("\"'”’)]")
SMILE = re.compile(r"[:;=][^\w\s]|[:;=]-?[DPpOo3]$|<3|[xX]D$|[☀-➿⬀-⯿\U0001F300-\U0001FAFF]")


def split_sentences(text: str) -> list[list[Span]]:
    """Return the words of each sentence; a sentence has at most MAX_SENTENCE_TOKENS words."""
    sentences: list[list[Span]] = []
    current: list[Span] = []
    for span in split_words(text):
        if current:
            gap = text[current[-1].end : span.start]
            if len(current) >= MAX_SENTENCE_TOKENS or (gap and _is_boundary(current, gap, span)):
                sentences.append(current)
                current = []
        current.append(span)
    if current:
        sentences.append(current)
    return sentences


def split_words(text: str) -> Iterator[Span]:
    """Yield the words of a text with their places."""
    match = TOKEN.search(text)
    while match:
        start, end = match.span()
        if match.lastgroup == "word":
            end = _extend_word(text, start, end)
            yield from _split_word(text[start:end], start)
        else:
            yield Span(text[start:end], start, end)
        match = TOKEN.search(text, end)


def _extend_word(text: str, start: int, end: int) -> int:
    """Return the end of the word with the period of an abbreviation or the part after a prefix."""
    following = text[end : end + 1]
    if following == ".":
        word = text[start:end].lower()
        is_initial = end - start == 1 and text[start].isupper() and word != "i"
        if is_initial:
            is_initial = text[end + 1 : end + 2] == " " and text[end + 2 : end + 3].isupper()
        is_last = not text[end + 1 : end + 3].strip()
        return end + 1 if is_initial or (word in ABBREVIATIONS and not is_last) else end
    if following == "-" and text[start:end].lower() in HYPHEN_PREFIXES:
        rest = TOKEN.match(text, end + 1)
        if rest and rest.lastgroup == "word":
            return rest.end()
    return end


def _split_word(word: str, start: int) -> list[Span]:
    """Return the parts of a word with its place: contractions have several."""
    lengths = SPLIT_WORDS.get(word.lower())
    if lengths and not (word.isupper() and len(word) < 4):  # "IM" and "IVE" are names
        parts, at = [], 0
        for length in lengths:
            parts.append(Span(word[at : at + length], start + at, start + at + length))
            at += length
        return parts

    end = len(word)
    if word.isalnum():
        return [Span(word, start, start + end)]
    ends: list[Span] = []
    for pattern in (CLITIC, NEGATION, CLITIC):  # "couldn't've", "I'd've"
        match = pattern.search(word, 0, end)
        if match and match.start():
            ends.append(Span(word[match.start() : end], start + match.start(), start + end))
            end = match.start()
    return [Span(word[:end], start, start + end), *reversed(ends)]


def _is_boundary(current: list[Span], gap: str, following: Span) -> bool:
    """Return whether a sentence starts at the following word, which has a gap before it."""
    if "\n" in gap:
        return gap.count("\n") > 1 or not _is_wrapped_line(current, following)
    first = following.text[0]
    before = current[-1].text
    is_word = before.isascii() and before.isalnum() and before[-1] != "D"  # no smile such as "XD"
    if is_word or following.text in CLOSING or SMILE.match(following.text):
        return False
    at = len(current) - 1
    while at and SMILE.match(current[at].text):
        at -= 1
    if at < len(current) - 1:
        return first.isupper() or bool(SENTENCE_END.fullmatch(current[at].text))
    if current[at].text in CLOSING and at and current[at].start == current[at - 1].end:
        at -= 1
    last = current[at].text
    if not SENTENCE_END.fullmatch(last):
        return False
    if at == 1 and current[0].text.isdigit():  # "1. First point"
        return False
    is_pause = last.startswith("..") and not last.strip(".")
    return first.isupper() if is_pause else first.isalnum() or len(following.text) == 1


def _is_wrapped_line(current: list[Span], following: Span) -> bool:
    """Return whether a line break is inside a sentence: a long line, continued in lower case."""
    line_chars = current[-1].end - current[0].start
    last = current[-1].text
    is_open = last[-1].isalnum() or last in {",", "-", ";"}
    return line_chars >= MIN_WRAPPED_CHARS and is_open and following.text[0].islower()
