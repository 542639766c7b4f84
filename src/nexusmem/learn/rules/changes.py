"""Facts of verbs that state a change or need more than a line of the relation table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ...text.gazetteer import is_first_name, name_type
from .clause_reader import (
    AMOUNT,
    GROUP_NOUNS,
    PLACE_NOUNS,
    TIME_NOUNS,
    FactDraft,
    arc_confidence,
    is_role,
)
from .copula import CopulaReader
from .grammar import Clause, Phrase, Tense
from .lexicon import CLUBS, KIN, LANGUAGES, ORGANISATIONS, PETS, SKILLS, word_set
from .object_types import is_someone
from .results import Certainty, StatementTense
from .vocabulary import FOODS, PERSON_NOUNS, PLAN_NOUNS, SPORTS


class ChangeReader(CopulaReader):
    """Reads moves, switches, endings and other verbs of their own."""

    __slots__ = ()

    def _read_change(self, clause: Clause) -> Iterator[FactDraft]:
        """Read a verb by its own reader; see READERS."""
        for name in READERS.get(clause.lemma, ()):
            found = list(getattr(self, name)(clause))
            if found:
                yield from found
                return

    def _read_move(self, clause: Clause) -> Iterator[FactDraft]:
        place, old = clause.oblique("to", "into"), clause.oblique("from")
        if place is not None and self._date_in(place):
            return
        if place is None or clause.is_passive:
            return
        if clause.objects:  # "moved the deploy from Jenkins to Actions"
            if self._has_type(place, "product") and place.is_name and old is not None:
                yield self._state(clause, self.speakers.group, "USES", place.text, change="begin")
                yield self._state(clause, self.speakers.group, "USES", old.text, change="end")
            return
        words = self._object(place)
        if (
            words is None
            or not self._has_type(place, "place")
            or not (place.is_name or place.lemma in PLACE_NOUNS)
        ):
            return
        for name in self._subjects(clause, "person"):
            done = clause.tense in (Tense.PAST, Tense.PERFECT)
            predicate = "LIVES_IN" if done else "MOVING_TO"
            yield self._state(clause, name, predicate, words, change="begin" if done else "coming")
            if done and old is not None and old.is_name:
                yield self._state(clause, name, "LIVES_IN", old.text, change="end")

    def _read_switch(self, clause: Clause) -> Iterator[FactDraft]:
        new, old = clause.oblique("to"), clause.oblique("from")
        if clause.lemma == "go":
            new = clause.oblique("with")
            if (
                new is None
                or clause.tree.lower[clause.at + 1 : clause.at + 2] != ["with"]
                or clause.tree.relation(clause.at) not in ("root", "conj", "ccomp", "parataxis")
                or not (new.is_name or name_type(new.text))
            ):
                return
            old = None
        if new is None or self._date_in(new) or clause.is_passive:
            return
        words = self._object(new)
        subjects = self._subjects(clause, "any")
        if words is None or not (self._has_type(new, "product") or new.is_name):
            return
        for name in subjects:
            yield self._state(clause, name, "USES", words, change="begin")
            if old is not None and (former := self._object(old)):
                yield self._state(clause, name, "USES", former, change="end")

    def _read_replace(self, clause: Clause) -> Iterator[FactDraft]:
        prepositions = ("with", "by") if clause.lemma == "replace" else ("with", "by", "for")
        new = clause.oblique(*prepositions)
        if new is not None and clause.objects:  # "we replaced X with Y"
            for name in self._subjects(clause, "any"):
                if (
                    (words := self._object(new))
                    and (former := self._object(clause.objects[0]))
                    and new.is_name
                ):
                    yield self._state(clause, name, "USES", words, change="begin")
                    yield self._state(clause, name, "USES", former, change="end")
        elif clause.is_passive and new is not None and clause.subjects:  # "X is replaced by Y"
            yield from self._read_replaced(clause, clause.subjects[0], new)
        elif (
            clause.objects
            and clause.subjects
            and clause.subjects[0].is_name
            and clause.objects[0].is_name
            and not clause.is_passive
        ):
            new_name, old_name = clause.subjects[0].text, clause.objects[0].text
            person = is_first_name(new_name.split()[0]) or is_first_name(old_name.split()[0])
            if person:
                yield self._state(clause, new_name, "REPLACES", old_name)
            else:
                group = self.speakers.group
                yield self._state(clause, group, "USES", new_name, change="begin")
                yield self._state(clause, group, "USES", old_name, change="end")

    def _read_replaced(self, clause: Clause, old: Phrase, new: Phrase) -> Iterator[FactDraft]:
        if not new.is_name or clause.is_negated or not (words := self._object(new)):
            return
        former = self.speakers.resolve(old, clause)
        if former and is_someone(new) and is_someone(old):
            yield self._state(clause, words, "REPLACES", former, change="begin")
        elif former and not is_someone(new):
            group = self.speakers.group
            yield self._state(clause, group, "USES", words, change="begin")
            yield self._state(clause, group, "USES", former, change="end")

    def _read_union(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Sara and Tim tied the knot", "Ann and Bo got engaged", "they are dating"."""
        tree = clause.tree
        after = tree.lower[clause.at + 1] if clause.at + 1 < len(tree.lower) else ""
        noun = clause.objects[0].lemma if clause.objects else ""
        key = noun if noun in ("knot", "vow") else after if clause.lemma == "get" else clause.lemma
        predicate = UNIONS.get(key)
        names = self._subjects(clause, "person")
        partner = tree.phrase_after(clause.at + 1, "to", "with") if clause.lemma == "get" else None
        if predicate and partner is not None and is_someone(partner):
            other = self.speakers.resolve(partner, clause)
            names = [*names[:1], *([other] if other else [])]
        if predicate and len(names) == 2 and not clause.is_negated:
            change = "end" if key == "divorced" else "begin"
            yield self._state(clause, names[0], predicate, names[1], change=change)

    def _read_death(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Grandpa passed away in 2019", "we lost Rex on Sunday"."""
        if clause.is_negated or clause.tense not in PAST_TENSES:
            return
        if clause.lemma == "pass" and clause.tree.lower[clause.at + 1 : clause.at + 2] != ["away"]:
            return
        if clause.lemma == "lose":
            gone = [
                each
                for each in clause.objects[:1]
                if each.lemma in KIN or each.lemma in PETS or is_first_name(each.text)
            ]
            names = [self.speakers.resolve(each, clause) for each in gone]
        else:
            is_being = any(
                is_someone(each) or each.lemma in PETS or each.token.upos == "PROPN"
                for each in clause.subjects
            )
            names = list(self._subjects(clause)) if is_being and not clause.objects else []
        dates = [each for each in self._clause_dates(clause) if each.since <= self.at]
        for name in names:
            if name in (None, self.speakers.speaker) or (clause.lemma == "lose" and not dates):
                continue
            first, _, rest = (name or "").partition(" ")
            who = rest if first.lower() in PETS and rest[:1].isupper() else name or ""
            if dates:
                yield self._dated_draft(who, "DIED_ON", dates[0], clause)
            else:
                yield self._state(clause, who, "HAS_STATUS", "died")

    def _read_dismissal(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Tom was let go from Nokia", "she was made redundant at Nokia"."""
        after = clause.tree.lower[clause.at + 1] if clause.at + 1 < len(clause.tree.lower) else ""
        if clause.lemma == "lose":
            job = clause.objects[0] if clause.objects else None
            is_mine = job is not None and job.lemma == "job" and job.possessor is not None
            if not is_mine or clause.is_negated or clause.tense not in PAST_TENSES:
                return
        elif not clause.is_passive or after not in ("go", "redundant") or clause.is_negated:
            return
        company = clause.tree.phrase_after(clause.at + 1, "from", "by", "at")
        words = self._object(company) if company and company.is_name else ""
        for name in self._subjects(clause, "person"):
            yield self._state(clause, name, "WORKS_AT", words or "", change="end")

    def _read_notice(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "handed in my notice at Deloitte": the job ends, but not yet."""
        noun = clause.oblique("in") or (clause.objects[0] if clause.objects else None)
        if noun is None or noun.lemma not in ("notice", "resignation") or clause.is_negated:
            return
        company = clause.oblique("at", "with", "to")
        words = self._object(company) if company and company.is_name else ""
        for name in self._subjects(clause, "person"):
            draft = self._state(clause, name, "WORKS_AT", words or "")
            yield replace(draft, tense=StatementTense.FUTURE, negated=True, use_dates=False)

    def _read_break_up(self, clause: Clause) -> Iterator[FactDraft]:
        other = clause.oblique("with", "from")
        names = self._subjects(clause, "person")
        if other is not None and names and (partner := self.speakers.resolve(other, clause)):
            names = [names[0], partner]
        if clause.lemma == "call off" and not (
            clause.objects and clause.objects[0].lemma in ("it", "engagement", "wedding")
        ):
            return
        if len(names) == 2:
            predicate = "SPOUSE_OF" if clause.lemma in ("divorce", "separate") else "DATING"
            yield self._state(clause, names[0], predicate, names[1], change="end")

    def _read_stop(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "stopped using Jenkins", "gave up on Japanese", "quit CrossFit", "quit smoking"."""
        if clause.tense not in (Tense.PAST, Tense.PERFECT, Tense.PROGRESSIVE) and not (
            clause.lemma == "quit" and clause.subjects
        ):
            return
        phrase = clause.oblique("on") if clause.lemma == "give up" else None
        phrase = phrase or (clause.objects[0] if clause.objects else None)
        if phrase is None:
            return  # "Sarah quit": see _read_leave
        words = self._object(phrase)
        for name in self._subjects(clause, "person"):
            if words is None:
                continue
            is_job = phrase.lemma in ORGANISATIONS or phrase.lemma in WORKPLACES
            if clause.lemma == "quit" and (is_job or name_type(words) == "company"):
                yield self._state(clause, name, "WORKS_AT", words, change="end")
            elif phrase.lemma in CLUBS:
                yield self._state(clause, name, "MEMBER_OF", words, change="end")
            elif words.lower() in LANGUAGES:
                yield self._state(clause, name, "LEARNING", words, change="end")
            elif phrase.is_name or (clause.lemma == "quit" and phrase.determiner is None):
                yield self._state(clause, name, "PLAYS", words, change="end")

    def _read_subscription(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "cancelled Mubi"."""
        thing = clause.objects[0] if clause.objects else None
        if thing is None or clause.tense not in PAST_TENSES or clause.is_negated:
            return
        words = thing.short_text if thing.is_name else (self._object(thing) or "")
        is_plan = thing.lemma in PLAN_NOUNS
        if (thing.is_name and not is_first_name(words.split()[0])) or (is_plan and words):
            for name in self._subjects(clause, "person"):
                yield self._state(clause, name, "SUBSCRIBED_TO", words, change="end")

    def _read_promotion(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "they made me senior buyer"."""
        if clause.is_passive or clause.tense not in PAST_TENSES:
            return
        if len(clause.objects) == 1 and clause.objects[0].token.upos == "PROPN":
            yield from self._read_joined_role(clause, clause.objects[0])
            return
        if len(clause.objects) < 2 or not is_role(clause.objects[-1]):
            return
        name = self.speakers.resolve(clause.objects[0], clause)
        role = self._role_words(clause.objects[-1])
        if name and role:
            yield self._state(clause, name, "HAS_ROLE", role, change="begin")

    def _read_joined_role(self, clause: Clause, phrase: Phrase) -> Iterator[FactDraft]:
        """Read a role that the tree joins to the name: "appointed Maria head of design"."""
        tree, positions = phrase.tree, phrase.positions
        rest = [at for at in positions if tree.sentence[at].upos != "PROPN"]
        if rest and rest[0] > phrase.head and is_role(Phrase(tree, rest[0])):
            name = tree.join([at for at in positions if at < rest[0]])
            role = tree.join([at for at in positions if at >= rest[0]])
            yield self._state(clause, name, "HAS_ROLE", role, change="begin")

    def _read_status(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "the quartet has disbanded"."""
        if (
            clause.subjects
            and not clause.objects
            and clause.tense in PAST_TENSES
            and not clause.is_negated
        ):
            word = clause.tree.lower[clause.at]
            after = clause.tree.lower[clause.at + 1 : clause.at + 2]
            if clause.lemma == "go":
                if not after or after[0] not in GONE:
                    return
                word = after[0]
            for name in self._subjects(clause, "any"):
                yield self._state(clause, name, "HAS_STATUS", word)

    def _read_marriage(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "I'm getting married to Luis", "Tony and I are married"."""
        names = self._subjects(clause, "person")
        partner = clause.oblique("to")
        if partner is not None and partner.is_name:
            planned = clause.tree.lower[clause.at - 1] == "getting"
            change = "coming" if planned else "begin"
            for name in names:
                yield self._state(clause, name, "SPOUSE_OF", partner.short_text, change=change)
        elif clause.is_passive and len(names) == 2:
            yield self._state(clause, names[0], "SPOUSE_OF", names[1])

    def _read_acquaintance(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Tyler and Sarah know each other", "I know Rust"."""
        names = self._subjects(clause, "person")
        if (
            len(names) == 1
            and clause.objects
            and clause.objects[0].is_name
            and not clause.is_negated
        ):
            for item in clause.tree.list_items(clause.objects[0]):
                yield from self._read_known(clause, names[0], item)
            return
        if len(names) == 2 and clause.objects and clause.objects[0].text == "each other":
            yield self._state(clause, names[0], "KNOWS", names[1])

    def _read_known(self, clause: Clause, name: str, item: Phrase) -> Iterator[FactDraft]:
        words = item.short_text
        if clause.obliques:
            return  # "I know Ruby from school"
        if words.lower() in LANGUAGES:
            yield self._state(clause, name, "SPEAKS", words)
        elif words.lower() in SKILLS or name_type(words) == "product":
            yield self._state(clause, name, "SKILLED_IN", words)
        elif is_first_name(words.split()[0]) and words.lower() not in TIME_NOUNS:
            yield self._state(clause, name, "KNOWS", words)

    def _read_launch(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "we are launching Apollo in May"."""
        ahead = [each for each in self._clause_dates(clause) if each.until > self.at]
        if not ahead or not clause.objects or clause.is_negated:
            return
        if words := self._object(clause.objects[0]):
            yield self._dated_draft(words, "SCHEDULED_FOR", ahead[0], clause)

    def _read_contact_habit(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Mom usually texts at 9pm"."""
        time = clause.oblique("at", "around")
        if time is None or clause.objects or not HABITS & clause.words:
            return
        for name in self._subjects(clause, "person"):
            draft = self._state(clause, name, "TYPICALLY_CONTACTS_AT", time.text)
            yield replace(draft, certainty=Certainty.INFERRED, use_dates=False)

    def _read_need_at(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Luna needs medication at 8am"."""
        time = clause.oblique("at")
        if time is None or not clause.objects or not CLOCK.search(time.text):
            return
        words = self._object(clause.objects[0])
        for name in self._subjects(clause, "any") if words else ():
            draft = self._state(clause, name, "HAS_SCHEDULE", f"{words} at {time.text}")
            yield replace(draft, use_dates=False)

    def _read_amount(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "the budget is capped at 80k"."""
        subject = clause.subjects[0] if clause.subjects else None
        if subject is not None and self._attribute(subject) in AMOUNT_PREDICATES:
            yield from self._read_attribute(clause, subject)

    def _read_payment(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "we pay 300 euros a month for the office"."""
        thing = clause.oblique("for")
        amount = AMOUNT.search(self.text, *clause.span)
        if thing is None or amount is None or clause.is_negated or clause.is_passive:
            return
        if (words := self._object(thing)) and not is_someone(thing):
            price = amount.group().strip(" .,")
            yield self._state(clause, words, "HAS_PRICE", price)

    def _read_debt(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "I owe Bob 20 euros", "Bob owes 20 euros to me"."""
        end = clause.tree.sentence[len(clause.tree.sentence) - 1].end
        amount = DEBT.search(self.text, clause.span[0], max(clause.span[1], end))
        if amount is None or clause.is_negated or clause.is_passive:
            return
        creditor = clause.oblique("to")
        creditor = creditor or next((each for each in clause.objects if is_someone(each)), None)
        who = self.speakers.resolve(creditor, clause) if creditor else None
        who = re.split(r"\s[\d€$£]", who)[0] if who else None  # the tree may read "Bob 20" as one
        words = amount.group().strip(" .,")
        for name in self._subjects(clause, "person"):
            yield self._state(clause, name, "OWES", f"{words} to {who}" if who else words)

    def _read_abstinence(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "I don't drink any more"."""
        if clause.objects or not (clause.is_negated or clause.has_ended):
            return
        substance = "alcohol" if clause.lemma == "drink" else "tobacco"
        for name in self._subjects(clause, "person"):
            yield self._state(clause, name, f"{clause.lemma.upper()}S", substance)

    def _read_rule(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "MFA by SMS is not accepted"."""
        if not clause.is_passive or not clause.subjects or clause.oblique("by"):
            return
        if clause.tense is not Tense.PRESENT or clause.subjects[0].lemma in PERSON_NOUNS:
            return
        if words := self._object(clause.subjects[0]):
            predicate = f"{clause.lemma.upper()}S"
            yield self._state(clause, self.speakers.group, predicate, words)

    def _read_intolerance(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "I can't have cilantro", "I can't stand carousels", "I won't fly Ryanair"."""
        if not clause.is_negated or not clause.objects:
            return
        refuses = clause.lemma == "fly" or (clause.lemma == "stand" and clause.modal == "can")
        if not refuses and clause.modal != "can":
            return
        for name in self._subjects(clause, "person" if refuses else "any"):
            for item in clause.tree.list_items(clause.objects[0]):
                words = self._object(item)
                if clause.lemma == "do" and item.lemma not in FOODS:
                    continue  # "I can't do workouts"
                if refuses:
                    words = words or self.speakers.resolve(item, clause)
                if not words:
                    continue
                if refuses:
                    draft = self._state(clause, name, "DISLIKES", words)
                    yield replace(draft, negated=False, tense=StatementTense.CURRENT)
                else:
                    sure = arc_confidence(clause, item)
                    yield self._state(clause, name, "EATS", words, confidence=sure)

    def _read_only(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "I only take aisle seats"."""
        before = clause.tree.lower[clause.at - 1] if clause.at else ""
        if "only" not in (*clause.words, before) or not clause.objects or not clause.subjects:
            return
        words = self._object(clause.objects[0])
        for name in self._subjects(clause, "person") if words else ():
            yield self._state(clause, name, "PREFERS", words or "")

    def _read_leave(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "Sarah quit": the end of whatever job is known."""
        if clause.objects or clause.oblique("from", "for", "to", "at") or clause.is_negated:
            return
        if clause.tree.child(clause.at, "xcomp") is not None:
            return  # "I quit smoking"
        for name in self._subjects(clause, "person"):
            if name == self.speakers.speaker and not clause.subjects:
                continue
            if clause.lemma == "retire":
                yield self._state(clause, name, "HAS_STATUS", "retired")
            elif clause.lemma in ("quit", "resign"):
                yield self._state(clause, name, "WORKS_AT", "", change="end")

    def _read_cancel(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "the reunion is cancelled": its date holds no longer."""
        thing = clause.subjects[0] if clause.is_passive and clause.subjects else None
        if thing is None or clause.tense is Tense.FUTURE:
            return
        if name := self.speakers.resolve(thing, clause):
            yield self._state(clause, name, "HAS_STATUS", "cancelled")
            yield from self._end_plan(clause, thing, name)

    def _read_dose(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "she takes Eliquis twice a day"."""
        named = bool(clause.objects) and clause.objects[0].is_name
        if named and DOSE.search(self.text, *clause.span):
            for name in self._subjects(clause, "any"):
                words = clause.objects[0].short_text
                yield self._state(clause, name, "TAKES_MEDICATION", words)

    def _read_choice(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "we settled on Inter"."""
        chosen = clause.oblique("on", "for", "with")
        if chosen is None:
            return
        if clause.lemma == "decide" and not chosen.is_name:
            return
        for name in self._subjects(clause, "any"):
            for item in clause.tree.list_items(chosen):
                if item.is_name and (words := self._object(item)):
                    yield self._state(
                        clause, name, "USES", words, change="begin", tense=StatementTense.CURRENT
                    )

    def _read_travel(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "I'm flying to Porto in May"."""
        place = clause.oblique("to")
        if place is None or (
            clause.tense in (Tense.PAST, Tense.PERFECT)
            or not place.is_name
            or not self._has_type(place, "place")
        ):
            return
        for name in self._subjects(clause, "person"):
            yield self._state(clause, name, "TRAVELING_TO", place.text, change="coming")

    def _read_birth(self, clause: Clause) -> Iterator[FactDraft]:
        dates = self._clause_dates(clause)
        for name in self._subjects(clause, "any"):
            if dates and name != self.speakers.group:
                yield self._dated_draft(name, "BORN_ON", dates[0], clause)
            elif (place := clause.oblique("in")) and place.is_name:
                yield self._state(clause, name, "BORN_IN", place.text)

    def _read_holder(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "the account belongs to Simone", "Helios is owned by the data team"."""
        owner = clause.oblique("to") if clause.lemma == "belong" else clause.oblique("by")
        if owner is None or (clause.lemma != "belong" and not clause.is_passive):
            return
        name = self.speakers.resolve(owner, clause)
        thing = self.speakers.resolve(clause.subjects[0], clause) if clause.subjects else None
        if (
            name
            and thing
            and "@" not in name
            and (owner.is_name or owner.lemma in GROUP_NOUNS)
            and owner.possessor is None
        ):
            yield self._state(clause, name, "RESPONSIBLE_FOR", thing)

    def _read_naming(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "we called the puppy Biscuit"."""
        subject = clause.subjects[0] if clause.subjects and clause.is_passive else None
        if subject is not None and subject.lemma in PETS and subject.possessor is not None:
            owner = self.speakers.resolve_owner(subject, clause)
            names = self._names_after(clause.tree, Phrase(clause.tree, clause.at))
            if owner and names:
                yield self._state(clause, owner, "HAS_PET", names[0])
            return
        if subject is not None and subject.lemma in KIN and subject.possessor is not None:
            owner = self.speakers.resolve_owner(subject, clause)
            names = self._names_after(clause.tree, Phrase(clause.tree, clause.at))
            for name in names if owner else ():
                yield self._kin_draft(owner or "", subject.lemma, name, clause)
            return
        if not clause.objects:
            return
        if len(clause.objects) == 2 and clause.objects[1].token.upos == "PROPN":
            who = clause.objects[0]
            if who.lemma in ("i", "me", "he", "she", "him", "her") and not clause.is_negated:
                known = self.speakers.resolve(who, clause)
                other = clause.objects[1].short_text
                if known not in (None, other, self.speakers.speaker):
                    yield self._state(clause, known or "", "ALSO_KNOWN_AS", other)
            return
        phrase = clause.objects[0]
        pets = [
            at
            for at in phrase.tree.children[phrase.head]
            if phrase.tree.sentence[at].lemma.lower() in PETS
        ]
        if pets and phrase.token.upos == "PROPN":
            for name in self._subjects(clause, "any"):
                yield self._state(clause, name, "HAS_PET", phrase.token.text, change="begin")
                self.speakers.add_mention(phrase.token.text, phrase)

    def _read_activity(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "I do climbing", "started Japanese classes"."""
        if not clause.objects:
            return
        phrase = clause.objects[0]
        words = self._object(phrase)
        if words is None or clause.is_negated:
            return
        language = next((word for word in words.split() if word.lower() in LANGUAGES), None)
        for name in self._subjects(clause, "person"):
            if language and phrase.lemma in ("class", "course", "lesson"):
                yield self._state(clause, name, "LEARNING", language, change="begin")
            elif (
                clause.lemma == "do"
                and clause.tense in (Tense.PRESENT, Tense.PROGRESSIVE)
                and ((words.endswith("ing") and " " not in words) or words.lower() in SPORTS)
            ):
                yield self._state(clause, name, "PLAYS", words)

    def _read_got(self, clause: Clause) -> Iterator[FactDraft]:
        """Read "got the place at Trinity", "didn't get the Allegro job"."""
        if not clause.objects:
            return
        phrase = clause.objects[0]
        if (
            phrase.lemma not in ("place", "job", "post", "position", "offer", "role")
            or phrase.determiner != "the"
        ):
            return
        school = clause.oblique("at")
        named = [
            at
            for at in phrase.tree.children[phrase.head]
            if phrase.tree.relation(at) == "compound" and phrase.tree.sentence[at].upos == "PROPN"
        ]
        company = phrase.tree.sentence[named[-1]].text if named else None
        for name in self._subjects(clause, "person"):
            if phrase.lemma == "place" and school is not None and school.is_name:
                yield self._state(clause, name, "STUDIES_AT", school.short_text, change="coming")
            elif company and phrase.lemma != "place":
                yield self._state(clause, name, "WORKS_AT", company, change="begin")


PAST_TENSES = (Tense.PAST, Tense.PERFECT)
HABITS = word_set("usually always often normally typically generally")
CLOCK = re.compile(r"\d")
AMOUNT_PREDICATES = ("HAS_PRICE", "HAS_BUDGET", "HAS_COMPENSATION")
DOSE = re.compile(
    r"\b(?:twice|once|\w+ times) (?:a|per) day|\bdaily\b|\bevery (?:morning|evening|day|night)\b"
    r"|\bmg\b|\btablets?\b",
    re.IGNORECASE,
)
DEBT = re.compile(
    rf"{AMOUNT.pattern}|\b\d[\d.,]*\b|\b(?:a|one|two|three|four|five|six|eight|ten|twelve|fifteen"
    r"|twenty|thirty|forty|fifty|sixty|eighty|ninety)(?: (?:hundred|thousand))?"
    r" (?:euros?|dollars?|pounds?|quid|bucks|francs?|grand|hundred|thousand)\b",
    re.IGNORECASE,
)
WORKPLACES = word_set(
    """hotel hostel cafe café pub bar nursery farm salon pharmacy supermarket theatre
    theater airline newspaper magazine bookshop gallery dealership consultancy embassy"""
)
GONE = word_set("bust bankrupt live offline online viral")
UNIONS = {
    **dict.fromkeys(("knot", "vow", "married", "hitched", "elope", "divorced"), "SPOUSE_OF"),
    "engaged": "ENGAGED_TO",
    "date": "DATING",
    "together": "DATING",
}
# reader → the verbs it reads; a verb with several readers tries them in this order
VERBS = {
    "_read_move": "move relocate",
    "_read_switch": "switch migrate change go switch_over move_over",
    "_read_replace": "replace swap supersede exchange trade",
    "_read_break_up": "break_up split_up separate divorce split call_off",
    "_read_stop": "stop quit give_up",
    "_read_subscription": "cancel",
    "_read_cancel": "cancel call_off scrap",
    "_read_promotion": "make appoint name elect crown",
    "_read_dismissal": "let make lose",
    "_read_notice": "hand hand_in give give_in put_in submit tender serve",
    "_read_union": "tie get marry exchange date elope",
    "_read_death": "die pass pass_away lose",
    "_read_only": "take use want drink eat read wear",
    "_read_dose": "take get",
    "_read_status": "disband close dissolve reopen go fold close_down shut_down",
    "_read_leave": "quit resign leave retire churn",
    "_read_choice": "settle opt decide",
    "_read_intolerance": "have eat touch stand fly do",
    "_read_travel": "travel fly",
    "_read_birth": "bear",
    "_read_holder": "own maintain handle run do belong",
    "_read_marriage": "marry",
    "_read_acquaintance": "know",
    "_read_contact_habit": "text call ring email message write phone",
    "_read_need_at": "need",
    "_read_amount": "cap set rise increase go drop fall stay remain raise reduce",
    "_read_payment": "pay",
    "_read_debt": "owe",
    "_read_abstinence": "drink smoke",
    "_read_rule": "accept support require allow",
    "_read_launch": "launch release ship publish",
    "_read_naming": "call name",
    "_read_activity": "do start",
    "_read_got": "get",
}
READERS: dict[str, list[str]] = {}
for _reader, _verbs in VERBS.items():
    for _verb in _verbs.split():
        READERS.setdefault(_verb.replace("_", " "), []).append(_reader)
