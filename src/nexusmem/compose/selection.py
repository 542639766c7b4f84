"""Selection: from the items that the sections found to those that a context shows. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.records.context import ContextItem, CutItem, make_cut
from ..text.terms import normalize_words
from ..text.tokens import token_counter, tokenizer_family
from .budget import (
    CUT_BY_BUDGET,
    MIN_PIECE_TOKENS,
    SectionOffer,
    SectionShare,
    share_budget,
    shorten_item,
)
from .caching.viewer_caches import ViewerLines
from .deduplicate import (
    DedupResult,
    ItemKey,
    LineComparison,
    RepeatedItem,
    VisibleMessages,
    compare_lines,
    drop_repeated,
    item_words,
)
from .render import (
    NOTHING_FOUND,
    NOTHING_MORE,
    ContextWriter,
    clean_text,
    empty_period_remark,
    has_stable_items,
    is_same_line,
)
from .request import ContextRequest, SectionInput
from .sections import SECTIONS_BY_NAME, STABLE_SECTIONS
from .sections.landmarks import LANDMARKS
from .sections.recall import RECALL, RELATED
from .sections.window import WINDOW
from .settings import ComposeSettings

MAX_ROUNDS = 3  # an item that fits after all may take the room of another one
MIN_LANDMARK_TOKENS = 15  # landmarks are limited to as many of this size as fit in the section
CUT_BY_LIMIT = "limit"
MAX_ITEM_DIVISOR = 3  # one item takes at most a third of its section


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSelection:
    """The items to show, the items that were cut, and remarks for empty sections."""

    shares: Mapping[str, SectionShare]
    cut: tuple[CutItem, ...]
    remarks: Mapping[str, str]
    tokens: int


@dataclass(frozen=True, slots=True)
class TokenMeter:
    """Counts tokens as one tokenizer family does, with a cache of rendered lines."""

    family: str
    lines: ViewerLines = field(default_factory=ViewerLines)
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)  # text → (clean, words)
    writer: ContextWriter = field(default_factory=ContextWriter)

    @classmethod
    def for_model(cls, model: str | None, writer: ContextWriter) -> TokenMeter:
        return cls(tokenizer_family(model), writer=writer)

    def count_tokens(self, text: str) -> int:
        return token_counter(self.family)(text)

    def item_tokens(self, item: ContextItem, part: str) -> int:
        return self.line_tokens(self.writer.write_line(item, part))

    def line_tokens(self, line: str) -> int:
        """Return the tokens of a line, whether another one follows it or not.

        A comma after a line may merge with its last characters: then the last line needs more.
        """
        end = self.writer.line_end()
        tokens = self.count_tokens(line + end)
        return tokens if end == "\n" else max(tokens, self.count_tokens(f"{line}\n"))

    def count_items(self, part: str, items: Iterable[ContextItem]) -> list[ContextItem]:
        """Return the items with their tokens; items that have tokens are unchanged."""
        made, write = list(items), self.writer.write_clean_line
        cached, texts, new = self.lines.section_items(part), self.texts, []
        for item in made:
            if item.tokens:
                continue
            previous = cached.get(item.id)
            if previous and is_same_line(previous, item):
                item.set_rendering(previous.line, previous.tokens, previous.words)
            else:
                text = item.text
                shown, words = texts.get(text) or texts.setdefault(text, _text_and_words(text))
                line = write(item, part, shown)
                new.append(item.set_rendering(line, self.line_tokens(line), words))
        self.lines.add_items(part, new)
        return made

    def heading_tokens(self, part: str) -> int:
        """Return the tokens of a section besides its lines."""
        return sum(map(self.count_tokens, self.writer.section_frame(part)))

    def frame_tokens(
        self, sections: Mapping[str, Sequence[ContextItem]], remarks: Sequence[str]
    ) -> int:
        """Return the tokens outside of these sections: introduction, moment, remarks, fence."""
        pieces = self.writer.frame(has_stable=has_stable_items(sections), remarks=remarks)
        return sum(map(self.count_tokens, pieces))


def _text_and_words(text: str) -> tuple[str, str]:
    return clean_text(text), normalize_words(text)


def select_items(
    inputs: SectionInput,
    request: ContextRequest,
    settings: ComposeSettings,
    candidates: Mapping[str, Sequence[ContextItem]],
    meter: TokenMeter,
) -> SectionSelection:
    """Choose the items to show within the budget of the request or the settings."""
    counted: dict[str, Sequence[ContextItem]]
    counted = {part: meter.count_items(part, items) for part, items in candidates.items()}
    landmarks = counted.get(LANDMARKS.name, ())
    offered = _most_valuable(landmarks, settings.section_cap(LANDMARKS) // MIN_LANDMARK_TOKENS)
    counted[LANDMARKS.name] = offered
    over_limit = _cuts_by_limit(LANDMARKS.name, landmarks, offered)
    visible = _visible_messages(inputs, request, settings, counted.get(WINDOW.name, ()))
    lines = compare_lines(counted, visible)
    empty = inputs.empty_period
    remark = empty_period_remark(empty) if empty else NOTHING_MORE
    frame = meter.frame_tokens(counted, [remark])
    room = (request.budget or settings.budget_tokens) - frame
    deduplicated, shares, cuts = _allocate_room(lines, settings, meter, room)
    unshown: set[ItemKey] = set()
    dropped: set[ItemKey] = set()
    for _ in range(MAX_ROUNDS):
        orphans = [
            each for each in _find_orphans(deduplicated, shares) if each.original not in unshown
        ]
        if not orphans:
            break
        # The original did not fit, so the item that repeats it is shown instead.
        unshown.update(each.original for each in orphans)
        dropped |= items_to_drop(orphans)
        deduplicated, shares, cuts = _allocate_room(
            lines, settings, meter, room, unshown=unshown, dropped=dropped
        )
        cuts += _cut_all(counted, dropped)
    remarks = _make_remarks(inputs, candidates, shares)
    shown = {part: each.items for part, each in shares.items()}
    frame = meter.frame_tokens(shown, list(remarks.values()))
    return SectionSelection(
        shares=shares,
        cut=(*deduplicated.cuts, *cuts, *over_limit),
        remarks=remarks,
        tokens=frame + sum(each.tokens for each in shares.values()),
    )


def _allocate_room(
    lines: LineComparison,
    settings: ComposeSettings,
    meter: TokenMeter,
    room: int,
    *,
    unshown: Collection[ItemKey] = (),
    dropped: Collection[ItemKey] = (),
) -> tuple[DedupResult, dict[str, SectionShare], tuple[CutItem, ...]]:
    """Drop repetitions, then divide `room` tokens among the rest."""
    deduplicated = drop_repeated(lines, unshown, dropped)
    for part, limit in ((RECALL.name, settings.max_hits), (RELATED.name, settings.max_related)):
        hits = deduplicated.items[part]
        shown = deduplicated.items[part] = tuple(_most_valuable(hits, limit))
        deduplicated.cuts.extend(_cuts_by_limit(part, hits, shown))
    offers = [
        _make_offer(part, items, settings, meter)
        for part, items in deduplicated.items.items()
        if items
    ]
    return deduplicated, *share_budget(offers, room, meter.item_tokens)


def _most_valuable(items: Sequence[ContextItem], limit: int) -> Sequence[ContextItem]:
    """Return the `limit` items that are worth most, in their order."""
    if len(items) <= limit:
        return items
    ids = {item.id for item in sorted(items, key=lambda item: -item.worth)[:limit]}
    return [item for item in items if item.id in ids]


def _cuts_by_limit(
    part: str, candidates: Sequence[ContextItem], offered: Sequence[ContextItem]
) -> list[CutItem]:
    """Return a cut for each candidate that was not offered."""
    if len(candidates) == len(offered):
        return []
    ids = {item.id for item in offered}
    return [
        make_cut(part=part, id=item.id, tokens=item.tokens, why=CUT_BY_LIMIT)
        for item in candidates
        if item.id not in ids
    ]


def _find_orphans(
    deduplicated: DedupResult, shares: Mapping[str, SectionShare]
) -> list[RepeatedItem]:
    """Return the dropped items whose original is not shown, or not as far as they need."""
    if not deduplicated.repeats:
        return []
    shown = {(each.part, item.id): item for each in shares.values() for item in each.items}
    return [each for each in deduplicated.repeats if not each.is_still_shown(shown)]


def items_to_drop(orphaned: Iterable[RepeatedItem]) -> set[ItemKey]:
    """Return the originals to drop, so that they do not fit later and repeat an item.

    An original in a stable section stays, unless the item that repeats it is stable too: nothing
    that depends on the question may change a stable section.
    """
    return {
        each.original
        for each in orphaned
        if each.original[0] not in STABLE_SECTIONS or each.part in STABLE_SECTIONS
    }


def _cut_all(
    counted: Mapping[str, Sequence[ContextItem]], dropped: Collection[ItemKey]
) -> tuple[CutItem, ...]:
    cuts = (
        CutItem(part=part, id=item.id, tokens=item.tokens, why=CUT_BY_BUDGET)
        for part, items in counted.items()
        for item in items
        if (part, item.id) in dropped
    )
    return tuple(cuts)


def _visible_messages(
    inputs: SectionInput,
    request: ContextRequest,
    settings: ComposeSettings,
    window: Sequence[ContextItem],
) -> VisibleMessages:
    """Return what the model sees in any case: the caller's messages and the end of the window.

    The end of the window depends on nothing but the window, so that the stable sections do not
    change with the question.
    """
    room = settings.section_floor(WINDOW)
    surely_shown: list[ContextItem] = []
    for item in reversed(window):
        room -= item.tokens
        if room < 0:
            break
        surely_shown.append(item)
    message_words = (normalize_words(each.text) for each in request.messages)
    words = [*message_words, *map(item_words, surely_shown)]
    events = inputs.shown_event_ids.union(item.id for item in surely_shown)
    return VisibleMessages(event_ids=events, words="\n".join(words))


def _make_offer(
    part: str, items: Sequence[ContextItem], settings: ComposeSettings, meter: TokenMeter
) -> SectionOffer:
    section = SECTIONS_BY_NAME[part]
    cap = settings.section_cap(section)
    longest = max(MIN_PIECE_TOKENS, (cap or settings.section_floor(WINDOW)) // MAX_ITEM_DIVISOR)
    fitted = (
        item
        if item.tokens <= longest
        else shorten_item(item, longest, part, meter.item_tokens) or item
        for item in items
    )
    return SectionOffer(
        part=part,
        items=tuple(fitted),
        budget=cap,
        floor=settings.section_floor(section),
        heading_tokens=meter.heading_tokens(part),
    )


def _make_remarks(
    inputs: SectionInput,
    candidates: Mapping[str, Sequence[ContextItem]],
    shares: Mapping[str, SectionShare],
) -> dict[str, str]:
    """Return the remark that tells the model that the search has nothing to show."""
    if inputs.empty_period:
        return {RECALL.name: empty_period_remark(inputs.empty_period)}
    parts = (RECALL.name, RELATED.name)
    is_shown = any(part in shares and shares[part].items for part in parts)
    if RECALL.name not in inputs.plan.sections or is_shown:
        return {}
    is_known = any(candidates.get(part) for part in parts)
    return {RECALL.name: NOTHING_MORE if is_known else NOTHING_FOUND}
