"""Closing cues: what a message says about the end of a task, such as "done" or "never mind". Pure.

A cue counts only in a plain statement: not in a question, condition, negation or plan, and not if
the thing is only half done. Every pattern is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path

from ...core.records.landmark_status import LandmarkStatus, plain_terms
from ...text.terms import extract_terms

MAX_DIVISIONS = 4  # words "and" of a clause that may divide it
MAX_CHARS = 2_000  # of a message; a longer one is no report of a task
# "Last" alone is about the past.
AT_LAST = re.compile(r"\bat (?:long )?last\b|\b(?:late )?last night\b", re.IGNORECASE)
SINCE = re.compile(r"\bsince\b.*", re.DOTALL)  # "ready since October"
CONDITION = re.compile(
    r"\W*(?:if|unless|once|when|whenever|until|in case|as soon as)\b", re.IGNORECASE
)
SENTENCE = re.compile("[^.!?…\n\U0001f300-\U0001faff]+[.!?…\U0001f300-\U0001faff]*")
CLAUSE_END = re.compile(r"[,;]\s|\s[–—-]\s|\bbut\b|\bso\b|\bbecause\b", re.IGNORECASE)
AND = re.compile(r"\band\b|&", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
CHECK_MARK = re.compile("[\u2705\u2714\u2611\u2713]|(?:^|[\\s*-])\\[[xX]\\](?=\\s|$)")

BLOCKING_WORDS = frozenset(
    """not never no nobody nothing none neither nor cannot without hardly barely if unless once
    until till when whenever whether suppose supposed assuming will would shall should must could
    might may can gonna wanna need needs want wants hope hoping wish plan planning try trying tried
    half partly partially almost nearly mostly wrong failed last ago think thought believe guess
    maybe perhaps probably possibly tomorrow later soon next let lets let's please remind reminder
    keep stay remember promise halfway progress start started working work to-be yet""".split()
)
QUESTION_WORDS = frozenset("who what where why how which whose anyone anybody".split())
AUXILIARIES = frozenset(
    "is are was were am has have had did do does can could will would should".split()
)
SUBJECTS = frozenset(  # after an auxiliary verb at the beginning, they make a question
    """i you he she it we they the a an this that these those my your our his her their anyone
    anybody someone somebody everyone""".split()
)
DETERMINERS = frozenset("a an the my your our his her their some".split())  # "a fixed price"
MIN_PAST_CHARS = 3
MAX_BARE_WORDS = 3  # of a report with a verb that is not in `verbs.txt`: "Varnished!"
FIRST_PERSON = frozenset("i i've i'm my mine".split())
DEADLINE = re.compile(
    r"\bby (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tonight|noon|eod|(?:the )?(?:end|\d))",
    re.IGNORECASE,
)
DONE_IDIOM = re.compile(
    r"\b(?:well|so|than|harm) done\b|\bdone (?:deal|for (?:today|now|the day)|here)\b|\bgot \w+ed\b"
    r"|\bgot paid\b",
    re.IGNORECASE,
)
PERCENT = re.compile(r"(?<!\d)(\d{1,3}) ?%")
BE = r"\b(?:is|are|was|were|been|they're|[a-z]+'s)\s+(?:all\s+|now\s+|finally\s+|already\s+){0,2}"
READY_STATE = re.compile(
    rf"(?:{BE}|\ball\s+)(?:done|ready|set|sorted|finished|complete|completed|through|settled)\b"
)
DELIVERED_STATE = re.compile(
    rf"(?:{BE}|^\W*(?:\w+\s+){{1,4}})(?P<where>in|on|at|with)\s+(?:the|your|my|our)\s+"
    r"(?:\w+\s+)?"
    r"(?:drive|folder|inbox|mail|post|repo|repository|wiki|calendar|desk|table|channel|thread|site|website"
    r"|server|fridge|box|tracker|board|share|cloud|portal|letterbox|mailbox|pigeonhole|doc"
    r"|document|sheet|spreadsheet|ticket|group|chat|dropbox|sharepoint|system|oven|freezer|boot"
    r"|shelf|printer|bag|garage|shed|cellar|office|door|pile|hallway|kitchen|lawyer|accountant|notary|client)\b"
)
PUBLISHED_STATE = re.compile(rf"{BE}(?:live|out|up|online)\b")
PUBLISHING_VERBS = (
    "send publish deploy release write create make update install fix post launch upload share"
    " hang mount do print announce list invite set"
)
# What is true after a task: the paint is here, so it was ordered.
ARRIVED_STATE = re.compile(
    r"\b(?:has|have|'s|is|are)\s+(?:all\s+|just\s+|now\s+|finally\s+){0,2}(?:arrived|come|here"
    r"|landed|delivered|turned up)\b|\barrived (?:today|yesterday|this morning)\b"
)
ARRIVING_VERBS = "order buy get send deliver ship post bring fetch collect pick organise arrange"
BACK_STATE = re.compile(rf"(?:{BE}|'s\s+)back (?:at|in|on|with|to|where)\b")
RETURNING_VERBS = "return give bring take put"
VALID_STATE = re.compile(
    r"\b(?:good|valid|paid|runs|covered|safe) (?:until|till|through|for (?:another|the next))\b"
)
RENEWING_VERBS = "renew extend pay book"
AFTER_STATES = (
    (PUBLISHED_STATE, PUBLISHING_VERBS),
    (ARRIVED_STATE, ARRIVING_VERBS),
    (BACK_STATE, RETURNING_VERBS),
    (VALID_STATE, RENEWING_VERBS),
)
# Verbs whose past form does not say that a thing is finished: "the model is delayed".
UNFINISHED_VERBS = (
    "delay postpone move lose miss break reject refuse need want expect plan start request discuss"
    " mention forget change damage schedule promise stop block fail cancel pause drop open decline"
    " question use like love add push shift rush hurry worry tear crack ruin bore tire confuse"
)
WEAK_VERBS = (
    "ask tell inform notify start find see go take leave meet read check review plan schedule"
    " arrange call talk speak visit add change get grab record ring phone"
)
IDIOMATIC_VERBS = "get see find take leave go meet change add start"  # "got it", "found it"
DONE_WORDS = frozenset("done finished completed sorted handled accomplished shipped".split())
DONE_PHRASE = re.compile(
    r"\b(?:taken care of|took care of|went out|gone out|all set|ticked off|checked off|crossed off"
    r"|off (?:my|the|our) list|wrapped up|signed off|good to go|went off|gone off|sent off"
    r"|handed in|handed over|turned in|went in|dealt with|squared away|done and dusted|in the bag"
    r"|job done|all yours|on (?:its|their) way|in the post|in the mail)\b"
)
DONE_HINTS = DONE_WORDS | frozenset(  # one of them is in every match of the patterns above
    """ready set complete through settled care out live up online off wrapped go drive folder inbox
    mail post repo wiki calendar desk table channel thread site website server fridge box tracker
    board share cloud portal letterbox mailbox pigeonhole doc document sheet spreadsheet ticket
    group chat dropbox sharepoint system oven freezer boot shelf printer bag garage shed cellar
    office lawyer accountant notary client repository in over with away dusted yours way arrived
    come here landed delivered turned door pile hallway kitchen job back good valid paid runs
    covered safe""".split()
)
CANCEL_HINTS = frozenset(  # one of them is in every match of the patterns below
    """mind nevermind nvm back forget longer more anymore all bother about need needn't have cancel
    drop ignore scratch scrap skip ditch disregard against decided cancelled canceled called
    scrapped off""".split()
)
LEAD = (
    r"^\W*(?:(?:ok|okay|oh|ah|hm|actually|please|just|well|sorry|then|no|yes|lets|let's|you can"
    r"|we can|hey|alright)\W+)*"
)
CANCELLED = (
    re.compile(r"\b(?:never ?mind|nvm|(?:take|took) (?:it|that) back)\b"),
    re.compile(rf"{LEAD}forget\s+(?:about\b|it\b|that\b|this\b|the\b|what\b)(?!\s+to\b)"),
    re.compile(r"\bno longer (?:relevant|wanted|need|doing|going|happening)\b"),
    re.compile(r"(?:\bnot\b|n't\b)[^.!?]{0,60}?\b(?:any ?more|after all)\b"),
    re.compile(rf"{LEAD}(?:cancel|drop|ignore|scratch) (?:that|this|it)\b"),
    re.compile(rf"{LEAD}scratch (?:the|my) \w+(?: \w+)?\W*$"),
    re.compile(rf"{LEAD}cancel (?:the|my) (?:reminder|request|task|todo)\b"),
    re.compile(rf"{LEAD}(?:scrap|skip|ditch|disregard) (?:that|this|it|the|my)\b"),
    re.compile(r"\b(?:decided against|decided not to)\b"),
)
DECLINED = re.compile(
    r"\b(?:don't|do not) (?:bother|worry about)\b|\bno need\b|\bneedn't\b"
    r"|\byou (?:don't|do not) (?:have|need) to\b|\bno longer (?:needed|necessary|required)\b"
)
CANCELLED_STATE = re.compile(
    r"(?<!not )(?<!n't )(?<!never )(?<!n't been )(?<!not been )"
    r"\b(?:cancelled|canceled|called off|scrapped|is off|are off)\b"
)
CANCEL_BLOCKS = frozenset(
    """if unless once whether might may could should would think thought maybe perhaps probably
    when until""".split()
)
AFFIRMATIVE = re.compile(
    r"^\W*(?:yes|yep|yeah|yup|aye|of course|sure did|i did|just did|did it|indeed)\b"
)
MAX_AFFIRMATIVE_WORDS = 5
FILLER_WORDS = (
    "just already finally now also all everything thing things it that this them these those one"
    " ones quick update fyi btw guys everyone everybody team folks mate dear sir great good nice"
    " well done finished completed complete ready live out up online set sorted handled sent off"
    " cool yay hooray phew so too right actually sorry no never mind nvm forget about need needed"
    " longer bother worry cancel cancelled canceled called scrap scrapped skip ditch drop ignore"
    " disregard scratch decided against anymore more any after let lets let's took taken care"
    " wrapped ticked checked crossed list mine yours i'd we'd it's they're that's don't doesn't"
    " isn't aren't won't have to go gone went today we're you're he's she's found got does anyway"
    " take took back instead whole entire stack pile lot bunch batch rest half day morning evening"
    " afternoon hired bought thanks thank cheers lads folks here arrived come turned valid"
    " good another two three years months weeks since early late went"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingCue:
    """One statement that something ended."""

    status: LandmarkStatus
    terms: frozenset[str]  # what ended; empty: the message does not say it
    verbs: frozenset[str] = frozenset()  # terms of the verbs that the statement may answer
    is_general: bool = False  # "done", a check mark: it may answer any task
    sentence: str = ""
    is_own: bool = False  # the speaker did it: "I sent the report"
    is_declined: bool = False  # "no need": it answers an offer, and takes back nothing

    @property
    def is_bare(self) -> bool:
        return not self.terms


def find_cues(text: str) -> list[ClosingCue]:
    """Return the statements of a message that something is done or cancelled."""
    if len(text) > MAX_CHARS:
        return []
    cues: list[ClosingCue] = []
    for line in AT_LAST.sub("finally", text.replace("’", "'")).splitlines():
        if not line.lstrip().startswith(">"):  # a quotation
            cues += _cues_of_line(line)
    return cues


def _cues_of_line(line: str) -> Iterator[ClosingCue]:
    for sentence in SENTENCE.findall(line):
        if sentence.rstrip().endswith("?"):
            continue
        if CHECK_MARK.search(sentence):
            plain = CHECK_MARK.sub(" ", sentence)
            yield ClosingCue(
                status=LandmarkStatus.DONE, terms=_topic(plain), is_general=True, sentence=sentence
            )
            continue
        clauses = list(_split_clauses(sentence))
        if any(CONDITION.match(clause) for clause in clauses):
            continue
        for clause in clauses:
            cue = _read_cancelled(clause) or _read_done(clause)
            if cue:
                yield replace(cue, sentence=sentence)


def _split_clauses(sentence: str) -> Iterator[str]:
    """Yield the clauses; "and" divides only if the second part is a statement of its own."""
    for part in CLAUSE_END.split(sentence):
        before, after = part, ""
        for match in islice(AND.finditer(part), MAX_DIVISIONS):
            rest = part[match.end() :]
            if _is_statement(rest):
                before, after = part[: match.start()], rest
                break
        yield from (each for each in (before, after) if each.strip())


def _is_statement(text: str) -> bool:
    return bool(_is_blocked(_words(text)) or _read_done(text) or _read_cancelled(text))


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _is_blocked(words: list[str]) -> bool:
    """Return whether words make a clause a negation, a condition, a plan or a partial report."""
    return _is_question(words) or any(
        word in BLOCKING_WORDS or word.endswith(("n't", "'ll", "'d")) for word in words
    )


def _is_question(words: list[str]) -> bool:
    """Return whether a clause without a question mark has the word order of a question."""
    if not words or words[0] in QUESTION_WORDS:
        return True
    return words[0] in AUXILIARIES and len(words) > 1 and words[1] in SUBJECTS


def _read_done(clause: str) -> ClosingCue | None:
    words = _words(clause)
    has_hint = not DONE_HINTS.isdisjoint(words)
    if not (has_hint or any(map(past_verb, words))) or _is_blocked(words):
        return None
    if DONE_IDIOM.search(clause) or DEADLINE.search(clause):
        return None
    if any(int(share) != 100 for share in PERCENT.findall(clause)):
        return None
    lower = clause.lower()
    delivered = DELIVERED_STATE.search(lower)
    is_general = bool(
        delivered
        or READY_STATE.search(lower)
        or DONE_PHRASE.search(lower)
        or not DONE_WORDS.isdisjoint(words)
    )
    said = [word for before, word in pairwise(["", *words]) if before not in DETERMINERS]
    said = [word for word in said if past_verb(word)]
    end = delivered.start("where") if delivered else len(lower)
    if back := BACK_STATE.search(lower):
        end = back.start()
    topic = _topic(SINCE.sub("", lower[:end]))
    topic = topic.difference(*map(extract_terms, said))
    if not topic:
        said = [word for word in said if _is_clear_alone(past_verb(word), len(words))]
    verbs = frozenset[str]().union(*map(past_verbs, said))
    for state, done_by_it in AFTER_STATES:
        if state.search(lower):
            verbs |= _terms_of(done_by_it)
    if not is_general and not verbs:
        return None
    return ClosingCue(
        status=LandmarkStatus.DONE,
        terms=topic,
        verbs=verbs,
        is_general=is_general,
        is_own=not FIRST_PERSON.isdisjoint(words),
    )


def _is_clear_alone(verb: str | None, words: int) -> bool:
    """Return whether a verb without an object may report a task: "got it" does not."""
    is_known = verb in load_verbs().groups
    return verb not in _idiomatic_terms() and (is_known or words <= MAX_BARE_WORDS)


def _read_cancelled(clause: str) -> ClosingCue | None:
    lower, words = clause.lower(), _words(clause)
    if CANCEL_HINTS.isdisjoint(words) or not CANCEL_BLOCKS.isdisjoint(words):
        return None
    if _is_question(words):
        return None
    is_state = bool(CANCELLED_STATE.search(lower)) and "will" not in words
    is_declined = bool(DECLINED.search(lower))
    if not (is_state or is_declined or any(each.search(lower) for each in CANCELLED)):
        return None
    return ClosingCue(
        status=LandmarkStatus.CANCELLED,
        terms=_topic(lower),
        is_general=True,
        is_declined=is_declined,
    )


def is_plain_statement(text: str) -> bool:
    """Return whether a text neither asks nor asks back in its first sentence."""
    first = SENTENCE.search(text)
    return first is not None and not first.group().rstrip().endswith("?")


def last_question(text: str) -> str:
    """Return the last sentence that ends with a question mark; "" if there is none."""
    sentences = SENTENCE.findall(text[:MAX_CHARS])
    return next((each for each in reversed(sentences) if each.rstrip().endswith("?")), "")


def is_affirmative(text: str) -> bool:
    """Return whether a message only says yes: it may answer "did you send it?"."""
    words = _words(text)
    return len(words) <= MAX_AFFIRMATIVE_WORDS and bool(AFFIRMATIVE.match(text.lower()))


def _topic(text: str) -> frozenset[str]:
    return plain_terms(text) - _filler_terms()


def topic_of(text: str) -> frozenset[str]:
    """Return the terms of a text that may name a task."""
    return _topic(text.replace("’", "'"))


@lru_cache(maxsize=8)
def _terms_of(words: str) -> frozenset[str]:
    return frozenset(extract_terms(words))


@lru_cache(maxsize=1)  # the stemmer is loaded on first use
def _filler_terms() -> frozenset[str]:
    return frozenset(extract_terms(FILLER_WORDS))


# -- verbs


@dataclass(frozen=True, slots=True)
class TaskVerbs:
    """Verbs of tasks in groups of synonyms."""

    groups: Mapping[str, frozenset[str]]  # term of a base form → terms of its synonyms
    irregular: Mapping[str, str]  # past form → term of its base form


@lru_cache(maxsize=1)
def load_verbs() -> TaskVerbs:
    """Read `verbs.txt`."""
    groups: dict[str, frozenset[str]] = {}
    irregular: dict[str, str] = {}
    path = Path(__file__).with_name("verbs.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        terms = []
        for entry in line.split():
            base, *past = entry.split("/")
            (term,) = extract_terms(base)
            terms.append(term)
            irregular.update(dict.fromkeys(past, term))
        for term in terms:
            groups[term] = groups.get(term, frozenset()).union(terms)
    return TaskVerbs(groups, irregular)


def past_verb(word: str) -> str | None:
    """Return the term of the base form if a word may be a past form."""
    base = load_verbs().irregular.get(word)
    if base is None and len(word) > MIN_PAST_CHARS and word.endswith("ed"):
        base = "".join(extract_terms(word))
    return base


def past_verbs(word: str) -> frozenset[str]:
    """Return the terms of the base form and its synonyms if a word may be a past form."""
    base = past_verb(word)
    return frozenset() if base is None else load_verbs().groups.get(base, frozenset()) | {base}


def task_verbs(terms: frozenset[str]) -> frozenset[str]:
    """Return the terms that are known verbs of tasks."""
    return terms & load_verbs().groups.keys()


def completing_verbs(terms: frozenset[str]) -> frozenset[str]:
    """Return the verbs that complete a thing: "asked for the quote" does not."""
    return terms - _weak_terms() - _terms_of(UNFINISHED_VERBS)


@lru_cache(maxsize=1)
def _weak_terms() -> frozenset[str]:
    return frozenset(extract_terms(WEAK_VERBS))


@lru_cache(maxsize=1)
def _idiomatic_terms() -> frozenset[str]:
    return frozenset(extract_terms(IDIOMATIC_VERBS))
