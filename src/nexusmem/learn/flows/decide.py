"""Decision for one message: does it stay in its place, and which of its sentences may leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .discretion import is_confidential, sensitive_topic
from .topics import ROOM_TOPICS, is_project, normalize_quotes, self_topics, split_sentences

# Chosen on bench/flows/dev.jsonl: rather keep a harmless message in its place than let a sensitive
# one out. A sentence that a pattern recognizes needs a lower score.
MIN_SCORE = 0.5
MIN_PRIVATE_SCORE = 0.35  # the copy has the same single reader: another agent of the speaker
MIN_SCORE_WITH_PATTERN = 0.15
MAX_HOME_SCORE = 0.4  # of a sentence that is copied to the shared profile
MAX_CONFIDENTIAL = 0.45
MAX_SENSITIVE = 0.55
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
    scores = classifier.score(sentences) if classifier else [None] * len(sentences)
    if any(each and _is_discreet(each) for each in scores):
        return MessageTopics(stays=True)
    pairs = [pair for pair in zip(sentences, scores, strict=True) if not _is_question(pair[0])]
    about = [each for each, score in pairs if _is_about_self(each, score, in_room=in_room)]
    of_project = [
        each
        for each, score in pairs
        if project and each not in about and _is_about_project(each, score)
    ]
    if len(sentences) <= MAX_WHOLE_SENTENCES:
        is_mixed = any(score and score.project >= MIN_SCORE > score.self for score in scores)
        if about and not in_room and not is_mixed:
            about = sentences
        if of_project and not about:
            of_project = sentences
    return MessageTopics(False, " ".join(about), " ".join(of_project))


def _is_discreet(scores: SentenceScores) -> bool:
    return scores.confidential >= MAX_CONFIDENTIAL or scores.sensitive >= MAX_SENSITIVE


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"')] ").endswith("?")


def _is_about_self(sentence: str, scores: SentenceScores | None, *, in_room: bool) -> bool:
    """Return whether the speaker states something about themselves that a profile may hold."""
    topics = self_topics(normalize_quotes(sentence).casefold())
    by_pattern = bool(topics & ROOM_TOPICS) if in_room else bool(topics)
    if in_room and topics and not by_pattern:
        return False  # family, home or origin: not for the shared profile
    if scores is None:
        return by_pattern
    if in_room and scores.home >= min(MAX_HOME_SCORE, scores.room):
        return False
    score = scores.room if in_room else scores.self
    least = MIN_SCORE if in_room else MIN_PRIVATE_SCORE
    if not in_room and score < scores.project:
        return False
    return score >= (MIN_SCORE_WITH_PATTERN if by_pattern else least)


def _is_about_project(sentence: str, scores: SentenceScores | None) -> bool:
    """Return whether a sentence states something about the project and not about the speaker."""
    plain = normalize_quotes(sentence)
    by_pattern = is_project(plain)
    if scores is None:
        return by_pattern and not self_topics(plain.casefold())
    least = MIN_SCORE_WITH_PATTERN if by_pattern else MIN_SCORE
    return scores.project >= max(least, scores.self)
