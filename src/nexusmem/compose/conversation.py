"""Questions in conversation: what the last message is about, read from the turns before it.

"Where does she live again?" after "My sister called." is searched as "Where does my sister live
again?", and "And Priya's?" after "When is Tom's birthday?" as "When is Priya's birthday?". The rules
read English with the dependency parser. They call no model and no store. A message that stands
alone, small talk and commands stay as they are, and the turns are not parsed for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from ..core.records.context import AddedWords
from ..learn.rules.grammar import Phrase, Tree
from ..learn.rules.lexicon import (
    FEMALE_NOUNS,
    KIN,
    MALE_NOUNS,
    OCCUPATIONS,
    PETS,
    PLURAL_NOUNS,
    word_set,
)
from ..observe.chat_messages import list_event_ids
from ..text.gazetteer import is_common_word, is_first_name, name_type, person_gender
from ..text.parser.parse import parse_each
from ..text.parser.sentence import NO_HEAD
from ..text.terms import STOP_WORDS, normalize_words
from .question import is_small_talk, needs_no_memory

if TYPE_CHECKING:
    from ..core.access import Viewer
    from ..core.records import Event
    from .request import ContextRequest

TURN_ROLES = ("user", "assistant")
MAX_QUESTION_CHARS = 300  # a longer message names what it is about
MAX_TURNS = 4  # turns before the question that are read
MAX_TURN_CHARS = 300  # at the start of a turn
MAX_TURN_WORDS = 40
MAX_LIST_CHARS = 4_000  # of a turn that may be a list
MAX_LIST_ITEMS = 12
MAX_TOPICS = 4  # phrases of the turns that are added
MIN_INSIDE_FIT = 1.0
MAX_ADDED_WORDS = 16  # words added at one place

PRONOUNS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "he"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "she"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves"), "they"),
    **dict.fromkeys(("it", "its", "itself"), "it"),
}
POSSESSIVES = word_set("his her hers their theirs its")
DEMONSTRATIVES = word_set("that this these those")
OPENERS = word_set("and or but also then so plus")  # of an elliptic question
TIME_NOUNS = word_set(
    """today tomorrow yesterday tonight morning afternoon evening night noon midnight day week
    weekend month year hour minute second time date moment while spring summer autumn fall winter
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december mornings afternoons evenings nights days weeks
    weekends months years hours minutes times mondays tuesdays wednesdays thursdays fridays
    saturdays sundays"""
)
VAGUE_NOUNS = word_set(
    """thing things stuff way ways lot lots bit kind kinds sort sorts one ones question questions
    answer answers idea fact problem problems help info information details detail name number
    reason place part parts anything something everything nothing anyone someone everyone nobody
    thanks thank please case point rest plan word words example people person news"""
)
ATTRIBUTE_NOUNS = word_set(  # of something that the question must name
    """company brand model size colour color price cost fee amount version type dose code deadline
    address phone email contact link password title kind shop store room seat line figure total
    limit rate percentage budget"""
)
UNIQUE_NOUNS = word_set("weather news sun moon sky internet world president government economy")
NOT_PEOPLE = word_set("lead head guide guard host judge model cook coach pilot")
PEOPLE_NOUNS = word_set(
    """guy guys man men woman women boy girl lady kid kids person people couple family team client
    customer student tenant guest guests owner member members lawyer plumber host hosts"""
)
PERSON_NOUNS = (frozenset(KIN) | OCCUPATIONS | PEOPLE_NOUNS) - NOT_PEOPLE
TITLES = word_set("mr mrs ms miss mister dr prof doctor professor sir aunt uncle auntie grandma")
GENERIC_VERBS = word_set(
    """be do have get go come say tell happen decide choose pick know think mean want need make
    take give see find call cost pay start end finish begin leave arrive open close help work use
    meet ask answer mention recommend suggest agree change buy book order keep put try send"""
)
STATIVE_VERBS = word_set("live like love prefer speak own drive study eat drink weigh earn sleep")
TIME_PHRASE = re.compile(
    r"\b(?:(?:on|in|at|this|next|last|by|for) )?(?:today|tomorrow|yesterday|tonight"
    r"|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|january|february"
    r"|march|april|june|july|august|september|october|november|december|morning|afternoon|evening"
    r"|weekend|week|month|year)\b",
    re.IGNORECASE,
)
ORDINALS = {
    **{word: at for at, word in enumerate("first second third fourth fifth sixth".split())},
    **{word: at for at, word in enumerate("1st 2nd 3rd 4th 5th 6th".split())},
    **{"former": 0, "latter": -1, "last": -1},
}
LIST_LINE = re.compile(r"^[ \t]{0,8}(?:\d{1,2}[.)]|[-*•])[ \t]{1,4}(\S.{0,200})", re.MULTILINE)
CHOOSING = word_set("the that this which these those what my your")
ABOUT = re.compile(r"\b(?:what|how) (?:about|of)\b|\band (?:what|how) (?:about|of)\b", re.IGNORECASE)
SIGN_PATTERN = re.compile(  # a message without any of these signs stands alone
    r"\b(?:he|him|his|himself|she|hers?|herself|they|them|theirs?|themselves|its?|itself|that|this"
    r"|these|those|there|ones?|other|others|another|else|same|former|latter|first|second|third"
    r"|fourth|fifth|last|[1-6](?:st|nd|rd|th)|the|instead|mine|ours|either|both|neither)\b",
    re.IGNORECASE,
)
QUESTION_WORDS = word_set("who whom whose what which when where why how")
LOOKUP_OFFER = re.compile(
    r"\b(?:(?:shall|should|can|could|may) i|(?:want|like) me to|i can|i could)\b[^?]{0,40}?"
    r"\b(?:check|look (?:it |that |this )?up|look|find out|find|remind|tell|pull|search|list|show|recall|dig|go over|walk you|repeat)\b",
    re.IGNORECASE,
)
MAX_GREETING_CHARS = 100
GREETING = re.compile(
    r"\bhow(?:'s| is| are| was|'re)? (?:you|things|it going|your (?:day|morning|evening|weekend))"
    r"\b[^?]{0,30}\?\s*$",
    re.IGNORECASE,
)
AGREEMENT = re.compile(
    r"\W*(?:yes|yeah|yep|yup|sure|ok|okay|please|go ahead|do it|please do|of course|go for it)\b",
    re.IGNORECASE,
)
MODIFIED = frozenset(("amod", "compound", "nmod", "nmod:poss", "nummod", "acl:relcl", "flat"))
NP_PARTS = frozenset(("compound", "flat", "fixed", "goeswith", "vocative", "discourse"))


@dataclass(frozen=True, slots=True)
class Turn:
    """A message before the question."""

    text: str
    is_user: bool = True
    load_ids: Callable[[], tuple[str, ...]] = tuple  # ids of the events that may hold it


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedQuestion:
    """The text to search with, and the words of it that come from the turns before."""

    text: str
    added: tuple[AddedWords, ...] = ()
    needs_memory: bool = True  # False: a greeting is answered


@dataclass(frozen=True, slots=True)
class _Mention:
    """A person or thing that a turn names."""

    text: str  # as it can replace a pronoun
    lemma: str  # of its last noun
    pronoun: str  # he, she, they, it, or "?" for a person or a name that may be anybody's
    start: int
    end: int
    is_name: bool = False
    is_person: bool = False
    is_subject: bool = False
    is_main: bool = False  # it belongs to the main verb
    is_place: bool = False
    is_modified: bool = False
    preposition: str = ""


@dataclass(slots=True)
class _Reading:
    """A parsed turn: its sentences, its mentions, and its text once it is resolved."""

    turn: Turn
    text: str
    trees: list[Tree]
    mentions: list[_Mention]
    carried: list[_Mention] = field(default_factory=list)

    @property
    def has_content(self) -> bool:
        return not is_small_talk(self.text)


@dataclass(frozen=True, slots=True)
class _Change:
    """Words that replace a part of the question, or are appended to it."""

    words: str
    why: str
    start: int = -1  # -1: the words are appended
    end: int = -1
    mentions: tuple[_Mention, ...] = ()
    sources: tuple[int, ...] = ()  # positions of the turns


def list_turns(request: ContextRequest, viewer: Viewer, events: Sequence[Event]) -> list[Turn]:
    """Return the last turns before the question: of the caller's messages, else of the window."""
    messages = request.messages
    asked = max((at for at, each in enumerate(messages) if each.role == "user"), default=0)
    before = [at for at in range(asked) if messages[at].role in TURN_ROLES][-MAX_TURNS:]
    if before:
        ids = cache(lambda: list_event_ids(messages, viewer, request.thread))
        return [
            Turn(
                messages[at].text,
                messages[at].role == "user",
                partial(_find_ids, messages[at].text, events, ids, at),
            )
            for at in before
        ]
    recent = [
        event
        for event in events[-2 * MAX_TURNS :]
        if event.role in TURN_ROLES
        and event.text != request.question
        and (request.thread is None or event.thread == request.thread)
    ]
    return [
        Turn(event.text, event.role == "user", partial(_as_tuple, event.id))
        for event in recent[-MAX_TURNS:]
    ]


