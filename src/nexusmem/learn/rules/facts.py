"""Facts of parsed clauses: subject, predicate and object as whole phrases, or nothing.

Each reader handles one construction: `copula` "be" and "have", `changes` verbs such as "switch" and
"quit", `events` dates beside nouns, and this module the verbs of the relation table and family
names. A clause that is a question, a wish, an order or a guess states no fact. What cannot be read
surely is skipped: the message stays searchable as a passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ...core.canonical import EARLIEST, LATEST
from ...text.dates import DatePrecision, DateRelation, DateSpan
from .changes import ChangeReader
from .clause_reader import (
    AMOUNT,
    MAX_SUBJECT_WORDS,
    TIME_NOUNS,
    FactDraft,
    arc_confidence,
    last_day_of_end,
)
from .copula import DATE_ATTRIBUTES
from .coreference import INDEFINITE, WE
from .events import EventFact, EventReader
from .grammar import CALENDAR_WORDS, CONTRAST, Clause, Phrase, Tense, Tree, verb_form
from .lexicon import CLUBS, DIETS, KIN, OCCUPATIONS, ORGANISATIONS, PETS, word_set
from .object_types import TYPES, has_determiner, is_generic, is_named, is_someone, is_unknown_name
from .phrases import PhraseReader
from .relations import (
    PERSON_PREDICATES,
    STATE_RELATIONS,
    RelationRule,
    category_of,
    load_rules,
)
from .results import Certainty, Statement, StatementTense, TextSpan
from .vocabulary import is_medicine

MIN_ARC_CONFIDENCE = 0.2  # below that, the tree is not believed
SURE_ARC_CONFIDENCE = 0.35
ASSERTING_GOVERNORS = word_set(
    "start begin continue keep use go love like enjoy happen come manage get be decide agree"
    " plan stop end choose opt settle switch"
)
UNSURE_GOVERNORS = word_set(
    "think guess believe hope wish wonder doubt suppose assume imagine bet ask know remember"
    " feel sound seem want need"
)
AMOUNTS = frozenset(["HAS_PRICE", "HAS_BUDGET", "HAS_COMPENSATION"])
PERSONAL_PREDICATES = PERSON_PREDICATES - frozenset(["WORKING_ON", "RESPONSIBLE_FOR", "MANAGES"])
DURATION = re.compile(r"\b(?:for|since|ever since|so far|always)\b", re.IGNORECASE)
LISTED = frozenset("LIKES DISLIKES PREFERS EATS DRINKS SPEAKS USES PLAYS ALLERGIC_TO".split())
TRAILING_HEDGE = re.compile(
    r",? (?:i (?:think|guess|believe|suppose|assume)|or (?:something|so|whatever)|maybe|perhaps"
    r"|probably)\s*[.!]*\s*$",
    re.IGNORECASE,
)
RANGE = re.compile(
    r"(?:from|between)\b.*\b(?:to|until|till|through|and)\b|[^–-]*\d\s?[–-]\s?\w", re.IGNORECASE
)
STOP_VERBS = word_set("stop quit cease finish")
PHASE_VERBS = STOP_VERBS | word_set("start begin")
PAST_TENSES = (Tense.PAST, Tense.PERFECT)
TRAITS = frozenset("ALLERGIC_TO HAS_DIET HAS_CONDITION SPEAKS FROM LIKES DISLIKES HAS_AGE".split())
REPLACEABLE = frozenset(
    "USES WORKS_AT STUDIES_AT LIVES_IN HAS_PRICE DRIVES TAKES_MEDICATION".split()
)
GENERIC_CONFIDENCE = 0.6  # of the arcs, for relations that are not in the table
VAGUE_VERBS = word_set(
    """be have do get make go come say tell think know want see look give take let keep put find
    feel seem try ask mean hope need become show leave call start turn help happen hear believe
    bring sound love like hate wish guess thank sell send crash say explain remember forget mind
    matter"""
)
FORMERLY = re.compile(
    r"\b(?:before|previously|formerly|originally|until|till|back then|in the past|for years"
    r"|for (?:\w+ ){1,2}(?:months|years)|at the time|as a (?:kid|child|teenager|student))\b",
    re.IGNORECASE,
)
COMPARED = re.compile(r"\b(?:more|better) than\b", re.IGNORECASE)
DIET_WORDS = DIETS | word_set("veggie plant-based keto")
BE_FORMS = word_set("be am is are was were been 's 're 'm ’s ’re ’m")
EXCLUDED = {"RESPONSIBLE_FOR": ("MANAGES",), "STUDIES_AT": ("WORKS_AT",)}
PUPILS = word_set("son daughter kid kids child children boy girl grandson granddaughter")
NAMED_TYPES = ("person", "someone", "company", "employer")
UNNAMED_EMPLOYERS = ("company", "firm", "job", "team", "business")
VAGUE_CLUBS = word_set("class course group team community program programme party network board")
GERUND_MARKS = word_set(
    """by for about of in on with without from into like before after than besides despite through
    towards at to as instead"""
)
ABILITIES = frozenset("SPEAKS SUPPORTS ACCEPTS STORED_IN PLAYS".split())
OCCASIONAL = frozenset("PLAYS EATS DRINKS USES LIKES DRIVES LEARNING TEACHES WORKING_ON".split())
SUBJECT_KINDS = {"animal": "any", "item": "thing", "system": "thing"}
NO_PERSONS = ("item", "system", "thing")
EMPLOYED_VERBS = word_set(
    """run lead manage head do teach research design build sit coach cook bartend lecture nurse edit
    code program wait clean guard"""
)


class FactReader(ChangeReader):
    """Reads the facts of one message, sentence by sentence."""

    __slots__ = ()

    def read_facts(self, tree: Tree, clauses: Sequence[Clause]) -> list[Statement]:
        """Return the facts of one sentence."""
        drafts: list[FactDraft] = []
        if not clauses:
            self._register_fragment(tree)
        for clause in clauses:
            if self._is_readable(clause):
                drafts += self._read_clause(clause)
            self._register_mentions(clause)
            self.speakers.end_clause()
        drafts += self._read_family(tree)
        events = list(self._read_events(tree, clauses, drafts))
        drafts = [each for each in drafts if not _is_part_of(each, events)] + events
        drafts = [part for draft in drafts for part in _split_list(draft)]
        statements = [self._make_statement(draft) for draft in drafts]
        return _unique([each for each in statements if each is not None])

    def _read_events(
        self, tree: Tree, clauses: Sequence[Clause], found: Sequence[FactDraft]
    ) -> Iterator[FactDraft]:
        dated = {draft.subject for draft in found if draft.change == "date"}
        if any(each.predicate == "HAS_STATUS" and each.object == "cancelled" for each in found):
            return
        reader = EventReader(self.speakers, self.dates, self.at, self.text)
        phrases = PhraseReader(self.speakers, self.dates, self.at, self.text)
        events = [*reader.read_events(tree, clauses)]
        stated = {(each.subject.lower(), each.predicate) for each in found}
        stated |= {(each.subject.lower(), each.predicate) for each in events}
        events += [
            each
            for each in phrases.read_phrases(tree)
            if (each.subject.lower(), each.predicate) not in stated
            and not (each.predicate in AMOUNTS and each.predicate in {name for _, name in stated})
        ]
        for event in events:
            if event.predicate in DATE_ATTRIBUTES and any(event.subject in each for each in dated):
                continue
            if event.predicate == "HAS_PRICE" and any(
                each.predicate in ("HAS_PRICE", "OWES") for each in found
            ):
                continue
            yield self._event_draft(event, tree)

    def _event_draft(self, event: EventFact, tree: Tree) -> FactDraft:
        if event.date is not None and not event.value:
            return self._dated_draft(event.subject, event.predicate, event.date, tree)
        return FactDraft(
            subject=event.subject,
            predicate=event.predicate,
            object=event.value,
            clause=None,
            tree=tree,
            tense=event.tense,
            negated=event.negated,
            date=event.date,
            change=_event_change(event),
        )

    def _is_readable(self, clause: Clause) -> bool:
        last = clause.tree.sentence[len(clause.tree.sentence) - 1].end
        if TRAILING_HEDGE.search(self.text, clause.span[0], min(len(self.text), last + 24)):
            return False  # "she lives in Lisbon, I think"
        if _asks_for_name(clause):
            return True
        if not clause.is_asserted or clause.at in clause.tree.quoted or _is_purpose(clause):
            return False
        governor = clause.governor
        if governor is not None and clause.tree.relation(clause.at) == "xcomp":
            is_asserted = governor.is_asserted and not governor.is_negated
            return governor.lemma in ASSERTING_GOVERNORS and is_asserted
        if governor is not None and clause.tree.relation(clause.at) == "ccomp":
            if governor.is_negated:
                return False
            told = governor.is_imperative and governor.lemma in ("remember", "note", "know", "keep")
            return told or (governor.lemma not in UNSURE_GOVERNORS and not governor.is_question)
        return True

    def _register_mentions(self, clause: Clause) -> None:
        others = [each.phrase for each in clause.obliques if each.preposition != "as"]
        for phrase in (*clause.subjects, *clause.objects, *others):
            if phrase.is_pronoun or phrase.token.upos not in ("PROPN", "NOUN"):
                continue
            self._register_owner(phrase, clause)
            name = self.speakers.resolve(phrase, clause)
            if name and phrase.lemma not in TIME_NOUNS:
                self.speakers.add_mention(name, phrase)
        for phrase in (each for first in others for each in clause.tree.conjuncts(first)[1:]):
            if phrase.is_name and (name := self.speakers.resolve(phrase, clause)):
                self.speakers.add_mention(name, phrase)  # "talked to Omar and Pavel"

    def _register_fragment(self, tree: Tree) -> None:
        """Register the noun of a sentence without a verb: "no more carousels"."""
        root = tree.sentence.root
        if tree.sentence[root].upos in ("NOUN", "PROPN"):
            phrase = Phrase(tree, root)
            if name := self.speakers.resolve(phrase):
                self.speakers.add_mention(name.removeprefix("no ").removeprefix("more "), phrase)

    def _register_owner(self, phrase: Phrase, clause: Clause) -> None:
        """Register "my wife" of "my wife's birthday"."""
        if phrase.possessor is None or phrase.tree.sentence[phrase.possessor].upos == "PRON":
            return
        owner = Phrase(phrase.tree, phrase.possessor)
        if name := self.speakers.resolve(owner, clause):
            self.speakers.add_mention(name, owner)

    def _read_clause(self, clause: Clause) -> Iterator[FactDraft]:
        readers: tuple[Callable[[Clause], Iterator[FactDraft]], ...] = (
            self._read_outcome,
            self._read_birthday,
            self._read_keeping,
            self._read_change,
            self._read_be,
            self._read_have,
            self._read_table,
            self._read_verb,
        )
        for reader in readers:
            found = list(reader(clause))
            if found:
                rule = f"verb {clause.lemma}" if reader != self._read_be else "be"
                read = [*found, *self._read_instead(clause, found)]
                yield from (replace(_name_medicine(each), rule=rule) for each in read)
                return

    def _read_table(self, clause: Clause) -> Iterator[FactDraft]:
        stated: set[tuple[str, bool]] = set()
        for rule in _rules_of(clause):
            key = (rule.predicate, rule.change == "end")
            if key in stated or not _fits_form(rule, clause):
                continue
            if any((each, False) in stated for each in EXCLUDED.get(rule.predicate, ())):
                continue
            objects = self._rule_objects(rule, clause)
            if not objects:
                continue
            found = [
                self._table_draft(rule, clause, subject, phrase)
                for subject in self._rule_subjects(rule, clause)
                for phrase in objects
            ]
            made = [each for each in found if each is not None]
            if made:
                stated.add(key)
                yield from made
                yield from self._read_predecessor(clause, made)
        if ("STUDIES_AT", False) not in stated:
            yield from self._read_employer(clause)

    def _rule_subjects(self, rule: RelationRule, clause: Clause) -> list[str]:
        """Return the subjects of a fact: those of the clause, or the person in another place."""
        if not rule.subject.startswith("@"):
            kind = SUBJECT_KINDS.get(rule.subject, rule.subject)
            names = self._subjects(clause, kind)
            if rule.subject in NO_PERSONS and any(is_someone(each) for each in clause.subjects):
                return []
            if rule.subject == "someone" and any(
                each.lemma in OCCUPATIONS or not is_someone(each) for each in clause.subjects
            ):
                return []
            if rule.subject == "animal" and not all(each.lemma in PETS for each in clause.subjects):
                return []
            return names
        place = rule.subject[1:]
        if place == "we":
            is_ours = not any(is_someone(each) for each in clause.subjects)
            return [self.speakers.group] if is_ours and clause.subjects else []
        if place == "thing":
            things = clause.objects[:1] if self._subjects(clause, "person") else ()
            return [
                name
                for each in things
                if not each.is_pronoun
                and not is_someone(each)
                and (name := self.speakers.resolve(each, clause))
            ]
        phrases = clause.objects[:1] if place == "obj" else (clause.oblique(place),)
        if place == "obj" and any(each.determiner in ("a", "an") for each in clause.objects[:1]):
            return []  # "we hired a designer"
        if clause.is_copular:  # "the hiring is with Petra"
            phrases = tuple(each for each in phrases if each and each.head == clause.at)
            if any(each.is_pronoun for each in clause.subjects):
                return []
        people = [
            each
            for each in phrases
            if each is not None and (is_someone(each) or (place == "by" and is_unknown_name(each)))
        ]
        return [name for each in people if (name := self.speakers.resolve(each, clause))]

    def _read_instead(self, clause: Clause, found: Sequence[FactDraft]) -> Iterator[FactDraft]:
        """Read the end of what a new value replaces: "at Montessori now instead of SP 12"."""
        contrast = clause.tree.child(clause.at, CONTRAST)
        if contrast is not None:  # "in Malmö now, not in Lund anymore"
            former: Phrase | None = Phrase(clause.tree, contrast)
            tense: StatementTense | None = StatementTense.PAST
        else:
            former = clause.oblique("instead of", "rather than")
            is_now = clause.tense is Tense.PRESENT and not self._clause_dates(clause)
            tense = StatementTense.PAST if is_now else None
        words = self._object(former) if former else None
        if not words:
            return
        for draft in found:
            is_state = draft.predicate in REPLACEABLE or (
                contrast is not None and draft.predicate in STATE_RELATIONS
            )
            if is_state and draft.change != "end":
                yield replace(draft, object=words, change="end", tense=tense)

    def _read_predecessor(self, clause: Clause, found: Sequence[FactDraft]) -> Iterator[FactDraft]:
        """Read who gave a task away: "Ann takes over the service from me"."""
        former = clause.oblique("from") if clause.lemma == "take over" else None
        name = self.speakers.resolve(former, clause) if former else None
        if name:
            yield from (
                replace(draft, subject=name, change="end")
                for draft in found
                if draft.subject != name
            )

    def _read_employer(self, clause: Clause) -> Iterator[FactDraft]:
        """Read the company of "she runs logistics at Velmora"."""
        company = clause.oblique("at")
        if (
            clause.lemma not in EMPLOYED_VERBS
            or clause.tense in PAST_TENSES
            or company is None
            or not company.is_name
            or not self._has_type(company, "company")
        ):
            return
        for name in self._subjects(clause, "person"):
            yield self._state(
                clause, name, "WORKS_AT", company.text, confidence=arc_confidence(clause, company)
            )
            if (
                clause.objects
                and clause.lemma in ("run", "lead", "manage", "head")
                and (words := self._object(clause.objects[0]))
            ):
                yield self._state(clause, name, "RESPONSIBLE_FOR", words)

    def _rule_objects(self, rule: RelationRule, clause: Clause) -> list[Phrase]:
        if rule.argument == ("subj",):
            return [each for each in clause.subjects[:1] if not is_someone(each)] or (
                list(clause.subjects[:1]) if rule.object_type in ("person", "employer") else []
            )
        if rule.argument == ("diet",):  # "went vegan", "eats only halal"
            after = range(clause.at + 1, min(clause.at + 3, len(clause.tree.sentence)))
            return [Phrase(clause.tree, at) for at in after if clause.tree.lower[at] in DIET_WORDS]
        if rule.argument == ("mod",):
            return [
                Phrase(clause.tree, at)
                for at in clause.tree.children[clause.objects[0].head]
                if clause.tree.relation(at) == "compound"
            ][-1:]
        if rule.argument == ("obj",):
            chosen = clause.objects[:1]
            if len(clause.objects) > 1 and "or" in clause.tree.lower[clause.at :]:
                return []  # "Postgres or MySQL"
            if rule.object_type == "generic" and not chosen:  # "they love swimming"
                at = clause.tree.child(clause.at, "xcomp", "ccomp")
                is_bare = at is not None and not clause.tree.children[at]
                if at is not None and is_bare and clause.tree.lower[at].endswith("ing"):
                    return [Phrase(clause.tree, at)]
            if rule.object_type == "generic" and chosen and not is_generic(chosen[0]):
                return []  # "the freedom and connection"
            return [item for each in chosen for item in clause.tree.list_items(each)]
        phrase = clause.oblique(*rule.argument) or clause.phrase_after(*rule.argument)
        if phrase is None:  # "moved back to Seville", "got rid of the car"
            phrase = clause.tree.phrase_after(clause.at + 1, *rule.argument)
        if (
            phrase is not None
            and rule.object_type == "company"
            and not rule.nouns
            and clause.tree.sentence[phrase.head].head != clause.at
            and not set(clause.tree.lower[clause.at + 1 : clause.at + 2]) & set(rule.argument)
            and (clause.objects or len(clause.obliques) > 1)
        ):
            return []  # "working on a site for a bakery"
        if phrase is None and "obj" in rule.argument and clause.objects:
            phrase = clause.objects[-1]
        if phrase is None:
            return []
        is_one = rule.object_type == "company" and clause.tree.joined_name(phrase)
        return [phrase] if is_one else clause.tree.list_items(phrase)

    def _fits_type(self, rule: RelationRule, phrase: Phrase) -> bool:
        if rule.predicate in ("JOIN", "LEAVE") and phrase.lemma in CLUBS:
            is_vague = phrase.lemma in VAGUE_CLUBS and len(phrase.short_text.split()) == 1
            is_lesson = phrase.lemma in ("class", "course") and phrase.determiner in ("a", "an")
            return not (is_vague or is_lesson) and (has_determiner(phrase) or is_named(phrase))
        if check := TYPES.get(rule.object_type):
            return check(phrase)
        return self._has_type(phrase, rule.object_type)

    def _holds_now(self, rule: RelationRule, clause: Clause) -> bool:
        """Return whether a clause states a habit or taste, not one occasion or a reaction."""
        governor = clause.governor
        used_to = governor is not None and governor.lemma in ("use", *STOP_VERBS)
        if clause.has_ended or used_to:
            return True
        if _first_word(clause) == "you":
            return False
        if rule.predicate in ("FROM", "RESPONSIBLE_FOR") and (
            not clause.subjects or (rule.predicate == "FROM" and clause.tense is not Tense.PRESENT)
        ):
            return False
        if clause.modal and not (clause.modal == "can" and rule.predicate in ABILITIES):
            return False
        if rule.change == "taste":
            is_verb = not any(
                clause.tree.lower[at] in BE_FORMS for at in clause.tree.children[clause.at]
            )
            lasting = clause.tense in (Tense.PRESENT, Tense.FUTURE) or (
                clause.tense in PAST_TENSES
                and ("always" in clause.words or ("never" in clause.words and clause.is_negated))
            )
            return is_verb and lasting
        is_aside = clause.tree.relation(clause.at) in ("acl", "advcl")
        if is_aside and clause.tree.lower[clause.at].endswith("ing") and not clause.has_ended:
            return rule.predicate not in OCCASIONAL
        if clause.is_negated and rule.predicate == "USES":
            return True
        if clause.tense is Tense.PAST:
            return FORMERLY.search(self.text, *clause.span) is not None
        if clause.tense is Tense.PERFECT and not clause.tree.lower[clause.at].endswith("ing"):
            return DURATION.search(self.text, *clause.span) is not None
        return True

    def _table_draft(
        self, rule: RelationRule, clause: Clause, subject: str, phrase: Phrase
    ) -> FactDraft | None:
        """Return the fact of one line of the table; None if the clause does not state it."""
        if not self._is_stated(rule, clause, subject, phrase):
            return None
        words = self._table_object(rule, clause, subject, phrase)
        if words is None:
            return None
        predicate, change = rule.predicate, rule.change
        if change in ("habit", "taste", "seeing", "present"):
            change = "state"
        if change == "injury":
            words, change = f"{_past_word(clause)} {words}", "begin"
        if predicate in ("JOIN", "LEAVE"):
            predicate = "MEMBER_OF" if phrase.lemma in CLUBS else "WORKS_AT"
            known = phrase.is_name or phrase.is_pronoun or phrase.lemma in ORGANISATIONS
            if predicate == "WORKS_AT" and not known:
                return None
            is_unnamed = predicate == "WORKS_AT" and change == "end" and not phrase.is_name
            if is_unnamed and phrase.short_text.lower() in UNNAMED_EMPLOYERS:
                words = ""
        if predicate == "LIKES" and COMPARED.search(self.text, *clause.span):
            predicate = "PREFERS"
        if predicate in ("LIKES", "PREFERS") and clause.is_negated and clause.lemma != "prefer":
            return replace(
                self._state(clause, subject, "DISLIKES", words, tense=StatementTense.CURRENT),
                negated=False,
            )
        confidence = arc_confidence(clause, phrase)
        return self._state(clause, subject, predicate, words, change=change, confidence=confidence)

    def _is_stated(self, rule: RelationRule, clause: Clause, subject: str, phrase: Phrase) -> bool:
        """Return whether tense, mood and subject of a clause are those of the relation."""
        predicate, change = rule.predicate, rule.change
        if change == "present" and (clause.tense is not Tense.PRESENT or clause.modal):
            return False
        if change == "seeing":  # "I'm seeing Tom", but not "I see Tom"
            is_going_on = clause.tense is Tense.PROGRESSIVE or clause.lemma == "date"
            if self._clause_dates(clause) and clause.lemma == "see":
                return False  # "I'm seeing Tom tomorrow"
            return is_going_on and (phrase.is_name or phrase.is_pronoun)
        if change in ("habit", "taste", "present") and not self._holds_now(rule, clause):
            return False
        if _is_occasion(clause) and change in ("state", "habit"):
            return False
        if change == "injury":
            return clause.tense in PAST_TENSES and _is_owned(phrase)
        if predicate == "BOUGHT" and (clause.tense is Tense.FUTURE or clause.modal is not None):
            return False  # a promise is a task
        if predicate == "TRAVELING_TO" and clause.tense in PAST_TENSES:
            return bool(rule.nouns)
        if predicate == "TRAVELING_TO" and clause.tense is Tense.PRESENT:
            return bool(self._clause_dates(clause))
        if clause.lemma == "go" and predicate == "WORKS_AT":  # "Gareth went to Siemens"
            is_visit = _first_word(clause) in ("i", "we", "you") or len(clause.obliques) > 1
            is_visit = is_visit or clause.tree.child(clause.at, "xcomp") is not None  # "to join it"
            return clause.tense in PAST_TENSES and not is_visit
        if clause.lemma == "need" and _first_word(clause) in ("they", "it"):
            return False
        return not (
            (predicate == "ALSO_KNOWN_AS" and subject == self.speakers.speaker)  # see `values`
            or (predicate == "WORKS_AT" and PUPILS & set(subject.lower().split()))
            or (predicate == "REPLACES" and clause.objects and rule.argument == ("from",))
            or (predicate == "RESPONSIBLE_FOR" and phrase.lemma in TIME_NOUNS)
            or (predicate in ("LIKES", "PREFERS", "DISLIKES") and clause.modal is not None)
        )

    def _table_object(
        self, rule: RelationRule, clause: Clause, subject: str, phrase: Phrase
    ) -> str | None:
        """Return the words of the object; None if it is not of the type of the relation."""
        type = rule.object_type
        words: str | None = self._object(phrase)
        if words is None and phrase.is_pronoun and type in NAMED_TYPES:
            words = self.speakers.resolve(phrase, clause)
            is_employer = type in ("company", "employer")
            is_known = words != subject and (not is_employer or words == self.speakers.group)
            return words if is_known else None
        if rule.needs_type and phrase.is_pronoun and rule.argument == ("subj",):
            return self.speakers.resolve(phrase, clause)
        if words is None or (rule.needs_type and not self._fits_type(rule, phrase)):
            return None
        if type in ("product", "tool") and phrase.is_name:
            return phrase.short_text  # "Redis for caching" is Redis
        if type == "company":
            return clause.tree.joined_name(phrase) or words
        if type == "language":
            return phrase.token.text  # "a little Portuguese"
        owner = phrase.possessor
        if rule.predicate == "LIVES_WITH" and owner is not None and phrase.apposition is None:
            return None if phrase.tree.lower[owner] in ("his", "her", "their") else words
        if type == "leave":
            last = [at for at in phrase.positions if at <= phrase.head]
            return clause.tree.join(last)  # "paternity leave mid May"
        if type == "medication":
            return words.rsplit(" of ", 1)[-1]
        if type == "post":
            return words.rsplit(maxsplit=1)[0]
        if rule.predicate == "HAS_PET" and rule.change != "end":
            return next(iter(self._names_after(clause.tree, phrase)), words)
        if rule.predicate == "HAS_COMPENSATION":
            amount = AMOUNT.search(self.text, *clause.span)
            return amount.group().strip(" .,") if amount else words
        return words

    def _read_verb(self, clause: Clause) -> Iterator[FactDraft]:
        """Read a habit or state by its own verb: "he pays cash" is PAYS cash."""
        if (
            clause.is_copular
            or clause.is_passive
            or clause.modal
            or clause.is_negated
            or clause.tense is not Tense.PRESENT
        ):
            return
        if (
            len(clause.objects) != 1
            or clause.lemma.split()[0] in VAGUE_VERBS
            or not clause.subjects
            or clause.governor is not None
        ):
            return
        subject, phrase = clause.subjects[0], clause.objects[0]
        word = subject.token.text.lower()
        named = subject.token.upos == "PROPN" or word in ("he", "she")
        if not named or min(subject.token.confidence, phrase.token.confidence) < GENERIC_CONFIDENCE:
            return
        words = self._object(phrase)
        verb, *particle = clause.lemma.split()
        predicate = re.sub(r"[^A-Z]+", "_", " ".join([_third_person(verb), *particle]).upper())
        for name in self._subjects(clause, "any"):
            if words:
                yield replace(
                    self._state(
                        clause, name, predicate, words, confidence=arc_confidence(clause, phrase)
                    ),
                    certainty=Certainty.IMPLIED,
                )

    def _read_family(self, tree: Tree) -> Iterator[FactDraft]:
        """Read "my sister Klara" and "Theo's sister Klara", wherever they stand."""
        if tree.is_question and len(tree.sentence) < 4:
            return
        for at, token in enumerate(tree.sentence):
            if (
                at in tree.quoted
                or not (token.lemma.lower() in KIN or token.text in PETS)
                or token.upos not in ("NOUN", "PROPN")
            ):
                continue
            phrase = Phrase(tree, at)
            following = at + 1
            if phrase.possessor is None or following >= len(tree.sentence):
                continue
            other = tree.sentence[following]
            if other.text == "," and following + 1 < len(tree.sentence):
                continue
            if other.upos != "PROPN" or not other.text[:1].isupper() or other.text.isupper():
                continue
            if other.text.lower() in CALENDAR_WORDS:
                continue
            owner = self.speakers.resolve_owner(phrase)
            last = following
            while (
                last + 1 < len(tree.sentence)
                and tree.sentence[last + 1].upos == "PROPN"
                and tree.sentence[last + 1].text[:1].isupper()
            ):
                last += 1
            name = tree.join(range(following, last + 1))
            names = [name]
            if token.text in PETS:
                if owner and phrase.apposition is not None:
                    yield self._pet_draft(owner, name, tree)
                continue
            if token.text.lower() != token.lemma.lower():  # "my brothers Tom and Max"
                names = self._names_after(tree, phrase)
            for each in names:
                if owner and each != owner:
                    yield self._kin_draft(owner, token.lemma.lower(), each, tree)

    def _pet_draft(self, owner: str, name: str, tree: Tree) -> FactDraft:
        return FactDraft(
            subject=owner, predicate="HAS_PET", object=name, clause=None, tree=tree, use_dates=False
        )

    def _make_statement(self, draft: FactDraft) -> Statement | None:
        clause = draft.clause
        if draft.confidence < MIN_ARC_CONFIDENCE or not draft.subject.strip():
            return None
        if not draft.object and draft.change != "end":
            return None
        if draft.object.lower() == draft.subject.lower():
            return None
        if draft.change == "end" and clause is not None and clause.is_negated:
            return None  # "I haven't left Siemens"
        if (
            len(draft.subject.split()) > MAX_SUBJECT_WORDS + 2
            or draft.subject.lower() in INDEFINITE
        ):
            return None
        if draft.subject == self.speakers.project and draft.predicate in PERSONAL_PREDICATES:
            draft = replace(draft, subject=WE)  # a project has no pets
        tense, since, until, negated = self._times(draft)
        sure = draft.confidence >= SURE_ARC_CONFIDENCE
        certainty = draft.certainty if sure else Certainty.UNCERTAIN
        if clause is not None and clause.quoted_speaker is not None and sure:
            certainty = Certainty.IMPLIED
        start, end = (
            draft.tree.sentence[0].start,
            draft.tree.sentence[len(draft.tree.sentence) - 1].end,
        )
        return Statement(
            subject=draft.subject,
            predicate=draft.predicate,
            object=draft.object if draft.is_name and draft.object else None,
            value=None if draft.is_name or not draft.object else draft.object,
            aspect=draft.aspect,
            sentence=self.text[start:end].strip(),
            source=TextSpan(start, end),
            category=category_of(draft.predicate),
            certainty=certainty,
            temporal=tense,
            valid_from=since,
            valid_to=until,
            negated=negated,
            rule=draft.rule or "words beside a name or date",
        )

    def _times(
        self, draft: FactDraft
    ) -> tuple[StatementTense, datetime | None, datetime | None, bool]:
        clause = draft.clause
        negated = draft.negated if draft.negated is not None else bool(clause and clause.is_negated)
        dates = self._clause_dates(clause) if clause and draft.use_dates else []
        governor = clause.governor if clause is not None else None
        if not dates and draft.use_dates and governor is not None and governor.lemma in PHASE_VERBS:
            dates = self._clause_dates(governor)  # "stopped using Jenkins in 2024"
        if draft.predicate in TRAITS:
            dates = [each for each in dates if each.relation is DateRelation.SINCE]
        since, until = self._validity(dates)
        if draft.change == "date":
            return self._date_times(draft, negated)
        if draft.tense is not None and draft.date is not None:
            return draft.tense, draft.date.since, self._validity([draft.date])[1], negated
        if draft.tense is not None and draft.change == "end":
            return draft.tense, None, self._end_time(dates) or self.at, False
        if draft.tense is not None:
            return draft.tense, since, until, negated
        if clause is None:
            return StatementTense.CURRENT, None, None, negated
        future = (
            clause.tense is Tense.FUTURE
            or (since is not None and since > self.at)
            or draft.change == "coming"
        )
        has_stopped = governor is not None and governor.lemma in STOP_VERBS
        if draft.change == "end" or has_stopped:
            end = since or until
            is_decided = governor is not None and governor.tense in PAST_TENSES and end is None
            if (
                not is_decided
                and clause.tense in (Tense.FUTURE, Tense.PROGRESSIVE, Tense.PRESENT)
                and ((end is None and not clause.is_passive) or (end and end > self.at))
                and not clause.has_ended
            ):
                return StatementTense.FUTURE, end, None, True
            return StatementTense.PAST, None, self._end_time(dates), False
        if clause.has_ended:
            return StatementTense.PAST, None, self._end_time(dates) or self.at, False
        if future:
            return StatementTense.FUTURE, since, until, negated
        if draft.change == "begin":
            return StatementTense.CURRENT, since, until, negated
        if draft.change == "event":
            return (
                StatementTense.PAST
                if clause.tense in (Tense.PAST, Tense.PERFECT)
                else StatementTense.CURRENT,
                since,
                until,
                negated,
            )
        used_to = clause.governor is not None and clause.governor.lemma == "use"
        is_over = (
            clause.tense is Tense.PERFECT
            and draft.predicate in ("LIVES_IN", "WORKS_AT")
            and since is None
            and not DURATION.search(self.text, *clause.span)
        )
        if is_over:  # "I've lived in Oulu, Turku and Lahti"
            return StatementTense.PAST, since, until, negated
        if clause.tense is Tense.PAST or used_to:
            return StatementTense.PAST, since, until, negated
        return StatementTense.CURRENT, since, until, negated

    def _date_times(
        self, draft: FactDraft, negated: bool
    ) -> tuple[StatementTense, datetime | None, datetime | None, bool]:
        span = draft.date
        if span is None:
            return StatementTense.CURRENT, None, None, negated
        if draft.predicate in ("BORN_ON", "ANNIVERSARY_ON"):
            return StatementTense.CURRENT, None, None, negated
        since = None if span.since <= EARLIEST.replace(year=2) else span.since
        if since is None and span.until < LATEST:  # "until May 8"
            is_before = span.relation is DateRelation.BEFORE
            since = span.until if is_before else span.until - timedelta(days=1)
        tense = StatementTense.FUTURE if span.until > self.at else StatementTense.PAST
        return tense, since, None, negated

    def _validity(self, dates: Sequence[DateSpan]) -> tuple[datetime | None, datetime | None]:
        since = until = None
        for span in dates:
            if (
                span.precision
                in (DatePrecision.MINUTE, DatePrecision.HOUR, DatePrecision.PART_OF_DAY)
                and span.relation is DateRelation.IN
                and span.since.date() == self.at.date()
            ):
                continue
            if span.relation in (DateRelation.UNTIL, DateRelation.BEFORE):
                until = until or (span.until if span.until < LATEST else None)
            elif span.since > EARLIEST.replace(year=2):
                since = since or last_day_of_end(span).since
        until = until or _range_end(dates, since)
        return since, until

    def _end_time(self, dates: Sequence[DateSpan]) -> datetime | None:
        """Return when a fact ended: after the day of its end, but before the message."""
        since, until = self._validity(dates)
        end = until if since is None else since
        span = next((each for each in dates if last_day_of_end(each).since == since), None)
        if span is not None and since is not None:
            is_open = span.relation is DateRelation.SINCE or span.until >= LATEST
            end = since + timedelta(days=1) if is_open else span.until
        return None if end is None else min(end, self.at - timedelta(microseconds=1))


def _range_end(dates: Sequence[DateSpan], since: datetime | None) -> datetime | None:
    """Return the end of "from 1 June to 12 June"; None for a single day or period."""
    ranges = (each for each in dates if RANGE.match(each.text) and each.since == since)
    return next((each.until for each in ranges if each.until < LATEST), None)


def _rules_of(clause: Clause) -> Iterator[RelationRule]:
    """Yield the rules of a verb, those with its particle first: "handed the file over"."""
    rules, lemma = load_rules(), clause.lemma
    if clause.tree.child(clause.at, "cop") is not None:
        yield from rules.get("be", ())
        return
    if " " not in lemma:
        words = clause.tree.lower
        places = [clause.at + 1, *(phrase.positions[-1] + 1 for phrase in clause.objects[:1])]
        for place in places:
            if place < len(words) and (known := rules.get(f"{lemma} {words[place]}")):
                yield from known
    yield from rules.get(lemma, ())


def _fits_form(rule: RelationRule, clause: Clause) -> bool:
    """Return whether voice and object noun of a clause are those of a rule."""
    if rule.nouns and not (
        clause.objects
        and (
            clause.objects[0].lemma in rule.nouns
            or clause.objects[0].token.text.lower() in rule.nouns
        )
    ):
        return False
    if rule.is_intransitive and clause.objects:
        return False
    if clause.modal == "can" and rule.predicate not in ABILITIES and not clause.is_negated:
        return False
    is_fragment = (
        rule.is_passive
        and not clause.objects
        and verb_form(clause.tree.sentence[clause.at]) == "past"
        and not clause.subjects
    )
    return rule.is_passive == clause.is_passive or is_fragment


def _is_purpose(clause: Clause) -> bool:
    """Return whether a clause names an aim or a means: "to teach them", "by using tech"."""
    tree, at = clause.tree, clause.at
    relation, form = tree.relation(at), verb_form(tree.sentence[at])
    marks = {
        tree.lower[each] for each in tree.children[at] if tree.relation(each) in ("mark", "case")
    }
    if relation == "conj" and "to" in marks and form == "base":
        head = tree.sentence[at].head
        return tree.relation(head) != "xcomp" or not _is_asserted_by(tree, head)
    if (
        relation == "conj"
        and not marks
        and not any(tree.relation(each).startswith(("nsubj", "aux")) for each in tree.children[at])
    ):
        head = tree.sentence[at].head
        if head >= 0 and tree.relation(head) == "xcomp" and form in ("ing", "base"):
            return not _is_asserted_by(tree, head)
        same = head >= 0 and verb_form(tree.sentence[head]) == form
        if same and head >= 0 and form in ("ing", "base") and tree.is_predicate(head):
            return _is_purpose(replace(clause, at=head))
        return False
    if relation in ("advcl", "acl") and "to" in marks and form == "base":
        return clause.governor is None or clause.governor.lemma != "use"
    if relation == "acl" and form == "ing":
        return tree.sentence[tree.sentence[at].head].upos != "PROPN"
    return form == "ing" and bool(marks & GERUND_MARKS) and relation != "root"


def _name_medicine(draft: FactDraft) -> FactDraft:
    """Return "uses Metformin" as a medication."""
    is_used = draft.predicate == "USES" and is_medicine(draft.object)
    return replace(draft, predicate="TAKES_MEDICATION") if is_used else draft


def _is_asserted_by(tree: Tree, at: int) -> bool:
    """Return whether the verb above an infinitive or gerund says that it is so."""
    head = tree.sentence[at].head
    return head >= 0 and tree.sentence[head].lemma.lower() in ASSERTING_GOVERNORS


def _is_occasion(clause: Clause) -> bool:
    """Return whether an infinitive tells what happened once: "I got to work with her"."""
    governor = clause.governor
    return (
        governor is not None
        and clause.tree.relation(clause.at) == "xcomp"
        and governor.lemma in ("get", "manage", "happen", "go", "come")
        and governor.tense in PAST_TENSES
    )


def _asks_for_name(clause: Clause) -> bool:
    """Return whether the speaker says what to be called: "call me Sam"."""
    return (
        clause.is_imperative
        and clause.lemma == "call"
        and bool(clause.objects)
        and clause.objects[0].lemma in ("i", "me")
    )


def _first_word(clause: Clause) -> str:
    return clause.subjects[0].token.text.lower() if clause.subjects else "i"


def _past_word(clause: Clause) -> str:
    return {"break": "broken", "tear": "torn"}.get(
        clause.lemma, clause.tree.sentence[clause.at].text.lower()
    )


def _is_owned(phrase: Phrase) -> bool:
    owner = phrase.possessor
    return owner is not None and phrase.tree.lower[owner] in ("my", "his", "her", "their", "our")


def _is_part_of(draft: FactDraft, events: Sequence[FactDraft]) -> bool:
    """Return whether an event names the thing of a draft in full: "bike key", not "key"."""
    return draft.predicate == "STORED_IN" and any(
        each.predicate == "STORED_IN" and each.subject.endswith(f" {draft.subject}")
        for each in events
    )


def _event_change(event: EventFact) -> str:
    if not event.value:
        return "end"
    return "past" if event.tense is StatementTense.PAST else "state"


def _split_list(draft: FactDraft) -> list[FactDraft]:
    """Return one fact for each item that the tree left together: "chess and strong coffee"."""
    if draft.predicate not in LISTED or " and " not in draft.object:
        return [draft]
    parts = [part.strip() for part in re.split(r",\s+(?:and\s+)?|\s+and\s+", draft.object)]
    if not all(parts) or any(len(part.split()) > 3 for part in parts):
        return [draft]
    return [replace(draft, object=part) for part in parts]


def _third_person(lemma: str) -> str:
    if lemma.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{lemma}es"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return f"{lemma[:-1]}ies"
    return f"{lemma}s"


def _unique(statements: Sequence[Statement]) -> list[Statement]:
    """Return each statement once; an uncertain one only if no sure one says the same."""
    found: dict[tuple[str, str, str, bool], Statement] = {}
    for each in statements:
        key = (
            each.subject,
            each.predicate,
            (each.object or each.value or "").lower(),
            each.negated,
        )
        if key not in found or each.confidence > found[key].confidence:
            found[key] = each
    return list(found.values())
