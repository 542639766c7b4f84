"""Text that talks to the model rather than about the world, and who may teach what.

From a person an order is a request; from a tool, a document or an import it is data and stays
data: it never becomes a preference, a landmark or a fact about those who read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from ...core.records import Trust
from .extracted import (
    Category,
    Certainty,
    Context,
    Landmark,
    LandmarkKind,
    Message,
    Span,
    Statement,
)

ORDERS = re.compile(
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

# What a person may well say, and a tool or a document has no reason to
MEDDLING = re.compile(
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
ABROAD = re.compile(
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

# One of these stands in every such text; most messages hold none and cost next to nothing
HINTS = (
    "instruction", "prompt", "rule", "message", "guideline", "context", "training", "pretend",
    "act as", "you are now", "from now on", "your new", "tell", "inform", "reveal", "assistant",
    "agent", "model", "llm", "memor", "remember", "<|", "inst]", "sys>>", "system", "exfiltrate",
    "password", "secret", "token", "credential", "ai must", "ai should", "ai, ", "ai: ", "data to",
    "conversation to", "key to", "keys to",
)  # fmt: skip
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]")


def instructions(text: str) -> list[Span]:
    """Where a text gives orders to whoever reads it as a prompt."""
    return list(_instructions(text))


@lru_cache(maxsize=4)  # a message is asked about for its facts, and at once again for its label
def _instructions(text: str) -> tuple[Span, ...]:
    small = text.lower()
    if not small.isascii() and UNSEEN.search(small):
        return _unseen(text)
    for hint in HINTS:
        if hint in small:
            return tuple(Span(*match.span()) for match in ORDERS.finditer(text))
    return ()


def _unseen(text: str) -> tuple[Span, ...]:
    """The same in a text with letters nobody sees; one that hides an order is all order."""
    plain = UNSEEN.sub("", text)
    return (Span(0, len(text)),) if instructions(plain) else ()


READERS = frozenset(
    "user users human reader owner operator customer assistant agent you admin".split()
)
FIRST_NAME = re.compile(r"\W*(?:(?:the|this|our|your|my)\s+)?([^\W_]+)", re.IGNORECASE)
PART = re.compile(r"[^\W_]+")
PLEDGES = frozenset({LandmarkKind.COMMITMENT, LandmarkKind.ACTION_ITEM})


@dataclass(frozen=True, slots=True)
class Voice:
    """What a message may teach, by who speaks.

    A person: everything. An agent: what it will do itself, and what is so in the world. A tool
    or a document: what is so in the world, as long as it does not talk to its reader. None of
    them may say what the people here are, want or like.
    """

    speaker: str
    person: bool
    agent: bool
    distant: bool
    readers: frozenset[str]

    @classmethod
    def of(cls, message: Message, context: Context) -> Voice:
        person = message.trust >= Trust.DIRECT
        names = () if person else (*context.participants, message.speaker)
        return cls(
            speaker=message.speaker,
            person=person,
            agent=message.role == "assistant",
            distant=message.trust <= Trust.EXTERNAL,
            readers=READERS.union(*(PART.findall(name.casefold()) for name in names)),
        )

    def context(self, context: Context) -> Context:
        """What the rules may know: of a machine, "we" is not the project."""
        return context if self.person else replace(context, project=None)

    def orders(self, text: str) -> list[Span]:
        """What of a text talks to its reader: nothing is learned from those sentences."""
        found = instructions(text)
        if self.person or self.agent:
            return found
        return found + [Span(*match.span()) for match in MEDDLING.finditer(text)]

    def hostile(self, text: str) -> bool:
        """Whether no person said this, and it commands: then nothing in it is learned."""
        if self.person or self.agent:
            return False
        return bool(instructions(text) or ABROAD.search(UNSEEN.sub("", text)))

    def facts(self, facts: Iterable[Statement]) -> list[Statement]:
        if self.person:
            return list(facts)
        kept = [fact for fact in facts if self._of_the_world(fact)]
        return [_distant(fact) for fact in kept] if self.distant else kept

    def landmarks(self, landmarks: Iterable[Landmark]) -> list[Landmark]:
        if self.person:
            return list(landmarks)
        pledges = [each for each in landmarks if each.kind in PLEDGES and self.agent]
        return [each for each in pledges if each.owner == self.speaker]

    def _of_the_world(self, fact: Statement) -> bool:
        if fact.category is Category.PREFERENCES:
            return False
        return not any(self._is_reader(name) for name in (fact.subject, fact.object) if name)

    def _is_reader(self, name: str) -> bool:
        first = FIRST_NAME.match(name)
        return first is not None and first[1].casefold() in self.readers


def _distant(fact: Statement) -> Statement:
    """What a document or an import says was not said by anybody here."""
    return replace(fact, certainty=Certainty.UNCERTAIN)
