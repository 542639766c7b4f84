"""Render the sections of a context as one fenced text. Pure.

A template writes the pieces (compose/templates.py). Here they get clean values, are put in order
and joined. Stable sections come first, and they contain neither the time nor anything that
depends on the question: the text begins with the same bytes from turn to turn, and a provider's
prompt cache applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache

from ..core.access import Viewer
from ..core.errors import InvalidInput
from ..core.json_codec import fast_constructor
from ..core.records import Trust
from ..core.records.context import ContextItem
from ..core.scope import Scope, ScopeKind
from ..text.fence import CACHED_FENCE, fence_for_cache, neutralize_markup, reveal_invisible
from ..text.tokens import count_tokens
from .request import MENTION_COUNT_KEY, OBSERVED, SURE_KEY, TRUST_MARKS
from .sections import SECTIONS, SECTIONS_BY_NAME, STABLE_SECTIONS
from .settings import ComposeSettings
from .templates import (
    MARKDOWN,
    ContextTemplate,
    Line,
    Moment,
    SectionTitle,
    Surroundings,
    template_key,
)

MARK_KEYS = (MENTION_COUNT_KEY, OBSERVED, SURE_KEY)  # in `why`: they change the mark
NOTHING_FOUND = "Nothing relevant is known."
NOTHING_MORE = "Nothing else relevant is known."
USUAL_KINDS = {"holds now", "goal", "procedure"}  # the heading of their section says it
DEFAULTS = ComposeSettings()
LONG_AGO = datetime.min.replace(tzinfo=UTC)
TIMED_SECTIONS = frozenset(section.name for section in SECTIONS if section.shows_time)
BARE_SECTIONS = frozenset(section.name for section in SECTIONS if section.is_bare)
MAX_NAMES_CHARS = 150  # of people's names in the introduction
MAX_NAME_CHARS = 40
MAX_NAMES_TOKENS = 50  # of these names, by the family that needs most tokens
MAX_NAME_TOKENS = 20  # of one name: a letter of a rare script has several tokens
LARGEST_FAMILY = "other"  # the tokenizer family that needs most tokens
SCOPE_TITLES = {
    ScopeKind.ROOM: "room {0}",
    ScopeKind.DM: "",
    ScopeKind.SESSION: "session {2}",
    ScopeKind.PRIVATE_SESSION: "private session {2}",
}
SPEAKER_COLON = re.compile(r"[:：]\s+")
_new_line = fast_constructor(Line)
_STRUCTURE = str.maketrans({"[": "(", "]": ")", "|": "/", "\n": " "})


@dataclass(frozen=True, slots=True)
class RenderedContext:
    text: str
    stable_prefix_length: int  # characters from the beginning that change rarely


@dataclass(frozen=True, kw_only=True)
class ContextWriter:
    """Writes the pieces of one context with its template, in the configured order."""

    template: ContextTemplate = MARKDOWN
    settings: ComposeSettings = DEFAULTS
    viewer: Viewer | None = None
    now: datetime = LONG_AGO
    is_past: bool = False

    @cached_property
    def style(self) -> str:
        """The key of rendered lines in caches; empty if they must not be cached."""
        return template_key(self.template)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names of the sections to show, in order."""
        return self.settings.sections or tuple(SECTIONS_BY_NAME)

    @cached_property
    def stable_count(self) -> int:
        """The number of stable sections before the first one that depends on the question."""
        unstable = (at for at, name in enumerate(self.order) if name not in STABLE_SECTIONS)
        return next(unstable, len(self.order))

    @cached_property
    def _today(self) -> date:
        return self.now.date()

    @cached_property
    def _marks(self) -> frozenset[str]:
        return frozenset(self.settings.marks)

    def write_line(self, item: ContextItem, part: str) -> str:
        """Return the line of an item: `- 2026-03-02 [decision] alice: the text`."""
        return self.write_clean_line(item, part, clean_text(item.text))

    def write_clean_line(self, item: ContextItem, part: str, text: str) -> str:
        """Return the line of an item whose text is clean already."""
        return self._piece("line", self.make_line(item, part, text))

    def make_line(self, item: ContextItem, part: str, text: str) -> Line:
        """Return what a template may know of an item."""
        if part in BARE_SECTIONS:
            return Line(section=part, text=text, is_bare=True)
        marks, why, at = self._marks, item.why, item.at
        kind, times = why.get("kind"), why.get(MENTION_COUNT_KEY)
        day, time = (at.date(), at.time()) if at else (None, None)
        is_timed = part in TIMED_SECTIONS
        return _new_line(
            section=part,
            text=text,
            day=_format_day(day) if day and not (is_timed and day == self._today) else None,
            time=time.isoformat("minutes") if time is not None and is_timed else None,
            speaker=_clean_name(item.speaker) if item.speaker else None,
            kind=_clean_kind(str(kind)) if kind and _is_shown_kind(kind, marks) else None,
            source=_source_mark(item) if "source" in marks else None,
            scope=_line_name(item.scope) if item.scope and "scope" in marks else None,
            times=int(times) if times and "times" in marks else None,
            sure=str(why[SURE_KEY]) if SURE_KEY in why and "unsure" in marks else None,
        )

    def line_end(self) -> str:
        """Return what follows a line."""
        return f"{self.template.between_lines}\n"

    def section_frame(self, part: str) -> tuple[str, str]:
        """Return the pieces before and after the lines of a section, as they are counted."""
        begin, end = self._section_pieces(part)
        return f"{begin}\n" if begin else "", f"{end}{self.template.between_blocks}\n"

    def frame(self, *, has_stable: bool, remarks: Sequence[str]) -> Iterator[str]:
        """Yield all pieces outside of the sections, as they are counted."""
        start = self.introduction(has_stable), self.moment(has_stable)
        blocks = (*start, *map(self.remark, remarks))
        yield from (f"{each}{self.template.between_blocks}\n" for each in blocks if each)
        yield from (f"{each}\n" for each in (self.begin(), self.end()) if each)
        yield from (CACHED_FENCE[0], CACHED_FENCE[1].lstrip())

    def begin(self) -> str:
        return self._piece("begin")

    def end(self) -> str:
        return self._piece("end")

    def introduction(self, has_stable: bool) -> str:
        """Return the first block; the names are part of it if a stable section has a line."""
        where = surroundings_of(self.viewer) if has_stable and self.viewer else None
        return self._piece("introduction", where)

    def moment(self, has_stable: bool) -> str:
        return self._piece(
            "moment", Moment(at=self.now, is_past=self.is_past, after_section=has_stable)
        )

    def remark(self, text: str) -> str:
        return self._piece("remark", text)

    def write_section(
        self, part: str, items: Sequence[ContextItem], remark: str | None
    ) -> str | None:
        """Return the remark about a section and its block, one of them, or None."""
        above = self.remark(remark) if remark else None
        if not items:
            return above
        begin, end = self._section_pieces(part)
        lines = [item.line or self.write_line(item, part) for item in items]
        block = "\n".join(filter(None, (begin, self.line_end().join(lines), end)))
        return f"{self.template.between_blocks}\n".join([above, block]) if above else block

    def _section_pieces(self, part: str) -> tuple[str, str]:
        heading = clean_text(self.settings.headings.get(part) or SECTIONS_BY_NAME[part].heading)
        title = SectionTitle(name=part, heading=" ".join(heading.split()))
        return self._piece("begin_section", title), self._piece("end_section", title)

    def _piece(self, method: str, *arguments: object) -> str:
        """Return a piece of the template; raise InvalidInput if it fails or is not text."""
        try:
            piece = getattr(self.template, method)(*arguments)
        except Exception as error:  # the code of a caller
            raise InvalidInput(
                f"{type(self.template).__name__}.{method} failed with"
                f" {type(error).__name__}: {error!s:.200}"
            ) from error
        if type(piece) is not str:
            raise InvalidInput(
                f"{type(self.template).__name__}.{method} must return a str,"
                f" got {type(piece).__name__}"
            )
        return piece


