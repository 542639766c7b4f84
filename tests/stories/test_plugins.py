"""Plug-ins: parts of third-party distributions, registered by entry point and named in settings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import EmbeddingSettings, LlmSettings, Settings, load_settings
from nexusmem.core.errors import BadOutput, ConfigError, ModelUnavailable
from nexusmem.core.protocols.models import Prompt
from nexusmem.recall.query import SearchSettings
from nexusmem.wiring.providers import (
    EXTRACTORS,
    list_plugins,
    load_plugin,
    make_embedder,
    make_llm,
    make_plugin,
    make_reranker,
)

CODE = '''
import numpy as np

from nexusmem.compose.templates import ContextTemplate
from nexusmem.core.protocols.models import Completion
from nexusmem.core.records import EmbeddingProfile

WORDS = ("tea", "coffee", "cake")


class Embedder:
    """One dimension a word, and one for everything else."""

    is_local = True

    def __init__(self, settings):
        self.settings = settings
        self.profile = EmbeddingProfile(
            provider="acme", model=settings.model or "words", dimension=4, revision="1"
        )

    def embed(self, texts):
        rows = np.array(
            [[float(word in text.lower()) for word in WORDS] + [0.01] for text in texts],
            dtype=np.float32,
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Model:
    def __init__(self, settings):
        self.settings = settings
        self.answer = {"text": "We drink coffee."}

    def complete(self, prompt, *, schema=None, max_tokens=None, timeout=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return Completion(text="{}", data=self.answer, input_tokens=1, output_tokens=1, model="m")

    def close(self):
        pass


class Reranker:
    """Puts texts about cake first."""

    def __init__(self, settings):
        self.settings = settings

    def score(self, question, texts):
        if "broken" in question:
            raise ValueError("no scores today")
        return [float("cake" in text) for text in texts]


class Template(ContextTemplate):
    def __init__(self, settings):
        self.cache_key = f"acme {settings.max_hits}"

    def introduction(self, where):
        return f"ACME notes, {self.cache_key}"


def make_embedder(settings):
    return Embedder(settings)


def make_nothing(settings):
    raise LookupError("the licence has expired")


not_callable = 7
'''

ENTRY_POINTS = """
    [nexusmem.embedders]
    acme = acme_pkg:make_embedder
    broken = acme_pkg:make_nothing
    absent = acme_pkg:no_such_name
    constant = acme_pkg:not_callable
    builtin = acme_pkg:make_nothing

    [nexusmem.llms]
    acme = acme_pkg:Model

    [nexusmem.rerankers]
    acme = acme_pkg:Reranker

    [nexusmem.extractors]
    acme = acme_pkg:make_embedder

    [nexusmem.templates]
    acme = acme_pkg:Template
    embedder = acme_pkg:make_nothing
"""

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install distributions into a folder of their own on sys.path."""
    folder = tmp_path / "site-packages"
    folder.mkdir()

    def install_distribution(
        name: str = "acme-pkg", module: str = "acme_pkg", points: str = ENTRY_POINTS
    ) -> Path:
        (folder / f"{module}.py").write_text(CODE, encoding="utf-8")
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(dedent(points), encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, module, raising=False)
        return folder

    yield install_distribution
    for module in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[module]


def fill_room(settings: Settings) -> Nexus:
    nexus = Nexus.open(":memory:", settings=settings, background=False)
    room = nexus.workspace("acme").room("kitchen")
    for key, text in enumerate(["A pot of tea.", "Cups of coffee.", "Two slices of cake."]):
        nexus.wait(room.observe("alice", text, key=str(key)))
    return nexus


def recall_texts(nexus: Nexus, question: str) -> list[str]:
    return [hit.text for hit in nexus.workspace("acme").room("kitchen").recall(question)]