def _find_ids(
    text: str, events: Sequence[Event], ids: Callable[[], list[str]], at: int
) -> tuple[str, ...]:
    """Return the id of a recorded message, and those of the events of the window that say it."""
    words = normalize_words(text)
    return (ids()[at], *(event.id for event in events if normalize_words(event.text) == words))


def _as_tuple(id: str) -> tuple[str, ...]:
    return (id,)


def resolve_question(question: str, turns: Sequence[Turn]) -> ResolvedQuestion:
    """Return the question with what the turns before it add; unchanged if it stands alone.

    At most MAX_TURNS turns are read, and the start of each.
    """
    unchanged = ResolvedQuestion(text=question)
    if turns and _answers_greeting(question, turns[-1]):
        return replace(unchanged, needs_memory=False)
    if not turns or len(question) > MAX_QUESTION_CHARS or not question.strip():
        return unchanged
    earlier = list(turns[-MAX_TURNS:])
    offer = _accepted_offer(question, earlier[-1])
    if offer is not None:
        base = resolve_question(offer, earlier[:-1])
        why = f"“{question.strip()}” accepts what the message before offers"
        words = AddedWords(words=base.text, why=why, events=earlier[-1].load_ids())
        return ResolvedQuestion(text=base.text, added=(words, *base.added))
    if needs_no_memory(question) or not _may_depend(question):
        return unchanged
    asked = _read_turns([Turn(question)])[0]
    if not any(_needs_earlier(tree) for tree in asked.trees):
        return unchanged
    readings: list[_Reading] = []
    for reading in _read_turns(earlier):
        changes = _find_changes(reading, readings)
        if changes:
            text = _apply_changes(reading.text, changes)
            carried = [mention for change in changes for mention in change.mentions]
            if reading.turn.is_user and any(_is_fragment(tree) for tree in reading.trees):
                reading = _read_turns([replace(reading.turn, text=text)])[0]
            reading.carried = carried
        readings.append(reading)
    changes = _find_changes(asked, readings)
    if not changes:
        return unchanged
    added = (
        AddedWords(
            words=each.words,
            why=each.why,
            events=tuple(id for at in each.sources for id in earlier[at].load_ids()),
        )
        for each in changes
    )
    unique = {each.words: each for each in reversed(list(added))}
    return ResolvedQuestion(
        text=_apply_changes(asked.text, changes), added=tuple(reversed(unique.values()))
    )


