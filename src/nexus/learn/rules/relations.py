"""Which verbs say which relation. One line per rule, tried from top to bottom.

    verb  what follows the verb    RELATION  category  type of the object

In what follows, OBJ is the object and PET, KIN, JOB, DATE stand for the words of those kinds; a
space stands for any space. A verb before "!" is meant negated. Patterns see at most
`LONGEST_REST` characters, from their first one on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .extracted import Category
from .lexicon import KIN, OCCUPATIONS, PETS

LONGEST_REST = 240

TABLE = """
work     (?:full-time |part-time |remotely )?(?:at|for) OBJ      WORKS_AT         professional company
work     (?:as|in a role as) (?:an? |the )?OBJ                   WORKS_AS         professional -
work     (?:hard )?on OBJ                                        WORKING_ON       projects     project
work     in OBJ                                                  WORKS_IN         professional -
join     (?!in |us |me |you |them |him |her )OBJ                 WORKS_AT         professional company
start    (?:a |my )?(?:new )?(?:job|position|internship|role) (?:at|with|for) OBJ  WORKS_AT professional company
get      (?:a |the |my )?(?:new )?(?:job|position|internship|role) (?:at|with) OBJ  WORKS_AT professional company
get      promoted to OBJ                                         PROMOTED_TO      professional -
get      (?=(?:engaged|divorced|married|fired|laid off|sick|injured|accepted)\\b)OBJ  BECAME  personal     -
promote  to OBJ                                                  PROMOTED_TO      professional -
hire     by OBJ                                                  WORKS_AT         professional company
found    OBJ                                                     FOUNDED          professional company
own      OBJ                                                     OWNS             personal     thing
manage   (?!to )OBJ                                              MANAGES          professional -
lead     (?!to )OBJ                                              MANAGES          professional -
run      (?:my own |my |the |a |an |our )(?=.{0,40}\\b(?:company|business|shop|store|team|bakery|restaurant|studio|department))OBJ  MANAGES professional company
quit     OBJ                                                     QUIT             professional -
leave    (?:my (?:old )?job at |my position at )OBJ              LEFT             professional company
graduate (?:from )OBJ                                            GRADUATED_FROM   professional company
attend   OBJ                                                     ATTENDED         professional event
study    OBJ                                                     STUDIES          professional -
teach    OBJ                                                     TEACHES          professional -
use      (?!to )OBJ                                              USES             projects     product
switch   (?:from (?:.+?) )?to OBJ                                SWITCHED_TO      projects     product
migrate  (?:from (?:.+?) )?to OBJ                                SWITCHED_TO      projects     product
decide   (?:to use|to go with|to switch to) OBJ                  USES             projects     product
agree    (?:to use|to go with|to switch to) OBJ                  USES             projects     product
choose   (?!to )OBJ                                              CHOSE            projects     product
settle   on OBJ                                                  CHOSE            projects     product
opt      for OBJ                                                 CHOSE            projects     product
build    OBJ                                                     BUILDING         projects     project
develop  (?!an? (?:interest|passion|habit|love))OBJ              BUILDING         projects     project
create   OBJ                                                     CREATED          projects     project
launch   OBJ                                                     LAUNCHED         projects     project
release  OBJ                                                     LAUNCHED         projects     project
contribute to OBJ                                                CONTRIBUTED_TO   projects     project
learn    (?!to |how |about |from |that |a lot)OBJ                LEARNING         projects     -
learn    (?:to |how to )OBJ                                      LEARNING         projects     -