def test_installed_embedder_is_selected_in_the_settings_file(
    install: Install, tmp_path: Path
) -> None:
    install()
    file = tmp_path / "nexus.yaml"
    file.write_text("memory: {embeddings: {provider: acme, model: three-words}}", encoding="utf-8")

    settings = load_settings(file, {})
    with fill_room(settings) as nexus:
        hits = nexus.workspace("acme").room("kitchen").recall("coffee, please")

        assert hits[0].text == "Cups of coffee."
        assert hits[0].reasons["vector"] > 0.9
        assert not hits.degraded
        assert make_embedder(settings.embeddings).profile.name == "acme/three-words/4/1"


def test_installed_reranker_orders_the_hits(install: Install) -> None:
    install()
    question = "tea, coffee or cake?"
    embeddings = EmbeddingSettings(provider="acme")

    with fill_room(
        Settings(embeddings=embeddings, search=SearchSettings(reranker="acme"))
    ) as nexus:
        assert recall_texts(nexus, question)[0] == "Two slices of cake."

        hits = nexus.workspace("acme").room("kitchen").recall("broken: tea or coffee?")
        assert len(hits) > 1
        assert hits.degraded == ("rerank: the reranker failed with ValueError: no scores today",)


@pytest.mark.requirement("A13")
def test_installed_template_is_selected_by_name(install: Install, tmp_path: Path) -> None:
    install()
    file = tmp_path / "nexus.yaml"
    file.write_text("memory: {compose: {template: acme, max_hits: 3}}", encoding="utf-8")

    with fill_room(load_settings(file, {})) as nexus:
        room = nexus.workspace("acme").room("kitchen")
        context = room.compose("What do we drink?")
        usual = room.compose("What do we drink?", template="markdown")

        assert context.text.startswith("<nexus-memory id>\nACME notes, acme 3\n")
        assert room.compose("What do we drink?").receipt.cached
        assert "ACME" not in usual.text
        with pytest.raises(ConfigError, match="the licence has expired"):
            room.compose("What do we drink?", template="embedder")
        with pytest.raises(ConfigError, match=r"markdown, compact, xml, json.*: acme, embedder"):
            room.compose("What do we drink?", template="acm")


def test_installed_model_rewrites_questions(install: Install) -> None:
    install()
    settings = Settings(
        embeddings=EmbeddingSettings(provider="acme"),
        llm=LlmSettings(provider="acme", extract_facts=False),
        search=SearchSettings(
            ranking="fused", strategies=("vector",), query_rewrites=("statement",)
        ),
    )

    with fill_room(settings) as nexus:
        assert recall_texts(nexus, "What do we drink?")[0] == "Cups of coffee."


def test_exception_of_an_installed_model_is_model_unavailable(install: Install) -> None:
    install()
    model = make_llm(LlmSettings(provider="acme"))
    assert model is not None
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    }
    prompt = Prompt(system="Answer.", user="What?")
    inner = model._model

    assert model.complete(prompt, schema=schema).data == {"text": "We drink coffee."}
    inner.answer = {"text": ["We drink coffee."], "more": {}}
    with pytest.raises(BadOutput, match="does not fit the schema"):
        model.complete(prompt, schema=schema)
    inner.answer = {"text": "half a character \ud800"}
    with pytest.raises(BadOutput):
        model.complete(prompt, schema=schema)
    inner.answer = ValueError("no model today")
    with pytest.raises(ModelUnavailable, match="ValueError: no model today"):
        model.complete(prompt)
    inner.complete = lambda prompt, **_: "text"
    with pytest.raises(ModelUnavailable, match="must return a Completion, got str"):
        model.complete(prompt)
    model.close()


def test_factory_receives_the_settings_of_its_section(install: Install) -> None:
    install()
    embeddings = EmbeddingSettings(provider="acme", api_key="k", base_url="http://localhost")
    search = SearchSettings(reranker="acme", reranker_url="http://localhost/rerank")

    assert make_embedder(embeddings)._embedder.settings == embeddings
    assert make_llm(LlmSettings(provider="acme"))._model.settings == LlmSettings(provider="acme")
    assert make_reranker(search)._reranker.settings == search


