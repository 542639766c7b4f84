"""Composed context: its sections, items, receipt and binary encoding."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, overload

from ..errors import InvalidInput
from ..json_codec import TRUST_NAMES, TRUSTS, unfrozen_factory
from . import Trust

FORMATS = ("openai", "anthropic", "text")
_set = object.__setattr__


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One line of a context, with its source and the reason for it."""

    text: str
    id: str  # of the memory or event
    at: datetime | None = None
    speaker: str | None = None
    trust: Trust = Trust.UNKNOWN
    scope: str | None = None
    events: tuple[str, ...] = ()  # ids of its source events, for deduplication
    worth: float = 0.0  # relevance from 0 to 1, regardless of the length
    why: Mapping[str, float | str] = field(default_factory=dict)
    tokens: int = 0  # of the rendered line
    line: str = field(default="", repr=False, compare=False)  # rendered text
    words: str = field(default="", repr=False, compare=False)  # rendered text without marks

    def set_rendering(self, line: str, tokens: int, words: str) -> ContextItem:
        """Set the rendered line and its tokens, and return this item.

        Only the code that created the item may call this, before sharing it. Copying a hundred
        items per context would be slow.
        """
        _set(self, "line", line)
        _set(self, "tokens", tokens)
        _set(self, "words", words)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """A section of a context with its items."""

    part: str
    items: tuple[ContextItem, ...]
    tokens: int  # of its heading and its items


@dataclass(frozen=True, slots=True, kw_only=True)
class CutItem:
    """A candidate that is not shown, and why."""

    part: str
    id: str
    tokens: int
    why: str  # for example "budget" or "limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """A shown item and why. Its text is not stored here but read from its source."""

    part: str
    id: str  # of the memory or event
    tokens: int
    scope: str | None = None
    why: Mapping[str, float | str] = field(default_factory=dict)


_blank_item, _blank_cut, _blank_shown = (
    unfrozen_factory(ContextItem),
    unfrozen_factory(CutItem),
    unfrozen_factory(ShownItem),
)


def make_item(
    *,
    text: str,
    id: str,
    at: datetime | None,
    speaker: str | None,
    trust: Trust,
    events: tuple[str, ...],
    worth: float,
    why: Mapping[str, float | str],
    scope: str | None = None,
    tokens: int = 0,
    line: str = "",
    words: str = "",
) -> ContextItem:
    """Create an item without the frozen constructor, in half the time."""
    made = _blank_item()
    made.text, made.id, made.at, made.speaker = text, id, at, speaker
    made.trust, made.scope, made.events = trust, scope, events
    made.worth, made.why = worth, why
    made.tokens, made.line, made.words = tokens, line, words
    made.__class__ = ContextItem
    item: ContextItem = made
    return item


def make_cut(*, part: str, id: str, tokens: int, why: str) -> CutItem:
    """Create a cut item without the frozen constructor; most candidates are cut."""
    made = _blank_cut()
    made.part, made.id, made.tokens, made.why = part, id, tokens, why
    made.__class__ = CutItem
    cut: CutItem = made
    return cut


def list_shown(sections: Iterable[ContextSection]) -> tuple[ShownItem, ...]:
    """Return the receipt entries of all items."""
    return tuple(_make_shown(each.part, item) for each in sections for item in each.items)


