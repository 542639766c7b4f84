"""What nobody sees in a text, made visible: hidden letters, turned directions, terminal codes."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "(?P<tags>[\U000e0020-\U000e007e]+\U000e007f?)"  # letters that are never drawn
    "|(?P<selectors>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,})"  # bytes behind one character
    "|(?P<selector>[\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    "|(?P<joiner>[\u180b-\u180d\u180f\u200c\u200d])"
    "|(?P<code>"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # control codes, among them the escape of terminals
    "|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a"
    "\U000e0000-\U000e001f\U000e007f-\U000e00ff\U000e01f0-\U000e0fff])"
)
FIRST_IDEOGRAPH = "\u2e80"
# All of their characters in one class, which is soon seen not to occur.
ANY_HIDDEN = re.compile("[" + "".join(re.findall(r"\[([^\]]+)\]", HIDDEN.pattern)) + "]")
HIDDEN_BYTES = bytes(code for code in range(256) if ANY_HIDDEN.match(chr(code)))


def visible(text: str) -> str:
    """The text with everything invisible spelled out: `⟨U+202E⟩` where a direction is turned.

    Line ends become plain ones. Joiners stay between the letters and pictures that need them.
    """
    if text.isascii() and text.isprintable():  # nearly always
        return text
    if _of_one_byte(text) or not ANY_HIDDEN.search(text):
        return text
    return HIDDEN.sub(_shown, text.replace("\r\n", "\n"))


def _of_one_byte(text: str) -> bool:
    """Whether there are only letters of one byte, and none hidden: soon seen."""
    try:
        letters = text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return len(letters.translate(None, HIDDEN_BYTES)) == len(letters)


def _shown(found: re.Match[str]) -> str:
    if tags := found["tags"]:
        return (
            "⟨hidden: "
            + "".join(chr(ord(each) - 0xE0000) for each in tags if each < "\U000e007f")
            + "⟩"
        )
    if selectors := found["selectors"]:
        return f"⟨{len(selectors)} hidden characters⟩"
    text, place = found.string, found.start()
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    if found["selector"] and _chooses(text[place - 1 : place], found[0]):
        return found[0]
    if found["joiner"] and len(around) == 2 and not around.isascii() and not around.isspace():
        return found[0]
    return f"⟨U+{ord(found[0]):04X}⟩"


def _chooses(before: str, selector: str) -> bool:
    """Whether it says how the character before it is drawn: a picture, or an ideograph."""
    if before.isalpha():
        return before >= FIRST_IDEOGRAPH
    return selector in "\ufe0e\ufe0f" and bool(before) and not before.isspace()
