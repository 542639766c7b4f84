"""Redis beside the records: windows and composed contexts, short-lived and never the only copy."""

from .contexts import RedisContexts
from .window import RedisWindow

__all__ = ["RedisContexts", "RedisWindow"]
