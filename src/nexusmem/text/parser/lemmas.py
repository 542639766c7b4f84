"""Lemmas: dictionary forms by rules "removed ending>added ending" and a list of exceptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

UNCHANGED = ">"  # the rule of most words
# Rules that are confused for rare words, with those that are tried if the result is no word.
ALTERNATIVES = {
    "ed>": ("d>",),
    "d>": ("ed>",),
    "ing>": ("ing>e",),
    "ing>e": ("ing>",),
    "es>": ("s>",),
    "s>": ("es>",),
    "r>": ("er>",),
    "er>": ("r>",),
    "st>": ("est>",),
    "est>": ("st>",),
}
_QUOTES = str.maketrans({"’": "'", "`": "'", "´": "'"})


def make_rule(form: str, lemma: str) -> str:
    """Return the rule that turns a form into its lemma: "ies>y" for "stories" and "story"."""
    one, two = form.lower(), lemma.lower()
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] == two[shared]:
        shared += 1
    return f"{one[shared:]}>{two[shared:]}"


def find_lemma(
    form: str,
    upos: str,
    rule: str,
    exceptions: Mapping[tuple[str, str], str],
    is_word: Callable[[str], bool],
) -> str:
    """Return the lemma: an exception, or the form changed by the rule.

    The lemma of a name has its case, and differs from the form only if it is a word.
    """
    known = exceptions.get((form.lower().translate(_QUOTES), upos))
    if known is not None:
        return known
    written = form if upos == "PROPN" else form.lower()
    if rule == UNCHANGED:
        return written
    changed = _apply_rule(written, rule)
    if changed is None or is_word(changed):
        return changed or written
    tried = (_apply_rule(written, other) for other in ALTERNATIVES.get(rule, ()))
    best = next((other for other in tried if other and is_word(other)), changed)
    return written if upos == "PROPN" and best == changed else best


def _apply_rule(form: str, rule: str) -> str | None:
    """Return the form with another ending, or None if it does not have the ending of the rule."""
    removed, _, added = rule.partition(">")
    if not form.lower().endswith(removed):
        return None
    stem = form[: len(form) - len(removed)]
    return stem + (added.upper() if len(form) > 1 and form.isupper() else added)
