"""Documents about somebody or something, woven from what is known; made again when it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import observe as tell
from .core.access import Grant, Viewer
from .core.derive import known_as
from .core.errors import NotFound
from .core.ids import check_name
from .core.records import Memory
from .maintain.dossiers import Dossier, Narrate, Subject, opened
from .maintain.weaving import Weaver, subject_of
from .reading import audited
from .recall.entities import meant
from .wiring import Parts

Listed = list[Dossier]  # inside the class, `list` is its method
Questions = list[str]


class Dossiers:
    """The dossiers of a place, as one viewer may read them."""

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant, narrate: Narrate | None) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant
        self._weaver = Weaver(
            store=parts.store,
            ranking=parts.ranking,
            grant=grant,
            home=viewer.home,
            narrate=narrate,
        )

    @audited
    def get(self, name: str) -> Dossier:
        """The dossier of a name as it would be written now: made anew if stale or missing."""
        check_name(name, "the name")
        self._parts.learner.catch_up(self._grant)
        found = self._fresh(self._weaver.standing().get(name) or Subject(self._meant(name)))
        if found is None:
            raise NotFound(f"nothing is known of {name!r} here")
        return found

    def _meant(self, name: str) -> str:
        people = [each.value for each in self._viewer.people]
        return meant(self._parts.store, self._grant, name, people)

    @audited
    def ask(self, question: str) -> Dossier | None:
        """Keep the answer to a question fresh from now on; None as long as nothing answers."""
        check_name(question, "the question")
        if question not in self._questions():
            self._tell(question, dropped=False)
        self._parts.learner.catch_up(self._grant)
        return self._fresh(self._weaver.subject(question))

    def drop(self, question: str) -> None:
        """Keep this answer fresh no more."""
        if question not in self._questions():
            raise NotFound(f"{question!r:.80} is not asked here")
        subject = self._weaver.subject(question)
        self._tell(question, dropped=True)
        self._weaver.drop(subject)

    @audited
    def questions(self) -> Questions:
        """What is asked here for good, oldest first."""
        return self._questions()

    def _questions(self) -> Questions:
        self._parts.learner.catch_up(self._grant.within([self._viewer.home]))
        return [*self._weaver.standing()]

    @audited
    def answers(self) -> Mapping[str, Dossier | None]:
        """The answer to each standing question as it is now."""
        self._parts.learner.catch_up(self._grant)
        return {name: self._fresh(subject) for name, subject in self._weaver.standing().items()}

    @audited
    def list(self) -> Listed:
        """Those that were made here, by name, each with whether it is stale."""
        self._parts.learner.catch_up(self._grant)
        shown = [self._opened(each, self._mark(subject_of(each))) for each in self._kept()]
        return sorted(shown, key=lambda each: (known_as(each.name), each.id))

    @audited
    def refresh(self) -> int:
        """Make the stale ones anew; how many that were."""
        self._parts.learner.catch_up(self._grant)
        wanted = dict.fromkeys([*map(subject_of, self._kept()), *self._weaver.standing().values()])
        now = self._parts.now()
        orders = [self._weaver.order(each, looked_at=now) for each in wanted]
        return sum(self._weaver.weave(each, now=now).changed for each in orders)

    def _kept(self) -> Sequence[Memory]:
        """Not the answers to what is no longer asked: a worker takes those away."""
        asked = {None, *(each.asked for each in self._weaver.standing().values())}
        return [each for each in self._weaver.kept() if subject_of(each).asked in asked]

    def _fresh(self, subject: Subject) -> Dossier | None:
        """As it is now; that it was looked at is counted."""
        now = self._parts.now()
        order = self._weaver.order(subject, looked_at=now)
        watch = self._weaver.watch(order, now=now)
        memory = self._weaver.weave(order, now=now).memory
        seen = [memory.id if memory else None, watch]
        self._parts.used(self._viewer, filter(None, seen), now)
        return self._opened(memory, memory.body["mark"]) if memory else None

    def _opened(self, memory: Memory, mark: str | None) -> Dossier:
        return opened(self._parts.store, self._grant, memory, mark=mark)

    def _mark(self, subject: Subject) -> str | None:
        found = self._weaver.material(subject, now=self._parts.now())
        return found.mark if found else None

    def _tell(self, question: str, *, dropped: bool) -> None:
        now = self._parts.now()
        event = tell.question(self._viewer, question, dropped=dropped, now=now)
        self._parts.append(self._viewer.workspace, [event], now)
