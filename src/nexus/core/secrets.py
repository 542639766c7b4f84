"""Keys, tokens, passwords, cards: replaced before a text is embedded, indexed or logged.

What is found is shaped like a secret (a provider's prefix, a check digit), or is called one
(`password: …`). Dates, prices, phone numbers, hashes and ids in ordinary talk are neither.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from . import secret_shapes as shapes
from .secret_shapes import compiled

LONGEST_ANSWER = 100  # characters
LETTERS_AS_NUMBERS = 10 - ord("A")


class Secret(NamedTuple):
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


def redacted(text: str, *, after: str = "") -> str:
    """The text with a mark in each secret's place: `[redacted: api key]`.

    `after` is the message before it: where that ends with "the password is" or asks for one,
    this one may be the answer.
    """
    return hidden(text, secrets(text) or answers(text, after))


def hidden(text: str, found: list[Secret]) -> str:
    """The text with a mark in the place of each of these."""
    pieces, place = [], 0
    for secret in found:
        pieces += [text[place : secret.start], f"[redacted: {secret.kind}]"]
        place = secret.end
    return "".join([*pieces, text[place:]]) if found else text


def secrets(text: str) -> list[Secret]:
    """The secrets of a text, in order and without overlap."""
    merged: list[Secret] = []
    for found in sorted(_found(text), key=lambda each: (each.start, -each.end)):
        if merged and found.start < merged[-1].end:
            before = merged[-1]
            merged[-1] = before._replace(end=max(before.end, found.end))
        else:
            merged.append(found)
    return merged


def _found(text: str) -> Iterator[Secret]:
    """Looks for each kind where a glance says it may be: most messages hold nothing like it."""
    small = text.lower()
    yield from _hinted(text, small, shapes.IN_ANY_TEXT)
    yield from _blocks(text, small)
    if not small.isascii():
        yield from _hinted(text, small, shapes.ABROAD)
    if max(map(len, text.split()), default=0) >= shapes.LONG_WORD:
        yield from _hinted(text, small, shapes.IN_LONG_WORDS)
        yield from _unprefixed(text)
    if shapes.DIGIT.search(text):
        yield from _hinted(text, small, shapes.WITH_DIGITS)
        if shapes.MANY_DIGITS.search(text):
            yield from _numbers(text)


def _hinted(text: str, small: str, among: tuple[shapes.Shape, ...]) -> Iterator[Secret]:
    for shape in among:
        for hint in shape.hints:
            if hint in small:
                yield from _shaped(text, shape)
                break


def _shaped(text: str, shape: shapes.Shape) -> Iterator[Secret]:
    for pattern in map(compiled, shape.patterns):
        group = "secret" if pattern.groups else 0
        for match in pattern.finditer(text):
            start, end = match.span(group)
            if not shape.called:
                if not compiled(WORDS).fullmatch(text, start, end):
                    yield Secret(start, end, shape.kind)
                continue
            value = text[start:end].rstrip(".)]}*:")
            check = _is_strong if shape.strong else _is_value
            if check(value, text, start, shape.kind):
                yield Secret(start, start + len(value), shape.kind)


# What a thing that is called a secret may be


REDACTED = "[redacted"
PLACEHOLDER = r"""(?ix)
    \[redacted | [*x•.·_-]{3,} | \$\{.* | [$%](?-i:[A-Z_]{2,})%? | \{\{.* | <.*
    | [a-z_][\w.]{2,} [(\[] [\w,=.]* \)?
    | (?:[a-z_]+\.)+[a-z_]+ | .*(?:env|config|settings)\..*
    | [a-z_]*_(?:password|passwd|pass|secret|token|key|pwd|hash) | wrong_?password
    | (?:my|your|the|new|old|a|an|some|db|user|admin|test|example|dummy|fake|change)?
      [_-]?(?:pass(?:word|wd|phrase|code)?|secret|token|api|key|pwd|here|me|value|string|str|auth
      |access|client|user|hash|id|name|text|input|bytes|bool|int|field)+
      (?:[_-](?:pass(?:word|wd)?|secret|token|api|key|here|value|string|goes|id|name|me|it|hash))*
    """
WORDS = r"(?:[A-Za-z]+[-_]){2,}[A-Za-z]+"  # sk-your-key-goes-here
DATE = r"\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d.*"
COMPOUND = r"(?:[A-Z]?[a-z]{0,20}|[A-Z]{0,10})\d{0,6}[a-z]{0,2}(?:-[A-Z]?[a-z]{1,20})+"
INNER_SYMBOL = r"\w[$%^&*#@!?=+~|\\/]+\w"
SIGN = r"\w[$%^&*#@!=+~|]+\w"  # that no address, path or number has inside
NO_PASSWORD = frozenset(
    """about above accepted added allowed already also always another any attached available back
    bad based because before being below best better both broken case changing common complex
    compromised correct created default different done easy either empty encrypted enough entered
    even exactly expired expiring false fine first forgotten from gone good great guessed hard
    hashed here hidden identical inactive incorrect inside insecure invalid just known last later
    leaked less like long longer lost made mandatory matching mine missing more must need needed
    never none nonsense nothing null nice obvious okay old once only open optional outdated over
    personal plain private probably protected public quite random ready really rejected required
    reset right safe same secret secure sent shared short should similar simple simply single
    some something somewhere still stolen stored strong stuff such supposed temporary terrible
    that their them then there these they this those through true unique unknown unsafe until
    updated used useful useless valid visible wait weak well what when where which whatever who
    why will wrong written yours yes your""".split()
)
INFLECTED = ("ed", "ing", "ly", "able", "ible", "ive", "less", "ful", "ous", "ation")


def _is_value(value: str, text: str, start: int, kind: str) -> bool:
    """Whether what follows "password is" or "token:" is one, rather than talk about it."""
    if len(value) < 4 or compiled(PLACEHOLDER).fullmatch(value) or value.startswith(REDACTED):
        return False
    digits = any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    if kind != "password":
        mixed = digits and letters and len(value) >= 8 and not compiled(COMPOUND).fullmatch(value)
        return (mixed and not compiled(DATE).fullmatch(value)) or (
            len(value) >= 20 and value.isalnum()
        )
    if digits and (compiled(COMPOUND).fullmatch(value) or compiled(DATE).fullmatch(value)):
        return False
    cased = value != value.lower() and value != value.upper() and value != value.capitalize()
    if digits or cased or compiled(INNER_SYMBOL).search(value):
        return True
    ended = _ends_there(text, start + len(value))
    plain = value.lower().strip("!?")
    return ended and plain not in NO_PASSWORD and not plain.endswith(INFLECTED)


def _is_strong(value: str, _text: str, _start: int, kind: str) -> bool:
    """Whether it mixes letters, digits and more, as no word does."""
    if len(value) < (12 if kind == "key" else 8) or compiled(PLACEHOLDER).fullmatch(value):
        return False
    cased = any(map(str.islower, value)) and any(map(str.isupper, value))
    mixed = any(map(str.isdigit, value)) and (cased or bool(compiled(SIGN).search(value)))
    return mixed and not compiled(COMPOUND).fullmatch(value) and "://" not in value


def _ends_there(text: str, place: int) -> bool:
    """Whether a clause or a line ends here; a word that talk goes on after is no password."""
    rest = text[place : place + 6].lstrip("\"'“”»`.!*)]} \t")
    return not rest or rest[0] in "\r\n,;&@"


def answers(text: str, asked: str) -> list[Secret]:
    """The password that somebody was asked for in the message before, or had announced there."""
    end = asked[-120:].lower()
    hints = (*shapes.IS_PASSWORD, *shapes.IS_PASSWORD_ABROAD)
    if not end or len(text) > LONGEST_ANSWER or not any(hint in end for hint in hints):
        return []
    if not compiled(shapes.ASKED).search(end):
        return []
    words = list(compiled(shapes.ANSWER).finditer(text))
    return [
        Secret(*word.span(), "password")
        for word in words
        if _is_answer(word.group(), text if len(words) == 1 else "", word.start())
    ]


def _is_answer(value: str, alone: str, start: int) -> bool:
    """Whether one word is a password: any may be that stands alone, others look like one."""
    signs = compiled(SIGN).search(value) or any(map(str.isdigit, value))
    return bool(signs or alone) and _is_value(value, alone or value, start, "password")


# Long runs of letters and digits


def _unprefixed(text: str) -> Iterator[Secret]:
    for match in compiled(shapes.UNPREFIXED).finditer(text):
        yield Secret(*match.span(), "token")
    for match in compiled(shapes.ENCODED).finditer(text):
        inside = _decoded(match.group())
        if inside and inside != text and secrets(inside):
            yield Secret(*match.span(), "encoded secret")


def _decoded(run: str) -> str | None:
    """What a run of base64 says, if that is text."""
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if text.replace("\n", "").isprintable() else None


# Numbers with check digits, and blocks


def _numbers(text: str) -> Iterator[Secret]:
    for match in compiled(shapes.CARD).finditer(text):
        digits = re.sub("[ -]", "", match.group())
        if compiled(shapes.CARDS).fullmatch(digits) and _luhn(digits):
            yield Secret(*match.span(), "card number")
    for match in compiled(shapes.IBAN).finditer(text):
        if _mod_97(match.group()):
            yield Secret(*match.span(), "account number")


def _blocks(text: str, small: str) -> Iterator[Secret]:
    """Private keys, to their last line; one that was cut off reaches to the end."""
    if not any(hint in small for hint in shapes.PEM_HINTS):
        return
    place = 0
    while opened := compiled(shapes.PEM).search(text, place):
        closed = text.find(shapes.PEM_END, opened.end())
        line_end = -1 if closed < 0 else text.find("\n", closed)
        place = len(text) if line_end < 0 else line_end
        yield Secret(opened.start(), place, "private key")


def _luhn(digits: str) -> bool:
    """The check digit of payment cards; a number of one repeated digit is no card."""
    numbers = [int(each) for each in digits]
    if len(set(numbers)) < 2:
        return False
    doubled = [(2 * each - 9 if each > 4 else 2 * each) for each in numbers[-2::-2]]
    return (sum(numbers[-1::-2]) + sum(doubled)) % 10 == 0


def _mod_97(iban: str) -> bool:
    """ISO 13616's check of an account number."""
    plain = iban.replace(" ", "")
    turned = plain[4:] + plain[:4]
    number = "".join(
        str(ord(each) + LETTERS_AS_NUMBERS) if each.isalpha() else each for each in turned
    )
    return number.isdigit() and int(number) % 97 == 1
