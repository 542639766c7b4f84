"""The layers of the store in memory: words and vectors. Names and links it reads from memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.derive import keyword_text
from ..core.ids import WorkspaceId
from ..core.layers import Damage, Json, Layer, Mended
from ..core.text import terms

if TYPE_CHECKING:
    from .inprocess import _State, _Workspace


class InProcessLayers:
    def __init__(self, state: _State) -> None:
        self._state = state

    def damage(self, workspace: WorkspaceId) -> list[Damage]:
        with self._state.lock:
            home = self._state.of(workspace)
            found = {
                (Layer.KEYWORDS, "memories whose words are others"): len(_changed_words(home)),
                (Layer.VECTORS, "vectors that cannot be right"): len(_unfit_vectors(home)),
            }
        return [Damage(layer, f"{what}: {n}") for (layer, what), n in found.items() if n]

    def mend(
        self, workspace: WorkspaceId, layer: Layer, *, cursor: Json = None, limit: int
    ) -> Mended:
        del cursor, limit  # all of it, at once
        with self._state.lock:
            home = self._state.of(workspace)
            if layer is Layer.VECTORS:
                unfit = _unfit_vectors(home)
                for space, id in unfit:
                    del home.vectors[space][id]
                return Mended(changed=len(unfit))
            words = _changed_words(home) if layer is Layer.KEYWORDS else {}
            home.words.update(words)
            for id in home.words.keys() - home.memories.keys():
                del home.words[id]
            return Mended(looked=len(home.memories), changed=len(words))


def _changed_words(home: _Workspace) -> dict[str, list[str]]:
    """The words of those memories that have others."""
    every = {id: terms(keyword_text(memory)) for id, memory in home.memories.items()}
    return {id: words for id, words in every.items() if home.words.get(id) != words}


def _unfit_vectors(home: _Workspace) -> list[tuple[str, str]]:
    return [
        (space, id)
        for space, vectors in home.vectors.items()
        for id, vector in vectors.items()
        if id not in home.memories or not abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3
    ]