def _answers_greeting(answer: str, last: Turn) -> bool:
    """Return whether a message without a question only answers "How are you?"."""
    return (
        not last.is_user
        and "?" not in answer
        and len(answer) <= MAX_GREETING_CHARS
        and bool(GREETING.search(last.text[-MAX_GREETING_CHARS:]))
        and not any(word[:1].isupper() for word in answer.split()[1:] if word not in ("I", "I'm"))
    )


def _accepted_offer(question: str, last: Turn) -> str | None:
    """Return the assistant's offer to look something up, if the question only says yes to it."""
    if last.is_user or not AGREEMENT.match(question) or not is_small_talk(question):
        return None
    sentences = re.split(r"(?<=[.!\n])\s", last.text[-MAX_TURN_CHARS:].strip())
    offer = sentences[-1]
    match = LOOKUP_OFFER.search(offer) if offer.endswith("?") else None
    return offer[match.end() :].strip(" ?") or None if match else None


def _may_depend(question: str) -> bool:
    """Return whether the words of a message have a sign that it needs earlier turns."""
    words = normalize_words(question).split()
    content = [word for word in words if word not in STOP_WORDS and word not in VAGUE_NOUNS]
    is_question = "?" in question or bool(QUESTION_WORDS.intersection(words[:3]))
    return (
        bool(SIGN_PATTERN.search(question))
        or len(content) <= 4
        or bool(OPENERS.intersection(words[:2]))
        or (is_question and len(content) <= 6)
    )


def _read_turns(turns: Sequence[Turn]) -> list[_Reading]:
    """Parse the start of each turn, all in one batch."""
    texts = [_cut_turn(turn.text) for turn in turns]
    readings = []
    for turn, text, sentences in zip(turns, texts, parse_each(texts), strict=True):
        trees = [Tree(sentence, text) for sentence in sentences if sentence]
        mentions = [each for tree in trees for each in _find_mentions(tree, is_user=turn.is_user)]
        readings.append(_Reading(turn, text, trees, mentions))
    return readings


WORDS_PATTERN = re.compile(r"\w{1,60}|[^\w\s]")


def _cut_turn(text: str) -> str:
    """Return the first words of a turn; the question is the end of a long message of a user."""
    start = text[:MAX_TURN_CHARS]
    for count, match in enumerate(WORDS_PATTERN.finditer(start)):
        if count == MAX_TURN_WORDS:
            return start[: match.start()]
    return start


# Mentions


def _find_mentions(tree: Tree, *, is_user: bool) -> Iterator[_Mention]:
    for at, token in enumerate(tree.sentence):
        if token.upos not in ("NOUN", "PROPN") or token.deprel in NP_PARTS:
            continue
        if _is_name_of_noun(tree, at) or _continues_name(tree, at) or token.lemma.lower() in VAGUE_NOUNS:
            continue
        mention = _make_mention(tree, at, is_user=is_user)
        if mention.lemma.rstrip(".") in TITLES and " " not in mention.text:
            continue
        if mention.lemma not in TIME_NOUNS and mention.text.lower() not in TIME_NOUNS:
            yield mention


def _is_name_of_noun(tree: Tree, at: int) -> bool:
    """Return whether a name stands after its noun: "Marta" in "my sister Marta"."""
    head = tree.sentence[at].head
    if head == NO_HEAD or tree.sentence[at].upos != "PROPN" or head >= at:
        return False
    apposition = Phrase(tree, head).apposition
    return apposition is not None and apposition.head == at


def _continues_name(tree: Tree, at: int) -> bool:
    """Return whether the word before is part of the same capitalized name."""
    if not at or tree.sentence[at].upos != "PROPN" or tree.sentence[at - 1].upos != "PROPN":
        return False
    before, token = tree.sentence[at - 1], tree.sentence[at]
    is_close = before.end + 1 == token.start and before.deprel != "nmod:poss"
    return is_close and before.text[:1].isupper() and token.text[:1].isupper()


def _make_mention(tree: Tree, at: int, *, is_user: bool) -> _Mention:
    phrase, token = Phrase(tree, at), tree.sentence[at]
    positions = tree.phrase_positions(at, with_nmod=False)
    first, last = positions[0], positions[-1]
    if tree.lower[last] in ("'s", "’s") and last != first:
        positions, last = positions[:-1], positions[-2]
    while token.upos == "PROPN" and last + 1 < len(tree.sentence) and _continues_name(tree, last + 1):
        positions, last = [*positions, last + 1], last + 1
    if len(positions) > 1 and tree.lower[positions[0]] in QUESTION_WORDS:
        positions = positions[1:]
    text = tree.join(positions)
    name = phrase.apposition
    if name is not None and name.text not in text:
        text, last = f"{text} {name.text}", max(last, name.head)
    lemma = token.lemma.lower()
    while first and tree.sentence[first - 1].deprel in ("det", "nmod:poss"):
        owner = tree.lower[first - 1]
        if owner in ("my", "our") or (owner == "your" and not is_user):
            text = f"my {text}" if owner != "our" else f"our {text}"
        if tree.sentence[first - 1].upos in ("DET", "PRON"):
            first -= 1
        else:
            break
    is_capitalized = at > 0 and token.text[:1].isupper() and token.text[1:].islower()
    is_name = token.upos == "PROPN" or name is not None or is_capitalized
    has_title = lemma.rstrip(".") in TITLES
    called = name.text if name is not None and not has_title else text
    pronoun = _guess_pronoun(called, lemma, token.text.lower(), is_name)
    relation = token.deprel
    return _Mention(
        text=text,
        lemma=lemma,
        pronoun=pronoun,
        start=tree.sentence[first].start,
        end=tree.sentence[last].end,
        is_name=is_name,
        is_person=pronoun in ("he", "she") or _is_person_noun(lemma, text),
        is_subject=relation.startswith("nsubj"),
        is_main=_clause_verb(tree, at) == tree.sentence.root,
        is_place=name_type(text) == "place",
        is_modified=any(tree.relation(child) in MODIFIED for child in tree.children[at]),
        preposition=next(
            (tree.lower[child] for child in tree.children[at] if tree.relation(child) == "case"), ""
        ),
    )