live     in OBJ                                                  LIVES_IN         personal     place
live     (?:near|at|on) OBJ                                      LIVES_IN         personal     place
grow     up (?:in|on|near) OBJ                                   GREW_UP_IN       personal     place
move     (?:back |out |over )?(?:from (?:.+?) )?to (?=DATE)OBJ   SCHEDULED_FOR    temporal     -
move     (?:back |out |over )?(?:from (?:.+?) )?to OBJ           MOVED_TO         personal     place
relocate (?:from (?:.+?) )?to OBJ                                MOVED_TO         personal     place
fly      (?:back |out )?to OBJ                                   TRAVELS_TO       personal     place
travel   to OBJ                                                  TRAVELS_TO       personal     place
visit    OBJ                                                     VISITED          personal     place
speak    (?=[A-Z])OBJ                                            SPEAKS           personal     -
bear     (?:and raised )?in OBJ                                  BORN_IN          personal     place
bear     on OBJ                                                  BORN_ON          temporal     -
diagnose with OBJ                                                HAS_CONDITION    personal     -
suffer   from OBJ                                                HAS_CONDITION    personal     -
adopt    (?=(?:\\S+ ){0,3}PET)OBJ                                HAS_PET          personal     pet
get      (?=(?:\\S+ ){0,3}PET)OBJ                                HAS_PET          personal     pet
have     (?=(?:\\S+ ){0,3}PET)OBJ                                HAS_PET          personal     pet
have     (?:an? |\\S+ )?(?:severe |bad )?OBJ allerg(?:y|ies)     ALLERGIC_TO      personal     -
have     (?:an? )?(?:meeting|appointment|call) (?:at|on|with) OBJ  HAS_SCHEDULE   temporal     -

meet     (?:up )?(?:with )?(?=[A-Z])OBJ                          MET              social       person
know     (?=each other)OBJ                                       KNOWS            social       person
know     (?=[A-Z])OBJ                                            KNOWS            social       person
date     OBJ                                                     DATING           social       person
marry    OBJ                                                     SPOUSE_OF        social       person
get      (?:married|engaged) to OBJ                              SPOUSE_OF        social       person

prefer   (?!to )OBJ                                              PREFERS          preferences  -
prefer   to OBJ                                                  PREFERS          preferences  -
rather   (?:use |have |take |go with )?OBJ                       PREFERS          preferences  -
love     OBJ                                                     LIKES            preferences  -
like     OBJ                                                     LIKES            preferences  -
enjoy    OBJ                                                     LIKES            preferences  -
adore    OBJ                                                     LIKES            preferences  -
hate     OBJ                                                     DISLIKES         preferences  -
dislike  OBJ                                                     DISLIKES         preferences  -
stand!   OBJ                                                     DISLIKES         preferences  -
want     OBJ                                                     WANTS            preferences  -

earn     OBJ                                                     HAS_COMPENSATION financial    -
make     (?=[$€£]?\\d[\\d,.]*k?\\b.{0,20}(?:a|per) (?:year|month|hour|week))OBJ  HAS_COMPENSATION financial -
cost     OBJ                                                     COSTS            financial    -
owe      OBJ                                                     OWES             financial    -
pay      OBJ                                                     PAID             financial    -
buy      OBJ                                                     BOUGHT           financial    thing
sell     OBJ                                                     SOLD             financial    thing
invest   (?:.{0,40}? )?in OBJ                                    INVESTED_IN      financial    thing
save     (?:up |money )?for OBJ                                  SAVING_FOR       financial    -

schedule for OBJ                                                 SCHEDULED_FOR    temporal     -
start    (?:on |at |in )(?=DATE)OBJ                              STARTS_ON        temporal     -
begin    (?:on |at |in )(?=DATE)OBJ                              STARTS_ON        temporal     -
end      (?:on |at |in )(?=DATE)OBJ                              ENDS_ON          temporal     -
take     place (?:on |at |in )?OBJ                               OCCURS_ON        temporal     -
need     (?=.{0,60}(?:\\bat \\d|\\d ?[ap]m\\b|every ))OBJ        HAS_SCHEDULE     temporal     -
take     (?=.{0,60}(?:\\bat \\d|\\d ?[ap]m\\b))(?=.{0,40}(?:pill|medic|tablet|insulin))OBJ  HAS_SCHEDULE temporal -
text     (?:me |us )?(?:at |around )(?=DATE)OBJ                  TYPICALLY_CONTACTS_AT behavioural -
call     (?:me |us )?(?:at |around )(?=DATE)OBJ                  TYPICALLY_CONTACTS_AT behavioural -
name     OBJ                                                     NAMED            personal     -
call     (?!me|us|him|her|them|my|the|a )OBJ                     NAMED            personal     -

