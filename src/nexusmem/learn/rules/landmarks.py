"""Landmarks of a message: decisions, action items, commitments, preferences and corrections.

A landmark keeps the speaker's own words as its text. Owner and due date are fields beside it.
The phrasings are in `landmark_cues`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ...core.canonical import EARLIEST
from ...core.records import Trust
from ...core.records.landmarks import LandmarkKind
from ...text.dates import DatePrecision, DateRelation, DateSpan, find_dates
from ...text.gazetteer import is_first_name
from . import landmark_cues as cues
from .clause_reader import format_date
from .coreference import FIRST_PERSON, FIRST_PLURAL, Speakers
from .grammar import Clause, Phrase, Tense, Tree, verb_form
from .lexicon import EVENTS, KIN, word_set
from .lines import NoteLine, split_owned
from .noise import secret_spans
from .results import Landmark, TextSpan

DECISION, ACTION_ITEM, COMMITMENT, PREFERENCE, CORRECTION = LandmarkKind

MAX_SENTENCE_CHARACTERS = 400
CLOCK_PRECISIONS = (DatePrecision.MINUTE, DatePrecision.HOUR, DatePrecision.PART_OF_DAY)
LONG_PRECISIONS = (  # "before June" ends with May
    DatePrecision.WEEKEND,
    DatePrecision.WEEK,
    DatePrecision.MONTH,
    DatePrecision.QUARTER,
    DatePrecision.SEASON,
    DatePrecision.YEAR,
)
DEADLINES = (DateRelation.UNTIL, DateRelation.BEFORE)
MAX_TASK_WORDS = 25  # of a sentence that is quoted whole
MAX_SHORT_WORDS = 12  # of a sentence that needs the one before it
MAX_NAME_WORDS = 2  # of a question that only names who is asked: "Bob?"
MAX_BARE_WORDS = 6  # of a sentence that says nothing without the one before it
SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
PRESENT_TENSES = (Tense.PRESENT, Tense.PROGRESSIVE)
PAST_TENSES = (Tense.PAST, Tense.PERFECT)
MAIN_RELATIONS = frozenset(["root", "conj", "parataxis", "ccomp", "list"])
AGENTS = word_set("assistant agent")
OBLIGATION_VERBS = word_set("have need get")
PROMISE_VERBS = word_set("promise guarantee pledge swear commit")
REPORT_VERBS = word_set("promise say swear confirm tell guarantee mean know")
SUBORDINATE_MARKS = word_set(
    "because since when while although though until before after as how why where what cause"
    " 'cause cuz if whether that"
)
EVERYONE = word_set("everyone everybody")
SOMEONE = word_set("someone somebody anyone")
UNSURE = word_set("would could might may should")
NO_TASK_PLEASE = word_set("write translate use call contact ask note check move help run see look")
IDLE_VERBS = word_set(
    "spend go take give make try do have play watch read challenge see enjoy treat share show"
)
TO_DATE = re.compile(r"\b(?:to|until|till|so)(?: the)? $", re.IGNORECASE)
SOCIAL_PLAN = re.compile(r"\b(?:can['’]?t wait|excited|stoked|looking forward)\b", re.IGNORECASE)
HABIT = re.compile(
    r"\b(?:usually|always|often|every|each|sometimes|normally|never|mostly|\w+days)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence as it was written, with its trees and clauses."""

    trees: tuple[Tree, ...]
    clauses: tuple[Clause, ...]
    words: str
    span: TextSpan
    dates: Sequence[DateSpan]

    @property
    def is_question(self) -> bool:
        return self.trees[-1].is_question


