"""Flows: what the table allows arrives, and what it does not allow stays in its place.

A longer run: `NEXUS_LEAK_SECONDS=600 pytest tests/leaks/test_flows.py`.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from tests.conformance.conftest import STORES, Kind

from nexusmem.config.settings import Settings
from nexusmem.core.protocols.store import Store
from nexusmem.learn.flows.decide import decide_topics
from nexusmem.testing.leaks.flow_oracle import SENTENCES, Sentence, Topic
from nexusmem.testing.leaks.flow_worlds import run_flow_world
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.wiring.build import make_flow_step

SECONDS = float(os.environ.get("NEXUS_LEAK_SECONDS", "20"))


@pytest.mark.requirement("X2", "A12")
@pytest.mark.parametrize("seed", range(6))
def test_every_place_knows_what_flows_to_it_and_nothing_else(seed: int) -> None:
    problems = run_flow_world(ReferenceStore, seed)

    assert not problems, "\n".join(problems)


@pytest.mark.slow
@pytest.mark.timeout(10 * SECONDS + 120)
@pytest.mark.requirement("X2", "A12")
@pytest.mark.parametrize("name", STORES)
def test_flows_are_the_same_in_every_store(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kind = Kind(name, tmp_path, request.getfixturevalue)

    def discard(store: Store) -> None:
        for file in store.list_files()[:1]:
            shutil.rmtree(file.parent)

    started, seed = time.monotonic(), 1000
    while seed == 1000 or time.monotonic() < started + SECONDS:
        problems = run_flow_world(kind.make, seed, reopen=kind.reopen, discard=discard)
        assert not problems, "\n".join(problems)
        seed += 1


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda each: each.mark)
def test_sentence_of_the_leak_tests_has_its_topic(sentence: Sentence) -> None:
    classifier = make_flow_step(Settings(), ReferenceStore()).classifier
    private = decide_topics(classifier, sentence.text, in_room=False, project=False)
    room = decide_topics(classifier, sentence.text, in_room=True, project=True)
    topic = sentence.topic

    assert private.stays is room.stays is (topic is Topic.DISCREET)
    assert bool(private.self_text) is (topic in (Topic.SELF, Topic.PERSONAL))
    assert bool(room.self_text) is (topic is Topic.SELF)
    assert bool(room.project_text) is (topic is Topic.PROJECT)
