"""From pieces to the drafts of episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...core.canonical import time_text
from ...core.derive import known_as
from ...core.ids import WorkspaceId
from ...core.records import Draft, Memory, MemoryKind, memory_id
from ...core.scope import Scope
from ..immune import NOTHING_INJECTED, Injected, own_words
from .narrating import Narrator, Said
from .splitting import Piece
from .telling import Line, chosen, lines_again, lines_of

MADE_BY = "extractive@2"
SOURCE = "episode"
SALIENCE = 0.7  # what a session or a day came to is kept for long
MOST_ENTITIES = 24
MOST_TOPICS = 10
MOST_PEOPLE = 50
MOST_IDS = 200  # landmarks and facts an episode names


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells episodes of one workspace: in people's own words, or in a model's if there is one."""

    workspace: WorkspaceId
    narrator: Narrator | None = None
    injected: Injected = NOTHING_INJECTED

    def of_piece(self, scope: Scope, piece: Piece, derived: Sequence[Memory]) -> Draft | None:
        """The episode of a thread or a session, or nothing if nothing was said in it.

        `derived` is what was learned from its events.
        """
        ids = {event.id for event in piece.events}
        own = [each for each in derived if _rests_here(each, scope, ids)]
        landmarks = [each for each in own if each.kind is MemoryKind.LANDMARK]
        facts = [each for each in own if each.kind is MemoryKind.FACT]
        labels = [each for each in own if each.body.get("span") == "turn"]
        lines = chosen(lines_of(piece.events, [*landmarks, *facts], self.injected))
        if not lines:
            return None
        people = dict.fromkeys(event.speaker for event in piece.events)
        said = [Said(e.at, e.speaker, own_words(e, self.injected)) for e in piece.events]
        return self._draft(
            scope,
            piece.span,
            sources=tuple(event.id for event in piece.events),
            lines=lines,
            said=said,
            thread=piece.thread,
            body={
                "start": time_text(piece.start),
                "end": time_text(piece.end),
                "participants": list(people)[:MOST_PEOPLE],
                "entities": _most_common((e.body["entities"] for e in labels), MOST_ENTITIES),
                "topics": _most_common((e.body["topics"] for e in labels), MOST_TOPICS),
                "landmarks": [each.id for each in landmarks][:MOST_IDS],
                "facts": [each.id for each in facts][:MOST_IDS],
            },
        )

    def of_episodes(
        self, scope: Scope, span: str, lower: Sequence[Memory], landmarks: Sequence[Memory]
    ) -> Draft:
        """The episode of a day or a week, from those it is made of, oldest first."""
        lines = chosen(lines_again(lower, (each.text for each in landmarks)))
        bodies = [each.body for each in lower]
        said = [Said(each.at, "", line) for each in lower for line in each.text.split("\n")]
        return self._draft(
            scope,
            span,
            sources=tuple(each.id for each in lower),
            lines=lines,
            said=said,
            body={
                "start": min(body["start"] for body in bodies),
                "end": max(body["end"] for body in bodies),
                "participants": _once((body["participants"] for body in bodies), MOST_PEOPLE),
                "entities": _most_common((body["entities"] for body in bodies), MOST_ENTITIES),
                "topics": _most_common((body["topics"] for body in bodies), MOST_TOPICS),
                "landmarks": _once((body["landmarks"] for body in bodies), MOST_IDS),
                "facts": _once((body["facts"] for body in bodies), MOST_IDS),
            },
        )

    def _draft(
        self,
        scope: Scope,
        span: str,
        *,
        sources: tuple[str, ...],
        lines: Sequence[Line],
        said: Sequence[Said],
        body: dict[str, object],
        thread: str | None = None,
    ) -> Draft:
        text, metadata = self._told(span, lines, said)
        found_by = [*_texts(body["participants"]), *_texts(body["entities"])]
        return Draft(
            scope=scope,
            kind=MemoryKind.EPISODE,
            text=text,
            sources=sources,
            slot=span,
            indexed_text=" ".join([text, *found_by, *_texts(body["topics"])]),
            salience=SALIENCE,
            source=SOURCE,
            thread=thread,
            learned=True,
            metadata=metadata,
            body={"span": span, "place": str(scope), **body},
        )

    def _told(
        self, span: str, lines: Sequence[Line], said: Sequence[Said]
    ) -> tuple[str, dict[str, object]]:
        """The text, and who made it; what was refused says why."""
        extractive = "\n".join(line.text for line in lines)
        if self.narrator is None:
            return extractive, {"made_by": [MADE_BY]}
        keep = [line.sentence for line in lines if line.landmark]
        narrated = self.narrator.narrate(self.workspace, span, said, keep)
        if narrated.refused is None:
            return "\n".join(narrated.sentences), {"made_by": [self.narrator.maker]}
        return extractive, {"made_by": [MADE_BY], "refused": narrated.refused}


def by_the_rules(episode: Memory) -> bool:
    """Whether it was told without a model, and would be told so again."""
    return episode.metadata.get("made_by") == [MADE_BY] and "refused" not in episode.metadata


def episode_id(scope: Scope, span: str, sources: Iterable[str]) -> str:
    """What an episode of these will be known by."""
    return memory_id(MemoryKind.EPISODE, scope, span, tuple(sources))


def _rests_here(memory: Memory, scope: Scope, ids: set[str]) -> bool:
    """Whether everything it rests on is part of the episode: else it would outlive its source."""
    return memory.label == frozenset({scope}) and ids.issuperset(memory.sources)


def _most_common(lists: Iterable[Sequence[str]], most: int) -> list[str]:
    """The names that come up most often, as they were first spelt."""
    spelt: dict[str, str] = {}
    counted: Counter[str] = Counter()
    for names in lists:
        for name in names:
            spelt.setdefault(known_as(name), name)
            counted[known_as(name)] += 1
    return [spelt[key] for key, _ in counted.most_common(most)]


def _once(lists: Iterable[Sequence[str]], most: int) -> list[str]:
    return list(dict.fromkeys(each for names in lists for each in names))[:most]


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
