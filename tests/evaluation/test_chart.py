"""SVG chart of an evaluation."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.evaluation.samples import write_locomo

from nexusmem.config.settings import Settings
from nexusmem.evaluation.evaluate import evaluate_benchmark
from nexusmem.evaluation.report import BARS, LEVEL_TITLES, draw_chart
from nexusmem.evaluation.run import DEPTHS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory):
    data = write_locomo(tmp_path_factory.mktemp("data"))
    return evaluate_benchmark("locomo", data, Settings(), store=":memory:").summary


def bars(picture: str) -> list[ElementTree.Element]:
    return [
        each
        for each in ElementTree.fromstring(picture).iter(f"{SVG}rect")
        if each.get("class") in {*BARS, *LEVEL_TITLES} and each.get("height") != "10.0"
    ]


def test_chart_has_a_bar_per_depth_and_category(summary) -> None:
    drawn = bars(draw_chart(summary, "without_abstention"))

    assert len(drawn) == len(LEVEL_TITLES) * len(DEPTHS) * len(BARS) + 3 * len(LEVEL_TITLES)


def test_bars_are_inside_the_chart(summary) -> None:
    picture = draw_chart(summary, "with_abstention")

    width, height = map(float, ElementTree.fromstring(picture).attrib["viewBox"].split()[2:])
    for bar in bars(picture):
        assert 0 <= float(bar.attrib["x"]) <= width - float(bar.attrib["width"])
        assert 0 <= float(bar.attrib["y"]) <= height - float(bar.attrib["height"])


def test_category_names_are_escaped(summary) -> None:
    categories = {"<script>&": next(iter(summary["categories"].values()))}

    picture = draw_chart({**summary, "categories": categories}, "without_abstention")

    texts = [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert any(text.startswith("<script>& (") for text in texts)


def test_chart_is_self_contained_and_supports_dark_mode(summary: dict, tmp_path: Path) -> None:
    picture = draw_chart(summary, "without_abstention")

    assert "prefers-color-scheme: dark" in picture
    assert picture.count("http") == 1  # XML namespace
