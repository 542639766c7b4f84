"""Write the table of flows and the measured figures into docs/background/who-sees-what.md.

The table is that of `core/flows.py`. The figures are measured now on `bench/flows/test.jsonl`, or
read from `bench/results/continuity.json`. Run it with `python docs/generate_flows.py`.
"""

from __future__ import annotations

import json
import runpy
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

from nexusmem.core.flows import FLOWS, Flow
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.flow_classifier import FlowClassifier
from nexusmem.learn.flows.decide import MessageTopics, decide_topics

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "background" / "who-sees-what.md"
SCRIPT = ROOT / "scripts" / "train_flow_classifier.py"
CONTINUITY = ROOT / "bench" / "results" / "continuity.json"
START = "<!-- {name}: written by docs/generate_flows.py -->"
END = "<!-- end of {name} -->"
HEADER = "| setting | from | to | what |\n|---|---|---|---|"
FIGURES_HEADER = (
    "| test messages with | recognised | missed | wrongly recognised | precision | recall |\n"
    "|---|---|---|---|---|---|"
)
KINDS = {
    "self": "a statement about the speaker that may flow",
    "project": "a statement about the project that may flow",
    "stays": "a reason to stay (confidential or sensitive)",
}
CONTINUITY_PAIRS = {
    "session, same session": "the same session",
    "session → session": "another session with the same agent",
    "DM → DM with another agent": "a DM with another agent",
    "room → sister room with the speaker": "another room of the project, with the speaker",
    "room → sister room without the speaker": "another room of the project, without the speaker",
    "room → room of another project": "a room of another project, with the speaker",
    "DM → room": "told in a DM, asked in a room",
    "DM → other person's DM": "told in a DM, asked in the DM of another person",
}
NOTES = """
- {missed} of {staying} confidential or sensitive messages were not recognised. The default flows
  copied a sentence of {left} of them. With `agents: everything` and `rooms: true` all {missed}
  would have been copied.
- {wrong} of {harmless} harmless messages were kept in their place.
- {staying} messages are few: the true share of recognised ones may be between {low:.2f} and
  {high:.2f} (95 %)."""
Z = 1.96  # of a confidence interval of 95 %


def render_table() -> str:
    """Return the table of flows in Markdown."""
    return "\n".join([HEADER, *map(_render_row, FLOWS)])


def _render_row(flow: Flow) -> str:
    return f"| {_render_setting(flow)} | {flow.source} | {flow.target} | {flow.what} |"


def _render_setting(flow: Flow) -> str:
    if flow.setting is None:
        return flow.default
    values = ", ".join(f"**{value}**" if value == flow.default else value for value in flow.values)
    return f"`{flow.setting}`: {values}"


def render_figures() -> str:
    """Return how well flows decide on the test messages, in Markdown."""
    script = runpy.run_path(str(SCRIPT))
    classifier = FlowClassifier(BuiltinEmbedder().embed)
    pairs = [(each, _decide(classifier, each)) for each in script["read_lines"]("test.jsonl")]
    counts = {kind: Counter(script["judge"](kind, *pair) for pair in pairs) for kind in KINDS}
    staying = [found for message, found in pairs if script["must_stay"](message)]
    left = sum(not each.stays and bool(each.self_text or each.project_text) for each in staying)
    stays = counts["stays"]
    low, high = _interval(stays["hit"], len(staying))
    rows = [_figures_row(KINDS[kind], count) for kind, count in counts.items()]
    notes = NOTES.format(
        missed=stays["missed"],
        staying=len(staying),
        left=left,
        wrong=stays["wrong"],
        harmless=len(pairs) - len(staying),
        low=low,
        high=high,
    )
    return "\n".join([FIGURES_HEADER, *rows, notes])


def _decide(classifier: FlowClassifier, message: dict[str, Any]) -> MessageTopics:
    in_room, project = message["place"] == "room", bool(message["project"])
    return decide_topics(classifier, message["text"], in_room=in_room, project=project)


def _figures_row(name: str, count: Counter[str]) -> str:
    hit, missed, wrong = count["hit"], count["missed"], count["wrong"]
    precision, recall = hit / max(1, hit + wrong), hit / max(1, hit + missed)
    return f"| {name} | {hit} | {missed} | {wrong} | {precision:.2f} | {recall:.2f} |"


def _interval(hits: int, total: int) -> tuple[float, float]:
    """Return the Wilson interval of a share."""
    share, spread = hits / total, Z * Z / total
    middle = (share + spread / 2) / (1 + spread)
    half = Z * sqrt(share * (1 - share) / total + spread / total / 4) / (1 + spread)
    return middle - half, middle + half


def render_continuity() -> str:
    """Return the stored result of `bench/continuity.py`, in Markdown."""
    pairs = json.loads(CONTINUITY.read_text(encoding="utf-8"))["sqlite"]["pairs"]
    rows = [_continuity_row(name, pairs[pair]) for pair, name in CONTINUITY_PAIRS.items()]
    return "\n".join(
        ["| asked in | found | must not be known, but found |", "|---|---|---|", *rows]
    )


def _continuity_row(name: str, result: dict[str, int]) -> str:
    found = f"{result['found']} of {result['of']}" if result["of"] else "–"
    return f"| {name} | {found} | {result['leaked']} |"


PARTS = {
    "flows": render_table,
    "figures": render_figures,
    "continuity": render_continuity,
}


def replace_parts(page: str) -> str:
    """Return the page with current tables; raise ValueError if a marker is missing."""
    for name, render in PARTS.items():
        start, end = START.format(name=name), END.format(name=name)
        before, found, rest = page.partition(start)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"the page needs the markers {start} and {end}")
        page = f"{before}{start}\n\n{render()}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(replace_parts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
