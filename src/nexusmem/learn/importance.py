"""Importance: the base value (salience) of passages, facts and landmarks, from their content.

| salience | content |
|---|---|
| 0.9 | health and diet, identity, contact data, decisions; commitments with a date |
| 0.8 | family, work, home, money, deadlines, reference numbers, commitments |
| 0.65 | preferences and wishes |
| 0.5 | everything else |
| 0.2 | small talk: "ok sounds good", "thanks", "lol" |

`core.strength` adds use, recency and length. With the default settings, what has 0.65 or more is
promoted when its session ends, even if it is never used. The words are English; a text in another
language has 0.5. Each text is read once: sets of words, and patterns with bounded repetition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..core.records import Draft, MemoryKind
from ..core.records.facts import SURE_CONFIDENCE
from ..core.records.landmarks import LandmarkKind
from ..core.strength import DEFAULT_SALIENCE
from ..text.terms import STOP_WORDS

VITAL, HIGH, USEFUL, SMALL_TALK = 0.9, 0.8, 0.65, 0.2

MAX_READ_CHARS = 20_000  # of one text
MAX_SMALL_TALK_WORDS = 12
RATED_SOURCES = frozenset({"message", "note"})  # passages of documents have the default

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
SENTENCE_END = re.compile(r"(?<=[.!?\n])\s+")

SMALL_TALK_WORDS = frozenset(
    """hi hello hey hiya yo thanks thank thx ty cheers ok okay kk k yes yep yup yeah ya no nope nah
    sure great nice cool good fine perfect awesome excellent wonderful lovely sweet amazing super
    morning afternoon evening night day bye goodbye later soon lol lmao haha hahaha hehe ha wow oh
    ah hmm hm um uh welcome worries problem sounds sound got gotcha it alright right agreed exactly
    absolutely definitely totally indeed np pleasure congrats congratulations enjoy luck weekend
    much lot very so well there everyone all again please sorry that's it's i'm you're let's see ya
    danke merci gracias bitte ciao tschüss hallo""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceTopic:
    """Words that make a text important.

    A text has the topic if it has one of `words`, and one of `needs` if there are any, and if
    `pattern` matches; an empty part is not tested. `only_people`: not in the words of an agent.
    """

    name: str
    salience: float
    words: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None
    only_people: bool = False

    def matches(self, text: str, words: frozenset[str]) -> bool:
        """Return whether a case-folded text with these words has the topic."""
        return (
            (not self.words or not self.words.isdisjoint(words))
            and (not self.needs or not self.needs.isdisjoint(words))
            and (self.pattern is None or self.pattern.search(text) is not None)
        )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TOPICS = (
    ImportanceTopic(
        name="health",
        salience=VITAL,
        only_people=True,
        words=_words(
            """allergic allergy allergies anaphylaxis anaphylactic epipen intolerant intolerance
            celiac coeliac gluten lactose diabetic diabetes insulin asthma asthmatic inhaler
            epilepsy epileptic seizure seizures migraine migraines medication medications
            prescription diagnosed diagnosis surgery pregnant pregnancy chemotherapy cancer
            hypertension pacemaker dialysis penicillin antibiotics disability wheelchair
            vegetarian vegan kosher halal"""
        ),
    ),
    ImportanceTopic(
        name="identity",
        salience=VITAL,
        only_people=True,
        pattern=re.compile(
            r"\b(?:my (?:\w{1,12} )?name is|my name's|i was born|born on|(?<!happy )birthday"
            r"|date of birth|maiden name|passport|nationality)\b"
            r"|\b(?:please|just|can|you) call me (?!later|back|when|at|on|if|in|a|tomorrow|tonight)"
        ),
    ),
    ImportanceTopic(
        name="contact",
        salience=VITAL,
        only_people=True,
        words=_words("phone mobile cell number tel call reach text whatsapp fax"),
        pattern=re.compile(r"(?<!\d)\+?\d[\d ().-]{5,20}\d"),
    ),
    ImportanceTopic(
        name="family",
        salience=HIGH,
        only_people=True,
        needs=_words("my our"),
        words=_words(
            """wife husband spouse partner girlfriend boyfriend fiancé fiancée fiance fiancee son
            sons daughter daughters kid kids child children baby twins mom mum mother dad father
            parents brother brothers sister sisters grandma grandpa grandmother grandfather
            grandson granddaughter uncle aunt cousin nephew niece married divorced"""
        ),
    ),
    ImportanceTopic(
        name="work and home",
        salience=HIGH,
        only_people=True,
        pattern=re.compile(
            r"\bi(?: now| currently)? (?:work|live|study) (?:at|for|as|in|on)\b"
            r"|\bi (?:moved|am moving|'m moving) to\b|\bmy (?:new )?(?:job|employer|address)\b"
        ),
    ),
    ImportanceTopic(
        name="decision",
        salience=VITAL,
        words=_words("decided decision agreed approved chose settled"),
        needs=_words("we i let's team our the they"),
    ),
    ImportanceTopic(
        name="money",
        salience=HIGH,
        pattern=re.compile(
            r"[$€£¥] ?\d|\d ?(?:[$€£¥]|usd|eur|gbp|dollars?|euros?|pounds?)\b"
            r"|\b(?:salary|mortgage|invoice|budget|loan|rent|deposit|refund|payment)s?\b"
            r"[^\n]{0,60}\d"
        ),
    ),
    ImportanceTopic(
        name="deadline",
        salience=HIGH,
        pattern=re.compile(
            r"\b(?:deadline|due (?:on|by|date|in|tomorrow|today|next)|no later than|overdue"
            r"|appointment|by (?:mon|tues|wednes|thurs|fri|satur|sun)day|by tomorrow|by tonight"
            r"|by next|by the end of|by \d)\b"
        ),
    ),
    ImportanceTopic(
        name="commitment",
        salience=HIGH,
        words=_words("promise promised commit committed"),
        needs=_words("i we i'll we'll i've we've"),
    ),
    ImportanceTopic(
        name="reference number",
        salience=HIGH,
        pattern=re.compile(
            r"\b(?:reference|booking|confirmation|order|invoice|ticket|policy|case|account|contract"
            r"|tracking|reservation|serial|membership|customer)"
            r"(?: (?:number|no\.?|id|code|reference|is|was)|[ :#]){1,4} ?"
            r"(?:[a-z]{1,6}-?\d[\w-]{1,30}|\d[\w-]{3,30})"
        ),
    ),
    ImportanceTopic(
        name="preference",
        salience=USEFUL,
        only_people=True,
        pattern=re.compile(
            r"\b(?:i|we) (?:really |always |usually |do |don't |never )?"
            r"(?:prefer|like|love|hate|dislike|enjoy)\b(?! (?:it|that|this|you|to)\b)"
            r"|\bfavou?rite\b|\b(?:please|from now on),? (?:always|never)\b"
        ),
    ),
)

