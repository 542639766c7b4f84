"""Exact values in a message: addresses, numbers, prices and codes, with the one they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...text.gazetteer import is_first_name
from .coreference import Speakers
from .lexicon import KIN, PARENTS, STOP_WORDS
from .relations import category_of
from .results import Certainty, Identity, Statement, TextSpan

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?<![.-])")
PHONE = re.compile(
    r"(?<![\w/.#-])(?:\+\d{1,3}[\s.-]?)?\(?\d{2,5}\)?(?:[\s.-]\d{2,8}){1,4}(?![\w/-])|(?<![\w/.#-])\+?\d{9,13}(?!\w)"
)
PHONE_WORD = re.compile(
    r"\b(?:number|phone|mobile|cell|tel|whatsapp|reach me|call me|text me|ring me)\b", re.IGNORECASE
)
NAME = r"[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}(?:\s+[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}){0,2}"
CONTACT_ORDER = re.compile(  # "Try Bert Maas, 0471 22 33 44"
    r"^(?:Contact|Call|Email|Mail|Phone|Tel|Mobile|Try|Ask|Ring|Text|Message|Dial|Write|Use|Get|Tell"
    r"|See|Remember|Meet|And|Or|Then|Just)\s+"
)
OWNER_BEFORE = re.compile(
    rf"(?P<name>{NAME})['’]s\s+(?:\w+\s+){{0,2}}$|\b(?P<pronoun>my|her|his|our|their)\s+(?:\w+\s+){{0,4}}(?:is\s+|:\s*)?$|(?P<apposed>{NAME})\s*[,(:]\s*$",
    re.IGNORECASE,
)
HANDLE = re.compile(
    r"\b(?P<pronoun>my)\s+(?:\w+\s+)?(?P<kind>handle|user\s?name|login|nick)\s+(?:is|:)\s+(?P<value>@?[\w.-]{2,40}\w)",
    re.IGNORECASE,
)
CALLED = (
    re.compile(rf"\b(?:[Cc]all|[Cc]alls) me (?P<value>{NAME})"),
    re.compile(rf"\bI go by (?P<value>{NAME})"),
    re.compile(rf"\b[Mm]y name(?:['’]s| is)(?: spel(?:led|t))? (?P<value>{NAME})"),
    re.compile(rf"\b[Mm]y nick(?:name)? is (?P<value>{NAME})"),
    re.compile(
        rf"\b(?P<owner>{NAME}),?\s+\(?(?:also known as|aka|a\.k\.a\.|short:|known"
        rf" as)\s+(?P<value>{NAME})"
    ),
    re.compile(
        rf"\b(?P<owner>{NAME})\b[^.!?\n]{{0,60}}?,? (?:and )?(?:everybody|everyone|most"
        rf" people|people|friends|we all|they)\s+(?:calls?|knows?)\s+(?:him|her"
        rf"|them)\s+(?:as\s+)?(?P<value>{NAME})"
    ),
    re.compile(
        rf"\b[Ww]e (?:called|named) (?:the \w+|him|her|it)"
        rf" (?P<owner>{NAME})[^.!?\n]{{0,30}}?, (?P<value>{NAME}) for short"
    ),
    re.compile(rf"\b(?P<owner>{NAME}) \((?P<value>[A-Z]{{2,5}}) in the \w+\)"),
    re.compile(rf"it['’]?s (?P<owner>{NAME}) now, no longer (?P<value>{NAME})"),
)
FORMER = re.compile(
    r"\b(?:old|former|previous)\b[^.!?]{0,30}\b(?:was|is)\b|\bused to be\b", re.IGNORECASE
)
I_AM_HANDLE = re.compile(r"\bI(?:['’]m|\s+am)\s+(?P<value>@[A-Za-z0-9_.-]{2,40})\b")
NUMBER_LABELS = {
    "HAS_ACCOUNT_NUMBER": re.compile(
        r"\b(?:account|customer) (?:no\.?|number|#)\s*(?:is"
        r"|:)?\s*(?P<value>[A-Z]{0,3}[\d-]{4,20}\d)",
        re.IGNORECASE,
    ),
    "HAS_ORDER_NUMBER": re.compile(
        r"\b(?:order (?:no\.?|number|#)|(?:my|our|the|your|this|re|about|for) order|order(?= ?#))"
        r"\s*(?:is|:)?\s*(?P<value>#?(?-i:[A-Z]{1,3}-?)?\d[\d-]{3,20})",  # not "order 2500 cups"
        re.IGNORECASE,
    ),
    "HAS_VAT_NUMBER": re.compile(
        r"\bVAT (?:no\.?|number|id)?\s*(?:is|:)?\s*(?P<value>[A-Z]{2} ?[\d ]{6,14}\d)"
    ),
}
# Numbers of papers and bookings. The kind is the subject: "claim 7741-HB".
NUMBERED = re.compile(
    r"\b(?P<kind>booking|reservation|confirmation|claim|policy|contract|invoice|ticket|case|job"
    r"|passport|licen[cs]e|permit|serial|tracking|membership|member|flight|cabin|berth|locker"
    r"|quote|purchase order|PO|parcel|shipment|file|certificate|registration|licen[cs]e plate"
    r"|plate|visa|repair|incident|request|complaint|voucher|chassis|meter)"
    r"(?: (?:no\.?|nr\.?|number|ref(?:erence)?|id|code))?(?:\s*#|(?: is(?: now)?|:|,)? )\s*"
    r"(?P<value>(?-i:[A-Z0-9]{1,8}(?:[-/ ]?[A-Z0-9]{1,8}){0,4}))(?![\w-])",
    re.IGNORECASE,
)
NUMBER_OF = re.compile(  # "the order number for the oven is KX-20419"
    r"\b(?P<kind>order|booking|reservation|serial|account|customer|contract|policy|part|model|ticket"
    r"|tracking|reference|membership|article|item|product|licen[cs]e)"
    r" (?:no\.?|nr\.?|number|ref(?:erence)?|id|code) (?:for|of|on) (?:the |our |my |this )?"
    r"(?P<what>[\w'’-]{2,20}(?: [\w'’-]{2,20}){0,2}?)(?: is(?: now)?|:)\s*"
    r"(?P<value>(?-i:#?[A-Z0-9]{1,8}(?:[-/ ]?[A-Z0-9]{1,8}){0,4}))(?![\w-])",
    re.IGNORECASE,
)
OF_THING = re.compile(r"\b(?:for|of|on|to|at) (?:the |our |my |this )?$", re.IGNORECASE)
KIND_PREDICATES = {
    "order": "HAS_ORDER_NUMBER",
    "serial": "HAS_SERIAL_NUMBER",
    "account": "HAS_ACCOUNT_NUMBER",
    "customer": "HAS_ACCOUNT_NUMBER",
}
REF = re.compile(
    r"\b(?:ref|reference|booking code|confirmation code)\b\.?:?(?: is| no\.?)?\s+"
    r"(?P<value>(?-i:[A-Z0-9]{1,6}(?:-?[A-Z0-9]{1,8}){1,3}))(?![\w-])",
    re.IGNORECASE,
)
FIRST_NOUN = re.compile(
    r"^\W*(?:ok |so |the |our |my |and )*(?P<what>[a-z]+)(?: is|['’]s)? (?:all )?"
    r"(?:booked|sorted|confirmed|reserved|ordered|done|paid)\b",
    re.IGNORECASE,
)
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
THING_NUMBERS = {
    "serial": "HAS_SERIAL_NUMBER",
    "chassis": "HAS_SERIAL_NUMBER",
    "meter": "HAS_NUMBER",
    **dict.fromkeys(("plate", "license plate", "licence plate"), "HAS_LICENSE_PLATE"),
}
MIN_NUMBER_CHARACTERS = 4
MAX_NUMBER_CHARACTERS = 24
NUMBER_AHEAD = re.compile(r"\b(?:no|nr|ref)\.$", re.IGNORECASE)
LABELLED_CODE = re.compile(
    r"\b(?P<what>(?:[a-z]+ )?(?P<kind>code|password|pin))(?: (?:for|of) (?:the )?(?P<for>[\w"
    r" -]{2,30}?))?(?: changed again,? it['’]?s| is(?: now)?"
    r"|:)\s+(?P<value>[\w#*!-]*\d[\w#*!-]*)",
    re.IGNORECASE,
)
NEW_ADDRESS = re.compile(
    r"\b(?:my |the |our )?(?:new )?address(?: for [\w ]{1,30})?(?: is"
    r"|:)\s+(?P<value>[^.!?\n]{6,80}?\d[^.!?\n]{0,60})",
    re.IGNORECASE,
)


FOR_ME = re.compile(
    r"^\W*(?:so |and |just )?(?P<value>[a-z][\w -]{1,30}?) for me(?:,? please| from now on|,|"
    r" instead)",
    re.IGNORECASE,
)
CHANNEL_ONLY = re.compile(
    r"\b(?P<value>(?:chat|e-?mail|text|slack|whatsapp|phone|sms|teams)(?:(?:,| or| and)"
    r" (?:chat|e-?mail|text|slack|whatsapp|phone|sms|teams))?) only\b",
    re.IGNORECASE,
)
WITH_VERB = re.compile(
    r"\b(?:is|are|was|it|that|no|not|do|did|works?|fine|good|ok|okay|perfect)\b", re.IGNORECASE
)
NO_MORE_FOR = re.compile(
    r"\bno (?:more )?(?P<value>[a-z]+(?: [a-z]+)?) for (?P<who>me|him|her)\b", re.IGNORECASE
)


@dataclass(slots=True)
class ValueReader:
    """Reads the exact values of one sentence."""

    speakers: Speakers
    text: str

    def read_values(self, start: int, end: int) -> Iterator[Statement]:
        """Yield facts with exact values."""
        part = self.text[start:end]
        if part.rstrip().endswith("?"):
            return
        yield from self._read_addresses(part, start, end)
        for predicate, pattern in NUMBER_LABELS.items():
            for match in pattern.finditer(part):
                yield self._fact(
                    self.speakers.speaker,
                    predicate,
                    match["value"].strip(),
                    start,
                    end,
                )
        for match in LABELLED_CODE.finditer(part):
            kind = "HAS_PASSWORD" if match["kind"].lower() == "password" else "HAS_CODE"
            what = match["what"].rsplit(maxsplit=1)[0] if " " in match["what"] else match["for"]
            if what and what.lower() not in ("the", "my", "a", "new", "old", "your"):
                yield self._fact(what.strip().lower(), kind, match["value"], start, end)
        if NUMBER_AHEAD.search(part):  # the parser may end a sentence after "no."
            part += self.text[end : end + MAX_NUMBER_CHARACTERS].split("\n")[0]
        yield from self._read_numbers(part, start, end)
        for match in NEW_ADDRESS.finditer(part):
            if "@" in match["value"]:
                continue
            yield self._fact(
                self.speakers.speaker,
                "HAS_ADDRESS",
                match["value"].strip(" .,"),
                start,
                end,
            )
        yield from self._read_preferences(part, start, end)
        for match in I_AM_HANDLE.finditer(part):
            yield self._fact(self.speakers.speaker, "HAS_HANDLE", match["value"], start, end)
        for match in HANDLE.finditer(part):
            predicate = (
                "HAS_HANDLE" if match["kind"].lower() in ("handle", "nick") else "HAS_USERNAME"
            )
            yield self._fact(self.speakers.speaker, predicate, match["value"], start, end)

    def _read_numbers(self, part: str, start: int, end: int) -> Iterator[Statement]:
        """Yield numbers of bookings, claims and papers, and bank accounts."""
        for match in NUMBERED.finditer(part):
            if OF_THING.search(part, max(0, match.start() - 12), match.start()):
                continue  # "the code for the cabin is 8821": no number of a cabin
            value = match["value"].strip()
            short = match["kind"].lower() in ("cabin", "berth", "locker", "flight")
            digits = sum(map(str.isdigit, value))
            if digits < (1 if short else 2) or len(value) < (2 if short else MIN_NUMBER_CHARACTERS):
                continue
            kind = match["kind"].lower()
            what: str | None = kind
            predicate = "HAS_NUMBER"
            if kind in THING_NUMBERS:  # of the thing that was named before
                what, predicate = self.speakers.resolve_pronoun("it"), THING_NUMBERS[kind]
            if what and (short or digits >= MIN_NUMBER_CHARACTERS or not value.isdigit()):
                yield self._fact(what, predicate, value, start, end)
        for match in NUMBER_OF.finditer(part):
            if sum(map(str.isdigit, match["value"])) > 1:
                predicate = KIND_PREDICATES.get(match["kind"].lower(), "HAS_NUMBER")
                yield self._fact(match["what"], predicate, match["value"], start, end)
        for match in REF.finditer(part):
            named = FIRST_NOUN.match(part)
            what = named["what"].lower() if named else self.speakers.resolve_pronoun("it")
            if what and any(map(str.isdigit, match["value"])):
                yield self._fact(what, "HAS_NUMBER", match["value"], start, end)
        for match in IBAN.finditer(part):
            speaker = self.speakers.speaker
            yield self._fact(speaker, "HAS_ACCOUNT_NUMBER", match.group(), start, end)

    def _read_preferences(self, part: str, start: int, end: int) -> Iterator[Statement]:
        """Yield wishes that have no verb: "Coffee for me from now on", "chat or e-mail only"."""
        speaker = self.speakers.speaker
        match = FOR_ME.search(part)
        is_thing = match and match["value"].split()[0].lower() not in STOP_WORDS
        if (
            match
            and is_thing
            and len(match["value"].split()) <= 3
            and not WITH_VERB.search(match["value"])
        ):
            yield self._fact(speaker, "PREFERS", match["value"].strip().lower(), start, end)
        if match := CHANNEL_ONLY.search(part):
            yield self._fact(speaker, "PREFERS_CHANNEL", match["value"].lower(), start, end)
        if match := NO_MORE_FOR.search(part):
            who = match["who"].lower()
            name = (
                speaker
                if who == "me"
                else self.speakers.resolve_pronoun("he" if who == "him" else "she")
            )
            if name:
                yield replace(
                    self._fact(name, "EATS", match["value"].lower(), start, end),
                    negated=True,
                    certainty=Certainty.IMPLIED,
                )

    def read_names(self, start: int, end: int) -> Iterator[Identity]:
        """Yield other names of people and things."""
        part = self.text[start:end]
        if part.rstrip().endswith("?"):
            return
        for pattern in CALLED:
            for match in pattern.finditer(part):
                owner = match.groupdict().get("owner") or self.speakers.speaker
                if owner.split()[0].lower() in ("he", "she", "we", "i", "and", "but", "so"):
                    continue
                yield Identity(
                    owner=owner,
                    kind="name",
                    value=match["value"].rstrip(".,!"),
                    source=TextSpan(start + match.start(), start + match.end()),
                )

    def _read_addresses(self, part: str, start: int, end: int) -> Iterator[Statement]:
        for match in EMAIL.finditer(part):
            owner = self._owner(part[: match.start()])
            if owner and not FORMER.search(part[: match.start()]):
                yield self._fact(owner, "HAS_EMAIL", match.group(), start, end)
        for match in PHONE.finditer(part):
            digits = re.sub(r"\D", "", match.group())
            if not 8 <= len(digits) <= 15:
                continue
            before = part[: match.start()]
            owner = self._owner(before)
            labelled = PHONE_WORD.search(part)
            if owner and (labelled or OWNER_BEFORE.search(before)):
                yield self._fact(owner, "HAS_PHONE", match.group().strip(), start, end)

    def _owner(self, before: str) -> str | None:
        """Return whom an address belongs to, by the words before it."""
        tail = before[-90:]
        if match := re.search(rf"(?P<name>{NAME})\s*[,(:]\s*$", tail):
            name = CONTACT_ORDER.sub("", match["name"])
            if is_first_name(name.split()[0]) or " " in name:
                return name
        if match := re.search(rf"(?P<name>{NAME})['’]s\s+[\w\s-]{{0,30}}(?:is|:)?\s*$", tail):
            name = match["name"]
            return f"{self.speakers.speaker}'s {name.lower()}" if name.lower() in PARENTS else name
        if match := re.search(
            r"\b(?P<who>my|our|her|his|their)\s+[^.!?]{0,60}$", tail, re.IGNORECASE
        ):
            who = match["who"].lower()
            if who in ("my", "our"):
                noun = re.match(r"(?:my|our)\s+(\w+)['’]s\b", match.group(), re.IGNORECASE)
                if noun and noun[1].lower() in KIN:
                    return f"{self.speakers.speaker}'s {noun[1].lower()}"
                return self.speakers.speaker
            return self.speakers.resolve_pronoun({"her": "she", "his": "he", "their": "they"}[who])
        if re.search(r"\b(?:me|us)\b[^!?]{0,40}$|\bnew number\b", tail, re.IGNORECASE):
            return self.speakers.speaker
        return None

    def _fact(self, subject: str, predicate: str, value: str, start: int, end: int) -> Statement:
        return Statement(
            subject=subject,
            predicate=predicate,
            value=value,
            sentence=self.text[start:end].strip(),
            source=TextSpan(start, end),
            category=category_of(predicate),
            rule="exact value",
        )
