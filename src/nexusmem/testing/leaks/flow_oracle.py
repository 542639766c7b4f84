"""Oracle of the leak tests: who may and who must know a statement, by the table of flows.

It is written from the table alone and shares no rule with `core/flows.py` or `learn/flows`, so that
a bug there is not repeated here. `SENTENCES` are statements whose topic is beyond doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ...core.access import Label, Viewer
from ...core.flows import Sharing
from ...core.scope import Scope, ScopeKind
from ...learn.flows.decide import SentenceScores


class Topic(StrEnum):
    """What a statement is about."""

    SELF = "self"  # the speaker: may leave a private place and a room
    PERSONAL = "personal"  # the speaker: may leave a private place, but not a room
    PROJECT = "project"
    NEITHER = "neither"
    DISCREET = "discreet"  # confidential or sensitive
    CALL_BACK = "call back"  # asks for discretion about the speaker's message before
    UNCLEAR = (
        "unclear"  # words without a sentence: may be taken for a project's, not for a person's
    )


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its topic, and a word that no other sentence has."""

    topic: Topic
    text: str
    mark: str


SENTENCES = (
    Sentence(Topic.SELF, "I prefer tables over long text about tea.", "tables"),
    Sentence(Topic.SELF, "I work as a turbine engineer.", "turbine"),
    Sentence(Topic.SELF, "I prefer dark mode in every editor.", "dark mode"),
    Sentence(Topic.SELF, "I know a lot about Kubernetes.", "Kubernetes"),
    Sentence(Topic.PERSONAL, "My sister is called Wilma and she likes tea.", "Wilma"),
    Sentence(Topic.PERSONAL, "My brother is called Oskar and he likes the heron.", "Oskar"),
    Sentence(Topic.PROJECT, "We agreed to migrate the ledger to MySQL.", "MySQL"),
    Sentence(Topic.PROJECT, "We decided to use Kafka for the staging database.", "Kafka"),
    Sentence(Topic.NEITHER, "The train to the museum was late again.", "museum"),
    Sentence(Topic.NEITHER, "A blue heron stood in the river near the willow.", "willow"),
    Sentence(Topic.DISCREET, "Between us, I prefer rooibos tea.", "rooibos"),
    Sentence(Topic.DISCREET, "I was diagnosed with diabetes and drink chamomile tea.", "chamomile"),
    Sentence(Topic.DISCREET, "My salary is 90000 and I like matcha tea.", "matcha"),
)
CALL_BACK = "Please keep that between us."
TOPICS = {**{each.text: each.topic for each in SENTENCES}, CALL_BACK: Topic.CALL_BACK}
STAYING_TOPICS = (Topic.DISCREET, Topic.CALL_BACK)


def topic_of(text: str) -> Topic:
    return TOPICS.get(text, Topic.UNCLEAR)


class KnownTopics:
    """Stands in for the classifier of flows: it knows the topics of `SENTENCES`.

    Leak tests are about the rules. How well topics are recognized is measured elsewhere, and must
    not change the result of a leak test. Discreet sentences are about the speaker, too: only the
    patterns for what is confidential or sensitive keep them in their place.
    """

    def score(self, sentences: Sequence[str]) -> list[SentenceScores]:
        return [_known_scores(topic_of(sentence)) for sentence in sentences]


