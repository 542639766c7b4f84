"""Recall: strategies, explanations, diversity and as-of queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from tests.conftest import MONDAY, Clock, Open
from tests.stories.conftest import Team, keys, make_team

from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.core.errors import ConfigError, ModelUnavailable
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.recall.query import SearchSettings
from nexusmem.recall.ranking import features
from nexusmem.recall.ranking.features import FEATURE_NAMES

DAY = timedelta(days=1)
RANKINGS = ["contextual", "fused"]


class SwitchableEmbedder(HashingEmbedder):
    """An embedder that can be made unavailable."""

    is_down = False

    def embed(self, texts: Sequence[str], *args, **options):
        if self.is_down:
            raise ModelUnavailable("the embedder is down")
        return super().embed(texts, *args, **options)


def open_with(open_nexus: Open, url: object, **search) -> Nexus:
    return open_nexus(url, settings=Settings(search=SearchSettings(**search)))


def texts(found) -> list[str]:
    return [hit.text for hit in found]


@pytest.fixture(params=RANKINGS)
def place(request: pytest.FixtureRequest, url: str, open_nexus: Open) -> Place:
    """A room, in every store and with every ranking."""
    nexus = open_with(open_nexus, url, ranking=request.param)
    return nexus.workspace("acme").room("design", participants=["alice", "bob"])


@pytest.mark.requirement("D19", "E4")
def test_question_about_yesterday_finds_messages_of_yesterday(place: Place) -> None:
    for days in range(2, 30):
        place.observe("alice", f"Standup number {days}: all is well.", at=MONDAY - days * DAY)
    place.observe("bob", "The heron server caught fire.", at=MONDAY - DAY, key="fire")

    found = place.recall("What happened yesterday?", explain=True)

    assert found[0].event_keys == ("fire",)
    assert found[0].reasons["timeline"] == 1.0
    assert found[0].explanation.found_by["timeline"] == 1


@pytest.mark.requirement("D19", "E4")
def test_message_is_found_by_time_alone(place: Place) -> None:
    place.observe("bob", "Quiet rain fell.", at=MONDAY - DAY, key="rain")

    assert keys(place.recall("Yesterday?")) == ["rain"]


@pytest.mark.requirement("E5", "E14")
def test_fact_is_found_in_two_graph_steps(place: Place) -> None:
    place.add_fact("Tyler", "WORKS_AT", "Anthropic")
    place.add_fact("Anthropic", "BASED_IN", "San Francisco")

    found = place.recall("Where is Tyler?", explain=True)

    assert texts(found) == ["Tyler works at Anthropic", "Anthropic based in San Francisco"]
    assert found[1].explanation.found_by["graph"] == 2


@pytest.mark.requirement("A12", "E5")
def test_private_fact_is_no_graph_step_for_others(nexus: Nexus, clock: Clock) -> None:
    team = make_team(nexus, clock)
    team.alices.add_fact("Tyler", "IS_MARRIED_TO", "Robin")
    team.room.add_fact("Robin", "OWNS", "boat")

    asked = "Tell me about Tyler"
    in_room = team.room.recall(asked, explain=True)

    assert "Tyler is married to Robin" in texts(team.alices.recall(asked))
    assert "Tyler is married to Robin" not in texts(in_room)
    assert all("graph" not in hit.explanation.found_by for hit in in_room)


@pytest.mark.requirement("E11")
def test_each_strategy_has_unique_results(place: Place) -> None:
    place.observe("alice", "The kettle is warm.", key="word", at=MONDAY - 90 * DAY)
    place.observe("bob", "Quiet rain fell.", key="time", at=MONDAY - DAY)
    place.add_fact("Tyler", "WORKS_AT", "Anthropic", key="name")
    place.add_fact("Anthropic", "BASED_IN", "Oslo", key="beyond")

    found = place.recall("Was the kettle with Tyler yesterday?", explain=True)

    by = {hit.event_keys[0]: set(hit.explanation.found_by) for hit in found}
    assert "keyword" in by["word"]
    assert "timeline" in by["time"]
    assert {"keyword", "graph"} <= by["name"]
    assert "graph" in by["beyond"]


@pytest.mark.requirement("E18")
def test_hits_report_each_strategy(place: Place) -> None:
    for number in range(12):
        place.observe("alice", f"Kettle number {number}.")

    found = place.recall("kettle", limit=5)

    reports = {report.name: report for report in found.strategies}
    assert {*reports} - {"wording"} == {"vector", "keyword", "timeline", "graph"}
    assert (reports["keyword"].found, reports["keyword"].shown) == (12, 5)
    assert (reports["timeline"].found, reports["timeline"].shown) == (0, 0)
    assert all(0 < report.seconds < 60 for report in found.strategies)


@pytest.mark.requirement("X7")
def test_explanation_parts_add_up(place: Place) -> None:
    for number in range(30):
        place.observe("alice", f"The kettle number {number} is warm today.", thread=str(number % 3))

    found = place.recall("is the kettle warm?", limit=20, explain=True)

    for hit in found:
        told = hit.explanation
        assert told.total == pytest.approx(sum(told.parts.values()))
        assert all(place_ >= 1 for place_ in told.found_by.values())
    assert all(hit.explanation is None for hit in place.recall("is the kettle warm?"))
    assert keys(found) == keys(place.recall("is the kettle warm?", limit=20))


@pytest.mark.requirement("X7")
def test_contextual_explanation_has_every_feature(open_nexus: Open) -> None:
    place = open_with(open_nexus, ":memory:").workspace("acme").session("s", user="alice")
    place.observe("alice", "The kettle is warm.")

    (hit,) = place.recall("kettle", explain=True)

    assert set(hit.explanation.parts) == {*FEATURE_NAMES, *features.TEXT_FEATURE_NAMES}


@pytest.mark.requirement("E12")
def test_hits_are_diversified_over_conversations(url: str, open_nexus: Open) -> None:
    place = open_with(open_nexus, url).workspace("acme").session("s", user="alice")
    for thread in ("first", "second"):
        for number in range(10):
            place.observe("alice", "The kettle is warm.", key=f"{thread} {number}", thread=thread)

    found = place.recall("is the kettle warm?", limit=10)

    assert {hit.memory.thread for hit in found[:4]} == {"first", "second"}


@pytest.mark.requirement("E12")
@pytest.mark.parametrize("ranking", ["fused", "contextual"])
def test_per_conversation_limits_hits(url: str, open_nexus: Open, ranking: str) -> None:
    nexus = open_with(open_nexus, url, ranking=ranking, max_per_conversation=1)
    place = nexus.workspace("acme").session("s", user="alice")
    for number in range(9):
        place.observe("alice", "The kettle is warm.", key=f"first {number}", thread="first")
    place.observe("alice", "A kettle stands on the table.", thread="second")
    place.observe("alice", "Somebody moved the kettle.", thread="third")

    capped = [hit.memory.thread for hit in place.recall("The kettle is warm.", limit=3)]
    two = place.recall("The kettle is warm.", limit=4, max_per_conversation=2)
    free = place.recall("The kettle is warm.", limit=3, max_per_conversation=0)

    assert sorted(capped) == ["first", "second", "third"]
    assert sorted(hit.memory.thread for hit in two) == ["first", "first", "second", "third"]
    assert [hit.memory.thread for hit in free] == ["first"] * 3


@pytest.mark.requirement("E13")
def test_fused_ranking_uses_reciprocal_ranks(url: str, open_nexus: Open) -> None:
    nexus = open_with(open_nexus, url, ranking="fused", strategies=("vector", "keyword"))
    place = nexus.workspace("acme").session("s", user="alice")
    place.observe("alice", "The kettle is warm.", key="both")
    place.observe("alice", "A rare okapi.", key="neither")

    found = place.recall("kettle", explain=True)

    told = found[0].explanation
    assert found[0].event_keys == ("both",)
    assert told.found_by == {"vector": 1, "keyword": 1}
    assert told.parts == pytest.approx({"vector": 0.3 / 61, "keyword": 0.25 / 61})


@pytest.mark.requirement("X7")
def test_as_of_excludes_later_events(team: Team) -> None:
    team.room.observe("alice", "The kettle is red.", key="red")
    then = team.clock.advance(days=1)
    team.clock.advance(days=1)
    team.room.observe("bob", "The kettle is blue now.", key="blue", at=MONDAY - 9 * DAY)

    assert set(keys(team.room.recall("kettle"))) == {"red", "blue"}
    assert keys(team.room.recall("kettle", as_of=then)) == ["red"]
    assert keys(team.room.recall("kettle", as_of=MONDAY - DAY)) == []


@pytest.mark.requirement("X7")
def test_relative_times_use_as_of(team: Team) -> None:
    for days in range(20):
        team.clock.now = MONDAY + days * DAY
        team.room.observe("alice", f"Standup {days}.", key=str(days))

    then = MONDAY + 5.1 * DAY
    found = team.room.recall("What was said yesterday?", as_of=then, explain=True)

    in_time = [hit for hit in found if "timeline" in hit.explanation.found_by]
    assert keys(in_time) == ["4"]
    assert set(keys(found)) <= {str(days) for days in range(6)}


@pytest.mark.requirement("X7")
def test_imported_events_count_from_their_recording(team: Team, open_nexus: Open) -> None:
    team.room.observe("alice", "The kettle is red.", key="red")
    archive = StringIO()
    team.workspace.export(archive)
    years_later = Clock(MONDAY + 700 * DAY)
    other = make_team(open_nexus(clock=years_later), years_later)
    other.workspace.import_(StringIO(archive.getvalue()))
    other.room.observe("bob", "The kettle is blue.", key="blue", at=MONDAY)

    assert keys(other.room.recall("kettle", as_of=MONDAY + DAY)) == ["red"]
    assert set(keys(other.room.recall("kettle"))) == {"red", "blue"}


@pytest.mark.requirement("E11")
@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("left", ["vector", "keyword", "timeline", "graph"])
def test_strategies_are_selected_in_settings(open_nexus: Open, ranking: str, left: str) -> None:
    nexus = open_with(open_nexus, ":memory:", ranking=ranking, strategies=(left,))
    place = nexus.workspace("acme").session("s", user="alice")
    place.add_fact("Tyler", "WORKS_AT", "Anthropic", at=MONDAY - DAY)

    found = place.recall("Where did Tyler work yesterday?", explain=True)

    assert {report.name for report in found.strategies} - {"wording"} == {left}
    assert [set(hit.explanation.found_by) for hit in found] == [{left}]


@pytest.mark.requirement("E11")
@pytest.mark.parametrize("strategies", [("keyword", "luck"), ("Keyword",), ()])
def test_unknown_strategy_is_rejected(open_nexus: Open, strategies) -> None:
    with pytest.raises(ConfigError, match="accepted: vector, keyword, timeline, graph"):
        open_with(open_nexus, ":memory:", strategies=strategies)


@pytest.mark.requirement("E11")
@pytest.mark.parametrize("ranking", RANKINGS)
def test_recall_continues_without_the_embedder(
    tmp_path: Path, open_nexus: Open, ranking: str
) -> None:
    embedder = SwitchableEmbedder()
    settings = Settings(search=SearchSettings(ranking=ranking))
    nexus = open_nexus(tmp_path / "memory.db", settings=settings, embedder=embedder)
    place = nexus.workspace("acme").session("s", user="alice")
    place.observe("alice", "The kettle is warm.", key="k")
    place.flush()
    embedder.is_down = True

    found = place.recall("kettle", explain=True)

    assert keys(found) == ["k"]
    assert [remark.partition(":")[0] for remark in found.degraded] == ["vector"]
    assert found[0].explanation.found_by == {"keyword": 1}


@pytest.mark.requirement("E4")
def test_time_after_the_window_is_no_evidence(place: Place) -> None:
    place.observe("bob", "Quiet rain fell.", at=MONDAY - DAY, key="rain")
    place.observe("bob", "An okapi yawns.", at=MONDAY, key="okapi")

    found = place.recall("Yesterday?", threshold=0.45)

    assert keys(found) == ["rain"]


@pytest.mark.requirement("E1")
def test_same_text_in_two_scopes_is_one_hit(team: Team) -> None:
    team.alices.observe("alice", "The blue heron is nesting by the mill.", key="said")
    team.alices.remember("The blue heron is nesting by the mill!", scope="user", key="kept")
    team.alices.remember("My blue heron pictures lie in the green folder.", scope="user", key="own")
    team.alices.observe("alice", "A blue heron stood in the river.", key="here")
    team.alices.remember("The blue heron is Ada.", scope="project", key="theirs")

    found = team.alices.recall("blue heron mill")

    assert found[0].event_keys in (("said",), ("kept",))
    assert set(keys(found[1:])) == {"own", "here", "theirs"}
    assert keys(team.alices.recall("blue heron mill", limit=4)) == keys(
        found
    )  # both scopes have the text
    assert keys(team.alices.recall("nesting mill", scope="dm"))[0] == "said"  # searched explicitly


def test_same_text_of_two_speakers_is_two_hits(team: Team) -> None:
    for speaker in ("alice", "bob"):
        team.room.observe(speaker, "The blue heron is nesting.", key=speaker)

    assert set(keys(team.room.recall("blue heron"))) == {"alice", "bob"}
