"""Sentence ranking: select the most informative sentences for an extractive summary.

Sentences are quoted, never reworded, so a summary invents nothing. The rank is the time of the
message plus a lead in seconds: an informative sentence counts as newer than it is. So the selection
depends only on the set of sentences, not on their order or on how they are split into batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..core.records import Event
from ..core.records.annotations import file_names, format_file_names
from ..core.records.window import SummaryLine
from ..text.dates import find_dates
from ..text.secrets import redact_secrets
from ..text.terms import STOP_WORDS, UNSPACED
from .extract.echo_filter import new_text
from .rules.instructions import find_instructions
from .rules.lexicon import ENGLISH_WORDS
from .rules.noise import is_greeting, is_noise, is_repetition, mask_quoted_text
from .rules.results import TextSpan
from .rules.tokens import Token, split_sentences, tokenize

HOUR = 3_600
DATE_LEAD = 12 * HOUR  # "on Friday", "by 3 May"
NUMBER_LEAD = 8 * HOUR
NAME_LEAD = 8 * HOUR
PERSON_LEAD = 6 * HOUR
WORD_LEAD = HOUR  # for each content word, up to eight
MAX_LEAD = DATE_LEAD + NUMBER_LEAD + NAME_LEAD + PERSON_LEAD + 8 * WORD_LEAD
QUESTION_LEAD = -6 * HOUR  # a question is less informative than its answer

MIN_CONTENT_WORDS = 3
MIN_UNSPACED_LETTERS = 6  # for scripts without spaces
MAX_LINE_CHARS = 240
MAX_READ_CHARS = 20_000  # of one event
LINE_OVERHEAD_BYTES = 3  # ": " and the newline

_INVERTED_BYTES = bytes(range(255, -1, -1))  # for descending order of ids


def select_lines(lines: Iterable[SummaryLine], *, max_bytes: int) -> tuple[SummaryLine, ...]:
    """Return the highest-ranked lines that fit into `max_bytes`, in the order of the events.

    Duplicates are dropped, except the highest-ranked one. Selecting in several passes gives the
    same lines as one pass, except where lines of very different length compete for the last bytes.
    """
    selected: list[SummaryLine] = []
    spellings: set[str] = set()
    for line in sorted(lines, key=_rank_key):
        spelling = " ".join(line.text.casefold().split())
        if spelling in spellings:
            continue
        max_bytes -= line_bytes(line)
        if max_bytes < 0:
            break
        spellings.add(spelling)
        selected.append(line)
    return tuple(sorted(selected, key=line_order))


def line_bytes(line: SummaryLine) -> int:
    """Return the size of a line in a summary."""
    return len(line.text_with_speaker.encode()) + LINE_OVERHEAD_BYTES


def effective_time(line: SummaryLine) -> float:
    """Return the rank of a line: its timestamp plus its lead, in seconds."""
    return line.at.timestamp() + line.lead


def _rank_key(line: SummaryLine) -> tuple[float, str, int, str]:
    return -effective_time(line), line.event, line.place, line.text


def line_order(line: SummaryLine) -> tuple[float, bytes, int]:
    """Sort key in the order of the ledger, oldest first; larger ids first at one time."""
    return line.at.timestamp(), line.event.encode().translate(_INVERTED_BYTES), line.place


def event_lines(
    event: Event, recent: Sequence[Event] = (), known_texts: Sequence[str] = ()
) -> list[SummaryLine]:
    """Return the informative sentences of an event, without instructions to a model.

    `recent` are the preceding messages of the conversation: repetitions of them are dropped, and
    a password that answers the last one is redacted. Sentences whose words are all in one of
    `known_texts` (landmarks) are dropped, too.
    """
    before = recent[-1].text if recent else ""
    new = new_text(event, recent)[: 2 * MAX_READ_CHARS]  # longer, so that no secret is cut in two
    text = mask_quoted_text(redact_secrets(new, previous=before)[:MAX_READ_CHARS])
    words = tokenize(text)
    if is_repetition(words) or is_noise(text, words):
        return []
    known = [_content_words(tokenize(each)) for each in known_texts]
    orders = find_instructions(text)
    lines = [
        SummaryLine(
            event=event.id,
            at=event.at,
            speaker=event.speaker,
            text=_shorten_line(text[sentence[0].start : sentence[-1].end]),
            trust=event.trust,
            place=number,
            lead=_lead_seconds(event, sentence, text[sentence[0].start : sentence[-1].end]),
        )
        for number, sentence in enumerate(_informative_sentences(words))
        if not any(_content_words(sentence) <= other for other in known)
        and not any(_overlaps_sentence(order, sentence) for order in orders)
    ]
    if lines and event.attachments:
        text = lines[-1].text + format_file_names(file_names(event.attachments))
        lines[-1] = replace(lines[-1], text=text)
    return lines


def _overlaps_sentence(order: TextSpan, sentence: Sequence[Token]) -> bool:
    return order.start < sentence[-1].end and sentence[0].start < order.end


def _informative_sentences(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    for sentence in split_sentences(words):
        content = _content_words(sentence)
        letters = sum(len(UNSPACED.findall(word)) for word in content)
        figures = any(word.kind == "number" for word in sentence)
        enough = len(content) + figures >= MIN_CONTENT_WORDS or letters >= MIN_UNSPACED_LETTERS
        if enough and not is_greeting(sentence):
            yield sentence


def _content_words(words: Iterable[Token]) -> frozenset[str]:
    return frozenset(
        word.lower
        for word in words
        if word.kind not in ("mark", "clitic", "gap") and word.lower not in STOP_WORDS
    )


def _lead_seconds(event: Event, sentence: Sequence[Token], text: str) -> int:
    lead = WORD_LEAD * min(8, len(_content_words(sentence)))
    if event.role == "user":
        lead += PERSON_LEAD
    if any(word.kind == "number" for word in sentence):
        lead += NUMBER_LEAD
    if any(_is_name(word, index) for index, word in enumerate(sentence)):
        lead += NAME_LEAD
    if find_dates(text, event.at):
        lead += DATE_LEAD
    return lead + (QUESTION_LEAD if text.rstrip("\"'”’)").endswith(("?", "？")) else 0)


def _is_name(word: Token, position: int) -> bool:
    if word.kind == "address":
        return True
    return (
        position > 0
        and word.text[:1].isupper()
        and word.lower not in ENGLISH_WORDS
        and len(word.lower) > 1
    )


def _shorten_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_LINE_CHARS else flat[: MAX_LINE_CHARS - 1].rstrip() + "…"
