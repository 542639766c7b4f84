"""Answer cache: answers that were paid for and may be needed again.

A worker may lose its lease, or the embedder may be unavailable, after the model has answered. The
next attempt sends the same prompt; it gets the same answer without a second call.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from ...core.ids import digest
from ...core.protocols.models import Completion, Prompt

MAX_ANSWERS = 64


class AnswerCache:
    """The last answers of one model by prompt; shared by the threads of a process."""

    def __init__(self, size: int = MAX_ANSWERS) -> None:
        self._size = size
        self._answers: OrderedDict[str, Completion] = OrderedDict()
        self._lock = Lock()
        self.needs_full_limit = False  # the model also counts its thoughts as output

    def get(self, prompt: Prompt) -> Completion | None:
        """Return the answer to this prompt, or None."""
        with self._lock:
            return self._answers.get(_prompt_key(prompt))

    def put(self, prompt: Prompt, answer: Completion) -> None:
        """Keep an answer; the oldest one is dropped when there are too many."""
        with self._lock:
            self._answers[_prompt_key(prompt)] = answer
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)

    def remove(self, prompt: Prompt) -> None:
        """Drop the answer to this prompt: it cannot be used."""
        with self._lock:
            self._answers.pop(_prompt_key(prompt), None)


def _prompt_key(prompt: Prompt) -> str:
    return digest("prompt", prompt.system, prompt.user)
