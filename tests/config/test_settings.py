"""Loading of settings: files, environment variables and defaults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nexusmem import ConfigError, Nexus
from nexusmem.config.example_file import DESCRIPTIONS, example_yaml
from nexusmem.config.settings import Settings, find_settings_file, load_settings, require_expanded
from nexusmem.config.yaml_file import list_keys, settings_shape
from nexusmem.learn.model_budget import Budget, Price

ROOT = Path(__file__).parents[2]
SEED_SPELLINGS = ("backend", "dimension", "sqlite_vec", "lancedb", "pgvector")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(text: str, name: str = "nexus.yaml") -> Path:
    file = Path(name)
    file.write_text(text, encoding="utf-8")
    return file


def test_defaults_apply_without_a_file() -> None:
    assert load_settings(environment={}) == Settings()
    assert find_settings_file(environment={}) is None


@pytest.mark.requirement("C14")
def test_settings_file_precedence() -> None:
    for name, limit in (("named.yaml", 1), ("variable.yaml", 2), ("nexus.yaml", 3)):
        written(f"memory:\n  search:\n    default_limit: {limit}\n", name)
    variable = {"NEXUS_CONFIG": "variable.yaml"}

    assert load_settings("named.yaml", variable).search.default_limit == 1
    assert load_settings(None, variable).search.default_limit == 2
    assert load_settings(None, {}).search.default_limit == 3


@pytest.mark.requirement("C14")
def test_nexus_store_variable_overrides_file() -> None:
    written("memory:\n  store: {url: file.db, cache_megabytes: 7}\n")

    store = load_settings(None, {"NEXUS_STORE": "other.db"}).store

    assert (store.url, store.cache_megabytes) == ("other.db", 7)


@pytest.mark.requirement("E21")
@pytest.mark.parametrize("policy", ["prefer_new", "prefer_old", "flag_review"])
def test_contradiction_policies_of_seeds_are_accepted(policy: str) -> None:
    written(f"memory:\n  learning: {{on_contradiction: {policy}}}\n")

    assert load_settings(None, {}).learning.on_contradiction == policy


@pytest.mark.requirement("C14")
def test_variables_and_defaults_are_expanded() -> None:
    written(
        "memory:\n"
        "  enabled: ${ON:-false}\n"
        "  dimension: ${SIZE}\n"
        "  embeddings:\n"
        "    api_key: ${KEY}\n"
        "    base_url: https://${HOST:-localhost}/v1\n"
        "    model: ${MODEL}\n"
    )

    settings = load_settings(None, {"SIZE": "64", "KEY": "s3cret", "MODEL": ""})

    assert settings.enabled is False
    assert settings.embeddings.dimension == 64
    assert settings.embeddings.api_key == "s3cret"
    assert settings.embeddings.base_url == "https://localhost/v1"
    assert settings.embeddings.model is None


def test_variable_value_is_not_parsed_as_yaml() -> None:
    written("memory:\n  embeddings:\n    model: ${MODEL}\n")

    settings = load_settings(None, {"MODEL": "{a: [1]}\nstore: ${HOME}"})

    assert settings.embeddings.model == "{a: [1]}\nstore: ${HOME}"


@pytest.mark.requirement("E33")
@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("", {"NEXUS_KEY": ""}),
        ("memory: {store: {key: '${MINE}'}}", {"MINE": ""}),
        ("memory: {store: {key: ''}}", {}),
        ("memory: {store: {key_command: '${MINE}'}}", {"MINE": ""}),
    ],
)
def test_empty_encryption_key_is_refused(text: str, environment: dict[str, str]) -> None:
    written(text)
    settings = load_settings(None, environment)

    with pytest.raises(ConfigError, match="is empty"):
        Nexus.open("memory.db", settings=settings, background=False)

    assert not Path("memory.db").exists()


@pytest.mark.parametrize("text", ["{key: '${MINE}'}", "{key_command: '${MINE}'}", "{}"])
def test_empty_audit_key_is_refused(text: str) -> None:
    written(f"memory: {{audit: {text}}}")
    settings = load_settings(
        None, {"MINE": "", **({"NEXUS_AUDIT_KEY": ""} if text == "{}" else {})}
    )

    with pytest.raises(ConfigError, match="is empty"):
        Nexus.open(":memory:", settings=settings, background=False)


@pytest.mark.requirement("C14")
def test_unset_variable_fails_only_when_used() -> None:
    written("memory:\n  store: {url: memory.db}\n  embeddings:\n    api_key: ${NO_SUCH_KEY}\n")
    idle = load_settings(None, {})

    Nexus.open(settings=idle, background=False).close()

    written("memory:\n  embeddings:\n    provider: openai\n    api_key: ${NO_SUCH_KEY}\n")
    with pytest.raises(ConfigError, match=r"api_key needs .* NO_SUCH_KEY"):
        Nexus.open("memory.db", settings=load_settings(None, {}))


def test_unset_variable_in_number_is_refused() -> None:
    written("memory:\n  dimension: ${SIZE}\n")

    with pytest.raises(ConfigError, match=r"memory.dimension needs the variable SIZE"):
        load_settings(None, {})


def test_text_without_variables_is_unchanged() -> None:
    assert require_expanded("memory.db", "the store") == "memory.db"


def test_disabled_memory_does_not_open() -> None:
    written("memory:\n  enabled: false\n")

    with pytest.raises(ConfigError, match=r"memory\.enabled is false"):
        Nexus.open("memory.db", settings=load_settings(None, {}))


def test_repr_of_settings_hides_secrets() -> None:
    written(
        "memory:\n"
        "  embeddings: {api_key: s3cret}\n"
        "  llm: {api_key: s3cret}\n"
        "  search: {reranker_api_key: s3cret}\n"
    )

    assert "s3cret" not in repr(load_settings(None, {}))


def test_no_model_by_default() -> None:
    settings = load_settings(environment={})

    assert settings.llm.provider == settings.search.reranker == "none"
    assert settings.search.query_rewrites == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [("hyde", ("hyde",)), ("[hyde, self_query]", ("hyde", "self_query")), ("[]", ())],
)
def test_query_rewrites_accept_text_or_list(given: str, expected: tuple[str, ...]) -> None:
    written(f"memory:\n  search:\n    query_rewrites: {given}\n")

    assert load_settings(None, {}).search.query_rewrites == expected


def test_language_model_settings_are_read() -> None:
    written(
        "memory:\n"
        "  llm:\n"
        "    provider: ollama\n"
        "    model: ${MODEL}\n"
        "    timeout_seconds: 20\n"
        "    max_output_tokens: ${TOKENS:-500}\n"
    )

    llm = load_settings(None, {"MODEL": "qwen3"}).llm

    assert (llm.provider, llm.model) == ("ollama", "qwen3")
    assert (llm.timeout_seconds, llm.max_output_tokens) == (20, 500)


def test_prices_and_budget_are_read() -> None:
    written(
        "memory:\n"
        "  llm:\n"
        "    extract_facts: false\n"
        "    messages_per_call: 5\n"
        "    prices:\n"
        '      small-4.1: {input: 0.25, output: "${OUTPUT}"}\n'
        "      local:\n"
        "    budget: {cost_per_day: 2, tokens_per_day: 1000}\n"
    )

    llm = load_settings(None, {"OUTPUT": "2.5"}).llm

    assert (llm.extract_facts, llm.messages_per_call) == (False, 5)
    assert llm.prices == {"small-4.1": Price(input=0.25, output=2.5), "local": Price()}
    assert llm.budget == Budget(cost_per_day=2, tokens_per_day=1000)


def test_example_file_is_up_to_date() -> None:
    example = ROOT / "nexus.example.yaml"

    assert example.read_text(encoding="utf-8") == example_yaml(), (
        "python -m nexusmem.config.example_file > nexus.example.yaml"
    )
    assert load_settings(example, {}) == Settings()


def test_every_setting_is_in_the_example_file() -> None:
    ours = {
        key
        for key in list_keys(settings_shape())
        if not key.removeprefix("memory.").startswith(SEED_SPELLINGS)
    }

    assert ours == DESCRIPTIONS.keys()
    for key in ours:
        assert f"{key.rpartition('.')[2]}:" in example_yaml()


def test_import_does_not_load_yaml() -> None:
    code = "import nexusmem, sys; sys.exit('yaml' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_entity_types_are_read() -> None:
    file = written("memory:\n  learning:\n    entity_types: {vessel: [ferry, ship]}\n")

    assert load_settings(file, {}).learning.entity_types == {"vessel": ("ferry", "ship")}
