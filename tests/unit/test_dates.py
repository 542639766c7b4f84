"""Date parser: phrases and their expected intervals.

Expected intervals are written as in EDTF: `2023-05` is the complete month, `a/b` runs from the
start of `a` to the end of `b`, `..` is an open end, and a leading `~` marks a vague text.
"""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexusmem.core.canonical import EARLIEST, LATEST
from nexusmem.core.errors import InvalidInput
from nexusmem.text.dates import DatePrecision, DateRelation, DateSpan, VerbTense, find_dates
from nexusmem.text.dates.grammar import GrammarRule, ParseState
from nexusmem.text.dates.interval import easter_sunday, midnight, shift_by_working_days
from nexusmem.text.dates.rules import RULES
from nexusmem.text.dates.tokens import GrammarNode

WEDNESDAY = datetime(2023, 6, 14, 15, 30, tzinfo=UTC)

ABSOLUTE = [
    ("The launch was on 2023-05-07.", "2023-05-07"),
    ("It broke at 2023-05-07T08:30 exactly", "2023-05-07T08:30"),
    ("Logged at 2023-05-07 08:30:15 by the scheduler", "2023-05-07T08:30"),
    ("2023-05-07T23:30:00Z: restart", "2023-05-07T23:30"),
    ("2023-05-07T23:30:00.123+02:00 restart", "2023-05-07T21:30"),
    ("Built on 2023/05/07", "2023-05-07"),
    ("She was born on 7 May 1998.", "1998-05-07"),
    ("She was born on the 7th of May, 1998.", "1998-05-07"),
    ("7th May 2023 was a Sunday", "2023-05-07"),
    ("We married on May 7, 2023.", "2023-05-07"),
    ("We married on May 7th 2023", "2023-05-07"),
    ("May the 7th, 2023", "2023-05-07"),
    ("on the twenty-first of June 2022", "2022-06-21"),
    ("Sunday, May 7, 2023", "2023-05-07"),
    ("Sunday 7th May 2023", "2023-05-07"),
    ("Sun 7 May 2023", "2023-05-07"),
    ("due 7/5/2023", "2023-07-05"),
    ("due 25/5/2023", "2023-05-25"),
    ("due 5/25/2023", "2023-05-25"),
    ("due 05/07/23", "2023-05-07"),
    ("due 7-5-2023", "2023-07-05"),
    ("geboren 7.5.2023", "2023-05-07"),
    ("It was in May 2023.", "2023-05"),
    ("In May of 2023 we moved", "2023-05"),
    ("May, 2023", "2023-05"),
    ("may 2023", "2023-05"),
    ("Sept 2022 was warm", "2022-09"),
    ("Dec. 12, 2022", "2022-12-12"),
    ("12 DECEMBER 2022", "2022-12-12"),
    ("in 2021", "2021"),
    ("Back in 1999 we had no phones", "1999"),
    ("The first edition (2021) sold out", "2021"),
    ("2021", "2021"),
    ("during the year 2020", "2020"),
    ("music of the 1990s", "1990/1999"),
    ("music of the 90s", "1990/1999"),
    ("music of the '90s", "1990/1999"),
    ("back in the eighties", "1980/1989"),
    ("the early 2000s were odd", "2000/2003"),
    ("It was popular in the late 80s", "1987/1989"),
    ("class of '98", "1998"),
    ("the summer of '69", "1969-06/1969-08"),
    ("We ship in Q3 2024", "2024-07/2024-09"),
    ("the third quarter of 2022", "2022-07/2022-09"),
    ("in summer 2022", "2022-06/2022-08"),
    ("the summer of 2022", "2022-06/2022-08"),
    ("winter 2022 was mild", "2022-12/2023-02"),
    ("in the fall of 2019", "2019-09/2019-11"),
    ("Christmas 2022", "2022-12-25"),
    ("New Year's Eve 2022", "2022-12-31"),
    ("Thanksgiving 2022", "2022-11-24"),
    ("on Valentine's Day 2021", "2021-02-14"),
    ("Halloween, 2020", "2020-10-31"),
    ("Fourth of July 2019", "2019-07-04"),
    ("29 February 2020", "2020-02-29"),
    ("as of 2021-03", "2021-03"),
    ("In the mid-90s I lived here", "1994/1996"),
    ("Oct 31 '22 was spooky", "2022-10-31"),
    ("throughout 2020", "2020"),
    ("mid-2021", "2021-05/2021-08"),
    ("on Valentines Day 2020", "2020-02-14"),
    ("Christmas Day of 2021", "2021-12-25"),
    ("New Year's Day 2020", "2020-01-01"),
    ("may 5th 2021", "2021-05-05"),
    ("may 5, 2021", "2021-05-05"),
    ("5 may 2021", "2021-05-05"),
    ("the first of may 2021", "2021-05-01"),
    ("https://example.org/2023/05/07/post on 2023-05-08", "2023-05-08"),
    ("1990s music", "1990/1999"),
    ("may 5 2021", "2021-05-05"),
]

RELATIVE_DAYS = [
    ("I met him yesterday", "2023-06-13"),
    ("What is on today?", "2023-06-14"),
    ("Call me tomorrow.", "2023-06-15"),
    ("the day before yesterday it rained", "2023-06-12"),
    ("We leave the day after tomorrow", "2023-06-16"),
    ("I had a dream last night", "2023-06-13T18/2023-06-14T05"),
    ("This morning I ran", "2023-06-14T05/2023-06-14T11"),
    ("dinner tonight?", "2023-06-14T18/2023-06-15T05"),
    ("yesterday evening we played chess", "2023-06-13T18/2023-06-13T23"),
    ("tomorrow morning works", "2023-06-15T05/2023-06-15T11"),
    ("this afternoon", "2023-06-14T12/2023-06-14T17"),
    ("yesterday afternoon", "2023-06-13T12/2023-06-13T17"),
    ("tomorrow night", "2023-06-15T18/2023-06-16T05"),
    ("earlier today I fell", "2023-06-14"),
    ("See you later today", "2023-06-14"),
    ("two days ago", "2023-06-12"),
    ("2 days ago", "2023-06-12"),
    ("I quit ten days ago", "2023-06-04"),
    ("twenty-five days ago", "2023-05-20"),
    ("in three days", "2023-06-17"),
    ("three days from now", "2023-06-17"),
    ("five days from today", "2023-06-19"),
    ("a few days ago we spoke", "~2023-06-09/2023-06-12"),
    ("I started few days ago", "~2023-06-09/2023-06-12"),
    ("a couple of days ago", "~2023-06-11/2023-06-12"),
    ("a couple days ago", "~2023-06-11/2023-06-12"),
    ("in a few days", "~2023-06-16/2023-06-19"),
    ("several days ago", "~2023-06-07/2023-06-11"),
    ("about ten days ago", "~2023-06-04"),
    ("We talked the other day", "~2023-06-07/2023-06-13"),
    ("three hours ago", "2023-06-14T12"),
    ("20 minutes ago", "2023-06-14T15:10"),
    ("half an hour ago", "2023-06-14T15:00"),
    ("in 45 minutes", "2023-06-14T16:15"),
    ("an hour ago", "2023-06-14T14"),
    ("in half an hour", "2023-06-14T16:00"),
    ("The parcel came 3 days back", "2023-06-11"),
    ("We broke up a week ago today", "2023-06-07"),
    ("three or four days ago", "~2023-06-10/2023-06-11"),
    ("in 3-4 days", "~2023-06-17/2023-06-18"),
    ("a day or two ago", "~2023-06-12/2023-06-13"),
    ("the night before last", "2023-06-12T18/2023-06-13T05"),
    ("We danced the other night", "~2023-06-07/2023-06-13"),
    ("two nights ago", "2023-06-12T18/2023-06-13T05"),
    ("in about ten days", "~2023-06-24"),
    ("an hour and a half ago", "2023-06-14T14:00"),
]

