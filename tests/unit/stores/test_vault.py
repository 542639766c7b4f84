"""Keys of people: what they seal, who can open it, and what is left when one is destroyed."""

from __future__ import annotations

import pytest

from nexus.core.errors import ConfigError, Corrupt
from nexus.stores.postgres.vault import Key, Vault, key_ids

SALT = bytes(16)
MASTER = "correct horse battery staple"
TEXT = "Alice grows otters behind the mill. ☃"


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault(MASTER, SALT)


def ring(*keys: Key):
    known = {key.id: key.secret for key in keys}
    return lambda _workspace, ids: {id: known[id] for id in ids if id in known}


@pytest.mark.requirement("E33")
@pytest.mark.parametrize("people", [0, 1, 2, 5])
def test_whoever_has_all_the_keys_reads_the_text(vault: Vault, people: int) -> None:
    keys = [vault.make_key(7)[0] for _ in range(people)]

    sealed = vault.seal(7, keys, TEXT)

    assert vault.open(sealed, ring(*keys)) == TEXT
    assert sorted(key_ids(sealed)) == sorted(key.id for key in keys)
    assert "otters" not in sealed


@pytest.mark.requirement("E33")
def test_one_destroyed_key_of_several_is_enough(vault: Vault) -> None:
    alice, bob = (vault.make_key(7)[0] for _ in range(2))
    sealed = vault.seal(7, [alice, bob], TEXT)

    with pytest.raises(Corrupt, match="was destroyed"):
        vault.open(sealed, ring(bob))


def test_the_same_text_is_never_sealed_the_same_way(vault: Vault) -> None:
    key, _ = vault.make_key(7)

    assert vault.seal(7, [key], TEXT) != vault.seal(7, [key], TEXT)


def test_a_kept_key_is_opened_only_at_its_place(vault: Vault) -> None:
    key, wrapped = vault.make_key(7)
    other, _ = vault.make_key(7)

    assert vault.unwrap(7, key.id, wrapped) == key
    assert key.secret not in wrapped
    for workspace, id in ((8, key.id), (7, other.id)):
        with pytest.raises(Corrupt):
            vault.unwrap(workspace, id, wrapped)


@pytest.mark.parametrize("harm", ["workspace", "keys", "bytes"])
def test_what_was_changed_is_noticed(vault: Vault, harm: str) -> None:
    key, _ = vault.make_key(7)
    workspace, ids, data = vault.seal(7, [key], TEXT).split(".")
    twin = Key("f" * 16, key.secret)
    changed = {
        "workspace": f"8.{ids}.{data}",
        "keys": f"{workspace}.{twin.id}.{data}",
        "bytes": f"{workspace}.{ids}.{'A' * 4}{data[4:]}",
    }

    with pytest.raises(Corrupt):
        vault.open(changed[harm], ring(key, twin))


@pytest.mark.requirement("E33")
def test_another_master_key_is_refused_and_opens_nothing(vault: Vault) -> None:
    other = Vault("another key that is long enough", SALT)
    key, wrapped = vault.make_key(7)

    vault.check(vault.prove())
    with pytest.raises(ConfigError, match="NEXUS_KEY"):
        other.check(vault.prove())
    with pytest.raises(Corrupt):
        other.unwrap(7, key.id, wrapped)
    with pytest.raises(Corrupt):
        other.open(vault.seal(7, [key], TEXT), ring(key))


def test_the_same_key_with_other_salt_is_another_one(vault: Vault) -> None:
    with pytest.raises(ConfigError):
        Vault(MASTER, bytes(15) + b"1").check(vault.prove())


def test_equal_words_of_a_workspace_are_found_and_tell_nothing_elsewhere(vault: Vault) -> None:
    assert vault.blind(7, "otter") == vault.blind(7, "otter")
    assert len({vault.blind(7, "otter"), vault.blind(8, "otter"), vault.blind(7, "otters")}) == 3
    assert Vault("another key that is long enough", SALT).blind(7, "otter") != vault.blind(
        7, "otter"
    )


def test_a_key_does_not_show_when_it_is_printed(vault: Vault) -> None:
    key, _ = vault.make_key(7)

    assert repr(key) == f"Key(id={key.id!r})"
