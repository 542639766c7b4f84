"""Remembers the vectors of questions that were asked before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

from ..core.errors import ConfigError
from ..core.ids import WorkspaceId, digest
from ..core.protocols import Embedder, Floats, is_static
from ..core.records import EmbeddingProfile
from .given import vector_of
from .wordpiece import forget_words

Key = tuple[EmbeddingProfile, WorkspaceId, str]
Asking = Callable[[Callable[[], Floats]], Floats]  # how a provider is asked while somebody waits


class CachedEmbedder:
    """An embedder, and the last few questions of each workspace.

    The workspace is part of the key: a fast answer would tell one tenant what another one
    asked. Texts are kept as digests only. A provider far away is asked the way `asking` says,
    for example with a limit to how long it may take.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        size: int = 1024,
        asking: Asking | None = None,
        ready: Callable[[WorkspaceId], None] = lambda _workspace: None,
    ) -> None:
        if size < 1:
            raise ConfigError(f"a cache holds at least one question, not {size}")
        self._embedder = embedder
        self._size = size
        self._asking = asking
        self._ready = ready  # raises where a question has nothing to be compared with
        self._vectors: OrderedDict[Key, Floats] = OrderedDict()
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    @property
    def profile(self) -> EmbeddingProfile:
        return self._embedder.profile

    @property
    def local(self) -> bool:
        return self._embedder.local

    @property
    def static(self) -> bool:
        return is_static(self._embedder)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Straight through: what is stored is embedded once anyway."""
        return self._embedder.embed(texts)

    def query(self, workspace: WorkspaceId, text: str) -> Floats:
        """The vector of one question, read-only because it is shared."""
        self._ready(workspace)
        vector = self._known(workspace, text)
        if vector is not None:
            return vector
        if self._asking is None or self.local:
            return self._fresh(workspace, text)
        return self._asking(lambda: self._fresh(workspace, text))

    def _fresh(self, workspace: WorkspaceId, text: str) -> Floats:
        # Not under the lock: others must not wait for this provider.
        vector = vector_of(self._embedder, text)
        vector.flags.writeable = False
        self._keep((self.profile, workspace, digest(text)), vector)
        return vector

    def forget(self, workspace: WorkspaceId) -> None:
        """Drop what this workspace asked and what texts were cut into, personal data too."""
        forget_words()
        with self._lock:
            for key in [key for key in self._vectors if key[1] == workspace]:
                del self._vectors[key]

    def _known(self, workspace: WorkspaceId, text: str) -> Floats | None:
        # The profile may have to be asked for: not while nothing is known anyway.
        key = (self.profile, workspace, digest(text)) if self._vectors else None
        with self._lock:
            vector = self._vectors.get(key) if key else None
            if vector is None or key is None:
                self.misses += 1
            else:
                self.hits += 1
                self._vectors.move_to_end(key)
            return vector

    def _keep(self, key: Key, vector: Floats) -> None:
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
