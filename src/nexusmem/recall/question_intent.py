"""Question intent: whether a question asks about one name, a connection, or a list, by rules.

Only English is recognized. A question without an intent is answered by the ranking alone. Each
pattern begins with a literal word, so that a long question is read once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from .list_topics import find_topic
from .question_analysis import MAX_READ_CHARACTERS


class Intent(StrEnum):
    """What a question asks for, apart from a single message."""

    OVERVIEW = "overview"  # everything about one person or thing
    CONNECTION = "connection"  # how two of them are connected
    LIST = "list"  # several values, or the same of several people
    NONE = "none"


@dataclass(frozen=True, slots=True)
class QuestionIntent:
    """The intent of a question and the words that tell what it is about."""

    intent: Intent
    subject: str = ""  # text that contains the names: the question without the words of the intent
    noun: str = ""  # of a list: what is listed, such as "sports"; lower case, as written


NO_INTENT = QuestionIntent(Intent.NONE)

POLITE = (
    r"(?:(?:so|and|ok|okay|hey|please)[, ]+)*(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
)
OVERVIEW_PATTERN = re.compile(
    rf"""^\s*{POLITE}(?:
        (?:tell|remind)\s+(?:me|us)\s+(?:(?:everything|all|anything|more|something|a\s+bit)\s+)?
            (?:(?:that\s+)?(?:you|we)\s+(?:know|have)\s+)?(?:about|of)
      | what\s+(?:else\s+)?(?:do|can|could)\s+(?:you|we|i)\s+(?:know|tell\s+(?:me|us)|say|have)
            \s+(?:about|on)
      | (?:is\s+there\s+|do\s+(?:you|we)\s+(?:know|have)\s+)?(?:anything|everything|something|info
            |information|details|facts|notes)\s+(?:(?:that\s+)?(?:you|we)\s+(?:know|have)\s+)?
            (?:about|on)
      | (?:give|show)\s+(?:me|us)\s+(?:an?\s+)?(?:overview|summary|profile|everything|all)
            \s+(?:of|about|on)
      | describe | summari[sz]e
      | who(?:\s+(?:is|was|are|were)|['’]?s)
      )\s+(?P<subject>\S[^?!]*)[?!.\s]*$""",
    re.IGNORECASE | re.VERBOSE,
)
LINKED = r"(?:connected|related|linked|associated|tied|acquainted)"
LINK = r"(?:connections?|relations?|relationships?|links?|ties|tie)"
CONNECTION_PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bhow(?:['’]s|\s+(?:is|are|was|were))\s(?P<subject>.+?)\s{LINKED}\b(?P<rest>.*)",
        rf"\bwhat(?:['’]s|\s+(?:is|was|are|were))\s(?:the|their)?\s*{LINK}\s+(?P<subject>.+)",
        rf"\b(?:is|are)\s+there\s+(?:an?|any)\s+{LINK}\s+(?P<subject>.+)",
        rf"\b(?:find|show|explain|describe)\s+(?:me\s+)?(?:the|any|an?)\s+{LINK}\s+(?P<subject>.+)",
        r"\bwhat\s+(?:connects|links|relates|ties)\s(?P<subject>.+)",
        r"\bhow\s+(?:do|does|did)\s(?P<subject>.+?)\sknow\s(?P<rest>.+)",
        r"\bwhat\s+(?:does|do|has|have)\s(?P<subject>.+?)\s(?:have\s+)?to\s+do\s+with\s(?P<rest>.+)",
    )
]
# Nouns after "which" and "what" that end in "s" but are no plurals.
SINGULAR_NOUNS = frozenset(
    """was is does has this bus class news status address business address process access glass
    boss series species means progress success illness basis focus bonus campus virus gas
    dress""".split()
)
KIND = r"(?:(?:kinds?|types?|sorts?)\s+of\s+)?"
LIST_NOUN_PATTERN = re.compile(
    rf"\b(?:which|what|how\s+many|list|name|all(?:\s+of)?)\s+(?:are\s+)?(?:(?:all|the|every|other"
    rf"|different|of)\s+)*(?P<kind>{KIND})(?P<words>(?:[\w'’&/-]+\s+){{0,2}}?)"
    r"(?P<noun>[a-z]{2,}s|people|children|music|food|art)\b",
    re.IGNORECASE,
)
COMPARISON_PATTERN = re.compile(
    r"\b(?:in\s+common|both|each|compare[ds]?|comparison|difference\s+between|differ(?:s|ent)?"
    r"|versus|vs|share[sd]?|alike|similar(?:ities)?|respectively|mutual)\b",
    re.IGNORECASE,
)


# One time, place, reason or way is asked for: no list, whatever else the question names.
SINGLE_PATTERN = re.compile(r"^\W*(?:when|where|why|how(?!\s+many))\b", re.IGNORECASE)
SEVERAL_PATTERN = re.compile(r"\b(?:and|or|versus|vs)\b|[,&]", re.IGNORECASE)


def find_intent(question: str) -> QuestionIntent:
    """Return the intent of a question; NO_INTENT if no rule recognizes one."""
    text = question[:MAX_READ_CHARACTERS]
    for pattern in CONNECTION_PATTERNS:
        if match := pattern.search(text):
            rest = match.groupdict().get("rest") or ""
            return QuestionIntent(Intent.CONNECTION, f"{match['subject']} , {rest}")
    if match := OVERVIEW_PATTERN.match(text):
        return QuestionIntent(Intent.OVERVIEW, match["subject"].strip(" .,"))
    if SINGLE_PATTERN.match(text):
        return NO_INTENT
    noun = next((each for each in LIST_NOUN_PATTERN.finditer(text) if _is_plural(each)), None)
    listed = noun["noun"].casefold() if noun else ""
    is_of_several = SEVERAL_PATTERN.search(text) is not None
    if find_topic(listed) or (is_of_several and (noun or COMPARISON_PATTERN.search(text))):
        return QuestionIntent(Intent.LIST, text, listed)
    return NO_INTENT


def _is_plural(match: re.Match[str]) -> bool:
    return match["noun"].casefold() not in SINGULAR_NOUNS and not match["noun"].endswith("ss")