WEEKDAYS = [
    ("What did Ann do last Tuesday?", "2023-06-13"),
    ("last Wednesday", "2023-06-07"),
    ("Last Fri I took the kids out", "2023-06-09"),
    ("I joined last Tues.", "2023-06-13"),
    ("this past Saturday", "2023-06-10"),
    ("the past Sunday", "2023-06-11"),
    ("I won the cup this Monday", "2023-06-12"),
    ("We will meet this Monday", "2023-06-19"),
    ("this Friday", "2023-06-16"),
    ("next Monday", "2023-06-19"),
    ("The launch is next Friday", "2023-06-23"),
    ("next Sunday", "2023-06-18"),
    ("next Wednesday", "2023-06-21"),
    ("this coming Friday", "2023-06-16"),
    ("the upcoming Wednesday", "2023-06-21"),
    ("we met on Tuesday", "2023-06-13"),
    ("we met on Thursday", "2023-06-08"),
    ("see you on Tuesday", "2023-06-20"),
    ("I will call you Monday", "2023-06-19"),
    ("The review is on Monday", "2023-06-19"),
    ("Who came on Wednesday?", "2023-06-07"),
    ("We'll be done on Wednesday.", "2023-06-21"),
    ("Tuesday: stand-up", "2023-06-13"),
    ("Friday next week", "2023-06-23"),
    ("Monday of last week", "2023-06-05"),
    ("Thursday of this week", "2023-06-15"),
    ("next week Tuesday", "2023-06-20"),
    ("last Friday night we danced", "2023-06-09T18/2023-06-10T05"),
    ("We met Sunday morning", "2023-06-11T05/2023-06-11T11"),
    ("a week from Friday", "2023-06-23"),
    ("two weeks from Monday", "2023-07-03"),
    ("the Friday before last", "2023-06-02"),
    ("We arrived Sat and left Sunday", "2023-06-10; 2023-06-11"),
    ("two Fridays ago", "2023-06-02"),
    ("the week before Friday", "2023-06-09/2023-06-15"),
    ("two weeks before Friday", "2023-05-30/2023-06-05"),
    ("Next week on Tue we fly", "2023-06-20"),
    ("on Thursday the 22nd", "2023-06-22"),
    ("a week from the 20th", "2023-06-27"),
    ("Fri morning", "2023-06-16T05/2023-06-16T11"),
    ("Mon at 8am", "2023-06-12T08"),
    ("the Friday after next", "2023-06-30"),
    ("We were there by Tuesday evening", "../2023-06-13T23"),
    ("We are closed on Friday", "2023-06-16"),
    ("We will rest on Sun.", "2023-06-18"),
    ("next week Sun", "2023-06-25"),
    ("a month from Friday", "2023-07"),
]

WEEKS_AND_MORE = [
    ("last week", "2023-06-05/2023-06-11"),
    ("this week", "2023-06-12/2023-06-18"),
    ("next week", "2023-06-19/2023-06-25"),
    ("the week before last", "2023-05-29/2023-06-04"),
    ("the week after next", "2023-06-26/2023-07-02"),
    ("last weekend", "2023-06-10/2023-06-11"),
    ("this past weekend was insane", "2023-06-10/2023-06-11"),
    ("any plans this weekend?", "2023-06-17/2023-06-18"),
    ("next weekend", "2023-06-24/2023-06-25"),
    ("two weekends ago", "2023-06-03/2023-06-04"),
    ("We moved here last month", "2023-05"),
    ("this month", "2023-06"),
    ("next month", "2023-07"),
    ("the month before last", "2023-04"),
    ("last year", "2022"),
    ("this year", "2023"),
    ("next year", "2024"),
    ("the year before last", "2021"),
    ("last quarter", "2023-01/2023-03"),
    ("next quarter", "2023-07/2023-09"),
    ("last decade", "2010/2019"),
    ("two weeks ago", "2023-05-28/2023-06-03"),
    ("a week ago", "2023-06-04/2023-06-10"),
    ("in two weeks", "2023-06-25/2023-07-01"),
    ("three weeks from now", "2023-07-02/2023-07-08"),
    ("a month ago", "2023-05"),
    ("three months ago", "2023-03"),
    ("in 6 months", "2023-12"),
    ("ten years ago", "2013"),
    ("a year ago", "2022"),
    ("in five years", "2028"),
    ("a couple of weeks ago", "~2023-05-21/2023-06-03"),
    ("a few months ago", "~2023-01/2023-04"),
    ("a few years ago", "~2018/2021"),
    ("a year and a half ago", "2021-12"),
    ("half a year ago", "2022-12"),
    ("two decades ago", "2000/2009"),
    ("over a year ago", "~2022"),
    ("almost three years ago", "~2020"),
    ("earlier this week", "2023-06-12/2023-06-14"),
    ("earlier this year", "2023-01-01/2023-06-14"),
    ("later this month", "2023-06-14/2023-06-30"),
    ("later this week", "2023-06-14/2023-06-18"),
    ("for the past three years", "2020-06-14/2023-06-14"),
    ("over the last two weeks", "2023-05-31/2023-06-14"),
    ("in the last month", "2023-05-14/2023-06-14"),
    ("in the past week", "2023-06-07/2023-06-14"),
    ("the next five days", "2023-06-14/2023-06-19"),
    ("over the next few weeks", "~2023-06-14/2023-07-05"),
    ("within two weeks", "2023-06-14/2023-06-28"),
    ("in the last 24 hours", "2023-06-13T15:30/2023-06-14T15:29"),
    ("so far this year", "2023"),
    ("the last couple of months", "~2023-04-14/2023-06-14"),
    ("for two years now", "2021-06-14/2023-06-14"),
    ("for about four months now", "~2023-02-14/2023-06-14"),
    ("in the coming weeks", "~2023-06-14/2023-07-05"),
    ("over the next month", "2023-06-14/2023-07-14"),
    ("in the last year and a half", "2021-12-14/2023-06-14"),
    ("We skied this weekend", "2023-06-10/2023-06-11"),
    ("See you at the weekend", "2023-06-17/2023-06-18"),
    ("two and a half years ago", "2020-12"),
    ("in the middle of the week", "2023-06-14/2023-06-15"),
    ("the weekend after next", "2023-07-01/2023-07-02"),
]

