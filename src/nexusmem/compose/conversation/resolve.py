"""Resolution of questions: the last message with what the turns before it say it is about.

"Where does she live again?" after "My sister called." is searched as "Where does my sister live
again?", and "And Priya's?" after "When is Tom's birthday?" as "When is Priya's birthday?". The
rules read English with the dependency parser. They call no model and no store. A message that
stands alone, small talk and commands stay as they are, and the turns are not parsed for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...core.records.context import AddedWords
from ...learn.rules.grammar import Phrase, Tree
from ...learn.rules.lexicon import word_set
from ...text.terms import STOP_WORDS, normalize_words
from ..question import is_form_request, is_small_talk, needs_no_memory
from .mentions import (
    MAX_TURN_CHARS,
    POSSESSIVE_ENDINGS,
    QUESTION_WORDS,
    Mention,
    Reading,
    find_clause_verb,
    fit_pronoun,
    read_turns,
)
from .signs import (
    GENERIC_VERBS,
    OPENERS,
    ORDINALS,
    PRONOUNS,
    Reference,
    find_bare_definites,
    find_references,
    has_verb,
    is_fragment,
    lacks_topic,
    may_depend,
    names_nothing,
    needs_earlier,
)
from .turns import MAX_TURNS, Turn

MAX_QUESTION_CHARS = 300  # a longer message names what it is about
MAX_LIST_CHARS = 4_000  # of a turn that may be a list
MAX_LIST_ITEMS = 12
MAX_TOPICS = 4  # phrases of the user's last turn that are added
MAX_ANSWER_TOPICS = 2  # phrases of each answer to it
MAX_VERBS = 2
MAX_ADDED_WORDS = 16  # words added at one place
MIN_INSIDE_FIT = 1.0  # of a mention in the message itself
MAX_RIVAL_DISTANCE = 0.35  # of the score of a second person that a pronoun may mean
TURN_DISTANCE = 0.5  # that the score of a mention loses with each turn
MAX_GREETING_CHARS = 100

OWN_POSSESSIVES = word_set("his hers theirs")
FRAGMENT_OPENERS = OPENERS | word_set("what how about of ok okay hm hmm ,")
QUESTION_FILLERS = QUESTION_WORDS | word_set(
    "since until come so for long many much not exactly hot often"
)
TIME_PHRASE = re.compile(
    r"\b(?:(?:on|in|at|this|next|last|by|for) )?(?:today|tomorrow|yesterday|tonight"
    r"|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|january|february"
    r"|march|april|june|july|august|september|october|november|december|morning|afternoon|evening"
    r"|weekend|week|month|year)\b",
    re.IGNORECASE,
)
LIST_LINE = re.compile(r"^[ \t]{0,8}(?:\d{1,2}[.)]|[-*•])[ \t]{1,4}(\S.{0,200})", re.MULTILINE)
SENTENCE_BREAK = re.compile(r"(?<=[.!\n])\s")
LOOKUP_OFFER = re.compile(
    r"\b(?:(?:shall|should|can|could|may) i|(?:want|like) me to)\b[^?]{0,40}?"
    r"\b(?:check|look (?:it |that |this )?up|look|find out|find|remind|tell|pull|search|list|show"
    r"|recall|dig|go over|walk you|repeat)\b",
    re.IGNORECASE,
)
AGREEMENT = re.compile(
    r"\W*(?:yes|yeah|yep|yup|sure|ok|okay|please|go ahead|do it|please do|of course|go for it)\b",
    re.IGNORECASE,
)
GREETING = re.compile(
    r"\bhow(?:'s| is| are| was|'re)? (?:you|things|it going|your (?:day|morning|evening|weekend))"
    r"\b[^?]{0,30}\?\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedQuestion:
    """The text to search with, and the words of it that come from the turns before."""

    text: str
    added: tuple[AddedWords, ...] = ()
    topics: str = ""  # the end of the text: only what the turns before it were about
    needs_memory: bool = True  # False: it only answers a greeting


@dataclass(frozen=True, slots=True)
class _Change:
    """Words that replace a part of a turn, or are appended to it."""

    words: str
    why: str
    start: int = -1  # -1: the words are appended
    end: int = -1
    mentions: tuple[Mention, ...] = ()
    sources: tuple[int, ...] = ()  # positions of the turns that they come from


def resolve_question(question: str, turns: Sequence[Turn]) -> ResolvedQuestion:
    """Return the question with what the turns before it add; unchanged if it stands alone.

    The last MAX_TURNS turns are read, and the start of each.
    """
    unchanged = ResolvedQuestion(text=question)
    if not turns or len(question) > MAX_QUESTION_CHARS or not question.strip():
        return unchanged
    earlier = turns[-MAX_TURNS:]
    if needs_no_memory(question):
        return _resolve_offer(question, earlier) or unchanged
    if _answers_greeting(question, earlier[-1]) or _continues_form_request(question, earlier):
        return replace(unchanged, needs_memory=False)
    return _resolve_dependent(question, earlier) or unchanged


def _resolve_dependent(question: str, earlier: Sequence[Turn]) -> ResolvedQuestion | None:
    """Return the question with the words that it lacks; None if it lacks none."""
    if not may_depend(question):
        return None
    (asked,) = read_turns([Turn(question)])
    is_answer = _answers_question(asked, earlier[-1])
    if not is_answer and not any(map(needs_earlier, asked.trees)):
        return None
    readings = _resolve_turns(earlier)
    changes = _find_changes(asked, readings)
    if is_answer and not changes:
        changes = _add_topic("it answers a question", readings, but=asked.text)
    if not changes:
        return None
    added = {
        each.words: AddedWords(
            words=each.words,
            why=each.why,
            events=tuple(id for at in each.sources for id in earlier[at].load_ids()),
        )
        for each in reversed(changes)
    }
    return ResolvedQuestion(
        text=_apply_changes(asked.text, [*changes, *_drop_small_talk(asked)]),
        added=tuple(reversed(added.values())),
        topics=_appended_words(changes),
    )


def _continues_form_request(question: str, earlier: Sequence[Turn]) -> bool:
    """Return whether "and in Spanish?" follows a request like "translate this into French"."""
    asked = next((turn.text for turn in reversed(earlier) if turn.is_user), "")
    return is_form_request(asked) and is_form_request(question.replace("?", " "))


def _answers_question(asked: Reading, last: Turn) -> bool:
    """Return whether a short phrase answers a question of the assistant: "the one from work"."""
    is_asked = not last.is_user and last.text[-MAX_TURN_CHARS:].rstrip().endswith("?")
    is_phrase = bool(asked.own_mentions) and not any(map(has_verb, asked.trees))
    return is_asked and is_phrase and "?" not in asked.text


def _drop_small_talk(asked: Reading) -> Iterator[_Change]:
    """Yield changes that remove the sentences without a word to search for: "Oh yes!"."""
    for tree in asked.trees[:-1]:
        start, end = tree.sentence[0].start, tree.sentence[-1].end
        if is_small_talk(asked.text[start:end]):
            yield _Change("", "", start, end)


def _answers_greeting(answer: str, last: Turn) -> bool:
    """Return whether a message without a question only answers "How are you?"."""
    if last.is_user or "?" in answer or len(answer) > MAX_GREETING_CHARS:
        return False
    names = (word for word in answer.split()[1:] if word[:1].isupper() and word[:1] != "I")
    return bool(GREETING.search(last.text[-MAX_GREETING_CHARS:])) and next(names, None) is None


def _resolve_offer(question: str, earlier: Sequence[Turn]) -> ResolvedQuestion | None:
    """Return what the assistant offers to look up, if the question only says yes to it."""
    last = earlier[-1]
    if last.is_user or not AGREEMENT.match(question):
        return None
    offer = SENTENCE_BREAK.split(last.text[-MAX_TURN_CHARS:].strip())[-1]
    match = LOOKUP_OFFER.search(offer) if offer.endswith("?") else None
    wanted = offer[match.end() :].strip(" ?") if match else ""
    if not wanted:
        return None
    base = resolve_question(wanted, earlier[:-1])
    why = f"“{question.strip()}” accepts what the message before offers"
    words = AddedWords(words=base.text, why=why, events=last.load_ids())
    return ResolvedQuestion(text=base.text, added=(words, *base.added), topics=base.topics)


def _resolve_turns(turns: Sequence[Turn]) -> list[Reading]:
    """Return the turns, each with what its pronouns refer to; elliptic questions are completed."""
    readings: list[Reading] = []
    for reading in read_turns(turns):
        changes = _find_changes(reading, readings)
        completed = reading
        if changes and reading.turn.is_user and any(map(is_fragment, reading.trees)):
            text = _apply_changes(reading.text, changes)
            (completed,) = read_turns([replace(reading.turn, text=text)])
        completed.carried = [mention for change in changes for mention in change.mentions]
        readings.append(completed)
    return readings


def _apply_changes(text: str, changes: Sequence[_Change]) -> str:
    """Return the text with the changes: replacements from right to left, then appended words."""
    replaced = sorted((each for each in changes if each.start >= 0), key=lambda each: -each.start)
    for each in replaced:
        text = f"{text[: each.start]}{each.words}{text[each.end :]}"
    return " ".join(filter(None, (text.strip(), _appended_words(changes))))


def _appended_words(changes: Iterable[_Change]) -> str:
    return " ".join(each.words for each in changes if each.start < 0)


def _find_changes(asked: Reading, earlier: Sequence[Reading]) -> list[_Change]:
    """Return what the earlier turns add to a turn."""
    if not earlier or (not asked.has_content and "?" not in asked.text):
        return []
    changes: list[_Change] = []
    for tree in asked.trees:
        start = tree.sentence[0].start
        before = [each for each in asked.own_mentions if each.end <= start]
        if not (asked.turn.is_user and is_fragment(tree)):
            found = list(_resolve_references(tree, asked, before, earlier))
            if not found and not changes and not before and lacks_topic(tree):
                found = _add_topic("it does not name its topic", earlier)
            changes += found
        elif before:
            changes += _add_topic(_why_continued(tree), earlier)
        elif (change := _complete_fragment(tree, asked, earlier)) is not None:
            return [*changes, change]
    return changes


# References


def _resolve_references(
    tree: Tree, asked: Reading, before: Sequence[Mention], earlier: Sequence[Reading]
) -> Iterator[_Change]:
    """Yield the changes for the references of a sentence; the topic is added once."""
    references = list(find_references(tree))
    has_one = any(kind is Reference.ONE for _, kind in references)
    topic: list[_Change] | None = None
    for at, kind in references:
        first, here = tree.sentence[0].start, tree.sentence[at].start
        same = [each for each in asked.own_mentions if first <= each.start and each.end <= here]
        is_one = has_one and tree.lower[at] in ("it", "its")  # "the other one, what does it cost?"
        if is_one or _is_resolved_inside(tree, at, kind, before, same):
            continue
        change = _replace_reference(tree, at, kind, earlier)
        if change is not None:
            yield change
        if topic is None and _wants_topic(tree, change, before):
            why = f"what “{tree.sentence[at].text}” may refer to"
            topic = _add_topic(why, earlier, but=change.words if change else "")
            yield from topic
    for at in find_bare_definites(tree):
        described = _describe_noun(tree, at, before, earlier)
        if described is not None:
            yield described


def _is_resolved_inside(
    tree: Tree, at: int, kind: Reference, before: Sequence[Mention], same: Sequence[Mention]
) -> bool:
    """Return whether the message itself names what a word refers to.

    `before` are mentions of earlier sentences, `same` those of the same sentence.
    """
    if kind is Reference.PRONOUN:
        return _is_named_inside(tree, at, before, same)
    if kind is Reference.THERE:
        return any(each.is_place or each.preposition in ("in", "at", "to") for each in same)
    if kind is Reference.ONE:
        return False
    return bool(before) or (kind is not Reference.TOPIC and bool(same) and at > 3)


def _is_named_inside(
    tree: Tree, at: int, before: Sequence[Mention], same: Sequence[Mention]
) -> bool:
    """Return whether a pronoun fits a mention before it, in another clause if in one sentence."""
    pronoun = PRONOUNS[tree.lower[at]]
    if any(fit_pronoun(pronoun, each) >= MIN_INSIDE_FIT for each in before):
        return True
    verb, is_owner = find_clause_verb(tree, at), tree.relation(at) == "nmod:poss"
    start = tree.sentence[verb].start
    return any(
        is_owner or (each.end <= start and _verb_of(tree, each) != verb)
        for each in same
        if fit_pronoun(pronoun, each) >= MIN_INSIDE_FIT
    )


def _verb_of(tree: Tree, mention: Mention) -> int | None:
    places = (at for at, token in enumerate(tree.sentence) if token.end == mention.end)
    place = next(places, None)
    return None if place is None else find_clause_verb(tree, place)


def _replace_reference(
    tree: Tree, at: int, kind: Reference, earlier: Sequence[Reading]
) -> _Change | None:
    if kind is Reference.PRONOUN:
        return _replace_pronoun(tree, at, earlier)
    if kind is Reference.THERE:
        return _replace_place(tree, at, earlier)
    return _choose_from_list(tree, at, earlier) if kind is Reference.ONE else None


def _wants_topic(tree: Tree, change: _Change | None, before: Sequence[Mention]) -> bool:
    """Return whether what replaced a reference does not say enough to search with."""
    if change is None:
        return True
    is_thing = not any(each.is_person for each in change.mentions)
    return bool(change.mentions) and not before and (is_thing or names_nothing(tree))


def _replace_pronoun(tree: Tree, at: int, earlier: Sequence[Reading]) -> _Change | None:
    """Return the best mention for a pronoun, and a second one that is nearly as good."""
    word, token = tree.lower[at], tree.sentence[at]
    ranked = _rank_mentions(PRONOUNS[word], earlier)
    if not ranked:
        return None
    best, source, mention = ranked[0]
    rivals = [
        each
        for score, number, each in ranked[1:]
        if number == source
        and best - score < MAX_RIVAL_DISTANCE
        and each.text.lower() not in mention.text.lower()
        and mention.text.lower() not in each.text.lower()
    ]
    chosen = (mention, *rivals[:1])
    words = " and ".join(each.text for each in chosen)
    if token.deprel == "nmod:poss" or word in OWN_POSSESSIVES:
        words += "'s"
    why = f"instead of “{token.text}”"
    return _Change(words, why, token.start, token.end, chosen, (source,))


def _rank_mentions(pronoun: str, earlier: Sequence[Reading]) -> list[tuple[float, int, Mention]]:
    """Return the mentions that fit a pronoun with a score and their turn, best first."""
    found = []
    for number, reading in reversed(list(enumerate(earlier))):
        distance = TURN_DISTANCE * (len(earlier) - 1 - number) - 0.1 * reading.turn.is_user
        for mention in reading.mentions:
            fit = fit_pronoun(pronoun, mention)
            if fit > 0:
                bonus = 0.2 * mention.is_subject + 0.2 * mention.is_main
                found.append((fit + bonus - distance, number, mention))
    return sorted(found, key=lambda each: -each[0])


def _replace_place(tree: Tree, at: int, earlier: Sequence[Reading]) -> _Change | None:
    """Return the nearest place for "there"."""
    token = tree.sentence[at]
    for number, reading in reversed(list(enumerate(earlier))):
        places = [each for each in reading.mentions if each.is_place] or [
            each
            for each in reading.mentions
            if each.preposition in ("in", "at", "into") and not each.is_person
        ]
        if places:
            words, why = f"in {places[-1].text}", f"instead of “{token.text}”"
            return _Change(words, why, token.start, token.end, (places[-1],), (number,))
    return None


def _describe_noun(
    tree: Tree, at: int, before: Sequence[Mention], earlier: Sequence[Reading]
) -> _Change | None:
    """Return the fuller name of a thing: "the staging database" for "the database"."""
    token, lemma = tree.sentence[at], tree.sentence[at].lemma.lower()
    if any(each.lemma == lemma for each in before):
        return None
    for number, reading in reversed(list(enumerate(earlier))):
        for mention in reversed(reading.own_mentions):
            if mention.lemma == lemma and mention.is_modified:
                determiner = tree.child(at, "det")
                start = tree.sentence[at if determiner is None else determiner].start
                is_owned = mention.text.startswith(("my ", "our ")) or "'s " in mention.text
                words = mention.text if is_owned else f"the {mention.text}"
                why = f"instead of “the {token.text}”"
                return _Change(words, why, start, token.end, (mention,), (number,))
    return None


def _choose_from_list(tree: Tree, at: int, earlier: Sequence[Reading]) -> _Change | None:
    """Return the item of a list that "the second one" or "the other one" refers to."""
    described = [tree.lower[at], *(tree.lower[child] for child in tree.children[at])]
    ordinals = [ORDINALS[word] for word in described if word in ORDINALS]
    is_other = not {"other", "others"}.isdisjoint(described)
    found = _nearest_list(earlier) if ordinals or is_other else None
    if found is None:
        return None
    source, items = found
    if is_other:
        last_said = normalize_words(" ".join(each.turn.text[:500] for each in earlier[-2:]))
        items = [each for each in items if normalize_words(each) not in last_said] or items
    ordinal = 0 if is_other else ordinals[-1]
    if ordinal >= len(items):
        return None
    determiner, end = tree.child(at, "det"), tree.sentence[at].end
    start = tree.sentence[at if determiner is None else determiner].start
    words, why = _first_words(items[ordinal]), f"instead of “{tree.text[start:end]}”"
    return _Change(words, why, start, end, (), (source,))


def _nearest_list(earlier: Sequence[Reading]) -> tuple[int, list[str]] | None:
    """Return the newest enumeration and its turn: lines with numbers, or "A, B and C"."""
    for number, reading in reversed(list(enumerate(earlier))):
        lines = LIST_LINE.findall(reading.turn.text[:MAX_LIST_CHARS])[:MAX_LIST_ITEMS]
        if len(lines) > 1:
            return number, lines
        for tree in reading.trees:
            if items := _coordinated_phrases(tree):
                return number, items
    return None


def _coordinated_phrases(tree: Tree) -> list[str]:
    """Return the first nouns of a sentence that are coordinated: "A, B and C"."""
    for at, token in enumerate(tree.sentence):
        others = [child for child in tree.children[at] if tree.relation(child) == "conj"]
        heads = [at, *others] if others and token.upos in ("NOUN", "PROPN") else []
        if heads and all(tree.sentence[each].upos in ("NOUN", "PROPN") for each in heads):
            return [Phrase(tree, each).short_text for each in heads]
    return []


# Topics


def _add_topic(why: str, earlier: Sequence[Reading], *, but: str = "") -> list[_Change]:
    """Return what the last turns are about: the user's newest, and names of the answer to it.

    Phrases that are part of `but` are left out.
    """
    at = _last_content(earlier)
    if at is None:
        return []
    texts: list[str] = []
    sources = [at]
    for number, reading in enumerate(earlier[at:], start=at):
        mentions = reading.mentions[:MAX_TOPICS]
        if number > at:
            named = (each for each in reading.mentions if each.is_name or each.is_modified)
            mentions = list(named)[:MAX_ANSWER_TOPICS]
        for mention in mentions:
            if mention.text.lower() not in " ".join([but, *texts]).lower():
                texts.append(mention.text)
                sources.append(number)
    said = normalize_words(but).split()
    verbs = [each for each in _content_verbs(earlier[at].trees) if each.lower() not in said]
    words = _first_words(" ".join([*texts, *verbs[:MAX_VERBS]]))
    carried = tuple(earlier[at].mentions[:MAX_TOPICS])
    return [_Change(words, why, mentions=carried, sources=tuple(sorted({*sources})))] * bool(words)


def _content_verbs(trees: Iterable[Tree]) -> list[str]:
    return [
        token.text
        for tree in trees
        for token in tree.sentence
        if token.upos == "VERB"
        and token.lemma.lower() not in GENERIC_VERBS
        and token.text.lower() not in STOP_WORDS
    ]


def _last_content(earlier: Sequence[Reading]) -> int | None:
    """Return the position of the user's newest turn that names something, else of any turn."""
    named = [at for at, each in enumerate(earlier) if each.mentions and each.has_content]
    by_user = [at for at in named if earlier[at].turn.is_user]
    return next(reversed(by_user or named), None)


