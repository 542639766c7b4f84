"""Echo filter: remove injected memories and repetitions from the text of an event.

An agent reads memories and repeats them. If Nexus learned them again, each repetition would look
like an independent source and raise the confidence. Therefore:

- fenced blocks are removed from every text (`text.fence`),
- words of an agent or a tool that equal a recently injected context are removed from every text,
  with or without a fence,
- words of an agent or a tool that repeat an earlier message become a passage, but no second fact,
- a person's message that is sent twice within RETRY_WINDOW gives one fact.

A person may repeat a memory that the agent showed, and may say the same again later: "I work at
Acme" after "I work at Globex" is news.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from operator import add

from ...core.access import administrator_grant
from ...core.errors import Unavailable
from ...core.ids import WorkspaceId, digest_each
from ...core.protocols.store import Store
from ...core.records import Event, EventKind
from ...core.records.window import IDLE_TIMEOUT, WindowItem, WindowSlot
from ...core.scope import Scope
from ...text.fence import remove_fences
from ...text.terms import normalize_each, normalize_words

MIN_WORDS = 4  # shorter texts such as "Yes, of course." repeat by chance
MIN_LETTERS = 16  # for scripts without spaces
MIN_PIECE_CHARS = 2 * MIN_WORDS - 1  # MIN_WORDS words of one letter, with spaces
MAX_COMPARED_CHARS = 20_000  # of an earlier message
RETRY_WINDOW = timedelta(minutes=2)  # an equal message of a person is a retry for this long
MAX_CONTEXTS = 64
MAX_DIGESTS = 20_000
DIGEST_KIND = "injected"
MAX_KNOWN_PARAGRAPHS = 4_000
# Digest of a paragraph → digests of its pieces; an erased text leaves nothing readable here.
_known_paragraphs: dict[bytes, tuple[str, ...]] = {}
PARAGRAPH = re.compile(r"\n[ \t>]*\n")
# Ends of sentences; the pattern begins with a character class because that is fast.
SENTENCE = re.compile(r"([.!?…。！？])(?:(?<=[.!?…])[\"'”’)\]]{0,3}\s+|(?<=[。！？]))")
LABEL = re.compile(r"[^\n:]{1,60}:\s+")  # "Alice: …", "Memory: …"
HEADER = re.compile(r"\s*[\[(][^\])\n]{1,80}[\])]\s*")  # "[2026-03-01, Alice] …"
TRAILER = re.compile(r"[\[(][^\])\n]{1,80}[\])]$")
MAX_TRAILER_CHARS = 80 + 2  # including both brackets
ELEMENT = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
QUOTE_PREFIX = re.compile(r"[ \t>*•#|-]+|[ \t]*\d{1,3}[.)][ \t]+")  # at the beginning of a line


@dataclass(frozen=True, slots=True)
class InjectedContexts:
    """Digests of contexts recently given to the model in one scope; texts are not stored.

    The composer stores them in the window of the scope. Contexts of other scopes must not change
    what is learned here. Digests are personal data, so they are erased with their sources.
    """

    contexts: tuple[frozenset[str], ...] = ()  # oldest first

    def with_context(self, context: str) -> InjectedContexts:
        """Return a copy with one more context; the oldest are dropped above the limits."""
        contexts = (*self.contexts, text_digests(context))[-MAX_CONTEXTS:]
        while len(contexts) > 1 and sum(map(len, contexts)) > MAX_DIGESTS:
            contexts = contexts[1:]
        return InjectedContexts(contexts)

    def contains_text(self, text: str) -> bool:
        """Return whether this line, sentence or paragraph was injected."""
        return any(
            digest in context
            for digest in _piece_digests(text)
            for context in reversed(self.contexts)
        )


NOTHING_INJECTED = InjectedContexts()


def text_digests(context: str) -> frozenset[str]:
    """Return digests of the lines, sentences and paragraphs of a text, with or without fence.

    Only words count: an agent may change spaces, punctuation, case, quoting and escaping. Contexts
    repeat paragraphs turn after turn, so the digests of paragraphs are kept.
    """
    found: set[str] = set()
    new: dict[bytes, str] = {}
    for paragraph in dict.fromkeys(PARAGRAPH.split(context)):
        key = blake2b(paragraph.encode(errors="surrogatepass"), digest_size=16).digest()
        known = _known_paragraphs.get(key)
        if known is None:
            new[key] = paragraph
        else:
            found.update(known)
    if new:
        if len(_known_paragraphs) + len(new) > MAX_KNOWN_PARAGRAPHS:
            _known_paragraphs.clear()
        made = _hash_paragraphs(new)
        _known_paragraphs.update(made)
        found.update(*made.values())
    return frozenset(found)


def _hash_paragraphs(paragraphs: Mapping[bytes, str]) -> dict[bytes, tuple[str, ...]]:
    """Return the digests of each paragraph, with the same key; all texts are hashed together."""
    variants = {
        key: {text for piece in set(_split_paragraph(each)) for text in _text_variants(piece)}
        for key, each in paragraphs.items()
    }
    normalized = _normalize_texts(dict.fromkeys(text for own in variants.values() for text in own))
    distinct = list(dict.fromkeys(filter(_is_distinctive, normalized.values())))
    digests = dict(zip(distinct, digest_each(DIGEST_KIND, distinct), strict=True))
    return {
        key: tuple({digests[words] for text in own if (words := normalized[text]) in digests})
        for key, own in variants.items()
    }


def own_text(event: Event, injected: InjectedContexts = NOTHING_INJECTED) -> str:
    """Return the event's text without injected contexts; passages are made of it."""
    text = remove_fences(event.text)
    if is_from_person(event) or not injected.contexts or not text:
        return text
    return remove_pieces(text, injected.contains_text)


