"""Protocol of an embedder: turns texts into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ..records import EmbeddingProfile

    Floats = NDArray[np.float32]
else:
    Floats = Any  # importing nexusmem must not load numpy


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def profile(self) -> EmbeddingProfile:
        """The vector space. The first access may ask the provider for the dimension."""
        ...

    @property
    def is_local(self) -> bool:
        """True if embedding runs in this process, fast enough for interactive calls."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector per text; a row of zeros if the embedder knows no word of a text.

        Splits the texts into batches of the provider's size. Raises EmbedderUnavailable if the
        provider does not answer after retries.
        """
        ...


def is_static(embedder: Embedder) -> bool:
    """Return whether each word has one vector in any context, as the attribute `static` states.

    An embedder without this attribute counts as a sentence model.
    """
    return bool(getattr(embedder, "static", False))
