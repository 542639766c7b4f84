"""Past or future: which Tuesday is meant depends on the verb beside it.

Every word of the sentence that tells a tense is weighed by its distance from the date, and the
nearest decides. A present tense looks ahead ("the party is on May 7"), but weakly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from .cycle import Tense
from .tokens import Node
from .words import KINDS, OTHER

FARTHEST = 25  # words
WEAK = 4  # a weak sign counts as if it stood so many words farther away,
BOUNDARY = 5  # and one beyond a comma, or twice beyond a conjunction, as if so many

PAST = frozenset(
    """was were did had been went got came saw met took made said told gave found bought brought
    left felt kept began ran sat stood won lost spent sent paid wrote heard held built caught taught
    thought knew grew flew drew drove drank ate fell slept woke broke spoke chose hid sang swam
    threw wore led fought sold became used born rode rose shook stuck hung understood forgot bit
    lent meant rang sank swore tore hurt quit dealt""".split()
)
WEAKLY_PAST = frozenset("done gone seen taken given written known eaten fallen broken".split())
FUTURE = frozenset(
    """will won't shall gonna let's lets plan plans planned planning booked scheduled arranged
    supposed expected reserved due deadline""".split()
)
WEAKLY_FUTURE = frozenset(
    """is are am isn't aren't it's that's there's what's when's i'm going see meet call remind visit
    come arrive leave leaving start starts begin begins ends expires fly flying moving visiting hope
    hoping want wanna need needs free available works join attend attending might should can could
    forward wait wish please book schedule make""".split()
)
# Words in -ed that tell no tense.
TIMELESS = frozenset(
    """need needed excited thrilled interested tired worried stressed bed red feed speed seed weed
    indeed hundred shed wed fed embed""".split()
)
BY_WORD = {
    **dict.fromkeys(WEAKLY_PAST, (Tense.PAST, WEAK)),
    **dict.fromkeys(WEAKLY_FUTURE, (Tense.FUTURE, WEAK)),
    **dict.fromkeys(FUTURE, (Tense.FUTURE, 0)),
    **dict.fromkeys(PAST, (Tense.PAST, 0)),
    **{f"{word}n't": (Tense.PAST, 0) for word in ("was", "were", "did", "had")},
    **dict.fromkeys(TIMELESS, (Tense.NONE, 0)),
}
BY_ENDING = {"ed": (Tense.PAST, 0), "'ll": (Tense.FUTURE, 0), "'re": (Tense.FUTURE, WEAK)}
BY_KIND = {
    KINDS["since"]: (Tense.PAST, 0),
    KINDS["by"]: (Tense.FUTURE, WEAK),
    KINDS["until"]: (Tense.FUTURE, WEAK),
    KINDS["coming"]: (Tense.FUTURE, WEAK),
    KINDS["starting"]: (Tense.FUTURE, WEAK),
    KINDS["maybe"]: (Tense.FUTURE, 0),  # "she may come": nearer than what she said
}
BE = frozenset("is are am be isn't aren't get gets getting".split())
NO_SIGN = (Tense.NONE, 0)
STOP = KINDS["stop"]
DIVIDES = {KINDS["comma"]: 1, KINDS["and"]: 2, KINDS["or"]: 2}
CONJUNCTIONS = frozenset("but because while when if so then although which who".split())


@dataclass(slots=True)
class Signs:
    """The words of a text that tell a tense."""

    places: list[int]
    told: list[tuple[Tense, int]]
    clauses: list[int]  # of every token, counted so that a distance tells what lies between
    sentences: list[int]

    def at(self, first: int, last: int) -> Tense:
        """The tense around the tokens of a date."""
        best, found = FARTHEST + 3 * BOUNDARY, Tense.NONE
        left = bisect_left(self.places, first)
        right = bisect_right(self.places, last)
        for side in (range(left - 1, -1, -1), range(right, len(self.places))):
            for sign in side:
                place = self.places[sign]
                distance = max(first - place, place - last)
                if distance > FARTHEST or self.sentences[place] != self.sentences[first]:
                    break
                tense, extra = self.told[sign]
                between = abs(self.clauses[place] - self.clauses[first])
                weight = distance + extra + BOUNDARY * min(between, 2)
                if weight < best:
                    best, found = weight, tense
        return found


def signs(tokens: list[Node]) -> Signs:
    """A participle after "is" has the tense of "is": "we are closed in May"."""
    found = Signs([], [], [], [])
    clause = sentence = 0
    before = ""
    for place, token in enumerate(tokens):
        word = token.value or "" if token.kind == OTHER else ""
        sign = _sign(token)
        passive = sign[0] is Tense.PAST and (before in BE or before.endswith(("'re", "'m")))
        before = word
        if sign[0] is not Tense.NONE and not passive:
            found.places.append(place)
            found.told.append(sign)
        sentence += token.kind == STOP
        clause += 2 if word in CONJUNCTIONS else DIVIDES.get(token.kind, 0)
        found.clauses.append(clause)
        found.sentences.append(sentence)
    return found


def _sign(token: Node) -> tuple[Tense, int]:
    """The tense a word tells, and how many words farther away it counts."""
    word = token.value
    if token.kind != OTHER or not word:
        return BY_KIND.get(token.kind, NO_SIGN)
    if word in BY_WORD:
        return BY_WORD[word]
    return BY_ENDING.get(word[-2:]) or BY_ENDING.get(word[-3:]) or NO_SIGN
