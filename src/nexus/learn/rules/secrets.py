"""Keys, tokens, passwords, cards: spans to redact before a text is embedded, indexed or logged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .extracted import Span

PREFIXES = r"""
    sk-[A-Za-z0-9_-]{16,200} | sk_(?:live|test)_[A-Za-z0-9]{16,200} | rk_live_[A-Za-z0-9]{16,200}
  | gh[pousr]_[A-Za-z0-9]{30,200} | github_pat_[A-Za-z0-9_]{30,200} | glpat-[A-Za-z0-9_-]{16,100}
  | xox[abprs]-[A-Za-z0-9-]{10,200} | AKIA[0-9A-Z]{16} | ASIA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{35}
  | ya29\.[0-9A-Za-z_-]{20,300} | hf_[A-Za-z0-9]{30,60} | npm_[A-Za-z0-9]{36}
  | pypi-[A-Za-z0-9_-]{40,300}
  | SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64} | dop_v1_[a-f0-9]{64}
"""
TOKEN = re.compile(rf"(?<![A-Za-z0-9])(?:{PREFIXES})", re.VERBOSE)
JWT = re.compile(
    r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}"
)
PEM_START = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----")
PEM_END = "-----END"
NAMED = re.compile(
    r"""(?ix)(?: (?:password|passwd|passphrase|secret|api[_-]?key
        |access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)
            | \bpwd | \bpin(?:[ ]code)?)
        (?: ["'”]?\s{0,3}[:=]\s{0,3}
          | \s{1,3}(?:is|was|to)\s{1,3}(?!(?:a|an|the|not|in|on|too|very|my|your)\b)
            (?=["'“`]?\S{0,60}[\d!$%^&*#@_-]) )
        ["'“`]? (?P<secret>[^\s"'”`<>,;]{4,200})"""
)
BEARER = re.compile(r"(?i)\bbearer\s{1,3}(?P<secret>[A-Za-z0-9._~+/-]{16,2000}=*)")
CONNECTION = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,64}:(?P<secret>[^\s/@]{1,128})@[^\s/]{1,255}"
)
CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
DIGIT = re.compile("[0-9]")
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,7}(?:[ ]?[A-Z0-9]{1,3})?\b")

# pattern, which group is the secret, and what must stand in a (small) text for it to match
PATTERNS = (
    (
        TOKEN,
        0,
        "sk- sk_ rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox akia asia aiza ya29. hf_ npm_"
        " pypi- sg. dop_".split(),
    ),
    (JWT, 0, ["eyj"]),
    (NAMED, "secret", "passw passphrase secret key token pwd pin".split()),
    (BEARER, "secret", ["bearer"]),
    (CONNECTION, "secret", ["://"]),
)

LETTERS_AS_NUMBERS = 10 - ord("A")


def secrets(text: str) -> list[Span]:
    """Where secrets stand, in order and without overlap."""
    merged: list[Span] = []
    for span in sorted(_found(text), key=lambda each: (each.start, each.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _found(text: str) -> Iterator[Span]:
    small = text.lower()
    for pattern, group, hints in PATTERNS:
        if any(hint in small for hint in hints):
            yield from (Span(*match.span(group)) for match in pattern.finditer(text))
    if DIGIT.search(text):
        yield from _numbers(text)
    place = 0
    while opened := PEM_START.search(text, place):
        closed = text.find(PEM_END, opened.end())
        place = len(text) if closed < 0 else closed + len(PEM_END)
        yield Span(opened.start(), place)


def _numbers(text: str) -> Iterator[Span]:
    yield from (Span(*match.span()) for match in CARD.finditer(text) if _luhn(match.group()))
    yield from (Span(*match.span()) for match in IBAN.finditer(text) if _mod_97(match.group()))


def redact(text: str, spans: Sequence[Span], mark: str = "[secret]") -> str:
    """The text with a mark in each secret's place."""
    pieces, place = [], 0
    for span in spans:
        pieces += [text[place : span.start], mark]
        place = span.end
    return "".join([*pieces, text[place:]])


def blanked(text: str, spans: Sequence[Span]) -> str:
    """The text with spaces in each secret's place: every other word stays where it was."""
    pieces, place = [], 0
    for span in spans:
        pieces += [text[place : span.start], " " * (span.end - span.start)]
        place = span.end
    return "".join([*pieces, text[place:]])


def _luhn(card: str) -> bool:
    """The check digit of payment cards; a number of one repeated digit is no card."""
    digits = [int(each) for each in card if each.isdigit()]
    if len(set(digits)) < 2:
        return False
    doubled = [(2 * each - 9 if each > 4 else 2 * each) for each in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _mod_97(iban: str) -> bool:
    """ISO 13616's check of an account number."""
    plain = iban.replace(" ", "")
    turned = plain[4:] + plain[:4]
    number = "".join(
        str(ord(each) + LETTERS_AS_NUMBERS) if each.isalpha() else each for each in turned
    )
    return number.isdigit() and int(number) % 97 == 1