def new_text(
    event: Event, recent: Iterable[Event] = (), injected: InjectedContexts = NOTHING_INJECTED
) -> str:
    """Return the text without injected contexts and repetitions; facts are derived from it.

    `recent` are earlier messages of the same conversation, oldest first. Sentences of an agent or
    a tool that repeat one of them are removed. A person's message becomes empty only if it is a
    retry: the person's last message had the same words, at most RETRY_WINDOW ago.
    """
    text = own_text(event, injected)
    own_id = event.id  # a digest: computed once
    before = [each for each in recent if each.id != own_id]
    if not text or not before:
        return text
    own = [each for each in before if each.speaker == event.speaker]
    if is_from_person(event):
        is_retry = bool(own) and event.at - own[-1].at <= RETRY_WINDOW
        return "" if is_retry and _is_equal(own[-1], text) else text
    if any(_is_equal(each, text) for each in own):
        return ""
    earlier = "\n".join(_normalize_text(each.text[:MAX_COMPARED_CHARS]) for each in before)
    return remove_pieces(
        text, lambda piece: _is_long_enough(piece) and _normalize_text(piece) in earlier
    )


def is_from_person(event: Event) -> bool:
    """Return whether a person wrote the event, not an agent, a tool or a document."""
    return event.role == "user" and event.kind is not EventKind.DOCUMENT


def remove_pieces(text: str, is_known: Callable[[str], bool]) -> str:
    """Return the text without paragraphs, lines and sentences for which `is_known` is true."""
    paragraphs = PARAGRAPH.split(text)
    left = ["" if is_known(each) else _remove_from_paragraph(each, is_known) for each in paragraphs]
    return text if left == paragraphs else "\n\n".join(filter(str.strip, left))


def _remove_from_paragraph(paragraph: str, is_known: Callable[[str], bool]) -> str:
    if len(paragraph) < MIN_PIECE_CHARS:
        return paragraph
    flowing = "\n".join(line for line in paragraph.split("\n") if not is_known(line))
    sentences = _split_sentences(flowing)
    left = [sentence for sentence in sentences if not is_known(sentence)]
    return flowing if left == sentences else " ".join(left)


def _split_paragraph(paragraph: str) -> Iterator[str]:
    """Yield the paragraph, its lines and its sentences, if they have MIN_PIECE_CHARS characters."""
    lines = paragraph.split("\n")
    unquoted = [_strip_prefix(QUOTE_PREFIX, line) for line in lines]
    flowing = "\n".join(unquoted)
    yield from (
        _strip_markup(each) for each in _split_sentences(flowing) if len(each) >= MIN_PIECE_CHARS
    )
    for piece, plain in zip((paragraph, *lines), (flowing, *unquoted), strict=True):
        if len(piece) >= MIN_PIECE_CHARS:
            yield _strip_markup(piece) if "<" in piece or "&" in piece else plain


def _split_sentences(text: str) -> list[str]:
    parts = SENTENCE.split(text)  # sentence, end mark, sentence, end mark, …
    return [*map(add, parts[::2], parts[1::2]), parts[-1]]


def _piece_digests(piece: str) -> list[str]:
    """Return the digests of all variants of a piece."""
    return (
        _hash_texts(_text_variants(_strip_markup(piece))) if len(piece) >= MIN_PIECE_CHARS else []
    )


def _strip_markup(piece: str) -> str:
    return _strip_quoting(html.unescape(ELEMENT.sub(" ", piece) if "<" in piece else piece))


