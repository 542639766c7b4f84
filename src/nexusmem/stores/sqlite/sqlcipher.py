"""SQLCipher: encryption of a SQLite file, its write-ahead log and its temporary files.

A key of 64 hexadecimal digits is used directly. Any other key is a passphrase: PBKDF2 derives a
key from it with the salt of the file, once for all connections, in a fraction of a second. The
file can be opened with SQLCipher 4 and its defaults. Only hexadecimal digits that this module
computed are inserted into SQL statements.
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
from .connections import SqliteConnection

RAW_KEY = re.compile(r"[0-9a-fA-F]{64}")
PLAIN_HEADER = b"SQLite format 3\0"
SALT_BYTES = 16  # at the beginning of the file
KDF_ROUNDS = 256_000  # PBKDF2 with SHA-512, as in SQLCipher 4
PAGE_BYTES = 4_096
RESERVED_BYTES = 80  # at the end of a page: initialization vector and HMAC
LOG_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24  # of the write-ahead log


class WrongKey(ConfigError):
    """The key does not decrypt the file."""


def load_driver() -> ModuleType:
    if find_spec("sqlcipher3") is None:
        raise MissingExtra("an encrypted SQLite file", "encryption")
    import sqlcipher3.dbapi2 as sqlcipher

    module: ModuleType = sqlcipher
    return module


class FileKey:
    """The encryption key of one file."""

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        with path.open("rb") as file:
            header = file.read(SALT_BYTES)
        if header == PLAIN_HEADER:
            raise ConfigError(
                f"{path} is not encrypted, but a key is configured; leave the key out, or move the"
                " memory into an encrypted file with nexus migrate"
            )
        self.is_new = not header
        self._salt = header or secrets.token_bytes(SALT_BYTES)
        self._key = _derive_key(key, self._salt)

    def unlock(self, connection: SqliteConnection) -> None:
        """Set the key of a new connection; raise WrongKey if it does not decrypt the file."""
        connection.execute("PRAGMA cipher_log_level = NONE")  # problems are raised as errors
        connection.execute(f"PRAGMA key = \"x'{self._key.hex()}{self._salt.hex()}'\"")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except load_driver().DatabaseError as error:
            if "not a database" not in str(error):
                raise
            connection.close()
            raise WrongKey(
                f"{self._path} cannot be read with this key: wrong key, or a damaged file"
            ) from None

    def rekey_file(self, connection: SqliteConnection, new: str) -> None:
        """Encrypt every page with another key, in one transaction."""
        connection.execute("PRAGMA journal_mode = DELETE")
        key = _derive_key(new, self._salt)
        connection.execute(f"PRAGMA rekey = \"x'{key.hex()}'\"")

    def open_decrypted(self, path: Path) -> IO[bytes]:
        """Open the database file or its log for reading, decrypted."""
        log = path.name.endswith("-wal")
        return io.BufferedReader(_DecryptedPages(path, self._key, log=log), buffer_size=PAGE_BYTES)


def _derive_key(key: str, salt: bytes) -> bytes:
    if RAW_KEY.fullmatch(key):
        return bytes.fromhex(key)
    return hashlib.pbkdf2_hmac("sha512", key.encode(), salt, KDF_ROUNDS, 32)


class _DecryptedPages(io.RawIOBase):
    """Raw stream of the decrypted pages of a file."""

    def __init__(self, path: Path, key: bytes, *, log: bool) -> None:
        self._file = path.open("rb")
        self._key = key
        self._log = log
        self._first = True
        if log:
            self._file.read(LOG_HEADER_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        page = self._next_page()
        buffer[: len(page)] = page
        return len(page)

    def _next_page(self) -> bytes:
        number = 1 if self._first else 2
        if self._log:
            number = int.from_bytes(self._file.read(FRAME_HEADER_BYTES)[:4], "big")
        self._first = False
        page = self._file.read(PAGE_BYTES)
        if len(page) < PAGE_BYTES:
            return b""
        begin = page[PAGE_BYTES - RESERVED_BYTES :][:16]
        # The first page begins with the salt of the file.
        return _decrypt_page(
            self._key, begin, page[SALT_BYTES if number == 1 else 0 : PAGE_BYTES - RESERVED_BYTES]
        )

    def close(self) -> None:
        self._file.close()
        super().close()


def _decrypt_page(key: bytes, iv: bytes, data: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import (  # an extra
        Cipher,
        algorithms,
        modes,
    )

    decryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    plain: bytes = decryptor.update(data) + decryptor.finalize()
    return plain


def change_key(path: Path, old: str, new: str) -> None:
    """Encrypt a file with another key; raise StoreUnavailable if a process has it open."""
    library = load_driver()
    if not path.is_file() or not path.stat().st_size:
        raise StoreUnavailable(f"{path} does not exist or is empty")
    connection = library.connect(path, timeout=1.0, isolation_level=None)
    try:
        file_key = FileKey(path, old)
        file_key.unlock(connection)
        file_key.rekey_file(connection, new)
    except library.OperationalError as error:
        raise StoreUnavailable(f"{path}: {error}; close every program that uses it") from error
    finally:
        connection.close()
