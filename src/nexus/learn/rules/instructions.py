"""Text that talks to the model rather than about the world.

From a person it is a request; from a tool, a document or an import it is data and stays data: it
never becomes a preference, a landmark or a fact.
"""

from __future__ import annotations

import re

from .extracted import Span

ORDERS = re.compile(
    r"""(?ix)
    \b(?: (?:ignore|disregard|forget|override|bypass) \s+ (?:\w+\s+){0,3}?
            (?:previous|prior|above|earlier|all|any|your|system) \s+ (?:\w+\s+){0,3}?
            (?:instructions?|prompts?|rules?|messages?|guidelines?|context|training)
      | (?:you \s+ are \s+ now | from \s+ now \s+ on \s*,? \s+ you | act \s+ as \s+ (?:if|an?|the)
            | pretend \s+ (?:to \s+ be|you) | your \s+ new \s+ (?:role|task|instructions?)
            | new \s+ (?:system \s+)?instructions? \s* :)
      | (?:do \s+ not|don't|never) \s+ (?:tell|inform|reveal|mention|show) \s+ (?:\w+\s+){0,3}?
            (?:user|human|anyone|anybody|operator)
      | (?:reveal|print|show|repeat|output|leak) \s+ (?:\w+\s+){0,2}? (?:system \s+)? prompt
      | (?:assistant|ai|model|agent|llm) \s* (?:,|:)? \s+ (?:must|should|shall|will) \s+ (?:now\s+)?
            (?:always|never|immediately|only|obey|send|delete|execute|run|call|reply|respond|say
            |write|save|remember)
      | (?:remember|save|store|memorize) \s+ (?:this|that|the \s+ following) \s+ (?:\w+\s+){0,3}?
            (?:as|in|to|for) \s+ (?:\w+\s+){0,3}? (?:memory|preference|instruction|fact|rule)
      | (?:send|post|upload|forward|exfiltrate|e-?mail) \s+ (?:\w+\s+){0,5}?
            (?:password|secret|token|key|credential|conversation|memory|memories|data)s? \s+
            (?:\w+\s+){0,3}?to\b
    )
    | <\|(?:im_start|im_end|system|endoftext)\|> | \[/?INST\] | <</?SYS>>
    | ^\s*(?:system|assistant)\s*:
    """,
    re.MULTILINE,
)


# One of these stands in every such text; most messages hold none and cost next to nothing
HINTS = (
    "instruction", "prompt", "rule", "message", "guideline", "context", "training", "pretend",
    "act as", "you are now", "from now on", "your new", "tell", "inform", "reveal", "assistant",
    "agent", "model", "llm", "memor", "remember", "<|", "inst]", "sys>>", "system", "exfiltrate",
    "password", "secret", "token", "credential", "ai must", "ai should", "ai, ", "ai: ", "data to",
    "conversation to", "key to", "keys to",
)  # fmt: skip


def instructions(text: str) -> list[Span]:
    """Where a text gives orders to whoever reads it as a prompt."""
    small = text.lower()
    if not any(hint in small for hint in HINTS):
        return []
    return [Span(*match.span()) for match in ORDERS.finditer(text)]
