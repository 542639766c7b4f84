"""Whether a memory is encrypted, and whether whoever opens it may."""

from __future__ import annotations

from secrets import token_bytes

from ...core.errors import ConfigError
from ..sql.session import Connections


def sealed(connections: Connections, key: str | None, where: str) -> Connections:
    """The connections as they are, or sealed where the memory is encrypted.

    Whoever has no key, or another one, gets none: nothing is read or written past this.
    """
    with connections.reading() as session:
        row = session.run("vault").fetchone()
        used = session.run("named_workspaces").fetchone() is not None
    if row is None and key is None:
        return connections
    if key is None:
        raise ConfigError(f"{where} is encrypted: set NEXUS_KEY or memory.store.key_command")
    from .sealed import SealedConnections  # noqa: PLC0415  # an extra
    from .vault import Vault  # noqa: PLC0415

    if row is not None:
        salt, proof = row
        vault = Vault(key, salt)
        vault.check(proof)
        return SealedConnections(connections, vault)
    if used:
        hint = "leave the key out, or move it with `nexus migrate` into a new database"
        raise ConfigError(f"{where} was written without a key: {hint}")
    salt = token_bytes(16)
    new = {"salt": salt, "proof": Vault(key, salt).prove()}
    connections.write(lambda session: session.run("add_vault", new))
    return sealed(connections, key, where)  # another process may have been faster