be       (?:only |just |now )?OBJ years? old                     AGE              personal     -
be       (?:originally )?from OBJ                                FROM             personal     place
be       (?:very |severely |really )?allergic to OBJ             ALLERGIC_TO      personal     -
be       (?:happily )?(?:married|engaged) to OBJ                 SPOUSE_OF        social       person
be       (?:very |really |super |also |so )?interested in OBJ    INTERESTED_IN    preferences  -
be       (?:really |very |super |so |also )?into OBJ             INTERESTED_IN    preferences  -
be       (?:not )?(?:a |an )?(?:really |very )?(?:big |huge |great )?fan of OBJ  LIKES preferences -
be       (?:really |super |very )?keen on OBJ                    INTERESTED_IN    preferences  -
be       (?:a |good |best |close |great )*friends? (?:of|with) OBJ  FRIEND_OF     social       person
be       (?:a |the )?(?:\\w+ )?(?:customer|client) of OBJ        CUSTOMER_OF      professional company
be       (?:a|an|the|one of the|now a|now an|now the|also a|currently a|currently an) (?=(?:[\\w-]+ ){0,3}JOB(?: (?:of|at|in|for|from|with|who|and|on)\\b|[,.;]|$))OBJ  WORKS_AS professional -
be       (?:called|named) OBJ                                    NAMED            personal     -
"""


class Rule(NamedTuple):
    pattern: re.Pattern[str]
    relation: str
    category: Category
    type: str | None  # of the object, if that is an entity
    negated: bool


DATE = (
    r"(?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|tonight|next|this|noon"
    r"|midnight|\d{1,2}(?:st|nd|rd|th|:\d\d|\s?[ap]m)?\b|jan|feb|mar(?:ch)?\b|apr|may\b|jun|jul|aug"
    r"|sep|oct|nov|dec)"
)
KINDS = {
    "PET": rf"(?:{'|'.join(sorted(PETS))})\b",
    "KIN": rf"(?:{'|'.join(sorted(KIN))})\b",
    "JOB": rf"(?:{'|'.join(sorted(OCCUPATIONS))})s?",
    "DATE": DATE,
}
LINE = re.compile(
    r"(?P<verb>\S+)\s+(?P<what>.*?)\s+(?P<relation>[A-Z_]+)\s+(?P<category>[a-z]+)\s+(?P<type>\S+)"
)


def _rules() -> dict[str, list[Rule]]:
    rules: dict[str, list[Rule]] = {}
    for line in filter(None, map(str.strip, TABLE.splitlines())):
        row = LINE.fullmatch(line)
        if row is None:
            raise ValueError(f"no rule: {line}")
        what = row["what"].replace(" ", r"\s+").replace(r"\\", "\\")
        what = what.replace(
            "OBJ", "(?P<object>.+?)" if what.rstrip()[-3:] != "OBJ" else "(?P<object>.+)"
        )
        for name, pattern in KINDS.items():
            what = re.sub(rf"\b{name}\b", lambda _, held=pattern: held, what)
        verb = row["verb"]
        rule = Rule(
            re.compile(what, 0 if "[A-Z]" in what else re.IGNORECASE),
            row["relation"],
            Category(row["category"]),
            None if row["type"] == "-" else row["type"],
            verb.endswith("!"),
        )
        rules.setdefault(verb.rstrip("!"), []).append(rule)
    return rules


RULES = _rules()

# The relation in another tense: (present or future) instead of what the table says
UNFINISHED = {
    "MOVED_TO": "MOVING_TO",
    "LAUNCHED": "LAUNCHING",
    "BUILDING": "BUILDING",
}
FINISHED = {"BUILDING": "CREATED"}
PAST_ONLY = frozenset(  # said of the future, these are named after their verb
    "PAID BOUGHT SOLD VISITED ATTENDED QUIT LEFT CHOSE FOUNDED INVESTED_IN MET CREATED".split()
)
OPPOSITE = {"LIKES": "DISLIKES"}
BEGINS = frozenset(
    "MOVED_TO WORKS_AT SPOUSE_OF HAS_PET FOUNDED OWNS QUIT STUDIES SWITCHED_TO".split()
)
STATES = frozenset(
    """LIVES_IN WORKS_AT WORKS_AS WORKS_IN KNOWS SPOUSE_OF FRIEND_OF HAS_PET OWNS USES STUDIES
    SPEAKS LIKES DISLIKES PREFERS INTERESTED_IN MANAGES""".split()
)
