"""The model pass with a real small model in this process. Slow, and skipped without the model.

    NEXUS_TEST_GGUF=model.gguf pytest tests/llms/test_real_model.py -m slow

It needs the package `xllamacpp` and a model in the format GGUF, for example
Qwen2.5-Coder-1.5B-Instruct Q4_K_M. Nothing is downloaded. Small models miss facts and invent some,
so the tests check the path and its bounds, and only facts that a small model finds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from tests.unit.making import ACME, event

from nexusmem.learn.model_budget import ModelBudget
from nexusmem.learn.model_pass.reader import ModelReader
from nexusmem.learn.model_pass.turns import Claim
from nexusmem.learn.settings import ModelReadLimits
from nexusmem.llms.openai import OpenAIModel
from nexusmem.prompts import load_prompt
from nexusmem.testing.reference_store.store import ReferenceStore

MODEL_FILE = os.environ.get("NEXUS_TEST_GGUF", "")
SILENCE_SECONDS = 600.0  # a loaded machine reads the prompt for a minute
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3_600),
    pytest.mark.skipif(not MODEL_FILE, reason="NEXUS_TEST_GGUF names no model"),
]


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIModel]:
    """A llama.cpp server in this process, called through the OpenAI client."""
    xllamacpp = pytest.importorskip("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = MODEL_FILE
    params.n_ctx, params.n_parallel = 4096, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    model = OpenAIModel(
        "local", base_url=f"{server.listening_address}/v1", timeout_seconds=SILENCE_SECONDS
    )
    yield model
    model.close()


@pytest.fixture
def reader(model: OpenAIModel) -> ModelReader:
    spending = ModelBudget(costs=ReferenceStore().model_costs, clock=lambda: MONDAY)
    return ModelReader(model, "local", load_prompt("one_pass"), ModelReadLimits(), spending)


@pytest.mark.requirement("B21")
def test_plain_statement_is_read(reader: ModelReader) -> None:
    said = event("I work at Stripe and I live in Lisbon.", at=MONDAY)

    found = reader.read_turns([said])

    facts = {(each.body["predicate"], each.body["object"]) for each in found.drafts if each.body}
    assert ("WORKS_AT", "Stripe") in facts or ("LIVES_IN", "Lisbon") in facts
    assert all(each.sources == (said.id,) for each in found.drafts)
    assert all(each.metadata["words"] in said.text for each in found.drafts)


def test_call_is_cheap_and_paid_once(reader: ModelReader) -> None:
    said = event("Good morning everybody, how are you today?", at=MONDAY)

    first = reader.read_turns([said], claims=[Claim("m1", said.id, "alice WORKS_AT morning")])

    assert (
        reader.read_turns([said], claims=[Claim("m1", said.id, "alice WORKS_AT morning")]) == first
    )
    (spent,) = reader.model_budget.get_usage(ACME).spent
    assert spent.calls <= 2, "at most one correction"
    assert spent.input_tokens / spent.calls < 800
    assert spent.output_tokens / spent.calls < 520
