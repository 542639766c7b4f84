"""Decision for one message: does it stay in its place, and which of its sentences may leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .discretion import is_confidential, sensitive_topic
from .topics import (
    I_SUBJECT,
    ROOM_TOPICS,
    is_about_home,
    is_about_us,
    is_project,
    normalize_quotes,
    self_topics,
    split_clauses,
    split_sentences,
)

# Chosen on bench/flows/dev.jsonl: rather keep a harmless message in its place than let a sensitive
# one out. A sentence that a pattern recognizes needs a lower score.
MIN_SCORE = 0.5
MIN_PRIVATE_SCORE = 0.35  # the copy has the same single reader: another agent of the speaker
MIN_SCORE_WITH_PATTERN = 0.15
MIN_SCORE_IN_FIRST_PERSON = 0.8  # "I …" is about the project only if it is a task or promise
MAX_HOME_SCORE = 0.7  # of a sentence that is copied to a project
MAX_HOME_RATIO = 0.8  # of the scores `home` and `room` in a sentence for the shared profile
MAX_CONFIDENTIAL = 0.4
MAX_SENSITIVE = 0.5
MAX_WHOLE_SENTENCES = 3  # a short message is copied whole: its sentences explain each other
MAX_SENTENCES = 200


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Probabilities that a sentence has each label."""

    self: float  # about the speaker, any topic
    room: float  # about the speaker, a topic of the shared profile
    home: float  # about the speaker, another topic: home, family, origin, age
    project: float
    confidential: float
    sensitive: float


class SentenceClassifier(Protocol):
    """Scores the sentences of a message; implemented by `embedders/flow_classifier.py`."""

    def score(self, sentences: Sequence[str]) -> list[SentenceScores]: ...


@dataclass(frozen=True, slots=True)
class MessageTopics:
    """What may leave the place of a message, word for word."""

    stays: bool = False  # confidential or sensitive
    self_text: str = ""  # sentences about the speaker
    project_text: str = ""  # sentences about the project


def decide_topics(
    classifier: SentenceClassifier | None, text: str, *, in_room: bool, project: bool
) -> MessageTopics:
    """Return what may leave the place of a message; without a classifier by patterns alone."""
    if is_confidential(text) or sensitive_topic(text):
        return MessageTopics(stays=True)
    sentences = split_sentences(text)
    if len(sentences) > MAX_SENTENCES:
        return MessageTopics(stays=True)
    pairs = _score_each(classifier, sentences)
    if any(scores and _is_discreet(scores) for _, scores in pairs):
        return MessageTopics(stays=True)
    whole = len(pairs) <= MAX_WHOLE_SENTENCES
    if in_room:
        pairs = [piece for pair in pairs for piece in _split_mixed(classifier, pair)]
        whole = whole and len(pairs) == len(sentences)
    stated = [pair for pair in pairs if not _is_question(pair[0])]
    about = [each for each, scores in stated if _is_about_self(each, scores, in_room=in_room)]
    of_project = [
        each
        for each, scores in stated
        if project and each not in about and _is_about_project(each, scores)
    ]
    if whole:
        if about and not in_room and not any(_is_only_project(scores) for _, scores in pairs):
            about = sentences
        if of_project and not any(_is_personal(each, scores) for each, scores in pairs):
            of_project = sentences
    return MessageTopics(False, " ".join(about), " ".join(of_project))


Scored = tuple[str, SentenceScores | None]


def _score_each(classifier: SentenceClassifier | None, sentences: Sequence[str]) -> list[Scored]:
    scores = classifier.score(sentences) if classifier else [None] * len(sentences)
    return list(zip(sentences, scores, strict=True))


def _split_mixed(classifier: SentenceClassifier | None, sentence: Scored) -> list[Scored]:
    """Return the clauses of a sentence about the project and the speaker, else the sentence."""
    clauses = split_clauses(sentence[0])
    if len(clauses) == 1:
        return [sentence]
    scored = _score_each(classifier, clauses)
    topics = {
        (_is_about_self(each, scores, in_room=True), _is_about_project(each, scores))
        for each, scores in scored
    }
    return scored if len(topics) > 1 else [sentence]


def _is_only_project(scores: SentenceScores | None) -> bool:
    return scores is not None and scores.project >= MIN_SCORE > scores.self


def _is_personal(sentence: str, scores: SentenceScores | None) -> bool:
    """Return whether a sentence is about the speaker, on any topic."""
    plain = normalize_quotes(sentence).casefold()
    if scores is None or is_about_home(plain):
        return is_about_home(plain) or bool(self_topics(plain))
    return scores.home >= MAX_HOME_SCORE or scores.self >= max(MIN_SCORE, scores.project)


def asks_for_discretion(classifier: SentenceClassifier | None, text: str) -> bool:
    """Return whether a message asks to keep something confidential."""
    if is_confidential(text):
        return True
    sentences = split_sentences(text)[:MAX_SENTENCES]
    scores = classifier.score(sentences) if classifier else []
    return any(each.confidential >= MAX_CONFIDENTIAL for each in scores)


def _is_discreet(scores: SentenceScores) -> bool:
    return scores.confidential >= MAX_CONFIDENTIAL or scores.sensitive >= MAX_SENSITIVE


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"')] ").endswith("?")


def _is_about_self(sentence: str, scores: SentenceScores | None, *, in_room: bool) -> bool:
    """Return whether the speaker states something about themselves that a profile may hold."""
    plain = normalize_quotes(sentence).casefold()
    topics = self_topics(plain)
    by_pattern = bool(topics & ROOM_TOPICS) if in_room else bool(topics)
    if in_room and ((topics and not by_pattern) or is_about_home(plain) or is_about_us(sentence)):
        return False  # family, home, origin or the project: not for the shared profile
    if scores is None:
        return by_pattern
    if in_room and (
        scores.home >= min(MAX_HOME_SCORE, scores.room) or scores.project > scores.room
    ):
        return False
    score = scores.room if in_room else scores.self
    least = MIN_SCORE if in_room else MIN_PRIVATE_SCORE
    if not in_room and score < scores.project:
        return False
    return score >= (MIN_SCORE_WITH_PATTERN if by_pattern else least)


def _is_about_project(sentence: str, scores: SentenceScores | None) -> bool:
    """Return whether a sentence states something about the project and not about the speaker."""
    plain = normalize_quotes(sentence)
    lower = plain.casefold()
    by_pattern = is_project(plain)
    if scores is None:
        return by_pattern and not self_topics(lower)
    if self_topics(lower) or is_about_home(lower) or scores.home >= MAX_HOME_SCORE:
        return False
    least = MIN_SCORE_WITH_PATTERN if by_pattern else MIN_SCORE
    if I_SUBJECT.search(lower) and not by_pattern:
        least = MIN_SCORE_IN_FIRST_PERSON
    return scores.project >= max(least, scores.self)
