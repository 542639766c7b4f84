"""Key vault: encryption, decryption and destroyed keys."""

from __future__ import annotations

import pytest

from nexusmem.core.errors import ConfigError, Corrupt
from nexusmem.stores.postgres.key_vault import KeyVault, OwnerKey, parse_key_ids

SALT = bytes(16)
MASTER = "correct horse battery staple"
TEXT = "Alice grows otters behind the mill. ☃"


@pytest.fixture(scope="module")
def vault() -> KeyVault:
    return KeyVault(MASTER, SALT)


def ring(*keys: OwnerKey):
    keys_by_id = {key.id: key.secret for key in keys}
    return lambda _workspace, ids: {id: keys_by_id[id] for id in ids if id in keys_by_id}


@pytest.mark.requirement("E33")
@pytest.mark.parametrize("people", [0, 1, 2, 5])
def test_decrypt_needs_all_keys(vault: KeyVault, people: int) -> None:
    keys = [vault.make_key(7)[0] for _ in range(people)]

    sealed = vault.encrypt(7, keys, TEXT)

    assert vault.decrypt(sealed, ring(*keys)) == TEXT
    assert sorted(parse_key_ids(sealed)) == sorted(key.id for key in keys)
    assert "otters" not in sealed


@pytest.mark.requirement("E33")
def test_one_destroyed_key_makes_text_unreadable(vault: KeyVault) -> None:
    alice, bob = (vault.make_key(7)[0] for _ in range(2))
    sealed = vault.encrypt(7, [alice, bob], TEXT)

    with pytest.raises(Corrupt, match="was destroyed"):
        vault.decrypt(sealed, ring(bob))


def test_ciphertexts_of_equal_texts_differ(vault: KeyVault) -> None:
    key, _ = vault.make_key(7)

    assert vault.encrypt(7, [key], TEXT) != vault.encrypt(7, [key], TEXT)


def test_wrapped_key_is_bound_to_workspace_and_id(vault: KeyVault) -> None:
    key, wrapped = vault.make_key(7)
    other, _ = vault.make_key(7)

    assert vault.unwrap_key(7, key.id, wrapped) == key
    assert key.secret not in wrapped
    for workspace, id in ((8, key.id), (7, other.id)):
        with pytest.raises(Corrupt):
            vault.unwrap_key(workspace, id, wrapped)


@pytest.mark.parametrize("harm", ["workspace", "keys", "bytes"])
def test_changed_ciphertext_is_rejected(vault: KeyVault, harm: str) -> None:
    key, _ = vault.make_key(7)
    workspace, ids, data = vault.encrypt(7, [key], TEXT).split(".")
    twin = OwnerKey("f" * 16, key.secret)
    changed = {
        "workspace": f"8.{ids}.{data}",
        "keys": f"{workspace}.{twin.id}.{data}",
        "bytes": f"{workspace}.{ids}.{'A' * 4}{data[4:]}",
    }

    with pytest.raises(Corrupt):
        vault.decrypt(changed[harm], ring(key, twin))


@pytest.mark.requirement("E33")
def test_wrong_master_key_is_rejected(vault: KeyVault) -> None:
    other = KeyVault("another key that is long enough", SALT)
    key, wrapped = vault.make_key(7)

    vault.check_proof(vault.make_proof())
    with pytest.raises(ConfigError, match="NEXUS_KEY"):
        other.check_proof(vault.make_proof())
    with pytest.raises(Corrupt):
        other.unwrap_key(7, key.id, wrapped)
    with pytest.raises(Corrupt):
        other.decrypt(vault.encrypt(7, [key], TEXT), ring(key))


def test_salt_changes_key(vault: KeyVault) -> None:
    with pytest.raises(ConfigError):
        KeyVault(MASTER, bytes(15) + b"1").check_proof(vault.make_proof())


def test_blind_digests_are_equal_only_within_a_workspace(vault: KeyVault) -> None:
    assert vault.blind_digest(7, "otter") == vault.blind_digest(7, "otter")
    assert (
        len(
            {
                vault.blind_digest(7, "otter"),
                vault.blind_digest(8, "otter"),
                vault.blind_digest(7, "otters"),
            }
        )
        == 3
    )
    assert KeyVault("another key that is long enough", SALT).blind_digest(
        7, "otter"
    ) != vault.blind_digest(7, "otter")


def test_repr_hides_secret(vault: KeyVault) -> None:
    key, _ = vault.make_key(7)

    assert repr(key) == f"OwnerKey(id={key.id!r})"