def test_settings_of_a_plugin_must_not_contain_unset_variables(install: Install) -> None:
    install()

    with pytest.raises(ConfigError, match=r"memory\.embeddings\.api_key needs .* NO_SUCH_KEY"):
        make_embedder(EmbeddingSettings(provider="acme", api_key="${NO_SUCH_KEY}"))
    with pytest.raises(ConfigError, match=r"memory\.llm\.base_url needs .* NO_SUCH_URL"):
        make_llm(LlmSettings(provider="acme", base_url="${NO_SUCH_URL}"))
    with pytest.raises(ConfigError, match=r"memory\.search\.reranker_url needs .* NO_SUCH_URL"):
        make_reranker(SearchSettings(reranker="acme", reranker_url="${NO_SUCH_URL}"))


def test_unknown_name_lists_accepted_names_and_installed_plugins(install: Install) -> None:
    install()

    with pytest.raises(ConfigError) as error:
        make_embedder(EmbeddingSettings(provider="acne"))
    assert str(error.value) == (
        "unknown memory.embeddings.provider 'acne'; did you mean acme? accepted: builtin,"
        " local, minilm, openai, gemini, ollama, hashing; installed plug-ins (nexusmem.embedders):"
        " absent, acme, broken, builtin, constant"
    )
    with pytest.raises(ConfigError, match=r"accepted: none, http; .*\(nexusmem.rerankers\): acme"):
        make_reranker(SearchSettings(reranker="cohere"))
    with pytest.raises(ConfigError, match=r"accepted: none, openai.*\(nexusmem.llms\): acme"):
        make_llm(LlmSettings(provider="claude"))


def test_unknown_name_without_plugins_is_reported() -> None:
    if entry_points(group="nexusmem.llms"):
        pytest.skip("a plug-in for language models is installed")
    with pytest.raises(ConfigError, match=r"installed plug-ins \(nexusmem.llms\): none"):
        make_llm(LlmSettings(provider="acme"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken", "failed with LookupError: the licence has expired"),
        ("absent", "cannot be imported from acme_pkg:no_such_name: AttributeError"),
        ("constant", "is int, expected a callable"),
    ],
)
def test_plugin_that_fails_is_a_config_error(install: Install, name: str, reason: str) -> None:
    install()

    with pytest.raises(
        ConfigError, match=rf"memory\.embeddings\.provider: plug-in '{name}' {reason}"
    ):
        make_embedder(EmbeddingSettings(provider=name))


def test_name_registered_by_two_distributions_is_refused(install: Install) -> None:
    install()
    install("acme-other", "acme_other", "[nexusmem.embedders]\nacme = acme_other:make_embedder\n")

    with pytest.raises(ConfigError, match="several distributions: acme-other, acme-pkg"):
        make_embedder(EmbeddingSettings(provider="acme"))


def test_builtin_names_take_precedence(install: Install) -> None:
    install()

    assert make_embedder(EmbeddingSettings(provider="builtin")).profile.provider == "builtin"


def test_extractors_are_loaded_by_name(install: Install) -> None:
    install()
    settings = EmbeddingSettings()

    assert list_plugins(EXTRACTORS) == ["acme"]
    made = make_plugin(EXTRACTORS, "acme", settings, setting="memory.learning", builtin=())
    assert made.settings is settings
    with pytest.raises(ConfigError, match=r"installed plug-ins .*: acme"):
        load_plugin(EXTRACTORS, "rules", setting="memory.learning", builtin=("none",))


def test_entry_points_are_not_read_for_builtin_parts() -> None:
    code = """
        import sys
        import nexusmem
        with nexusmem.Nexus.open(":memory:", background=False) as nexus:
            nexus.workspace("acme").room("design").observe("alice", "The kettle is red.")
        print("importlib.metadata" in sys.modules)
    """
    run = [sys.executable, "-c", dedent(code)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