# Fragments


def _why_continued(tree: Tree) -> str:
    start, end = tree.sentence[0].start, tree.sentence[-1].end
    return f"“{_first_words(tree.text[start:end])}” continues what was said before"


def _complete_fragment(tree: Tree, asked: Reading, earlier: Sequence[Reading]) -> _Change | None:
    """Return the earlier question with the new part in it: "When is Priya's birthday?"."""
    at = _last_content(earlier)
    if at is None:
        return None
    base, why = earlier[at], _why_continued(tree)
    start, end = tree.sentence[0].start, tree.sentence[-1].end
    continued = _continued_sentence(base)
    new = _new_part(tree, asked, earlier)
    if new is None:
        words = " ".join([_sentence_text(continued), *_answer_names(earlier[at + 1 :], continued)])
        return _Change(words, why, mentions=tuple(base.mentions), sources=(at,))
    text, mention = new
    slot = _find_slot(mention, text, base, continued)
    words = _fill_slot(continued, slot, text)
    carried = tuple(each for each in base.mentions if each is not slot)
    return _Change(words, why, start, end, carried, (at,))


def _continued_sentence(base: Reading) -> Tree:
    """Return the sentence that a fragment continues: the last question, else the last sentence."""
    content = [tree for tree in base.trees if not is_small_talk(" ".join(tree.lower))]
    asked = [tree for tree in content if "?" in tree.lower or tree.is_question]
    return (asked or content or base.trees)[-1]


