"""Names in a question: the known people and things that it names, also in part or misspelt.

Names are looked up inside the grant, so a hidden person resolves no name. A nickname, or a name
with one wrong letter, is a weaker match: it counts only if nothing visible has the written name and
exactly one known name is meant.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...core.access import Grant
from ...core.derive import first_name, name_part_key, normalize_name
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind
from ...text.nicknames import first_name_variants, misspellings
from ...text.predicates import PERSON_PREDICATES
from ...text.terms import STOP_WORDS, WORD, extract_terms
from .entities import PERSON_TYPE, EntityNames, find_full_name, resolve_names

MAX_NAME_WORDS = 4
MAX_WORDS = 60  # words of a question that are looked up
MAX_RECORDS = 500
MAX_GUESSED_WORDS = 4  # unknown words that are compared with known names
NAMED_KINDS = (MemoryKind.ENTITY, MemoryKind.FACT)

Guesses = dict[str, str | None]  # normalized word → the only known name that it may mean


@dataclass(frozen=True, slots=True)
class QuestionName:
    """A known person or thing that a question names."""

    written: tuple[str, ...]  # as in the question
    name: str  # display name of the entity
    spellings: frozenset[str]  # all its names, normalized
    is_person: bool = False


def find_question_names(
    store: Store,
    grant: Grant,
    text: str,
    people: Iterable[str] = (),
    *,
    guesses: Guesses | None = None,
) -> list[QuestionName]:
    """Return the known names in a text in their order, each entity once.

    `people` are names that are known without a record, such as the participants of a room. Longer
    names come before their parts: "Petroc Lanyon" is one name. `guesses` of `correct_names`, for
    the same people, are not looked up again.
    """
    guesses = {} if guesses is None else guesses
    words = list(WORD.finditer(text))[:MAX_WORDS]
    runs = list(_list_runs(text, words))
    known, persons = _load_known(store, grant, {key for _, _, key in runs}, people)
    taken: set[int] = set()
    found: dict[int, tuple[str, str]] = {}  # first word → written, known name
    for start, end, key in sorted(runs, key=lambda run: (run[0] - run[1], run[0])):
        full = known.get(key)
        if full is not None and taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            found[start] = (text[words[start].start() : words[end - 1].end()], full)
    unknown = [
        (number, word.group())
        for number, word in enumerate(words)
        if number not in taken and _may_be_name(word.group())
    ]
    for number, written in unknown[:MAX_GUESSED_WORDS]:
        key = normalize_name(_bare(written))
        if key not in guesses:
            guesses[key] = _guess_name(store, grant, key, people)
        if guess := guesses[key]:
            found[number] = (written, guess)
            persons |= _find_persons(_find_records(store, grant, [normalize_name(guess)]))
    persons |= {normalize_name(each) for each in people}
    return _resolve(store, grant, [found[number] for number in sorted(found)], persons)


def correct_names(
    store: Store,
    grant: Grant,
    question: str,
    people: Iterable[str] = (),
    *,
    guesses: Guesses | None = None,
) -> str:
    """Return the question with nicknames and misspelt names replaced by the names they mean.

    Only capitalized words are replaced that occur in no visible memory: with "Bob" in a message,
    Bob is not Robert. The first word of a question is seldom a name. What each word was guessed to
    mean is added to `guesses`.
    """
    guesses = {} if guesses is None else guesses
    names = list(people)
    known = {word for person in names for word in normalize_name(person).split()}
    words = [_bare(word) for word in WORD.findall(question)[1:MAX_WORDS]]
    unknown = [each for each in words if _may_be_name(each) and normalize_name(each) not in known]
    if not unknown:  # as usual: nothing is read
        return question
    corrected: dict[str, str] = {}
    with store.snapshot():
        for written in unknown:
            if len(corrected) == MAX_GUESSED_WORDS:
                break
            if store.memories.count_matching(grant, extract_terms(written)):
                continue
            key = normalize_name(written)
            guess = guesses[key] = _guess_name(store, grant, key, names)
            if guess:
                corrected[written] = guess
    for written, name in corrected.items():
        question = re.sub(rf"(?<!\w){re.escape(written)}(?!\w)", lambda _: name, question)  # noqa: B023
    return question


def _list_runs(text: str, words: Sequence[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    """Yield first word, end and normalized text of each run of words that may be a name."""
    is_content = [word.group().casefold() not in STOP_WORDS for word in words]
    for start in range(len(words)):
        if not is_content[start]:
            continue
        for end in range(start + 1, min(start + MAX_NAME_WORDS, len(words)) + 1):
            if is_content[end - 1]:
                run = text[words[start].start() : words[end - 1].end()]
                yield start, end, normalize_name(_bare(run))


def _bare(written: str) -> str:
    return written.removesuffix("'s").removesuffix("’s")


def _may_be_name(word: str) -> bool:
    """Return whether a word is capitalized and no stop word: others are rarely misspelt names."""
    return word[:1].isupper() and len(word) > 2 and word.casefold() not in STOP_WORDS


def _load_known(
    store: Store, grant: Grant, keys: set[str], people: Iterable[str]
) -> tuple[dict[str, str], set[str]]:
    """Return the known name of each of these keys, and the normalized names of persons.

    A known name is the key itself, or the only full name that it begins or ends.
    """
    known: dict[str, str] = {}
    parts: defaultdict[str, set[str]] = defaultdict(set)
    for person in people:
        key = normalize_name(person)
        known[key] = person
        if " " in key:
            parts[key.split()[0]].add(person)
    single = {name_part_key(key) for key in keys if " " not in key}
    records = _find_records(store, grant, keys | single)
    for record in records:
        for name in _written_names(record):
            key = normalize_name(name)
            if key in keys:
                known.setdefault(key, name)
            for part in _parts(key):
                parts[part].add(name)
    for key in keys - known.keys():
        full = {normalize_name(each): each for each in sorted(parts.get(key, ()))}
        if len(full) == 1:
            known[key] = next(iter(full.values()))
    return {key: name for key, name in known.items() if key in keys}, _find_persons(records)


def _find_persons(records: Iterable[Memory]) -> set[str]:
    """Return the normalized names that records state to be of persons."""
    persons: set[str] = set()
    for record in records:
        body = record.body
        if record.kind is MemoryKind.ENTITY:
            if body.get("type") == PERSON_TYPE:
                persons.update(map(normalize_name, _written_names(record)))
        elif body["predicate"].upper() in PERSON_PREDICATES:
            persons.add(normalize_name(body["subject"]))
    return persons


def _parts(key: str) -> set[str]:
    words = key.split()
    return {words[0], words[-1]} if len(words) > 1 else set()


def _find_records(store: Store, grant: Grant, names: Iterable[str]) -> list[Memory]:
    wanted = sorted(names)
    if not wanted:
        return []
    return store.memories.find_by_name(grant, wanted, kinds=NAMED_KINDS, limit=MAX_RECORDS)


def _written_names(record: Memory) -> Iterator[str]:
    body = record.body
    if record.kind is MemoryKind.ENTITY:
        if not body.get("same_as"):
            yield body["name"]
            yield from body.get("aliases", ())
        return
    yield body["subject"]
    if isinstance(body.get("object"), str):
        yield body["object"]


def _guess_name(store: Store, grant: Grant, key: str, people: Iterable[str]) -> str | None:
    """Return the only known name that a nickname or a name with one wrong letter may mean."""
    for variants in (first_name_variants(key), misspellings(key)):
        if not variants:
            continue
        meant = {normalize_name(each): each for each in people if _first(each) in variants}
        records = _find_records(store, grant, variants | {name_part_key(v) for v in variants})
        for record in records:
            for name in _written_names(record):
                if normalize_name(name) in variants or first_name(name) in variants:
                    meant.setdefault(normalize_name(name), name)
        full = _drop_first_names(meant)
        if full:
            return full[0] if len(full) == 1 else None
    return None


def _first(name: str) -> str:
    return (normalize_name(name).split() or [""])[0]


def _drop_first_names(meant: Mapping[str, str]) -> list[str]:
    """Return the names without those that begin another one: "Danuta" beside "Danuta Nowak"."""
    return [
        name
        for key, name in sorted(meant.items())
        if not any(other.startswith(f"{key} ") for other in meant)
    ]


def _resolve(
    store: Store, grant: Grant, found: Sequence[tuple[str, str]], persons: set[str]
) -> list[QuestionName]:
    """Return the entities of these names, each once, with the first names that mean them."""
    if not found:
        return []
    entities: list[EntityNames] = resolve_names(store, grant, [name for _, name in found])
    names: dict[str, QuestionName] = {}
    for (written, _), entity in zip(found, entities, strict=True):
        spellings = entity.spellings | find_full_name(store, grant, entity.name)
        is_person = not persons.isdisjoint(spellings)
        known = names.get(entity.name)
        names[entity.name] = QuestionName(
            (*known.written, written) if known else (written,),
            entity.name,
            frozenset(spellings),
            is_person,
        )
    return list(names.values())