VITAL_PREDICATES = _words(
    """ALLERGIC_TO HAS_CONDITION TAKES_MEDICATION NAMED BORN_ON BORN_IN AGE HAS_EMAIL HAS_PHONE
    HAS_HANDLE SPOUSE_OF SIBLING_OF PARENT_OF CHILD_OF RELATIVE_OF"""
)
HIGH_PREDICATES = _words(
    """WORKS_AT WORKS_AS REPORTS_TO LIVES_IN MOVED_TO MOVING_TO FROM DATING HAS_PET HAS_COMPENSATION
    HAS_BUDGET HAS_ACCOUNT_NUMBER HAS_ROUTING_NUMBER COSTS PAID OWES SCHEDULED_FOR STARTS_ON
    ENDS_ON OCCURS_ON ANNIVERSARY_ON CHOSE SWITCHED_TO"""
)
USEFUL_PREDICATES = _words("PREFERS LIKES DISLIKES LOVES HATES SPEAKS EXPERT_IN SKILLED_IN")
SALIENCE_BY_CATEGORY = {"financial": HIGH, "temporal": HIGH, "preferences": USEFUL}


def set_salience(drafts: Iterable[Draft]) -> list[Draft]:
    """Return the drafts; passages, facts and landmarks have the salience of their content."""
    return [_with_salience(draft) for draft in drafts]