def _make_shown(part: str, item: ContextItem) -> ShownItem:
    made = _blank_shown()
    made.part, made.id, made.tokens = part, item.id, item.tokens
    made.scope, made.why = item.scope, item.why
    made.__class__ = ShownItem
    shown: ShownItem = made
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedWords:
    """Words of earlier messages that were searched with the question, and why."""

    words: str
    why: str
    events: tuple[str, ...] = ()  # ids of the messages that the words come from


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReceipt:
    """Explanation of a context. It reveals nothing that the viewer may not see."""

    id: str
    at: datetime
    question: str
    budget: int
    tokens: int
    plan: Mapping[str, str]  # planned section → why
    searched: str = ""  # the question with the words of earlier messages; empty: nothing was added
    added: tuple[AddedWords, ...] = ()  # what earlier messages added to the question
    sections: Mapping[str, int] = field(default_factory=dict)  # → tokens with heading
    frame: int = 0  # tokens of header and fence; with `sections` they sum up to `tokens`
    shown: tuple[ShownItem, ...] = ()
    cut: tuple[CutItem, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)  # stage → duration
    degraded: tuple[str, ...] = ()  # parts that were unavailable, and why
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Result of compacting the caller's messages."""

    fits: bool  # messages and context together are below the limit
    removed: int  # messages that were replaced by a block
    left_out: int  # landmarks and facts that did not fit; they stay in memory
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A composed context for a model, by section."""

    sections: tuple[ContextSection, ...]
    receipt: ContextReceipt
    text: str  # rendered: one fenced block
    stable_prefix_length: int = 0  # characters at the start that change rarely
    messages_to_send: tuple[
        Mapping[str, Any], ...
    ] = ()  # the caller's messages, compacted on request
    compaction: Compaction | None = None

    @property
    def id(self) -> str:
        return self.receipt.id

    @property
    def tokens(self) -> int:
        return self.receipt.tokens

    def section_items(self, part: str) -> tuple[ContextItem, ...]:
        """Return the items of a section; empty if the section is missing."""
        return next((each.items for each in self.sections if each.part == part), ())

    @overload
    def messages(self, format: Literal["text"]) -> str: ...
    @overload
    def messages(
        self, format: Literal["openai", "anthropic"] = "openai"
    ) -> list[dict[str, Any]]: ...
    def messages(self, format: str = "openai") -> str | list[dict[str, Any]]:
        """Return the context in a provider's format, to be sent before the chat messages.

        `openai`: a list with one system message. `anthropic`: blocks for `system`; the stable one
        is marked for the prompt cache. `text`: the text itself. Raise InvalidInput for any other
        format.
        """
        if format == "openai":
            return [{"role": "system", "content": self.text}]
        if format == "anthropic":
            return _system_blocks(
                self.text[: self.stable_prefix_length], self.text[self.stable_prefix_length :]
            )
        if format == "text":
            return self.text
        raise InvalidInput(f"unknown format {format!r:.80}; expected one of {', '.join(FORMATS)}")


def _system_blocks(stable: str, changing: str) -> list[dict[str, Any]]:
    """Return two text blocks, the first one marked for the provider's prompt cache."""
    cached: dict[str, Any] = {
        "type": "text",
        "text": stable,
        "cache_control": {"type": "ephemeral"},
    }
    return [block for block in (cached, {"type": "text", "text": changing}) if block["text"]]


ENCODING_VERSION = 2  # part of the cache key
COMPRESSION_LEVEL = 1  # twice as fast as the default, and almost as small
MAX_UNPACKED_BYTES = 64_000_000  # protects against decompression bombs

Row = list[Any]


class InvalidContextBytes(ValueError):
    """The bytes cannot be decoded to a context, or the context cannot be encoded."""


