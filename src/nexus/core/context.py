"""What goes before a model: the records of a composed context. Frozen, and without I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, overload

from .errors import InvalidInput
from .part import Part
from .quick import open_for
from .records import Trust

FORMATS = ("openai", "anthropic", "text")
_set = object.__setattr__


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a context, with where it comes from and why it is there."""

    text: str
    id: str  # of the memory or the event it shows
    at: datetime | None = None
    speaker: str | None = None
    trust: Trust = Trust.UNKNOWN
    scope: str | None = None
    events: tuple[str, ...] = ()  # ids of the events it rests on: what shows one, shows it
    worth: float = 0.0  # from 0 to 1: what it is worth here, before its length is considered
    why: Mapping[str, float | str] = field(default_factory=dict)
    tokens: int = 0  # as it is rendered
    line: str = field(default="", repr=False, compare=False)  # that rendering, once it was counted
    words: str = field(default="", repr=False, compare=False)  # and what it says, without marks

    def counted(self, line: str, tokens: int, words: str) -> Item:
        """This item with its tokens: whoever has just made it counts it, before anybody sees it.

        It is the same one, because a context has a hundred, and each would be made twice.
        """
        _set(self, "line", line)
        _set(self, "tokens", tokens)
        _set(self, "words", words)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    part: Part
    items: tuple[Item, ...]
    tokens: int  # its heading and its items


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Something that was found and is not shown."""

    part: Part
    id: str
    tokens: int
    why: str  # "budget", "in the window", "said above", "limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Something that is shown, and why. Its text is not kept here: it is read where it lies."""

    part: Part
    id: str  # of the memory or the event
    tokens: int
    scope: str | None = None
    why: Mapping[str, float | str] = field(default_factory=dict)


_open_item, _open_cut, _open_shown = open_for(Item), open_for(Cut), open_for(Shown)


def made_item(
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
) -> Item:
    """An item, in half the time: a context has more of them than of anything else."""
    made = _open_item()
    made.text, made.id, made.at, made.speaker = text, id, at, speaker
    made.trust, made.scope, made.events = trust, scope, events
    made.worth, made.why = worth, why
    made.tokens, made.line, made.words = tokens, line, words
    made.__class__ = Item
    item: Item = made
    return item


def made_cut(*, part: Part, id: str, tokens: int, why: str) -> Cut:
    """The same for a cut: most of what is found is not shown."""
    made = _open_cut()
    made.part, made.id, made.tokens, made.why = part, id, tokens, why
    made.__class__ = Cut
    cut: Cut = made
    return cut


def shown_by(sections: Iterable[Section]) -> tuple[Shown, ...]:
    """What a receipt says of these items."""
    return tuple(_shown(each.part, item) for each in sections for item in each.items)


def _shown(part: Part, item: Item) -> Shown:
    made = _open_shown()
    made.part, made.id, made.tokens = part, item.id, item.tokens
    made.scope, made.why = item.scope, item.why
    made.__class__ = Shown
    shown: Shown = made
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReceipt:
    """Why a context is as it is. It tells the viewer nothing of what the viewer may not see."""

    id: str
    at: datetime
    question: str
    budget: int
    tokens: int
    plan: Mapping[Part, str]  # each section that was wanted → why
    sections: Mapping[Part, int] = field(default_factory=dict)  # → tokens, with its heading
    frame: int = 0  # tokens of the rest: the header, the fence; with the sections it is all
    shown: tuple[Shown, ...] = ()
    cut: tuple[Cut, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)  # stage → how long
    degraded: tuple[str, ...] = ()  # what did not take part, and why
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What became of the caller's messages beside a context."""

    fits: bool  # whether they and the context are below the limit
    removed: int  # messages that a block stands for
    left_out: int  # landmarks and facts for which there was no room; memory has them
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a model is given, section by section."""

    sections: tuple[Section, ...]
    receipt: ContextReceipt
    text: str  # rendered: one fenced block
    steady: int = 0  # how many characters from its beginning change rarely
    chat: tuple[Mapping[str, Any], ...] = ()  # the caller's messages, compacted; if asked for,
    compaction: Compaction | None = None  # and how that went

    @property
    def id(self) -> str:
        return self.receipt.id

    @property
    def tokens(self) -> int:
        return self.receipt.tokens

    def section(self, part: Part) -> tuple[Item, ...]:
        """The items of one section; none if it is not there."""
        return next((each.items for each in self.sections if each.part is part), ())

    @overload
    def messages(self, format: Literal["text"]) -> str: ...
    @overload
    def messages(
        self, format: Literal["openai", "anthropic"] = "openai"
    ) -> list[dict[str, Any]]: ...
    def messages(self, format: str = "openai") -> str | list[dict[str, Any]]:
        """What to put before the messages of a chat.

        `openai`: a list with one system message, for the beginning of `messages`. `anthropic`:
        blocks for `system`; the one that changes rarely is marked for the prompt cache. `text`:
        the text itself.
        """
        if format == "openai":
            return [{"role": "system", "content": self.text}]
        if format == "anthropic":
            return _blocks(self.text[: self.steady], self.text[self.steady :])
        if format == "text":
            return self.text
        raise InvalidInput(f"unknown format {format!r:.80}; known are {', '.join(FORMATS)}")


def _blocks(steady: str, moving: str) -> list[dict[str, Any]]:
    """Two blocks of text, of which the provider may keep the first."""
    kept: dict[str, Any] = {"type": "text", "text": steady, "cache_control": {"type": "ephemeral"}}
    return [block for block in (kept, {"type": "text", "text": moving}) if block["text"]]
