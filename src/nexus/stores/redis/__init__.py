"""Redis beside the records: the windows of places, short-lived and never the only copy."""

from .window import RedisWindow

__all__ = ["RedisWindow"]
