"""Generator of chat messages and questions of a small team, filled from patterns.

The output depends only on the seed. Equal messages are rare.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any


def _split_list(text: str) -> list[str]:
    return text.replace("\n", "").split("|")


PEOPLE = "alice bob carol dan".split()
NAMES = "Mara Tyler Ines Jonas Priya Omar Lena Hugo Yuki Nadia Pavel Rosa Sven Amara".split()
COMPANIES = "Northwind Helio Quarry Bluefin Ironbridge Larkspur Tamarack Osprey".split()
CITIES = "Lisbon Oslo Kyoto Toronto Nairobi Leipzig Porto Galway".split()
THINGS = _split_list(
    """invoice import|search page|billing report|mobile menu|audit log|price list|export job|
sign-up form|backup script|release note|support inbox|warehouse map|holiday calendar|login page|
shipping label|photo archive|chat widget|tax table|sensor feed|translation file|booking calendar|
rate limiter|seat plan|welcome mail|payment queue|customer survey|test server|colour theme"""
)
TOOLS = "Postgres Redis Kafka Grafana Figma Terraform Nginx Celery Vite Django Stripe".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday".split()
REMARKS = _split_list(
    """that took longer than I hoped|nobody had noticed for weeks|I had to read it twice|
the customer was rather patient about it|it only happens on old phones|
we should have seen it coming|
my train was late again so I missed half of it|it looks much calmer than before|
there is a queue in front of the kitchen as well|the numbers were off by a little|
it worked on the second attempt|I am still not sure why|we can do better than that|
I wrote a small test so that it stays that way|the office was freezing all morning"""
)

MESSAGE_PATTERNS = (
    "We decided to use {tool} for the {thing}, {remark}.",
    "I'll finish the {thing} by {day}, promised.",
    "{name} from {company} asked about the {thing} again, {remark}.",
    "Can somebody look at the {thing} before {day}? I am stuck with {tool}.",
    "The {thing} is slow since {day}, around {number} seconds, and {remark}.",
    "I prefer {tool} over {tool2} for the {thing}, to be honest.",
    "Good morning! I was in {city} over the weekend, {remark}.",
    "The {thing} is limited to {number} rows now, {remark}.",
    "I talked to {name} about the {thing} and the {thing2}, and {remark}.",
    "{name} moved to {city}, so calls about the {thing} are in the afternoon.",
    "Correction: the {thing} costs {number} euros and not what I said on {day}.",
    "Does anybody remember why the {thing} needs {tool}? It seems {remark}.",
    "The meeting about the {thing} is moved to {day}, {remark}.",
    "Lunch? I found a place near the station, {remark}.",
    "I restarted {tool} and the {thing} came back, {remark}.",
    "{company} wants the {thing} in their own colours, {remark}.",
    "My part of the {thing} is done, {name} reads it on {day}.",
    "Thanks for the help with the {thing}, {remark}.",
    "For the {thing} we agreed on {number} items a page, {remark}.",
    "Haha, the {thing} says {number} days again, {remark}.",
)
QUESTION_PATTERNS = (
    "What did we decide about the {thing} and the {thing2}?",
    "Who wanted the {thing} of {company} to be changed, and when was that?",
    "How do I restart the {thing} when {tool} is down?",
    "What did {person} say about the {thing} last week?",
    "What is the limit of the {thing}, was it {number}?",
    "What did {name} want from us, was it about the {thing}?",
    "When is the meeting about the {thing} with {company}?",
    "Which of us promised to finish the {thing} before the {thing2}?",
    "What does {person} prefer for the {thing}, {tool} or {tool2}?",
    "Is the {thing} still slow, or did somebody repair it on {day}?",
)
THREAD = 12  # messages per conversation
PAUSE = timedelta(minutes=1)  # between messages
BETWEEN = timedelta(hours=5)  # between conversations


class ChatGenerator:
    """Random messages and questions of a team; the same seed gives the same sequence."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def make_messages(self, count: int, now: datetime) -> Iterator[dict[str, Any]]:
        """Yield `count` messages in conversations five hours apart; the last one ends before
        `now`.
        """
        conversations = -(-count // THREAD)
        for number in range(count):
            conversation, position = divmod(number, THREAD)
            at = now - BETWEEN * (conversations - conversation) + PAUSE * position
            yield {
                "speaker": self._random.choice(PEOPLE),
                "text": self._fill_pattern(MESSAGE_PATTERNS),
                "at": at,
                "key": str(number),
                "thread": f"conversation-{conversation}",
            }

    def make_message(self) -> str:
        return self._fill_pattern(MESSAGE_PATTERNS)

    def make_question(self) -> str:
        return self._fill_pattern(QUESTION_PATTERNS)

    def _fill_pattern(self, patterns: tuple[str, ...]) -> str:
        choose = self._random.choice
        thing, thing2 = self._random.sample(THINGS, 2)
        tool, tool2 = self._random.sample(TOOLS, 2)
        return choose(patterns).format(
            thing=thing,
            thing2=thing2,
            tool=tool,
            tool2=tool2,
            name=choose(NAMES),
            person=choose(PEOPLE).title(),
            company=choose(COMPANIES),
            city=choose(CITIES),
            day=choose(DAYS),
            number=self._random.randint(2, 9_000),
            remark=choose(REMARKS),
        )
