"""Protocol of the vector store: one embedding per memory and embedding profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..access import Grant
    from ..filters import Filter
    from ..ids import WorkspaceId
    from ..records import EmbeddingProfile, Memory
    from .embedder import Floats
    from .memories import ScoredId


@dataclass(frozen=True, slots=True)
class VectorStatus:
    """Usability of the vectors that a query is compared with."""

    is_usable: bool = True
    remark: str | None = None  # shown to the caller


class Vectors(Protocol):
    """Embeddings of memories, with exact search within a grant."""

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        """Store one unit vector per memory id; return the number stored.

        Wrong dimensions, NaN and zero vectors raise InvalidInput. Vectors of deleted memories are
        skipped.
        """
        ...

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        """Return the vectors of visible memories by id."""
        ...

    def find_nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[ScoredId]:
        """Return the closest memories by cosine, best first and ties by id.

        Negative cosines count as 0.
        """
        ...

    def score_ids(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        """Return the `find_nearest` scores of these memories, if visible and embedded."""
        ...

    def list_missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        """Return memories without a vector of this profile, ordered by id, after `after`.

        Memories indexed as empty text need none. Callers page past texts that the embedder cannot
        embed.
        """
        ...

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        """Return the visible memories with text as counts of `embedded` and `missing`."""
        ...

    def list_profiles(self) -> list[EmbeddingProfile]:
        """Return all profiles with vectors in any workspace, ordered by name."""
        ...

    def active_profile(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        """Return the profile used for queries: the first one, until `activate_profile`."""
        ...

    def activate_profile(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        """Use this profile for queries from now on; vectors of other profiles stay."""
        ...

    def delete_profile(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int
    ) -> int:
        """Delete up to `limit` vectors of a profile that is not active; return their number."""
        ...
