"""Reach of a dossier: the scopes that its maker could read.

The omissions of a dossier and the times of its changes reveal something about every record its
maker could read, not only about those it cites. So its label contains all of these scopes, and a
worker that rebuilds it reads exactly these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..access import Label
from ..canonical import clean_time, parse_time
from ..errors import InvalidInput
from ..ids import require_str
from ..scope import Scope, parse_scope

QUESTION_KEY = "question"


REACH_KEY = "reach"  # body field of a dossier


def encode_reach(scopes: Iterable[Scope]) -> list[str]:
    return sorted(map(str, scopes))


def parse_reach(body: Mapping[str, Any]) -> Label:
    """Return the scopes that a body names in `reach`; empty if it names none."""
    scopes = body.get(REACH_KEY, [])
    if not isinstance(scopes, list) or not all(isinstance(each, str) for each in scopes):
        raise InvalidInput(f"the reach of a dossier must be a list of scopes, got {scopes!r:.80}")
    return frozenset(map(parse_scope, scopes))


def check_dossier(body: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless a dossier's body is valid.

    Bodies without `reach` belong to standing questions and are skipped.
    """
    if REACH_KEY not in body:
        return
    parse_reach(body)
    require_str(body.get("name"), "the name of a dossier")
    clean_time(parse_time(require_str(body.get("looked_at"), "looked_at")), "looked_at")
    asked, mark, cites = body.get("asked"), body.get("mark", ""), body.get("cites", [])
    texts = isinstance(asked, str | None) and isinstance(mark, str)
    if not texts or not isinstance(cites, list) or not all(isinstance(id, str) for id in cites):
        raise InvalidInput("`asked` and `mark` of a dossier must be texts, `cites` a list of ids")
