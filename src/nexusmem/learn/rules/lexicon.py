"""Word lists of the grammar: closed classes first, then the open ones that rules need."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- closed classes

PRONOUNS = word_set("i we you he she they it")
SUBJECTS = word_set("i we you he she they it this that these those there")
OBJECTS = word_set("me us him her them you it myself ourselves himself herself themselves yourself")
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


# -- open classes

KIN = {  # word → relation between possessor and named person
    **dict.fromkeys(
        """sister brother sibling twin sis bro stepsister stepbrother sisters brothers
        siblings""".split(),
        "SIBLING_OF",
    ),
    **dict.fromkeys(
        "son daughter kid child baby stepson stepdaughter kids children sons daughters".split(),
        "PARENT_OF",
    ),
    **dict.fromkeys(
        "mom mum mother mam dad father parent mama papa parents stepmother stepfather".split(),
        "CHILD_OF",
    ),
    **dict.fromkeys("husband wife spouse hubby".split(), "SPOUSE_OF"),
    **dict.fromkeys("fiancé fiancée fiance fiancee".split(), "ENGAGED_TO"),
    **dict.fromkeys("boyfriend girlfriend partner ex".split(), "DATING"),
    **dict.fromkeys("ex-boyfriend ex-girlfriend ex-partner".split(), "DATING"),
    **dict.fromkeys("ex-wife ex-husband".split(), "SPOUSE_OF"),
    **dict.fromkeys("friend buddy friends pal mate bestie".split(), "FRIEND_OF"),
    **dict.fromkeys("colleague coworker co-worker teammate colleagues".split(), "COLLEAGUE_OF"),
    **dict.fromkeys("boss manager supervisor".split(), "REPORTS_TO"),
    **dict.fromkeys("neighbor neighbour".split(), "NEIGHBOR_OF"),
    **dict.fromkeys("roommate flatmate housemate".split(), "LIVES_WITH"),
    **dict.fromkeys(
        """uncle aunt auntie cousin nephew niece grandmother grandfather grandma grandpa granny
        nana grandson granddaughter grandchild""".split(),
        "RELATIVE_OF",
    ),
    **dict.fromkeys("doctor gp dentist vet therapist physio paediatrician".split(), "HAS_DOCTOR"),
    **dict.fromkeys("mentor teacher coach landlord".split(), "KNOWS"),
}
PARENTS = word_set(
    "mom mum mommy mummy mam mamá mama mother dad daddy papa father grandma grandpa granny gran nan"
    " nana nanna grandad granddad"
)  # used as names
KIN_SPELLINGS = tuple(  # words for one relative of a person
    map(
        word_set,
        (
            "mother mom mum mommy mummy mam mama mamá",
            "father dad daddy papa",
            "grandmother grandma granny gran nan nana nanna",
            "grandfather grandpa grandad granddad",
            "sister sis",
            "brother bro",
            "husband hubby",
            "fiancé fiancée fiance fiancee",
            "aunt auntie",
            "neighbor neighbour",
            "roommate flatmate",
            "coworker co-worker colleague",
            "boss manager supervisor",
        ),
    )
)
PETS = word_set(
    """dog dogs cat cats puppy puppies kitten kittens pup pups hamster rabbit bunny parrot goldfish
    horse pony turtle tortoise snake guinea ferret lizard pet pets kitty kitties doggo pooch mutt
    greyhound labrador spaniel terrier poodle collie dachshund beagle whippet lurcher retriever
    bulldog pug corgi husky tabby tomcat moggy budgie budgerigar canary cockatiel gecko
    labrador setter schnauzer rottweiler doberman alsatian chihuahua
    iguana chinchilla gerbil rat donkey hens alpaca hedgehog"""
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
    waiter waitress welder writer zookeeper lead
    apprentice arborist auctioneer auditor beautician beekeeper bosun brewer bursar buyer cabbie
    caretaker carer caterer celebrant chairman chairperson chairwoman chancellor chaplain
    childminder chiropractor choreographer churchwarden cleric cobbler columnist commissioner
    concierge conservator coordinator coroner councillor courier cto ciso curator
    dean decorator delegate deputy dermatologist diver docent dramaturg draughtsman ecologist
    electrician estimator executive facilitator farrier fellow fitter florist foreman forester
    forewoman fundraiser glazier goldsmith governor groundsman gynaecologist
    handyman headmaster headmistress headteacher housekeeper hygienist inspector intern
    joiner landscaper landlady landlord liaison lifeguard lobbyist locum logistician
    machinist maintainer manageress marketeer mason masseur matron mayor mediator merchandiser
    milliner minister modeller moderator neurologist notary nursemaid obstetrician oncologist
    orthodontist osteopath paediatrician pediatrician parliamentarian pastor pathologist
    pensioner physio planner plasterer podiatrist postman postwoman priest prosecutor provost
    rabbi radiographer radiologist ranger rector referee registrar reviewer
    rigger roofer roadie saleswoman scaffolder scheduler sergeant
    shepherd shipwright shopkeeper solicitor sonographer spokesperson
    spokeswoman spokesman steward stewardess stonemason strategist stylist tattooist taxidermist
    tester tiler tradesman treasurer trustee typist umpire urologist usher vicar vice-president
    warden watchmaker webmaster weaver woodworker rvn sre cmo cpo cio pm vp postdoc"""
)

