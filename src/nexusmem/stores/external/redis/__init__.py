"""Redis parts of a store: working-memory windows and a shared cache of contexts."""

from .context_cache import RedisContextCache
from .window import RedisWindow

__all__ = ["RedisContextCache", "RedisWindow"]
