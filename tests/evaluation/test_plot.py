"""The picture is well-formed, and shows the figures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.evaluation.samples import write_locomo

from nexus.config import Settings
from nexus.evaluation.evaluate import evaluate
from nexus.evaluation.metrics import DEPTHS
from nexus.evaluation.plot import BARS, LEVELS, draw

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory):
    data = write_locomo(tmp_path_factory.mktemp("data"))
    return evaluate("locomo", data, Settings(), store=":memory:").summary


def bars(picture: str) -> list[ElementTree.Element]:
    return [
        each
        for each in ElementTree.fromstring(picture).iter(f"{SVG}rect")
        if each.get("class") in {*BARS, *LEVELS} and each.get("height") != "10.0"
    ]


def test_there_is_a_bar_for_every_depth_and_category(summary) -> None:
    drawn = bars(draw(summary, "without_abstention"))

    assert len(drawn) == len(LEVELS) * len(DEPTHS) * len(BARS) + 3 * len(LEVELS)


def test_bars_stay_inside_the_picture(summary) -> None:
    picture = draw(summary, "with_abstention")

    width, height = map(float, ElementTree.fromstring(picture).attrib["viewBox"].split()[2:])
    for bar in bars(picture):
        assert 0 <= float(bar.attrib["x"]) <= width - float(bar.attrib["width"])
        assert 0 <= float(bar.attrib["y"]) <= height - float(bar.attrib["height"])


def test_a_category_is_text_whatever_it_holds(summary) -> None:
    categories = {"<script>&": next(iter(summary["categories"].values()))}

    picture = draw({**summary, "categories": categories}, "without_abstention")

    texts = [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert any(text.startswith("<script>& (") for text in texts)


def test_the_picture_loads_nothing_and_knows_the_dark(summary: dict, tmp_path: Path) -> None:
    picture = draw(summary, "without_abstention")

    assert "prefers-color-scheme: dark" in picture
    assert picture.count("http") == 1  # the name of the format