def _sentence_text(tree: Tree) -> str:
    return tree.text[tree.sentence[0].start : tree.sentence[-1].end]


def _answer_names(answers: Iterable[Reading], continued: Tree) -> list[str]:
    """Return names in the answers that the question lacks, for "why?" and "since when?"."""
    known = _sentence_text(continued).lower()
    return [
        mention.text
        for reading in answers
        for mention in reading.own_mentions
        if (mention.is_name or mention.is_modified) and mention.text.lower() not in known
    ][:MAX_ANSWER_TOPICS]


def _new_part(
    tree: Tree, asked: Reading, earlier: Sequence[Reading]
) -> tuple[str, Mention | None] | None:
    """Return the new part of a fragment and its mention; None for "why?" and "since when?"."""
    positions = _trim_fragment(tree)
    if QUESTION_FILLERS.issuperset(tree.lower[at] for at in positions):
        return None
    start, end = tree.sentence[positions[0]].start, tree.sentence[positions[-1]].end
    for at, kind in find_references(tree):
        change = _replace_reference(tree, at, kind, earlier)
        if change is not None and change.start >= start and change.end <= end:
            text = tree.text[start : change.start] + change.words + tree.text[change.end : end]
            return text, next(iter(change.mentions), None)
    inside = [each for each in asked.own_mentions if start <= each.start and each.end <= end]
    longest = max(inside, key=lambda each: each.end - each.start, default=None)
    return tree.text[start:end], longest


