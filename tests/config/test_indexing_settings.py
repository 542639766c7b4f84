"""The section `memory.indexing` decides which messages become passages."""

from __future__ import annotations

from pathlib import Path

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import load_settings

LONG = "The release train leaves on the second Tuesday of every month, whoever is aboard."


@pytest.fixture
def passages_under(tmp_path: Path):
    """Return the number of passages of some messages under the given settings."""
    opened: list[Nexus] = []

    def count(rules: str, messages: list[tuple[str, str]]) -> int:
        file = tmp_path / "nexus.yaml"
        file.write_text(f"memory:\n  embeddings: {{provider: hashing}}\n  indexing: {rules}\n")
        nexus = Nexus.open(":memory:", settings=load_settings(file, {}), background=False)
        opened.append(nexus)
        room = nexus.workspace("acme").room("design", agent="scribe")
        for role, text in messages:
            room.observe("alice", text, role=role)
        assert room.flush() == 0
        return nexus.workspace("acme").stats().get("passage", 0)

    yield count
    for each in opened:
        each.close()


@pytest.mark.requirement("C15")
@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("{}", 2),
        ("{min_content_length: 0}", 3),
        ("{min_content_length: 60}", 1),
        ("{max_content_length: 60}", 1),
        ("{allowed_roles: [user]}", 1),
        ("{allowed_roles: [user, assistant, tool]}", 2),
        ("{auto_index_messages: false}", 0),
        ("{batch_size: 1}", 2),
    ],
)
def test_indexing_settings_select_messages(passages_under, rules, expected) -> None:
    messages = [("user", LONG), ("user", "ok"), ("assistant", "I will book seats for us.")]

    assert passages_under(rules, messages) == expected


@pytest.mark.requirement("C15")
def test_batch_size_setting_reaches_learner(tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_text("memory:\n  embeddings: {provider: hashing}\n  indexing: {batch_size: 2}\n")
    with Nexus.open(":memory:", settings=load_settings(file, {}), background=False) as nexus:
        room = nexus.workspace("acme").room("design")
        room.observe_many({"speaker": "alice", "text": f"{LONG} {n}"} for n in range(5))

        learned = [nexus._parts.learner.run_once() for _ in range(4)]

    assert learned == [2, 2, 1, 0]
