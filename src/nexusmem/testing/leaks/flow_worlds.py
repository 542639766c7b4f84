"""Random worlds for the table of flows: what must arrive arrives, what must stay stays.

A `FlowWorld` says sentences with known topics in random places, forgets, corrects and withdraws
them, and switches the flows. `check` then compares what every place shows with `flow_oracle.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

from ...core.access import Viewer
from ...core.flows import AGENT_MODES, NO_SHARING, Sharing
from ...core.ids import AgentId, UserId, WorkspaceId
from ...core.protocols.store import Store
from ...core.scope import PERSONAL_KINDS, ScopeKind
from .flow_oracle import (
    CALL_BACK,
    SENTENCES,
    STAYING_TOPICS,
    Sentence,
    ToldStatement,
    flow_targets,
    home_of,
    is_shown,
)
from .operations import EventRef, MaintenanceStep, World, WriteEvent

WORKSPACE = WorkspaceId("w")
USERS = ("ann", "anna", "carol")
AGENTS = ("bot", "bot 2")
PROJECTS = (None, "p", "q")
ROOMS = {"r": "p", "r 2": "p", "r 3": "q", "r 4": None}  # with their projects
LIMIT = 100
FILLER = (  # of a long message: only its sentences about the speaker or the project may leave
    " The bus was late. It rained on Monday. The bakery was closed. The movie was long."
    " The park was empty. The soup was cold. "
)


@dataclass(slots=True, kw_only=True)
class Said:
    """One sentence of a message, and what became of it."""

    statement: ToldStatement
    sentence: Sentence | None  # None: only asks for discretion
    ref: EventRef
    written_with: Sharing
    learned_with: Sharing
    stays: bool  # it was withdrawn, or it corrects or accompanies something discreet
    is_erased: bool = False
    is_replaced: bool = False  # its memories are gone, the message is still there
    is_forgotten: bool = False  # its passage and its copies are gone, facts may be there
    is_unsure: bool = False  # no test demands that it is known


@dataclass(slots=True)
class FlowWorld:
    """A world with random statements, and the list of what was said in it."""

    world: World
    rng: Random
    said: list[Said] = field(default_factory=list)
    script: list[str] = field(default_factory=list)
    counter: int = 0

    # -- steps

    def run_steps(self, steps: int) -> None:
        for _ in range(steps):
            self.run_step()

    def run_step(self) -> None:
        """Run a random step; most steps say something."""
        more: list[tuple[int, Callable[[], None]]] = [
            (12, self.say),
            (2, self.ask_back),
            (2, self.mark_confidential),
            (2, self.correct),
            (1, self.forget_event),
            (1, self.forget_memory),
            (2, self.switch_sharing),
            (1, self.apply_flows),
            (1, self.rebuild),
        ]
        weights, steps = zip(*more, strict=True)
        (step,) = self.rng.choices(steps, weights)
        self.world.now += self.world.now.resolution * 1_000_000
        step()
        if self.rng.random() < 0.5:
            self.learn()

    def say(self) -> None:
        """Say or note one or two sentences somewhere."""
        place, rng = random_place(self.rng, self.world.sharing), self.rng
        parts = rng.sample(SENTENCES, rng.choice([1, 1, 1, 2]))
        speakers = [person.value for person in place.people] * 4
        speaker = rng.choice([*speakers, place.agent.value, rng.choice(USERS)])
        method = "remember" if rng.random() < 0.2 else "observe"
        confidential = rng.random() < 0.1
        self._write(place, method, speaker, parts, confidential=confidential)

    def _write(
        self,
        place: Viewer,
        method: str,
        speaker: str,
        parts: list[Sentence],
        *,
        confidential: bool = False,
    ) -> None:
        text = FILLER.join(part.text for part in parts)
        arguments = (speaker, text) if method == "observe" else (text,)
        write = WriteEvent(
            place, method, arguments, self._new_key(), None, confidential=confidential
        )
        self.script.append(f"{home_of(place)} {place.project} {method} {arguments} {confidential}")
        write.run(self.world)
        whole = write.statement
        assert whole is not None
        assert write.event_ref is not None
        discreet = confidential or any(part.topic in STAYING_TOPICS for part in parts)
        for part in parts:
            statement = replace(whole, text=part.text)
            self._remember(statement, part, write.event_ref, stays=discreet)

    def _remember(
        self, statement: ToldStatement, sentence: Sentence | None, ref: EventRef, *, stays: bool
    ) -> None:
        sharing = self.world.sharing
        self.said.append(
            Said(
                statement=statement,
                sentence=sentence,
                ref=ref,
                written_with=sharing,
                learned_with=sharing,
                stays=stays,
                # an agent's words may repeat what it was told: they are not learned again
                is_unsure=not statement.is_by_person,
            )
        )

    def _new_key(self) -> str:
        self.counter += 1
        return f"k{self.counter}"

    def ask_back(self) -> None:
        """Say "keep that between us" after somebody's last message in a place."""
        chosen = self._choose(lambda each: each.statement.is_by_person)
        if chosen is None:
            return
        speaker, place = chosen.statement.speaker, chosen.statement.place
        before = [each for each in self._by_speaker(chosen) if not each.is_erased]
        for each in before:
            if before and each.ref == before[-1].ref:
                each.stays = True
        write = WriteEvent(place, "observe", (speaker, CALL_BACK), self._new_key())
        self.script.append(f"{home_of(place)} {speaker} {CALL_BACK}")
        write.run(self.world)
        assert write.statement is not None
        assert write.event_ref is not None
        self._remember(write.statement, None, write.event_ref, stays=True)

    def _by_speaker(self, said: Said) -> list[Said]:
        """Return all messages of the same speaker in the same place, oldest first."""
        return [
            each
            for each in self.said
            if each.statement.scope == said.statement.scope
            and each.statement.speaker == said.statement.speaker
        ]

    def mark_confidential(self) -> None:
        if chosen := self._choose(lambda each: each.sentence is not None):
            self.script.append(f"mark {chosen.ref}: {chosen.statement.text}")
            self.world.open_place(chosen.statement.place).mark_confidential(chosen.ref.id)
            for each in self._of_message(chosen):
                each.stays = True

    def correct(self) -> None:
        """Let the owner of a private place replace a message by another sentence."""
        chosen = self._choose(
            lambda each: (
                each.sentence is not None
                and self._must_know(each.statement.place, each)
                and each.statement.scope.kind in PERSONAL_KINDS
            )
        )
        if chosen is None:
            return
        self.learn()
        others = [each for each in SENTENCES if each != chosen.sentence]
        place, new = chosen.statement.place, self.rng.choice(others)
        self.script.append(f"correct {chosen.ref} {chosen.statement.text!r}: {new.text}")
        self.world.open_place(place).correct(chosen.ref.memory_ids[0], new.text)
        discreet = any(each.stays for each in self._of_message(chosen))
        for each in self._of_message(chosen):
            each.is_replaced = True
        assert place.user is not None
        statement = ToldStatement(
            place=place,
            scope=chosen.statement.scope,
            method="remember",
            speaker=place.user.value,
            text=new.text,
        )
        ref = replace(chosen.ref, key=f"correction of {chosen.ref.key}")
        self._remember(statement, new, ref, stays=discreet or new.topic in STAYING_TOPICS)

    def forget_event(self) -> None:
        if chosen := self._choose(self._can_be_erased):
            self.script.append(f"forget {chosen.ref}: {chosen.statement.text}")
            workspace = self.world.nexus.workspace(WORKSPACE.value)
            workspace.forget(event=chosen.ref.id)
            before = [each for each in self._by_speaker(chosen) if not each.is_erased]
            for each in before[: before.index(chosen)][-2:]:
                each.is_unsure = True  # its next message is another one now
            for each in self._of_message(chosen):
                each.is_erased = True

    def forget_memory(self) -> None:
        if chosen := self._choose(self._can_be_erased):
            self.learn()
            self.script.append(f"forget memory of {chosen.ref}: {chosen.statement.text}")
            workspace = self.world.nexus.workspace(WORKSPACE.value)
            workspace.forget(memory=chosen.ref.memory_ids[0])
            for each in self._of_message(chosen):
                each.is_forgotten = True
                each.is_erased = chosen.statement.method == "remember"

    def _can_be_erased(self, said: Said) -> bool:
        is_correction = said.ref.key.startswith("correction")
        is_gone = said.is_replaced or said.is_forgotten
        return said.sentence is not None and not is_gone and not is_correction

    def _of_message(self, said: Said) -> list[Said]:
        return [each for each in self.said if each.ref == said.ref]

    def _choose(self, condition: Callable[[Said], bool]) -> Said | None:
        found = [
            each
            for each in self.said
            if not each.is_erased and not each.ref.key.startswith("correction") and condition(each)
        ]
        return self.rng.choice(found) if found else None

    def switch_sharing(self) -> None:
        """Open the store with other flows."""
        self.learn()
        self.world.sharings = (self.world.sharing, random_sharing(self.rng))
        self.world.switch_sharing()
        self.script.append(f"now {self.world.sharing}")

    def apply_flows(self) -> None:
        """Apply the flows to what was said before."""
        self.learn()
        self.script.append("apply the flows")
        self.world.nexus.workspace(WORKSPACE.value).run_job("flows")
        self._relearn()

    def rebuild(self) -> None:
        self.learn()
        self.script.append("rebuild")
        self.world.nexus.workspace(WORKSPACE.value).rebuild()
        self._relearn()

    def _relearn(self) -> None:
        for each in self.said:
            each.learned_with = self.world.sharing

    def learn(self) -> None:
        place = random_place(self.rng, self.world.sharing)
        MaintenanceStep("learn everything", place).run(self.world)

    # -- checks

    def check(self) -> list[str]:
        """Return every difference between what places show and what the table says."""
        self.learn()
        return [
            f"{home_of(viewer)} ({viewer.project}, {[p.value for p in viewer.participants]},"
            f" {self.world.sharing}): {problem}"
            for viewer in all_viewers(self.world.sharing)
            for problem in self._check_viewer(viewer)
        ]

    def _check_viewer(self, viewer: Viewer) -> Iterator[str]:
        place = self.world.open_place(viewer)
        shown = "\n".join(
            [
                *(f"{each.text} {each.body}" for each in place.memories(limit=10_000)),
                place.compose("What do you know?", budget=100_000).text,
            ]
        )
        for sentence in SENTENCES:
            every = [each for each in self.said if each.sentence == sentence]
            hits = [hit.memory.text for hit in place.recall(sentence.text, limit=LIMIT)]
            found = any(sentence.mark in text for text in hits)
            must = [each for each in every if self._must_know(viewer, each)]
            if must and not found:
                yield f"{sentence.text!r} does not arrive from {must[0].ref}"
            is_visible = found or sentence.mark in shown
            if is_visible and not any(self._may_know(viewer, each) for each in every):
                yield f"{sentence.text!r} is known, but no flow leads here"

    def _may_know(self, viewer: Viewer, said: Said) -> bool:
        if said.is_erased:
            return False
        if said.statement.scope == home_of(viewer):
            return True  # as a message, if not as a memory
        if said.is_replaced:
            return False
        return self._is_shared(viewer, said) or self._is_copied(viewer, said)

    def _must_know(self, viewer: Viewer, said: Said) -> bool:
        if said.is_erased or said.is_replaced or said.is_forgotten or said.is_unsure:
            return False
        is_switched = said.learned_with.sessions != self.world.sharing.sessions
        if said.statement.scope.kind is ScopeKind.SESSION and is_switched:
            return False  # the flows must be applied first
        is_here = said.statement.scope == home_of(viewer)
        if not is_here and said.stays:
            return False
        return is_here or self._is_shared(viewer, said) or self._is_copied(viewer, said)

    def _is_shared(self, viewer: Viewer, said: Said) -> bool:
        """Return whether a place shows the scope of a statement."""
        sharing = self._flows_of(said)
        return is_shown(viewer, said.statement.scope, sharing)

    def _is_copied(self, viewer: Viewer, said: Said) -> bool:
        if said.stays or said.is_forgotten:
            return False
        sharing = self._flows_of(said)
        targets = flow_targets(said.statement, sharing)
        return any(is_shown(viewer, target, sharing) for target in targets)

    def _flows_of(self, said: Said) -> Sharing:
        """Return the flows that were on when a statement was learned, and still are."""
        one, now = said.learned_with, self.world.sharing
        is_dm = said.statement.scope.kind is ScopeKind.DM  # a session reads its DM without a copy
        return Sharing(
            sessions=(one.sessions or is_dm) and now.sessions,
            agents=AGENT_MODES[min(map(AGENT_MODES.index, (one.agents, now.agents)))],
            profile=one.profile and now.profile,
            project=one.project and now.project,
            rooms=one.rooms and now.rooms and said.written_with.rooms,
        )