@dataclass(slots=True)
class LandmarkReader:
    """Reads the landmarks of one message, sentence by sentence."""

    speakers: Speakers
    dates: Sequence[DateSpan]
    at: datetime
    text: str
    lines: Sequence[NoteLine]

    def read_landmarks(
        self, trees: Sequence[Tree], clauses: Sequence[Clause], span: TextSpan
    ) -> list[Landmark]:
        """Return the landmarks of one sentence; the parser may have split it into several trees."""
        words = self.text[span.start : span.end]
        if len(words) > MAX_SENTENCE_CHARACTERS or all(map(_is_only_quoted, trees)):
            return []
        if self.text.startswith("Subject:") and cues.ADVERT.search(self.text):
            return []
        sentence = _Sentence(tuple(trees), tuple(clauses), words, span, self._own_dates(span))
        if shares := self._read_shares(sentence):
            return shares
        found: list[Landmark] = []
        correction = self._read_correction(sentence)
        if correction:
            found.append(correction)
        decisions = list(self._read_decision(sentence)) if correction is None else []
        found += decisions
        preference = None if decisions or correction else self._read_preference(sentence)
        if preference:
            found.append(preference)
        commitment = self._read_commitment(sentence)
        if commitment and not decisions:
            found.append(commitment)
        if preference is None:
            phrased = self._read_phrased_task(sentence)
            short = decisions and len(clauses) <= 1
            tasks = [phrased] if phrased else [] if short else self._read_tasks(sentence)
            found += [
                each for each in tasks if not commitment or each.source.start > span.start + 3
            ]
        return found

    def _own_dates(self, span: TextSpan) -> list[DateSpan]:
        """Return the dates of a sentence without denied ones: "Thursday, not Wednesday"."""
        return [
            each
            for each in self._dates_in(span.start, span.end)
            if not cues.DENIED.search(self.text, max(0, each.start - 12), each.start)
        ]

    def read_line(self, line: NoteLine) -> list[Landmark]:
        """Return the landmark of a line of notes: "- Tunde: first draft by 24 April"."""
        if line.is_done or not line.kind:
            return []
        span = TextSpan(line.start, line.end)
        dates = [each for each in self.dates if line.start <= each.start < line.end] or list(
            line.dates
        )
        due, since = self._due(dates[-1:] if line.kind == "correction" else dates)
        if line.kind != "task":
            kind = CORRECTION if line.kind == "correction" else DECISION
            known = (due, since) if kind is CORRECTION else (None, None)
            return [
                Landmark(kind=kind, text=line.text, source=span, due=known[0], due_from=known[1])
            ]
        owner = self._line_owner(line)
        return [
            Landmark(kind=ACTION_ITEM, text=what, source=span, owner=owner, due=due, due_from=since)
            for what in line.tasks
        ]

    def _line_owner(self, line: NoteLine) -> str | None:
        name = line.owner
        if name is None:
            return self.speakers.speaker
        return self._full_owner(name)

    def _full_owner(self, name: str) -> str:
        """Return the participant of this name, the speaker for "me", or the name itself."""
        name = name.lstrip("@")
        if name.lower() in ("me", "i"):
            return self.speakers.speaker
        return next(
            (each for each in self.speakers.participants if each.lower() == name.lower()), name
        )

    def _is_person(self, name: str) -> bool:
        """Return whether a word is the name of a person."""
        word = name.lstrip("@").lower()
        if name.startswith("@") or (word in KIN and name[:1].isupper()):
            return True
        people = (self.speakers.speaker, *self.speakers.participants)
        known = any(word in each.lower().split() for each in people)
        return known or (is_first_name(word) and (name[:1].isupper() or word in self._known))

    @property
    def _known(self) -> frozenset[str]:
        return self.speakers.known_names

    @property
    def _has_agent(self) -> bool:
        addressee = self.speakers.addressee
        return addressee is not None and addressee.lower() in AGENTS

    # -- decisions

    def _read_decision(self, sentence: _Sentence) -> Iterator[Landmark]:
        words, clauses = sentence.words, sentence.clauses
        heading = cues.HEADING.match(words)
        if heading and heading["decision"]:
            yield self._landmark(DECISION, sentence)
            return
        if cues.DEAL.match(words) or (
            cues.SAID_YES.search(words) and len(words.split()) <= MAX_BARE_WORDS
        ):
            span = self._with_sentence_before(sentence.span)
            if span != sentence.span:
                yield self._landmark(
                    DECISION,
                    sentence,
                    text=self.text[span.start : span.end],
                    owner=self.speakers.speaker,
                    dates=self._own_dates(span),
                    source=span,
                )
            return
        if sentence.is_question:
            return
        if any(each.modal in ("would", "could", "might", "may") for each in clauses):
            return
        for clause in clauses:
            if self._decides(sentence, clause):
                yield self._landmark(DECISION, sentence, owner=self._decider(clause))
                return
        if cues.CONDITIONAL.search(words):
            return
        settled = cues.SETTLED.search(words) or cues.OPENS_DECISION.match(words)
        if settled and not cues.POLITE.search(words) and not cues.NO_MORE.search(words):
            yield self._landmark(DECISION, sentence, owner=self.speakers.group)
            return
        if cues.CALLED_OFF.search(words) and not cues.CONTRACT.search(words):
            yield self._landmark(DECISION, sentence)
            return
        if self._ends_plan(words) or self._names_choice(sentence):
            yield self._landmark(DECISION, sentence, owner=self.speakers.speaker)
            return
        approved = cues.APPROVED.search(words)
        if approved:
            who = approved["who"]
            subject = who.lower() in cues.AUTHORITIES or self._is_person(who)
            if subject or self._is_proper(sentence, approved.start("who")):
                yield self._landmark(DECISION, sentence, owner=self._full_owner(who))

    def _is_proper(self, sentence: _Sentence, place: int) -> bool:
        """Return whether a proper noun stands at a place of the sentence."""
        start = sentence.span.start + place
        return any(
            token.start == start and token.upos == "PROPN" and token.text[:1].isupper()
            for tree in sentence.trees
            for token in tree.sentence
        )

    def _decider(self, clause: Clause) -> str | None:
        """Return the person or group that decided; None for "the party is cancelled"."""
        name = self._subject_name(clause)
        if len(clause.subjects) != 1 or name is None:
            return self.speakers.group if clause.subjects else None
        subject = clause.subjects[0]
        known = subject.is_pronoun or subject.lemma in cues.AUTHORITIES
        return name if known or self._is_person(name.split()[0]) else None

    def _ends_plan(self, words: str) -> bool:
        """Return whether a plan is said to be off, out, dead, or on hold."""
        for match in cues.STATE.finditer(words):
            what, state = match["what"].split(), match["state"].lower()
            last = what[-1].lower()
            noun = last.removesuffix("s")
            if self._is_person(what[-1]) or noun in KIN or last in cues.SCHOOL_SUBJECTS:
                continue
            planned = noun in cues.PLAN_NOUNS or last in cues.PLAN_NOUNS
            named = what[-1][:1].isupper() and state == "off" and len(words) > len(match.group())
            anything = state in cues.ANYTHING_STATES and last not in cues.NO_CHOICE
            anything = anything and last not in (
                "it",
                "i",
                "he",
                "she",
                "they",
                "we",
                "you",
                "rest",
            )
            if planned or named or anything or (match["reason"] and state in ("out", "off")):
                return True
        return False

    def _names_choice(self, sentence: _Sentence) -> bool:
        """Return whether a choice is named without a subject: "29th it is", "parking this"."""
        words = sentence.words
        chosen = cues.IT_IS.match(words)
        if chosen and cues.NO_CHOICE.isdisjoint(chosen["what"].lower().split()):
            return True
        if cues.ELIDED_CHOICE.match(words):
            return True
        return cues.SCRAP_ORDER.match(words) is not None

    def _decides(self, sentence: _Sentence, clause: Clause) -> bool:
        if (
            clause.modal
            or clause.is_question
            or clause.is_hypothetical
            or clause.is_hedged
            or clause.quoted_speaker
            or clause.at in clause.tree.quoted
        ):
            return False
        subject = clause.subjects[0] if clause.subjects else None
        word = subject.token.text.lower() if subject else ""
        several = len(clause.subjects) > 1
        authority = subject is not None and subject.lemma in cues.AUTHORITIES
        many = word == "we" or authority or several
        lemma = clause.lemma
        if lemma in cues.DECISION_VERBS and not clause.is_negated:
            return (many or word == "i") and self._has_decided(sentence, clause, word)
        if lemma in cues.APPROVAL_VERBS and not clause.is_negated:
            person = subject is not None and (authority or self._is_person(subject.token.text))
            about = [each for each in clause.objects if not each.is_pronoun]
            return bool(
                clause.tense in PAST_TENSES
                and (person or word in ("we", "i"))
                and (about or clause.oblique("on"))
                and self._has_decided(sentence, clause, word)
            )
        if word != "we" and not several:
            return self._changes_over(clause)
        return self._settles(clause) or self._changes_over(clause)

    def _has_decided(self, sentence: _Sentence, clause: Clause, subject: str) -> bool:
        """Return whether a decision still matters: not a step of a story."""
        tree = clause.tree
        completes = (
            clause.oblique("on", "for", "against", "with", "in", "to") is not None
            or any(not each.is_pronoun for each in clause.objects)
            or tree.child(clause.at, "xcomp", "ccomp", "advcl") is not None
        )
        if not completes or clause.tense not in PAST_TENSES:
            return False
        if clause.tense is Tense.PERFECT:
            return True
        past = any(each.until <= self.at for each in sentence.dates)
        others = [
            each
            for each in sentence.clauses
            if each.tense in PAST_TENSES
            and each.tree is tree
            and each.at < clause.at
            and each.lemma not in cues.DELIBERATION_VERBS
        ]
        if subject == "i":
            personal = clause.lemma in ("choose", "pick", "resolve", "opt")
            act = tree.child(clause.at, "xcomp")
            idle = act is not None and tree.sentence[act].lemma.lower() in IDLE_VERBS
            is_root = tree.relation(clause.at) == "root"
            return is_root and not (past or others or personal or idle)
        return not others

    def _settles(self, clause: Clause) -> bool:
        """Return whether "we" settle something: "we go with X", "we stay in Ghent"."""
        lemma, tense = clause.lemma, clause.tense
        if clause.tree.relation(clause.at) not in MAIN_RELATIONS and "so" not in clause.words:
            return False
        if clause.is_negated:
            ahead = tense in (Tense.FUTURE, Tense.PROGRESSIVE)
            return ahead and lemma in cues.REFUSED_VERBS and bool(clause.objects or clause.obliques)
        if lemma in ("stay", "remain") and tense is Tense.PRESENT:
            return bool(clause.obliques)
        if lemma in ("go", "stick", "stay") and clause.oblique("with", "for") is not None:
            thing = clause.oblique("with", "for")
            return tense in (*PRESENT_TENSES, Tense.FUTURE) and (
                clause.oblique("with") is not None or (thing is not None and thing.is_name)
            )
        if lemma in ("switch", "migrate", "move") and clause.oblique("to") is not None:
            moved = clause.oblique("from") is not None or lemma != "move"
            return moved and tense in (Tense.PERFECT, Tense.PROGRESSIVE, Tense.FUTURE)
        if lemma in cues.ADOPTION_VERBS:
            if tense is Tense.PRESENT:
                return lemma in ("appeal", "drop", "scrap", "cancel", "call off", "park")
            return tense in (Tense.PROGRESSIVE, Tense.FUTURE)
        if clause.has_ended and lemma in (
            "do",
            "use",
            "offer",
            "support",
            "have",
            "accept",
            "take",
        ):
            return True
        replaces = "instead" in clause.words or cues.IN_PLACE_OF.search(self.text, *clause.span)
        ahead = tense in (*PRESENT_TENSES, Tense.FUTURE)
        return bool(replaces) and ahead and not HABIT.search(self.text, *clause.span)

    def _changes_over(self, clause: Clause) -> bool:
        """Return whether a rule or tool of the group changes from now on, or is called off."""
        lemma = clause.lemma
        if (
            lemma in ("cancel", "call off", "postpone", "park", "scrap", "shelve", "axe")
            and clause.is_passive
            and not cues.CONTRACT.search(self.text, *clause.span)
        ):
            return clause.tense is not Tense.FUTURE and not clause.is_negated
        if not clause.subjects or clause.is_negated or clause.is_passive:
            return False
        subject = clause.subjects[0]
        word = subject.token.text.lower()
        if word in ("i", "you", "he", "she", "they", "it", "that", "this", "who"):
            return False
        moves_over = lemma == "move" and "over" in clause.words
        if moves_over or lemma in ("switch", "migrate", "move over", "switch over", "change over"):
            ahead = clause.tense in (*PRESENT_TENSES, Tense.FUTURE)
            return ahead and clause.oblique("to") is not None and not self._is_person(word)
        is_main = clause.tree.relation(clause.at) == "root" and lemma != "have"
        if not is_main or clause.tense not in (Tense.PRESENT, Tense.FUTURE):
            return False
        return cues.FROM_NOW_ON.search(self.text, *clause.span) is not None

    # -- preferences

    def _read_preference(self, sentence: _Sentence) -> Landmark | None:
        words, clauses = sentence.words, sentence.clauses
        if sentence.is_question or cues.FORM_LETTER.search(self.text):
            return None
        owner = self.speakers.speaker
        start = max(0, sentence.span.start - len("pls, "))  # the parser does not see "pls"
        if cues.WISHES.search(self.text[start : sentence.span.end]):
            return self._landmark(PREFERENCE, sentence, owner=owner)
        if any(each.quoted_speaker for each in clauses):
            return None
        orders_agent = self._has_agent and self._instructs_agent(sentence)
        if clauses and all(each.is_hypothetical for each in clauses) and not orders_agent:
            return None
        for clause in clauses:
            first = clause.subjects[0].token.text.lower() if clause.subjects else ""
            if (
                clause.lemma == "prefer"
                and first in ("i", "we")
                and not clause.modal
                and clause.tense is Tense.PRESENT
            ):
                return self._landmark(PREFERENCE, sentence, owner=owner)
        if (
            orders_agent
            or cues.STATED_PREFERENCE.search(words)
            or cues.STANDING.search(words)
            or cues.NO_MORE.search(words)
            or cues.CALL_ME.search(words)
            or cues.USE_THIS.search(words)
            or self._orders_always(sentence)
            or self._orders_from_now(sentence)
        ):
            return self._landmark(PREFERENCE, sentence, owner=owner)
        return None

    def _instructs_agent(self, sentence: _Sentence) -> bool:
        """Return whether an agent is told what to do in a case, or never to do."""
        orders = [each for each in sentence.clauses if each.is_imperative]
        conditional = cues.CONDITIONAL_ORDER.search(sentence.words) is not None
        return any(
            (each.is_negated or conditional)
            and each.lemma not in cues.CASUAL_ADVICE
            and not cues.NOW_ONLY.search(sentence.words)
            for each in orders
        )

    def _orders_always(self, sentence: _Sentence) -> bool:
        """Return whether "never" and "always" stand in an order, not in a report."""
        for match in cues.ALWAYS_ORDER.finditer(sentence.words):
            verb = match["verb"].lower()
            is_personal = cues.PERSONAL_ORDER.match(sentence.words, match.start("verb"))
            is_casual = verb in cues.CASUAL_ADVICE and not is_personal
            if is_casual or verb.endswith(("ing", "ed", "s")):
                continue
            place = sentence.span.start + match.start("verb")
            for clause in sentence.clauses:
                token = clause.tree.sentence[clause.at]
                if token.start == place:
                    base = verb_form(token) == "base" and token.upos == "VERB"
                    if base and (clause.is_imperative or not clause.subjects):
                        return True
                    break
            else:
                if not sentence.clauses and verb in cues.ORDER_VERBS:
                    return True
        return self._has_agent and self._states_rule(sentence)

    def _states_rule(self, sentence: _Sentence) -> bool:
        """Return whether an agent is told how "we" do things: "we always use tabs"."""
        return any(
            clause.subjects
            and clause.subjects[0].lemma == "we"
            and clause.tense is Tense.PRESENT
            and clause.modal is None
            and bool(clause.words & {"always", "never"})
            for clause in sentence.clauses
        )

    def _orders_from_now(self, sentence: _Sentence) -> bool:
        """Return whether somebody is told how to act from now on."""
        if not cues.FROM_NOW_ON.search(sentence.words):
            return False
        for clause in sentence.clauses:
            subject = clause.subjects[0].token.text.lower() if clause.subjects else ""
            if clause.is_imperative or subject == "you":
                return True
        return not sentence.clauses

    # -- commitments

    def _read_commitment(self, sentence: _Sentence) -> Landmark | None:
        words, dates = sentence.words, sentence.dates
        if sentence.is_question or cues.NO_PLEDGE.search(words):
            return None
        speaker = self.speakers.speaker
        ahead = [each for each in dates if each.until > self.at]
        if cues.PLEDGE.search(words) and (ahead or cues.PLEDGED_ACT.search(words)):
            return self._landmark(COMMITMENT, sentence, owner=speaker, dates=dates)
        for clause in sentence.clauses if ahead else ():
            if self._others_promise(clause):
                owner = self.speakers.resolve(clause.subjects[0], clause)
                return self._landmark(COMMITMENT, sentence, owner=owner, dates=ahead)
        if ahead and (
            cues.BE_THERE.search(words)
            or (
                cues.ANSWER_PROMISED.search(words)
                and any(each.relation in DEADLINES for each in ahead)
            )
            or re.search(
                r"\byou['’]ll (?:have|get|receive) (?:it|them|the|your)\b", words, re.IGNORECASE
            )
        ):
            return self._landmark(COMMITMENT, sentence, owner=speaker, dates=dates)
        lets = cues.LETS.match(words)
        if lets and cues.LETS_DECIDE.search(words):
            return self._landmark(DECISION, sentence, owner=speaker, dates=dates)
        if lets and ahead and self._names_plan(lets, ahead):
            return self._landmark(COMMITMENT, sentence, owner=self.speakers.group, dates=dates)
        if dates and self._invites(sentence.trees[0], words):
            return self._landmark(COMMITMENT, sentence, dates=dates)
        return None

    def _others_promise(self, clause: Clause) -> bool:
        """Return whether somebody else promises an act: "they promised to fix the lift"."""
        if clause.lemma not in PROMISE_VERBS or clause.is_negated or clause.modal:
            return False
        if clause.is_hypothetical or clause.is_hedged or clause.is_question:
            return False
        act = clause.tree.child(clause.at, "xcomp", "ccomp")
        if act is None or not clause.subjects or clause.tense not in (*PAST_TENSES, Tense.PRESENT):
            return False
        is_act = clause.tree.sentence[act].upos == "VERB" and act > clause.at
        other = clause.subjects[0].token.text.lower() not in (*FIRST_PERSON, *FIRST_PLURAL, "you")
        return is_act and other and clause.tree.relation(clause.at) in MAIN_RELATIONS

    def _names_plan(self, lets: re.Match[str], ahead: Sequence[DateSpan]) -> bool:
        """Return whether "let's …" plans an act; talking needs a time of day to be a plan."""
        if lets["verb"].lower() in cues.VAGUE_LETS:
            return False
        at_time = any(
            each.precision in (DatePrecision.MINUTE, DatePrecision.HOUR) for each in ahead
        )
        return at_time or cues.TALK_LETS.search(lets.group()) is None

    def _invites(self, tree: Tree, words: str) -> bool:
        """Return whether a fragment invites: "bbq saturday 4pm at mine"."""
        first = [token.lemma.lower() for token in tree.sentence.tokens[:3]]
        return any(word in EVENTS for word in first) and bool(
            re.search(
                r"\b(?:at (?:mine|ours|my place)|everyone|come|bring)\b", words, re.IGNORECASE
            )
        )

    # -- tasks

    def _read_shares(self, sentence: _Sentence) -> list[Landmark]:
        """Return the tasks of "Gus the basin, Femke the labels" and "jobs: Nour minibus, me …"."""
        words = sentence.words
        if "," not in words and ";" not in words:
            return []
        lead = cues.SPLIT_LEAD.match(words)
        heading = cues.HEADING.match(words)
        body = words[lead.end() :] if lead else heading["what"] if heading else words
        parts = [each.strip(" .!") for each in re.split(r"[,;]\s+(?:and )?|\s+and (?=me\b)", body)]
        shares: list[tuple[str, str]] = []
        for part in parts:
            name, _, what = part.partition(" ")
            first = what.partition(" ")[0]
            is_named = name == "me" or self._is_person(name)
            unknown = name[:1].isupper() and name.isalpha() and bool(shares or lead)
            is_named = is_named or unknown
            is_thing = bool(first) and first[:1].islower() and first not in cues.NO_SHARE
            if is_named and is_thing and (lead or self._is_share(sentence, first)):
                shares.append((name, what))
            elif not shares or len(parts) > len(shares) + 2:
                return []
            else:
                break
        clear = lead or heading or any(name == "me" for name, _ in shares)
        clear = clear or all(what.startswith("the ") for _, what in shares)
        if len(shares) < 2 or not clear:
            return []
        dates = sentence.dates or self._dates_before(sentence.span)
        return [
            self._landmark(
                ACTION_ITEM, sentence, text=what, owner=self._full_owner(name), dates=dates
            )
            for name, what in shares
        ]

    def _is_share(self, sentence: _Sentence, first: str) -> bool:
        """Return whether a word after a name begins a thing or a task."""
        if first.endswith("s") and (first[:-1] in cues.TASK_VERBS or first[:-2] in cues.TASK_VERBS):
            return True
        return not any(
            token.text == first and token.upos in ("VERB", "AUX", "ADV", "ADP", "PRON")
            for tree in sentence.trees
            for token in tree.sentence
        )

    def _read_tasks(self, sentence: _Sentence) -> list[Landmark]:
        words, dates = sentence.words, sentence.dates
        heading = cues.HEADING.match(words)
        if heading and heading["task"]:
            return self._read_heading(sentence, heading)
        if cues.NOT_FORGET.search(words) and "?" not in words:
            ours = re.search(r"\b(?:us|we)\b.{0,30}\b(?:forget|remember)", words, re.IGNORECASE)
            owner = self.speakers.group if ours else self.speakers.speaker
            return [self._landmark(ACTION_ITEM, sentence, owner=owner, dates=dates)]
        to_remember = cues.REMEMBER_TO.match(words)
        if to_remember:
            verb = to_remember["verb"]
            owner = self.speakers.addressee or self.speakers.speaker
            is_task = verb is None or (
                verb.lower() in cues.TASK_VERBS and not self._is_vague(words)
            )
            found = [self._landmark(ACTION_ITEM, sentence, owner=owner, dates=dates)]
            return found if is_task else []
        if remind := cues.REMIND.search(words):
            to = any(remind[name] for name in ("to1", "to2", "to3", "to4"))
            if to or len(words.split()) > 3:
                assistant = self.speakers.addressee or self.speakers.speaker
                owner = self.speakers.speaker if to else assistant
                return [self._landmark(ACTION_ITEM, sentence, owner=owner, dates=dates)]
        tasks: list[Landmark] = []
        for clause in sentence.clauses:
            landmark = self._read_task(sentence, clause)
            if landmark and not any(
                each.source.start <= landmark.source.start < each.source.end for each in tasks
            ):
                tasks.append(landmark)
        if len(tasks) == 1 and len(words.split()) <= MAX_TASK_WORDS:
            span = self._with_antecedent(sentence.span)
            task = replace(tasks[0], text=self.text[span.start : span.end].strip(), source=span)
            return [self._with_request(task) if span == sentence.span else task]
        return tasks

    def _is_vague(self, words: str) -> bool:
        """Return whether the words name nothing that one could tick off."""
        last = re.findall(r"[a-z']+", words.lower())
        return not cues.VAGUE_OBJECTS.isdisjoint(last[2:])

    def _read_phrased_task(self, sentence: _Sentence) -> Landmark | None:
        """Return the task of a fixed phrasing: "Ravi please …", "somebody ask …", "on me"."""
        words, dates = sentence.words, sentence.dates
        if any(each.is_hypothetical for each in sentence.clauses) and not cues.GRATEFUL_IF.search(
            words
        ):
            return None
        owner = self._phrased_owner(sentence)
        if owner is None:
            return None
        span = self._with_antecedent(sentence.span)
        return self._landmark(
            ACTION_ITEM,
            sentence,
            text=self.text[span.start : span.end],
            owner=owner or None,
            dates=dates or self._dates_before(sentence.span),
            source=span,
        )

    def _phrased_owner(self, sentence: _Sentence) -> str | None:
        """Return the owner of a task in a fixed phrasing, "" if it is open; None if it is none."""
        words = sentence.words
        for pattern in (
            cues.NAMED_REQUEST,
            cues.TRAILING_NAME,
            cues.NAME_TO_DO,
            cues.COLON_OWNER,
        ):
            match = pattern.search(words)
            if (
                match
                and match["verb"] in cues.TASK_VERBS
                and (
                    self._is_person(match["owner"])
                    or (
                        pattern is not cues.COLON_OWNER  # any label may stand before a colon
                        and self._is_proper(sentence, match.start("owner"))
                    )
                )
                and not self._is_vague(words[match.end("verb") :])
            ):
                return self._full_owner(match["owner"])
        if sentence.is_question and not sentence.words.rstrip().endswith("??"):
            return None
        match = cues.OPEN_REQUEST.search(words)
        if match and match["verb"] in cues.TASK_VERBS:
            return "everyone" if match["who"].lower() in EVERYONE else ""
        if match := cues.GRATEFUL_IF.search(words):
            who = match["who"]
            if match["verb"] in cues.TASK_VERBS:
                if who.lower() == "you":
                    return self.speakers.addressee or ""
                return "everyone" if who.lower() in EVERYONE else who if who[0].isupper() else ""
        if match := cues.NEED_YOU.search(words):
            named = match["owner"]
            if match["verb"] in cues.TASK_VERBS and (not named or self._is_person(named)):
                return self._full_owner(named) if named else self.speakers.addressee or ""
        if cues.ON_ME.search(words):
            return self.speakers.speaker
        ahead = [each for each in sentence.dates if each.until > self.at]
        if cues.MUST_BE_DONE.search(words) and any(each.relation in DEADLINES for each in ahead):
            return ""
        return None

    def _read_heading(self, sentence: _Sentence, heading: re.Match[str]) -> list[Landmark]:
        """Return the tasks after "TODO": of the speaker, of one person, or of several."""
        speaker, dates = self.speakers.speaker, sentence.dates
        if owned := split_owned(heading["what"]):
            return [
                self._landmark(
                    ACTION_ITEM,
                    sentence,
                    text=what,
                    owner=speaker if who.lower() == "me" else who,
                    dates=dates,
                )
                for who, what in owned
            ]
        what, named = self._split_owner(heading["what"])
        if heading["owner"] and self._may_own(heading["owner"]):
            named = self._full_owner(heading["owner"])
        if assigned := cues.ASSIGNEE.match(what):
            named = self._full_owner(assigned["owner"])
        return [
            self._landmark(ACTION_ITEM, sentence, text=part, owner=named or speaker, dates=dates)
            for part in split_tasks(what)
        ]

    def _split_owner(self, what: str) -> tuple[str, str | None]:
        """Return a task and its owner: "renew the domain (bob, by Friday)", "… @bob"."""
        match = cues.TRAILING_OWNER.search(what)
        name = match[match.lastgroup] if match and match.lastgroup else None
        if match is None or name is None or not (match["tagged"] or self._may_own(name)):
            owned = cues.COLON_OWNER.match(what)
            if owned and self._may_own(owned["owner"]):
                return what[owned.start("verb") :], self._full_owner(owned["owner"])
            return what, None
        return what[: match.start()], self._full_owner(name)

    def _may_own(self, name: str) -> bool:
        """Return whether a word in an owner's place names a person, also in lower case."""
        word = name.lstrip("@").lower()
        return word in ("me", "all", "everyone") or word in self._known or is_first_name(word)

    def _with_antecedent(self, span: TextSpan) -> TextSpan:
        """Return the span with the sentence before it, if a pronoun needs it: "I'll fix it"."""
        words = self.text[span.start : span.end]
        if not cues.PRONOUN_OBJECT.search(words) or len(words.split()) > MAX_SHORT_WORDS:
            return span
        return self._with_sentence_before(span)

    def _with_request(self, task: Landmark) -> Landmark:
        """Return a task with the request of the message before: "Sure, I'll book him"."""
        before = self.speakers.recent[-1] if self.speakers.recent else None
        if (
            before is None
            or before.speaker == self.speakers.speaker
            or before.trust < Trust.DIRECT
            or task.owner != self.speakers.speaker
            or len(task.text.split()) > MAX_SHORT_WORDS
            or not cues.PRONOUN_OBJECT.search(task.text)
        ):
            return task
        request = _last_request(before.text)
        if not request or len(request.split()) > MAX_TASK_WORDS or secret_spans(request):
            return task
        due, since = task.due, task.due_from
        if due is None:
            due, since = self._due(find_dates(request, before.at))
        return replace(task, request=request, due=due, due_from=since)

    def _with_sentence_before(self, span: TextSpan) -> TextSpan:
        before = SENTENCE.findall(self.text[: span.start].rstrip())
        previous = before[-1].strip() if before else ""
        if len(previous.split()) > MAX_TASK_WORDS or not previous:
            return span
        return TextSpan(self.text.rindex(previous, 0, span.start), span.end)

    def _read_task(self, sentence: _Sentence, clause: Clause) -> Landmark | None:
        tree = clause.tree
        reported = clause.quoted_speaker is not None and clause.tense is not Tense.FUTURE
        if clause.is_hypothetical or reported or clause.at in tree.quoted or clause.is_negated:
            return None
        is_request = clause.is_question or clause.is_imperative
        owner = (
            self._read_request(sentence, clause)
            if is_request
            else self._read_pledge(sentence, clause)
        )
        if owner is None:
            return None
        start, end = clause.span
        known = [each for each in sentence.dates if not self._says_until(each, clause)]
        dates = (
            [each for each in known if start <= each.start < end]
            or known
            or self._dates_before(sentence.span)
        )
        words = self.text[start:end].strip(" ,;–-")
        return self._landmark(
            ACTION_ITEM,
            sentence,
            text=words,
            owner=owner or None,
            dates=dates,
            source=TextSpan(start, end),
        )

    def _says_until(self, date: DateSpan, clause: Clause) -> bool:
        """Return whether a date before an act ends something else: "out until the 12th, ask me"."""
        if date.start > clause.tree.sentence[clause.at].start:
            return False
        return cues.UNTIL_DAY.search(self.text, max(0, date.start - 10), date.start + 6) is not None

    def _dates_before(self, span: TextSpan) -> list[DateSpan]:
        """Return the only date of the sentence before: "It is due Friday. Ann writes it."."""
        before = SENTENCE.findall(self.text[: span.start].rstrip())
        if not before:
            return []
        start = self.text.rindex(before[-1], 0, span.start)
        ahead = [
            each for each in self._own_dates(TextSpan(start, span.start)) if each.until > self.at
        ]
        return ahead if len(ahead) == 1 else []

    def _read_request(self, sentence: _Sentence, clause: Clause) -> str | None:
        """Return the owner of a request, "" if it is open; None if it is none."""
        tree, words = clause.tree, sentence.words
        please = cues.POLITE.search(words) is not None
        has_date = any(
            each.until > self.at and not self._says_until(each, clause) for each in sentence.dates
        )
        if tree.relation(clause.at) not in MAIN_RELATIONS or self._follows_noun(clause):
            return None
        if cues.NOW_ONLY.search(words) and not has_date:
            return None
        addressee = self._vocative(tree) or self.speakers.addressee
        lemma = clause.lemma.split()[0]
        if clause.is_question:
            subject = clause.subjects[0].token.text.lower() if clause.subjects else ""
            asks = clause.modal in ("can", "could", "would") or "will" in tree.lower[:2]
            if not asks or lemma not in cues.TASK_VERBS:
                return None
            if subject not in ("you", *SOMEONE, *EVERYONE):
                return None
            called = self._vocative(tree) is not None and lemma in cues.REQUEST_VERBS
            if not (has_date or called or (please and subject == "everyone")):
                return None
            return "everyone" if subject in EVERYONE else addressee or ""
        if lemma not in cues.TASK_VERBS or not self._has_argument(sentence, clause):
            return None
        if clause.lemma == "cancel" and clause.objects and clause.objects[0].is_pronoun:
            return None  # "cancel that" closes a task
        first_object = clause.objects[0].token.text.lower() if len(clause.objects) == 1 else ""
        if first_object in ("care", "me", "look", "sure", "a", "time"):
            return None
        if not has_date and not please and self._is_vague_act(clause):
            return None
        if not cues.VAGUE_OBJECTS.isdisjoint(each.lemma for each in clause.objects):
            return None
        if please and clause.lemma in NO_TASK_PLEASE:
            concerns = self._vocative(tree) or any(map(self._is_named, clause.objects))
            return addressee or "" if has_date or concerns else None
        if please or (clause.lemma in cues.REQUEST_VERBS and self._vocative(tree)):
            return addressee or ""
        if has_date and lemma not in ("see", "look", "try"):
            is_noun = lemma in cues.AMBIGUOUS_NOUNS and not any(
                each.determiner or each.is_pronoun or each.possessor for each in clause.objects
            )
            return None if is_noun else addressee or ""
        is_root = tree.relation(clause.at) == "root"
        return addressee if self._has_agent and lemma in cues.ASSISTANT_VERBS and is_root else None

    def _follows_noun(self, clause: Clause) -> bool:
        """Return whether a supposed order has its subject before it: "physics collect it"."""
        before = clause.tree.sentence[clause.at - 1] if clause.at else None
        if clause.is_question or before is None or before.upos not in ("NOUN", "PROPN", "PRON"):
            return False
        return before.deprel != "vocative" and not self._is_person(before.text)

    def _has_argument(self, sentence: _Sentence, clause: Clause) -> bool:
        """Return whether a clause names a thing besides its date: not "fix by 30 June"."""
        if clause.objects:
            return True
        return any(
            not any(span.start <= each.phrase.token.start < span.end for span in sentence.dates)
            for each in clause.obliques
        )

    def _vocative(self, tree: Tree) -> str | None:
        for at, token in enumerate(tree.sentence):
            if token.deprel == "vocative" and token.text[:1].isupper():
                return Phrase(tree, at).text
        first = tree.sentence[0]
        if (
            len(tree.sentence) > 2
            and tree.sentence[1].text == ","
            and is_first_name(first.text)
            and first.text[:1].isupper()
        ):
            return first.text
        return None

    def _is_vague_act(self, clause: Clause) -> bool:
        """Return whether an act has no result that one could tick off: "do my best"."""
        tree, lemma = clause.tree, clause.lemma
        heads = [each.lemma for each in clause.objects if each.lemma != "part"]  # "spare parts"
        texts = [each.token.text.lower() for each in clause.objects]
        if any(each in cues.VAGUE_OBJECTS for each in (*heads, *texts)):
            return True
        if lemma in ("check out", "give up", "keep up", "figure out", "hang out", "catch up"):
            return True
        first = lemma.split()[0]
        following = tree.lower[clause.at + 1 : clause.at + 2]
        if first == "make" and following in (["sure"], ["it"], ["things"]):
            return True
        only_pronouns = bool(clause.objects) and all(each.is_pronoun for each in clause.objects)
        return first in cues.LIGHT_VERBS and (not clause.objects or only_pronouns)

    def _is_subordinate(self, clause: Clause) -> bool:
        """Return whether a pledge stands inside another statement: "a chance I'll be there"."""
        tree, at = clause.tree, clause.at
        while tree.relation(at) != "root":
            relation = tree.relation(at)
            if relation in ("acl", "acl:relcl", "csubj", "advcl:relcl"):
                return True
            marks = {
                tree.lower[each]
                for each in tree.children[at]
                if tree.relation(each) in ("mark", "advmod")
            }
            if relation == "advcl" and marks & SUBORDINATE_MARKS:
                return True
            head = tree.sentence[at].head
            if relation == "ccomp" and head >= 0 and head < at:
                governor = tree.sentence[head].lemma.lower()
                if governor not in REPORT_VERBS or marks & (SUBORDINATE_MARKS - {"that"}):
                    return True
            if head < 0:
                break
            at = head
        return False

    def _read_pledge(self, sentence: _Sentence, clause: Clause) -> str | None:
        """Return who will do something; None if the clause is no task of anybody."""
        if not clause.subjects or self._is_subordinate(clause):
            return None
        subject = self._subject_name(clause)
        if subject is None:
            return None
        head = clause.subjects[0]
        word = head.token.text.lower()
        has_date = bool(sentence.dates)
        governor = clause.governor
        if (
            governor is not None
            and governor.lemma in OBLIGATION_VERBS
            and clause.tree.relation(clause.at) == "xcomp"
        ):
            obliged = self._is_obliged(governor, clause, has_date=has_date)
            return subject if obliged and self._has_argument(sentence, clause) else None
        own = word in FIRST_PERSON or word in FIRST_PLURAL
        named = head.token.upos == "PROPN" and (len(clause.subjects) > 1 or self._is_named(head))
        if clause.tense is Tense.FUTURE and not clause.is_passive and not clause.is_copular:
            personal = own or named or (word in ("he", "she") and has_date)
            return subject if personal and self._is_task_ahead(sentence, clause) else None
        lemma = clause.lemma.split()[0]
        if clause.modal == "must" and (own or named) and not clause.is_copular:
            concrete = lemma in cues.TASK_VERBS and not self._is_vague_act(clause)
            return subject if concrete and clause.objects else None
        if clause.modal or clause.is_copular or clause.is_passive or clause.is_hedged:
            return None
        if clause.tree.relation(clause.at) not in MAIN_RELATIONS:
            return None
        ahead = [
            each
            for each in sentence.dates
            if each.until > self.at and each.relation is not DateRelation.SINCE
        ]
        is_deadline = any(each.relation in DEADLINES for each in ahead)
        in_words = lemma in cues.TASK_VERBS or clause.lemma == "set up"
        likely = head.token.upos == "PROPN" and is_deadline and clause.objects
        # "Olga is out, ask Jens" has an order after the comma: Olga "asks"
        agrees = verb_form(clause.tree.sentence[clause.at]) != "base" or len(clause.subjects) > 1
        stated = agrees or head.token.upos != "PROPN"
        if (named or likely) and clause.tense in PRESENT_TENSES and ahead and in_words and stated:
            return subject
        if (
            own
            and word in FIRST_PERSON
            and ahead
            and in_words
            and clause.objects
            and not self._is_vague_act(clause)
            and clause.tense in PRESENT_TENSES
            and (clause.tense is Tense.PRESENT or is_deadline or lemma in cues.ASSIGNED_VERBS)
            and not SOCIAL_PLAN.search(sentence.words)
        ):
            return subject
        if (
            named
            and clause.tense is Tense.PRESENT
            and clause.lemma in cues.ASSIGNED_VERBS
            and verb_form(clause.tree.sentence[clause.at]) == "third"
            and clause.objects
            and not clause.has_ended
            and not HABIT.search(sentence.words)
        ):
            return subject
        return self._wanted_by(clause, named=named, word=word)

    def _is_named(self, head: Phrase) -> bool:
        return self._is_person(head.text.split()[0]) or self._is_person(head.token.text)

    def _is_obliged(self, governor: Clause, clause: Clause, *, has_date: bool) -> bool:
        """Return whether "have to", "need to" or "got to" states a task."""
        tree = governor.tree
        mark = clause.tree.child(clause.at, "mark")
        if mark is None or verb_form(tree.sentence[governor.at]) == "ing":
            return False
        if governor.lemma == "get" and tree.child(governor.at, "aux") is None:
            return False  # "we got to see it" is a pleasure, "we've got to" is none
        if governor.objects or governor.is_negated or governor.modal is not None:
            return False
        if governor.tense not in PRESENT_TENSES and governor.lemma != "get":
            return False
        subjects = governor.subjects or clause.subjects
        head = subjects[0].token.text.lower() if subjects else ""
        named = bool(subjects) and subjects[0].token.upos == "PROPN" and has_date
        if head not in ("i", "we") and not named:
            return False
        lemma = clause.lemma.split()[0]
        movable = lemma in cues.TASK_VERBS or lemma in ("leave", "get", "find")
        if lemma in cues.NON_TASK_VERBS and not movable:
            return False
        return has_date or not self._is_vague_act(clause)

    def _is_task_ahead(self, sentence: _Sentence, clause: Clause) -> bool:
        """Return whether a clause in the future tense promises an act that can be done."""
        tree, lemma = clause.tree, clause.lemma.split()[0]
        has_date = bool(sentence.dates)
        start = tree.sentence[0].start
        if cues.CONDITIONAL.search(self.text[start : tree.sentence[clause.at].start]):
            return False
        if clause.is_hedged or (cues.SOMEDAY.search(sentence.words) and not has_date):
            return False
        token = tree.sentence[clause.at]
        if verb_form(token) == "ing":  # "I'll be teaching" only tells a plan
            return has_date and lemma in cues.ASSIGNED_VERBS
        if tree.child(clause.at, "ccomp") is not None and not has_date:
            return lemma in ("tell", "ask", "let", "check", "make sure") and bool(clause.objects)
        if lemma in cues.NON_TASK_VERBS:
            ready = lemma == "have" and bool(clause.objects) and (has_date or "ready" in tree.lower)
            taken = lemma in ("get", "keep", "find") and clause.objects and has_date
            return bool(ready or (taken and clause.subjects[0].lemma == "i"))
        return has_date or not self._is_vague_act(clause)

    def _wanted_by(self, clause: Clause, *, named: bool, word: str) -> str | None:
        """Return the group for "the client wants the quote by Friday"."""
        if (
            clause.lemma not in ("want", "need")
            or not clause.objects
            or named
            or word in FIRST_PERSON
            or clause.tense is not Tense.PRESENT
        ):
            return None
        due = [each for each in self._dates_in(*clause.span) if each.relation in DEADLINES]
        return self.speakers.group if due and clause.objects[0].token.upos == "NOUN" else None

    # -- corrections

    def _read_correction(self, sentence: _Sentence) -> Landmark | None:
        if sentence.is_question:
            return None
        words, dates = sentence.words, sentence.dates
        if cues.LETS.match(words):
            return None
        for pattern in cues.CORRECTION_PATTERNS:
            match = pattern.search(words)
            if match is None or _is_inside_quotes(words, match.start("right")):
                continue
            wrong = match["wrong"] if "wrong" in pattern.groupindex else None
            return self._landmark(
                CORRECTION,
                sentence,
                dates=dates,
                right=self._exact(match["right"].strip(), dates),
                wrong=wrong.strip(" .") if wrong else None,
            )
        if moved := self._read_new_date(sentence):
            return moved
        match = cues.VALUE_NOT_VALUE.search(words)
        if match and match["right"].isalpha() and not cues.NAMED_VALUE.search(words):
            match = None  # "I work at Lego, not at Mattel" corrects nobody
        if match and not cues.CHOICE.search(words):
            return self._landmark(
                CORRECTION,
                sentence,
                dates=dates,
                right=match["right"].strip(" ."),
                wrong=match["wrong"].strip(" ."),
            )
        return None

    def _read_new_date(self, sentence: _Sentence) -> Landmark | None:
        """Return the correction of a date: "they pushed the audit to the 27th"."""
        words = sentence.words
        if not cues.RESCHEDULED.search(words):
            return None
        if any(each.is_hypothetical or each.modal in UNSURE for each in sentence.clauses):
            return None
        dates = [each for each in sentence.dates if each.until > self.at]
        if dates:
            return self._landmark(CORRECTION, sentence, dates=[self._new_date(dates)])
        if not cues.NEW_DAY.search(words):
            return None
        following = SENTENCE.match(self.text, sentence.span.end)
        if following is None or len(words.split()) > MAX_SHORT_WORDS:
            return None
        dates = [
            each for each in self._dates_in(*following.span()) if each.until > self.at
        ]  # "they moved it! 28 Nov."
        if not dates:
            return None
        span = TextSpan(sentence.span.start, following.end())
        text = self.text[span.start : span.end]
        new = [self._new_date(dates)]
        return self._landmark(CORRECTION, sentence, text=text, dates=new, source=span)

    def _new_date(self, dates: Sequence[DateSpan]) -> DateSpan:
        """Return the new one of several dates: "from Tuesday to Thursday", "the 22nd"."""
        to = [
            each for each in dates if TO_DATE.search(self.text, max(0, each.start - 12), each.start)
        ]
        exact = [each for each in dates if any(map(str.isdigit, each.text))]
        return (to or exact or list(dates))[0]

    def _exact(self, words: str, dates: Sequence[DateSpan]) -> str:
        """Return a corrected day in ISO form, as dated facts have it."""
        low = words.lower()
        named = [
            each
            for each in dates
            if each.precision not in CLOCK_PRECISIONS
            and (each.text.lower() in low or low in each.text.lower())
        ]
        return format_date(named[0]) if len(named) == 1 and not cues.DENIED.search(words) else words

    # -- parts

    def _subject_name(self, clause: Clause) -> str | None:
        if not clause.subjects:
            return None
        if len(clause.subjects) > 1:
            return self.speakers.group
        return self.speakers.resolve(clause.subjects[0], clause)

    def _dates_in(self, start: int, end: int) -> list[DateSpan]:
        return [span for span in self.dates if start <= span.start < end]

    def _due(self, dates: Sequence[DateSpan]) -> tuple[datetime | None, datetime | None]:
        """Return end and start of the due date."""
        ahead = [span for span in dates if span.until > self.at]
        if not ahead:
            return None, None
        span = next(
            (each for each in ahead if each.relation in (DateRelation.UNTIL, DateRelation.BEFORE)),
            ahead[0],
        )
        until = span.until
        if span.precision is DatePrecision.PART_OF_DAY:  # a night ends on the next day
            until = min(until, _next_midnight(span.since))
        if span.relation is DateRelation.BEFORE and span.precision not in LONG_PRECISIONS:
            until += timedelta(days=1)  # "before 6 March" is due on that day
        since = span.since if span.since > EARLIEST.replace(year=2) else None
        return until, since

    def _landmark(
        self,
        kind: LandmarkKind,
        sentence: _Sentence,
        *,
        text: str | None = None,
        owner: str | None = None,
        dates: Sequence[DateSpan] = (),
        right: str | None = None,
        wrong: str | None = None,
        source: TextSpan | None = None,
    ) -> Landmark:
        due, since = self._due(dates)
        return Landmark(
            kind=kind,
            text=(text or sentence.words).strip(),
            source=source or sentence.span,
            owner=owner,
            right=right,
            wrong=wrong,
            due=due,
            due_from=since,
        )


def _last_request(text: str) -> str | None:
    """Return the last sentence that asks for something; for "Bob?" with the one before it."""
    sentences = list(SENTENCE.finditer(text))
    for place in range(len(sentences) - 1, -1, -1):
        words = sentences[place].group().strip()
        if cues.ASKS.search(words):
            is_name = len(words.split()) <= MAX_NAME_WORDS and place > 0
            return text[sentences[place - is_name].start() : sentences[place].end()].strip()
    return None


def split_tasks(text: str) -> list[str]:
    """Return the tasks of a list: "bump the chart and write the changelog" has two."""
    parts = re.split(
        r"\s*;\s*|\s+and (?=[a-z]+ (?:the|a|an|my|our)\b)|,\s+(?=[A-Z][a-z]+\s*[–:-]\s)", text
    )
    return [part.strip(" .") for part in parts if part.strip(" .")]


def _is_only_quoted(tree: Tree) -> bool:
    words = [at for at, token in enumerate(tree.sentence) if token.upos != "PUNCT"]
    return bool(words) and sum(at in tree.quoted for at in words) > 0.6 * len(words)


def _is_inside_quotes(words: str, place: int) -> bool:
    before = words[:place]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def _next_midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
