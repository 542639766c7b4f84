"""Words and phrasings of landmarks: what English says for decisions, tasks, pledges and wishes.

`landmarks` reads them. They are applied to single sentences of at most 400 characters; every
repetition is bounded.
"""

from __future__ import annotations

import re

from .lexicon import EVENTS, word_set


def compile_any(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that matches any of several phrasings, in any case."""
    return re.compile("|".join(patterns), re.IGNORECASE)


START = r"(?:^\W*|[,;:.(–—-]\s*|\b(?:please|pls|plz|and|so|but|then|ok|okay|also)[,:]?\s+)"
PLEASE = r"(?:please|pls|plz)"
OPENING = r"^\W*(?:(?:ok(?:ay)?|so|right|alright|well|fine|then|yes|yep|and|also|great|good)\b,? )*"

# -- decisions

DECISION_VERBS = word_set("decide agree choose settle opt conclude resolve vote pick elect")
APPROVAL_VERBS = frozenset(
    [
        *"approve greenlight veto reject authorise authorize ratify endorse accept decline".split(),
        *("sign off", "turn down", "wave through", "vote down", "rule out", "throw out"),
    ]
)
ADOPTION_VERBS = frozenset(
    [
        *"drop kill ditch scrap discontinue cancel postpone abandon park retire shelve axe".split(),
        *("bin", "cut", "skip", "appeal", "call off", "phase out", "pull out", "give up"),
    ]
)
REFUSED_VERBS = word_set(  # "we won't …", "we're not …ing"
    """build renew ship launch use support hire do reopen extend charge accept run host attend order
    offer invest continue pursue buy sell sign upgrade migrate move bid appeal discuss change
    replace publish release sponsor join"""
)
DELIBERATION_VERBS = word_set(
    "meet talk discuss speak check look compare review call think vote sit chat consult test debate"
)
AUTHORITIES = word_set(
    """team board committee management council client customer boss landlord court jury parents
    school club crew partner investor cto ceo cfo company member department headquarters hq group
    steering panel owner bank city government ministry director manager chair president"""
)
PLAN_NOUNS = EVENTS | word_set(
    """option idea plan project version feature deal proposal offer design budget approach scheme
    merger pilot rollout upgrade migration contract campaign event tour booking order purchase
    experiment prototype product module integration rewrite refactoring strategy bid tender
    cruise crossing hike picnic barbecue outing excursion weekend sleepover playdate match date
    rebrand theme minigame level release-candidate rc candidate variant concept draft layout
    colour color logo venue sale discount promotion policy rule request application motion budget
    extension hire position role opening"""
)
SETTLED = compile_any(
    r"\b(?:it['’]?s|it is|it was|that['’]?s|that is)(?: been| all| now| finally)?"
    r" (?:decided|settled|agreed|official|a done deal)\b",
    r"\b(?:all|everyone|everybody)(?: was| were| is| are| voted)? in favou?r\b",
    r"\bunanimous(?:ly)?\b",
    r"\b(?:motion|proposal|resolution|amendment)(?: was| is| has been)? (?:carried|passed"
    r"|adopted|rejected|defeated)\b",
    OPENING + r"(?:the |my |our )?(?:final|last) (?:answer|decision|choice|call|verdict|word)\b"
    r"(?=\s*(?:on|about|is|:|,|–|-))",
    r"\b(?:has|have|had|got|gets|gave|gives|given)(?: \w+){0,4} (?:the |a )?(?:green light"
    r"|go-?ahead|thumbs up|all-?clear)\b",
    r"\b(?:goes|(?:is|are|be|['’]s|['’]re) going|will go) ahead\b(?! and\b| of\b)",
    r"\b(?:we have|there['’]s) a winner\b|\bthe winner is\b|\bwins the (?:vote|bid|tender|pitch)\b",
    r"\beverything (?:now )?(?:goes|has to go|must go|runs|will go) (?:through|via)\b",
)
APPROVED = re.compile(  # "the client signed off the brick"
    r"(?:^\W*|[,.;:–-]\s*|\b(?:and|so|but) )(?:the |our |my )?(?P<who>[\w-]+)(?: has| have|['’]s"
    r"|['’]ve)?(?: just| now| finally| already)? (?:signed off(?: on)?|approved|green-?lit|vetoed"
    r"|rejected|turned down|okayed|voted (?:for|against)|gave the (?:ok|nod) (?:to|for))"
    r" (?:the|our|my|your|his|her|all|this|that|both|an?) \w",
    re.IGNORECASE,
)
IT_IS = re.compile(  # "29th it is", "Lisbon it is then"
    OPENING + r"(?P<what>[\w#.'’&-]+(?: [\w#.'’&-]+){0,5}) it is(?:,? then)?(?=\s*(?:[.!,;–-]|$))",
    re.IGNORECASE,
)
NO_CHOICE = word_set(
    """what how who where when why as than like that this whatever think know because so whether
    sure if believe say see all here there tell is was wish hope glad which such"""
)
CALLED_OFF = compile_any(
    r"^\W*(?:the |our |my )?[\w' -]{2,40}? (?:is |are |has been |have been |was |were |got"
    r" |gets |get )?(?:cancelled|canceled|called off|postponed|put on hold|scrapped|shelved|axed"
    r"|binned|voted down|mothballed)\b",
)
STATE = re.compile(  # "the render option is dead"
    r"(?:^\W*|[,.;:(–-]\s*|\b(?:so|and|but|then|sorry|ok)\s+)(?P<what>(?:the |our |my |this"
    r" |that )?[\w'’&-]+?(?: [\w&-]+){0,4}?)(?:['’]s(?! history)| is| are)(?: now| officially"
    r"| definitely| sadly)?"
    r" (?P<state>off the table|off|out|dead|gone|history|on hold|a no-?go|ruled out|back on)"
    r"(?=\s*(?:[.!,;:(–-]|$|for (?:now|good|this|the)\b|this \w+|until\b|till\b|because\b|bc\b"
    r"|then\b|and\b))(?P<reason>\s*[(,–-]\s*(?:too|way too|because|bc|not worth)\b)?",
    re.IGNORECASE,
)
ANYTHING_STATES = word_set("history") | frozenset(["off the table", "a no-go", "a nogo", "on hold"])
SCHOOL_SUBJECTS = word_set("subject class major degree interest passion favorite favourite")
ELIDED_CHOICE = re.compile(  # "parking this till Ilse is back"
    OPENING + r"(?:parking(?= (?:this|that|the|it|our|my)\b)|scrapping|ditching|binning|shelving"
    r"|axing|cancell?ing|postponing|going with|sticking with|sticking to|picking(?! up)"
    r"|opting for|settling on) (?!myself|yourself|in\b|at\b|on\b)\w"
    r"(?![^.!?]{0,80}\b(?:was|are|were|can|will|helps?|takes?|costs?|made|makes?)\b)",
    re.IGNORECASE,
)
SCRAP_ORDER = re.compile(
    OPENING + r"(?:please )?(?:(?:scrap|ditch|axe|bin|shelve|nix) (?!it\b|that\b|this\b|them\b"
    r"|me\b)\w|forget (?:about )?the \w+ \w+)",
    re.IGNORECASE,
)
SAID_YES = re.compile(r"\b(?:I|we) (?:said|told (?:him|her|them)) (?:yes|no)\b", re.IGNORECASE)
DEAL = re.compile(r"^\W*(?:ok(?:ay)?,? |it['’]s a )?(?:deal|done deal|sold)\W*$", re.IGNORECASE)
IN_PLACE_OF = compile_any(r"\b(?:instead of|in place of|rather than)\b")
FROM_NOW_ON = compile_any(
    r"\b(?:from now on|as of now|from (?:today|here) on|going forward|with immediate"
    r" effect|effective immediately|until further notice|henceforth|from this point on|from the"
    r" next \w+ on)\b"
)
CONTRACT = re.compile(
    r"\b(?:contract|subscription|membership|order|seat|licen[cs]e|account|booking)s?\b",
    re.IGNORECASE,
)
OPENS_DECISION = re.compile(
    r"^\W*(?:decided|settled|agreed)\b(?!\W*$|\W+(?:\w+\W*){1,2}$)", re.IGNORECASE
)

# -- preferences

CASUAL_ADVICE = word_set(  # "never give up", "always remember": encouragement, no order
    """mind know give stop forget underestimate lose let be remember believe trust follow dream quit
    judge doubt worry fear think heard had been seen thought felt have feel try look love
    appreciate cherish happy great nice fun good welcome here there again say hurt hurts ever
    wanted loved liked enjoyed admired"""
)
STANDING = compile_any(
    r"\bdon['’]?t ever\b(?! (?:give|stop|forget|change|doubt|lose|let)\b)",
    START + r"stop (?!worrying|thinking|crying|being|laughing|beating|overthinking|trying|dreaming"
    r"|stressing|apologi|teasing|believing|kidding|lying|going|doing|loving|smiling|by|telling"
    r"|saying|claiming|spreading)[a-z]+ing\b",
    r"\b(?:new|house|ground|one|golden|standing) rule\b[,:]|^\W*rule\b[,:]",
    r"\bonly please\b|\bonly,? " + PLEASE,
    START + r"no (?:calls|meetings|emails|e-mails|mails|phone calls|emojis?|video calls|messages"
    r"|texts|voice (?:notes|messages)|attachments|flowers|gifts|presents|shoes|phones|spoilers"
    r"|surprises|abbreviations|acronyms|exceptions|mocks|comments|jargon|small talk|cold calls)\b",
    r"\bhow i like (?:it|them)\b",
    r"\b" + PLEASE + r" (?:don['’]?t|do not|no more|avoid|refrain)\b(?! (?:worry|hesitate|forget"
    r"|be|feel|think|get|hate|judge|mind|give|stop|leave|go|die|tell me)\b)",
    START + r"(?:don['’]?t|do not) (?:use|call|send|put|add|rely|suggest|touch"
    r"|book|schedule|order|cc|copy|tag|ping|mail|email|text|ring|phone|post|push|merge"
    r"|deploy|commit|delete|edit|rename|run|install|generate|create|quote|address|summari[sz]e"
    r"|include|serve|assign|invite|contact|disturb|interrupt|park|leave (?:the|your|any))\b"
    r"(?! (?:yourself|it quits|too much|so much|pressure)\b)",
    r"\b(?:must|has to|have to|should) (?:always|never) (?!be\b)\w|\bi (?:always|never) want\b"
    r"(?! to)",
)
NO_MORE = re.compile(
    START + r"no more (?!excuses|worries|worry|tears|stress|pain|waiting|drama|problems|questions"
    r"|secrets|games|words|than|lies|time)[a-z]\w+(?! for (?:him|her|them|now)\b)",
    re.IGNORECASE,
)
WISHES = compile_any(
    r"\bno (?!problem|worries|rush|need|way|idea|doubt|thanks|more)[\w'’/ -]{2,60}?,? "
    + PLEASE
    + r"\b",
    START + r"(?:no|less|more) (?!rush|worries|luck|problem|idea|way|clue|place|better|doubt)"
    r"[\w -]{2,30} for me\b",
    START + r"nothing (?:before|after|later than|earlier than|containing|over|on (?:mon|tues|wednes"
    r"|thurs|fri|satur|sun)days?) ?\w",
    r"\b" + PLEASE + r",? (?:nobody|no one|no-one|everyone|everybody) (?!is\b|was\b|has\b)\w+ \w",
    r"\b(?:nobody|no one|no-one) (?:is to|may|must|should) \w",
    r"\b(?:better|best) (?:to )?(?:call|ring|phone|text|write|email|mail|message|ping|ask|use|send"
    r"|come|knock)\b[^.!?]{0,40}?(?:,? (?:not|than|instead of|rather than)\b)",
    START + r"keep (?:it|them|my|your|the|our|all|everything|messages|answers|replies|meetings)\b"
    r"[\w'’ ]{0,40}? ?(?:short|brief|simple|empty|free|clear|private|under|below|formal|informal"
    r"|plain|concise|minimal|separate|to a minimum|to yourself|between us|in english|vegan"
    r"|vegetarian|meat-free)\b",
    r"\bi(?:['’]ll| will|['’]d| would)? (?:take|pick|choose|have) [^.!?]{2,50}? over [^.!?]{2,40}?"
    r" any ?(?:day|time)\b",
    r"\b(?:suits?|works?) (?:me better|me best|(?:better|best) for (?:me|us))\b",
    r"\b(?:in future|next time),? (?:please|pls|don['’]?t|do not|ask|call|tell|use|send|write)\b",
    r"\bi (?:don['’]?t|never) (?:do|take|answer|accept|schedule|pick up|work|reply to|want)\b"
    r"[^.!?]{0,40}?\b(?:calls?|meetings?|emails?|on weekends?|on (?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)days?|(?:before|after) \w+|voicemails?|voice notes)\b",
)
ORDER_VERBS = word_set(
    "use answer keep start include end wear send call ask check put write quote round add run test"
    " sign lock close open leave book bring take pay ring text cc copy reply commit push deploy"
)
PERSONAL_ORDER = re.compile(r"\W*(?:give|tell|let|show) (?:me|us)\b", re.IGNORECASE)
ALWAYS_ORDER = re.compile(START + r"(?:always|never) (?P<verb>[a-z]+)\b", re.IGNORECASE)
CONDITIONAL_ORDER = re.compile(
    START + r"(?:if|when|whenever|every time|each time|any time|anytime) ", re.IGNORECASE
)
STATED_PREFERENCE = compile_any(
    r"\bi(?:['’]d| would)? (?:really |much |would |always |still )?(?:prefer|rather|sooner)\b"
    r"(?! (?:wait|not say)\b)",
    r"\bi like (?!to say).{1,60}\b(?:more|better) than\b",
    r"\bi only (?:take|use|want|eat|drink|fly|read|wear|answer|check|work|accept)\b",
    r"\bi can['’]?t stand\b",
    r"\b\w+ for me (?:please|from now on)\b",
)
USE_THIS = compile_any(
    OPENING + r"(?:please )?use (?!the |it\b|this\b|that\b|your\b)\S+(?: \S+){0,6}(?: here"
    r"| everywhere| please|, not| instead| in this)",
    OPENING + r"(?:please |pls )?(?:use|take|call|ring|text|email|bill|send|ask|book|order|spell"
    r"|address|invoice|charge|contact|write) [^.,;!?]{2,50}?,? (?:and )?(?:not|never|instead of"
    r"|rather than) (?!only\b|just\b|sure\b|yet\b|until\b|be\b|too\b|so\b|a\b)\w",
)
FORM_LETTER = compile_any(
    r"\bDear (?:customer|colleagues|tenants|all|sir|madam|member|user)s?\b", r"\bunsubscribe\b"
)
ADVERT = compile_any(
    r"\bunsubscribe\b|\bclick\b|\bdownload (?:it|them|now|free|your)\b|\d ?% off\b|\byou receive"
    r" this\b|\bnewsletter\b|\byour basket\b|\bshop now\b|\bfree shipping\b|\bfree trial\b"
    r"|\bdon['’]t miss\b|\bwhile stocks last\b"
)
CALL_ME = compile_any(
    r"\b(?:answer|reply|respond|write)(?: to me| me)? in (?:\w+ ){0,2}\w+",
    r"\b(?:keep|make) (?:your|the) (?:answers|replies|summaries|responses) \w+",
    r"\bi like my \w+ (?:short|long|brief)\b",
)

# -- commitments

LETS = re.compile(
    r"^\W*(?:ok(?:ay)?,? |so |then |right,? |well,? |great,? |sure,? |actually,? |alright,? "
    r"|fine,? |but |on (?:second thoughts?|reflection),? |in that case,? |after all,? )*"
    r"let(?:['’]s| us)"
    r" (?P<verb>\w+)\b(?<!not)(?! say\b| be honest| see\b| hope)(?P<rest>[^.!?]{0,80})",
    re.IGNORECASE,
)
VAGUE_LETS = word_set("keep make hope see try continue never always be stay get wait")
TALK_LETS = compile_any(  # a plan only at a time of day: "let's talk on Friday at 3"
    r"\blet(?:['’]s| us) (?:\w+ly )?(?:discuss|talk|speak|chat|catch up|touch base|regroup"
    r"|think|decide|figure|sync|reconvene|revisit|continue|sort|sleep|look|check"
    r"|circle back|follow up|pick)\b"
)
LETS_DECIDE = re.compile(
    r"let(?:['’]s| us) (?:go with|use|stick with|stick to|drop|skip|switch to|choose|pick|scrap"
    r"|(?:go|switch) back to(?! (?:bed|sleep|work|basics|school|the beginning|the start)\b)"
    r"|ditch|take(?! (?:a|it|care|some|time|the time|things|this|that|our)\b)"
    r"|keep(?! (?:\w+ing|it|at|in"
    r"|up|on|each|this|that|our|working|calm|things|moving|fighting|pushing)\b)"
    r"|have (?=(?-i:[A-Z])))\b ?\w",
    re.IGNORECASE,
)
PLEDGE = compile_any(
    r"\bi(?:['’]ve| have)? (?:promised?|swear|guaranteed?|pledged?)\b",
    r"\bi give you my word\b|\byou have my word\b",
    r",? promised?\W*$",
)
PLEDGED_ACT = compile_any(
    r"\b(?:i|we)(?:['’]ll| will| won['’]t|['’]m|['’]re| am| are)\b",
    r"\b(?:promised?|swear|pledged?|guaranteed?) (?:\w+ ){0,2}to\b(?! be\b)",
    r"\bpromised (?:\w+ ){1,2}(?:an?|the|my|our|\d+)\b",
    r"\b(?:never|not) \w+ (?:it|that) again\b",
)
ANSWER_PROMISED = re.compile(  # with a date: "they have our answer before the 25th"
    r"\b(?:you|they|he|she)(?:['’]ll| will)? (?:have|get|receive) (?:it|them|the|your|our|my"
    r"|an?)\b",
    re.IGNORECASE,
)
BE_THERE = re.compile(r"\b(?:i|we)(?:['’]ll| will) be (?:there|here|over|round)\b", re.IGNORECASE)
NO_PLEDGE = re.compile(
    r"\b(?:can['’]?t|cannot|don['’]?t|do not|won['’]?t) (?:promise|guarantee|swear)", re.IGNORECASE
)

# -- tasks

# Verbs whose future says how things are, not what somebody will do.
NON_TASK_VERBS = word_set(
    """teach study work join start retire travel fly marry play step grow turn rain be have see
    know love like miss remember forget need want think feel keep try let hope enjoy find wait
    stay stick look get go never continue win lose stop become support understand live believe
    come happen arrive leave die cry admit say bet eat sleep crush shave move sound kill
    hate regret always achieve succeed inspire encourage motivate cherish treasure appreciate pray
    celebrate survive recover heal improve learn fight push explore chill relax rest hang focus
    spend laugh smile dance swim ski surf camp hike visit trust respect wish admire root forgive
    worry panic cope struggle adapt embrace dream watch read listen train practice practise
    experience aim strive consider gain benefit depend matter last seem appear meet guess
    imagine picture discover tackle overcome face earn deserve cheer hit"""
)
TASK_VERBS = word_set(  # as a request or in the present tense: "Declan books the ferry"
    """book cancel order send call ring sign return pay buy schedule renew submit email mail
    write draft prepare ask check review fix update finish collect post clean bring print
    organise organize arrange confirm invite reply upload share deliver translate interview
    deploy merge document investigate escalate contact set create make file publish test
    transfer refund delete put pick drop sort clear tell add change remove take do run get give
    move help close open forward install migrate complete design hand talk
    build port rework redo rewrite replace fit repair mend patch debug rerun restart reset rotate
    rename refactor profile measure record scan copy paste edit proofread format convert import
    export backup restore archive label pack unpack load unload ship fetch pick-up lock unlock
    water feed walk paint cook bake wash iron hoover vacuum tidy mow trim empty fill charge
    assemble mount hang tape cut glue sand plan research compare list count verify test inspect
    approve countersign register apply enter enrol enroll renew extend request claim invoice bill
    quote budget hire brief train onboard notify inform warn remind text phone message ping
    visit pick drive host lead chair present summarise summarize minute note log track flag chase
    follow handle cover sell rent lease insure store reserve provide supply source negotiate agree
    rerun outline sketch render cast mix film shoot stitch sew knit bind debit credit wire swap
    look see try rinse boil freeze defrost light switch turn push pull raise lower release launch
    announce advertise recruit answer escort accompany mind babysit"""
)
AMBIGUOUS_NOUNS = word_set(  # a verb in a request, a noun at the start of a note
    """change record list plan test budget quote note log minute present train light film cast
    number trial"""
)
ASSIGNED_VERBS = TASK_VERBS - word_set(
    """do run get give make take see look try help talk train plan present visit lead walk cook play
    move open agree record sell host mind light turn drive feed share set change cover rent store
    count compare dance paint bake water bring raise handle follow research supply provide"""
)
ASSISTANT_VERBS = word_set(
    "book cancel draft change keep order send schedule email invite reserve buy pay renew put"
    " remind ping text flag tell message cc notify forward block"
)
REQUEST_VERBS = TASK_VERBS - word_set(
    "make do run get set add move open test help give look see try turn light"
)
LIGHT_VERBS = word_set("do make take give get have see try look put run add set check show share")
VAGUE_OBJECTS = word_set(
    """best difference try shot thought thoughts advice hint way memory fun part change impact luck
    goal dream look voice bet care heart thing things something anything everything nothing lot lots
    move sense progress point break rest chance journey mind eye peace world example power time
    support word mark effort most more go whirl kindness positivity awareness love joy happiness
    passion life happen effort step stride strength faith hope sure yourself myself ourselves
    themselves story experience finger fingers all friend friends people other others community
    work day moment it's vibe vibes fight skill skills confidence decision mistake sacrifice"""
)
SOMEDAY = compile_any(
    r"\b(?:one day|some ?day|eventually|sometime|in the future|at some point|always|never|whenever"
    r"|forever|perhaps|maybe|probably|hopefully|possibly|someday soon|no matter what|every time)\b"
)
NOW_ONLY = re.compile(
    r"\b(?:timer|alarm|joke|song|music|again|now|quickly|this code|the tests?)\b", re.IGNORECASE
)
HEADING = re.compile(
    OPENING
    + r"(?:(?P<decision>decisions?(?: (?:from|for|of|in)[^:]{0,40})?|decided|agreed|resolved"
    r"|outcome|verdict|conclusion)"
    r"|(?P<task>to-?do|to do|action items?|actions?|tasks?|ai|jobs?|chores?|homework|next steps?)"
    r"(?:\s*[([]?\s*(?:for )?@?(?P<owner>[^\W\d_]+)[])]?)?(?: (?:for|this)[^:]{0,30})?)"
    r"\s*:\s*(?P<what>\S.*)",
    re.IGNORECASE,
)
TRAILING_OWNER = re.compile(  # "renew the domain (bob, by Friday)", "renew the domain @bob"
    r"\s*(?:[([]\s*@?(?P<listed>[^\W\d_][\w-]*)\s*(?:[,;:][^()[\]]{0,40})?[])]"
    r"|\s@(?P<tagged>[^\W\d_][\w-]*)|\s(?:->|→|=>|–|—|--)\s*(?P<pointed>[^\W\d_][\w-]*))\W*$"
)
COLON_OWNER = re.compile(  # "Bob: order the chairs"
    r"^\W*(?P<owner>@?[^\W\d_][\w-]*)(?::|,? ?->|,? ?→) (?P<verb>[a-z]+) "
    r"(?![^.!?\n]{0,80}\b(?:me|my|i|you|your)\b)\S"
)
REMEMBER_TO = re.compile(
    OPENING + r"(?:please |pls )?(?:(?:remember|don['’]t forget|do not forget|make sure|be sure)"
    r" (?:to|you|and) (?P<verb>[a-z]+) (?!\w+ly\b)\S|don['’]t forget (?:the|your|my|our) \w+)",
    re.IGNORECASE,
)
NOT_FORGET = compile_any(
    OPENING + r"(?:please |pls )?(?:(?:don['’]?t|do not|never) let (?:me|us) forget"
    r"|(?:make sure|see to it)(?: that)? (?:i|we) (?:don['’]?t|do not) forget"
    r"|help (?:me|us)(?: to)? remember) (?:to|about|that|the|my|our)\b ?\S",
    r"\b(?:i|we)(?:['’]d| had| have| need| really){0,3} (?:mustn['’]?t|must not|can['’]?t|cannot"
    r"|better not|should(?:n['’]?t| not)|not to) forget (?:to|about|the|my|our)"
    r" (?!say|tell you|mention)\S",
    r"\b(?:i|we) (?:really )?(?:must|(?:have|need|['’]ve got) to|should|gotta) remember to \w+ \S",
    OPENING + r"(?:need|have|got) to remember to \w+ \S",
)
ASSIGNEE = re.compile(r"(?P<owner>@?[A-Z][\w.-]*)\s+(?:to|will|should|must)\s")
NAME_TO_DO = re.compile(
    r"^\W*(?:(?:and|also|so|then) )?(?P<owner>@?[^\W\d_][\w-]+) to (?P<verb>[a-z]+) \S"
)
NAMED_REQUEST = re.compile(  # "Ravi please take it out", "Ann, can you collect her"
    r"(?:^\W*|[,.;:!?–-]\s*|\b(?:and|so|hey|hi) )(?P<owner>@?[^\W\d_][\w-]+)(?:,| –| -)?"
    r" (?:(?:please|pls|plz)|(?:can|could|will|would) (?:you|u)(?: please| pls)?),?"
    r" (?P<verb>[a-z]+) \S",
    re.IGNORECASE,
)
TRAILING_NAME = re.compile(  # "can you collect her, Ann?"
    r"\b(?:can|could|will|would) (?:you|u)(?: please| pls)? (?P<verb>[a-z]+) [^.!?]{2,80}?,"
    r" (?P<owner>[^\W\d_][\w-]+)\s*\?*\s*$",
    re.IGNORECASE,
)
OPEN_REQUEST = re.compile(  # "somebody ask the council"
    START + r"(?P<who>somebody|someone|everyone|everybody|anyone|whoever is free)"
    r"(?:,? (?:please|pls|plz|should|must|(?:really )?has to|has got to|['’]s got to|(?:really )?"
    r"needs to|ought to|had better|better|will have to|is going to have to|to))?"
    r" (?P<verb>[a-z]+) \S",
    re.IGNORECASE,
)
ON_ME = compile_any(
    r"\b(?:is|are|['’]s) (?:on me|my job|my task|my responsibility|mine to \w+)\b(?! to\b)",
    r"\bleave (?:it|that|this|them|the [^,.!?]{2,40}?|[A-Z]?\w+) (?:to|with) me\b(?! and)",
    r"\bi owe (?:you|him|her|them|[A-Z]\w+) (?:the |an? |my |some |[€$£]?\d)(?!apolog|one\b|lot\b"
    r"|huge|big|great|debt|thank|favou?r|beer)",
    r"\bi['’]?m (?:in charge of|taking care of|on) (?:the )?(?:drinks|dessert|food|music|snacks"
    r"|cooking|cleaning|dishes|salad|bread|cake|catering|invites?|invitations|transport)\b",
)
MUST_BE_DONE = re.compile(
    r"\b(?:must|(?:has|have|needs?|ought|got) to|should|is to|are to) be (?:\w+ed|sent|paid|done"
    r"|written|made|given|taken|built|bought|brought|put|sold|cut|set|shut|kept|told|signed off)\b",
    re.IGNORECASE,
)
NEED_YOU = re.compile(
    r"\b(?:i|we)(?:['’]d| would)? (?:need|want|like|ask) (?:you|(?P<owner>[A-Z]\w+)) to"
    r" (?P<verb>[a-z]+) \S",
    re.IGNORECASE,
)
GRATEFUL_IF = re.compile(
    r"\b(?:grateful|great|helpful|nice|good|appreciate it|lovely|kind) if (?P<who>you|everyone"
    r"|everybody|someone|somebody|[A-Z]\w+) (?:could|can|would) (?:\w+ly )?(?P<verb>[a-z]+) \S",
    re.IGNORECASE,
)
REMIND = compile_any(
    OPENING + r"(?:[\w'’-]+, )?(?:hey |please |pls )?(?:please )?remind (?:me|us)\b(?! (?:wh|how|of"
    r"\b))(?P<to1> to (?=\S))?",
    r"\b(?:can|could|will|would) (?:you|someone|somebody|u) (?:please |pls |also )?remind"
    r" (?:me|us)\b(?! (?:wh|how|of\b))(?P<to2> to (?=\S))?",
    r"\b(?:please|pls|and|so|then) remind (?:me|us)\b(?! (?:wh|how|of\b))(?P<to3> (?:to|about)"
    r" (?=\S))",
    r"\b(?:set|add|create) (?:me )?a reminder\b(?P<to4> to (?=\S))?",
)
SPLIT_LEAD = compile_any(
    r"^\W*(?:jobs?|tasks?|to-?dos?|split|who does what|duties|rota|chores?|bring(?:ing)?"
    r"|[^:]{0,60}\bwe need)\s*:\s*"
)
NO_SHARE = word_set(  # a word after a name that makes it no share of the work
    """and or is was are were in at from of on for with to has have had says said will would can
    could should does did do not who which whose that but if than as so too also"""
)

