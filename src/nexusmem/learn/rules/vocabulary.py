"""Nouns that relations expect as objects: medicines, sports, instruments, goods, duties."""

from __future__ import annotations

import re

from .lexicon import CONDITIONS, STORAGE_NOUNS, VEHICLES, word_set

SPORTS = word_set(
    """football soccer rugby tennis badminton squash padel golf hockey basketball volleyball
    handball netball cricket baseball softball lacrosse bowls bowling billiards snooker pool darts
    table-tennis ping-pong pickleball frisbee polo chess go bridge poker rummy backgammon checkers
    scrabble catan mahjong dominoes sudoku yoga pilates karate judo aikido taekwondo kickboxing
    boxing fencing archery crossfit zumba ballet salsa tango parkour triathlon athletics
    gymnastics capoeira jiu-jitsu krav d&d rpgs esports"""
)
HOBBIES = word_set(
    """pottery painting drawing knitting crochet sewing quilting woodworking carpentry gardening
    baking cooking photography birdwatching climbing bouldering hiking running cycling swimming
    sailing surfing skiing snowboarding skating kayaking rowing diving fishing dancing singing
    calligraphy origami astronomy genealogy beekeeping homebrewing meditation embroidery ceramics
    weaving blogging podcasting geocaching orienteering skateboarding windsurfing paragliding"""
)
INSTRUMENTS = word_set(
    """piano guitar violin viola cello bass flute clarinet oboe bassoon saxophone sax trumpet
    trombone tuba horn harp drums drum percussion accordion ukulele banjo mandolin harmonica
    keyboard keyboards organ recorder bagpipes sitar tabla kora lute fiddle synth synthesizer
    cornet euphonium lyre didgeridoo xylophone marimba concertina zither"""
)
MEDICINES = word_set(
    """insulin antibiotics antibiotic statins statin steroids steroid painkillers painkiller
    antidepressants antihistamines antihistamine betablockers beta-blockers chemo chemotherapy
    metformin ibuprofen paracetamol aspirin tramadol morphine codeine warfarin eliquis xarelto
    ozempic wegovy mounjaro humira ventolin prednisone prednisolone cortisone levothyroxine
    thyroxine lithium ritalin concerta adderall xanax valium zoloft prozac lexapro sertraline
    omeprazole pantoprazole heparin methotrexate gabapentin pregabalin lisinopril ramipril
    bisoprolol amlodipine atorvastatin simvastatin nebivolol metacam vetmedin apoquel gabapentin
    januvia jardiance synthroid tamoxifen keppra melatonin zyrtec claritin ramipril furosemide
    latanoprost entresto"""
)
MEDICINE_ENDING = re.compile(
    r"(?:cillin|mycin|statin|prazole|sartan|olol|dipine|zepam|zolam|oxetine|traline|pril|gliptin"
    r"|gliflozin|glutide|formin|tidine|oxacin|cycline|mab|parin|xaban|profen|codone|barbital"
    r"|thyroxine|triptan|caine|azole|vir|sone|olone|afil)$"
)
CONDITION_ENDING = re.compile(r"(?:itis|emia|aemia|osis|algia|opathy|phobia|oma|plegia)$")
COMMON_CONDITIONS = CONDITIONS | word_set(
    """covid flu pneumonia bronchitis chickenpox measles mumps shingles mono reflux gout ibs crohn
    endometriosis fibromyalgia lupus parkinson alzheimer dementia vertigo concussion hernia ulcer
    ulcers glaucoma cataract cataracts thyroid sciatica lyme malaria tuberculosis hepatitis hiv
    pcos ptsd ocd adhd bpd sinusitis tonsillitis appendicitis whiplash kidney-stones hayfever
    hay-fever burnout angina arrhythmia tendonitis tennis-elbow frostbite gastritis norovirus"""
)
BODY_PARTS = word_set(
    """arm leg wrist ankle knee hip shoulder elbow finger thumb toe foot collarbone rib ribs nose
    jaw hand back neck acl meniscus ligament hamstring achilles tendon calf muscle pelvis"""
)
FOODS = word_set(
    """meat pork beef chicken fish shellfish seafood dairy milk cheese eggs egg gluten wheat bread
    sugar salt nuts peanuts soy alcohol caffeine coffee carbs lactose onions garlic mushrooms
    tomatoes mussels prawns shrimp lamb bacon spicy-food chocolate sweets"""
)
POSTS = word_set(
    "role post position job presidency chair treasurership captaincy directorship professorship"
)
DOCTORS = word_set(
    """cardiologist dermatologist neurologist oncologist physio physiotherapist therapist
    psychologist psychiatrist gynaecologist gynecologist orthodontist osteopath chiropractor
    dietitian midwife counsellor counselor"""
)
SOUGHT = word_set(
    """job flat apartment house room place internship position roommate flatmate nanny babysitter
    tenant designer developer engineer investor apprenticeship school kindergarten nursery office
    venue home cleaner tutor lodger supplier contractor plumber"""
)
CONSUMED = word_set(
    """groceries food lunch dinner breakfast coffee drink drinks beer wine snack snacks pizza ice
    cream stuff round flowers bread milk cake water fuel petrol gas time meal bit lot"""
)
GOODS = VEHICLES | word_set(
    """house flat apartment cottage land plot farm business shop company caravan camper campervan
    motorhome piano guitar laptop phone bike sofa allotment condo shares boat cabin garage trailer
    desk camera drone yacht studio stake stock horse restaurant"""
)
DEVICES = VEHICLES | word_set(
    """laptop phone tablet camera printer monitor headphones console fridge dishwasher sofa guitar
    piano drone smartwatch tv telescope e-bike"""
)
PLANS = word_set("basic plus pro premium business enterprise team starter free standard family")
PLAN_NOUNS = word_set("plan tier subscription licence license membership tariff package")
TOOL_NOUNS = word_set(
    """database framework library tool editor server language browser app software platform
    service system spreadsheet spreadsheets template script scripts cloud calendar wiki tracker
    keyboard mouse laptop phone camera inhaler hearing-aid wheelchair cpap stack engine cms crm erp
    printer router password-manager bot plugin api card cards"""
)
NO_TOOLS = word_set(
    """voice skill skills word words money time energy power chance opportunity contact contacts
    imagination tech technology platform help advice experience name room space body hand hands
    knowledge creativity break moment influence language strength term expression story stories"""
)
VAGUE_WORK = word_set(
    """project projects thing things part piece problem problems issue game stuff task building
    detail details skill skills confidence idea ideas job way one few lot"""
)
NO_DUTIES = word_set(
    """detail details stress pressure situation emotion emotions pain loss grief challenge
    challenges problem problems world life risk risks kid kids child children baby people way hand
    lot call calls courage year month week day money one habit speed weight friend friends dinner
    lunch drink bill tab file paper papers offer hint phone pockets car bike key keys book letter
    present"""
)
TASK_NOUNS = word_set(
    """payroll billing invoices invoicing accounts accounting bookkeeping budget finances logistics
    procurement purchasing onboarding recruiting hiring marketing sales support operations security
    infrastructure backups deployments releases release pipeline roadmap backlog rota roster
    schedule scheduling calendar bookings orders deliveries stock inventory newsletter website
    site homepage account accounts customer customers client clients contract contracts legal
    compliance catering travel events event training seminar lecture tutorial tutorials course
    rehearsal rehearsals garden kitchen lab labs shop branch store region territory portfolio
    migration integration api service services database server servers cluster network vpn wiki
    docs documentation tests testing qa design frontend backend netcode tools changes requests
    tickets incidents on-call press communications comms fundraising membership choir archive
    library project projects programme program department team desk office insurance licences
    licenses payments refunds returns claims complaints translation translations transport
    maintenance repairs cleaning shopping cooking ticketing warehouse fleet partnerships exchange"""
)
CHARGES = word_set(
    """payroll billing invoices invoicing accounts accounting bookkeeping books finances logistics
    procurement purchasing onboarding recruiting hiring marketing sales support operations security
    infrastructure backups deployments releases rota roster scheduling bookings
    inventory newsletter website minutes tutorials rehearsals netcode frontend backend qa
    testing docs documentation incidents on-call press comms fundraising membership archive
    insurance licences licenses payments refunds returns claims complaints translations
    maintenance repairs cleaning shopping cooking ticketing warehouse fleet partnerships register
    catering vpn wiki tooling tools laundry school-run changelog"""
)
LEAVES = word_set("leave sabbatical holiday holidays vacation strike furlough")
PERSON_NOUNS = word_set(
    """kid kids child children people student students dog dogs sibling siblings friend friends
    class beginner beginners adult adults teenager teenagers others team boy boys girl girls
    parent parents someone everyone lesson"""
)
FIELDS = word_set(
    """finance marketing sales logistics hr it engineering research insurance banking education
    healthcare medicine nursing law publishing retail hospitality construction consulting media
    journalism advertising tourism radiology cardiology oncology paediatrics pediatrics neurology
    surgery procurement accounting compliance manufacturing farming agriculture catering pharma
    biotech aviation shipping transport architecture design tech intensive-care emergency"""
)
NO_TOPICS = word_set(
    """lot lots lesson lessons trick tricks thing things way ways hard truth language move moves
    strategy strategies detail details news skill skills bit value patience"""
)
SPOTS = STORAGE_NOUNS | word_set(
    """hook hanger nail rack peg tray tin jar case suitcase chest crate basket bin bowl desk table
    sideboard counter bench sofa bed mattress doormat mat flowerpot pot letterbox mailbox
    porch hallway hall kitchen office room bathroom bedroom loft storeroom storage lock-up yard
    barn workshop warehouse car boot door gate stairs wall binder envelope wallet purse handbag
    vault freezer larder pantry cloakroom sluice cage server share disk laptop wiki channel
    bookcase toolbox rucksack windowsill archive reception canteen"""
)
BABIES = word_set("baby babies twins triplets child boy girl son daughter")
GENERIC_BLOCKERS = word_set(
    """the this that these those my our your his her its their some any all each every another both
    no such what"""
)
NEED_BLOCKERS = word_set("more less better some any much many help attention love time rest")


def is_medicine(words: str) -> bool:
    """Return whether a phrase names a medicine: "Metformin", "a beta-blocker", "blood thinners"."""
    last = words.lower().split()[-1] if words else ""
    names = {last, words.lower().split()[0] if words else ""}
    return bool(
        names & MEDICINES
        or MEDICINE_ENDING.search(last)
        or (last in ("inhaler", "thinner", "thinners", "drops") and " " in words)
    )


def is_condition(words: str) -> bool:
    """Return whether a phrase names an illness."""
    last = words.lower().split()[-1] if words else ""
    return last in COMMON_CONDITIONS or bool(CONDITION_ENDING.search(last))
