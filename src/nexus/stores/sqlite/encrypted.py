"""A SQLite file that is encrypted as a whole, with SQLCipher: its log and temporary files, too.

A key of 64 hexadecimal digits is used as it is. Any other is a passphrase, made into a key with
the file's own salt, once for all connections: it takes a good part of a second. Either way the
file can be read with SQLCipher 4 and its defaults, and nothing but hexadecimal digits of ours is
ever part of a statement.
"""

from __future__ import annotations

import hashlib
import io
import re
import secrets
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from ...core.errors import ConfigError, MissingExtra, StoreUnavailable
from .connections import Connection

RAW = re.compile(r"[0-9a-fA-F]{64}")
PLAIN_HEADER = b"SQLite format 3\0"
SALT = 16  # bytes at the beginning of the file
ROUNDS = 256_000  # of PBKDF2 with SHA-512, as SQLCipher 4 makes them
PAGE = 4_096
RESERVED = 80  # bytes at the end of a page: what it was encrypted with, and its checksum
LOG_HEADER, FRAME_HEADER = 32, 24  # bytes of the write-ahead log


class WrongKey(ConfigError):
    """The key does not open this file."""


def driver() -> ModuleType:
    if find_spec("sqlcipher3") is None:
        raise MissingExtra("an encrypted SQLite file", "encryption")
    import sqlcipher3.dbapi2 as sqlcipher  # noqa: PLC0415

    module: ModuleType = sqlcipher
    return module


class Seal:
    """The key of one file."""

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        with path.open("rb") as file:
            header = file.read(SALT)
        if header == PLAIN_HEADER:
            raise ConfigError(
                f"{path} is not encrypted, but a key is configured; leave the key out, or move the"
                " memory into an encrypted file with nexus migrate"
            )
        self.is_new = not header
        self._salt = header or secrets.token_bytes(SALT)
        self._key = _derived(key, self._salt)

    def open(self, connection: Connection) -> None:
        """Before anything is read: with a wrong key nothing can be, and nothing is changed."""
        connection.execute("PRAGMA cipher_log_level = NONE")  # what is wrong is said by an error
        connection.execute(f"PRAGMA key = \"x'{self._key.hex()}{self._salt.hex()}'\"")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except driver().DatabaseError as error:
            if "not a database" not in str(error):
                raise
            connection.close()
            raise WrongKey(
                f"{self._path} cannot be read with this key: it is another one's, or the file is"
                " damaged"
            ) from None

    def change(self, connection: Connection, new: str) -> None:
        """Write every page anew with another key, all or none."""
        connection.execute("PRAGMA journal_mode = DELETE")
        key = _derived(new, self._salt)
        connection.execute(f"PRAGMA rekey = \"x'{key.hex()}'\"")

    def reader(self, path: Path) -> IO[bytes]:
        """What a file of this memory says, to look for what should be gone."""
        log = path.name.endswith("-wal")
        return io.BufferedReader(_Pages(path, self._key, log=log), buffer_size=PAGE)


def _derived(key: str, salt: bytes) -> bytes:
    if RAW.fullmatch(key):
        return bytes.fromhex(key)
    return hashlib.pbkdf2_hmac("sha512", key.encode(), salt, ROUNDS, 32)


class _Pages(io.RawIOBase):
    """The pages of a file, one after the other, as they were before they were encrypted."""

    def __init__(self, path: Path, key: bytes, *, log: bool) -> None:
        self._file = path.open("rb")
        self._key = key
        self._log = log
        self._first = True
        if log:
            self._file.read(LOG_HEADER)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        page = self._next()
        buffer[: len(page)] = page
        return len(page)

    def _next(self) -> bytes:
        number = 1 if self._first else 2
        if self._log:
            number = int.from_bytes(self._file.read(FRAME_HEADER)[:4], "big")
        self._first = False
        page = self._file.read(PAGE)
        if len(page) < PAGE:
            return b""
        begin = page[PAGE - RESERVED :][:16]
        # The first page begins with the salt of the file.
        return _decrypted(self._key, begin, page[SALT if number == 1 else 0 : PAGE - RESERVED])

    def close(self) -> None:
        self._file.close()
        super().close()


def _decrypted(key: bytes, begin: bytes, data: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import (  # noqa: PLC0415  # an extra
        Cipher,
        algorithms,
        modes,
    )

    decryptor = Cipher(algorithms.AES(key), modes.CBC(begin)).decryptor()
    plain: bytes = decryptor.update(data) + decryptor.finalize()
    return plain


def change_key(path: Path, old: str, new: str) -> None:
    """Encrypt a memory that nobody has open with another key."""
    library = driver()
    if not path.is_file() or not path.stat().st_size:
        raise StoreUnavailable(f"there is no memory in {path}")
    connection = library.connect(path, timeout=1.0, isolation_level=None)
    try:
        seal = Seal(path, old)
        seal.open(connection)
        seal.change(connection, new)
    except library.OperationalError as error:
        raise StoreUnavailable(f"{path}: {error}; close every program that uses it") from error
    finally:
        connection.close()
