"""Prompt-injection rules: text addressed to the model, and what each type of speaker may teach.

An order of a person is a request. An order in a tool result, document or import is data. It never
becomes a preference, a landmark or a fact about its readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from ...core.records import Trust
from ...core.records.landmarks import LANDMARK_TYPES
from .results import (
    Category,
    Certainty,
    Landmark,
    MessageContext,
    SourceMessage,
    Statement,
    TextSpan,
)

INSTRUCTION_PATTERN = re.compile(
    r"""(?ix)
    \b(?: (?:ignore|disregard|forget|override|bypass) \s+ (?:\w+\s+){0,3}?
            (?:previous|prior|above|earlier|all|any|your|system) \s+ (?:\w+\s+){0,3}?
            (?:instructions?|prompts?|rules?|messages?|guidelines?|context|training)
      | (?:you \s+ are \s+ now \s+ (?:an?|the|in|my|going|(?-i:[A-Z]{2,}))\b
            | from \s+ now \s+ on \s*,? \s+ you
            | (?<!will\ )(?<!to\ )(?<!can\ )(?<!could\ )(?<!would\ ) act \s+ as \s+ (?:if|an?|the)
            | pretend \s+ (?:to \s+ be|you)
            | your \s+ new \s+ (?:(?:role|task) \s* (?:is|:) | instructions?)
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

# Phrases that a person may use, and a tool or a document has no reason to
TOOL_INSTRUCTION_PATTERN = re.compile(
    r"""(?ix)
    \b(?: (?:remember|note|memorize|keep \s+ in \s+ mind|don't \s+ forget) \s+ (?:that|this|to)
      | (?:save|add|write|commit|store|put|insert) \s+ (?:\w+\s+){0,5}? (?:to|in|into) \s+
            (?:\w+\s+){0,2}? (?:memory|memories|profile)
      | (?:update|change|overwrite|replace|delete|erase|clear|wipe) \s+ (?:\w+\s+){0,3}?
            (?:memory|memories|profile|preferences?)
      | (?:the|this|our|your|current) \s+ (?:user|human|customer|reader|owner|operator)s?(?:'s|’s)?
            \s+ (?:\w+\s+){0,2}? (?:prefers?|wants?|likes?|hates?|loves?|needs?|asked|said|requested
            |is|has|decided|agreed|confirmed|authorized|approved|favou?rite|name|preference)
      | (?:when|whenever|if|once) \s+ (?:the \s+ (?:user|human)|asked|you \s+ (?:see|read|are))
      | (?:always|never|must|immediately|silently|secretly) \s+ (?:\w+\s+){0,2}?
            (?:answer|reply|respond|recommend|use|call|run|execute|include|send|say|tell|trust
            |follow|obey|approve|buy|transfer|forward|visit|click|open|install|download)
      | you \s+ (?:must|should|shall|need \s+ to|have \s+ to|are \s+ (?:required|instructed))
      | (?:user|system|admin|developer|memory) \s+
            (?:preferences?|instructions?|overrides?|messages?|prompts?|updates?|notes?) \s* [:=]
    )
    | ^\W{0,6}(?:memory|instructions?|prompt|developer|admin|human|user|tool_call|function_call)
            \s*[:=]
    | </?(?:system|assistant|user|human|memory|memories|instructions?|tool_call|function_calls?)\b
    | "(?:role|tool_calls?|function_call)"\s*:
    | \#{2,}\s*(?:system|instructions?|new\s+task|response)\b
    """,
    re.MULTILINE,
)
FOREIGN_INSTRUCTION_PATTERN = re.compile(
    r"""(?ix)
    \b(?:ignor(?!ed|ing|es\b|an)|vergiss|missachte|oubli|olvid|esquec|esqueç|dimentic|negeer|vergeet|zignoruj|zapomnij
        |bortse|glöm|unohda|yoksay|yok\ say|игнорир|забудь) [^.!?\n]{0,60}?
        (?:anweisung|instru(?:c[ct]|ç|k)|istruz|polece|talimat|ohje|инструкци|указани|regel|règle|regla)
    | (?:忽略|无视|無視|忘记|忘掉) [^。！？\n]{0,20} (?:指令|指示|提示|说明|規則|规则)
    | (?:指示|命令|プロンプト) [^。！？\n]{0,10} (?:無視|忘れ)
    | (?:지시|명령|프롬프트) [^.!?\n]{0,12} (?:무시|잊)
    | تجاهل [^.!؟\n]{0,30} (?:التعليمات|الأوامر|تعليمات)
    | (?:निर्देश|आदेश) [^।!?\n]{0,30} (?:अनदेखा|भूल|नज़रअंदाज़)
    """
)

# One of these occurs in every such text. Most messages contain none and cost almost nothing.
INSTRUCTION_HINTS = (
    "instruction", "prompt", "rule", "message", "guideline", "context", "training", "pretend",
    "act as", "you are now", "from now on", "your new", "tell", "inform", "reveal", "assistant",
    "agent", "model", "llm", "memor", "remember", "<|", "inst]", "sys>>", "system", "exfiltrate",
    "password", "secret", "token", "credential", "ai must", "ai should", "ai, ", "ai: ", "data to",
    "conversation to", "key to", "keys to",
)  # fmt: skip
INVISIBLE_CHARACTERS = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]")


def find_instructions(text: str) -> list[TextSpan]:
    """Return the positions where a text gives orders to the model that reads it."""
    return list(_search_instructions(text))


@lru_cache(maxsize=4)  # a message is checked for facts and then again for its label
def _search_instructions(text: str) -> tuple[TextSpan, ...]:
    small = text.lower()
    if not small.isascii() and INVISIBLE_CHARACTERS.search(small):
        return _find_hidden_instructions(text)
    for hint in INSTRUCTION_HINTS:
        if hint in small:
            return tuple(TextSpan(*match.span()) for match in INSTRUCTION_PATTERN.finditer(text))
    return ()


def _find_hidden_instructions(text: str) -> tuple[TextSpan, ...]:
    """Return the same for text with invisible characters. Text that hides an order is
    entirely suspect.
    """
    plain = INVISIBLE_CHARACTERS.sub("", text)
    return (TextSpan(0, len(text)),) if find_instructions(plain) else ()


READER_WORDS = frozenset(
    "user users human reader owner operator customer assistant agent you admin".split()
)
FIRST_NAME = re.compile(r"\W*(?:(?:the|this|our|your|my)\s+)?([^\W_]+)", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+")
PLEDGE_KINDS = frozenset(kind for kind, type in LANDMARK_TYPES.items() if type.is_pledge)


@dataclass(frozen=True, slots=True)
class SpeakerPolicy:
    """What a message may teach, by its speaker.

    A person may teach everything. An agent may teach its own plans and facts about the world. A
    tool or document may teach facts about the world if it contains no order. Neither may state
    traits, wishes or preferences of people.
    """

    speaker: str
    is_person: bool
    is_agent: bool
    is_external: bool
    readers: frozenset[str]

    @classmethod
    def for_message(cls, message: SourceMessage, context: MessageContext) -> SpeakerPolicy:
        person = message.trust >= Trust.DIRECT
        names = () if person else (*context.participants, message.speaker)
        return cls(
            speaker=message.speaker,
            is_person=person,
            is_agent=message.role == "assistant",
            is_external=message.trust <= Trust.EXTERNAL,
            readers=READER_WORDS.union(*(WORD.findall(name.casefold()) for name in names)),
        )

    def restrict_context(self, context: MessageContext) -> MessageContext:
        """Return the context for the rules. For a machine, "we" is not the project."""
        return context if self.is_person else replace(context, project=None)

    def instruction_spans(self, text: str) -> list[TextSpan]:
        """Return the spans addressed to the reader. Nothing is learned from their sentences."""
        found = find_instructions(text)
        if self.is_person or self.is_agent:
            return found
        return found + [
            TextSpan(*match.span()) for match in TOOL_INSTRUCTION_PATTERN.finditer(text)
        ]

    def is_hostile(self, text: str) -> bool:
        """Return whether a machine wrote it and it gives orders. Nothing in it is learned."""
        if self.is_person or self.is_agent:
            return False
        return bool(
            find_instructions(text)
            or FOREIGN_INSTRUCTION_PATTERN.search(INVISIBLE_CHARACTERS.sub("", text))
        )

    def filter_facts(self, facts: Iterable[Statement]) -> list[Statement]:
        if self.is_person:
            return list(facts)
        kept = [fact for fact in facts if self._is_world_fact(fact)]
        return [_as_uncertain(fact) for fact in kept] if self.is_external else kept

    def filter_landmarks(self, landmarks: Iterable[Landmark]) -> list[Landmark]:
        if self.is_person:
            return list(landmarks)
        pledges = [each for each in landmarks if each.kind in PLEDGE_KINDS and self.is_agent]
        return [each for each in pledges if each.owner == self.speaker]

    def _is_world_fact(self, fact: Statement) -> bool:
        if fact.category is Category.PREFERENCES:
            return False
        return not any(self._is_reader(name) for name in (fact.subject, fact.object) if name)

    def _is_reader(self, name: str) -> bool:
        first = FIRST_NAME.match(name)
        return first is not None and first[1].casefold() in self.readers


def _as_uncertain(fact: Statement) -> Statement:
    """Lower the certainty of statements from documents and imports."""
    return replace(fact, certainty=Certainty.UNCERTAIN)
