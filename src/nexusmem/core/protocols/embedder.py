"""Protocol of an embedder: turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..records import EmbeddingProfile

    Floats = NDArray[np.float32]
else:
    Floats = Any  # importing nexusmem must not load numpy


class TextRole(StrEnum):
    """What a text is for; some models embed a question in another way than its answer."""

    QUERY = "query"
    DOCUMENT = "document"


class WordMatch(NamedTuple):
    """How well texts match the pieces of a question, compared piece by piece."""

    scores: Sequence[float]  # of each text, 0 to 1; pieces that few of these texts have count more
    closest: NDArray[np.floating]  # a row per text, a column per piece: its best cosine there
    weights: NDArray[np.floating]  # of the pieces; rare words of the language weigh more


class Embedder(Protocol):
    """Turns texts into vectors.

    An embedder may also have

    - `embed_queries(texts)`, like `embed` for questions: models that are trained with prefixes
      such as "query: " need it. Without it, `embed` is called for questions, too.
    - `static = True` if each word has one vector in any context.
    """

    @property
    def profile(self) -> EmbeddingProfile:
        """The vector space and how its cosines are read (`EmbeddingProfile.calibrate`).

        The first access may ask the provider for the dimension.
        """
        ...

    @property
    def is_local(self) -> bool:
        """True if embedding runs in this process, fast enough for interactive calls."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector per text; a row of zeros if the embedder knows no word of a text.

        The vector of a text does not depend on the other texts of the call. No text is too long:
        its vector covers all of it. Splits the texts into batches of the provider's size. Raises
        EmbedderUnavailable if the provider does not answer after retries.
        """
        ...


def embed_texts(embedder: Embedder, texts: Sequence[str], role: TextRole) -> Floats:
    """Embed texts in their role, with `embed_queries` if the embedder has it."""
    method = getattr(embedder, "embed_queries", None) if role is TextRole.QUERY else None
    vectors: Floats = method(texts) if method else embedder.embed(texts)
    return vectors


def is_static(embedder: Embedder) -> bool:
    """Return whether each word has one vector in any context, as the attribute `static` states.

    An embedder without this attribute counts as a sentence model.
    """
    return bool(getattr(embedder, "static", False))
