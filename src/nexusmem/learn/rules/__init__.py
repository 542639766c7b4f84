"""Rule-based extraction: entities, facts, identities and landmarks from one message.

Deterministic and free of model calls. A dependency parser gives each sentence its tree; `grammar`
turns it into clauses; `facts` and `landmarks` read them with a table of relations; `lines` reads
lists of notes and `values` exact values. The rules skip what they cannot read surely: the message
stays searchable as a passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ...core.canonical import LATEST
from ...core.records.landmarks import LandmarkKind
from ...text.dates import DatePrecision, DateSpan, VerbTense, find_dates
from ...text.parser.parse import parse_each
from ...text.parser.sentence import Sentence
from .coreference import Speakers
from .entities import find_entities, find_files
from .facts import FactReader
from .follow_ups import find_follow_ups
from .grammar import Clause, Tense, Tree, read_clauses
from .instructions import SpeakerPolicy
from .landmarks import LandmarkReader
from .lexicon import KIN
from .lines import cover, read_note_lines
from .noise import (
    find_foreign_names,
    is_english,
    is_junk,
    is_machine_output,
    mask_other_speakers,
    mask_quoted_text,
    mask_spans,
    secret_spans,
)
from .relations import STATE_RELATIONS, identity_from_fact
from .results import (
    Entity,
    ExtractionResult,
    FollowUp,
    Identity,
    Landmark,
    MessageContext,
    SourceMessage,
    Statement,
    StatementTense,
    TextSpan,
)
from .tokens import tokenize
from .values import ValueReader

__all__ = [
    "ExtractionResult",
    "MessageContext",
    "ParsedTexts",
    "Parser",
    "SourceMessage",
    "extract",
]

MAX_GAP_CHARACTERS = 3  # between two sentences
RECENT_DAYS = 45  # a day without a year that passed since then is meant
MAX_SENTENCES = 600  # of a message that are read
MIN_SENTENCE_WORDS = 2  # shorter ones say nothing: "Thanks"
MAX_MESSAGE_CHARACTERS = 20_000  # text beyond this limit becomes passages and is not read for facts
PLAN_VERBS = frozenset(
    """decide agree plan promise schedule postpone reschedule push book set arrange expect want hope
    need intend slip commit""".split()
)
SHIFT_VERBS = frozenset(["move", "shift", "push", "slip"])  # "the demo moved to May 18"
PHASE_VERBS = frozenset("start begin stop quit finish cease".split())
REPORT_WORDS = re.compile(
    r"\b(?:ago|last|yesterday|was|were|since|born|died|expired|bought)\b", re.IGNORECASE
)
MAX_LABEL_CHARACTERS = 60
NEW_DATE = re.compile(  # "we got an extension, new deadline 13 March", "they moved it to the 3rd"
    r"\b(?:(?:new|next|revised) (?:date|deadline|due date|appointment)(?: is)?\s*[:–-]?"
    r"|(?:moved|pushed|postponed|shifted|rescheduled|delayed|deferred|extended|bumped|put|changed"
    r"|brought)(?: [\w'-]{1,20}){0,4} (?:to|until|till))\s*(?:on |the ){0,2}\Z",
    re.IGNORECASE,
)
SARCASM = re.compile(  # the whole message is not meant
    r"\boh (?:great|sure|wonderful|joy)\b|🙄|🙃|(?<!not )(?<!no )\bkidding\b|\bjk\b"
    r"|(?<!\S)/s(?=\W*$)|\bthought experiment\b|\bhypothetical(?:ly)?\b"
    r"|\bthinking out loud\b|^\W*what if\b"
    r"|(?:^|[.!?\n])\W*(?:just )?(?:imagine|suppose|supposing|assume|assuming)\b"
    r"|\bassum(?:e|ing) (?:that )?\w+ (?:is|works?|has)\b|\blet['’]s say\b",
    re.IGNORECASE,
)
LYRICS = re.compile(r"[🎵🎶🎤🎸]")

FILLERS = re.compile(
    r"\b(?:fwiw|btw|by the way|fyi|tbh|imo|imho|lol|lmao+|haha+|hehe+|omg|um+|uh+|ngl|pls|plz"
    r"|heads up(?: that)?|reminder(?: that|:)|for context:|"
    r"just so it['’]s in the chat:|quick one|fun fact:|update:|psa:|note to self:?|to be"
    r" honest|(?:please )?(?:keep in mind|remember|note) that|as you know|as some of you know"
    r"|for the records?:)(?!\w),?"
    r"|[,(] ?(?:aka|a\.k\.a\.|also known as) [A-Z]\w+[,)]?",
    re.IGNORECASE,
)
EMOJI = re.compile(
    r"(?<=[\w)\"'’] )(?!❤)[\U0001F300-\U0001FAFF\u2600-\u27BF][\U0001F300-\U0001FAFF\u2600-"
    r"\u27BF\uFE0F\u200D ]*|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+"
)

SPLICE = re.compile(
    r"(?P<mark>,|[-–;](?=\s))\s+(?=(?:i|he|she|it|we|they|there|that|please|don['’]?t)(?:['’](?:s|m|re|ll|ve|d)\b|\s+(?:is|was|are|am|has|have|had|will|won['’]t|can|can['’]t|do|don['’]t|did|take|stop|keep|use|put|\w+s)\b))",
    re.IGNORECASE,
)
NAME_SPLICE = re.compile(
    r"(?P<mark>,|[-–;](?=\s))\s+(?=(?:[A-Z][\w'’-]+|(?:the|my|our) [a-z]+)\s+(?:is|isn['’]t"
    r"|was|are|will|won['’]t|can|can['’]t|has|hasn['’]t|does|doesn['’]t|takes|wants|works"
    r"|starts|gets|needs|runs|goes|comes|moves|leaves|joins|covers|likes|prefers|loves|lives"
    r"|eats|stays|keeps)\b)"
)
# A label before a sentence: "Correction to the notes: Solvaris has …"; not "he told me: …".
LABEL_COLON = re.compile(
    r"(?P<label>(?:^|(?<=[.!?\n]))(?![^:\n]*\b(?:said|says?|saying|told|wrote|writes|asked|quote|says|goes|like)\b)[^:.!?\n]{3,60}):(?=\s+(?:[A-Z][\w'-]+|I|we|the|it|he|she|they|you|my|our)\s+\w)"
)
WRITTEN_END = re.compile(r"[.!?…]+[\"'”’)]*\s|\n|[\U0001F300-\U0001FAFF\u2600-\u27BF]")
SENTENCE_BREAK = re.compile(r"[.!?;\n]")
SUBORDINATORS = frozenset(
    "if when whenever unless because since as while although though once after before until"
    " even in with to for hypothetically imagine".split()
)
MAX_SPLICED_CHARACTERS = 200

Parser = Callable[[Sequence[str]], list[list[Sentence]]]


def text_to_parse(message: SourceMessage) -> str:
    """Return the part of a message that the parser reads."""
    return _mask_fillers(_readable_text(message, tuple(secret_spans(message.text))))


def _readable_text(message: SourceMessage, hidden: Sequence[TextSpan]) -> str:
    """Return the text without secrets, code and quotations, up to a number of sentences."""
    masked = mask_quoted_text(mask_spans(message.text, hidden)[:MAX_MESSAGE_CHARACTERS])
    masked = mask_other_speakers(masked, message.speaker)
    ends = [match.end() for match in SENTENCE_BREAK.finditer(masked)]
    return masked[: ends[MAX_SENTENCES]] if len(ends) > MAX_SENTENCES else masked


def _mask_fillers(text: str) -> str:
    """Replace chat fillers, emoji and second names by spaces, and comma splices by periods.

    The treebank has hardly any of them. Offsets stay valid.
    """
    plain = EMOJI.sub(lambda match: "." + " " * (len(match.group()) - 1), text)
    plain = FILLERS.sub(_mask_filler, plain)
    if ":" in plain:
        plain = LABEL_COLON.sub(r"\g<label>.", plain)
    if "," in plain or " - " in plain or " – " in plain or ";" in plain:
        plain = NAME_SPLICE.sub(_end_sentence, SPLICE.sub(_end_sentence, plain))
    return plain


def _mask_filler(match: re.Match[str]) -> str:
    """Return spaces; a filler before a comma ends a clause: "bees by the way, it's in the bag"."""
    ends_clause = match.start() > 0 and match.group().endswith(",")
    return " " * (len(match.group()) - 1) + ("." if ends_clause else " ")


def _end_sentence(match: re.Match[str]) -> str:
    """Return a period for the comma between two main clauses."""
    before = match.string[max(0, match.start() - MAX_SPLICED_CHARACTERS) : match.start()]
    clause = SENTENCE_BREAK.split(before)[-1].split()
    joins = (
        len(clause) < 3
        or clause[0].lower() in SUBORDINATORS
        or (clause[0].lower() in ("and", "but", "so") and clause[1].lower() in SUBORDINATORS)
    )
    return match.group() if joins else match.group().replace(match["mark"], ".", 1)


def extract(
    message: SourceMessage, context: MessageContext, parser: Parser = parse_each
) -> ExtractionResult:
    """Return everything the rules extract from one message. Never raises, for any text.

    `parser` may be a cache of parsed texts: a batch is parsed faster than single messages.
    """
    hidden = tuple(secret_spans(message.text))
    text = _readable_text(message, hidden)
    words = tokenize(text)
    policy = SpeakerPolicy.for_message(message, context)
    if is_junk(text, words) or is_machine_output(text) or policy.is_hostile(text):
        return ExtractionResult(entities=tuple(find_files(text)), secrets=hidden)
    speakers = Speakers.from_message(message, policy.restrict_context(context))
    if not is_english(words):
        named = tuple(find_foreign_names(text, speakers)) if len(words) > MIN_SENTENCE_WORDS else ()
        return ExtractionResult(entities=_add_files(text, named), secrets=hidden)
    (sentences,) = parser([_mask_fillers(text)])
    return _MessageReader(message, policy, speakers, text, sentences).read(hidden)


class ParsedTexts:
    """Parser of a batch: parses all messages at once, and other texts when they are needed."""

    def __init__(self, messages: Iterable[SourceMessage]) -> None:
        texts = list(dict.fromkeys(map(text_to_parse, messages)))
        self._parsed = dict(zip(texts, parse_each(texts), strict=True))

    def __call__(self, texts: Sequence[str]) -> list[list[Sentence]]:
        missing = [text for text in texts if text not in self._parsed]
        self._parsed.update(zip(missing, parse_each(missing), strict=True))
        return [self._parsed[text] for text in texts]


class _MessageReader:
    """Reads one parsed message, sentence by sentence."""

    def __init__(
        self,
        message: SourceMessage,
        policy: SpeakerPolicy,
        speakers: Speakers,
        text: str,
        sentences: Sequence[Sentence],
    ) -> None:
        self.message = message
        self.policy = policy
        self.speakers = speakers
        self.text = text
        self.at = message.at
        self.trees = [Tree(sentence, text) for sentence in sentences]
        self.clauses = [read_clauses(tree) for tree in self.trees]
        self.dates = [
            _recent_date(span, message.at) for span in find_dates(text, message.at, self._tense_at)
        ]
        self.lines = read_note_lines(text, speakers.known_names)
        self.is_ironic = bool(SARCASM.search(text)) or bool(LYRICS.search(text))
        self.orders = policy.instruction_spans(text)
        self.secrets: tuple[TextSpan, ...] = ()
        self.facts: list[Statement] = []
        self.identities: list[Identity] = []
        self.landmarks: list[Landmark] = []

    def read(self, secrets: tuple[TextSpan, ...]) -> ExtractionResult:
        self.secrets = secrets
        if not self.is_ironic:
            self._read_sentences()
        entities = find_entities(self.trees, self.facts, self.speakers, self.dates, self.text)
        return ExtractionResult(
            entities=_add_files(self.text, entities),
            facts=tuple(self.facts),
            identities=tuple(self.identities),
            landmarks=tuple(self.landmarks),
            secrets=secrets,
            follow_ups=tuple(self._find_follow_ups()),
        )

    def _find_follow_ups(self) -> Iterable[FollowUp]:
        """Return what the message says about plans of the conversation, if a person says it."""
        if self.is_ironic or self.orders or self.policy.is_external or not self.policy.is_person:
            return ()
        return find_follow_ups(self.message, self.text, self.dates, self.speakers.recent)

    def _read_sentences(self) -> None:
        facts = FactReader(self.speakers, self.dates, self.at, self.text)
        landmarks = LandmarkReader(self.speakers, self.dates, self.at, self.text, self.lines)
        values = ValueReader(self.speakers, self.text)
        for tree, clauses in zip(self.trees, self.clauses, strict=True):
            start, end = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
            hides = any(span.start < end and start < span.end for span in self.secrets)
            if len(tree.sentence) < MIN_SENTENCE_WORDS or hides or self._is_order(start, end):
                continue
            found = [*facts.read_facts(tree, clauses), *values.read_values(start, end)]
            self.facts += self.policy.filter_facts(_drop_repeated(found, self.facts))
            if self.policy.is_person:
                self.identities += values.read_names(start, end)
        if not self.policy.is_external:
            self._read_landmarks(landmarks)
            found_lines = [each for line in self.lines for each in landmarks.read_line(line)]
            self.landmarks += self.policy.filter_landmarks(found_lines)
        self.landmarks = _merge_preferences(self.landmarks, self.text)
        self.facts = _apply_decisions(self.landmarks, self.facts)
        if self.policy.is_person:
            self.identities += filter(None, map(identity_from_fact, self.facts))
            self.identities += _kin_identities(self.facts, self.speakers.group)

    def _read_landmarks(self, reader: LandmarkReader) -> None:
        """Read the landmarks of each sentence as it was written."""
        for span, places in self._written_sentences():
            trees = [self.trees[place] for place in places]
            clauses = [clause for place in places for clause in self.clauses[place]]
            if cover(self.lines, span.start) is None and not self._is_order(span.start, span.end):
                found = reader.read_landmarks(trees, clauses, span)
                self.landmarks += self.policy.filter_landmarks(found)

    def _written_sentences(self) -> list[tuple[TextSpan, list[int]]]:
        """Return each sentence of the text with the trees that the parser made of it."""
        groups: list[tuple[TextSpan, list[int]]] = []
        for place, tree in enumerate(self.trees):
            start, end = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
            if groups:
                last, places = groups[-1]
                if not WRITTEN_END.search(self.text, max(last.start, last.end - 2), start + 1):
                    groups[-1] = (TextSpan(last.start, end), [*places, place])
                    continue
            groups.append((TextSpan(start, end), [place]))
        return groups

    def _is_order(self, start: int, end: int) -> bool:
        """Return whether a sentence gives orders to the model: it is never a fact."""
        return any(order.start < end and start < order.end for order in self.orders)

    def _tense_at(self, place: int) -> VerbTense | None:
        """Return the tense of the clause around a place: what is planned lies ahead."""
        if NEW_DATE.search(self.text[max(0, place - MAX_LABEL_CHARACTERS) : place]):
            return VerbTense.FUTURE
        for tree, clauses in zip(self.trees, self.clauses, strict=True):
            first, last = tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
            if first <= place < last:
                return _clause_tense(tree, clauses, place)
        return None


def _recent_date(span: DateSpan, at: datetime) -> DateSpan:
    """Return a day without a year that has just passed as that day, not as the one next year.

    "Incident review 11 Feb" in notes of 12 February is about yesterday.
    """
    if span.precision is not DatePrecision.DAY or re.search(r"\d{4}|next|'\d\d", span.text):
        return span
    if span.since - at < timedelta(days=365 - RECENT_DAYS) or span.until >= LATEST:
        return span
    try:
        since, until = (each.replace(year=each.year - 1) for each in (span.since, span.until))
    except ValueError:  # 29 February
        return span
    return replace(span, since=since, until=until)


def _clause_tense(tree: Tree, clauses: Sequence[Clause], place: int) -> VerbTense | None:
    word = next(
        (at for at, token in enumerate(tree.sentence) if token.start <= place < token.end), None
    )
    if word is None:
        return None
    if word and tree.lower[word - 1] == "since":
        return VerbTense.PAST
    nearest = tree.find_ancestor(word, [clause.at for clause in clauses])
    clause = next((each for each in clauses if each.at == nearest), None)
    if clause is None:
        reports = REPORT_WORDS.search(
            tree.text, tree.sentence[0].start, tree.sentence[len(tree.sentence) - 1].end
        )
        return None if reports else VerbTense.FUTURE
    governor = clause.governor
    if clause.lemma == "mean":  # "I meant Tuesday"
        return VerbTense.FUTURE
    shifted = clause.is_passive or "to" in tree.lower[max(0, word - 2) : word]
    planned = clause.lemma in PLAN_VERBS or (clause.lemma in SHIFT_VERBS and shifted)
    if governor is not None and governor.lemma in PHASE_VERBS:  # "started learning in January"
        clause = governor
    if planned or (governor is not None and governor.lemma in PLAN_VERBS):
        return VerbTense.FUTURE
    if clause.tense in (Tense.PAST, Tense.PERFECT):
        return VerbTense.PAST if clause.lemma not in ("move", "push", "go") else None
    return VerbTense.FUTURE


def _merge_preferences(landmarks: Sequence[Landmark], text: str) -> list[Landmark]:
    """Return the landmarks with neighbouring preferences as one: they are said in one breath."""
    merged: list[Landmark] = []
    for each in landmarks:
        last = next((one for one in reversed(merged) if one.kind is each.kind), None)
        together = (
            last is not None
            and each.kind in (LandmarkKind.PREFERENCE_STATED, LandmarkKind.CORRECTION)
            and 0 <= each.source.start - last.source.end <= MAX_GAP_CHARACTERS
        )
        if together and last is not None:
            span = TextSpan(last.source.start, each.source.end)
            merged[merged.index(last)] = replace(
                last, text=text[span.start : span.end].strip(), source=span
            )
        else:
            merged.append(each)
    return merged


def _apply_decisions(landmarks: Sequence[Landmark], facts: Sequence[Statement]) -> list[Statement]:
    """Return the facts; what a decision announces without a date holds from now on."""
    decided = [each.source for each in landmarks if each.kind is LandmarkKind.DECISION]

    def holds(fact: Statement) -> bool:
        is_plan = fact.temporal is StatementTense.FUTURE and fact.valid_from is None
        return (
            is_plan
            and fact.predicate in STATE_RELATIONS
            and any(span.start <= fact.source.start < span.end for span in decided)
        )

    return [
        replace(fact, temporal=StatementTense.CURRENT) if holds(fact) else fact for fact in facts
    ]


def _drop_repeated(new: Sequence[Statement], known: Sequence[Statement]) -> list[Statement]:
    """Return the statements that are not known yet."""
    seen = {(each.subject, each.predicate, each.object or each.value) for each in known}
    return [
        each
        for each in new
        if (each.subject, each.predicate, each.object or each.value) not in seen
    ]


def _kin_identities(facts: Sequence[Statement], group: str) -> list[Identity]:
    """Return aliases of relatives: after "Jenny is my sister", "Bob's sister" refers to Jenny.

    "Our kids are Ines and Milo" names nobody's only kid.
    """
    told = Counter((fact.subject, fact.aspect) for fact in facts)
    return [
        Identity(
            owner=f"{fact.subject}'s {fact.aspect}",
            kind="kin",
            value=fact.object,
            source=fact.source,
        )
        for fact in facts
        if fact.aspect in KIN
        and fact.object
        and not fact.negated
        and fact.subject != group
        and told[fact.subject, fact.aspect] == 1
    ]


def _add_files(text: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Return names and files. A name that is part of a file name is dropped."""
    documents = tuple(find_files(text))
    if not documents:
        return tuple(entities)
    inside = {span for each in documents for span in each.mentions}
    apart = [
        each
        for each in entities
        if not any(
            outer.start <= span.start and span.end <= outer.end
            for span in each.mentions
            for outer in inside
        )
    ]
    return (*apart, *documents)