def check_order(settings: ComposeSettings) -> None:
    """Raise InvalidInput unless the configured sections exist and each is named once."""
    for name in (*settings.sections, *settings.headings):
        if name not in SECTIONS_BY_NAME:
            raise InvalidInput(
                f"memory.compose: unknown section {name!r:.80};"
                f" accepted: {', '.join(SECTIONS_BY_NAME)}"
            )
    if len(set(settings.sections)) < len(settings.sections):
        raise InvalidInput(f"memory.compose.sections names one twice: {settings.sections}")


def render_context(
    writer: ContextWriter,
    sections: Mapping[str, Sequence[ContextItem]],
    *,
    remarks: Mapping[str, str] | None = None,
) -> RenderedContext:
    """Return one fenced text: the introduction, then every section that has items, in order.

    `remarks` are shown in place of items, by section name.
    """
    remarks = remarks or {}
    names, count = writer.order, writer.stable_count
    blocks = {
        name: block
        for name in names
        if (block := writer.write_section(name, sections.get(name, ()), remarks.get(name)))
    }
    has_stable = has_stable_items(sections)
    stable = [writer.introduction(has_stable)]
    stable += [blocks[name] for name in names[:count] if name in blocks]
    changing = [
        writer.moment(has_stable),
        *(blocks[name] for name in names[count:] if name in blocks),
    ]
    stable, changing = [list(filter(None, each)) for each in (stable, changing)]
    between = f"{writer.template.between_blocks}\n"
    body = between.join([*stable, *changing])
    prefix = body if not changing else between.join([*stable, ""])
    start = f"{begin}\n" if (begin := writer.begin()) else ""
    end = f"\n{end}" if (end := writer.end()) else ""
    text = fence_for_cache(f"{start}{body}{end}")
    opened = fence_for_cache(start + prefix, end="")
    while not text.startswith(opened):  # its end and what follows make a fence tag
        opened = opened[:-1]
    return RenderedContext(text, len(opened))


