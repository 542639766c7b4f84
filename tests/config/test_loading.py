"""Where settings come from, and what the environment may say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nexus import ConfigError, Nexus
from nexus.cli.example import ABOUT, example_yaml
from nexus.config import Settings, in_use, load_settings, settings_file
from nexus.config_file import dotted_keys, file_shape
from nexus.learn.spending import Budget, Price

ROOT = Path(__file__).parents[2]
SEED_SPELLINGS = ("backend", "dimension", "sqlite_vec", "lancedb", "pgvector")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(text: str, name: str = "nexus.yaml") -> Path:
    file = Path(name)
    file.write_text(text, encoding="utf-8")
    return file


def test_without_a_file_everything_is_a_default() -> None:
    assert load_settings(environment={}) == Settings()
    assert settings_file(environment={}) is None


@pytest.mark.requirement("C14")
def test_a_named_file_comes_before_the_variable_and_the_variable_before_the_folder() -> None:
    for name, limit in (("named.yaml", 1), ("variable.yaml", 2), ("nexus.yaml", 3)):
        written(f"memory:\n  search:\n    default_limit: {limit}\n", name)
    variable = {"NEXUS_CONFIG": "variable.yaml"}

    assert load_settings("named.yaml", variable).search.default_limit == 1
    assert load_settings(None, variable).search.default_limit == 2
    assert load_settings(None, {}).search.default_limit == 3


@pytest.mark.requirement("C14")
def test_nexus_store_has_the_last_word_on_the_store() -> None:
    written("memory:\n  store: {url: file.db, cache_megabytes: 7}\n")

    store = load_settings(None, {"NEXUS_STORE": "other.db"}).store

    assert (store.url, store.cache_megabytes) == ("other.db", 7)


@pytest.mark.requirement("E21")
@pytest.mark.parametrize("policy", ["prefer_new", "prefer_old", "flag_review"])
def test_contradictions_are_set_in_the_seeds_words(policy: str) -> None:
    written(f"memory:\n  learning: {{contradictions: {policy}}}\n")

    assert load_settings(None, {}).learning.contradictions == policy


@pytest.mark.requirement("C14")
def test_variables_and_their_defaults_are_filled_in() -> None:
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


def test_what_a_variable_holds_is_a_value_and_never_yaml_or_a_further_variable() -> None:
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
def test_an_empty_key_writes_nothing_in_the_clear(text: str, environment: dict[str, str]) -> None:
    written(text)
    settings = load_settings(None, environment)

    with pytest.raises(ConfigError, match="is empty"):
        Nexus.open("memory.db", settings=settings, background=False)

    assert not Path("memory.db").exists()


@pytest.mark.parametrize("text", ["{key: '${MINE}'}", "{key_command: '${MINE}'}", "{}"])
def test_an_empty_key_seals_no_audit(text: str) -> None:
    written(f"memory: {{audit: {text}}}")
    settings = load_settings(
        None, {"MINE": "", **({"NEXUS_AUDIT_KEY": ""} if text == "{}" else {})}
    )

    with pytest.raises(ConfigError, match="is empty"):
        Nexus.open(":memory:", settings=settings, background=False)


@pytest.mark.requirement("C14")
def test_an_unset_variable_matters_only_when_it_is_used() -> None:
    written("memory:\n  store: {url: memory.db}\n  embeddings:\n    api_key: ${NO_SUCH_KEY}\n")
    idle = load_settings(None, {})

    Nexus.open(settings=idle, background=False).close()

    written("memory:\n  embeddings:\n    provider: openai\n    api_key: ${NO_SUCH_KEY}\n")
    with pytest.raises(ConfigError, match=r"api_key needs .* NO_SUCH_KEY"):
        Nexus.open("memory.db", settings=load_settings(None, {}))


def test_an_unset_variable_in_a_number_is_named_at_once() -> None:
    written("memory:\n  dimension: ${SIZE}\n")

    with pytest.raises(ConfigError, match=r"memory.dimension needs the variable SIZE"):
        load_settings(None, {})


def test_a_text_without_variables_is_ready_for_use() -> None:
    assert in_use("memory.db", "the store") == "memory.db"


def test_a_memory_that_is_switched_off_does_not_open() -> None:
    written("memory:\n  enabled: false\n")

    with pytest.raises(ConfigError, match="switched off"):
        Nexus.open("memory.db", settings=load_settings(None, {}))


def test_secrets_do_not_show_in_a_printed_setting() -> None:
    written(
        "memory:\n"
        "  embeddings: {api_key: s3cret}\n"
        "  llm: {api_key: s3cret}\n"
        "  search: {reranker_api_key: s3cret}\n"
    )

    assert "s3cret" not in repr(load_settings(None, {}))


def test_no_model_is_configured_by_default() -> None:
    settings = load_settings(environment={})

    assert settings.llm.provider == settings.search.reranker == "none"
    assert settings.search.rewrite == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [("hyde", ("hyde",)), ("[hyde, self_query]", ("hyde", "self_query")), ("[]", ())],
)
def test_ways_of_rewriting_are_one_or_several(given: str, expected: tuple[str, ...]) -> None:
    written(f"memory:\n  search:\n    rewrite: {given}\n")

    assert load_settings(None, {}).search.rewrite == expected


def test_a_model_is_configured_with_a_few_lines() -> None:
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


def test_a_model_has_prices_and_a_budget() -> None:
    written(
        "memory:\n"
        "  llm:\n"
        "    learn: false\n"
        "    turns_per_call: 5\n"
        "    prices:\n"
        '      small-4.1: {input: 0.25, output: "${OUTPUT}"}\n'
        "      local:\n"
        "    budget: {per_day: 2, tokens_per_day: 1000}\n"
    )

    llm = load_settings(None, {"OUTPUT": "2.5"}).llm

    assert (llm.learn, llm.turns_per_call) == (False, 5)
    assert llm.prices == {"small-4.1": Price(input=0.25, output=2.5), "local": Price()}
    assert llm.budget == Budget(per_day=2, tokens_per_day=1000)


def test_the_example_file_is_the_generated_one_and_holds_the_defaults() -> None:
    example = ROOT / "nexus.example.yaml"

    assert example.read_text(encoding="utf-8") == example_yaml(), (
        "python -m nexus.cli.example > nexus.example.yaml"
    )
    assert load_settings(example, {}) == Settings()


def test_every_setting_has_a_line_in_the_example() -> None:
    ours = {
        key
        for key in dotted_keys(file_shape())
        if not key.removeprefix("memory.").startswith(SEED_SPELLINGS)
    }

    assert ours == ABOUT.keys()
    for key in ours:
        assert f"{key.rpartition('.')[2]}:" in example_yaml()


def test_importing_nexus_loads_no_yaml() -> None:
    code = "import nexus, sys; sys.exit('yaml' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_types_of_entities_have_names_of_your_own() -> None:
    file = written("memory:\n  learning:\n    types: {vessel: [ferry, ship]}\n")

    assert load_settings(file, {}).learning.types == {"vessel": ("ferry", "ship")}