SEASONS = [
    ("last summer", "2022-06/2022-08"),
    ("this spring", "2023-03/2023-05"),
    ("this summer", "2023-06/2023-08"),
    ("next summer", "2024-06/2024-08"),
    ("last spring", "2023-03/2023-05"),
    ("last winter", "2022-12/2023-02"),
    ("next fall", "2023-09/2023-11"),
    ("this past autumn", "2022-09/2022-11"),
    ("We hiked in the spring", "2023-03/2023-05"),
    ("We will hike in the fall", "2023-09/2023-11"),
    ("late last summer", "2022-08"),
    ("at the end of the summer of 2022", "2022-08"),
    ("early summer 2022", "2022-06"),
    ("three summers ago", "2020-06/2020-08"),
    ("mid-summer", "2023-07"),
    ("summer last year", "2022-06/2022-08"),
    ("We will ski in winter", "2023-12/2024-02"),
    ("the end of summer", "2023-08"),
    ("We will rest at the end of the summer", "2023-08"),
]

MONTHS_WITHOUT_A_YEAR = [
    ("What did Ann do in May?", "2023-05"),
    ("What did Ann do in August?", "2022-08"),
    ("What will Ann do in August?", "2023-08"),
    ("What will Ann do in May?", "2024-05"),
    ("We went to Rome in June", "2023-06"),
    ("We will go to Rome in June", "2023-06"),
    ("It happened in May", "2023-05"),
    ("May 7", "2023-05-07"),
    ("We met on May 7th", "2023-05-07"),
    ("I will return on July 20", "2023-07-20"),
    ("I returned on July 20", "2022-07-20"),
    ("the party is on May 7", "2024-05-07"),
    ("They met on 3 November", "2022-11-03"),
    ("It was the 1st of June", "2023-06-01"),
    ("I got it last August", "2022-08"),
    ("I got it last May", "2023-05"),
    ("last June", "2022-06"),
    ("next March", "2024-03"),
    ("next August", "2023-08"),
    ("this May we moved", "2023-05"),
    ("I was there on the 5th.", "2023-06-05"),
    ("We will be there on the 5th.", "2023-07-05"),
    ("I planned a trip for October", "2023-10"),
    ("December was rough", "2022-12"),
    ("in Jan", "2023-01"),
    ("since last May", "2023-05-01/2023-06-14"),
    ("We arrived on February 29", "2020-02-29"),
    ("on 5/7 we met", "2023-05-07"),
    ("last October", "2022-10"),
    ("this October", "2023-10"),
    ("next October", "2023-10"),
    ("May last year", "2022-05"),
    ("last year in May", "2022-05"),
    ("in May of last year", "2022-05"),
    ("on the 5th of last month", "2023-05-05"),
    ("We went in May and June", "2023-05; 2023-06"),
    ("We left in may", "2023-05"),
    ("i was there on may 5", "2023-05-05"),
    ("next may", "2024-05"),
    ("She said she may come in May", "2024-05"),
    ("around the 5th", "~2023-06-05"),
    ("Are you there between the 5th and the 7th?", "2023-07-05/2023-07-07"),
]

PARTS_OF_LONGER_TIMES = [
    ("the first week of June", "2023-06-01/2023-06-07"),
    ("the second week of November 2022", "2022-11-08/2022-11-14"),
    ("the last week of September 2022", "2022-09-24/2022-09-30"),
    ("the first weekend of August 2023", "2023-08-05/2023-08-06"),
    ("the last weekend of May 2023", "2023-05-27/2023-05-28"),
    ("the first Monday of June 2023", "2023-06-05"),
    ("the third Thursday in March 2023", "2023-03-16"),
    ("the last Friday of May 2023", "2023-05-26"),
    ("the last day of February 2024", "2024-02-29"),
    ("the first day of next month", "2023-07-01"),
    ("the first month of 2022", "2022-01"),
    ("early May 2023", "2023-05-01/2023-05-10"),
    ("mid-May 2023", "2023-05-11/2023-05-20"),
    ("mid May 2023", "2023-05-11/2023-05-20"),
    ("late May 2023", "2023-05-21/2023-05-31"),
    ("in early August we will visit", "2023-08-01/2023-08-10"),
    ("the end of the month", "2023-06-21/2023-06-30"),
    ("at the end of last month", "2023-05-21/2023-05-31"),
    ("the beginning of 2022", "2022-01/2022-04"),
    ("at the start of next year", "2024-01/2024-04"),
    ("in the middle of March 2023", "2023-03-11/2023-03-20"),
    ("late 2021", "2021-09/2021-12"),
    ("the first half of 2022", "2022-01/2022-06"),
    ("the second half of May 2023", "2023-05-16/2023-05-31"),
    ("the week of 23 August 2023", "2023-08-21/2023-08-27"),
    ("the weekend of 5 May 2023", "2023-05-06/2023-05-07"),
    ("on the night of October 30, 2022", "2022-10-30T18/2022-10-31T05"),
    ("the morning of May 5, 2023", "2023-05-05T05/2023-05-05T11"),
    ("during the last 3 months of 2022", "2022-10/2022-12"),
    ("the first two weeks of May 2023", "2023-05-01/2023-05-14"),
    ("in Q3", "2023-07/2023-09"),
    ("the first quarter of next year", "2024-01/2024-03"),
    ("the month of May 2021", "2021-05"),
    ("the second week of last month", "2023-05-08/2023-05-14"),
    ("the first Sunday in last month", "2023-05-07"),
]

