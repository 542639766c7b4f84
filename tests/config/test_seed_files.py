"""The settings files of seeds 001 and 002 load unchanged."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from nexusmem import ConfigError, Nexus
from nexusmem.config.settings import AgentSettings, load_settings
from nexusmem.learn.extract.passages import IndexingSettings
from nexusmem.recall.query import SearchSettings

SEED_001 = """\
agents:
  defaults:
    memory:
      read: {enabled: true}
      write: {enabled: true, frequency: "every_turn"}
      labeling: {enabled: true}
"""
SEED_002 = """\
memory:
  enabled: true
  backend: sqlite-vec
  dimension: 1536
  sqlite_vec: {path: ~/.nexus/memory.db}
  lancedb: {path: ~/.nexus/memory.lance}
  pgvector:
    conn_string: ${DATABASE_URL}
  embeddings:
    provider: openai
    api_key: ${OPENAI_API_KEY}
    model: text-embedding-3-small
    project_id: my-project
    location: us-central1
    ollama_url: http://localhost:11434
  indexing:
    auto_index_messages: true
    min_content_length: 10
    max_content_length: 0
    batch_size: 100
    allowed_roles: ["user", "assistant"]
  search:
    default_limit: 10
    default_threshold: 0.7
    default_scope: session
"""


def seed_folder() -> Path:
    data = os.environ.get("NEXUS_DATA")
    return Path(data).parent / "seeds" if data else Path(__file__).parents[3] / "shared" / "seeds"


def the_seeds_own(number: str) -> str:
    seed = next(iter(sorted(seed_folder().glob(f"{number}_*.txt"))), None)
    if seed is None:
        pytest.skip("the seeds are not on this machine; the copies in this file are tested")
    blocks = re.findall(r"```yaml\n(.*?)```", seed.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if "nexus.yaml" in block)


@pytest.fixture(params=["copy", "original"])
def seed(request: pytest.FixtureRequest, tmp_path: Path):
    def write(number: str, copy: str) -> Path:
        file = tmp_path / "nexus.yaml"
        text = copy if request.param == "copy" else the_seeds_own(number)
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.mark.requirement("C14")
def test_seed_001_loads(seed) -> None:
    settings = load_settings(seed("001", SEED_001), {})

    assert settings.agents == AgentSettings()
    assert settings.agents.write.frequency == "every_turn"


@pytest.mark.requirement("C14")
def test_seed_002_loads_without_its_variables(seed) -> None:
    settings = load_settings(seed("002", SEED_002), {})

    assert (settings.store.url, settings.store.vector_index) == ("~/.nexus/memory.db", "sqlite-vec")
    assert settings.embeddings.provider == "openai"
    assert settings.embeddings.model == "text-embedding-3-small"
    assert settings.embeddings.dimension == 1536
    assert settings.indexing == IndexingSettings()
    assert settings.search == SearchSettings(default_threshold=0.7)


@pytest.mark.requirement("C14")
def test_opening_seed_002_names_missing_variable(seed, tmp_path: Path) -> None:
    settings = load_settings(seed("002", SEED_002), {})

    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        Nexus.open(tmp_path / "memory.db", settings=settings)
    assert not (tmp_path / "memory.db").exists()


@pytest.mark.requirement("C14")
def test_pgvector_url_comes_from_environment(tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_text(SEED_002.replace("backend: sqlite-vec", "backend: pgvector"))

    unset = load_settings(file, {"OPENAI_API_KEY": "k"})
    found = load_settings(file, {"DATABASE_URL": "postgresql://db/memory"})

    assert found.store.url == "postgresql://db/memory"
    with pytest.raises(ConfigError, match="DATABASE_URL"):
        Nexus.open(settings=unset)


@pytest.mark.requirement("C14", "C2")
def test_lancedb_backend_sets_vector_index_path(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "nexus.yaml"
    text = SEED_002.replace("backend: sqlite-vec", "backend: lancedb")
    file.write_text(text.replace("provider: openai", "provider: hashing"))
    settings = load_settings(file, {})

    with Nexus.open(settings=settings, background=False) as nexus:
        room = nexus.workspace("acme").room("design")
        room.observe("alice", "The launch is on Tuesday.", key="launch")
        (hit,) = room.recall("When is the launch?", limit=1)

    assert settings.store.vector_index_path == "~/.nexus/memory.lance"
    assert hit.event_keys == ("launch",)
    assert (tmp_path / ".nexus" / "memory.db").exists()