def _text_variants(text: str) -> set[str]:
    """Return the text, the text without its label, and both without outer brackets."""
    inner = _strip_brackets(text)
    if ":" not in text:
        return {text, inner}
    return {text, inner, _strip_prefix(LABEL, text), _strip_prefix(LABEL, inner)}


def _strip_brackets(text: str) -> str:
    edges = text.strip()
    if edges[:1] in "[(":
        text = _strip_prefix(HEADER, text)
    if edges[-1:] not in "])":
        return text
    end = text.rstrip()  # search only the end: a paragraph can be long
    trailer = TRAILER.search(end, max(0, len(end) - MAX_TRAILER_CHARS))
    return end[: trailer.start()].rstrip() if trailer else text


def _strip_prefix(pattern: re.Pattern[str], text: str) -> str:
    start = pattern.match(text)
    return text[start.end() :] if start else text


def _hash_texts(texts: Iterable[str]) -> list[str]:
    """Return digests of the texts that are too long to repeat by chance."""
    distinct = {*_normalize_texts(texts).values()}
    return digest_each(DIGEST_KIND, filter(_is_distinctive, distinct))


def _normalize_texts(texts: Iterable[str]) -> dict[str, str]:
    """Return the words of each text; ASCII texts are normalized together."""
    ascii_texts: list[str] = []
    other_texts: list[str] = []
    for text in texts:
        (ascii_texts if text.isascii() else other_texts).append(text)
    normalized = dict(zip(ascii_texts, normalize_each(ascii_texts), strict=True))
    for text in other_texts:
        normalized[text] = normalize_words(unicodedata.normalize("NFKC", text))
    return normalized


def _is_distinctive(words: str) -> bool:
    if len(words) >= 2 * MIN_LETTERS:  # at most every second character is a space
        return True
    spaces = words.count(" ")
    return spaces + 1 >= MIN_WORDS or len(words) - spaces >= MIN_LETTERS


def _strip_quoting(text: str) -> str:
    """Remove quote marks, list bullets and numbers at the beginning of each line."""
    if "\n" in text:
        return "\n".join(_strip_prefix(QUOTE_PREFIX, line) for line in text.split("\n"))
    return _strip_prefix(QUOTE_PREFIX, text)


def _normalize_text(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" \"'“”‘’*_>.!?-")


def _is_equal(event: Event, text: str) -> bool:
    """Return whether an event has the same words as a text."""
    said = remove_fences(event.text)
    return _may_be_equal(said, text) and _normalize_text(said) == _normalize_text(text)


def _may_be_equal(one: str, other: str) -> bool:
    """Return whether two texts are similar enough for a full comparison."""
    return abs(len(one) - len(other)) <= 20 and _first_letters(one) == _first_letters(other)


def _first_letters(text: str) -> str:
    return "".join(text[:30].casefold().split()).lstrip("\"'“”‘’*_>")[:3]


def _is_long_enough(piece: str) -> bool:
    """Return whether a piece has too many words to repeat by chance."""
    return len(piece.split(None, MIN_WORDS)) >= MIN_WORDS or (
        not piece.isascii() and len(piece) >= MIN_LETTERS
    )


def make_injected_item(
    scope: Scope,
    id: str,
    text: str,
    *,
    rests_on: Iterable[str],
    people: Iterable[str] = (),
    now: datetime,
) -> WindowItem:
    """Return a window item with the digests of a context; it is erased with any of its sources.

    Only workers may read it, because other viewers of the scope may see less than this context.
    """
    return WindowItem(
        scope=scope,
        slot=WindowSlot.INJECTED,
        key=id,
        value=[*sorted(text_digests(text))],
        at=now,
        expires_at=now + IDLE_TIMEOUT,
        source_ids=tuple(dict.fromkeys(rests_on)),
        people=tuple(people),
        extra_scopes=(Scope.worker(),),
    )


def load_injected(
    store: Store, workspace: WorkspaceId, scope: Scope, *, now: datetime
) -> InjectedContexts:
    """Return the contexts injected into this scope; nothing if the window does not answer.

    Learning does not wait for the window: fenced blocks and repetitions are filtered without it.
    """
    grant = administrator_grant(workspace).narrow_to([scope, Scope.worker()])
    try:
        items = store.window.find(grant, slots=[WindowSlot.INJECTED], now=now)
    except Unavailable:
        return NOTHING_INJECTED
    contexts = [frozenset(map(str, item.value)) for item in items if isinstance(item.value, list)]
    return InjectedContexts(tuple(reversed(contexts)))