NEXT_TO_A_DATE = [
    ("the week before 9 June 2023", "2023-06-02/2023-06-08"),
    ("the weekend before 17 July 2023", "2023-07-15/2023-07-16"),
    ("two weekends before 17 July 2023", "2023-07-08/2023-07-09"),
    ("the Sunday before 25 May 2023", "2023-05-21"),
    ("the Friday before 15 July 2023", "2023-07-14"),
    ("Saturday after 11 September, 2023", "2023-09-16"),
    ("the day after May 5, 2023", "2023-05-06"),
    ("the day before Christmas 2022", "2022-12-24"),
    ("a few days before May 24, 2023", "~2023-05-19/2023-05-22"),
    ("two weeks before 11 August 2023", "2023-07-25/2023-07-31"),
    ("three days after 27 February 2024", "2024-03-01"),
    ("the month before May 2023", "2023-04"),
    ("the year before 2020", "2019"),
    ("the week after 9 June 2023", "2023-06-10/2023-06-16"),
    ("a month before May 5, 2023", "2023-04"),
    ("We met on May 5, 2023 and married two years later.", "2023-05-05; 2025"),
    ("On May 5, 2023 he fell, and the next day he called.", "2023-05-05; 2023-05-06"),
    (
        "It snowed on 3 March 2023. The following week was warm.",
        "2023-03-03; 2023-03-06/2023-03-12",
    ),
    ("the night before May 5, 2023", "2023-05-04T18/2023-05-05T05"),
    ("Two days before the launch on April 10, 2023", "2023-04-08"),
    ("two days after the party in May 2023", "2023-05"),
    ("We moved in autumn 2020 and left the following spring.", "2020-09/2020-11; 2021-03/2021-05"),
    ("In spring 2018 she left and that autumn she returned", "2018-03/2018-05; 2018-09/2018-11"),
    (
        "On 3 May 2023 he fell. The next morning he called.",
        "2023-05-03; 2023-05-04T05/2023-05-04T11",
    ),
    ("two days later", "2023-06-16"),
    ("a year after Christmas 2021", "2022"),
]

RANGES = [
    ("from May 3 to May 5", "2023-05-03/2023-05-05"),
    ("from May 3 to May 5, 2022", "2022-05-03/2022-05-05"),
    ("May 3-5, 2023", "2023-05-03/2023-05-05"),
    ("May 3 – 5, 2023", "2023-05-03/2023-05-05"),
    ("3-5 May 2023", "2023-05-03/2023-05-05"),
    ("the 3rd to the 5th of May 2023", "2023-05-03/2023-05-05"),
    ("between June and August 2022", "2022-06/2022-08"),
    ("from June to August 2022", "2022-06/2022-08"),
    ("from December 2022 to February 2023", "2022-12/2023-02"),
    ("between 2015 and 2018", "2015/2018"),
    ("from 2015 to 2018", "2015/2018"),
    ("in 2015-2018", "2015/2018"),
    ("Mon-Wed", "2023-06-12/2023-06-14"),
    ("from Monday to Friday we will paint", "2023-06-19/2023-06-23"),
    ("between 11 August and 15 August 2023", "2023-08-11/2023-08-15"),
    ("where was he between August 11 and August 15 2023?", "2023-08-11/2023-08-15"),
    ("from yesterday until tomorrow", "2023-06-13/2023-06-15"),
    ("2023-05-03 to 2023-05-05", "2023-05-03/2023-05-05"),
    ("from Dec 30 2022 to Jan 2 2023", "2022-12-30/2023-01-02"),
    ("from 8am to 10am", "2023-06-14T08/2023-06-14T09"),
    ("tomorrow 2-4pm", "2023-06-15T14/2023-06-15T15"),
    ("tomorrow between 3pm and 5pm", "2023-06-15T15/2023-06-15T16"),
    ("January through March 2023", "2023-01/2023-03"),
    ("between 2019 and now", "2019-01-01/2023-06-14"),
    ("from Monday until now", "2023-06-12/2023-06-14"),
    ("from 12/24 to 12/26 it snowed", "2022-12-24/2022-12-26"),
    ("from October to Halloween we will travel", "2023-10"),
    ("from 9:30 to 11:00 tomorrow", "2023-06-15T09:30/2023-06-15T10:59"),
    ("between October and Christmas 2022", "2022-10-01/2022-12-25"),
    ("between 5 October and Christmas we will rest", "2023-10-05/2023-12-25"),
    ("Monday to Sun we will rest", "2023-06-19/2023-06-25"),
]

OPEN_ENDS = [
    ("since 2016", "2016-01-01/2023-06-14"),
    ("since May", "2023-05-01/2023-06-14"),
    ("Since Tuesday I have been ill", "2023-06-13/2023-06-14"),
    ("since yesterday", "2023-06-13/2023-06-14"),
    ("until Friday", "../2023-06-16"),
    ("till 2025", "../2025"),
    ("by next Tuesday", "../2023-06-20"),
    ("by the end of the month", "../2023-06-30"),
    ("before May 2023", "../2023-04"),
    ("after May 2023", "2023-06/.."),
    ("What happened before 2020?", "../2019"),
    ("after 5 May 2023", "2023-05-06/.."),
    ("Starting tomorrow I will run", "2023-06-15/.."),
    ("from 2021 on", "2021/.."),
    ("from next week onwards", "2023-06-19/.."),
    ("around 2015", "~2015"),
    ("around August 2022", "~2022-08"),
    ("sometime in March 2022", "2022-03"),
    ("before Christmas we will finish", "../2023-12-24"),
    ("around noon", "~2023-06-14T12"),
    ("before the end of the year", "../2023"),
    ("before the end of next week", "../2023-06-25"),
    ("I'm starting tomorrow", "2023-06-15"),
    ("until 5pm", "../2023-06-14T16"),
    ("after 5pm", "2023-06-14T17/.."),
    ("about noon", "~2023-06-14T12"),
    ("since tomorrow", "2023-06-15/.."),
    ("We talked about last week", "2023-06-05/2023-06-11"),
]

CLOCK = [
    ("The launch is next Friday at 8am", "2023-06-23T08"),
    ("tomorrow morning at 9", "2023-06-15T09"),
    ("tomorrow at 9", "2023-06-15T09"),
    ("tomorrow at 3", "2023-06-15T15"),
    ("tonight at 8", "2023-06-14T20"),
    ("at 8 tonight", "2023-06-14T20"),
    ("I woke up at 8am", "2023-06-14T08"),
    ("Let's talk at 5pm", "2023-06-14T17"),
    ("See you at 8am", "2023-06-15T08"),
    ("I fell asleep at 11pm", "2023-06-13T23"),
    ("8:30 pm", "2023-06-14T20:30"),
    ("8:30 p.m. tomorrow", "2023-06-15T20:30"),
    ("yesterday at 8:30", "2023-06-13T08:30"),
    ("yesterday at 14:05", "2023-06-13T14:05"),
    ("at noon tomorrow", "2023-06-15T12"),
    ("yesterday at noon", "2023-06-13T12"),
    ("tomorrow at midnight", "2023-06-16T00"),
    ("last night at 1am", "2023-06-14T01"),
    ("last night at 11pm", "2023-06-13T23"),
    ("tomorrow at 8 o'clock", "2023-06-15T08"),
    ("tomorrow at half past nine", "2023-06-15T09:30"),
    ("tomorrow at quarter to nine", "2023-06-15T08:45"),
    ("on May 7, 2023 at 8:15am", "2023-05-07T08:15"),
    ("at 7pm on 7 May 2023", "2023-05-07T19"),
    ("Friday at 6 in the evening", "2023-06-16T18"),
    ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
    ("12am on 8 May 2023", "2023-05-08T00"),
    ("12:30 pm on 8 May 2023", "2023-05-08T12:30"),
    ("8 May 2023, 10:37", "2023-05-08T10:37"),
    ("yesterday at 02:00 UTC", "2023-06-13T02:00"),
    ("at 9pm GMT yesterday", "2023-06-13T21"),
    ("yesterday around 4", "~2023-06-13T16"),
    ("yesterday around 4:30", "~2023-06-13T16:30"),
    ("three in the afternoon yesterday", "2023-06-13T15"),
    ("tomorrow in the morning", "2023-06-15T05/2023-06-15T11"),
    ("quarter past ten last night", "2023-06-13T22:15"),
    ("at 9 on Friday", "2023-06-16T09"),
    ("from 10pm to 2am last night", "2023-06-13T22/2023-06-14T01"),
    ("The train left at 9:15", "2023-06-14T09:15"),
]

