"""Facts of "be" and "have": roles, places, attributes, traits and possessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...text.dates import DatePrecision
from ...text.gazetteer import is_first_name, name_type
from .clause_reader import (
    AMOUNT,
    EMPTY_OBJECTS,
    MAX_OBJECT_WORDS,
    TIME_NOUNS,
    ClauseReader,
    FactDraft,
    arc_confidence,
    is_role,
    is_subject,
)
from .coreference import TITLES, WE, own_text
from .grammar import CALENDAR_WORDS, Clause, Phrase, Tense
from .lexicon import (
    ATTRIBUTES,
    BODY_PARTS,
    CONDITIONS,
    DIETS,
    EVENTS,
    INJURIES,
    JUDGEMENT_WORDS,
    KIN,
    MEDICAL_ADJECTIVES,
    PERSONAL_STATUS,
    PETS,
    STATUS_ADJECTIVES,
    STORAGE_NOUNS,
    VEHICLES,
    word_set,
)
from .object_types import TYPES
from .results import Certainty, StatementTense

VALUE = re.compile(
    r"(?:around |about |~)?(?:#[0-9A-Fa-f]{3,8}\b|[€$£]?\d[\w.,:/%#-]*(?:\s(?:%|percent"
    r"|req/min|per|a|ms|gb|mb|kg|km|pages|copies|users|people|employees|seats|min|minutes"
    r"|hours|days|weeks)\b(?: (?:per|a) \w+| \w+/\w+)?)*)"
)
NUMBER_WORDS = dict(
    zip(
        """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty
        ninety""".split(),
        (*range(1, 21), *range(30, 100, 10)),
        strict=True,
    )
)
EVALUATIVE = JUDGEMENT_WORDS | word_set(
    """big huge real true total absolute complete fast quick slow natural born pro bit little lot
    proud avid keen passionate terrible awful horrible brilliant excellent superb talented gifted
    die-hard massive real-life firm strong loyal devoted dedicated decent proper regular dear close
    old good-for-nothing lousy poor rubbish hopeless sweet pure"""
)
# What was done to a thing is its state: "the claim has been accepted", "Kiln Lane got refused".
STATUS_VERBS = word_set(
    """accept approve archive block book cancel close complete confirm decline decommission delay
    demolish deny deprecate discontinue dissolve finish fix flood freeze grant greenlight halt
    install lift merge overturn pay postpone refund refuse reinstate reject release relocate
    repair replace resolve revoke sell scrap settle ship shelve shut sign submit suspend terminate
    uphold veto waive withdraw"""
)
ENDING_VERBS = word_set("pass fail expire crash fold close launch reopen retire collapse")
DOWN_WORDS = word_set("down over out live bust")
FIRMS = word_set("startup start-up company firm agency consultancy")
OUT_OF = {
    **{f"out {word}": f"out of {word}" for word in ("order", "stock", "service", "date", "print")},
    "under repair": "under repair",
    "on hold": "on hold",
    "on strike": "on strike",
    "in quarantine": "in quarantine",
}
WITH_HOLDERS = ("with", "at", "by")
COUNTED = word_set("employee people user seat student member child room page copy")
DATE_ATTRIBUTES = frozenset(
    ["BORN_ON", "DUE_ON", "SCHEDULED_FOR", "ANNIVERSARY_ON", "ENDED_ON", "STARTED_ON"]
)


COMPLEMENTS = {  # adjective or noun → prepositions and predicate: "an expert in tax law"
    "expert": (("in", "on", "at"), "SKILLED_IN"),
    "fluent": (("in",), "SPEAKS"),
    "interested": (("in",), "INTERESTED_IN"),
    "keen": (("on",), "LIKES"),
    "fond": (("of",), "LIKES"),
    "fan": (("of",), "LIKES"),
    "afraid": (("of",), "DISLIKES"),
}
TURNS = re.compile(r"\bturn(?:s|ing|ed)?\s+(?P<age>\d{1,3}|[a-z]+)\b", re.IGNORECASE)
HAS_GOT = re.compile(r"(?:['’](?:s|ve)|\bhas|\bhave)\s+(?:still\s+|also\s+)?got\b", re.IGNORECASE)
RELEASED_THINGS = word_set(
    """website site app page shop store portal platform feature release version campaign product
    api service system build update game module integration endpoint dashboard form"""
)
KEEPING_VERBS = word_set("live hang sit lie belong stay go stand")
MAX_AGE = 120
DONE_TENSES = (Tense.PAST, Tense.PERFECT)
TIME_MARKS = word_set("since when while whenever before after until as once if")
PATIENTS = word_set("kid kids child children baby toddler boy girl boys girls twins cat dog")
KEPT_THINGS = word_set(
    """key keys spare passport passports remote charger manual receipt receipts card cards cash
    ticket tickets documents papers kit torch fuse fusebox stopcock meter ladder toolbox tools
    projector printer adapter cable parcel box boxes bike bikes bin bins medicine inhaler
    glasses certificate contract licence license spares"""
)
AGE = re.compile(r"\b(?P<age>\d{1,3}) years? old\b")


class CopulaReader(ClauseReader):
    """Reads clauses with "be" and "have"."""

    __slots__ = ()

    def _read_be(self, clause: Clause) -> Iterator[FactDraft]:
        if not clause.is_copular:
            return
        phrase = clause.phrase
        subject = clause.subjects[0] if clause.subjects else None
        if subject is not None and subject.is_pronoun is False and self._attribute(subject):
            yield from self._read_attribute(clause, subject)
            return
        if (
            subject is not None
            and subject.lemma in KIN
            and phrase.is_name
            and subject.possessor is not None
        ):
            yield from self._read_kin_name(clause, subject, phrase)
            return
        if (
            subject is not None
            and not subject.is_pronoun
            and phrase.token.upos == "PROPN"
            and is_role(subject)
            and not subject.is_name
        ):
            yield from self._read_role_holder(clause, subject, phrase)
            return
        if (
            subject is not None
            and phrase.possessor is not None
            and self._attribute(phrase) == "PREFERS"
        ):
            owner = self.speakers.resolve_owner(phrase, clause)
            if owner and (words := self._object(subject)):  # "green is my favorite color"
                aspect = re.sub(r"^favou?rite ", "", own_text(phrase).lower())
                yield replace(self._state(clause, owner, "PREFERS", words.lower()), aspect=aspect)
            return
        if phrase.lemma in PETS and phrase.possessor is not None and subject is not None:
            owner = self.speakers.resolve_owner(phrase, clause)
            if owner and subject.is_name:
                yield self._state(clause, owner, "HAS_PET", subject.short_text)
            return
        if phrase.lemma in KIN and phrase.possessor is not None and subject is not None:
            yield from self._read_is_kin(clause, phrase)
            return
        preposition = next(
            (each.preposition for each in clause.obliques if each.phrase.head == clause.at), None
        )
        if preposition:
            yield from self._read_is_at(clause, preposition, phrase)
            return
        yield from self._read_predicate_noun(clause, phrase)

    def _read_outcome(self, clause: Clause) -> Iterator[FactDraft]:
        """Read the state of a thing: "the permit was refused", "the inspection passed"."""
        subject = clause.subjects[0] if clause.subjects else None
        if subject is None or clause.is_negated or clause.modal or not self._is_definite(subject):
            return
        verb = clause.lemma.split()[0]
        if clause.is_passive and verb in STATUS_VERBS:
            if clause.tense is Tense.FUTURE or clause.oblique("to", "for", "until", "with", "as"):
                return
            if verb == "replace" and clause.oblique("by"):
                return
            if verb == "sell" and clause.lemma != "sell out":  # "our house is sold"
                words = self._object(subject) or ""
                group = self.speakers.group
                past = StatementTense.PAST
                yield self._state(clause, group, "OWNS", words, change="end", tense=past)
                return
            words = clause.tree.sentence[clause.at].text.lower()
            words += " out" if clause.lemma == "sell out" else ""
        elif not clause.objects and verb in ENDING_VERBS and clause.tense in DONE_TENSES:
            if clause.obliques or subject.lemma not in EVENTS:
                return
            words = clause.tree.sentence[clause.at].text.lower()
        else:
            return
        name = self.speakers.resolve(subject, clause)
        if name and name.isupper() and len(name) < 4:  # a part of a code: "7741-HB"
            return
        if name and is_subject(subject, name, "thing") and not self._is_person(clause, name):
            yield self._state(clause, name, "HAS_STATUS", words, tense=StatementTense.CURRENT)

    def _is_definite(self, phrase: Phrase) -> bool:
        """Return whether a phrase is about one thing that the listener knows."""
        if phrase.is_pronoun or phrase.lemma in EMPTY_OBJECTS or phrase.lemma in TIME_NOUNS:
            return False
        has_owner = phrase.possessor is not None
        return (
            has_owner
            or phrase.determiner in ("the", "this", "that")
            or phrase.is_name
            or (phrase.determiner is None and phrase.positions[0] == 0)
        )

    def _attribute(self, phrase: Phrase) -> str | None:
        """Return the predicate of an attribute: "birthday" of "my wife's birthday"."""
        words = own_text(phrase).lower()
        for length in (3, 2, 1):
            tail = " ".join(words.split()[-length:])
            if tail in ATTRIBUTES:
                return ATTRIBUTES[tail]
        if words.startswith(("favorite ", "favourite ")):
            return "PREFERS"
        head = phrase.token.text.lower()
        return ATTRIBUTES.get(head)

    def _read_attribute(self, clause: Clause, subject: Phrase) -> Iterator[FactDraft]:
        predicate = self._attribute(subject)
        owner = self._attribute_owner(subject, clause)
        if owner is None or predicate is None:
            return
        if predicate in DATE_ATTRIBUTES:
            dates = self._clause_dates(clause)
            if dates:
                yield self._dated_draft(owner, predicate, dates[0], clause)
            return
        words = self._value_words(clause, predicate)
        if words is None or words.startswith(("n't ", "not ")):
            return
        aspect = None
        if predicate == "PREFERS":
            aspect = re.sub(r"^favou?rite ", "", own_text(subject).lower())
        draft = self._state(clause, owner, predicate, words)
        has_dates = predicate in ("HAS_PRICE", "HAS_BUDGET", "HAS_COMPENSATION")
        yield replace(draft, aspect=aspect, use_dates=has_dates)

    def _attribute_owner(self, subject: Phrase, clause: Clause) -> str | None:
        if subject.possessor is not None:
            return self.speakers.resolve_owner(subject, clause)
        for at in subject.tree.children[subject.head]:
            if subject.tree.relation(at) == "nmod":
                return self.speakers.resolve(Phrase(subject.tree, at), clause)
        compound = [
            at
            for at in subject.tree.children[subject.head]
            if subject.tree.relation(at) == "compound" and at < subject.head
        ]
        if compound:
            return subject.tree.join(range(compound[0], subject.head))
        return None

    def _value_words(self, clause: Clause, predicate: str) -> str | None:
        """Return the value after "is": the rest of the clause for addresses, else one phrase."""
        if predicate == "HAS_ADDRESS":
            if "@" in self.text[clause.span[0] : clause.span[1]]:
                return None
            start = clause.tree.sentence[clause.at].start
            cop = clause.tree.child(clause.at, "cop")
            if cop is not None:
                rest = [at for at in clause.tree.clause_positions(clause.at) if at > cop]
                if rest:
                    return self.text[
                        clause.tree.sentence[rest[0]].start : clause.tree.sentence[rest[-1]].end
                    ].strip(" .,;")
            return self.text[start : clause.tree.sentence[clause.at].end]
        if predicate in ("HAS_EMAIL", "HAS_PHONE", "HAS_HANDLE", "HAS_USERNAME"):
            return None  # read by `values`
        if predicate in ("HAS_PRICE", "HAS_BUDGET", "HAS_COMPENSATION"):
            amount = AMOUNT.search(self.text[clause.span[0] : clause.span[1]])
            if amount:
                return amount.group().strip(" .,")
            number = [token.text for token in clause.tree.sentence if token.upos == "NUM"]
            return number[0] if number else None
        if predicate in ("HAS_LIMIT", "HAS_CODE", "HAS_VALUE"):
            start = clause.tree.sentence[clause.phrase.positions[0]].start
            if exact := VALUE.match(self.text, start):
                return exact.group().strip(" .,")
        return self._object(clause.phrase)

    def _read_kin_name(
        self, clause: Clause, subject: Phrase, phrase: Phrase
    ) -> Iterator[FactDraft]:
        """Read "my boss is Priya"."""
        owner = self.speakers.resolve_owner(subject, clause)
        if owner is None:
            return
        for item in clause.tree.conjuncts(phrase):
            self.speakers.add_mention(item.text, item)
            yield self._kin_draft(owner, subject.lemma, item.text, clause)

    def _read_role_holder(
        self, clause: Clause, subject: Phrase, phrase: Phrase
    ) -> Iterator[FactDraft]:
        """Read "their new head of procurement is Dana Osei"."""
        name = phrase.short_text
        role = self._role_words(subject)
        if not role or not (
            is_first_name(name.split()[0]) or name.split()[0].lower().rstrip(".") in TITLES
        ):
            return
        self.speakers.add_mention(name, phrase)
        yield self._state(
            clause,
            name,
            "HAS_ROLE",
            role,
            confidence=max(subject.token.confidence, phrase.token.confidence),
        )
        if subject.possessor is not None and subject.tree.lower[subject.possessor] not in (
            "my",
            "our",
        ):
            owner = self.speakers.resolve_owner(subject, clause)
            if owner and owner[:1].isupper():
                yield self._state(clause, name, "WORKS_AT", owner)

    def _read_is_kin(self, clause: Clause, phrase: Phrase) -> Iterator[FactDraft]:
        """Read "Priya is my boss"."""
        owner = self.speakers.resolve_owner(phrase, clause)
        for name in self._subjects(clause, "person"):
            is_person = name[:1].isupper() or clause.subjects[0].token.upos != "NOUN"
            if owner and name != owner and is_person:
                yield self._kin_draft(owner, phrase.lemma, name, clause)

    def _read_is_at(self, clause: Clause, preposition: str, phrase: Phrase) -> Iterator[FactDraft]:
        """Read "is at Hydro", "is in Graz", "is on parental leave", "is from Oslo"."""
        words = self._object(phrase)
        if words is None or self._date_in(phrase) is not None:
            return
        low = words.lower()
        subjects = self._subjects(clause)
        if clause.modal not in (None, "will") or self._is_inside(clause):
            return
        for name in subjects:
            is_person = self._is_person(clause, name)
            if clause.tense in (Tense.PAST, Tense.PERFECT) and preposition in ("in", "on"):
                continue  # a visit
            if not is_person and (state := OUT_OF.get(f"{preposition} {low}")):
                yield self._state(clause, name, "HAS_STATUS", state)
                continue
            holder = self._holder(clause, preposition, phrase)
            is_charge = preposition == "with" and TYPES["charge"](clause.subjects[0])
            is_thing = not is_charge and clause.subjects[0].lemma not in EVENTS
            if not is_person and holder and is_thing:
                yield self._state(clause, name, "STORED_IN", holder)
                continue
            if preposition == "on" and (
                low.split()[-1] in ("leave", "holiday", "vacation", "holidays", "call")
            ):
                yield self._state(
                    clause,
                    name,
                    "HAS_STATUS",
                    f"on {low}" if low.split()[-1] != "leave" or low == "leave" else low,
                )
            elif is_person and preposition in ("at", "with") and phrase.lemma in FIRMS:
                if place := self._place_of(phrase):  # "she's at a startup in Aarhus"
                    yield self._state(clause, name, "WORKS_AT", f"{words} in {place}")
            elif is_person and not phrase.is_name and (place := self._place_of(phrase)):
                yield self._state(clause, name, "LOCATED_IN", place)
            elif preposition == "from" and is_person and self._has_type(phrase, "place"):
                yield self._state(clause, name, "FROM", words)
            elif (
                preposition in ("at", "with")
                and is_person
                and phrase.is_name
                and name_type(words) != "place"
            ):
                yield self._state(clause, name, "WORKS_AT", words)
            elif (
                preposition in ("in", "at")
                and is_person
                and self._has_type(phrase, "place")
                and phrase.is_name
            ):
                yield self._state(clause, name, "LOCATED_IN", words)
            elif (
                preposition in ("in", "at", "on", "under", "behind", "next to", "inside")
                and not is_person
            ):
                stored = phrase.lemma in STORAGE_NOUNS or (
                    preposition in ("under", "behind", "inside", "next to")
                    and clause.subjects[0].lemma in KEPT_THINGS
                )
                if preposition == "on" and phrase.is_name and name_type(words) != "place":
                    yield self._state(clause, name, "USES", words)
                    continue
                named_place = phrase.is_name and name_type(words) != "product"
                if stored:
                    yield self._state(
                        clause, name, "STORED_IN", self._rest_of_phrase(phrase) or words
                    )
                elif named_place and (
                    name_type(words) == "place" or not phrase.token.text.isupper()
                ):
                    yield self._state(clause, name, "LOCATED_IN", words)
            elif (
                preposition == "on"
                and is_person
                and name_type(words) is None
                and phrase.is_name is False
                and low.split()[-1] in ("plan", "tier")
            ):
                yield self._state(clause, name, "SUBSCRIBED_TO", words)

    def _read_keeping(self, clause: Clause) -> Iterator[FactDraft]:
        """Read where a thing is kept: "the kit lives in the bottom drawer"."""
        subject = clause.subjects[0] if clause.subjects else None
        if clause.lemma not in KEEPING_VERBS or subject is None or subject.is_pronoun:
            return
        place = clause.oblique("in", "on", "under", "behind", "inside", "at", "above", "below")
        if place is None or clause.is_negated or clause.tense is not Tense.PRESENT:
            return
        if any(word in CALENDAR_WORDS for word in place.text.lower().split()):
            return  # "the bins go out on Wednesday nights"
        is_kept = subject.lemma in KEPT_THINGS or place.lemma in STORAGE_NOUNS
        name = self.speakers.resolve(subject, clause)
        if not is_kept or name is None or self._is_person(clause, name) or clause.modal:
            return
        if words := self._rest_of_phrase(place) or self._object(place):
            yield self._state(clause, name, "STORED_IN", words)

    def _is_inside(self, clause: Clause) -> bool:
        """Return whether a clause only gives the time of another: "when we were in Rome"."""
        mark = clause.tree.child(clause.at, "mark", "advmod")
        return mark is not None and clause.tree.lower[mark] in TIME_MARKS

    def _holder(self, clause: Clause, preposition: str, phrase: Phrase) -> str | None:
        """Return who keeps a thing: "the spare key is with Anouk", "the van is at Hugh's"."""
        if preposition not in WITH_HOLDERS or not clause.subjects:
            return None
        first = phrase.text.split(maxsplit=1)[0]
        is_thing = clause.subjects[0].token.upos == "NOUN" and not clause.subjects[0].is_pronoun
        named = is_first_name(first) or first in self.speakers.participants
        return phrase.short_text.removesuffix("'s") if is_thing and named else None

    def _place_of(self, phrase: Phrase) -> str | None:
        """Return the town of "the holiday house in Skagen"."""
        for at in phrase.tree.children[phrase.head]:
            case = phrase.tree.child(at, "case")
            other = Phrase(phrase.tree, at)
            if case is not None and phrase.tree.lower[case] == "in" and other.is_name:
                return other.short_text if self._has_type(other, "place") else None
        return None

    def _rest_of_phrase(self, phrase: Phrase) -> str | None:
        """Return a place with what describes it: "locker next to dock 4"."""
        positions = phrase.positions
        last = positions[-1]
        sentence = phrase.tree.sentence
        while (
            last + 1 < len(sentence)
            and sentence[last + 1].upos in ("ADP", "DET", "NOUN", "PROPN", "NUM", "ADJ", "PRON")
            and phrase.tree.lower[last + 1] not in ("so", "until", "till", "since")
        ):
            last += 1
        words = phrase.tree.join(range(positions[0], last + 1))
        return words if len(words.split()) <= MAX_OBJECT_WORDS else None

    def _read_predicate_noun(self, clause: Clause, phrase: Phrase) -> Iterator[FactDraft]:
        """Read "is vegetarian", "is allergic to bees", "is the new SRE", "is 71", "is 42 €"."""
        yield from self._read_off(clause, phrase)
        word = phrase.lemma
        if word in ("allergic", "intolerant"):
            yield from self._read_allergy(clause, phrase)
            return
        if word == "due":
            return
        if word in COMPLEMENTS and (topic := clause.oblique(*COMPLEMENTS[word][0])):
            predicate = COMPLEMENTS[word][1]
            if predicate == "LIKES" and clause.is_negated:
                predicate = "DISLIKES"
            for name in self._subjects(clause, "person"):
                for item in clause.tree.list_items(topic):
                    if words := self._object(item):
                        yield replace(self._state(clause, name, predicate, words), negated=False)
            return
        if clause.modal not in (None, "will"):
            return
        if word == "old" and (age := AGE.search(self.text, *clause.span)):
            if clause.tense is not Tense.PRESENT or self._is_inside(clause):
                return
            for name in self._subjects(clause, "person"):
                yield self._state(clause, name, "HAS_AGE", age["age"])
            return
        if word == "responsible" or (word == "charge" and clause.oblique("of", "for")):
            yield from self._read_responsible(clause)
            return
        if word in ("married", "engaged") and (other := clause.oblique("to", "with")):
            predicate = "SPOUSE_OF" if word == "married" else "ENGAGED_TO"
            for name in self._subjects(clause, "person"):
                if partner := self._object(other):
                    yield self._state(clause, name, predicate, partner)
            return
        if word in ("together", "back together") and len(clause.subjects) == 2:
            names = self._subjects(clause, "person")
            if len(names) == 2:
                yield self._state(clause, names[0], "DATING", names[1])
            return
        if self._date_in(phrase):
            return
        found = [
            draft
            for name in self._subjects(clause)
            for draft in self._read_description(clause, phrase, name)
        ]
        yield from found or self._read_value(clause, phrase)

    def _read_value(self, clause: Clause, phrase: Phrase) -> Iterator[FactDraft]:
        """Read the value of a thing: "the spacing scale is 4/8/12 now"."""
        subject = clause.subjects[0] if clause.subjects else None
        if (
            subject is None
            or subject.is_pronoun
            or clause.tense is not Tense.PRESENT
            or clause.is_negated
            or clause.modal
        ):
            return
        name = self.speakers.resolve(subject, clause)
        if name is None or not is_subject(subject, name, "thing") or self._is_person(clause, name):
            return
        is_label = subject.lemma in ("name", "nickname", "boss", "friend")
        if is_label or is_first_name(phrase.short_text.split()[0]):
            return
        start = phrase.tree.sentence[phrase.positions[0]].start
        words = VALUE.match(self.text, start)
        value = words.group().strip(" .,") if words else self._object(phrase)
        exact = bool(words) or (
            phrase.token.upos == "PROPN"
            and phrase.token.text[:1].isupper()
            and not is_first_name(phrase.text.split()[0])
        )
        if value and exact and value.lower() != name.lower():
            yield replace(
                self._state(
                    clause, name, "HAS_VALUE", value, confidence=arc_confidence(clause, subject)
                ),
                certainty=Certainty.IMPLIED,
            )

    def _read_off(self, clause: Clause, phrase: Phrase) -> Iterator[FactDraft]:
        """Read "Izmir is off", "the reunion is cancelled"."""
        subject = clause.subjects[0] if clause.subjects else None
        over = phrase.token.text.lower() in ("off", "cancelled", "canceled")
        if subject is None or not over or clause.is_negated or clause.tense is Tense.FUTURE:
            return
        if name := self.speakers.resolve(subject, clause):
            yield from self._end_plan(clause, subject, name)

    def _read_description(self, clause: Clause, phrase: Phrase, name: str) -> Iterator[FactDraft]:
        is_person = self._is_person(clause, name)
        for item in clause.tree.conjuncts(phrase):
            if item.lemma in ("allergic", "intolerant"):
                yield from self._read_allergy(clause, item)
                continue
            word = item.token.text.lower()
            lemma = item.lemma
            if is_person and (word in DIETS or lemma in DIETS):
                yield self._state(clause, name, "HAS_DIET", lemma)
            elif is_person and (word in MEDICAL_ADJECTIVES or lemma in CONDITIONS):
                yield self._state(clause, name, "HAS_CONDITION", word)
            elif (
                word in STATUS_ADJECTIVES
                and item.token.upos != "VERB"
                and is_person == (word in PERSONAL_STATUS)
                and (is_person or self._is_definite(clause.subjects[0]))
                and not self._is_inside(clause)
            ) or (not is_person and word in DOWN_WORDS and self._is_down(clause, word)):
                yield self._state(clause, name, "HAS_STATUS", word)
            elif (
                is_person
                and item.token.upos == "NUM"
                and (age := NUMBER_WORDS.get(word) or (word.isdigit() and int(word)))
                and 1 <= age <= 110
                and clause.tense is Tense.PRESENT
                and not self._is_inside(clause)
                and not clause.obliques
                and name not in (WE, self.speakers.group)
            ):
                yield self._state(clause, name, "HAS_AGE", str(age))
            elif (
                is_person
                and item.token.upos in ("NOUN", "PROPN")
                and is_role(item)
                and not self._is_judged(item)
            ):
                words = self._role_words(item)
                if (
                    words
                    and words.lower().endswith(item.token.text.lower())
                    and item.token.text.lower() != item.lemma
                    and item.token.upos == "NOUN"
                ):
                    words = words[: -len(item.token.text)] + item.lemma
                if words:
                    yield self._state(clause, name, "HAS_ROLE", words)
                    yield from self._role_place(item, name, clause)

    def _is_judged(self, phrase: Phrase) -> bool:
        """Return whether a noun praises or blames: "an amazing dancer", "a real artist"."""
        words = set(phrase.short_text.lower().split())
        return bool(words & EVALUATIVE) and not words & {"new", "head"}

    def _is_down(self, clause: Clause, word: str) -> bool:
        """Return whether a thing is down, dead or live: not a mood, not a direction."""
        subject = clause.subjects[0]
        return (
            self._is_definite(subject)
            and clause.tense is Tense.PRESENT
            and not clause.is_negated
            and not clause.obliques
            and "again" not in clause.words
            and subject.lemma not in BODY_PARTS
            and (
                word in ("down", "bust")
                or (word == "live" and subject.lemma in RELEASED_THINGS)
                or subject.lemma in EVENTS
            )
        )

    def _role_words(self, phrase: Phrase) -> str | None:
        words = re.split(r"\s+[-–]\s+", own_text(phrase))[0]
        words = re.sub(
            r"^(?:new|only|old|current|former|latest)\s+", "", words, flags=re.IGNORECASE
        )
        words = re.split(r"\s+(?:at|for|in|on|with)\s+", words)[0]
        return words or None

    def _role_place(self, phrase: Phrase, name: str, clause: Clause) -> Iterator[FactDraft]:
        """Read the employer of "an engineer at Siemens"."""
        for at in phrase.tree.children[phrase.head]:
            if phrase.tree.relation(at) not in ("nmod", "obl"):
                continue
            case = phrase.tree.child(at, "case")
            other = Phrase(phrase.tree, at)
            if case is None or not other.is_name:
                continue
            if phrase.tree.lower[case] in ("at", "for", "with") and self._has_type(
                other, "company"
            ):
                yield self._state(clause, name, "WORKS_AT", other.text)
            elif phrase.tree.lower[case] == "on":
                yield self._state(clause, name, "WORKING_ON", other.text)

    def _read_allergy(self, clause: Clause, adjective: Phrase) -> Iterator[FactDraft]:
        phrase = clause.tree.phrase_after(adjective.head, "to") or clause.oblique("to")
        if phrase is None:
            return
        for name in self._subjects(clause):
            for item in clause.tree.list_items(phrase):
                if words := self._object(item):
                    yield self._state(
                        clause,
                        name,
                        "ALLERGIC_TO",
                        words,
                        confidence=clause.subjects[0].token.confidence,
                    )

    def _read_responsible(self, clause: Clause) -> Iterator[FactDraft]:
        phrase = clause.oblique("for", "of")
        for name in self._subjects(clause, "person"):
            for item in clause.tree.list_items(phrase) if phrase else ():
                if words := self._object(item):
                    yield self._state(clause, name, "RESPONSIBLE_FOR", words)

    def _read_have(self, clause: Clause) -> Iterator[FactDraft]:
        if clause.lemma not in ("have", "get", "have get", "'ve", "adopt", "buy"):
            return
        first = clause.objects[0] if clause.objects else self._bare_object(clause)
        if first is None:
            return
        word = first.lemma
        subjects = self._subjects(clause, "person")
        if word in PETS:
            if clause.is_negated and clause.lemma != "have":
                return
            pets = [each for each in clause.tree.list_items(first) if each.lemma in PETS]
            for pet in pets or [first]:
                yield from self._read_named(clause, subjects, pet, "HAS_PET")
        elif word in KIN and KIN[word] in ("PARENT_OF", "SIBLING_OF"):
            for name in self._names_after(clause.tree, first):
                for subject in subjects:
                    yield self._kin_draft(subject, word, name, clause)
        elif self._is_condition(first):
            has = clause.lemma == "have" or HAS_GOT.search(self.text, *clause.span)
            tense = StatementTense.CURRENT if has and clause.tense is not Tense.PAST else None
            if clause.lemma == "get" and HAS_GOT.search(self.text, *clause.span):
                tense = StatementTense.CURRENT
            for subject in subjects or self._patients(clause):
                yield self._state(
                    clause, subject, "HAS_CONDITION", own_text(first).lower(), tense=tense
                )
        elif word in ("allergy", "intolerance"):
            kinds = [
                at
                for at in first.tree.children[first.head]
                if first.tree.relation(at) in ("compound", "amod", "nmod") and at < first.head
            ]
            for subject in subjects:
                for at in kinds[-1:]:
                    yield self._state(
                        clause, subject, "ALLERGIC_TO", first.tree.sentence[at].text.lower()
                    )
        elif word in VEHICLES and clause.lemma == "have":
            for subject in subjects:
                if words := self._object(first):
                    yield self._state(clause, subject, "OWNS", words)
        elif word in COUNTED and any(
            first.tree.relation(at) == "nummod" for at in first.tree.children[first.head]
        ):
            for subject in self._subjects(clause, "any"):
                yield self._state(clause, subject, "HAS_SIZE", first.short_text)
        elif word in EVENTS:
            dates = self._clause_dates(clause)
            if dates and clause.tense is not Tense.PAST:
                thing = re.split(r"\s+(?:planned|scheduled|booked|set|on|at)\b", own_text(first))[0]
                yield self._dated_draft(thing, "SCHEDULED_FOR", dates[0], clause)

    def _bare_object(self, clause: Clause) -> Phrase | None:
        """Return the noun of "he's got covid", which the tree may take for a complement."""
        at = clause.tree.child(clause.at, "xcomp")
        is_noun = at is not None and clause.tree.sentence[at].upos in ("NOUN", "PROPN")
        return Phrase(clause.tree, at) if is_noun and at is not None else None

    def _is_condition(self, phrase: Phrase) -> bool:
        """Return whether a phrase names an illness or an injury: "a broken wrist"."""
        if phrase.lemma in CONDITIONS or phrase.token.text.lower() in CONDITIONS:
            return True
        return phrase.lemma in BODY_PARTS and bool(INJURIES & set(phrase.text.lower().split()))

    def _patients(self, clause: Clause) -> list[str]:
        """Return the subject of an illness that is no name: "the kids have chickenpox"."""
        if len(clause.subjects) != 1 or clause.subjects[0].lemma not in PATIENTS:
            return []
        name = self.speakers.resolve(clause.subjects[0], clause)
        return [name] if name else []

    def _read_birthday(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Jan turns 6 on 14 March" as the day he was born."""
        if clause.lemma != "turn" or clause.is_negated or clause.modal:
            return
        match = TURNS.search(self.text, *clause.span)
        dates = self._clause_dates(clause)
        if match is None or clause.tense is Tense.PERFECT:
            return
        word = match["age"].lower()
        age = NUMBER_WORDS.get(word) or (int(word) if word.isdigit() else 0)
        day = next((each for each in dates if each.precision is DatePrecision.DAY), None)
        for name in self._subjects(clause, "person"):
            if day is not None and 0 < age < MAX_AGE:
                born = f"{day.since.year - age}-{day.since:%m-%d}"
                draft = self._state(clause, name, "BORN_ON", born, tense=StatementTense.CURRENT)
                yield replace(draft, use_dates=False)

    def _read_named(
        self, clause: Clause, subjects: Sequence[str], phrase: Phrase, predicate: str
    ) -> Iterator[FactDraft]:
        """Read "a dog named Pickle"; without a name, "a dog"."""
        names = self._names_after(clause.tree, phrase) or [phrase.short_text]
        change = "state" if clause.lemma == "have" else "begin"
        for subject in subjects:
            for name in names:
                yield self._state(clause, subject, predicate, name, change=change)