def _is_person_noun(lemma: str, text: str) -> bool:
    words = text.lower().removeprefix("my ").split()
    first = words[0].rstrip(".") if words else ""
    return (
        lemma in PERSON_NOUNS
        or first in TITLES
        or (is_first_name(first) and text[:1].isupper() and not is_common_word(first))
    )


def _guess_pronoun(name: str, lemma: str, word: str, is_name: bool) -> str:
    """Return the pronoun that a mention takes; "?" if he, she and it are all possible."""
    first = name.lower().removeprefix("my ").split()[0].rstrip(".") if name.split() else ""
    if word in PLURAL_NOUNS or " and " in name:
        return "they"
    if lemma in FEMALE_NOUNS or first in ("mrs", "ms", "miss", "aunt", "grandma"):
        return "she"
    if lemma in MALE_NOUNS or first in ("mr", "mister", "uncle"):
        return "he"
    if is_name:
        gender = person_gender(first) if name_type(name) is None or " " in name else None
        if gender in ("he", "she") and not is_common_word(first):
            return gender
        return "it" if name_type(name) and not is_first_name(first) else "?"
    if lemma in PERSON_NOUNS or lemma in PETS:
        return "?"
    return "they" if word.endswith("s") and lemma != word else "it"


# Signs that a sentence needs earlier turns


def _needs_earlier(tree: Tree) -> bool:
    words = [word for word in tree.lower if word.isalnum()]
    if not words:
        return False
    return (
        _is_fragment(tree)
        or any(True for _ in _references(tree))
        or _lacks_topic(tree)
        or any(True for _ in _bare_definites(tree))
    )


def _is_fragment(tree: Tree) -> bool:
    """Return whether a sentence is an elliptic question: "And Priya's?", "What about May?"."""
    words = [word for word in tree.lower if word.isalnum()]
    if not words or is_small_talk(" ".join(words)) and "?" not in tree.lower:
        return False
    root = tree.sentence.root
    token = tree.sentence[root]
    about = ABOUT.search(" ".join(words[:5]))
    if about:
        return len(words) <= 12
    if _has_verb(tree):
        return False
    if words[0] in OPENERS or words[0] in QUESTION_WORDS:
        return len(words) <= 10
    is_open = tree.sentence[-1].text.startswith("?") or "?" in tree.lower
    content = [word for word in words if word not in STOP_WORDS]
    if not is_open:
        return False
    if tree.child(root, "case") is not None or len(content) <= 1:
        return True
    return len(content) <= 3 and tree.lower[0] == "the"


def _has_verb(tree: Tree) -> bool:
    """Return whether a sentence has a verb outside of relative clauses."""
    if tree.child(tree.sentence.root, "nsubj", "nsubj:pass", "cop", "aux", "csubj") is not None:
        return True
    return any(
        token.upos in ("VERB", "AUX") and not _in_relative_clause(tree, at)
        for at, token in enumerate(tree.sentence)
    )


def _in_relative_clause(tree: Tree, at: int) -> bool:
    for _ in tree.sentence:
        if tree.relation(at).startswith("acl"):
            return True
        at = tree.sentence[at].head
        if at == NO_HEAD:
            return False
    return False


def _references(tree: Tree) -> Iterator[tuple[int, str]]:
    """Yield the words that refer to something named before, with their kind."""
    sentence = tree.sentence
    for at, token in enumerate(sentence):
        word, relation = tree.lower[at], token.deprel
        if word in PRONOUNS and token.upos in ("PRON", "DET"):
            if relation != "expl" and not (word == "it" and _is_empty_it(tree, at)):
                yield at, "pronoun"
        elif word in DEMONSTRATIVES:
            if token.upos == "PRON" and not _is_relative(tree, at):
                yield at, "that"
            elif relation == "det" and token.head > at and not _is_time(tree, token.head):
                yield at, "that noun"
        elif word == "there" and relation != "expl" and token.upos != "PRON":
            yield at, "there"
        elif word in ("one", "ones") and relation not in ("nummod", "det"):
            if any(tree.lower[child] in CHOOSING for child in tree.children[at]):
                yield at, "one"
        elif word in ORDINALS and (relation != "amod" or token.head < at) and at:
            if tree.lower[at - 1] == "the" and token.upos in ("ADJ", "NOUN", "NUM"):
                yield at, "one"
        elif word in ("other", "others") and tree.lower[at - 1 : at] == ["the"]:
            if relation != "amod":
                yield at, "one"
        elif word in ("else", "instead", "same") and "than" not in tree.lower:
            yield at, "topic"
        elif word in ("mine", "ours") and relation != "nmod:poss":
            yield at, "topic"
        elif _is_comparative(tree, at):
            yield at, "topic"


def _is_comparative(tree: Tree, at: int) -> bool:
    """Return whether a word compares with something that the sentence does not name."""
    if "than" in tree.lower or tree.sentence[at].upos != "ADJ":
        return False
    word, lemma = tree.lower[at], tree.sentence[at].lemma.lower()
    return word.endswith("er") and lemma != word and word not in ("later", "earlier", "further")


