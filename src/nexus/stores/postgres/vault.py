"""Keys of people, and what is sealed with them.

Every person of a workspace has a key of their own, and so has every other speaker. It is kept
wrapped by the master key, which is not in the database. A record is sealed with the keys of all
whose words it rests on: when one of them is destroyed, nobody can read it any more, wherever a
copy of it may lie.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...core.errors import ConfigError, Corrupt, MissingExtra

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:
    raise MissingExtra("an encrypted memory", "encryption") from None

NONCE = 12  # bytes
KEY = 32
WORK = 2**15  # of scrypt
PROVEN = b"nexus"  # what the proof of a master key holds
WRONG = "the key of this memory is another one: check NEXUS_KEY or memory.store.key_command"
FindKeys = Callable[[int, Sequence[str]], Mapping[str, bytes]]  # of a workspace, by their ids


@dataclass(frozen=True, slots=True)
class Key:
    """The key of one person."""

    id: str
    secret: bytes = field(repr=False)


class Vault:
    """Seals and opens with a master key; it knows no database."""

    def __init__(self, master: str, salt: bytes, work: int = WORK) -> None:
        # Slow on purpose, once for each opening: a key that a person chose can be guessed at.
        stretched = hashlib.scrypt(
            master.encode(), salt=salt, n=work, r=8, p=1, maxmem=2**26, dklen=KEY
        )
        self._wrapping = AESGCM(_derived(stretched, b"wrapping"))
        self._sealing = _derived(stretched, b"sealing")
        self._blinding = _derived(stretched, b"blinding")

    def prove(self) -> bytes:
        """A proof for the next opening that it has the same master key."""
        return _encrypted(self._wrapping, PROVEN, b"proof")

    def check(self, proof: bytes) -> None:
        try:
            _decrypted(self._wrapping, proof, b"proof")
        except InvalidTag:
            raise ConfigError(WRONG) from None

    def make_key(self, workspace: int) -> tuple[Key, bytes]:
        """A new key, and how it is kept."""
        key = Key(secrets.token_hex(8), secrets.token_bytes(KEY))
        return key, _encrypted(self._wrapping, key.secret, _place(workspace, key.id))

    def unwrap(self, workspace: int, id: str, wrapped: bytes) -> Key:
        try:
            return Key(id, _decrypted(self._wrapping, wrapped, _place(workspace, id)))
        except InvalidTag:
            raise Corrupt(f"the key {id} was changed, or it is of another place") from None

    def seal(self, workspace: int, keys: Sequence[Key], text: str) -> str:
        """The text for whoever has all of these keys: `workspace.ids.bytes`."""
        ordered = sorted(keys, key=lambda key: key.id)
        head = f"{workspace}.{','.join(key.id for key in ordered)}"
        cipher = self._cipher([key.secret for key in ordered])
        sealed = _encrypted(cipher, text.encode(), head.encode())
        return f"{head}.{b64encode(sealed).decode()}"

    def open(self, sealed: str, find_keys: FindKeys) -> str:
        """The text again; Corrupt if it was changed or one of its keys is gone."""
        head, _, data = sealed.rpartition(".")
        workspace, _, names = head.partition(".")
        ids = [id for id in names.split(",") if id]
        known = find_keys(int(workspace), ids) if ids else {}
        if len(known) < len(ids):
            raise Corrupt("a key that this record was sealed with was destroyed")
        cipher = self._cipher([known[id] for id in ids])
        try:
            return _decrypted(cipher, b64decode(data), head.encode()).decode()
        except InvalidTag:
            raise Corrupt("a sealed record was changed") from None

    def blind(self, workspace: int, text: str) -> str:
        """A digest that finds equal texts of a workspace, and that nobody can make without us."""
        told = f"{workspace}.{text}".encode()
        short = hmac.digest(self._blinding, told, hashlib.sha256)[:16]
        return b64encode(short).decode().rstrip("=")

    def _cipher(self, secrets: Sequence[bytes]) -> AESGCM:
        return AESGCM(hmac.digest(self._sealing, b"".join(secrets), hashlib.sha256))


def key_ids(sealed: str) -> list[str]:
    """The ids of the keys a text was sealed with."""
    _, names, _ = sealed.split(".", 2)
    return [id for id in names.split(",") if id]


def _derived(master: bytes, purpose: bytes) -> bytes:
    return hmac.digest(master, purpose, hashlib.sha256)


def _place(workspace: int, id: str) -> bytes:
    return f"{workspace}.{id}".encode()


def _encrypted(cipher: AESGCM, data: bytes, about: bytes) -> bytes:
    nonce = secrets.token_bytes(NONCE)
    return nonce + cipher.encrypt(nonce, data, about)


def _decrypted(cipher: AESGCM, data: bytes, about: bytes) -> bytes:
    return cipher.decrypt(data[:NONCE], data[NONCE:], about)