def _trim_fragment(tree: Tree) -> list[int]:
    """Return the words of a fragment without "and", "what about" and punctuation."""
    positions = list(range(len(tree.sentence)))
    while positions and _opens_fragment(tree.lower[positions[0]], len(positions)):
        positions = positions[1:]
    while positions and not tree.lower[positions[-1]].strip("'’").isalnum():
        positions = positions[:-1]
    return positions


def _opens_fragment(word: str, length: int) -> bool:
    is_chat = length > 1 and word not in STOP_WORDS and is_small_talk(word)
    return word in FRAGMENT_OPENERS or is_chat


def _fill_slot(continued: Tree, slot: Mention | None, text: str) -> str:
    """Return the sentence with the new part instead of the slot, or after it."""
    sentence, offset = _sentence_text(continued), continued.sentence[0].start
    if slot is None:
        return f"{sentence.rstrip(' ?.!')} {text}?"
    before, after = sentence[: slot.start - offset], sentence[slot.end - offset :]
    if text.endswith(POSSESSIVE_ENDINGS) and after.startswith(POSSESSIVE_ENDINGS):
        after = after[2:]
    return f"{before}{text}{after}"


def _find_slot(new: Mention | None, text: str, base: Reading, continued: Tree) -> Mention | None:
    """Return the part of the earlier question that the new part replaces; None: it is added."""
    first, last = continued.sentence[0].start, continued.sentence[-1].end
    inside = [each for each in base.own_mentions if first <= each.start and each.end <= last]
    is_owner = text.lower().endswith((*POSSESSIVE_ENDINGS, "hers", "his", "theirs"))
    if (new is not None and new.is_person) or is_owner:
        return _find_person_slot(new, inside, continued, is_owner=is_owner)
    if TIME_PHRASE.search(text):
        match = TIME_PHRASE.search(base.text, first, last)
        return Mention(match[0], "", "it", match.start(), match.end()) if match else None
    if new is None:
        return None
    if new.preposition not in ("", "about", "of"):
        same = [each for each in inside if each.preposition == new.preposition]
        return _with_preposition(same[-1], base.text) if same else None
    if new.is_name:
        names = [each for each in inside if each.is_name and not each.is_person]
        return names[-1] if names else _last_name(continued)
    return _find_thing_slot(new, text, inside, base.text)