def _is_empty_it(tree: Tree, at: int) -> bool:
    """Return whether "it" refers to nothing: "is it raining?", "what time is it?"."""
    words = tree.lower
    empty = ("rain", "snow", "seem", "depend", "matter", "go", "sound")
    head = tree.sentence[at].head
    if head != NO_HEAD and tree.sentence[head].lemma.lower() in empty:
        return True
    if at > 1 and words[at - 1] in ("is", "was", "'s") and words[at - 2] in QUESTION_WORDS:
        if at + 1 < len(words) and tree.sentence[at + 1].upos in ("PRON", "PROPN", "NOUN", "DET"):
            return True  # "what was it she wanted?"
    return "time" in words and words[-2:] in (["it", "?"], ["is", "it"], ["it", "now"])


def _is_relative(tree: Tree, at: int) -> bool:
    """Return whether "that" opens a relative clause."""
    head = tree.sentence[at].head
    return head != NO_HEAD and tree.relation(head).startswith("acl") and at > 0


def _is_time(tree: Tree, at: int) -> bool:
    return tree.sentence[at].lemma.lower() in TIME_NOUNS or tree.lower[at] in TIME_NOUNS


def _lacks_topic(tree: Tree) -> bool:
    """Return whether a question names nothing: "When did we decide?", "So where's the key?"."""
    words = tree.lower
    is_question = "?" in words or bool(QUESTION_WORDS.intersection(words[:3]))
    if not is_question or len(words) > 12:
        return False
    if "you" in words and not ({"did", "had", "said", "told"} & set(words)):
        return False
    return _names_nothing(tree) or _asks_of_bare_noun(tree)


def _asks_of_bare_noun(tree: Tree) -> bool:
    """Return whether all that a question names is "the key", without saying which one."""
    bare = set(_bare_definites(tree))
    nouns = {
        at
        for at, token in enumerate(tree.sentence)
        if token.upos in ("NOUN", "PROPN", "NUM") and not _is_time(tree, at)
    }
    lemmas = {tree.sentence[at].lemma.lower() for at in bare}
    return bool(bare) and nouns == bare and not lemmas & UNIQUE_NOUNS and "my" not in tree.lower


def _names_nothing(tree: Tree) -> bool:
    """Return whether a sentence has neither a noun nor a verb that says what it is about."""
    words = tree.lower
    verbs = []
    for at, token in enumerate(tree.sentence):
        lemma = token.lemma.lower()
        if token.upos in ("NOUN", "PROPN", "NUM", "SYM", "X"):
            if lemma not in VAGUE_NOUNS | ATTRIBUTE_NOUNS and not _is_time(tree, at):
                return False
        elif token.upos == "VERB":
            verbs.append(lemma)
        elif token.upos == "ADJ" and words[at] not in STOP_WORDS and lemma not in ("much", "many"):
            return False
    return not any(verb in STATIVE_VERBS or verb not in GENERIC_VERBS for verb in verbs)


def _bare_definites(tree: Tree) -> Iterator[int]:
    """Yield the nouns after "the" that nothing describes further: "the database"."""
    for at, token in enumerate(tree.sentence):
        if token.upos == "NOUN" and Phrase(tree, at).determiner == "the":
            is_bare = not any(tree.relation(child) in MODIFIED for child in tree.children[at])
            if is_bare and token.lemma.lower() not in TIME_NOUNS | VAGUE_NOUNS:
                yield at


# Changes


def _find_changes(asked: _Reading, earlier: Sequence[_Reading]) -> list[_Change]:
    """Return what the earlier turns add to a turn."""
    if not earlier or not asked.has_content and "?" not in asked.text:
        return []
    changes: list[_Change] = []
    for number, tree in enumerate(asked.trees):
        before = [
            mention
            for mention in asked.mentions
            if number and mention.end <= tree.sentence[0].start
        ]
        if asked.turn.is_user and _is_fragment(tree):
            if before:
                changes += _add_topic(_why_continued(tree), earlier)
                continue
            change = _complete_fragment(tree, earlier, asked)
            if change is not None:
                return [*changes, change]
        changes += _resolve_references(tree, asked, before, earlier)
        if not changes and not before and _lacks_topic(tree):
            changes += _add_topic("it names nothing", earlier)
    return changes


def _resolve_references(
    tree: Tree, asked: _Reading, before: Sequence[_Mention], earlier: Sequence[_Reading]
) -> Iterator[_Change]:
    has_topic = False
    references = list(_references(tree))
    has_one = any(kind == "one" for _, kind in references)
    for at, kind in references:
        token = tree.sentence[at]
        inside = [*before, *(each for each in asked.mentions if _is_before(each, tree, at))]
        quoted = f"“{token.text}”"
        if kind == "pronoun":
            if _is_named_inside(tree, at, before, inside):
                continue
            if tree.lower[at] in ("it", "its") and has_one:
                continue
            change = _replace_pronoun(tree, at, earlier)
            if change is not None:
                yield change
                is_thing = not any(each.is_person for each in change.mentions)
                if (is_thing or _names_nothing(tree)) and not has_topic and not before:
                    has_topic = True
                    yield from _add_topic(quoted, earlier, but=change.words)
                continue
        elif kind == "there":
            if any(each.is_place or each.preposition in ("in", "at", "to") for each in inside):
                continue
            place = _nearest_place(earlier)
            if place is not None:
                source, mention = place
                words = f"in {mention.text}"
                yield _Change(words, quoted, token.start, token.end, (mention,), (source,))
                continue
        elif kind == "one":
            change = _choose_from_list(tree, at, earlier)
            if change is not None:
                yield change
                continue
        elif kind in ("that", "topic") and before:
            continue
        if not has_topic and not (kind in ("that", "that noun") and inside and at > 3):
            has_topic = True
            yield from _add_topic(quoted, earlier)
    for at in _bare_definites(tree):
        lemma = tree.sentence[at].lemma.lower()
        found = _same_noun(lemma, earlier)
        if found is not None and not any(each.lemma == lemma for each in before):
            source, mention = found
            token, det = tree.sentence[at], tree.child(at, "det")
            start = tree.sentence[det].start if det is not None else token.start
            why = f"“the {token.text}”"
            text = mention.text if mention.text.startswith(("my ", "our ")) else f"the {mention.text}"
            yield _Change(text, why, start, token.end, (mention,), (source,))


