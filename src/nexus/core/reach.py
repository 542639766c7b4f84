"""For whom a dossier was made: for those who may read all that its maker could read.

What such a document leaves out, and when it changed, tells something of everything its maker could
read, and not only of what it cites. So its label holds all of that, and a worker that makes it
anew reads just that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .access import Label
from .canonical import clean_time, text_time
from .errors import InvalidInput
from .ids import str_only
from .scope import Scope, parse_scope

REACH = "reach"  # in the body of a dossier


def spelt_reach(scopes: Iterable[Scope]) -> list[str]:
    return sorted(map(str, scopes))


def reach_of(body: Mapping[str, Any]) -> Label:
    """The scopes a body names; none, if it names none."""
    told = body.get(REACH, [])
    if not isinstance(told, list) or not all(isinstance(each, str) for each in told):
        raise InvalidInput(f"a dossier's reach is a list of scopes, not {told!r:.80}")
    return frozenset(map(parse_scope, told))


def check_dossier(body: Mapping[str, Any]) -> None:
    """Whether a worker can make it anew; a question has no reach, and is none of its."""
    if REACH not in body:
        return
    reach_of(body)
    str_only(body.get("name"), "the name of a dossier")
    clean_time(text_time(str_only(body.get("looked_at"), "looked_at")), "looked_at")
    asked, mark, cites = body.get("asked"), body.get("mark", ""), body.get("cites", [])
    texts = isinstance(asked, str | None) and isinstance(mark, str)
    if not texts or not isinstance(cites, list) or not all(isinstance(id, str) for id in cites):
        raise InvalidInput("a dossier has a mark and a list of what it cites: texts")
