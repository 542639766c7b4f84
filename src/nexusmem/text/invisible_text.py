"""Invisible text: hidden letters, direction overrides and terminal codes, made visible."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "(?P<tags>[\U000e0020-\U000e007e]+\U000e007f?)"  # tag characters, which are never drawn
    "|(?P<selectors>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,})"  # data hidden in selectors
    "|(?P<selector>[\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    "|(?P<joiner>[\u180b-\u180d\u180f\u200c\u200d])"
    "|(?P<code>"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # control codes, including the terminal escape
    "|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a"
    "\U000e0000-\U000e001f\U000e007f-\U000e00ff\U000e01f0-\U000e0fff])"
)
FIRST_IDEOGRAPH = "\u2e80"
# All of these characters in one class: a fast test for most texts.
ANY_HIDDEN = re.compile("[" + "".join(re.findall(r"\[([^\]]+)\]", HIDDEN.pattern)) + "]")
HIDDEN_BYTES = bytes(code for code in range(256) if ANY_HIDDEN.match(chr(code)))


def reveal_invisible(text: str) -> str:
    """Return the text with invisible characters spelled out, such as `⟨U+202E⟩`.

    CRLF becomes LF. Joiners stay between letters and emoji that need them.
    """
    if text.isascii() and text.isprintable():  # almost always
        return text
    if _is_visible_latin1(text) or not ANY_HIDDEN.search(text):
        return text
    return HIDDEN.sub(_escape_match, text.replace("\r\n", "\n"))


def _is_visible_latin1(text: str) -> bool:
    """Return whether the text is Latin-1 without hidden characters; a fast test."""
    try:
        encoded = text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return len(encoded.translate(None, HIDDEN_BYTES)) == len(encoded)


def _escape_match(match: re.Match[str]) -> str:
    if tags := match["tags"]:
        return (
            "⟨hidden: "
            + "".join(chr(ord(each) - 0xE0000) for each in tags if each < "\U000e007f")
            + "⟩"
        )
    if selectors := match["selectors"]:
        return f"⟨{len(selectors)} hidden characters⟩"
    text, at = match.string, match.start()
    around = text[at - 1 : at] + text[at + 1 : at + 2]
    if match["selector"] and _is_variation_selector(text[at - 1 : at], match[0]):
        return match[0]
    if match["joiner"] and len(around) == 2 and not around.isascii() and not around.isspace():
        return match[0]
    return f"⟨U+{ord(match[0]):04X}⟩"


def _is_variation_selector(before: str, selector: str) -> bool:
    """Return whether the selector chooses a variant of an emoji or ideograph before it."""
    if before.isalpha():
        return before >= FIRST_IDEOGRAPH
    return selector in "\ufe0e\ufe0f" and bool(before) and not before.isspace()