def _find_person_slot(
    new: Mention | None, inside: Sequence[Mention], continued: Tree, *, is_owner: bool
) -> Mention | None:
    people = [each for each in inside if each.is_person]
    if not people and is_owner:
        people = list(_owners(continued))
    if not people and new is not None and new.is_name:
        people = [each for each in inside if each.is_name]
    return people[0] if people else None


def _find_thing_slot(
    new: Mention, text: str, inside: Sequence[Mention], base: str
) -> Mention | None:
    """Return the first thing without a preposition; its owner stays unless the new part has one."""
    things = [each for each in inside if not each.is_person]
    if not ORDINALS.keys().isdisjoint(normalize_words(text).split()):
        for each in things:
            if not ORDINALS.keys().isdisjoint(normalize_words(each.text).split()):
                return each
    open_things = [each for each in inside if not _is_asked_for(each, base)]
    nouns = [each for each in open_things if not each.preposition and not each.is_name]
    others = [each for each in open_things if each in things and each.preposition]
    free = [each for each in nouns if not each.is_person] or nouns or others[-1:]
    if not free:
        return None
    slot = free[0]
    if new.is_modified:
        starts = [
            each.start
            for each in inside
            if base[each.end : slot.start].strip() in POSSESSIVE_ENDINGS
        ]
        return replace(slot, start=min([slot.start, *starts]))
    owner = base.find("'s ", slot.start, slot.end)
    return slot if owner < 0 else replace(slot, start=owner + len("'s "))


def _is_asked_for(mention: Mention, base: str) -> bool:
    """Return whether a mention is what the question asks for: "which paint"."""
    return base[mention.start : mention.end].lower().startswith(("which ", "what "))


def _with_preposition(mention: Mention, text: str) -> Mention:
    start = text.rfind(mention.preposition, 0, mention.start)
    return replace(mention, start=start) if start >= 0 else mention


def _last_name(continued: Tree) -> Mention | None:
    """Return the last name that is part of a phrase: "Berlin" in "the Berlin office"."""
    for token in reversed(continued.sentence):
        if token.upos == "PROPN" and token.deprel == "compound":
            return Mention(token.text, token.lemma, "it", token.start, token.end)
    return None


def _owners(continued: Tree) -> Iterator[Mention]:
    """Yield "my" in "my lease"."""
    for token in continued.sentence:
        if token.deprel == "nmod:poss":
            yield Mention(token.text, token.lemma, "?", token.start, token.end)


def _first_words(text: str) -> str:
    return " ".join(text.split()[:MAX_ADDED_WORDS])