# Skills: languages and tools of a trade
LANGUAGES = word_set(
    """english spanish french german italian portuguese dutch polish swedish norwegian danish
    finnish russian ukrainian greek turkish arabic hebrew persian farsi hindi urdu bengali tamil
    chinese mandarin cantonese japanese korean vietnamese thai indonesian swahili czech
    hungarian romanian latin catalan basque galician welsh irish gaelic breton icelandic estonian
    latvian lithuanian slovak slovenian slovene croatian serbian bosnian bulgarian macedonian
    albanian armenian georgian kurdish pashto punjabi gujarati marathi telugu malayalam kannada
    sinhala nepali burmese khmer lao malay tagalog filipino javanese somali amharic yoruba igbo
    hausa zulu xhosa afrikaans maltese luxembourgish esperanto"""
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
POLITE_STATES = word_set(
    """fine good ok okay sorry glad sure here back great well happy excited right wrong welcome
    thankful grateful impressed curious done ready lucky kidding serious afraid honored
    alright"""
)

# Subjects without a specific referent
VAGUE_WORDS = word_set(
    "lot lots much something everything anything things thing someone everyone one some"
)

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
FOREIGN_FUNCTION_WORDS = FOREIGN_WORDS | word_set(  # none is an English word
    """dem vom zum zur beim sich uns mich dich mir dir euch noch nur schon auch aber oder wenn weil
    dass daß sind wird werden wurde habe haben hatte kann keine keinen meine mein dein deine unser
    unsere eine einen einem einer nach bei seit über sehr immer heute morgen gestern bitte jetzt
    doch wie warum wer steht gibt lieber nein
    del al su les qué cómo más muy pero porque cuando dónde está están estoy tengo tiene este
    esta eso nada nuestro nuestra desde hasta hoy mañana ayer gusta soy eres
    au aux du avec sans mais où qui quoi quand tu nous vous elle elles ils notre votre cette ces
    très ça suis sommes êtes sont avons avez ont c'est j'ai j'en qu'il qu'on d'un d'une aujourd'hui
    demain hier chez pas ne toi moi leur leurs
    della dello degli delle nel nella anche perché più questo questa ho hai abbiamo siamo domani
    oggi ieri wij jij jullie maar ook nog naar voor heb heeft hebben wordt deze vandaag bij
    estou também mais muito tenho amanhã hoje bor på av från för är inte ikke hos"""
)
SHARED_SMALL_WORDS = word_set("a am an as in is on so was")  # other languages have them, too
SHARED_WORDS = SHARED_SMALL_WORDS | word_set("i do he me no we will")

# -- nouns and adjectives that give a statement its type

ATTRIBUTES = {  # noun phrase → predicate of its owner
    **dict.fromkeys(("birthday", "date of birth", "birth date"), "BORN_ON"),
    **dict.fromkeys(("email", "e-mail", "mail", "email address", "mail address"), "HAS_EMAIL"),
    **dict.fromkeys(
        ("phone", "number", "mobile", "cell", "phone number", "mobile number"), "HAS_PHONE"
    ),
    **dict.fromkeys(("address", "home address", "new address", "invoice address"), "HAS_ADDRESS"),
    **dict.fromkeys(("handle", "github handle", "twitter handle"), "HAS_HANDLE"),
    **dict.fromkeys(("username", "user name", "login"), "HAS_USERNAME"),
    **dict.fromkeys(("budget",), "HAS_BUDGET"),
    **dict.fromkeys(("salary", "wage", "gross salary"), "HAS_COMPENSATION"),
    **dict.fromkeys(("price", "cost", "rent", "fee"), "HAS_PRICE"),
    **dict.fromkeys(("deadline", "due date"), "DUE_ON"),
    **dict.fromkeys(("anniversary", "wedding anniversary"), "ANNIVERSARY_ON"),
    **dict.fromkeys(("last day",), "ENDED_ON"),
    **dict.fromkeys(("first day", "start date"), "STARTED_ON"),
    **dict.fromkeys(("contact", "main contact", "contact person"), "HAS_CONTACT"),
    **dict.fromkeys(("timezone", "time zone"), "HAS_TIMEZONE"),
    **dict.fromkeys(("role", "job", "job title", "title", "position"), "HAS_ROLE"),
    **dict.fromkeys(("hometown", "home town"), "FROM"),
    **dict.fromkeys(("maiden name",), "HAS_MAIDEN_NAME"),
    **dict.fromkeys(("code", "gate code", "door code"), "HAS_CODE"),
    **dict.fromkeys(("rate limit", "limit"), "HAS_LIMIT"),
    **{
        f"{spelling} {noun}": "PREFERS"
        for spelling in ("favorite", "favourite")
        for noun in (
            "color colour food drink movie film book song band language editor game sport"
            " team season dish"
            " restaurant place city animal flower artist author tool ice-cream cuisine"
        ).split()
    },
}
CLUBS = word_set(
    """club choir band gym team league orchestra church society association union committee board
    group class course brigade squad crew quartet forum community network chorus ensemble trio guild
    circle collective cooperative co-op parish congregation fraternity sorority troop troupe
    federation party panel jury rota scouts council chapter meetup cohort programme program gang"""
)
SCHOOLS = word_set("school university college kindergarten crèche academy")
ORGANISATIONS = SCHOOLS | word_set(
    """company startup start-up firm agency bank hospital lab studio business corporation
    department office bakery restaurant shop store clinic factory bureau council ministry
    charity ngo library museum warehouse brewery aquarium zoo practice"""
)
CONDITIONS = word_set(
    """diabetes asthma celiac coeliac migraine migraines epilepsy arthritis anxiety depression
    adhd cancer hypertension insomnia dyslexia autism eczema psoriasis anemia anaemia tinnitus
    scoliosis covid flu influenza pneumonia bronchitis tonsillitis sinusitis shingles chickenpox
    measles mumps rubella scabies ringworm conjunctivitis impetigo norovirus gastroenteritis
    reflux colic croup hay-fever hayfever ibs crohn colitis gastritis gallstones ulcer gout
    osteoporosis sciatica lumbago tendonitis tendinitis bursitis concussion whiplash hernia
    fibromyalgia lupus parkinson alzheimer dementia ms als copd apnea apnoea tachycardia
    arrhythmia angina thrombosis leukemia leukaemia lymphoma melanoma tumor tumour glaucoma
    cataract cataracts vertigo hypothyroidism hyperthyroidism endometriosis pcos preeclampsia
    bipolar schizophrenia ocd ptsd anorexia bulimia narcolepsy lyme malaria tuberculosis
    hepatitis jaundice appendicitis mono mastitis rosacea vitiligo fracture sprain"""
)
INJURIES = word_set(  # adjective of a body part: "a broken wrist"
    """broken fractured sprained torn twisted dislocated ruptured bad slipped pulled frozen
    herniated inflamed infected swollen cracked bruised trapped strained"""
)
BODY_PARTS = word_set(
    """back hip knee ankle wrist shoulder elbow neck foot toe finger thumb arm leg hand rib ribs
    collarbone achilles ligament meniscus cruciate disc tendon hamstring heart lung kidney liver
    eye ear tooth jaw nose skull spine pelvis calf groin heel"""
)
MEDICAL_ADJECTIVES = word_set(
    """diabetic asthmatic celiac coeliac deaf blind colorblind colourblind pregnant autistic
    dyslexic epileptic anemic anaemic hypertensive arthritic anorexic bulimic bipolar seasick
    carsick dyspraxic haemophiliac hemophiliac infertile"""
)
DIETS = word_set("vegetarian vegan pescatarian halal kosher gluten-free dairy-free")
STATUS_ADJECTIVES = word_set(
    """closed open cancelled canceled postponed live retired disbanded fixed blocked deprecated
    discontinued offline online approved sold shut broken faulty down delayed sick engaged divorced
    widowed separated single expecting unemployed redundant furloughed suspended vacant overdue
    expired lifted refused rejected denied accepted granted signed submitted unavailable defective
    bankrupt insolvent bust frozen archived decommissioned obsolete demolished flooded repaired
    adopted rehomed neutered spayed vaccinated rescheduled booked confirmed withdrawn dissolved
    merged scrapped shelved"""
)
PERSONAL_STATUS = word_set(  # of people, never of things
    "sick engaged divorced widowed separated single expecting unemployed redundant retired"
)
STORAGE_NOUNS = word_set(
    """locker drawer bag box cupboard shelf pocket backpack folder drive cabinet fridge garage attic
    basement cellar safe closet wardrobe glovebox trunk shed repo repository directory bucket
    tin jar pot hook rack chest vault crate basket envelope tray tub bin freezer pantry larder loft
    hallway porch storeroom storage outhouse barn sluice binder notebook case suitcase
    holdall rucksack toolbox bookcase sideboard dresser nightstand desk vase flowerpot doormat mat
    lockbox letterbox mailbox pigeonhole cubby compartment wallet purse handbag cabinet
    workshop greenhouse conservatory boot cellars channel wiki vault spreadsheet"""
)
VEHICLES = word_set("car van bike motorbike motorcycle bicycle truck boat scooter caravan tractor")
EVENTS = word_set(
    """breakfast brunch drill fete fair meeting appointment call interview exam party wedding
    concert conference dinner lunch trip flight workshop review demo launch release kickoff
    kick-off sync standup retro operation surgery checkup check-up tournament game match
    training rehearsal delivery inspection festival reunion holiday vacation presentation
    deadline bbq barbecue class lesson funeral birthday ceremony visit session webinar hearing
    audit handover relaunch beta course camp ferry train bus sprint offsite vaccination dentist
    gig race marathon show play exhibition election vote move renovation
    agm audition auction assembly assessment bootcamp briefing ceilidh celebration
    check-in check-out christening baptism cleanup closing commissioning competition consultation
    cook-off cremation crossing cruise cutover dance debate debrief demonstration departure
    disco drinks fair fitting fixture fundraiser gala gathering go-live
    graduation grooming handoff hackathon haircut hike housewarming induction injection install
    installation interview introduction jab keynote lecture maintenance mediation meetup
    meet-up migration mock mot mri mtg nativity offsite op opener opening orientation
    outage outing panel parade performance physio picnic pickup pick-up pilot playdate playtest
    post-mortem postmortem pre-op premiere procession quiz rave reception recital
    redeployment refresher reopening repair replacement repotting reservation retreat retrospective
    ride roadshow rollout roll-out run sale sailing scan screening seminar service shoot showcase
    shower sleepover smear summit swap sync-up table tasting test tour trial tryout
    tutorial unveiling upgrade vaccine viewing vigil visitation wake walkthrough walk-through
    weekend x-ray outage freeze takeover semifinal final derby friendly scrimmage"""
)
DEADLINE_NOUNS = word_set("submission submissions registration rsvp rsvps nominations entries")
