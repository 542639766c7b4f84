"""Rules that read a question: whether it is small talk, and which names it may contain."""

from __future__ import annotations

import re

from ..text.terms import STOP_WORDS, WORD

CAPITALIZED_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}")


MAX_CHAT_CHARS = 400  # a longer message is no small talk and no plain command
SMALL_TALK = frozenset(
    """hi hello hey yo hiya thanks thank thx ty tysm cheers ok okay kk yes yep yup yeah ya no nope
    nah sure great nice cool good fine right well super wonderful lovely brilliant excellent
    fantastic amazing awesome perfect neat sweet wow whoa oh ah aha ooh hm hmm mhm uh um er lol
    haha hahaha hehe ha morning afternoon evening night day bye goodbye ciao later soon welcome
    continue go ahead please much lot lots million ton bunch got it sounds works alright worries
    problem appreciate appreciated helpful helped kind fair enough makes sense true agreed exactly
    absolutely definitely indeed totally understood noted gotcha sorry oops never mind nevermind
    nvm today tonight tomorrow best hold sec wait moment one another again next see ya job done
    clear cute funny love loved like that's it's i'm you're let's don't""".split()
)
GREETINGS = frozenset("hi hello hey yo hiya".split())
GREETED = frozenset("all everyone everybody folks guys team friends".split())
DAY_GREETINGS = frozenset(("good", time) for time in ("morning", "afternoon", "evening", "day"))
# Words about the form of an answer, and verbs that ask for a new form of it.
FORM_WORDS = frozenset(
    """shorter longer simpler clearer casual formal informal polite friendly friendlier warmer
    funnier nicer stronger softer bolder brief briefer concise tone style bullet bullets points
    table markdown json csv yaml html text english french german spanish italian portuguese dutch
    polish swedish norwegian danish finnish russian chinese japanese korean arabic turkish latin
    sentence sentences word words paragraph paragraphs line lines heading headline title emoji
    emojis caps uppercase lowercase spelling grammar typo typos punctuation rhyme bit little less
    shorten rephrase reword rewrite translate proofread paraphrase simplify format reformat
    convert polish repeat retry redo try make turn put say write give sound spell summarize
    summarise joke jokes limerick haiku riddle poem flip coin dice roll correct fix plain two
    three four five ten half short""".split()
)
QUOTED = re.compile(r"[\"“«][^\"“”«»]{1,2000}[\"”»]|(?<!\w)['‘][^'‘’]{1,300}['’](?!\w)")
ASKS = frozenset("who whom whose what which when where why how did does is are was were".split())
REQUESTS = frozenset("can could would will please".split())


def is_chat(text: str) -> bool:
    """Return whether all words are those of small talk; question words are none of them."""
    return all(word.casefold() in SMALL_TALK for word in WORD.findall(text))


def is_small_talk(question: str) -> bool:
    """Return True if the question has no word to search for."""
    words = [word.casefold() for word in WORD.findall(question)]
    if len(words) > 1 and words[0] in SMALL_TALK and words[-1] in GREETED:
        words.pop()  # "hello everyone", "thanks all"
    return all(word in SMALL_TALK or word in STOP_WORDS for word in words) and (
        "?" not in question or not words
    )


def is_form_request(question: str) -> bool:
    """Return whether a message only asks for another form of a text: "shorter, please".

    A quoted text, and what follows a colon, is the text to change. Only "can you …?" and the like
    are requests with a question mark.
    """
    if len(question) > MAX_CHAT_CHARS + 2_000:
        return False
    request = QUOTED.sub(" ", question).partition(":")[0]
    words = [word.replace("’", "'") for word in WORD.findall(request[:MAX_CHAT_CHARS].casefold())]
    content = [
        word
        for word in words
        if word not in SMALL_TALK and word not in STOP_WORDS and not word.isdigit()
    ]
    if not content or not FORM_WORDS.issuperset(content):
        return False
    return REQUESTS.issuperset(words[:1]) if "?" in request else not ASKS.intersection(words[:2])


def is_greeting(question: str) -> bool:
    """Return whether a message without words to search for opens a conversation, or is empty."""
    words = [word.casefold() for word in WORD.findall(question[:MAX_CHAT_CHARS])]
    return not words or words[0] in GREETINGS or tuple(words[:2]) in DAY_GREETINGS


def needs_no_memory(question: str) -> bool:
    """Return whether a message is small talk, or a command about the form of a text."""
    return is_small_talk(question) or is_form_request(question)


def capitalized_names(question: str) -> list[str]:
    """Return the runs of capitalized words that may be names, without stop words."""
    return [
        name for name in CAPITALIZED_NAME.findall(question) if name.casefold() not in STOP_WORDS
    ]


def match_text(match: re.Match[str]) -> str:
    """Return the matched words in lower case, separated by single spaces."""
    return " ".join(match[0].split()).casefold()