def _with_salience(draft: Draft) -> Draft:
    salience = rate_importance(draft)
    return draft if salience == draft.salience else replace(draft, salience=salience)


def rate_importance(draft: Draft) -> float:
    """Return the salience of a draft from 0 to 1; drafts of other kinds keep theirs."""
    if draft.kind is MemoryKind.FACT:
        return _rate_fact(draft)
    if draft.kind is MemoryKind.LANDMARK:
        return _rate_landmark(draft)
    if draft.kind is MemoryKind.PASSAGE and draft.source in RATED_SOURCES:
        return rate_text(draft.text, by_person=draft.role == "user")
    return draft.salience


def rate_text(text: str, *, by_person: bool = True) -> float:
    """Return the salience of a text; questions in it do not count.

    An agent's words about health, family or taste are not important: only people know these.
    """
    sentences = SENTENCE_END.split(text[:MAX_READ_CHARS])
    told = " ".join(each for each in sentences if not each.endswith("?")).casefold()
    told = told.replace("’", "'")
    words = WORD.findall(told)
    if _is_small_talk(words, told):
        has_question = any(each.endswith("?") for each in sentences)
        return DEFAULT_SALIENCE if has_question else SMALL_TALK
    distinct = frozenset(words)
    found = [
        topic.salience
        for topic in TOPICS
        if (by_person or not topic.only_people) and topic.matches(told, distinct)
    ]
    if by_person and _has_address(told):
        found.append(VITAL)
    return max(found, default=DEFAULT_SALIENCE)


def _is_small_talk(words: Sequence[str], text: str) -> bool:
    """Return whether a short text has only words of small talk, or no words at all."""
    if len(words) > MAX_SMALL_TALK_WORDS or any(map(str.isdigit, text)):
        return False
    is_chat = [word in SMALL_TALK_WORDS for word in words]
    rest = (word for word, chat in zip(words, is_chat, strict=True) if not chat)
    return (any(is_chat) or not words) and all(word in STOP_WORDS for word in rest)


def _has_address(text: str) -> bool:
    """Return whether a text has an e-mail address."""
    if "@" not in text:
        return False
    parts = (word.partition("@") for word in text.split())
    return any(name and "." in host.strip(".,;:!)") for name, _, host in parts)


def _rate_fact(draft: Draft) -> float:
    """Return the salience of a fact: by its predicate, its category, or else its text.

    A derived fact that is not sure is not important, but the message it was read from may be.
    """
    body = draft.body
    if draft.learned and draft.confidence < SURE_CONFIDENCE:
        return DEFAULT_SALIENCE
    predicate = str(body.get("predicate", "")).upper()
    if predicate in VITAL_PREDICATES:
        rated = VITAL
    elif predicate in HIGH_PREDICATES:
        rated = HIGH
    elif predicate in USEFUL_PREDICATES:
        rated = USEFUL
    else:
        by_category = SALIENCE_BY_CATEGORY.get(str(body.get("category")), DEFAULT_SALIENCE)
        rated = max(by_category, rate_text(draft.text))
    return min(rated, USEFUL) if body.get("tense") == "past" else rated


def _rate_landmark(draft: Draft) -> float:
    """Return the salience of a landmark: VITAL for decisions, dated tasks and vital content."""
    if draft.body.get("due") or rate_text(draft.text) == VITAL:
        return VITAL
    return VITAL if draft.body.get("kind") == LandmarkKind.DECISION else HIGH