def _is_named_inside(
    tree: Tree, at: int, before: Sequence[_Mention], inside: Sequence[_Mention]
) -> bool:
    """Return whether the message itself names what a pronoun refers to."""
    pronoun = PRONOUNS[tree.lower[at]]
    if any(_fit(pronoun, each) >= MIN_INSIDE_FIT for each in before):
        return True
    start = tree.sentence[_clause_verb(tree, at)].start
    is_owner = tree.relation(at) == "nmod:poss"
    for mention in inside[len(before) :]:
        if _fit(pronoun, mention) >= MIN_INSIDE_FIT and (
            mention.end <= start and not _shares_verb(tree, at, mention) or is_owner
        ):
            return True
    return False


def _shares_verb(tree: Tree, at: int, mention: _Mention) -> bool:
    """Return whether a mention is an argument of the verb that a word belongs to."""
    place = next(
        (number for number, token in enumerate(tree.sentence) if token.end == mention.end), None
    )
    return place is not None and _clause_verb(tree, place) == _clause_verb(tree, at)


def _clause_verb(tree: Tree, at: int) -> int:
    """Return the predicate that a word belongs to."""
    seen = 0
    while seen < len(tree.sentence):
        head = tree.sentence[at].head
        if head == NO_HEAD:
            return at
        at, seen = head, seen + 1
        if tree.sentence[at].upos in ("VERB", "AUX") or tree.child(at, "cop") is not None:
            return at
    return at


def _is_before(mention: _Mention, tree: Tree, at: int) -> bool:
    """Return whether a mention of the same sentence stands before a word."""
    sentence = tree.sentence
    return sentence[0].start <= mention.start and mention.end <= sentence[at].start


def _fit(pronoun: str, mention: _Mention) -> float:
    """Return how well a mention can be what a pronoun refers to, from 0 to 2."""
    if pronoun == mention.pronoun:
        return 2.0 if pronoun != "it" or not mention.is_person else 0.0
    if mention.pronoun == "?":
        if pronoun in ("he", "she"):
            return 1.5 if mention.is_person else 0.8
        if pronoun == "it":
            return 0.0 if mention.is_person else 1.2
        return 0.8
    if pronoun == "they":
        return 0.6 if mention.is_person or mention.is_name else 0.2
    if pronoun == "it" and mention.pronoun == "they":
        return 0.3
    return 0.0


def _candidates(
    pronoun: str, earlier: Sequence[_Reading]
) -> list[tuple[float, int, _Mention]]:
    """Return the mentions that fit a pronoun with a score and their turn, best first."""
    found = []
    for distance, (number, reading) in enumerate(reversed(list(enumerate(earlier)))):
        for mention in (*reading.carried, *reading.mentions):
            fit = _fit(pronoun, mention)
            if fit > 0:
                bonus = 0.2 * mention.is_subject + 0.2 * mention.is_main + 0.1 * reading.turn.is_user
                found.append((fit + bonus - 0.5 * distance, number, mention))
    return sorted(found, key=lambda each: -each[0])


def _replace_pronoun(tree: Tree, at: int, earlier: Sequence[_Reading]) -> _Change | None:
    word, token = tree.lower[at], tree.sentence[at]
    found = _candidates(PRONOUNS[word], earlier)
    if not found:
        return None
    best, source, mention = found[0]
    chosen = [mention]
    rivals = [
        each
        for score, number, each in found[1:]
        if number == source
        and best - score < 0.35
        and each.text.lower() not in mention.text.lower()
        and mention.text.lower() not in each.text.lower()
    ]
    chosen += rivals[:1]
    is_owner = word in POSSESSIVES and (token.deprel == "nmod:poss" or word in ("hers", "theirs"))
    words = " and ".join(each.text for each in chosen)
    if is_owner:
        words += "'s"
    why = f"“{token.text}”"
    return _Change(words, why, token.start, token.end, tuple(chosen), (source,))


def _nearest_place(earlier: Sequence[_Reading]) -> tuple[int, _Mention] | None:
    for number, reading in reversed(list(enumerate(earlier))):
        mentions = [*reading.carried, *reading.mentions]
        for is_wanted in (
            lambda each: each.is_place,
            lambda each: each.preposition in ("in", "at", "into") and not each.is_person,
        ):
            places = [each for each in mentions if is_wanted(each)]
            if places:
                return number, places[-1]
    return None


def _same_noun(lemma: str, earlier: Sequence[_Reading]) -> tuple[int, _Mention] | None:
    """Return the nearest earlier mention of a noun that says more: "the staging database"."""
    for number, reading in reversed(list(enumerate(earlier))):
        for mention in reversed(reading.mentions):
            if mention.lemma == lemma and mention.is_modified:
                return number, mention
    return None


