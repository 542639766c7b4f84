"""Which sentences of a conversation tell the most: what a summary without a model is made of.

Sentences are quoted, never reworded, so a summary invents nothing: names, numbers and dates stay
as they were said, and by whom. A sentence that tells more gets a lead: it is kept as if it had
been said that much later. Which sentences are kept therefore depends on nothing but the sentences,
in whatever order and in however many portions they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..core.dates import dates_in
from ..core.records import Event
from ..core.secrets import redacted
from ..core.text import STOP_WORDS, UNSPACED
from ..core.window import Line
from .immune import new_words
from .rules.extracted import Span
from .rules.instructions import instructions
from .rules.junk import is_greeting, is_noise, is_repetition, told
from .rules.lexicon import ENGLISH
from .rules.tokens import Token, sentences, tokens

HOUR = 3_600
DATED = 12 * HOUR  # "on Friday", "by 3 May"
NUMBERED = 8 * HOUR
NAMED = 8 * HOUR
BY_A_PERSON = 6 * HOUR
WORDED = HOUR  # for each word with content, up to eight
MOST_LEAD = DATED + NUMBERED + NAMED + BY_A_PERSON + 8 * WORDED
ASKED = -6 * HOUR  # a question tells less than its answer

FEWEST_WORDS = 3  # with content
FEWEST_UNSPACED = 6  # letters, where words have no spaces between them
LONGEST_LINE = 240  # characters
LONGEST_READ = 20_000  # characters of one event
BESIDES = 3  # bytes of a line that are not its text: ": " and the end

_OPPOSITE = bytes(range(255, -1, -1))  # what is larger comes first


def telling(lines: Iterable[Line], *, room: int) -> tuple[Line, ...]:
    """The lines that tell the most and fit into so many bytes, in the order they were said.

    Of lines that say the same, the one that counts as newest stays. Choosing among some lines
    first, and later among the chosen and further ones, chooses the same as choosing once; but
    where lines of very different length compete for the last of the room, it may end otherwise.
    """
    kept: list[Line] = []
    spellings: set[str] = set()
    for line in sorted(lines, key=_rank):
        spelling = " ".join(line.text.casefold().split())
        if spelling in spellings:
            continue
        room -= length_of(line)
        if room < 0:
            break
        spellings.add(spelling)
        kept.append(line)
    return tuple(sorted(kept, key=in_order))


def length_of(line: Line) -> int:
    """How many bytes it takes."""
    return len(line.said.encode()) + BESIDES


def counts_as(line: Line) -> float:
    """When it counts as said."""
    return line.at.timestamp() + line.lead


def _rank(line: Line) -> tuple[float, str, int, str]:
    return -counts_as(line), line.event, line.place, line.text


def in_order(line: Line) -> tuple[float, bytes, int]:
    """As the ledger has them, oldest first: of the same moment, the larger id comes first."""
    return line.at.timestamp(), line.event.encode().translate(_OPPOSITE), line.place


def lines_of(event: Event, recent: Sequence[Event] = (), known: Sequence[str] = ()) -> list[Line]:
    """The sentences of an event that tell something new, and give no orders to a model.

    `recent` are the messages of its conversation before it: what repeats them tells nothing, and
    a password that answers the last of them is redacted. What one of the `known` texts (a
    landmark) says already is left out.
    """
    before = recent[-1].text if recent else ""
    seen = new_words(event, recent)[: 2 * LONGEST_READ]  # a secret at its end is cut off again
    text = told(redacted(seen, after=before)[:LONGEST_READ])
    words = tokens(text)
    if is_repetition(words) or is_noise(text, words):
        return []
    said = [_content(tokens(each)) for each in known]
    orders = instructions(text)
    return [
        Line(
            event=event.id,
            at=event.at,
            speaker=event.speaker,
            text=_cut(text[sentence[0].start : sentence[-1].end]),
            trust=event.trust,
            place=place,
            lead=_lead(event, sentence, text[sentence[0].start : sentence[-1].end]),
        )
        for place, sentence in enumerate(_worth_telling(words))
        if not any(_content(sentence) <= other for other in said)
        and not any(_overlap(order, sentence) for order in orders)
    ]


def _overlap(order: Span, sentence: Sequence[Token]) -> bool:
    return order.start < sentence[-1].end and sentence[0].start < order.end


def _worth_telling(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    for sentence in sentences(words):
        content = _content(sentence)
        letters = sum(len(UNSPACED.findall(word)) for word in content)
        figures = any(word.kind == "number" for word in sentence)
        enough = len(content) + figures >= FEWEST_WORDS or letters >= FEWEST_UNSPACED
        if enough and not is_greeting(sentence):
            yield sentence


def _content(words: Iterable[Token]) -> frozenset[str]:
    return frozenset(
        word.low
        for word in words
        if word.kind not in ("mark", "clitic", "gap") and word.low not in STOP_WORDS
    )


def _lead(event: Event, sentence: Sequence[Token], text: str) -> int:
    lead = WORDED * min(8, len(_content(sentence)))
    if event.role == "user":
        lead += BY_A_PERSON
    if any(word.kind == "number" for word in sentence):
        lead += NUMBERED
    if any(_is_name(word, place) for place, word in enumerate(sentence)):
        lead += NAMED
    if dates_in(text, event.at):
        lead += DATED
    return lead + (ASKED if text.rstrip("\"'”’)").endswith(("?", "？")) else 0)


def _is_name(word: Token, place: int) -> bool:
    if word.kind == "address":
        return True
    return place > 0 and word.text[:1].isupper() and word.low not in ENGLISH and len(word.low) > 1


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_LINE else flat[: LONGEST_LINE - 1].rstrip() + "…"
