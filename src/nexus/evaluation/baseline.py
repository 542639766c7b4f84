"""Has quality fallen? A summary beside one that was kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import InvalidInput
from .files import load_json

HEADLINES = {
    "turn": ("recall@5", "recall@10", "all@10", "ndcg@10", "mrr"),
    "session": ("recall@5", "recall@10", "all@10", "ndcg@10", "mrr"),
}
TOLERANCE = 0.01
ROUNDING = 1e-9  # 0.83 - 0.82 is a little more than 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One headline figure, then and now."""

    level: str
    metric: str
    before: float
    now: float

    @property
    def change(self) -> float:
        return round(self.now - self.before, 4)

    def fell(self, tolerance: float) -> bool:
        return self.before - self.now > tolerance + ROUNDING


def load_baseline(file: Path) -> dict[str, Any]:
    kept = load_json(file)
    if not isinstance(kept, dict) or not {"benchmark", "questions", "settings"} <= kept.keys():
        raise InvalidInput(f"{file} is no baseline; `nexus eval … --save-baseline` writes one")
    return kept


def compare(summary: dict[str, Any], baseline: dict[str, Any], group: str) -> Sequence[Difference]:
    """The headlines of both, if they are about the same questions."""
    for same in ("benchmark", "questions"):
        if summary[same] != baseline[same]:
            raise InvalidInput(
                f"the baseline is about other questions: {same} {_words(baseline[same])}"
                f" there, {_words(summary[same])} here"
            )
    try:
        return [
            Difference(
                level=level,
                metric=metric,
                before=baseline[group][level][metric],
                now=summary[group][level][metric],
            )
            for level, metrics in HEADLINES.items()
            if summary[group][level]["questions"]
            for metric in metrics
        ]
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"the baseline has no {group} figure {error}") from error


def other_settings(summary: dict[str, Any], baseline: dict[str, Any]) -> dict[str, str]:
    """What both were measured with, where it is not the same: `fused, here contextual`."""
    then, now = baseline["settings"], summary["settings"]
    return {
        name: f"{then.get(name)}, here {now[name]}" for name in now if then.get(name) != now[name]
    }


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items())
    return str(value)