HOLIDAYS = [
    ("What did we eat last Christmas?", "2022-12-25"),
    ("We were in Rome for Christmas.", "2022-12-25"),
    ("We will be in Rome at Christmas.", "2023-12-25"),
    ("next Thanksgiving", "2023-11-23"),
    ("last Halloween", "2022-10-31"),
    ("We got engaged on New Year's Eve", "2022-12-31"),
    ("on Christmas Eve", "2022-12-24"),
    ("We met on the 4th of July", "2022-07-04"),
    ("Christmas morning", "2022-12-25T05/2022-12-25T11"),
    ("I got it for Christmas last year", "2022-12-25"),
    ("the week of Thanksgiving", "2023-11-20/2023-11-26"),
    ("between Christmas and New Year's Eve", "2022-12-25/2022-12-31"),
]

SEVERAL = [
    ("Yesterday I packed, tomorrow I fly.", "2023-06-13; 2023-06-15"),
    ("We met in 2019 and moved in May 2021.", "2019; 2021-05"),
    ("Not on Monday but on Friday I will come", "2023-06-19; 2023-06-16"),
    ("I saw Bob last week. I will see him again next month!", "2023-06-05/2023-06-11; 2023-07"),
    ("2019, 2020 and 2021 were odd; in 2022 it got better", "2022"),
]

CHAT = [
    # ordinals in words and days of a month
    ("the thirtieth of august", "2023-08-30"),
    ("We will fly on the nineteenth.", "2023-06-19"),
    ("Payday is the twenty-eighth", "2023-06-28"),
    ("She arrived the twelfth", "2023-06-12"),
    ("It's due the 1st", "2023-07-01"),
    ("Rent is due on the first.", "2023-07-01"),
    ("We will move on the first of next month", "2023-07-01"),
    ("payday (15th)", "2023-06-15"),
    ("the weekend of the 17th", "2023-06-17/2023-06-18"),
    ("the week of the 19th", "2023-06-19/2023-06-25"),
    # a week later
    ("See you Thursday week", "2023-06-22"),
    ("tomorrow week", "2023-06-22"),
    ("a week on Friday", "2023-06-23"),
    ("two weeks on Mon", "2023-07-03"),
    ("in a fortnight", "2023-06-25/2023-07-01"),
    # ends of units
    ("by tomorrow EOD", "../2023-06-15"),
    ("EOD Friday", "2023-06-16"),
    ("by EOD", "../2023-06-14"),
    ("I need it by COB", "../2023-06-14"),
    ("before EOD", "../2023-06-14"),
    ("before Friday EOD", "../2023-06-16"),
    ("I'll send it EOW", "2023-06-16/2023-06-18"),
    ("by EOM", "../2023-06-30"),
    ("by EOM August", "../2023-08"),
    ("by end of day Friday", "../2023-06-16"),
    ("by close of business tomorrow", "../2023-06-15"),
    ("by the end of the day", "../2023-06-14"),
    # feasts
    ("We will visit them at Easter", "2024-03-31"),
    ("before Easter 2023", "../2023-04-08"),
    ("We met on Easter Monday", "2023-04-10"),
    ("on Good Friday 2024", "2024-03-29"),
    ("We got married on good friday", "2023-04-07"),
    ("Ash Wednesday 2023", "2023-02-22"),
    ("We camped at Whitsun", "2023-05-28"),
    ("It rained on Whit Monday", "2023-05-29"),
    ("Easter weekend was fun", "2023-04-08/2023-04-09"),
    ("Christmas was quiet", "2022-12-25"),
    ("It will be done by xmas", "../2023-12-25"),
    ("We will decide after New Year", "2024-01-02/.."),
    ("It will be done by the new year", "../2024-01-01"),
    ("between Christmas and New Year", "2022-12-25/2023-01-01"),
    # days with dots
    ("due 23.06.", "2023-06-23"),
    ("23.05.", "2023-05-23"),
    ("We will meet on 3.7. in Rome", "2023-07-03"),
    ("We will meet on 03.07", "2023-07-03"),
    ("from 05.06. to 09.06.", "2023-06-05/2023-06-09"),
    ("05.06.-09.06.", "2023-06-05/2023-06-09"),
    # working days, and limits
    ("in 3 working days", "2023-06-19"),
    ("within two business days", "2023-06-14/2023-06-16"),
    ("We shipped it three working days ago", "2023-06-09"),
    ("ten working days from now", "2023-06-28"),
    ("two working days after 16 June 2023", "2023-06-20"),
    ("in a few working days", "~2023-06-16/2023-06-21"),
    ("within the week", "2023-06-14/2023-06-21"),
    ("within the day", "2023-06-14"),
    # spellings
    ("see you tmr", "2023-06-15"),
    ("2moro at 9", "2023-06-15T09"),
    ("2nite", "2023-06-14T18/2023-06-15T05"),
    ("this wknd", "2023-06-17/2023-06-18"),
    ("this coming weekend", "2023-06-17/2023-06-18"),
    ("next wk", "2023-06-19/2023-06-25"),
    ("thurs works for me", "2023-06-15"),
    ("Tue morning", "2023-06-13T05/2023-06-13T11"),
    ("We will meet weds", "2023-06-21"),
    ("see you fri or tues", "2023-06-16; 2023-06-20"),
    # vague hours
    ("We will meet on friday, 9ish", "~2023-06-16T09"),
    ("around 4ish", "~2023-06-14T16"),
    ("9ish", "~2023-06-14T09"),
    ("tomorrow at 7-ish", "~2023-06-15T07"),
    ("tomorrow 7:30ish", "~2023-06-15T07:30"),
    # relative to the last date
    ("The party is on 9 July. We leave the day after.", "2023-07-09; 2023-07-10"),
    ("They came on 9 May (the night before, it rained)", "2023-05-09; 2023-05-08T18/2023-05-09T05"),
    ("The launch is on 9 July. The day after that we rest.", "2023-07-09; 2023-07-10"),
    (
        "The launch is on 9 July. A week before that we freeze.",
        "2023-07-09; 2023-06-29/2023-07-05",
    ),
    # starts
    ("from July", "2023-07"),
    ("as of today", "2023-06-14"),
    ("effective 1 August", "2023-08-01"),
    ("starting Monday", "2023-06-19/.."),
]

