"""Follow-ups: words that move, place or call off a plan which an earlier message named.

"They moved it to the 21st", "new deadline: 28 May", "it's off". The rules find the words. Which
plan is meant is decided by `learn.facts.plans`, which knows the plans of the conversation. Every
pattern is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from ...text.dates import DatePrecision, DateRelation, DateSpan, find_dates
from .clause_reader import format_date
from .results import FollowUp, SourceMessage

MAX_BEFORE, MAX_AFTER = 90, 60  # characters around a date that are read
MAX_TEXT_CHARACTERS = 1_000  # a longer message names what it is about
PRECISIONS = (DatePrecision.DAY, DatePrecision.MONTH)
END = re.compile(r"[.!?\n…]")
UNSURE = re.compile(
    r"\b(?:if|unless|maybe|perhaps|might|could|would|should|may|hope|hopefully|hoping|wish|try"
    r"|trying|suggest|propose|want|wants|wanted|asked|asking|wonder|whether|probably|possibly"
    r"|think|thinking|thought|considering|tempted|almost|nearly)\b",
    re.IGNORECASE,
)
MOVED = (
    r"(?:moved|pushed|postponed|shifted|rescheduled|delayed|deferred|brought|bumped|put|changed"
    r"|extended|switched|slipped|rebooked|rearranged|adjourned)"
)
WAY = r"(?:\s(?:back|forward|out|over|up|off|again|on)){0,2}"
THING = r"(?P<what>(?:the|our|my|their|his|her)\s[\w'-]{2,30}(?:\s[\w'-]{2,30}){0,3}?)"
GAP = r"(?:\s*[!.,:;–-]+\s*|\s+)(?:on\s)?(?:the\s)?$"
MOVED_TO = (
    # Reads "they moved it! 28 Nov", "they pushed the audit to the 27th".
    re.compile(
        rf"\b(?:they|we|i|he|she)(?:['’]ve|\shave|\shas|\shad\sto|['’]re)?(?:\s(?:just|now|all))?\s"
        rf"(?:{MOVED}|moving|pushing|postponing|shifting|rescheduling|putting|move|push|postpone"
        rf"|reschedule|shift|put)\s(?:it|that|this|everything|things|{THING}){WAY}"
        rf"(?:\s(?:to|until|till|for))?{GAP}",
        re.IGNORECASE,
    ),
    # Reads "it's been pushed to the 3rd", "got postponed until May", "moved to Thursday"
    re.compile(
        rf"(?:\b(?:it|that|this)(?:['’]s|\sis|\swas|\shas|\sgot|\sgets)?(?:\sbeen|\snow|\sjust){{0,2}}"
        rf"|\b(?:got|been|now)|(?:^|[.!?,;:\n])\s*(?:ok(?:ay)?,?\s|so\s|and\s|update:\s)?)\s?"
        rf"{MOVED}{WAY}\s(?:to|until|till|for){GAP}",
        re.IGNORECASE,
    ),
    # Reads "new date: 18 April" and "the deadline is now the 3rd".
    re.compile(
        r"\b(?:new|revised|updated|final|next|latest|replacement)\s(?P<due>date|day|deadline"
        rf"|due\sdate|appointment|slot|try|attempt)(?:\sis|\swill\sbe|['’]s|\swould\sbe)?{GAP}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:the\s|our\s)?(?P<due>date|deadline|due\sdate)(?:['’]s|\sis|\swas|\shas\sbeen|\sgot)"
        rf"\s(?:now|{MOVED}{WAY}(?:\sto|\suntil|\still)){GAP}",
        re.IGNORECASE,
    ),
    # Reads "make that Thursday", "let's make it the 4th", "it's now on the 9th"
    re.compile(rf"\bmake\s(?:it|that){GAP}", re.IGNORECASE),
    re.compile(
        r"\b(?:it|that)(?:['’]s|\sis|['’]ll\sbe|\swill\sbe)\s(?:now|actually)"
        rf"(?:\son|\sfor|\sgoing\sto\sbe)?{GAP}",
        re.IGNORECASE,
    ),
    # Reads "a week later, 19 June".
    re.compile(
        rf"\b(?:a|one|two|three|four|\d{{1,2}})\s(?:day|week|month)s?\s(?:later|earlier)\b{GAP}",
        re.IGNORECASE,
    ),
)
LIMIT = re.compile(r"(?:until|till|to)\s", re.IGNORECASE)
NOW_ON = re.compile(
    r"\b(?:it|that)(?:['’]s|\sis|['’]ll\sbe|\swill\sbe)\s(?:on\s|for\s)?(?:the\s)?$", re.IGNORECASE
)
CHOSEN = re.compile(r"\s?(?:it\sis(?:\sthen)?|instead|then)\s*(?:[.,!;)–-]|$)", re.IGNORECASE)
NOW_AFTER = re.compile(r"\s(?:now|instead|after\sall)\b", re.IGNORECASE)
ONLY_DATE = re.compile(
    r"\W*(?:(?:ok|okay|right|so|alright|good\snews|great\snews|update|news|finally|well|and|now|new"
    r"\splan|next\stry|take\stwo|second\stry)\b[\s.,:!–-]*){0,3}(?:on\s)?(?:the\s)?$",
    re.IGNORECASE,
)
AT_PLACE = re.compile(
    r",?\s(?:(?:this\stime|now|still|instead)\s)?(?:at|in)\s(?:the\s|our\s)?"
    r"(?P<place>[A-Za-z][\w'’&-]*(?:\s[A-Za-z][\w'’&-]*){0,3}?)"
    r"(?=\s*(?:[.,!;?)–(]|$|\sinstead|\s(?:and|with|from|at|because|since|for|this)\b))",
)
NO_PLACES = frozenset(
    """morning afternoon evening night noon midnight lunch lunchtime ours mine yours theirs home
    least last once all first one two three four five six seven eight nine ten eleven twelve
    half""".split()
)
VENUE = re.compile(
    r"\b(?:venue|location)\b(?:[^.!?\n]{0,25}?(?:['’]s|\sis|:|\s[–-]))\s?(?:now\s)?(?:at\s|in\s)?"
    r"(?:the\s)?(?P<place>[A-Z][\w'’&-]*(?:\s[A-Z][\w'’&-]*){0,3})"
)
SHIFT = re.compile(
    rf"\b(?:{MOVED}|make|is|['’]s|be|it|now|we|by|delay\sof|back|so)(?:\s\w{{1,10}}){{0,2}}?\s"
    r"(?P<count>a|an|one|two|three|four|\d{1,2})\s(?P<unit>day|week)s?\s(?P<way>later|earlier)\b",
    re.IGNORECASE,
)
SHIFT_BY = re.compile(
    rf"\b(?P<verb>{MOVED})(?:\s(?:it|that|this|everything|things))?{WAY}(?:\sby)?\s"
    r"(?P<count>a|an|one|two|three|four|\d{1,2})\s(?P<unit>day|week)s?\b",
    re.IGNORECASE,
)
EARLIER = re.compile(r"\bbrought\b|\bforward\b|\bearlier\b", re.IGNORECASE)
COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
DAYS = {"day": 1, "week": 7}
OFF = (
    r"(?:off(?=\s*(?:[.,!;:)…–\n-]|$|\s(?:now|then|sadly|again|unfortunately|because|since|until"
    r"|for\sgood|the\stable|i['’]m\safraid)))|cancell?ed|called\soff|scrapped|dead|not\shappening"
    r"|not\sgoing\s(?:ahead|to\shappen)|no\slonger\s(?:happening|going\sahead|on)|on\shold|axed"
    r"|fallen\sthrough|shelved|postponed(?!\s(?:to|until|till|by|from))|indefinitely\s\w+)"
)
CALLED_OFF = (
    re.compile(
        r"\b(?:it|that|this|everything|the\s(?:whole\s)?(?:thing|plan|trip|event|date))"
        rf"(?:['’]s|\sis|\swas|\shas|\sgot|\sis\sall)(?:\s(?:all|been|now|just)){{0,2}}\s{OFF}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bit(?:\swon['’]t\sbe|\sisn['’]t|['’]s\snot|\sis\snot)\s(?:happening|going\sahead|taking"
        r"\splace)\b|\bit\s(?:won['’]t|is\snot\sgoing\sto|isn['’]t\sgoing\sto)\shappen\b"
        r"|\bit\s(?:fell|has\sfallen)\sthrough\b|\bdate(?:['’]s|\sis|\shas)?\sgone\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:we|they|i|he|she)(?:['’]ve|\shave|\shas|['’]re|['’]m)?(?:\s(?:had\sto|have\sto|just"
        r"|now|decided\sto)){0,2}\s(?:cancel|cancell?ed|cancell?ing|call|called|calling|scrap"
        r"|scrapped|drop|dropped)\s(?:it|that|the\s(?:whole\s)?thing)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bwe(?:['’]re|\sare)\snot\s(?:going|doing\s(?:it|that))\s(?:after\sall|any\s?more)\b"
        r"|\bnot\sgoing\safter\sall\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|[.!?,;:\n]\s*)(?:(?:so|and|but|sadly|sorry|ok|unfortunately|update)[,:]?\s)?"
        rf"(?P<what>(?:(?:the|our|my)\s)?[\w'-]{{2,30}}?(?:\s[\w'-]{{2,30}}){{0,2}}?)"
        rf"(?:['’]s|\sis|\sare|\sgot|\swas|\shas\sbeen|['’]s\sbeen)\s{OFF}",
        re.IGNORECASE,
    ),
)
CANCEL_HINTS = (  # every match of the patterns above contains one of these
    *("off", "cancel", "scrap", "happen", "ahead", "dead", "hold", "through", "axed", "shelved"),
    *("postponed", "gone", "drop", "call", "not ", "indefinitely", "no longer", "taking"),
)
PROPOSAL = re.compile(
    r"\b(?:how\sabout|what\sabout|how['’]?s|how\sis|how\sdoes|does|would|could\swe|shall\swe|can\swe"
    r"|should\swe|is|are\syou\sfree|you\sfree|free)\b",
    re.IGNORECASE,
)
ACCEPTED = re.compile(
    r"\W*(?:yes|yep|yeah|yup|perfect|works|that\sworks|sounds\s(?:good|great|perfect)|deal|great"
    r"|fine|lovely|let['’]s\sdo|ok|okay|sold|agreed|sure|we['’]re\sin|i['’]m\sin|count\sus\sin|good)\b",
    re.IGNORECASE,
)
DECLINES = re.compile(r"\b(?:but|can['’]t|cannot|no|not|n['’]t|unless|if)\b", re.IGNORECASE)


def find_follow_ups(
    message: SourceMessage,
    text: str,
    dates: Sequence[DateSpan],
    recent: Sequence[SourceMessage],
) -> Iterator[FollowUp]:
    """Yield what a message says about a plan that it does not name, or names by one word."""
    if len(text) > MAX_TEXT_CHARACTERS:
        return
    ahead = [each for each in dates if each.until > message.at and each.precision in PRECISIONS]
    moved = [found for span in ahead if (found := _read_date(text, span, ahead))]
    yield from moved[:1]
    if not moved:
        if not ahead and (shifted := _read_shift(text)):
            yield shifted
        yield from _read_cancelled(text)
        if accepted := _read_accepted(text, recent, message.at):
            yield accepted
    for match in VENUE.finditer(text):
        if not _is_unsure(text, match.start(), match.end()):
            yield FollowUp(sentence=_sentence(text, *match.span()), place=match["place"])


def _read_date(text: str, span: DateSpan, ahead: Sequence[DateSpan]) -> FollowUp | None:
    """Return the move to a date: "new date: 18 April"."""
    start = span.start
    before, after = text[max(0, start - MAX_BEFORE) : start], text[span.end : span.end + MAX_AFTER]
    if limit := LIMIT.match(span.text):  # "until" belongs to the date
        before += limit.group()
    if _is_unsure(text, start, span.end):
        return None
    found = next((match for each in MOVED_TO if (match := each.search(before))), None)
    groups = found.groupdict() if found else {}
    is_now = NOW_ON.search(before) and NOW_AFTER.match(after)
    is_only = len(ahead) == 1 and _is_only_date(text, span)
    if not (found or is_now or is_only or CHOSEN.match(after)):
        return None
    place = AT_PLACE.match(after)
    named = place["place"] if place else ""
    return FollowUp(
        sentence=_sentence(text, start, span.end),
        what=_plan_words(groups.get("what")),
        day=format_date(span),
        since=span.since if span.relation is DateRelation.IN else None,
        place=named if named.split(" ")[0].lower() not in NO_PLACES and named else None,
        is_due="dead" in (groups.get("due") or "").lower() or "due" in (groups.get("due") or ""),
        needs_gap=is_only and not found and not is_now and not CHOSEN.match(after),
    )


def _is_only_date(text: str, span: DateSpan) -> bool:
    """Return whether a sentence has only a date and perhaps a place: "22 August, at the mill"."""
    bounds = [match.end() for match in END.finditer(text, 0, span.start)]
    before = text[bounds[-1] if bounds else 0 : span.start]
    after = text[span.end : span.end + MAX_AFTER]
    place = AT_PLACE.match(after)
    rest = after[place.end() if place else 0 :].lstrip()
    return bool(ONLY_DATE.fullmatch(before)) and (not rest or rest[0] in ".!\n")


def _read_shift(text: str) -> FollowUp | None:
    """Return the move by some days: "a week later", "pushed it back by two days"."""
    match = SHIFT.search(text) or SHIFT_BY.search(text)
    if match is None or _is_unsure(text, *match.span()):
        return None
    count = match["count"].lower()
    days = (COUNTS.get(count) or int(count)) * DAYS[match["unit"].lower()]
    sign = -1 if EARLIER.search(match.group()) else 1
    return FollowUp(sentence=_sentence(text, *match.span()), shift=timedelta(days=sign * days))


def _read_cancelled(text: str) -> Iterator[FollowUp]:
    """Yield the end of a plan: "it's off", "we called it off", "dinner's off"."""
    lowered = text.lower()
    if not any(hint in lowered for hint in CANCEL_HINTS):
        return
    for pattern in CALLED_OFF:
        match = pattern.search(text)
        if match is None or _is_unsure(text, *match.span()):
            continue
        what = _plan_words(match.groupdict().get("what"))
        yield FollowUp(sentence=_sentence(text, *match.span()), what=what, is_cancelled=True)
        return


def _read_accepted(text: str, recent: Sequence[SourceMessage], at: datetime) -> FollowUp | None:
    """Return the date that the message before proposes and this one accepts."""
    last = recent[-1] if recent else None
    if last is None or not ACCEPTED.match(text) or DECLINES.search(text[:MAX_AFTER]):
        return None
    if not last.text.rstrip().endswith("?") or len(last.text) > MAX_TEXT_CHARACTERS:
        return None
    question = END.split(last.text.rstrip().rstrip("?"))[-1]
    dates = [each for each in find_dates(question, last.at) if each.until > at]
    if len(dates) != 1 or dates[0].precision not in PRECISIONS or not PROPOSAL.search(question):
        return None
    return FollowUp(
        sentence=text[:MAX_BEFORE].strip(),
        day=format_date(dates[0]),
        since=dates[0].since,
        needs_gap=True,
    )


def _plan_words(words: str | None) -> str | None:
    """Return the words that name a plan without their article; None for "it"."""
    named = re.sub(r"^(?:the|our|my|their|his|her)\s", "", (words or "").strip().lower())
    generic = ("it", "that", "this", "date", "deadline", "whole thing", "thing", "day", "plan")
    return None if not named or named in generic else named


def _sentence(text: str, start: int, end: int) -> str:
    """Return the sentence around a part of a text."""
    first = max((match.end() for match in END.finditer(text, 0, start)), default=0)
    last = END.search(text, end)
    return text[first : last.end() if last else len(text)].strip()


def _is_unsure(text: str, start: int, end: int) -> bool:
    """Return whether the sentence asks, wishes or supposes."""
    sentence = _sentence(text, start, end)
    return sentence.endswith("?") or UNSURE.search(sentence) is not None
