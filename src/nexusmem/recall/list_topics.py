"""List topics: which facts and which words answer "which sports", "what pets" or "how many kids".

A topic has the predicates of its facts and, where one can enumerate them, the words of its kind:
"I went kayaking" names a sport without the word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..core.records import Memory
from ..text.terms import extract_terms

NO_WORDS: frozenset[str] = frozenset()
# Per line: nouns | predicates | vocabulary of the values
TOPICS = """
    sports games exercises workouts | PLAYS DOES TRAINS PRACTICES MEMBER_OF | sports
    hobbies activities pastimes interests | PLAYS DOES PRACTICES LEARNING INTERESTED_IN LIKES ENJOYS LOVES MEMBER_OF | hobbies
    instruments | PLAYS LEARNING OWNS | instruments
    pets animals dogs cats | HAS_PET OWNS | pets
    languages | SPEAKS LEARNING STUDIES | languages
    foods food dishes meals snacks drinks fruits vegetables | LIKES LOVES EATS DRINKS PREFERS DISLIKES HATES HAS_DIET ALLERGIC_TO | foods
    allergies | ALLERGIC_TO |
    likes preferences favorites favourites tastes things | LIKES LOVES PREFERS ENJOYS INTERESTED_IN |
    dislikes | DISLIKES HATES |
    music bands artists musicians songs albums concerts | LIKES LOVES LISTENS_TO ATTENDED PLAYS |
    books authors novels movies films shows series | READS READ LIKES LOVES WATCHES WATCHED |
    cities countries places towns states trips destinations areas regions | VISITED LIVES_IN MOVED_TO TRAVELING_TO MOVING_TO FROM BORN_IN GREW_UP_IN WORKS_IN |
    jobs roles positions careers companies employers employments | WORKS_AT WORKS_AS HAS_ROLE WORKING_ON LEFT QUIT MANAGES LEADS |
    projects tasks responsibilities duties | WORKING_ON RESPONSIBLE_FOR MANAGES LEADS |
    tools languages frameworks libraries technologies databases services apps | USES SKILLED_IN SWITCHED_TO CHOSE |
    skills | SKILLED_IN SPEAKS PLAYS LEARNING |
    clubs teams groups organizations organisations communities | MEMBER_OF JOINED VOLUNTEERS_AT |
    children kids siblings brothers sisters relatives parents cousins | PARENT_OF CHILD_OF SIBLING_OF SPOUSE_OF RELATIVE_OF EXPECTING | family
    friends colleagues coworkers people neighbours neighbors contacts | FRIEND_OF KNOWS COLLEAGUE_OF NEIGHBOR_OF MANAGES REPORTS_TO SIBLING_OF SPOUSE_OF PARENT_OF |
    courses subjects classes degrees lessons schools universities | STUDIES STUDIES_AT LEARNING GRADUATED_FROM ATTENDED |
    cars vehicles bikes devices instruments items | OWNS BOUGHT DRIVES USES |
    medications medicines pills | TAKES_MEDICATION |
    conditions illnesses symptoms | HAS_CONDITION ALLERGIC_TO |
    events appointments deadlines dates birthdays | SCHEDULED_FOR DUE_ON BORN_ON OCCURS_ON ATTENDED ANNIVERSARY_ON HAS_SCHEDULE |
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class ListTopic:
    """A kind of thing that a question lists."""

    predicates: frozenset[str]
    terms: frozenset[str] = NO_WORDS  # stemmed words of its kind

    def fits(self, fact: Memory) -> bool:
        """Return whether a fact states a value of this kind."""
        if str(fact.body.get("predicate", "")).upper() in self.predicates:
            return True
        value = fact.body.get("object") or fact.body.get("value")
        return isinstance(value, str) and not self.terms.isdisjoint(extract_terms(value))


def find_topic(noun: str) -> ListTopic | None:
    """Return the topic of a noun such as "sports"; None if it is not known."""
    return _topics().get(noun)


@lru_cache(maxsize=1)
def _topics() -> dict[str, ListTopic]:
    topics: dict[str, ListTopic] = {}
    vocabularies = _vocabularies()
    for line in TOPICS.strip().splitlines():
        nouns, predicates, vocabulary = (part.strip() for part in line.split("|"))
        terms = vocabularies[vocabulary] if vocabulary else NO_WORDS
        for noun in nouns.split():
            known = topics.get(noun, ListTopic(frozenset()))
            topics[noun] = ListTopic(
                known.predicates | frozenset(predicates.split()), known.terms | terms
            )
    return topics


def _vocabularies() -> dict[str, frozenset[str]]:
    from ..learn.rules import lexicon, vocabulary  # large word lists, read with the first list

    words = {
        "sports": vocabulary.SPORTS | vocabulary.HOBBIES - NOT_SPORTS,
        "hobbies": vocabulary.SPORTS | vocabulary.HOBBIES,
        "instruments": vocabulary.INSTRUMENTS,
        "pets": lexicon.PETS,
        "languages": lexicon.LANGUAGES,
        "foods": vocabulary.FOODS,
        "family": frozenset(lexicon.KIN),
    }
    return {
        name: frozenset(term for word in own - AMBIGUOUS for term in extract_terms(word))
        for name, own in words.items()
    }


NOT_SPORTS = frozenset(
    """pottery painting drawing knitting crochet sewing quilting woodworking carpentry gardening
    baking cooking photography birdwatching singing calligraphy origami astronomy genealogy
    beekeeping homebrewing meditation embroidery ceramics weaving blogging podcasting""".split()
)
# Words of these kinds that usually mean something else.
AMBIGUOUS = frozenset(
    """go bridge pool bowls recorder keys horn organ bass keyboard keyboards polish running
    back hand rat setter d&d krav ping-pong table-tennis jiu-jitsu spicy-food catan""".split()
)