NOTHING = [
    "",
    "hello",
    "You may be right, but I may not.",
    "May I come in?",
    "May the best team win",
    "This may 5 times fail",
    "They march on Washington",
    "March on!",
    "the second one, please",
    "wait a second",
    "The sun is out and the cat sat on the mon ami mat",
    "I sat next to her",
    "June said hello to April and August",
    "Ms. June and Aunt May came",
    "I gave it to April",
    "May's brother plays the drums",
    "Python 3.10 is out, 3.11.2 too",
    "Listening on port 2024, pid 1999",
    "It costs $2021 or 1999 euros",
    "I read 1984 and watched 2001",
    "We have 2000 users",
    "in 2000 words or less",
    "open 24/7",
    "add 1/2 cup and 3/4 spoon",
    "prices fall in line",
    "I fall down",
    "a spring in the mattress",
    "spring water",
    "the last time we talked",
    "since we last spoke",
    "since then",
    "What's next for you?",
    "the next one",
    "every Tuesday we swim",
    "We swim on Tuesdays",
    "on weekends",
    "each summer",
    "every other Friday",
    "every day at 8am",
    "once a week",
    "twice a year",
    "for two weeks",
    "a seven day trip",
    "my 5 year old",
    "he is 10 years old",
    "They built it in two days",
    "the 5th floor",
    "on the 5th floor",
    "in her 20s",
    "room 101, seat 12",
    "call 555-1234",
    "192.168.1.10:8080",
    "the ratio is 3:1",
    "John 3:16",
    "he scored 40 points",
    "1234567890123",
    "2023-13-45 is no date",
    "February 30, 2023",
    "31 April 2023",
    "25:61",
    "Mon ami",
    "week",
    "day by day",
    "back to back",
    "the Christmas tree",
    "a mayday call",
    "marching band",
    "Cyberpunk 2077 is a great game",
    "a 1968 guitar",
    "all night long",
    "in the end",
    "at the end of the day, it is fine",
    "in the past",
    "I will be back in a second",
    "month after month",
    "Jan is my friend",
    "Dec is a register",
    "a while ago",
    "long ago",
    "He may have left",
    "9999999999 years ago",
    "in 999999 years",
    "0 May 2023",
    "at 100%",
    "at 5 of them",
    "two of 3 people",
    "ISO 8601-2019",
    "١٢٣ 年",
    "open from 9am to 5pm on weekdays",
    "on the 1st of every month",
    "We swim on Tuesdays at 8am",
    "the first Saturday of every month",
    "Black Friday",
    "Nothing beats a Sunday in bed",
    "one Sunday we will see",
    "in the 1800s",
    "tomorrowland",
    "650-650-6500-12",
    "at 650.650.6500",
    "the following day he left",
    "the next day he left",
    "the day before",
    "yesterdays",
    "the '08 crash",
    "He was 2000 miles away",
    "In 1990 pages",
    "the other one",
    "early Christmas",
    "the spirit of Christmas",
    "13pm",
    "at 13 o'clock",
    "8am EST is 12:75",
    "5/5",
    "the end of time",
    "12/24",
    "every Monday in the morning",
    "every Monday morning at 8",
    "Louis the Fourteenth was king",
    "the fourteenth floor",
    "we were down 10 in the 4th and won",
    "the 16th and 17th centuries",
    "the 1st is better than the 2nd",
    "we agreed on the second.",
    "on the third floor",
    "first of all, the second one",
    "paid on the fifteenth of every month",
    "the 12th of them",
    "send the EOD report",
    "EOD every Friday",
    "Thursdays by EOD",
    "corn on the cob",
    "end of day 3",
    "Merry Christmas and a happy new year",
    "Easter eggs",
    "Good morning",
    "Good Lord",
    "We use Python 3.10. It is fast.",
    "Ubuntu 22.04.",
    "it runs on 22.04",
    "since 3.10.",
    "1.2. Introduction",
    "it increased by 1.5",
    "on 30.02. we meet",
    "They built it in two working days",
    "five working days a week",
    "in 999999999 working days",
    "I have 9ish",
    "9ish people came",
    "20ish",
    "daily at 9ish",
    "the day after",
    "the day after the party",
    "a week before that",
    "the day after that meeting",
]

EVERY = [
    *ABSOLUTE,
    *RELATIVE_DAYS,
    *WEEKDAYS,
    *WEEKS_AND_MORE,
    *SEASONS,
    *MONTHS_WITHOUT_A_YEAR,
    *PARTS_OF_LONGER_TIMES,
    *NEXT_TO_A_DATE,
    *RANGES,
    *OPEN_ENDS,
    *CLOCK,
    *HOLIDAYS,
    *SEVERAL,
    *CHAT,
]

HELD_OUT = json.loads(Path(__file__).with_name("dates_held_out.json").read_text(encoding="utf-8"))


def moment(text: str) -> tuple[datetime, datetime]:
    """Return start and end of a year, month, day, hour or minute in ISO format."""
    numbers = [int(part) for part in text.replace("T", "-").replace(":", "-").split("-")]
    year, month, day, hour, minute = [*numbers, *(None,) * (5 - len(numbers))]
    start = datetime(year, month or 1, day or 1, hour or 0, minute or 0, tzinfo=UTC)
    if month is None:
        return start, start.replace(year=year + 1)
    if day is None:
        return start, (start + timedelta(days=31)).replace(day=1)
    long = {None: timedelta(days=1)} if hour is None else {None: timedelta(hours=1)}
    return start, start + long.get(minute, timedelta(minutes=1))


def interval(edtf: str) -> tuple[datetime, datetime]:
    first, _, last = edtf.removeprefix("~").partition("/")
    since = EARLIEST if first == ".." else moment(first)[0]
    until = LATEST if last == ".." else moment(last or first)[1]
    return since, until


def expected(edtf: str) -> list[tuple[datetime, datetime, bool]]:
    return [(*interval(part), part[0] == "~") for part in edtf.split("; ") if part]


def found(text: str, at: datetime = WEDNESDAY) -> list[tuple[datetime, datetime, bool]]:
    return [
        (span.since, span.until, span.relation is DateRelation.AROUND)
        for span in find_dates(text, at)
    ]


@pytest.mark.parametrize(("text", "edtf"), EVERY)
def test_dates_of_phrases(text: str, edtf: str) -> None:
    assert found(text) == expected(edtf)


