"""The length of vectors."""

from __future__ import annotations

import numpy as np

from ..core.protocols import Floats


def unit(vectors: Floats) -> Floats:
    """Rows of length one; rows of zeros stay. No BLAS: every machine gives the same bits."""
    lengths = np.sqrt(np.add.reduce(vectors.astype(np.float64) ** 2, axis=1, keepdims=True))
    scaled: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