def encode_context(context: Context) -> bytes:
    """Return a context as compressed JSON; raise InvalidContextBytes if it is not JSON."""
    rows = [
        [
            [each.part, each.tokens, list(map(_encode_item, each.items))]
            for each in context.sections
        ],
        _encode_receipt(context),
        context.text,
        context.stable_prefix_length,
        list(map(dict, context.messages_to_send)),
        _encode_compaction(context.compaction),
    ]
    try:
        encoded = json.dumps(rows, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return zlib.compress(encoded.encode(), COMPRESSION_LEVEL)
    except (TypeError, ValueError) as error:
        raise InvalidContextBytes(repr(error)) from None


def decode_context(data: bytes) -> Context:
    """Return the context that `encode_context` encoded; raise InvalidContextBytes otherwise."""
    try:
        return _decode_context(json.loads(decompress_json(data)))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidContextBytes(repr(error)) from None


def decompress_json(data: bytes) -> bytes:
    """Return the JSON text of an encoded context; raise InvalidContextBytes if it is damaged."""
    reader = zlib.decompressobj()
    try:
        unpacked = reader.decompress(data, MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise InvalidContextBytes(repr(error)) from None
    if not reader.eof or reader.unused_data:
        raise InvalidContextBytes(
            f"incomplete, longer than {MAX_UNPACKED_BYTES} bytes or followed by extra bytes"
        )
    return unpacked


def _encode_item(item: ContextItem) -> Row:
    return [
        item.text,
        item.id,
        item.at and item.at.isoformat(),
        item.speaker,
        TRUST_NAMES[item.trust],
        item.scope,
        item.events,
        item.worth,
        dict(item.why),
        item.tokens,
        item.line,
        item.words,
    ]


def _encode_receipt(context: Context) -> Row:
    receipt = context.receipt
    as_items = receipt.shown == list_shown(context.sections)  # almost always
    return [
        receipt.id,
        receipt.at.isoformat(),
        receipt.question,
        receipt.budget,
        receipt.tokens,
        [[part, why] for part, why in receipt.plan.items()],
        [[part, spent] for part, spent in receipt.sections.items()],
        receipt.frame,
        None if as_items else list(map(_encode_shown, receipt.shown)),
        [[each.part, each.id, each.tokens, each.why] for each in receipt.cut],
        dict(receipt.seconds),
        receipt.degraded,
        receipt.cached,
        receipt.searched,
        [[each.words, each.why, each.events] for each in receipt.added],
    ]


def _encode_compaction(compaction: Compaction | None) -> Row | None:
    return (
        None
        if compaction is None
        else [compaction.fits, compaction.removed, compaction.left_out, compaction.degraded]
    )


def _decode_compaction(row: Row | None) -> Compaction | None:
    if row is None:
        return None
    fits, removed, left_out, degraded = row
    return Compaction(
        fits=bool(fits),
        removed=_require_int(removed),
        left_out=_require_int(left_out),
        degraded=_require_texts(degraded),
    )


def _encode_shown(shown: ShownItem) -> Row:
    return [shown.part, shown.id, shown.tokens, shown.scope, dict(shown.why)]


def _decode_context(row: Any) -> Context:
    sections, receipt, text, stable_length, messages, compaction = row
    decoded = tuple(
        ContextSection(
            part=_require_text(part),
            items=tuple(map(_decode_item, items)),
            tokens=_require_int(tokens),
        )
        for part, tokens, items in sections
    )
    if not all(isinstance(message, dict) for message in messages):
        raise TypeError("a message must be a mapping")
    return Context(
        sections=decoded,
        receipt=_decode_receipt(receipt, decoded),
        text=_require_text(text),
        stable_prefix_length=_require_int(stable_length),
        messages_to_send=tuple(messages),
        compaction=_decode_compaction(compaction),
    )


def _decode_item(row: Row) -> ContextItem:
    text, id, at, speaker, trust, scope, events, worth, why, tokens, line, words = row
    return make_item(
        text=_require_text(text),
        id=_require_text(id),
        at=None if at is None else datetime.fromisoformat(at),
        speaker=None if speaker is None else _require_text(speaker),
        trust=TRUSTS[trust],
        scope=None if scope is None else _require_text(scope),
        events=_require_texts(events),
        worth=_require_number(worth),
        why=_require_reasons(why),
        tokens=_require_int(tokens),
        line=_require_text(line),
        words=_require_text(words),
    )


def _decode_receipt(row: Row, sections: Sequence[ContextSection]) -> ContextReceipt:
    id, at, question, budget, tokens, plan, spent, frame, *rest = row
    shown, cut, seconds, degraded, cached, searched, added = rest
    return ContextReceipt(
        id=_require_text(id),
        at=datetime.fromisoformat(at),
        question=_require_text(question),
        budget=_require_int(budget),
        tokens=_require_int(tokens),
        plan={_require_text(part): _require_text(why) for part, why in plan},
        sections={_require_text(part): _require_int(tokens) for part, tokens in spent},
        frame=_require_int(frame),
        shown=list_shown(sections) if shown is None else tuple(map(_decode_shown, shown)),
        cut=tuple(map(_decode_cut, cut)),
        seconds={name: _require_number(took) for name, took in seconds.items()},
        degraded=_require_texts(degraded),
        cached=bool(cached),
        searched=_require_text(searched),
        added=tuple(
            AddedWords(
                words=_require_text(words), why=_require_text(why), events=_require_texts(events)
            )
            for words, why, events in added
        ),
    )


def _decode_shown(row: Row) -> ShownItem:
    part, id, tokens, scope, why = row
    return ShownItem(
        part=_require_text(part),
        id=_require_text(id),
        tokens=_require_int(tokens),
        scope=None if scope is None else _require_text(scope),
        why=_require_reasons(why),
    )


def _decode_cut(row: Row) -> CutItem:
    part, id, tokens, why = row
    return make_cut(
        part=_require_text(part),
        id=_require_text(id),
        tokens=_require_int(tokens),
        why=_require_text(why),
    )


def _require_text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def _require_texts(values: Any) -> tuple[str, ...]:
    if type(values) is not list:
        raise TypeError(f"expected a list, got {type(values).__name__}")
    return tuple(map(_require_text, values))


def _require_int(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"expected a number, got {type(value).__name__}")
    return value


def _require_number(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise TypeError(f"expected a number, got {type(value).__name__}")
    return value


def _require_reasons(value: Any) -> dict[str, float | str]:
    if type(value) is not dict or not all(
        type(each) in (str, float, int) for each in value.values()
    ):
        raise TypeError("reasons must be texts and numbers")
    return value