@pytest.mark.parametrize("text", NOTHING)
def test_lookalikes_are_not_dates(text: str) -> None:
    assert found(text) == []


# Known limitations: general statements, and a day of a week named before.
MISSED = {
    "The shop is closed on Mondays and during the summer.",
    "It broke sometime last week, maybe Thursday.",
}


@pytest.mark.parametrize(
    ("at", "text", "edtf"),
    [
        pytest.param(*row, marks=pytest.mark.xfail(reason="known")) if row[1] in MISSED else row
        for row in HELD_OUT
    ],
)
def test_held_out_messages(at: str, text: str, edtf: str) -> None:
    assert found(text, datetime.fromisoformat(at)) == expected(edtf)


def test_every_rule_has_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[GrammarRule] = set()
    make = GrammarRule._make_node

    def noted(rule: GrammarRule, reading: ParseState, match: re.Match[str]) -> GrammarNode | None:
        node = make(rule, reading, match)
        used.update([rule] if node else [])
        return node

    monkeypatch.setattr(GrammarRule, "_make_node", noted)
    for text in [*(text for text, _ in EVERY), *NOTHING]:
        find_dates(text, WEDNESDAY)

    assert [rule.pattern for rule in RULES if rule not in used] == []


def only(text: str, at: datetime = WEDNESDAY) -> DateSpan:
    (span,) = find_dates(text, at)
    return span


@pytest.mark.parametrize(
    ("text", "spanned"),
    [
        ("I met him yesterday.", "yesterday"),
        ("We met in May 2023, I think", "May 2023"),
        ("on Sunday, May 7, 2023 we left", "Sunday, May 7, 2023"),
        ("See you next Friday at 8am!", "next Friday at 8am"),
        ("What happened before May 2023?", "before May 2023"),
        ("I live here since 2016.", "since 2016"),
        ("It was two weeks ago, no?", "two weeks ago"),
        ("I am back in two weeks.", "in two weeks"),
        ("He ran from May 3 to May 5 there", "from May 3 to May 5"),
        ("the Sunday before 25 May 2023", "the Sunday before 25 May 2023"),
        ("in the first week of June", "the first week of June"),
        ("It opened (2021) here", "2021"),
        ("the 90s were fun", "the 90s"),
        ("at 7pm on 7 May 2023 it began", "7pm on 7 May 2023"),
        ("🎉 día yesterday 🎉", "yesterday"),
    ],
)
def test_span_covers_exactly_the_expression(text: str, spanned: str) -> None:
    span = only(text)

    assert span.text == text[span.start : span.end] == spanned


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("in the 90s", DatePrecision.DECADE),
        ("in 2021", DatePrecision.YEAR),
        ("last summer", DatePrecision.SEASON),
        ("Q3 2024", DatePrecision.QUARTER),
        ("in May 2023", DatePrecision.MONTH),
        ("last week", DatePrecision.WEEK),
        ("two weeks ago", DatePrecision.WEEK),
        ("last weekend", DatePrecision.WEEKEND),
        ("yesterday", DatePrecision.DAY),
        ("this morning", DatePrecision.PART_OF_DAY),
        ("tomorrow at 8am", DatePrecision.HOUR),
        ("tomorrow at 8:30am", DatePrecision.MINUTE),
        ("20 minutes ago", DatePrecision.MINUTE),
        ("from May 3 to May 5", DatePrecision.DAY),
        ("from May 3 to June 2023", DatePrecision.MONTH),
        ("since 2016", DatePrecision.YEAR),
    ],
)
def test_precision_is_the_unit_of_the_phrase(text: str, precision: DatePrecision) -> None:
    assert only(text).precision is precision


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("in May 2023", DateRelation.IN),
        ("before May 2023", DateRelation.BEFORE),
        ("after May 2023", DateRelation.AFTER),
        ("since May 2023", DateRelation.SINCE),
        ("starting May 2023", DateRelation.SINCE),
        ("until May 2023", DateRelation.UNTIL),
        ("by May 2023", DateRelation.UNTIL),
        ("around May 2023", DateRelation.AROUND),
        ("a few days ago", DateRelation.AROUND),
        ("the week before 9 June 2023", DateRelation.IN),
        ("from May 3 to May 5", DateRelation.IN),
        ("for the past three years", DateRelation.IN),
    ],
)
def test_relation_of_phrases(text: str, relation: DateRelation) -> None:
    assert only(text).relation is relation


# Edges: of months, years, the calendar, and days in other time zones


@pytest.mark.parametrize(
    ("at", "text", "edtf"),
    [
        ("2024-02-29T12:00Z", "a year ago", "2023"),
        ("2024-02-29T12:00Z", "in one month", "2024-03"),
        ("2024-02-29T12:00Z", "yesterday", "2024-02-28"),
        ("2024-03-01T00:00Z", "yesterday", "2024-02-29"),
        ("2023-03-31T12:00Z", "a month ago", "2023-02"),
        ("2023-03-31T12:00Z", "last month", "2023-02"),
        ("2023-01-31T12:00Z", "next month", "2023-02"),
        ("2023-01-31T12:00Z", "for the past month", "2022-12-31/2023-01-31"),
        ("2023-03-31T12:00Z", "for the past month", "2023-02-28/2023-03-31"),
        ("2023-12-31T23:59Z", "tomorrow", "2024-01-01"),
        ("2023-12-31T23:59Z", "next month", "2024-01"),
        ("2023-12-31T23:59Z", "next year", "2024"),
        ("2024-01-01T00:00Z", "last year", "2023"),
        ("2024-01-01T00:00Z", "last week", "2023-12-25/2023-12-31"),
        ("2024-01-01T00:00Z", "this week", "2024-01-01/2024-01-07"),
        ("2024-01-01T00:00Z", "last quarter", "2023-10/2023-12"),
        ("2023-01-01T20:30Z", "last week", "2022-12-19/2022-12-25"),
        ("2023-06-18T10:00Z", "last weekend", "2023-06-10/2023-06-11"),
        ("2023-06-18T10:00Z", "this weekend", "2023-06-17/2023-06-18"),
        ("2023-06-18T10:00Z", "this week", "2023-06-12/2023-06-18"),
        ("2023-06-19T10:00Z", "last weekend", "2023-06-17/2023-06-18"),
        ("2023-06-19T10:00Z", "next Saturday", "2023-06-24"),
        ("2023-06-22T10:00Z", "next Saturday", "2023-07-01"),
        ("2023-01-10T10:00Z", "this winter", "2022-12/2023-02"),
        ("2023-01-10T10:00Z", "last winter", "2021-12/2022-02"),
        ("2023-01-10T10:00Z", "last summer", "2022-06/2022-08"),
        ("2023-01-10T10:00Z", "We met in December", "2022-12"),
        ("2023-01-10T10:00Z", "We will meet in February", "2023-02"),
        ("2023-01-10T10:00Z", "on Christmas", "2022-12-25"),
        ("2022-10-31T00:37Z", "last night", "2022-10-30T18/2022-10-31T05"),
        ("2024-01-10T00:17Z", "yesterday", "2024-01-09"),
        ("2023-06-14T00:00Z", "since today", "2023-06-14"),
        ("2023-12-20T12:00Z", "from December 30 to January 2", "2023-12-30/2024-01-02"),
        ("0001-01-05T12:00Z", "100 years ago", ""),
        ("9999-12-28T12:00Z", "in ten years", ""),
        ("9999-12-28T12:00Z", "next month", ""),
        ("9999-12-28T12:00Z", "in 5 working days", ""),
        ("2026-03-02T10:00Z", "on the fourteenth", "2026-03-14"),
        ("2026-03-02T10:00Z", "Monday week", "2026-03-16"),
        ("2026-03-02T10:00Z", "EOD Friday", "2026-03-06"),
        ("2026-03-02T10:00Z", "before Easter", "../2026-04-04"),
        ("2026-03-02T10:00Z", "the thirtieth of february", ""),
        ("2026-03-06T10:00Z", "in one working day", "2026-03-09"),
        ("2026-03-07T10:00Z", "in one working day", "2026-03-09"),
        ("2026-03-08T10:00Z", "one working day ago", "2026-03-06"),
        ("2026-03-09T10:00Z", "one working day ago", "2026-03-06"),
        ("2026-03-09T10:00Z", "six working days ago", "2026-02-27"),
    ],
)
def test_edges_of_the_calendar(at: str, text: str, edtf: str) -> None:
    assert found(text, datetime.fromisoformat(at)) == expected(edtf)