def _choose_from_list(tree: Tree, at: int, earlier: Sequence[_Reading]) -> _Change | None:
    """Return the item of a list that "the second one" refers to."""
    head = at
    ordinal = ORDINALS.get(tree.lower[at])
    other = tree.lower[at] in ("other", "others")
    for child in tree.children[at]:
        ordinal = ORDINALS.get(tree.lower[child], ordinal)
        other = other or tree.lower[child] == "other"
    if ordinal is None and not other:
        return None
    found = _nearest_list(earlier)
    if found is None:
        return None
    source, items = found
    if other:
        last_said = normalize_words(earlier[-1].text + " " + earlier[max(-2, -len(earlier))].text)
        rest = [item for item in items if normalize_words(item) not in last_said]
        items, ordinal = rest or items, 0
    if ordinal is None or ordinal >= len(items):
        return None
    words = _first_words(items[ordinal])
    det = tree.child(head, "det")
    start = tree.sentence[head if det is None else det].start
    end = tree.sentence[head].end
    phrase = tree.text[start:end]
    return _Change(words, f"“{phrase}”", start, end, (), (source,))


def _nearest_list(earlier: Sequence[_Reading]) -> tuple[int, list[str]] | None:
    """Return the newest enumeration: numbered lines, or "A, B and C"."""
    for number, reading in reversed(list(enumerate(earlier))):
        lines = LIST_LINE.findall(reading.turn.text[:MAX_LIST_CHARS])[:MAX_LIST_ITEMS]
        if len(lines) > 1:
            return number, lines
        for tree in reading.trees:
            for at, token in enumerate(tree.sentence):
                conjuncts = [each for each in tree.children[at] if tree.relation(each) == "conj"]
                if token.upos in ("NOUN", "PROPN") and conjuncts:
                    heads = [at, *conjuncts]
                    if all(tree.sentence[each].upos in ("NOUN", "PROPN") for each in heads):
                        return number, [Phrase(tree, each).short_text for each in heads]
    return None


def _add_topic(why: str, earlier: Sequence[_Reading], *, but: str = "") -> list[_Change]:
    """Return what the last turns are about: the user's newest, and names of the answer to it.

    Phrases that are part of `but` are left out.
    """
    at = _last_content(earlier)
    if at is None:
        return []
    texts: list[str] = []
    used: list[int] = []
    for number in range(at, len(earlier)):
        reading = earlier[number]
        mentions = [*reading.carried, *reading.mentions]
        if number > at:
            mentions = [each for each in mentions if each.is_name or each.is_modified][:2]
        new = [each.text for each in mentions[:MAX_TOPICS]]
        fresh = [
            text for text in new if text.lower() not in " ".join([but, *texts]).lower()
        ]
        if fresh:
            texts += fresh
            used.append(number)
    said = normalize_words(but).split()
    verbs = [verb for verb in _content_verbs(earlier[at].trees) if verb.lower() not in said]
    words = _first_words(" ".join([*texts[: MAX_TOPICS + 2], *verbs]))
    mentions = tuple([*earlier[at].carried, *earlier[at].mentions][:MAX_TOPICS])
    return [_Change(words, why, mentions=mentions, sources=tuple(used or [at]))] if words else []


def _content_verbs(trees: Iterable[Tree]) -> list[str]:
    verbs = [
        token.text
        for tree in trees
        for token in tree.sentence
        if token.upos == "VERB"
        and token.lemma.lower() not in GENERIC_VERBS
        and token.text.lower() not in STOP_WORDS
    ]
    return verbs[:2]


def _last_content(earlier: Sequence[_Reading]) -> int | None:
    """Return the position of the newest turn of the user that says something."""
    for number, reading in reversed(list(enumerate(earlier))):
        if reading.turn.is_user and reading.has_content and (reading.mentions or reading.carried):
            return number
    return next(
        (
            number
            for number, reading in reversed(list(enumerate(earlier)))
            if reading.mentions or reading.carried
        ),
        None,
    )


def _why_continued(tree: Tree) -> str:
    start, end = tree.sentence[0].start, tree.sentence[-1].end
    return f"“{_first_words(tree.text[start:end])}” continues what was said before"


def _complete_fragment(
    tree: Tree, earlier: Sequence[_Reading], asked: _Reading
) -> _Change | None:
    """Return the earlier question with the new part in it: "When is Priya's birthday?"."""
    base_at = _last_content(earlier)
    if base_at is None:
        return None
    base = earlier[base_at]
    sentence = _base_sentence(base)
    first, last = tree.sentence[0], tree.sentence[-1]
    start, end = first.start, last.end
    why = _why_continued(tree)
    new = _fragment_phrase(tree, asked, earlier)
    if new is None:
        words = _fragment_topic(base_at, earlier)
        return _Change(words, why, mentions=tuple(base.mentions), sources=(base_at,))
    new_text, mention = new
    offset = sentence.sentence[0].start
    text = base.text[offset : sentence.sentence[-1].end]
    slot = _find_slot(tree, mention, new_text, base, sentence)
    carried = tuple(each for each in base.mentions if slot is None or each is not slot)
    if slot is not None:
        before, after = text[: slot.start - offset], text[slot.end - offset :]
        if new_text.endswith(("'s", "’s")) and after.startswith(("'s", "’s")):
            after = after[2:]
        if TIME_PHRASE.fullmatch(slot.text):
            combined = f"{before}{after} {new_text}"
        else:
            combined = f"{before}{new_text}{after}"
    else:
        combined = f"{text.rstrip(' ?.!')} {new_text}?"
    return _Change(combined, why, start, end, carried, (base_at,))


def _fragment_topic(base_at: int, earlier: Sequence[_Reading]) -> str:
    """Return the question before, and the names of its answer, for "why?" and "since when?"."""
    base = earlier[base_at]
    sentence = _base_sentence(base)
    text = base.text[sentence.sentence[0].start : sentence.sentence[-1].end]
    answers = [
        mention.text
        for reading in earlier[base_at + 1 :]
        for mention in reading.mentions
        if (mention.is_name or mention.is_modified) and mention.text.lower() not in text.lower()
    ]
    return " ".join([text, *answers[:2]])


