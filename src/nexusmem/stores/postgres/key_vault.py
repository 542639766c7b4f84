"""Envelope encryption: one data key per person, wrapped by a master key outside the database.

Each speaker of a workspace has a key. A record is encrypted with the keys of the speakers of all
events it derives from. Destroying one of these keys makes every copy of the record unreadable,
also the copies in backups (crypto-shredding).
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

NONCE_BYTES = 12
KEY_BYTES = 32
SCRYPT_WORK = 2**15  # cost parameter n
PROOF_TEXT = b"nexus"  # plaintext of the proof of a master key
WRONG_KEY_MESSAGE = (
    "the key does not match this memory: check NEXUS_KEY or memory.store.key_command"
)
FindKeys = Callable[[int, Sequence[str]], Mapping[str, bytes]]  # (workspace, key ids) → secrets


@dataclass(frozen=True, slots=True)
class OwnerKey:
    """The data key of one person."""

    id: str
    secret: bytes = field(repr=False)


class KeyVault:
    """Encrypts and decrypts with a master key; has no access to the database."""

    def __init__(self, master: str, salt: bytes, work: int = SCRYPT_WORK) -> None:
        # Slow on purpose, once for each opening: a key chosen by a person could be guessed.
        master_key = hashlib.scrypt(
            master.encode(), salt=salt, n=work, r=8, p=1, maxmem=2**26, dklen=KEY_BYTES
        )
        self._wrapping_cipher = AESGCM(_derive_key(master_key, b"wrapping"))
        self._content_secret = _derive_key(master_key, b"sealing")
        self._blinding_secret = _derive_key(master_key, b"blinding")

    def make_proof(self) -> bytes:
        """Return a ciphertext that a later opening can check its master key with."""
        return _encrypt_bytes(self._wrapping_cipher, PROOF_TEXT, b"proof")

    def check_proof(self, proof: bytes) -> None:
        """Raise ConfigError if `proof` was made with another master key."""
        try:
            _decrypt_bytes(self._wrapping_cipher, proof, b"proof")
        except InvalidTag:
            raise ConfigError(WRONG_KEY_MESSAGE) from None

    def make_key(self, workspace: int) -> tuple[OwnerKey, bytes]:
        """Return a new key and its wrapped form for the database."""
        key = OwnerKey(secrets.token_hex(8), secrets.token_bytes(KEY_BYTES))
        return key, _encrypt_bytes(
            self._wrapping_cipher, key.secret, _key_identity(workspace, key.id)
        )

    def unwrap_key(self, workspace: int, id: str, wrapped: bytes) -> OwnerKey:
        """Return the key; raise Corrupt if it was changed or copied from another row."""
        try:
            return OwnerKey(
                id, _decrypt_bytes(self._wrapping_cipher, wrapped, _key_identity(workspace, id))
            )
        except InvalidTag:
            raise Corrupt(f"the key {id} was changed, or belongs to another workspace") from None

    def encrypt(self, workspace: int, keys: Sequence[OwnerKey], text: str) -> str:
        """Encrypt `text` with all of these keys; return `workspace.key_ids.base64`."""
        ordered = sorted(keys, key=lambda key: key.id)
        head = f"{workspace}.{','.join(key.id for key in ordered)}"
        cipher = self._make_cipher([key.secret for key in ordered])
        encrypted = _encrypt_bytes(cipher, text.encode(), head.encode())
        return f"{head}.{b64encode(encrypted).decode()}"

    def decrypt(self, ciphertext: str, find_keys: FindKeys) -> str:
        """Return the plaintext; raise Corrupt if it was changed or a key was destroyed."""
        head, _, data = ciphertext.rpartition(".")
        workspace, _, names = head.partition(".")
        ids = [id for id in names.split(",") if id]
        secrets_by_id = find_keys(int(workspace), ids) if ids else {}
        if len(secrets_by_id) < len(ids):
            raise Corrupt("a key of this encrypted record was destroyed")
        cipher = self._make_cipher([secrets_by_id[id] for id in ids])
        try:
            return _decrypt_bytes(cipher, b64decode(data), head.encode()).decode()
        except InvalidTag:
            raise Corrupt("an encrypted record was changed") from None

    def blind_digest(self, workspace: int, text: str) -> str:
        """Return a keyed digest: equal texts of a workspace have the same digest."""
        message = f"{workspace}.{text}".encode()
        truncated = hmac.digest(self._blinding_secret, message, hashlib.sha256)[:16]
        return b64encode(truncated).decode().rstrip("=")

    def _make_cipher(self, secrets: Sequence[bytes]) -> AESGCM:
        return AESGCM(hmac.digest(self._content_secret, b"".join(secrets), hashlib.sha256))


def parse_key_ids(ciphertext: str) -> list[str]:
    """Return the ids of the keys that `ciphertext` was encrypted with."""
    _, names, _ = ciphertext.split(".", 2)
    return [id for id in names.split(",") if id]


def _derive_key(master: bytes, purpose: bytes) -> bytes:
    return hmac.digest(master, purpose, hashlib.sha256)


def _key_identity(workspace: int, id: str) -> bytes:
    return f"{workspace}.{id}".encode()


def _encrypt_bytes(cipher: AESGCM, data: bytes, associated_data: bytes) -> bytes:
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, data, associated_data)


def _decrypt_bytes(cipher: AESGCM, data: bytes, associated_data: bytes) -> bytes:
    return cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], associated_data)