@pytest.mark.parametrize(
    ("year", "sunday"),
    [
        (1818, "1818-03-22"),
        (1943, "1943-04-25"),
        (1954, "1954-04-18"),
        (1981, "1981-04-19"),
        (2000, "2000-04-23"),
        (2024, "2024-03-31"),
        (2025, "2025-04-20"),
        (2026, "2026-04-05"),
        (2027, "2027-03-28"),
        (2038, "2038-04-25"),
        (2049, "2049-04-18"),
        (2285, "2285-03-22"),
    ],
)
def test_easter_is_the_western_sunday(year: int, sunday: str) -> None:
    assert easter_sunday(year).date().isoformat() == sunday


@given(st.integers(1, 9999))
def test_easter_is_a_sunday_in_spring(year: int) -> None:
    easter = easter_sunday(year)

    assert easter.weekday() == 6
    assert (3, 22) <= (easter.month, easter.day) <= (4, 25)


@given(st.dates(date(1000, 1, 1), date(3000, 1, 1)), st.integers(-60, 60).filter(bool))
def test_working_days_are_counted_one_by_one(on: date, count: int) -> None:
    day = midnight(on.year, on.month, on.day)
    step = timedelta(days=1 if count > 0 else -1)
    expected_day, left = day, abs(count)
    while left:
        expected_day += step
        left -= expected_day.weekday() < 5

    assert shift_by_working_days(day, count) == expected_day


def test_known_tense_decides_before_the_words() -> None:
    text = "We decided to meet on the fourteenth"

    spans = find_dates(text, datetime(2026, 3, 2, 10, tzinfo=UTC), lambda _: VerbTense.FUTURE)

    assert [span.since for span in spans] == [datetime(2026, 3, 14, tzinfo=UTC)]


TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("yesterday", datetime(2023, 6, 14, tzinfo=TOKYO)),
        ("today", datetime(2023, 6, 15, tzinfo=TOKYO)),
        ("tomorrow at 8am", datetime(2023, 6, 16, 8, tzinfo=TOKYO)),
        ("2023-05-07T23:30Z", datetime(2023, 5, 8, 8, 30, tzinfo=TOKYO)),
        ("in May 2023", datetime(2023, 5, 1, tzinfo=TOKYO)),
    ],
)
def test_days_use_the_time_zone_of_the_message(text: str, since: datetime) -> None:
    span = only(text, datetime(2023, 6, 15, 0, 30, tzinfo=TOKYO))

    assert span.since == since
    assert span.since.tzinfo is span.until.tzinfo is TOKYO


def test_day_of_25_hours_is_one_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")

    span = only("yesterday", datetime(2023, 10, 30, 12, tzinfo=berlin))

    assert span.until.astimezone(UTC) - span.since.astimezone(UTC) == timedelta(hours=25)


def test_naive_time_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="zone"):
        find_dates("yesterday", datetime(2023, 6, 14))  # noqa: DTZ001


def test_non_datetime_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="datetime"):
        find_dates("yesterday", "2023-06-14")  # type: ignore[arg-type]


# Random input

WORDS = sorted({word for text, _ in EVERY for word in text.split()} | {"(", ")", ",", "-", "\n"})
TIMES = st.datetimes(timezones=st.sampled_from([UTC, TOKYO, ZoneInfo("America/New_York")]))


def holds(text: str, at: datetime) -> None:
    end = 0
    for span in find_dates(text, at):
        assert end <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == span.text
        assert EARLIEST <= span.since < span.until <= LATEST
        assert span.since.tzinfo is span.until.tzinfo is at.tzinfo
        end = span.end


@given(text=st.text(), at=TIMES)
def test_any_text_at_any_time(text: str, at: datetime) -> None:
    holds(text, at)


@given(words=st.lists(st.sampled_from(WORDS), max_size=12), at=TIMES)
def test_any_order_of_date_words(words: list[str], at: datetime) -> None:
    holds(" ".join(words), at)


@pytest.mark.slow
@pytest.mark.parametrize(
    "junk",
    ["a", "1", "1-", "1/", "1:", "1 ", "may ", "May ", "the ", "last ", "'", "two ", "of the ",
     "on the first ", "9ish people ", "1.2. ", "x 3.10. ", "the EOD report ", "Good ",
     "the 4th, 5th floor ", "the day after ",
     "\n", "٣", "x1 ", "twenty-", "2023-", "before ", "in ", ".", ", ", "a few ", "10:", "é", "1."],
)  # fmt: skip
def test_million_characters_without_dates_are_fast(junk: str) -> None:
    text = (junk * (1_000_000 // len(junk) + 1))[:1_000_000]

    started = time.process_time()
    holds(text, WEDNESDAY)

    assert time.process_time() - started < 6  # one second on an idle machine


def test_cost_per_date_is_constant() -> None:
    def seconds(times: int) -> float:
        text = "We met on 7 May 2023 and again last Friday. " * times
        started = time.process_time()
        assert len(find_dates(text, WEDNESDAY)) == 2 * times
        return (time.process_time() - started) / times

    assert min(seconds(2000) for _ in range(2)) < 5 * min(seconds(100) for _ in range(3))
