"""Lemmas: dictionary forms by rules "removed ending>added ending" and a list of exceptions."""

from __future__ import annotations

from collections.abc import Mapping

LEMMA_KEEPS_CASE = frozenset({"PROPN"})
UNCHANGED = ">"  # the rule of most words


def make_rule(form: str, lemma: str) -> str:
    """Return the rule that turns a form into its lemma: "ies>y" for "stories" and "story"."""
    one, two = form.lower(), lemma.lower()
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] == two[shared]:
        shared += 1
    return f"{one[shared:]}>{two[shared:]}"


def apply_rule(form: str, rule: str) -> str | None:
    """Return the form with another ending, or None if it has not the ending of the rule."""
    removed, _, added = rule.partition(">")
    if not form.lower().endswith(removed):
        return None
    stem = form[: len(form) - len(removed)]
    return stem + (added.upper() if len(form) > 1 and form.isupper() else added)


def find_lemma(form: str, upos: str, rule: str, exceptions: Mapping[tuple[str, str], str]) -> str:
    """Return the lemma: an exception, or the form changed by the rule if it applies."""
    lower = form.lower()
    known = exceptions.get((lower, upos))
    if known is not None:
        return known
    written = form if upos in LEMMA_KEEPS_CASE else lower
    return written if rule == UNCHANGED else apply_rule(written, rule) or written