def _base_sentence(base: _Reading) -> Tree:
    """Return the sentence that a fragment continues: the last question, else the last sentence."""
    content = [
        tree
        for tree in base.trees
        if not is_small_talk(" ".join(tree.lower)) and any(map(str.isalnum, tree.lower))
    ]
    asked = [tree for tree in content if "?" in tree.lower or tree.is_question]
    return (asked or content or base.trees)[-1]


def _fragment_phrase(
    tree: Tree, asked: _Reading, earlier: Sequence[_Reading]
) -> tuple[str, _Mention | None] | None:
    """Return the new part of a fragment and its mention; None for "why?" and "since when?"."""
    positions = list(range(len(tree.sentence)))
    while positions and (
        tree.lower[positions[0]] in OPENERS
        or tree.lower[positions[0]] in ("what", "how", "about", "of", "ok", "okay", "hm", "hmm", ",")
        or (len(positions) > 1 and is_small_talk(tree.lower[positions[0]])
            and tree.lower[positions[0]] not in STOP_WORDS)
    ):
        positions = positions[1:]
    while positions and not tree.lower[positions[-1]].strip("'’").isalnum():
        positions = positions[:-1]
    if not positions:
        return None
    if all(tree.lower[at] in QUESTION_WORDS | {"since", "until", "come", "so", "for", "long", "many",
                                                "much", "not", "exactly"} for at in positions):
        return None
    for at, kind in _references(tree):
        change = None
        if kind == "pronoun":
            change = _replace_pronoun(tree, at, earlier)
        elif kind == "one":
            change = _choose_from_list(tree, at, earlier)
        if change is not None:
            mention = change.mentions[0] if change.mentions else None
            start = tree.sentence[positions[0]].start
            end = tree.sentence[positions[-1]].end
            text = (
                tree.text[start : max(start, change.start)]
                + change.words
                + tree.text[min(end, change.end) : end]
            )
            return text, mention
    start, end = tree.sentence[positions[0]].start, tree.sentence[positions[-1]].end
    inside = [each for each in asked.mentions if start <= each.start and each.end <= end]
    return tree.text[start:end], inside[0] if inside else None


def _find_slot(
    tree: Tree, new: _Mention | None, text: str, base: _Reading, sentence: Tree
) -> _Mention | None:
    """Return the part of the question before that the new part replaces."""
    first, last = sentence.sentence[0].start, sentence.sentence[-1].end
    mentions = [each for each in base.mentions if first <= each.start and each.end <= last]
    if TIME_PHRASE.search(text) and (new is None or not new.is_person):
        match = TIME_PHRASE.search(base.text, first, last)
        if match is None:
            return None
        return _Mention(match[0], "", "it", match.start(), match.end())
    if new is None and text.endswith(("one", "ones")):
        return None
    is_person = new is not None and (new.is_person or new.pronoun in ("he", "she"))
    is_owner = text.lower().endswith(("'s", "’s", "hers", "his", "theirs"))
    if is_person or is_owner:
        people = [each for each in mentions if each.is_person or each.pronoun in ("he", "she")]
        if people:
            return people[0]
        if is_owner and (owner := _first_owner(sentence)) is not None:
            return owner
        names = [each for each in mentions if each.is_name]
        return names[0] if names and new is not None and new.is_name else None
    if new is not None and new.preposition not in ("", "about", "of"):
        same = [each for each in mentions if each.preposition == new.preposition]
        if same:
            slot = same[-1]
            start = base.text.rfind(slot.preposition, first, slot.start)
            return replace(slot, start=start) if start >= 0 else slot
        return None
    if new is not None and new.is_name:
        names = [each for each in mentions if each.is_name and not each.is_person]
        return names[-1] if names else _last_name(sentence)
    things = [each for each in mentions if not each.is_person]
    if any(word in ORDINALS for word in normalize_words(text).split()):
        counted = [
            each for each in things if set(normalize_words(each.text).split()) & ORDINALS.keys()
        ]
        if counted:
            return counted[0]
    free = [each for each in things if not each.preposition and not each.is_name]
    if free and new is not None and new.is_modified:  # "Volvo's inspection" → "the brakes of …"
        owner = next((each for each in mentions if 0 < free[0].start - each.end <= 3), None)
        if owner is not None and base.text[owner.end : free[0].start].strip() in ("'s", "’s"):
            return replace(free[0], start=owner.start)
    return free[0] if free else None


def _last_name(sentence: Tree) -> _Mention | None:
    """Return the last name that is part of a phrase: "Berlin" in "the Berlin office"."""
    for token in reversed(sentence.sentence):
        if token.upos == "PROPN" and token.deprel == "compound":
            return _Mention(token.text, token.lemma, "it", token.start, token.end)
    return None


def _first_owner(sentence: Tree) -> _Mention | None:
    """Return "my" or "Tom" in "my lease", "Tom's lease"."""
    for at, token in enumerate(sentence.sentence):
        if sentence.relation(at) == "nmod:poss":
            return _Mention(token.text, token.lemma, "?", token.start, token.end)
    return None


def _first_words(text: str) -> str:
    return " ".join(text.split()[:MAX_ADDED_WORDS])


def _apply_changes(text: str, changes: Sequence[_Change]) -> str:
    """Return the text with the changes: replacements from right to left, then appended words."""
    changed = text
    for each in sorted((each for each in changes if each.start >= 0), key=lambda c: -c.start):
        changed = f"{changed[: each.start]}{each.words}{changed[each.end :]}"
    appended = [each.words for each in changes if each.start < 0]
    return " ".join([changed, *appended])