def _known_scores(topic: Topic) -> SentenceScores:
    return SentenceScores(
        self=float(topic in (Topic.SELF, Topic.PERSONAL, Topic.DISCREET)),
        room=float(topic in (Topic.SELF, Topic.DISCREET)),
        home=float(topic is Topic.PERSONAL),
        project=float(topic is Topic.PROJECT),
        confidential=0.0,
        sensitive=0.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldStatement:
    """Something that was said or noted: where, by whom, and how it was stored."""

    place: Viewer
    scope: Scope  # where it is stored: usually the place
    method: str  # of Place
    speaker: str
    text: str
    confidential: bool = False

    @property
    def is_by_person(self) -> bool:
        """Whether a person said it: notes of a room are the agent's."""
        if self.method == "remember":
            return self.place.user is not None
        return self.speaker != self.place.agent.value


def home_of(viewer: Viewer) -> Scope:
    """Return the scope of a place."""
    if viewer.room:
        return Scope.room(viewer.room)
    assert viewer.user is not None  # a viewer has a room or a user
    if viewer.session:
        ids = viewer.user.value, viewer.agent.value, viewer.session
        return Scope.session(*ids, private=viewer.private)
    return Scope.dm(viewer.user.value, viewer.agent.value)


def is_shown(viewer: Viewer, scope: Scope, sharing: Sharing) -> bool:
    """Return whether a place shows what is stored in a scope, without a copy by a flow."""
    person = None if viewer.room or not viewer.user else viewer.user.value
    people = [each.value for each in viewer.participants] if viewer.room else [person]
    kind, first = scope.kind, scope.ids[0] if scope.ids else None
    if kind in (ScopeKind.DM, ScopeKind.SESSION) and sharing.sessions and person is not None:
        return scope.ids[:2] == (person, viewer.agent.value)
    shown = {
        ScopeKind.WORKSPACE: True,
        ScopeKind.AGENT: first == viewer.agent.value,
        ScopeKind.PROJECT: first == viewer.project,
        ScopeKind.USER: first in people,
        ScopeKind.PRIVATE: first == person,
        ScopeKind.FLOW: kind is ScopeKind.FLOW and is_switched_on(scope.ids[0], sharing),
    }
    return shown[kind] if kind in shown else scope == home_of(viewer)


def is_label_shown(viewer: Viewer, label: Label, sharing: Sharing) -> bool:
    return all(is_shown(viewer, scope, sharing) for scope in label)


def is_switched_on(rule: str, sharing: Sharing) -> bool:
    """Return whether a rule of the table is on, by its name."""
    if rule in ("agents", "everything"):
        allowed = ("everything",) if rule == "everything" else ("profile", "everything")
        return sharing.agents in allowed
    return getattr(sharing, rule) is True


def may_know(
    viewer: Viewer, statement: ToldStatement, sharing: Sharing, *, coarse: bool = False
) -> bool:
    """Return whether a place may show a statement, or what is learned from it.

    `coarse` looks at the place of the statement only, for tests in which frequent use may promote
    any fact of a place.
    """
    if is_shown(viewer, statement.scope, sharing):
        return True
    targets = coarse_targets if coarse else flow_targets
    return any(is_shown(viewer, target, sharing) for target in targets(statement, sharing))


def must_know(viewer: Viewer, statement: ToldStatement, sharing: Sharing) -> bool:
    """Return whether a place must show a statement."""
    if topic_of(statement.text) is Topic.UNCLEAR:
        return is_shown(viewer, statement.scope, sharing)
    return may_know(viewer, statement, sharing)


def flow_targets(statement: ToldStatement, sharing: Sharing) -> Iterator[Scope]:
    """Yield the scopes to which the table lets a statement be copied."""
    topic, scope = topic_of(statement.text), statement.scope
    if statement.method not in ("observe", "remember"):
        return
    if statement.confidential or topic in STAYING_TOPICS:
        return
    if scope.kind in (ScopeKind.DM, ScopeKind.SESSION):
        owner = scope.ids[0]
        is_own = statement.is_by_person and statement.speaker == owner
        is_about_self = is_own and topic in (Topic.SELF, Topic.PERSONAL)
        if sharing.agents == "everything" or (sharing.agents == "profile" and is_about_self):
            yield Scope.private(owner)
    elif scope.kind is ScopeKind.ROOM:
        yield from _room_targets(statement, topic, sharing)


def _room_targets(statement: ToldStatement, topic: Topic, sharing: Sharing) -> Iterator[Scope]:
    place = statement.place
    if statement.is_by_person and sharing.profile and topic is Topic.SELF:
        yield Scope.user(statement.speaker)
    if statement.method != "observe":
        return
    is_project = statement.is_by_person and topic in (Topic.PROJECT, Topic.UNCLEAR)
    if sharing.project and place.project and is_project:
        yield Scope.project(place.project)
    if sharing.rooms:
        yield from (Scope.private(person.value) for person in place.participants)


def coarse_targets(statement: ToldStatement, sharing: Sharing) -> Iterator[Scope]:
    """Yield the scopes to which anything said in the same place could be copied."""
    scope, place = statement.scope, statement.place
    if scope.kind in (ScopeKind.DM, ScopeKind.SESSION) and sharing.agents != "none":
        yield Scope.private(scope.ids[0])
    if scope.kind is ScopeKind.ROOM:
        people = {statement.speaker, *(person.value for person in place.participants)}
        yield from (Scope.user(name) for name in sorted(people) if sharing.profile)
        yield from (Scope.private(name) for name in sorted(people) if sharing.rooms)
        if sharing.project and place.project:
            yield Scope.project(place.project)
