"""Invalid settings files are refused with the key and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from nexusmem import ConfigError
from nexusmem.config.settings import load_settings

LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

REFUSED = {
    "a misspelt key": ("memory:\n  embeddngs: {}", "memory.embeddngs; did you mean memory.emb"),
    "a key of another group": (
        "memory:\n  provider: x",
        "memory.provider; did you mean memory.embeddings.provider?",
    ),
    "a key like no other": ("zzz: 1", "unknown setting zzz; accepted: memory, agents"),
    "a key that is no text": ("1: 2", "unknown setting 1"),
    "a list at the top": ("- memory", "the file must be a section, got a list"),
    "a text for a group": ("memory: x", "memory must be a section, got text"),
    "a text for a number": ("memory:\n  dimension: many", "must be a whole number, got text"),
    "a switch for a number": (
        "memory:\n  indexing: {batch_size: true}",
        "must be a whole number, got true or false",
    ),
    "a number for a switch": ("memory:\n  enabled: 1", "must be true or false, got a number"),
    "a number for a text": ("memory:\n  store: {url: 5}", "memory.store.url must be text"),
    "a text for a list": (
        "memory:\n  indexing: {allowed_roles: user}",
        "must be a list of texts, got text",
    ),
    "numbers in a list": ("memory:\n  indexing: {allowed_roles: [1]}", "must be a list of texts"),
    "a role nobody has": (
        "memory:\n  indexing: {allowed_roles: [usr]}",
        "did you mean user?",
    ),
    "a number out of range": (
        "memory:\n  search: {default_limit: 0}",
        "default_limit must be between 1 and",
    ),
    "not a number": ("memory:\n  search: {default_threshold: .nan}", "must be between 0 and 1"),
    "an unknown scope": ("memory:\n  search: {default_scope: chanel}", "is not a scope"),
    "a rewrite that is no text": (
        "memory:\n  search: {query_rewrites: 5}",
        "memory.search.query_rewrites must be a list of texts, got a number",
    ),
    "no time for a model": ("memory:\n  llm: {timeout_seconds: 0}", "must be between 1 and 3600"),
    "no words for a model": ("memory:\n  llm: {max_output_tokens: 0}", "must be between 1 and"),
    "no turns for a model": ("memory:\n  llm: {messages_per_call: 0}", "must be between 1 and 200"),
    "prices that are a number": (
        "memory:\n  llm: {prices: 5}",
        "memory.llm.prices must be a section, got a number",
    ),
    "a price without parts": (
        "memory:\n  llm: {prices: {small: 5}}",
        "memory.llm.prices.small must be a section, got a number",
    ),
    "a price with other parts": (
        "memory:\n  llm: {prices: {small: {inputs: 5}}}",
        "unknown setting memory.llm.prices.small.inputs; did you mean",
    ),
    "a price below nothing": (
        "memory:\n  llm: {prices: {gpt-4.1: {input: -1}}}",
        "memory.llm.prices.gpt-4.1.input must be between 0 and",
    ),
    "a price that is no number": (
        "memory:\n  llm: {prices: {small: {input: much}}}",
        "memory.llm.prices.small.input must be a number, got text",
    ),
    "a budget below nothing": (
        "memory:\n  llm: {budget: {cost_per_day: -1}}",
        "memory.llm.budget.cost_per_day must be between 0 and",
    ),
    "a budget of half a token": (
        "memory:\n  llm: {budget: {tokens_per_day: 0.5}}",
        "memory.llm.budget.tokens_per_day must be a whole number",
    ),
    "a search that waits for ever": (
        "memory:\n  search: {model_timeout_seconds: 3600}",
        "must be between 0.1 and 60",
    ),
    "an unknown backend": ("memory:\n  backend: sqlitevec", "did you mean sqlite-vec?"),
    "two stores": ("memory:\n  backend: lancedb\n  store: {url: x}", "keep one"),
    "a section nobody chose": (
        "memory:\n  sqlite_vec: {path: x}",
        "memory.backend does not select it",
    ),
    "a variable written wrongly": (
        "memory:\n  embeddings:\n    api_key: ${KEY:?x}",
        "api_key must write variables as ${NAME} or ${NAME:-default}",
    ),
    "a key twice": (
        "memory:\n  enabled: true\n  enabled: false",
        "line 3: duplicate key 'enabled'",
    ),
    "a tag that runs code": ("memory: !!python/object/apply:os.abort []", "line 1: could not"),
    "a billion laughs": (LAUGHS, "aliases (*name) are not allowed"),
    "endless brackets": ("[" * 100_000, "nested too deeply"),
    "an impossible date": ("memory: {store: {url: 2026-99-99}}", "is not valid YAML"),
    "a tab": ("memory:\n\tenabled: true", "line 2: found character '\\t'"),
    "two documents": ("memory: {}\n---\nmemory: {}", "but found another document"),
    "a control character": ("memory: \x00", "is not valid YAML"),
}


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(("text", "answer"), REFUSED.values(), ids=REFUSED)
def test_invalid_settings_are_refused_with_reason(text: str, answer: str, tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError) as refused:
        load_settings(file, {})

    assert answer in str(refused.value)
    assert str(refused.value).startswith(str(file))
    assert "\n" not in str(refused.value)


def test_unreadable_file_is_named_in_error(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.yaml", tmp_path):
        with pytest.raises(ConfigError, match=f"cannot read {path}"):
            load_settings(path, {})


def test_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_bytes(b"\xff\xfe\xff")

    with pytest.raises(ConfigError, match="not UTF-8"):
        load_settings(file, {})


def test_huge_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_text("# " + "x" * 1_000_001)

    with pytest.raises(ConfigError, match="at most 1000000 are accepted"):
        load_settings(file, {})


def test_error_does_not_show_the_value(tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_text("memory:\n  embeddings: {api_key: [hunter2], dimension: hunter2}\n")

    with pytest.raises(ConfigError) as refused:
        load_settings(file, {})

    assert "hunter2" not in str(refused.value)


def test_key_without_value_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_text("memory:\n  store:\n  dimension:\n  embeddings:\n    model:\nagents:\n")

    assert load_settings(file, {}) == load_settings(None, {"NEXUS_CONFIG": str(file)})
    assert load_settings(file, {}).embeddings.model is None
