"""A composed context as bytes and back: compact, and the same to the last field.

What is read may have been written by another version, or by anybody who reaches the server it
lies on: whatever is not exactly of this form is `Unspelt`, and nothing is guessed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from .codec import TRUST_NAMES, TRUSTS
from .context import (
    Compaction,
    Context,
    ContextReceipt,
    Cut,
    Item,
    Section,
    Shown,
    made_cut,
    made_item,
    shown_by,
)
from .part import Part

FORMAT = 1  # of these bytes; another one is found under another key
LEVEL = 1  # twice as fast as the default, and hardly longer
LONGEST = 64_000_000  # bytes, unpacked: some are made to grow
PARTS = {part.value: part for part in Part}

Row = list[Any]


class Unspelt(ValueError):
    """These bytes are no context, or this context has no bytes."""


def context_bytes(context: Context) -> bytes:
    told = [
        [
            [each.part.value, each.tokens, list(map(_of_item, each.items))]
            for each in context.sections
        ],
        _of_receipt(context),
        context.text,
        context.steady,
        list(map(dict, context.chat)),
        _of_compaction(context.compaction),
    ]
    try:
        spelt = json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return zlib.compress(spelt.encode(), LEVEL)
    except (TypeError, ValueError) as error:
        raise Unspelt(repr(error)) from None


def bytes_context(spelt: bytes) -> Context:
    try:
        return _context(json.loads(unpacked(spelt)))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Unspelt(repr(error)) from None


def unpacked(spelt: bytes) -> bytes:
    """The texts in it, as JSON spells them."""
    reader = zlib.decompressobj()
    try:
        told = reader.decompress(spelt, LONGEST)
    except zlib.error as error:
        raise Unspelt(repr(error)) from None
    if not reader.eof or reader.unused_data:
        raise Unspelt("it is cut short, too long, or goes on behind its end")
    return told


def _of_item(item: Item) -> Row:
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


def _of_receipt(context: Context) -> Row:
    receipt = context.receipt
    as_items = receipt.shown == shown_by(context.sections)  # nearly always
    return [
        receipt.id,
        receipt.at.isoformat(),
        receipt.question,
        receipt.budget,
        receipt.tokens,
        [[part.value, why] for part, why in receipt.plan.items()],
        [[part.value, spent] for part, spent in receipt.sections.items()],
        receipt.frame,
        None if as_items else list(map(_of_shown, receipt.shown)),
        [[each.part.value, each.id, each.tokens, each.why] for each in receipt.cut],
        dict(receipt.seconds),
        receipt.degraded,
        receipt.cached,
    ]


def _of_compaction(done: Compaction | None) -> Row | None:
    return None if done is None else [done.fits, done.removed, done.left_out, done.degraded]


def _compaction(told: Row | None) -> Compaction | None:
    if told is None:
        return None
    fits, removed, left_out, degraded = told
    return Compaction(
        fits=bool(fits),
        removed=_number(removed),
        left_out=_number(left_out),
        degraded=_texts(degraded),
    )


def _of_shown(shown: Shown) -> Row:
    return [shown.part.value, shown.id, shown.tokens, shown.scope, dict(shown.why)]


def _context(told: Any) -> Context:
    sections, receipt, text, steady, chat, compaction = told
    read = tuple(
        Section(part=PARTS[part], items=tuple(map(_item, items)), tokens=_number(tokens))
        for part, tokens, items in sections
    )
    if not all(isinstance(message, dict) for message in chat):
        raise TypeError("a message is a mapping")
    return Context(
        sections=read,
        receipt=_receipt(receipt, read),
        text=_text(text),
        steady=_number(steady),
        chat=tuple(chat),
        compaction=_compaction(compaction),
    )


def _item(told: Row) -> Item:
    text, id, at, speaker, trust, scope, events, worth, why, tokens, line, words = told
    return made_item(
        text=_text(text),
        id=_text(id),
        at=None if at is None else datetime.fromisoformat(at),
        speaker=None if speaker is None else _text(speaker),
        trust=TRUSTS[trust],
        scope=None if scope is None else _text(scope),
        events=_texts(events),
        worth=_worth(worth),
        why=_reasons(why),
        tokens=_number(tokens),
        line=_text(line),
        words=_text(words),
    )


def _receipt(told: Row, sections: Sequence[Section]) -> ContextReceipt:
    id, at, question, budget, tokens, plan, spent, frame, *rest = told
    shown, cut, seconds, degraded, cached = rest
    return ContextReceipt(
        id=_text(id),
        at=datetime.fromisoformat(at),
        question=_text(question),
        budget=_number(budget),
        tokens=_number(tokens),
        plan={PARTS[part]: _text(why) for part, why in plan},
        sections={PARTS[part]: _number(tokens) for part, tokens in spent},
        frame=_number(frame),
        shown=shown_by(sections) if shown is None else tuple(map(_shown, shown)),
        cut=tuple(map(_cut, cut)),
        seconds={name: _worth(took) for name, took in seconds.items()},
        degraded=_texts(degraded),
        cached=bool(cached),
    )


def _shown(told: Row) -> Shown:
    part, id, tokens, scope, why = told
    return Shown(
        part=PARTS[part],
        id=_text(id),
        tokens=_number(tokens),
        scope=None if scope is None else _text(scope),
        why=_reasons(why),
    )


def _cut(told: Row) -> Cut:
    part, id, tokens, why = told
    return made_cut(part=PARTS[part], id=_text(id), tokens=_number(tokens), why=_text(why))


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("a text is expected")
    return value


def _texts(values: Any) -> tuple[str, ...]:
    if type(values) is not list:
        raise TypeError("a list is expected")
    return tuple(map(_text, values))


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("a number is expected")
    return value


def _worth(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise TypeError("a number is expected")
    return value


def _reasons(why: Any) -> dict[str, float | str]:
    if type(why) is not dict or not all(type(each) in (str, float, int) for each in why.values()):
        raise TypeError("reasons are texts and numbers")
    return why