def random_sharing(rng: Random) -> Sharing:
    """Return random flows: often all, sometimes none."""
    if rng.random() < 0.1:
        return NO_SHARING
    return Sharing(
        sessions=rng.random() < 0.8,
        agents=rng.choice(AGENT_MODES),
        profile=rng.random() < 0.7,
        project=rng.random() < 0.7,
        rooms=rng.random() < 0.5,
    )


def random_place(rng: Random, sharing: Sharing) -> Viewer:
    """Return a room with random participants, or a private place."""
    base = Viewer(
        workspace=WORKSPACE,
        agent=AgentId(rng.choice(AGENTS)),
        user=UserId(rng.choice(USERS)),
        project=rng.choice(PROJECTS),
        sharing=sharing,
    )
    if rng.random() < 0.5:
        room = rng.choice(sorted(ROOMS))
        people = tuple(map(UserId, rng.sample(USERS, rng.randint(1, 2))))
        return replace(base, user=None, room=room, participants=people, project=ROOMS[room])
    if rng.random() < 0.5:
        return base
    return replace(base, session=rng.choice(["s", "t"]), private=rng.random() < 0.3)


def all_viewers(sharing: Sharing) -> Iterator[Viewer]:
    """Yield rooms with several participants, and the private places of every user."""
    base = Viewer(workspace=WORKSPACE, agent=AgentId("bot"), room="r", sharing=sharing)
    people = [tuple(map(UserId, names)) for names in (USERS[:1], USERS[1:], USERS[2:])]
    for number, room in enumerate([*ROOMS, "x"]):
        participants = people[number % len(people)]
        yield replace(base, room=room, participants=participants, project=ROOMS.get(room, "q"))
    for user in map(UserId, USERS):
        dm = replace(base, room=None, user=user)
        yield replace(dm, project="p")
        yield replace(dm, agent=AgentId("bot 2"))
        yield replace(dm, session="s", project="q")
        yield replace(dm, session="t", agent=AgentId("bot 2"))
        yield replace(dm, session="s", private=True)


def run_flow_world(
    make_store: Callable[[], Store],
    seed: int,
    *,
    steps: int = 12,
    checks: int = 2,
    reopen: Callable[[Store], Store] | None = None,
    discard: Callable[[Store], None] | None = None,
) -> list[str]:
    """Run a random world and return the problems found, with the steps that led there."""
    rng = Random(seed)  # not for secrets  # noqa: S311
    world = World(make_store(), reopen, discard, (random_sharing(rng),), promotes=False)
    flows = FlowWorld(world, rng)
    try:
        for _ in range(checks):
            flows.run_steps(steps)
            if problems := flows.check():
                return [*problems, f"seed {seed}, after:", *flows.script]
    finally:
        world.close()
    return []
