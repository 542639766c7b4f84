"""An episode told by a language model, and kept only if it says what was said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...core.canonical import time_text
from ...core.errors import BadOutput, NexusError
from ...core.ids import WorkspaceId, digest
from ...core.models import LanguageModel
from ...core.secrets import redacted
from ...core.visible import visible
from ...prompts import Template
from ..spending import LEARN, Spending
from .checking import faults

LONGEST_TURN = 600  # characters of a message a model is shown
MOST_CHARACTERS = 40_000  # of all of them together
CORRECTION = "Your last answer could not be kept: it {why}. Answer again."
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"sentences": {"type": "array", "items": {"type": "string"}}},
    "required": ["sentences"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Said:
    """One turn, or one line of an episode, as a model is shown it."""

    at: datetime
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Narrated:
    """The sentences of a model, or why there are none."""

    sentences: tuple[str, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Narrator:
    """Asks a model for episodes, on account of the workspace they belong to."""

    model: LanguageModel
    name: str  # of the model, in the settings
    prompt: Template
    spending: Spending

    @property
    def maker(self) -> str:
        return f"{self.prompt.name}@{self.prompt.version}:{self.prompt.hash}"

    def narrate(
        self, workspace: WorkspaceId, span: str, said: Sequence[Said], keep: Sequence[str]
    ) -> Narrated:
        """What the model tells of it. No transaction may be open.

        What drops a landmark, or invents a name or a number, is asked for once more with what
        was wrong, and then refused; so is everything if nobody answers or no money is left.
        """
        turns = [_shown(each) for each in said]
        asked = _asked(span, turns, keep)
        correction = ""
        for _ in range(2):
            try:
                sentences = self._ask(workspace, asked, correction)
            except BadOutput as error:
                wrong = [f"is unusable ({error})"]
            except NexusError as error:
                return Narrated(refused=str(error))
            else:
                wrong = faults(sentences, [*_grounds(turns), *keep], keep)
                if not wrong:
                    return Narrated(sentences)
            correction = CORRECTION.format(why="; it ".join(wrong))
        return Narrated(refused="; ".join(wrong)[:500])

    def _ask(self, workspace: WorkspaceId, asked: str, correction: str) -> tuple[str, ...]:
        model = self.spending.on_account(self.model, self.name, LEARN)(workspace)
        prompt = self.prompt.render(asked=asked, correction=correction)
        answer = model.complete(prompt, schema=ANSWER).data["sentences"]
        clean = (" ".join(redacted(each).split()) for each in answer)
        return tuple(each for each in clean if each)


def _shown(said: Said) -> dict[str, str]:
    return {
        "speaker": said.speaker[:100],
        "at": time_text(said.at),
        "text": visible(redacted(said.text))[:LONGEST_TURN],
    }


def _asked(span: str, turns: Sequence[dict[str, str]], keep: Sequence[str]) -> str:
    """Everything as JSON between marks, which no text inside can know or leave."""
    room = MOST_CHARACTERS
    shown = []
    for turn in turns:
        room -= len(turn["text"])
        if room < 0:
            break
        shown.append(turn)
    content = json.dumps({"span": span, "turns": shown, "keep": list(keep)}, ensure_ascii=False)
    mark = digest("episode", content)[:16]
    return f"<<<conversation {mark}\n{content}\nconversation {mark}>>>"


def _grounds(turns: Sequence[dict[str, str]]) -> list[str]:
    """What names and numbers may be taken from; the day of a turn counts, its hour does not."""
    days = dict.fromkeys(turn["at"][:10] for turn in turns)
    return [*(f"{turn['speaker']}: {turn['text']}" for turn in turns), *days]
