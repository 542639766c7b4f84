"""Facts of short phrases: absences, contacts, roles beside names, and prices.

Notes and chats state them without a whole clause: "away 12–23 May", "Berit Aas, head of sales",
"licence 64k/yr". The words are read in their order, because the tree of a fragment is a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ...text.dates import DatePrecision, DateRelation, DateSpan
from ...text.gazetteer import is_common_word, is_first_name, name_type
from .clause_reader import format_date
from .copula import KEPT_THINGS, PATIENTS
from .coreference import TITLES, Speakers
from .events import WEEKDAYS, EventFact
from .grammar import Tree
from .lexicon import EVENTS, KIN, OCCUPATIONS, PARENTS, PETS, STOP_WORDS, word_set
from .results import Category, StatementTense

NO_CONTRACTION = r"(?!(?:I|We|You|He|She|It|They|That|There|Here|What|Who|Let)['’])"  # "I'm Paul"
NAME = (
    NO_CONTRACTION
    + r"[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}(?: (?:van |von |de |der )?[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}){0,2}"
)
ORG = r"[A-Z][\w&-]{1,30}(?: [A-Z][\w&-]{1,30}){0,2}"
BE = r"(?:['’](?:m|s|re|ll be)|\s+(?:am|is|are|will be|shall be|is going to be))"
WHO = rf"(?P<who>I|i|[Ww]e|[Hh]e|[Ss]he|[Mm]y [a-z]{{1,20}}|{NAME})"
AWAY = (
    r"(?P<state>off sick|off work|off ill|signed off|off|away|out of (?:the )?office|out|ooo"
    r"|on (?:[a-z]{1,20} ){0,2}(?:leave|holidays?|vacation|sabbatical|honeymoon|annual leave))"
)
ABSENT = re.compile(rf"(?<![\w'’]){WHO}{BE}(?: (?:still|also|now|actually|only))? {AWAY}(?!\w)")
OMITTED = re.compile(rf"\W{{0,3}}(?:(?:i['’]?ll be|will be|am) )?{AWAY}(?!\w)", re.IGNORECASE)
BACK = re.compile(
    rf"(?<![\w'’]){WHO}{BE}(?: only)? back(?: (?:at work|in the office|in))?"
    r"(?: (?:from|off) (?P<from>[a-z][a-z -]{2,30}?))?(?= on | from | in |\s+\d|\s+[A-Z]| next"
    r"| the| tomorrow)"
)
LEAVES = re.compile(
    rf"(?<![\w'’]){WHO}(?: will)?(?: goes| go| is going|['’]s going|['’]m going|['’]ll go| going)"
    r"(?: back)? on (?P<state>(?:[a-z]{1,20} ){1,2}leave|leave|holiday|vacation|sabbatical)(?!\w)"
)
REPEATED_OFF = re.compile(
    rf"(?:off|away|out|not in|not working)(?: on| every)? (?P<days>(?:{WEEKDAYS})(?:(?:,| and|/| &)"
    rf" ?(?:{WEEKDAYS}))*)",
    re.IGNORECASE,
)
EXPECTING = re.compile(
    rf"(?<![\w'’]){WHO}{BE} (?:expecting(?P<what> twins| triplets| a (?:baby|boy|girl|child)|"
    r" (?:her|their|our|my) (?:first|second|third))?|pregnant|having (?:a baby|twins))(?!\w)"
)
CONTACT = re.compile(
    rf"\b[Cc]ontact(?: person)?(?: (?:at|for|with) (?P<org>{ORG})"
    rf"| there| over there)(?:\s*(?::|is(?: now)?|will be)|,? (?:isn['’]t|is no longer)"
    rf" [^,.;]{{2,40}}[,;] ?(?:it['’]?s|but)) (?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.? )?{NAME})"
)
ON_SIDE = re.compile(
    rf"\b[Oo]n (?:the )?(?P<org>{ORG})(?:['’]s)? (?:side|end)"
    rf"(?: it['’]?s| we have|:| is| the contact is)(?: now)? (?:an? )?"
    rf"(?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.? )?{NAME})"
)
EXTENSION = re.compile(
    rf"(?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.? )?{NAME})[,:]? (?:on |at |\()?(?:ext|extension|x)\.? ?"
    r"(?P<value>\d{3,5})\b"
)
SELF_NAMED = re.compile(r"\b(?:I['’]?m|I am|[Tt]his is|[Mm]y name is|[Mm]y name['’]s) $")
ROLE_WORDS = (
    r"(?:[a-z][a-z/-]{1,20} ){0,3}(?:[a-z][a-zA-Z/-]{1,20}|[A-Z]{2,5})"
    r"(?: of (?:the )?[\w -]{2,40}?| for [\w -]{2,30}?)?"
)
APPOSED_ROLE = re.compile(
    rf"(?P<name>{NAME}), (?:(?P<own>our|my|the|their|its|his|her|an?) )?(?P<new>new )?"
    rf"(?P<role>{ROLE_WORDS})(?: (?:at|from|with) (?P<org>{ORG}))?"
    r"(?=[,.;!)]|$| (?:is|was|has|will|says|said|called|and)\b)"
)
LABELLED_ROLE = re.compile(
    r"(?:^|(?<=[\n;,.]))[-*•\s]{0,6}(?:[Tt]he |[Oo]ur |[Nn]ew ){0,3}"
    rf"(?P<role>[A-Za-z][a-z]{{1,20}}(?: [a-z]{{1,20}}){{0,2}}"
    rf"(?: (?:of|for|at) (?:the )?[\w' -]{{2,40}}?)?)\s*(?::|=|\s[-–]\s)\s*(?P<name>{NAME})"
    r"(?=\s*(?:[,.;!?(\n]|$))"
)
AS_ROLE = re.compile(
    rf"(?P<name>{NAME}) as (?:the |our |a |an )?(?:new )?"
    r"(?P<role>[a-z]{1,20}(?: [a-z]{1,20})?)\b"
)
BARE_ROLE = re.compile(
    rf"(?:^|(?<=[:,;.!?\n]\s)|(?<=\n))(?P<name>{NAME}) (?P<role>[a-z]{{1,20}})(?=\s*(?:[,;.]|$))"
)
CALLED_ROLE = re.compile(
    r"(?P<owner>\b(?:[Mm]y|[Oo]ur|[Tt]he|[Tt]heir|[A-Z]\w{1,30}['’]s)) (?:new )?"
    r"(?P<role>[a-z]{1,20}(?: [a-z]{1,20})?)"
    rf"(?: is|['’]s) (?:a (?:woman|man|guy|lady|girl|bloke) )?called (?P<name>{NAME})"
)
MONEY = (
    r"(?:(?:[€$£]|EUR |USD |GBP |CHF )\s?\d[\d.,]{0,12}\d?(?:\s?(?:k|m|bn))?\b"
    r"|\d[\d.,]{0,12}\s?(?:€|\$|£|(?:k|euros?|dollars?|pounds?|quid|bucks|EUR|USD|GBP|CHF)\b))"
    r"(?:(?:\s(?:per|an?)\s|\s?/\s?)(?:month|year|yr|week|day|night|hour|person|head|seat|user|kilo"
    r"|kg|litre|session|lesson|ticket|copy|page|piece|mo|pp)\b)?"
)
RATE = (
    r"\d[\d.,]{0,12}\s?(?:k\s?)?(?:\s(?:per|an?)\s|\s?/\s?)"
    r"(?:month|year|yr|week|night|hour|person|seat|user|mo)\b"
)
PRICED = re.compile(
    r"(?:^|(?<=[\s(]))(?P<what>[A-Za-z][\w'’-]{0,30}(?: [a-z][\w'’-]{0,30}){0,2}?)\s+"
    rf"(?P<verb>is(?: now| only)?"
    rf"|are(?: now)?|costs?(?: us| me| about)?|comes to|will be|charges?|takes|wants|asks?(?: for)?"
    rf"|quoted(?: us| me)?|(?:goes|went) up to|now)\s+(?P<value>{MONEY}|{RATE})",
    re.IGNORECASE,
)
PRICE_LINE = re.compile(
    r"^[-*• \t]{0,8}(?P<what>[A-Za-z][\w'’-]{0,30}(?: [a-z][\w'’-]{0,30}){0,3})\s?[:,]?\s+"
    rf"(?P<value>{MONEY}|{RATE})"
    r"(?=\s*(?:$|[.,;!(]|each|all in|tops))",
    re.IGNORECASE | re.MULTILINE,
)
VALUE_CHANGE = re.compile(
    r"\b(?P<what>[a-z][\w-]{0,30}(?: [a-z][\w-]{0,30}){0,2}?)\s+(?:(?:is|goes|went|now)\s+"
    r"(?:now\s+|up\s+to\s+|down\s+to\s+)?)?(?P<value>\d[\d.,]{0,12}\s?(?:%|percent))"
    r"(?:\s+now)?,?\s?\(?(?:was|from|before)\s+"
    r"(?P<old>\d[\d.,]{0,12})\s?(?:%|percent)?",
    re.IGNORECASE,
)
PRICE_LEADS = word_set("the a an our my their new and ugh oh ok okay so btw well hey wow also but")
NO_PRICED = word_set(
    """it that this which there he she they we i you what one who how everything something nothing
    total and but so or then only just about now for with from at in on to by of the a""",
)
NO_ROLE_NAMES = word_set("Subject Dear Hi Hello Re Fwd Decision Action Note Update")
NEW_ROLES = word_set("chair rep treasurer secretary aider organiser organizer host mc president")
GAP = re.compile(r"[\s,]*(?:(?:on|from|in|for|until|till|the|this|next|starting|as of|again)\s+)*")
CALL_VERBS = re.compile(r"^(?:Ask|Call|Ring|Contact|Phone|Text|Email|Try|Dial) ")
MAX_NAME_CHARACTERS = 60
MAX_LEAD = 12  # characters of "my name is "


@dataclass(slots=True)
class PhraseReader:
    """Reads the phrases of one sentence."""

    speakers: Speakers
    dates: Sequence[DateSpan]
    at: datetime
    text: str

    def read_phrases(self, tree: Tree) -> Iterator[EventFact]:
        """Yield absences, contacts, roles and prices of a sentence that is no question."""
        if tree.is_question:
            return
        first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        part = self.text[first:last]
        if CONDITION.match(part):
            return
        # Most sentences have none of the words: the patterns are slower than a look at the words.
        words = frozenset(tree.lower)
        if words & ABSENCE_WORDS:
            yield from self._read_absences(first, last)
        if words & CONTACT_WORDS:
            yield from self._read_contacts(first, last)
        if words & (OCCUPATIONS | NEW_ROLES):
            yield from self._read_roles(first, last)
        if any(map(str.isdigit, part)):
            yield from self._read_prices(first, last)
        if words & THING_WORDS:
            yield from self._read_things(first, last)

    # -- absences

    def _read_absences(self, first: int, last: int) -> Iterator[EventFact]:
        for match in BACK.finditer(self.text, first, last):
            who, span = self._who(match["who"]), self._date_after(match.end(), last)
            if who is None or span is None or span.until <= self.at:
                continue
            if match["from"]:
                state = match["from"].strip()
                yield self._fact(who, "HAS_STATUS", state, first, last, span=span, negated=True)
            else:
                state = f"away until {format_date(span)}"
                yield self._fact(who, "HAS_STATUS", state, first, last)
        for match in LEAVES.finditer(self.text, first, last):
            who, span = self._who(match["who"], is_sure=True), self._date_after(match.end(), last)
            if who and span and span.until > self.at:
                yield self._fact(who, "HAS_STATUS", match["state"].strip(), first, last, span=span)
        for match in EXPECTING.finditer(self.text, first, last):
            who = self._who(match["who"], is_sure=True)
            if who and who != self.speakers.group and match["what"]:
                what = re.sub(r"^ (?:a |her |their |our |my )?", "", match["what"])
                yield self._fact(who, "EXPECTING", what, first, last)
        omitted = OMITTED.match(self.text, first, last)
        if omitted and omitted["state"].lower().startswith("on "):
            span = self._date_after(omitted.end(), last)
            if span is not None and span.until > self.at:
                state, who = omitted["state"].lower(), self.speakers.speaker
                yield self._fact(who, "HAS_STATUS", state, first, last, span=span)
        elif omitted:
            yield from self._read_absence(self.speakers.speaker, omitted, first, last)
        for match in ABSENT.finditer(self.text, first, last):
            is_sure = match["state"].startswith(("off sick", "on ", "off work", "off ill"))
            if who := self._who(match["who"], is_sure=is_sure):
                yield from self._read_absence(who, match, first, last)

    def _read_absence(
        self, who: str, match: re.Match[str], first: int, last: int
    ) -> Iterator[EventFact]:
        state = match["state"].lower()
        if days := REPEATED_OFF.match(self.text, match.start("state"), last):
            yield self._fact(who, "OFF", days["days"], first, last)
            return
        span = self._date_after(match.end(), last)
        is_sick = state in ("off sick", "off ill", "signed off")
        if is_sick and (span is None or span.relation is DateRelation.UNTIL):
            yield self._fact(who, "HAS_STATUS", "off sick", first, last)
            return
        if span is None or span.until <= self.at or state.startswith("on "):
            return
        if span.relation in (DateRelation.UNTIL, DateRelation.BEFORE):
            yield self._fact(who, "HAS_STATUS", f"{state} until {format_date(span)}", first, last)
            return
        if span.precision in (DatePrecision.MINUTE, DatePrecision.HOUR):
            return
        yield self._fact(who, "OFF", _format_days(span), first, last, span=span)

    def _date_after(self, place: int, last: int) -> DateSpan | None:
        """Return the date that follows a place almost at once."""
        gap = GAP.match(self.text, place, last)
        end = gap.end() if gap else place
        return next(
            (
                span
                for span in self.dates
                if place <= span.start <= max(end, place + 1) and span.start < last
            ),
            None,
        )

    def _who(self, word: str, *, is_sure: bool = False) -> str | None:
        """Return the person that a subject names; None if it may be none.

        `is_sure`: the phrase is said of people only, as "is off sick".
        """
        low = word.lower()
        if low == "i":
            return self.speakers.speaker
        if low == "we":
            return self.speakers.group
        if low in ("he", "she"):
            return self.speakers.resolve_pronoun(low)
        if low.startswith("my "):
            noun = low[3:]
            return f"{self.speakers.speaker}'s {noun}" if noun in KIN or noun in PARENTS else None
        if low in PARENTS:
            return f"{self.speakers.speaker}'s {low}"
        is_name = (
            is_sure and low not in STOP_WORDS and low not in EVENTS and name_type(word) is None
        )
        return word if is_name or self._is_person(word) else None

    def _is_person(self, name: str) -> bool:
        first = name.split(maxsplit=1)[0]
        if first.lower() in STOP_WORDS or first in NO_ROLE_NAMES:
            return False
        if first.lower().rstrip(".") in TITLES or name.lower() in self.speakers.known_names:
            return True
        if name in (self.speakers.speaker, *self.speakers.participants):
            return True
        if is_first_name(first):
            return not is_common_word(first) or " " in name
        return (
            " " in name
            and name_type(name) is None
            and name.rsplit(maxsplit=1)[-1].lower() not in STOP_WORDS
        )

    # -- contacts and roles

    def _read_contacts(self, first: int, last: int) -> Iterator[EventFact]:
        end = self._line_end(last)
        for pattern in (CONTACT, ON_SIDE):
            for match in pattern.finditer(self.text, first, end):
                if match.start() >= last:
                    break
                org = match["org"] or self.speakers.resolve_pronoun("it")
                if org and self._is_person(match["name"]):
                    name = match["name"]
                    yield self._fact(org, "HAS_CONTACT", name, first, last, is_name=True)
        for match in EXTENSION.finditer(self.text, first, last):
            name = CALL_VERBS.sub("", match["name"])
            if self._is_person(name):
                yield self._fact(name, "HAS_PHONE", match["value"], first, last)

    def _line_end(self, last: int) -> int:
        """Return where a value may end whose label is another sentence: "New chair: Ada"."""
        line = self.text.find("\n", last)
        return min(line if line >= 0 else len(self.text), last + MAX_NAME_CHARACTERS)

    def _read_roles(self, first: int, last: int) -> Iterator[EventFact]:
        for pattern in (APPOSED_ROLE, LABELLED_ROLE, AS_ROLE, BARE_ROLE, CALLED_ROLE):
            end = self._line_end(last)
            for match in pattern.finditer(self.text, first, end):
                name, role = match["name"], match["role"].strip()
                if match.start("role") >= last or not _is_role(role):
                    continue
                if pattern is not CALLED_ROLE and not self._is_person(name):
                    continue
                if pattern is APPOSED_ROLE and match["own"] == "my" and role.lower() in KIN:
                    continue
                if pattern is BARE_ROLE and not is_first_name(name.split()[0]):
                    continue
                before = self.text[max(first, match.start("name") - MAX_LEAD) : match.start("name")]
                if pattern is APPOSED_ROLE and SELF_NAMED.search(before):  # "I'm Paul, the …"
                    name = self.speakers.speaker
                yield self._fact(name, "HAS_ROLE", role, first, last)
                org = match.groupdict().get("org")
                if org and name_type(org) != "place" and not is_first_name(org.split()[0]):
                    yield self._fact(name, "WORKS_AT", org, first, last, is_name=True)

    # -- things

    def _read_things(self, first: int, last: int) -> Iterator[EventFact]:
        for match in KEPT.finditer(self.text, first, last):
            what = self._priced(match["what"])
            place = re.sub(r"^(?:the|my|our) ", "", match["place"]).strip()
            if what and not place.lower().startswith(("a ", "an ")):
                yield self._fact(what, "STORED_IN", place, first, last)
        for match in HELD.finditer(self.text, first, last):
            what = self._priced(match["what"])
            if what and self._is_person(match["name"]):
                yield self._fact(what, "STORED_IN", match["name"], first, last)
        for match in CALLED_PET.finditer(self.text, first, last):
            if match["pet"].lower() in PETS:
                is_ours = match["own"].lower() == "our"
                owner = self.speakers.group if is_ours else self.speakers.speaker
                yield self._fact(owner, "HAS_PET", match["name"], first, last, is_name=True)
        for match in CALLED_OFF.finditer(self.text, first, last):
            what = self._priced(match["what"])
            if what and what.rsplit(maxsplit=1)[-1].lower() in EVENTS:
                past = StatementTense.PAST
                yield self._fact(what, "SCHEDULED_FOR", "", first, last, tense=past)
        for match in STARTS.finditer(self.text, first, last):
            who, span = self._who(match["who"], is_sure=True), self._date_after(match.end(), last)
            if who and span and span.until > self.at:
                yield self._fact(who, "STARTED_ON", format_date(span), first, last, span=span)
        for match in NEW_DIET.finditer(self.text, first, last):
            if who := self._who(match["who"], is_sure=True):
                diet = match["diet"].lower().replace("veggie", "vegetarian")
                yield self._fact(who, "HAS_DIET", diet, first, last)
        for pattern in (FAULT, DEFECT):
            for match in pattern.finditer(self.text, first, last):
                what = self._priced(match["what"])
                is_alive = what and what.rsplit(maxsplit=1)[-1].lower() in PATIENTS | frozenset(KIN)
                if what and not is_alive and not is_first_name(what.split()[0]):
                    yield self._fact(what, "HAS_ISSUE", match["issue"].strip(), first, last)

    # -- prices

    def _read_prices(self, first: int, last: int) -> Iterator[EventFact]:
        found: set[str] = set()
        for pattern in (PRICED, PRICE_LINE, AMOUNT_OF, ASKED):
            for match in pattern.finditer(self.text, first, last):
                what = self._priced(match["what"])
                value = match["value"].strip(" .,")
                if what is None or value in found:
                    continue
                found.add(value)
                is_pay = what.rsplit(maxsplit=1)[-1].lower() in ("salary", "wage", "wages", "pay")
                predicate = "HAS_COMPENSATION" if is_pay else "HAS_PRICE"
                if what.rsplit(maxsplit=1)[-1].lower() == "budget":
                    predicate = "HAS_BUDGET"
                yield self._fact(what, predicate, value, first, last)
        for match in VALUE_CHANGE.finditer(self.text, first, last):
            what = self._priced(match["what"])
            if what is None:
                continue
            yield self._fact(what, "HAS_VALUE", match["value"], first, last)
            unit = re.sub(r"[\d.,]+", "", match["value"])
            old = f"{match['old']}{unit}"
            past = StatementTense.PAST
            yield self._fact(what, "HAS_VALUE", old, first, last, tense=past)

    def _priced(self, words: str) -> str | None:
        """Return the thing of a price, without articles; None if it is a pronoun or a clause."""
        parts = words.split()
        while parts and parts[0].lower() in PRICE_LEADS:
            parts = parts[1:]
        if not parts or any(part.lower() in NO_PRICED for part in parts):
            return None
        if parts[-1].lower() in STOP_WORDS or parts[0].lower() in STOP_WORDS:
            return None
        return " ".join(parts)

    def _fact(
        self,
        subject: str,
        predicate: str,
        value: str,
        first: int,
        last: int,
        *,
        span: DateSpan | None = None,
        negated: bool | None = None,
        is_name: bool = False,
        tense: StatementTense = StatementTense.CURRENT,
    ) -> EventFact:
        if span is not None and span.since > self.at:
            tense = StatementTense.FUTURE
        category = Category.PERSONAL
        return EventFact(
            subject, predicate, value, first, last, category, tense, span, is_name, negated
        )


ABSENCE_WORDS = word_set(
    """off away out ooo back leave holiday holidays vacation sabbatical honeymoon expecting pregnant
    having signed"""
)
CONTACT_WORDS = word_set("contact side end ext extension")
THING_WORDS = KEPT_THINGS | word_set(
    """called named name off cancelled canceled scrapped start starts starting begin begins join
    joins joining veggie vegetarian vegan pescatarian gluten-free dairy-free gluten dairy teetotal
    halal kosher keeps has wo does leaking dripping rattling flickering crashing overheating jamming
    squeaking smoking failing stuttering freezing lagging beeping tripping sticking buzzing hanging
    grinding blocked"""
)
THING = r"(?P<what>(?:[A-Za-z][\w'’-]{0,30} ){0,3}"
KEPT = re.compile(
    THING
    + rf"(?:{'|'.join(sorted(KEPT_THINGS))}))\s+(?:is|are|hangs?|lives?|sits?|goes|stays?|lies?"
    r"|is kept|are kept|belongs?)(?: now| always| still)?"
    r" (?:in|on|under|behind|inside|above|next to)"
    r" (?P<place>(?:the |my |our )?[A-Za-z0-9][\w'’ -]{2,50}?)(?=[,.;!)]|$| and | so | until | if "
    r"| because | when | but | under )"
)
HELD = re.compile(
    THING + rf"(?:{'|'.join(sorted(KEPT_THINGS))}))\s+(?:is|are)(?: now| still)? (?:with|at)"
    rf" (?P<name>{NAME})(?:['’]s)?(?![\w'’])"
)
CALLED_PET = re.compile(
    r"\b(?P<own>[Mm]y|[Oo]ur|[Tt]he)(?: \w{1,20})? (?P<pet>[a-z]{1,20})(?: is called|['’]s called"
    rf"| is named|['’]s name is) (?P<name>{NAME})"
)
CALLED_OFF = re.compile(
    r"(?:^|(?<=[\s.,;!]))(?P<what>[A-Za-z][\w-]{0,30}(?: [a-z][\w-]{0,30}){0,2}?)"
    r"(?:['’]s| is| are| has been| was| got) (?:off|cancelled|canceled|called off|scrapped)"
    r"(?=\s*(?:[,.;!)]|$|[^\w\s]))",
)
STARTS = re.compile(
    rf"(?<![\w'’]){WHO}(?:['’]s| is)? (?:starts?|begins?|joins?|starting|joining)(?: with)?"
    r"(?: us| here| the team| work)(?: as [a-z -]{3,30}?)?"
    r"(?= on | from | next | in |\s+\d|\s+[A-Z])"
)
NEW_DIET = re.compile(
    rf"(?<![\w'’]){WHO} (?:went|has gone|have gone|is going|turned|has turned|became)"
    r" (?:fully |completely )?(?P<diet>veggie|vegetarian|vegan|pescatarian|gluten-free|dairy-free"
    r"|teetotal|halal|kosher)\b"
)
FAULTS = (
    "leaking|dripping|rattling|flickering|crashing|overheating|jamming|squeaking|smoking|failing"
    "|stuttering|freezing|lagging|beeping|tripping|sticking|buzzing|hanging|grinding|blocked"
)
FAULTY = (
    "dropping|crashing|failing|freezing|disconnecting|cutting|breaking|tripping|jamming|restarting"
    "|losing|switching|beeping|falling|stopping|hanging|leaking|overheating|dying|logging|rebooting"
)
FAULT = re.compile(
    r"(?:^|(?<=[\s,]))(?:[Tt]he |[Mm]y |[Oo]ur )"
    r"(?P<what>[a-z][\w-]{0,30}(?: [a-z][\w-]{0,30}){0,2}?)"
    rf"(?:,[^,.!?]{{2,50}},)? (?P<issue>(?:is |are |['’]s )(?:still |constantly )?(?:{FAULTS})"
    r"(?: (?:at|from|in|on|off|out of) [\w ]{3,30}?)?|keeps (?:on )?"
    rf"(?:{FAULTY})(?: [a-z]{{1,20}}){{0,4}}?"
    r"|(?:won['’]t|doesn['’]t|does not|will not) (?:start|work|open|close|charge|connect|load|boot"
    r"|turn on|switch on|heat|print|update|sync|lock)(?: [a-z]{1,20}){0,2}?)"
    r"(?=[,.;!?)]|$| and | since )"
)
DEFECT = re.compile(
    r"(?:^|(?<=[\s,]))(?P<what>(?:[Tt]he |[Mm]y |[Oo]ur )[a-z][\w-]{0,30}(?: [\w-]{1,30}){0,2}?)"
    r" has (?:got )?(?P<issue>an? (?:[a-z]{1,20} )?(?:crack|leak|fault|hole|dent|scratch"
    r"|puncture|defect"
    r"|blockage|rattle|bug)(?: (?:in|on|near|at) [\w ]{3,30}?)?)(?=[,.;!)]|$| and )"
)
AMOUNT_OF = re.compile(
    rf"\b(?P<what>deposit|fee|fine|premium|surcharge|rent"
    rf"|budget|salary|instalment|installment) of (?P<value>{MONEY})",
    re.IGNORECASE,
)
ASKED = re.compile(
    rf"(?<![\w'’])(?P<what>{NAME}|[Tt]he [a-z]{{1,20}}) (?:wants|charges|asks(?: for)?"
    r"|quoted(?: us| me)?|is asking(?: for)?|would charge)"
    r" (?P<value>\d{1,3}(?:[,.]\d{3})+|\d{3,6})(?![\w%.,]*\d)"
    r"(?! (?:people|years|days|hours|minutes|miles|km|times|words|pages|points))"
)
CONDITION = re.compile(
    r"\W{0,5}(?:if|unless|suppose|imagine|would|could|when|maybe|perhaps)\b", re.IGNORECASE
)


def _is_role(words: str) -> bool:
    head = re.split(r"\s+(?:of|for|at)\s+", words)[0].split()[-1].lower()
    return head in OCCUPATIONS or head in NEW_ROLES


def _format_days(span: DateSpan) -> str:
    """Return one day, or the first and the last day of several."""
    last = span.until - timedelta(microseconds=1)
    is_open = span.relation is not DateRelation.IN
    if is_open or last.date() == span.since.date() or span.precision is not DatePrecision.DAY:
        return format_date(span)
    return f"{span.since:%Y-%m-%d} to {last:%Y-%m-%d}"
