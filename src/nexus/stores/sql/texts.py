"""The texts of memories, without decoding all that a memory holds."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...core.codec import text_in
from .cards import Card, CardBox, pick
from .decoded import LONGEST, Rounds
from .labels import Readable
from .session import Session


class Texts:
    """Reads texts, and remembers those of what was told for a while.

    A card, which a grant lets through at this moment, says the number of a memory; and whatever
    is put in its place gets another one, so a text that a number had is the one it has.
    """

    def __init__(self, cards: CardBox) -> None:
        self._cards = cards
        self._known: Rounds[tuple[int, int], str] = Rounds()

    def read(self, session: Session, view: Readable, ids: Sequence[str]) -> dict[str, str]:
        cards = pick(self._cards.at_hand(session, view.told), ids)
        named = {(view.workspace, memory): traits[0] for memory, _, traits in cards}
        known = {named[key]: text for key, text in self._known.find(named).items()}
        rest = [id for id in ids if id not in known]
        if not rest:
            return known
        bound = {**view.parameters, "ids": json.dumps(rest)}
        rows = session.run("contents", bound).fetchall()
        found = {id: text_in(content) for id, content in rows}
        self._keep(view.workspace, cards, found)
        return known | found

    def _keep(self, workspace: int, cards: Sequence[Card], found: dict[str, str]) -> None:
        texts = {(workspace, memory): found.get(traits[0]) for memory, _, traits in cards}
        self._known.keep(
            {key: text for key, text in texts.items() if text is not None and len(text) <= LONGEST}
        )
