"""Word lists of the grammar: closed classes first, then the open ones that rules need."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- closed classes

PRONOUNS = word_set("i we you he she they it")
DEMONSTRATIVES = word_set("this that these those there")
SUBJECTS = word_set("i we you he she they it this that these those there")
OBJECTS = word_set("me us him her them you it myself ourselves himself herself themselves yourself")
POSSESSIVES = word_set("my our your his her their its")
DETERMINERS = word_set(
    """a an the this that these those some any no each every all both another either neither such
    my our your his her their its what"""
)
AUXILIARIES = {  # word → lemma
    **dict.fromkeys(("am", "is", "are", "was", "were", "be", "been", "being"), "be"),
    **dict.fromkeys(("'m", "'re", "m"), "be"),
    **dict.fromkeys(("have", "has", "had", "'ve"), "have"),
    **dict.fromkeys(("do", "does", "did"), "do"),
    **dict.fromkeys(("will", "'ll", "wo", "shall"), "will"),
    **dict.fromkeys(("can", "ca"), "can"),
    **{modal: modal for modal in ("could", "would", "should", "may", "might", "must")},
    "'d": "would",
}
PAST_AUXILIARIES = word_set("was were had did")
MODALS = word_set("can could would should may might must")
NEGATIONS = word_set("not n't nt never")
NEGATIVE_SUBJECTS = word_set("nobody none nothing neither nowhere noone")
PREPOSITIONS = word_set(
    """in on at by for with from to of about into onto over under after before during between among
    through without within against along around near behind beside beyond across toward
    towards upon off out up down as like than via despite per since until till"""
)
COORDINATORS = word_set("and but or so yet plus &")
SUBORDINATORS = word_set(
    """because when while since although though if unless until till after before once whenever
    whereas as that which who whom whose where wherever"""
)
LINKS = word_set(
    "because when while although though whereas whenever if unless until once since after before"
    " which who where as"
)
CLAUSE_STARTERS = word_set(  # inside a sentence another clause starts here
    "because when while although though whereas whenever if unless lest whether"
)
TIME_CONJUNCTIONS = word_set(
    "when whenever once until till before after"
)  # with a present tense: not yet, or always
CONDITIONS = word_set("if unless in-case suppose supposing imagine provided assuming whether lest")
QUESTIONS = word_set("who what where when why how which whose whom")
ADVERBS = word_set(
    """also always already actually absolutely almost basically certainly clearly completely
    constantly currently daily definitely especially even ever exactly finally fortunately
    frequently generally genuinely gladly hardly honestly hopefully immediately initially
    instead just kinda last lately likely literally luckily mainly maybe mostly naturally
    nearly never normally now obviously occasionally often once only originally perhaps
    personally possibly presently pretty previously probably quickly quite rarely really
    recently regularly sadly seldom simply so sometimes sorta soon still successfully super
    suddenly surely then thankfully there today too totally truly typically unfortunately
    usually very well yesterday yet here tonight tomorrow both all seriously slowly deeply
    strongly highly fully firmly proudly"""
)
HEDGES = word_set(
    "maybe perhaps possibly probably apparently supposedly allegedly likely might may"
)
HABIT_ADVERBS = word_set(
    "usually always often normally typically generally regularly frequently sometimes tend tends"
)

# Openers without content: "Hey Mel!", "Well,", "By the way,"
OPENERS = word_set(
    """hey hi hello oh wow yeah yes yep yup no nope nah well ok okay so anyway btw haha lol hmm um
    uh ah aw aww thanks thank thx sure right cool great awesome nice sweet man dude dear
    please exactly absolutely totally definitely indeed agreed true plus actually honestly
    also and but or"""
)

CHATTER = word_set(
    "lol lmao rofl haha hahaha hehe tbh btw imo imho omg xd"
)  # laughter and interjections

# -- open classes

KIN = {  # word → relation between possessor and named person
    **dict.fromkeys(
        "sister brother sibling twin sis bro stepsister stepbrother".split(), "SIBLING_OF"
    ),
    **dict.fromkeys("sisters brothers siblings".split(), "SIBLING_OF"),
    **dict.fromkeys("son daughter kid child baby stepson stepdaughter".split(), "PARENT_OF"),
    **dict.fromkeys("kids children sons daughters".split(), "PARENT_OF"),
    **dict.fromkeys("mom mum mother dad father parent mama papa parents".split(), "CHILD_OF"),
    **dict.fromkeys("husband wife spouse hubby".split(), "SPOUSE_OF"),
    **dict.fromkeys("boyfriend girlfriend partner fiancé fiancée fiance fiancee".split(), "DATING"),
    **dict.fromkeys("friend buddy friends pal".split(), "FRIEND_OF"),
    **dict.fromkeys("colleague coworker co-worker teammate colleagues".split(), "COLLEAGUE_OF"),
    **dict.fromkeys("boss manager supervisor".split(), "REPORTS_TO"),
    **dict.fromkeys("neighbor neighbour roommate flatmate".split(), "NEIGHBOR_OF"),
    **dict.fromkeys(
        "uncle aunt cousin nephew niece grandmother grandfather".split(), "RELATIVE_OF"
    ),
    **dict.fromkeys("grandma grandpa granny grandson granddaughter".split(), "RELATIVE_OF"),
    **dict.fromkeys("mentor teacher coach doctor therapist landlord".split(), "KNOWS"),
}
PARENTS = word_set("mom mum mommy mother dad daddy father grandma grandpa granny")  # used as names
PETS = word_set(
    """dog dogs cat cats puppy puppies kitten kittens pup pups hamster rabbit bunny parrot goldfish
    horse pony turtle tortoise snake guinea ferret lizard pet pets"""
)
FEMALE_NOUNS = word_set(
    """she her sister mother mom mum daughter wife aunt niece grandmother grandma girlfriend woman
    girl lady queen granddaughter fiancée stepsister"""
)
MALE_NOUNS = word_set(
    """he him brother father dad son husband uncle nephew grandfather grandpa boyfriend man boy guy
    king grandson fiancé stepbrother"""
)
PLURAL_NOUNS = word_set(
    "kids children parents friends siblings brothers sisters people family team folks"
)

OCCUPATIONS = word_set(
    """accountant actor actress administrator analyst anesthetist animator architect archivist
    artist assistant astronaut athlete attorney author baker banker barber barista bartender
    biologist bookkeeper botanist bricklayer broker builder butcher captain carpenter
    cashier ceo cfo chef chemist cleaner clerk coach coder comedian composer conductor
    consultant contractor cook coo counselor cto curator dancer dentist designer detective
    developer dietitian director dj doctor driver economist editor electrician engineer
    entrepreneur farmer firefighter fisherman florist freelancer gardener geologist guard
    guide hairdresser head historian illustrator instructor intern interpreter investor
    janitor jeweler journalist judge lawyer lecturer librarian lifeguard linguist locksmith
    manager marketer mathematician mechanic midwife model musician nanny novelist nurse
    nutritionist officer optician owner painter paralegal paramedic pharmacist photographer
    physician physicist physiotherapist pilot plumber poet policeman politician potter
    postdoc president principal producer professor programmer psychiatrist psychologist
    publisher receptionist recruiter reporter researcher sailor salesman salesperson
    scientist sculptor secretary seamstress singer soldier sommelier statistician student
    sculptor superintendent supervisor surgeon surveyor tailor teacher technician therapist
    trader trainer translator tutor undertaker upholsterer vet veterinarian videographer
    waiter waitress welder writer zookeeper lead"""
)

# Skills: languages and tools of a trade
LANGUAGES = word_set(
    """english spanish french german italian portuguese dutch polish swedish norwegian danish
    finnish russian ukrainian greek turkish arabic hebrew persian farsi hindi urdu bengali tamil
    chinese mandarin cantonese japanese korean vietnamese thai indonesian swahili czech
    hungarian romanian latin"""
)
SKILLS = word_set(
    """python java javascript typescript rust go golang kotlin swift ruby php perl scala haskell
    erlang elixir clojure cobol fortran matlab sql html css c c++ c# f# r lua bash linux
    unix git docker kubernetes terraform ansible react angular vue django flask rails spring
    node excel powerpoint photoshop figma blender latex tensorflow pytorch postgres
    postgresql mysql redis kafka spark hadoop aws azure"""
)

# Words that mark an opinion
JUDGEMENT_WORDS = word_set(
    """important necessary crucial great amazing awesome wonderful beautiful essential key vital
    inspiring powerful special incredible fantastic helpful worth tough hard challenging
    rewarding fun relaxing calming refreshing peaceful cool nice good bad best better
    perfect lovely useful easy"""
)

# Clauses with these state nothing lasting
POLITE_VERBS = word_set(
    """thank hope wish guess suppose agree know wonder imagine bet mean understand wait doubt
    apologize congratulate sound seem let mind matter kid joke assume swear promise
    guarantee"""
)
POLITE_NOW = word_set("see hear say tell ask look remind care happen talk")  # only in the present
POLITE_STATES = word_set(
    """fine good ok okay sorry glad sure here back great well happy excited right wrong welcome
    thankful grateful impressed curious done ready lucky kidding serious afraid honored
    alright"""
)

# Subjects without a specific referent
VAGUE_WORDS = word_set(
    "lot lots much something everything anything things thing someone everyone one some"
)
GENERAL_NOUNS = word_set(
    """nature art music life love hope progress family exercise practice work time family
    friendship hard reading change everybody people food travel sleep education community
    kindness"""
)
FIRST_PERSON_WORDS = word_set("i me my mine we us our ours myself ourselves")

STOP_WORDS = word_set(
    """a an the i you he she it we they me him her us them my your his its our their this that
    these those is are was were be been being am have has had do does did will would could
    should can may might must and or but so if of to in on at by for with from as about into
    not n't 's 'm 're 've 'll 'd just really very so too also even still much many lot lots
    there here what when where who how why all some any more most such no yes than then now
    up out over get got make made go going know think see thing things stuff way one really
    good great nice cool awesome amazing wow thanks it's that's always never ever like well
    again together day time today something anything everything someone us let sure"""
)

ENGLISH_WORDS = word_set(
    """the a an and or but of to in on at by for with from as is are was were be been am have has
    had do does did will would can could should not i you he she it we they me my your his
    her our their this that there what when where who how if so just about it's i'm don't"""
)
FOREIGN_WORDS = word_set(
    """ich und der die das ist nicht ein eine wir mit auf für je le la les des et est une dans pour
    el los las y en es una con por mi il di che sono per ik het een van niet zijn hij jeg og
    er som nie się jest na do que não um uma não com você som och att det"""
) - word_set("die do is a")
