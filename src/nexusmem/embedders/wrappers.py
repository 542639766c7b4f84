"""Embedder wrappers: translate exceptions, check the stored profile, cache query vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock

from ..core.errors import ConfigError, EmbedderUnavailable, NexusError
from ..core.ids import WorkspaceId, digest
from ..core.protocols.embedder import Embedder, Floats, TextRole, embed_texts, is_static
from ..core.protocols.vectors import Vectors
from ..core.records import EmbeddingProfile
from ..text.wordpiece import clear_word_caches


class EmbedderWrapper:
    """An embedder that passes every call to another one; subclasses change some of them."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def profile(self) -> EmbeddingProfile:
        return self._embedder.profile

    @property
    def is_local(self) -> bool:
        return self._embedder.is_local

    @property
    def static(self) -> bool:
        return is_static(self._embedder)

    def embed(self, texts: Sequence[str]) -> Floats:
        return self._embed(texts, TextRole.DOCUMENT)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        return self._embed(texts, TextRole.QUERY)

    def _embed(self, texts: Sequence[str], role: TextRole) -> Floats:
        return embed_texts(self._embedder, texts, role)


class UserSuppliedEmbedder(EmbedderWrapper):
    """Wraps a user-supplied embedder and turns OSError into EmbedderUnavailable.

    Work that fails with EmbedderUnavailable is retried later.
    """

    @property
    def profile(self) -> EmbeddingProfile:
        try:
            return self._embedder.profile
        except OSError as error:  # network errors and timeouts
            raise _unavailable_error(error) from error

    def _embed(self, texts: Sequence[str], role: TextRole) -> Floats:
        try:
            return super()._embed(texts, role)
        except OSError as error:
            raise _unavailable_error(error) from error


class PrefixedEmbedder(EmbedderWrapper):
    """Wraps an embedder whose model expects a prefix before questions or stored texts.

    Stored vectors depend on `document_prefix`, so the profile has a digest of it. A blank text gets
    no prefix: its vector stays zero.
    """

    def __init__(
        self, embedder: Embedder, *, query_prefix: str = "", document_prefix: str = ""
    ) -> None:
        super().__init__(embedder)
        self._prefixes = {TextRole.QUERY: query_prefix, TextRole.DOCUMENT: document_prefix}

    @property
    def profile(self) -> EmbeddingProfile:
        own = self._embedder.profile
        prefix = self._prefixes[TextRole.DOCUMENT]
        if not prefix:
            return own
        return replace(own, revision=f"{own.revision};prefix={digest(prefix)[:8]}")

    def _embed(self, texts: Sequence[str], role: TextRole) -> Floats:
        prefix = self._prefixes[role]
        prefixed = [prefix + text if text.strip() else text for text in texts]
        return super()._embed(prefixed, role)


def embed_one(embedder: Embedder, text: str, role: TextRole = TextRole.QUERY) -> Floats:
    """Embed a text of a search; an exception that is no NexusError becomes EmbedderUnavailable.

    Recall then continues without vectors. Stored texts are embedded without this translation: a
    text that always fails is given up after a few attempts.
    """
    try:
        vectors = embed_texts(embedder, [text], role)
    except NexusError:
        raise
    except Exception as error:
        raise _unavailable_error(error) from error
    return _check_vector(vectors, (1, embedder.profile.dimension))


def _check_vector(vectors: Floats, expected_shape: tuple[int, int]) -> Floats:
    from numpy import isfinite  # importing nexusmem must not load numpy

    if vectors.shape != expected_shape:
        raise EmbedderUnavailable(
            f"the embedder returned vectors of shape {vectors.shape}, expected {expected_shape}"
        )
    if not isfinite(vectors).all():
        raise EmbedderUnavailable("the embedder returned a vector that is not finite")
    vector: Floats = vectors[0]
    return vector


def _unavailable_error(error: Exception) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"the embedder failed with {type(error).__name__}: {error!s:.200}")


