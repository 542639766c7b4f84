"""The words the grammar knows by heart: closed classes first, then the few open ones it needs."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- closed classes

PRONOUNS = words("i we you he she they it")
POINTING = words("this that these those there")
SUBJECTS = words("i we you he she they it this that these those there")
OBJECTS = words("me us him her them you it myself ourselves himself herself themselves yourself")
POSSESSIVES = words("my our your his her their its")
DETERMINERS = words(
    """a an the this that these those some any no each every all both another either neither such
    my our your his her their its what"""
)
AUXILIARIES = {  # the word → its lemma
    **dict.fromkeys(("am", "is", "are", "was", "were", "be", "been", "being"), "be"),
    **dict.fromkeys(("'m", "'re", "m"), "be"),
    **dict.fromkeys(("have", "has", "had", "'ve"), "have"),
    **dict.fromkeys(("do", "does", "did"), "do"),
    **dict.fromkeys(("will", "'ll", "wo", "shall"), "will"),
    **dict.fromkeys(("can", "ca"), "can"),
    **{modal: modal for modal in ("could", "would", "should", "may", "might", "must")},
    "'d": "would",
}
PAST_AUXILIARIES = words("was were had did")
MODALS = words("can could would should may might must")
NOT = words("not n't nt never")
NOBODY = words("nobody none nothing neither nowhere noone")
PREPOSITIONS = words(
    """in on at by for with from to of about into onto over under after before during between among
    through without within against along around near behind beside beyond across toward
    towards upon off out up down as like than via despite per since until till"""
)
COORDINATORS = words("and but or so yet plus &")
SUBORDINATORS = words(
    """because when while since although though if unless until till after before once whenever
    whereas as that which who whom whose where wherever"""
)
LINKS = words(
    "because when while although though whereas whenever if unless until once since after before"
    " which who where as"
)
TURNS = words(  # inside a sentence another clause begins here, whatever stood before
    "because when while although though whereas whenever if unless lest whether"
)
WHENEVER = words("when whenever once until till before after")  # with a present: not yet, or always
CONDITIONS = words("if unless in-case suppose supposing imagine provided assuming whether lest")
QUESTIONS = words("who what where when why how which whose whom")
ADVERBS = words(
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
HEDGES = words("maybe perhaps possibly probably apparently supposedly allegedly likely might may")
HABITS = words(
    "usually always often normally typically generally regularly frequently sometimes tend tends"
)

# Openers that say nothing themselves: "Hey Mel!", "Well,", "By the way,"
OPENERS = words(
    """hey hi hello oh wow yeah yes yep yup no nope nah well ok okay so anyway btw haha lol hmm um
    uh ah aw aww thanks thank thx sure right cool great awesome nice sweet man dude dear
    please exactly absolutely totally definitely indeed agreed true plus actually honestly
    also and but or"""
)

CHATTER = words("lol lmao rofl haha hahaha hehe tbh btw imo imho omg xd")  # laughter, and the like

# -- open classes, as far as a rule asks for them

KIN = {  # word → relation of the one who has it to the one it names
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
PARENTS = words("mom mum mommy mother dad daddy father grandma grandpa granny")  # used as names
PETS = words(
    """dog dogs cat cats puppy puppies kitten kittens pup pups hamster rabbit bunny parrot goldfish
    horse pony turtle tortoise snake guinea ferret lizard pet pets"""
)
FEMALE = words(
    """she her sister mother mom mum daughter wife aunt niece grandmother grandma girlfriend woman
    girl lady queen granddaughter fiancée stepsister"""
)
MALE = words(
    """he him brother father dad son husband uncle nephew grandfather grandpa boyfriend man boy guy
    king grandson fiancé stepbrother"""
)
PLURAL = words("kids children parents friends siblings brothers sisters people family team folks")

OCCUPATIONS = words(
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

# What is known by learning it: languages of people, and the tools of a trade
TONGUES = words(
    """english spanish french german italian portuguese dutch polish swedish norwegian danish
    finnish russian ukrainian greek turkish arabic hebrew persian farsi hindi urdu bengali tamil
    chinese mandarin cantonese japanese korean vietnamese thai indonesian swahili czech
    hungarian romanian latin"""
)
SKILLS = words(
    """python java javascript typescript rust go golang kotlin swift ruby php perl scala haskell
    erlang elixir clojure cobol fortran matlab sql html css c c++ c# f# r lua bash linux
    unix git docker kubernetes terraform ansible react angular vue django flask rails spring
    node excel powerpoint photoshop figma blender latex tensorflow pytorch postgres
    postgresql mysql redis kafka spark hadoop aws azure"""
)

# Words that make a sentence an opinion rather than a report
JUDGEMENTS = words(
    """important necessary crucial great amazing awesome wonderful beautiful essential key vital
    inspiring powerful special incredible fantastic helpful worth tough hard challenging
    rewarding fun relaxing calming refreshing peaceful cool nice good bad best better
    perfect lovely useful easy"""
)

# Clauses about these say nothing that lasts
POLITE_VERBS = words(
    """thank hope wish guess suppose agree know wonder imagine bet mean understand wait doubt
    apologize congratulate sound seem let mind matter kid joke assume swear promise
    guarantee"""
)
POLITE_NOW = words("see hear say tell ask look remind care happen talk")  # unless it is a report
POLITE_STATES = words(
    """fine good ok okay sorry glad sure here back great well happy excited right wrong welcome
    thankful grateful impressed curious done ready lucky kidding serious afraid honored
    alright"""
)

# Subjects of which nothing in particular is said
VAGUE = words("lot lots much something everything anything things thing someone everyone one some")
GENERAL = words(
    """nature art music life love hope progress family exercise practice work time family
    friendship hard reading change everybody people food travel sleep education community
    kindness"""
)
OWN = words("i me my mine we us our ours myself ourselves")

STOP_WORDS = words(
    """a an the i you he she it we they me him her us them my your his its our their this that
    these those is are was were be been being am have has had do does did will would could
    should can may might must and or but so if of to in on at by for with from as about into
    not n't 's 'm 're 've 'll 'd just really very so too also even still much many lot lots
    there here what when where who how why all some any more most such no yes than then now
    up out over get got make made go going know think see thing things stuff way one really
    good great nice cool awesome amazing wow thanks it's that's always never ever like well
    again together day time today something anything everything someone us let sure"""
)

ENGLISH = words(
    """the a an and or but of to in on at by for with from as is are was were be been am have has
    had do does did will would can could should not i you he she it we they me my your his
    her our their this that there what when where who how if so just about it's i'm don't"""
)
FOREIGN = words(
    """ich und der die das ist nicht ein eine wir mit auf für je le la les des et est une dans pour
    el los las y en es una con por mi il di che sono per ik het een van niet zijn hij jeg og
    er som nie się jest na do que não um uma não com você som och att det"""
) - words("die do is a")