def has_stable_items(sections: Mapping[str, Sequence[ContextItem]]) -> bool:
    """Return whether any stable section has items."""
    return any(sections.get(name) for name in STABLE_SECTIONS)


def empty_period_remark(period: str) -> str:
    """Return the remark about a period that the question asks about."""
    return f"Nothing was recorded {period}."


def clean_text(text: str) -> str:
    """Return a text with visible control characters and without fence tags."""
    return neutralize_markup(reveal_invisible(text)).strip()


def mask_items(items: Sequence[ContextItem]) -> Sequence[ContextItem]:
    """Return the items with every secret in a text masked. Items of all sections pass here."""
    from ..text.secrets import mask_text  # loaded with the first context

    masked = [mask_text(item.text) for item in items]
    return [
        item if text is item.text else replace(item, text=text, line="", words="")
        for item, text in zip(items, masked, strict=True)
    ]


def surroundings_of(viewer: Viewer) -> Surroundings:
    """Return place, people, agent and project of a viewer as clean names."""
    return Surroundings(
        agent=_header_name(viewer.agent.value),
        place=scope_title(viewer.home),
        people=tuple(_fit_names([person.value for person in viewer.people])),
        project=_header_name(viewer.project) if viewer.project else None,
    )


def _fit_names(people: Sequence[str]) -> list[str]:
    """Return the names that fit in the introduction, then the number of those that do not."""
    names: list[str] = []
    letters, tokens = MAX_NAMES_CHARS, MAX_NAMES_TOKENS
    for person in people:
        name = _header_name(person)
        letters, tokens = letters - len(name), tokens - count_tokens(name, LARGEST_FAMILY)
        if letters < 0 or tokens < 0:
            return [*names, f"and {len(people) - len(names)} more" if names else "many"]
        names.append(name)
    return names


def scope_title(scope: Scope) -> str:
    names = [_header_name(part) for part in scope.ids]
    return SCOPE_TITLES.get(scope.kind, " ".join([scope.kind.value, *names])).format(*names)


@lru_cache(maxsize=100)  # the lines of a context are of few days
def _format_day(day: date) -> str:
    return day.isoformat()


def is_same_line(one: ContextItem, other: ContextItem) -> bool:
    """Return True if two items of a section are rendered as the same line."""
    return (
        one.text == other.text
        and one.at == other.at
        and one.speaker == other.speaker
        and one.trust is other.trust
        and one.scope == other.scope
        and one.why.get("kind") == other.why.get("kind")
        and all(one.why.get(key) == other.why.get(key) for key in MARK_KEYS)
    )


def _is_shown_kind(kind: float | str, marks: frozenset[str]) -> bool:
    return "kind" in marks and kind not in USUAL_KINDS


def _source_mark(item: ContextItem) -> str | None:
    """Return where a line is from, unless a person said it.

    What was counted in messages is "observed": nobody said it.
    """
    if OBSERVED in item.why:
        return OBSERVED
    return None if item.trust is Trust.DIRECT else TRUST_MARKS[item.trust]


@lru_cache(maxsize=1_000)
def _clean_kind(kind: str) -> str:
    return SPEAKER_COLON.sub(" ", reveal_invisible(kind).translate(_STRUCTURE))


@lru_cache(maxsize=1_000)
def _clean_name(name: str) -> str:
    """Return a name without colons, so that it cannot look like a speaker and a message."""
    return SPEAKER_COLON.sub(" ", _line_name(name))


@lru_cache(maxsize=1_000)
def _header_name(name: str) -> str:
    """Return a name of at most MAX_NAME_TOKENS tokens."""
    plain = _line_name(name)
    while (tokens := count_tokens(plain, LARGEST_FAMILY)) > MAX_NAME_TOKENS:
        plain = plain[: min(len(plain) - 2, len(plain) * MAX_NAME_TOKENS // tokens)] + "…"
    return plain


@lru_cache(maxsize=1_000)  # the same people speak line after line
def _line_name(name: str) -> str:
    """Return a name without the characters that structure a line, at most MAX_NAME_CHARS long."""
    from ..text.secrets import mask_text  # loaded with the first context

    plain = neutralize_markup(mask_text(reveal_invisible(name))).translate(_STRUCTURE)
    return plain if len(plain) <= MAX_NAME_CHARS else plain[: MAX_NAME_CHARS - 1] + "…"