def profile_mismatch_error(
    stored: Sequence[EmbeddingProfile], configured: EmbeddingProfile
) -> ConfigError:
    """Return the error for a configured embedder that differs from the stored vectors."""
    names = " and ".join(each.name for each in stored)
    return ConfigError(
        f"this memory has vectors of {names}, but {configured.name} is configured: restore the"
        " former configuration, run `nexus reembed` to switch, or switch automatically with"
        " memory.embeddings.on_change: background"
    )


class ProfileCheckedEmbedder(EmbedderWrapper):
    """Wraps an embedder and raises ConfigError if the store has only vectors of other profiles."""

    def __init__(self, embedder: Embedder, vectors: Vectors) -> None:
        super().__init__(embedder)
        self._vectors = vectors

    @cached_property
    def profile(self) -> EmbeddingProfile:
        own = self._embedder.profile
        stored = self._vectors.list_profiles()
        if stored and own not in stored:
            raise profile_mismatch_error(stored, own)
        return own

    def _embed(self, texts: Sequence[str], role: TextRole) -> Floats:
        self.profile  # checks before a paid request  # noqa: B018
        return super()._embed(texts, role)


CacheKey = tuple[EmbeddingProfile, WorkspaceId, TextRole, str]
ProviderCall = Callable[[Callable[[], Floats]], Floats]  # runs a request with a deadline


class CachedEmbedder(EmbedderWrapper):
    """Embedder with an LRU cache of the vectors of searches, by role.

    Only `embed_query` uses the cache: each stored text is embedded only once.
    The workspace is part of the cache key: otherwise response times would reveal the questions of
    other tenants. The cache has digests instead of texts. Requests to a remote provider run through
    `provider_call`, for example with a deadline.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        size: int = 1024,
        provider_call: ProviderCall | None = None,
        check_ready: Callable[[WorkspaceId], None] = lambda _workspace: None,
    ) -> None:
        if size < 1:
            raise ConfigError(f"cached_questions must be at least 1, got {size}")
        super().__init__(embedder)
        self._size = size
        self._provider_call = provider_call
        self._check_ready = check_ready  # raises if vectors cannot be searched
        self._vectors: OrderedDict[CacheKey, Floats] = OrderedDict()
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def embed_query(
        self, workspace: WorkspaceId, text: str, role: TextRole = TextRole.QUERY
    ) -> Floats:
        """Return the vector of a text to search with; it is read-only: the cache shares it.

        An invented answer has the role of a document.
        """
        self._check_ready(workspace)
        vector = self._get_cached(workspace, text, role)
        if vector is not None:
            return vector
        if self._provider_call is None or self.is_local:
            return self._embed_and_cache(workspace, text, role)
        return self._provider_call(lambda: self._embed_and_cache(workspace, text, role))

    def _embed_and_cache(self, workspace: WorkspaceId, text: str, role: TextRole) -> Floats:
        # Without the lock: other threads must not wait for the provider.
        vector = embed_one(self._embedder, text, role)
        vector.flags.writeable = False
        self._put_cached((self.profile, workspace, role, digest(text)), vector)
        return vector

    def clear_workspace(self, workspace: WorkspaceId) -> None:
        """Remove the questions of a workspace, and all tokenizer caches with their words."""
        clear_word_caches()
        with self._lock:
            for key in [key for key in self._vectors if key[1] == workspace]:
                del self._vectors[key]

    def _get_cached(self, workspace: WorkspaceId, text: str, role: TextRole) -> Floats | None:
        # Reading the profile may send a request, so it is skipped while the cache is empty.
        key = (self.profile, workspace, role, digest(text)) if self._vectors else None
        with self._lock:
            vector = self._vectors.get(key) if key else None
            if vector is None or key is None:
                self.misses += 1
            else:
                self.hits += 1
                self._vectors.move_to_end(key)
            return vector

    def _put_cached(self, key: CacheKey, vector: Floats) -> None:
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