# -- corrections

VALUE = r"[^,.;!?()]{1,60}?"
SHORT_VALUE = r"[^\s,.;!?()]+(?: [^\s,.;!?()]+){0,4}"
NO_CONTRAST = (
    r"(?!just\b|only\b|merely\b|simply\b|even\b|sure\b|yet\b|really\b|quite\b|too\b|so\b|that\b"
    r"|always\b|everyone\b|exactly\b|necessarily\b|about\b|all\b|perfect\b|easy\b|bad\b|the best\b"
    r"|the only\b)"
)
DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d[\w:.]*)"
CORRECTION_PATTERNS = (
    re.compile(
        rf"\b(?:I misspoke|scratch that|my mistake|my bad|I got that wrong|typo|I mixed (?:it|them"
        rf"|that) up)\b[^\w]{{0,3}}\s*"
        rf"(?:it['’]?s |it is |the )?(?:at |on )?(?P<right>{VALUE})[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\W*correction\b[^:]{{0,60}}:\s*(?P<right>[^!?.]{{3,80}}?)"
        rf"(?:,? not (?P<wrong>{VALUE}))?[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:not|n['’]t) {NO_CONTRAST}(?P<wrong>{SHORT_VALUE})\s*[,;–-]\s*(?:but )?(?:it['’]?s"
        rf"|it is|rather)\s+{NO_CONTRAST}(?P<right>{SHORT_VALUE})\s*[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:not|n['’]t) (?:on |at |the )*(?P<wrong>{DAY}|(?-i:[A-Z]\w+))\s*,? but (?:on |at "
        rf"|the )*"
        rf"(?P<right>{DAY}(?: \w+)?|(?-i:[A-Z]\w+))\s*[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bI (?:meant|mean)(?: to say)? (?P<right>{VALUE})(?:,? (?:and )?not (?P<wrong>{VALUE}))"
        rf"[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(rf"\bI meant(?: to say)? (?P<right>{VALUE})[.!]*$", re.IGNORECASE),
    re.compile(
        rf"^\W*(?:no|sorry|nope|actually|wait|hm+)\b,? [^.!?]*?\b(?P<right>(?!is\b|are\b|was\b)"
        rf"[^\s,]+(?: (?!is\b|are\b|was\b|were\b|['’]?bout\b)[^\s,]+)?),? not (?:on |at |in )?"
        rf"(?P<wrong>(?:the |an? |my |his |her |our |mr\.? |mrs\.? |ms\.? )?(?:\d\S*|{DAY}"
        rf"|(?-i:[A-Z][\w'’-]*)|(?<=the )\w+)(?: \w+)?)[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\W*(?:no,? ){{1,4}}(?:the |it['’]?s (?:the |on |at )?|on (?:the )?|at )"
        rf"(?P<right>(?=[^,.;!?]{{0,40}}?(?:\d|(?-i:[A-Z])|day)){SHORT_VALUE})[.!,]*(?=\s|$)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\W*(?:no|nope|actually|sorry|my bad|wrong|not true),? (?:(?:no|sorry|actually),? ){0,3}"
        r"(?:my|the|his|her|our|their|it|that) [^.!?]{0,40}?\b(?:is|was|wasn['’]t|isn['’]t|are)\b"
        r" (?!not\b|so\b|very\b|really\b|too\b|great\b|fine\b|ok|good\b|all\b|a\b|my\b"
        r"|right\b|true\b)"
        r"(?P<right>[^.!?]{2,60})[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bi said (?P<wrong>{SHORT_VALUE}),? but (?:actually )?(?:it['’]?s|it is|it was|i meant"
        rf"|that['’]s) (?P<right>{VALUE})[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\W*(?:that['’]s |you['’]re |you (?:have|got) (?:it|that) )?(?:wrong|mistaken|incorrect)"
        rf"\b[,:;–.-]* (?:it['’]?s|it is|the|he['’]?s|she['’]?s) (?P<right>{VALUE})[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:should (?:be|read|say)|must (?:be|read)) (?P<right>{SHORT_VALUE}),? (?:and )?not"
        rf" (?P<wrong>{VALUE})[.!]*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bstop (?:telling|saying|claiming|spreading)\b[^.!?]{{0,40}}?\b(?:it['’]?s|it is"
        rf"|(?:that )?"
        rf"the|that|\w+['’]s) (?P<right>{VALUE})[.!]*$",
        re.IGNORECASE,
    ),
)
VALUE_NOT_VALUE = re.compile(
    r"(?P<right>(?:#|\b)[\w:.#@/€$£%-]*\d[\w:.#@/€$£%-]*(?: \w+)?|\b[A-Z][\w'’-]*|\b(?:mon"
    r"|tues|wednes|thurs|fri|satur|sun)day(?: week)?|\bhyphen),? (?:and )?(?:not|NOT) (?:the |an?"
    r" |this |on |at |in )?(?P<wrong>[\w:.#@/€$£%'’-]*\d[\w:.#@/€$£%-]*|[A-Z][\w'’-]*(?: [A-Z]"
    r"[\w'’-]+)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?=[\s.!,]|$)(?! any ?more)",
)
NEXT_DATE = (
    r"(?=(?:the )?(?:\d|next|this|mon|tues?|wed|thur?s?|fri|sat|sun|jan|feb|mar|apr|may|jun|jul"
    r"|aug|sep|oct|nov|dec|spring|summer|autumn|winter|tomorrow))"
)
MOVED_THING = r"(?:it |them |that |(?:the|my|our|your) (?:[\w-]+ ){1,4})?(?:from [\w ]{2,20} )?"
RESCHEDULED = compile_any(  # with a date
    r"\bnew (?:date|deadline|time|slot)\b",
    r"\bslip(?:s|ped|ping)? to\b",
    r"\b(?:moved?|moves|moving|shifted|shifts?|shifting|bumped|changed) "
    + MOVED_THING
    + r"(?:back |forward |up |out )?(?:to|until|till) "
    + NEXT_DATE,
    r"\b(?:pushed|pushes|pushing|postponed|delayed|rescheduled|rescheduling|deferred|put back"
    r"|brought forward|put off) " + MOVED_THING + r"(?:back |forward |out )?(?:to|until|till|by)\b",
    r"\b(?:moved|pushed|postponed|shifted|delayed|rescheduled) (?:it|them)\b",
    r"\bis (?:now )?(?:moved|postponed|delayed|rescheduled)\b(?! by\b)",
    r"\b(?:a|one|two|three|\d+) (?:days?|weeks?|months?) (?:later|earlier)(?: than planned)?,",
)
UNTIL_DAY = re.compile(r"\b(?:until|till|til)\b", re.IGNORECASE)
NEW_DAY = re.compile(  # the date that follows belongs to something known
    r"\b(?:they|he|she|we|i)(?:['’]ve| have| has)? (?:moved|pushed|postponed|shifted|delayed"
    r"|rescheduled) (?:it|that|them)\b"
    r"|\bis (?:now )?(?:moved|postponed|delayed|rescheduled)\b(?! by\b)",
    re.IGNORECASE,
)
CONDITIONAL = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|hypothetically|theoretically|in theory|would be|might"
    r"|could be)\b",
    re.IGNORECASE,
)
PRONOUN_OBJECT = re.compile(
    r"\b(?:it|them|that|this|rest|everything|him|her(?! \w))\b", re.IGNORECASE
)
ASKS = re.compile(  # a sentence that an answer such as "sure, I'll do it" may take up
    r"\?\s*$|\b(?:please|pls|plz|somebody|someone|anyone|anybody|needs?|must|should|have to|has to"
    r"|can you|could you|will you|would you|who)\b",
    re.IGNORECASE,
)
POLITE = re.compile(r"\b(?:please|pls|plz)\b", re.IGNORECASE)
NAMED_VALUE = re.compile(
    r"^\W*(?:no|nope|actually|sorry|wait|for the last time)\b|\b(?:is|are|was|were|it['’]s|moved"
    r"|mean|meant|sits?|says?|runs?|goes|stays?)\b",
    re.IGNORECASE,
)
CHOICE = re.compile(
    r"\b(?:going with|decided|go with|settled on|use|any ?more|no longer|used to)\b", re.IGNORECASE
)
DENIED = re.compile(r"\bnot (?:on |this |the |at )?$", re.IGNORECASE)
