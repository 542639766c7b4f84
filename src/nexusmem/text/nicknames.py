"""English nicknames and misspellings: names that may mean another name, such as Bob and Robert.

A nickname is a reason to ask, never a proof: Bob Hale and Robert Hale may be two people.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from string import ascii_lowercase

MIN_TYPO_LETTERS = 5  # in shorter names one letter makes another name
MAX_TYPO_LETTERS = 30
NO_NAMES: frozenset[str] = frozenset()
# One line per formal name: the name, then its nicknames
NICKNAMES = """
    abigail abby abbie gail
    albert al bert bertie
    alexander alex sandy xander sasha
    alexandra alex sandra sandy sasha lexi
    alfred al alf alfie fred
    amanda mandy
    andrew andy drew
    anthony tony
    barbara barb barbie babs
    benjamin ben benny benji
    bernard bernie
    bradley brad
    caroline carol carrie
    catherine cathy cate kate katie kitty cat
    charles charlie chuck chas
    charlotte charlie lottie
    christina chris chrissy tina
    christine chris chrissy tina
    christopher chris topher kit
    daniel dan danny
    david dave davy
    deborah deb debbie
    dennis denny
    donald don donnie
    dorothy dot dottie dolly
    douglas doug
    edward ed eddie ned ted teddy
    eleanor ellie nell nora
    elizabeth liz lizzie beth betty betsy eliza libby lisa
    emily em emmy
    eugene gene
    frances fran frannie
    francis frank fran
    franklin frank
    frederick fred freddie
    gabriel gabe
    gabrielle gabby
    geoffrey geoff
    gerald gerry jerry
    gregory greg
    harold harry hal
    henry harry hank hal
    isabella bella izzy
    jacob jake
    jacqueline jackie
    james jim jimmy jamie jem
    jeffrey jeff
    jennifer jen jenny
    jessica jess jessie
    jonathan jon jonny
    john johnny jack
    joseph joe joey
    joshua josh
    judith judy
    katherine kathy kate katie kat kitty kay
    kathleen kathy kath
    kenneth ken kenny
    kimberly kim
    lawrence larry laurie
    leonard leo len lenny
    louis lou louie
    margaret maggie meg peggy marge greta daisy
    martin marty
    matthew matt matty
    maximilian max
    melissa mel missy
    michael mike mick mickey mikey
    michelle shelly
    mitchell mitch
    nancy nan
    natalie nat
    nathan nate nat
    nathaniel nate nat nathan
    nicholas nick nicky
    nicole nicky nikki
    oliver ollie
    olivia liv livvy
    pamela pam
    patricia pat patty trish tricia
    patrick pat paddy
    peter pete
    philip phil pip
    raymond ray
    rebecca becky becca
    richard rick ricky dick rich richie
    robert bob bobby rob robbie bert
    roger rodge
    ronald ron ronnie
    samantha sam sammy
    samuel sam sammy
    sarah sally sadie
    stephanie steph
    stephen steve stevie
    steven steve stevie
    stuart stu
    susan sue susie suzy
    theodore ted teddy theo
    theresa terry tess tessa
    thomas tom tommy
    timothy tim timmy
    valerie val
    vanessa nessa
    victor vic
    victoria vicky tori
    vincent vince vinny
    virginia ginny ginger
    walter walt wally
    william will bill billy liam
    zachary zach zack
"""


@lru_cache(maxsize=1)  # read with the first name
def _variants_by_name() -> dict[str, frozenset[str]]:
    variants: defaultdict[str, set[str]] = defaultdict(set)
    for line in NICKNAMES.strip().splitlines():
        names = line.split()
        for name in names:
            variants[name].update(names)
    return {name: frozenset(others - {name}) for name, others in variants.items()}


def first_name_variants(first_name: str) -> frozenset[str]:
    """Return other first names that the same person may have, in lower case.

    "bob" gives "robert", "bobby", "rob" …; a name without nicknames gives the empty set.
    """
    return _variants_by_name().get(first_name, NO_NAMES)


def is_misspelt(name: str, word: str) -> bool:
    """Return whether a name is one of the `misspellings` of a word; most differ at first sight."""
    is_alike = name[:1] == word[:1] and abs(len(name) - len(word)) <= 1
    return is_alike and name in misspellings(word)


@lru_cache(maxsize=256)
def misspellings(word: str) -> frozenset[str]:
    """Return the words that differ from this one by one letter, or by two swapped letters.

    Empty for words with fewer than MIN_TYPO_LETTERS letters, or with other characters. The first
    letter stays: people seldom get it wrong, and other names differ in it.
    """
    if (
        len(word) < MIN_TYPO_LETTERS
        or not (word.isascii() and word.isalpha())
        or len(word) > MAX_TYPO_LETTERS
    ):
        return NO_NAMES
    splits = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    swapped = {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    missing = {left + letter + right for left, right in splits for letter in ascii_lowercase}
    wrong = {left + each + right[1:] for left, right in splits if right for each in ascii_lowercase}
    extra = {left + right[1:] for left, right in splits if right}
    if len(word) == MIN_TYPO_LETTERS:
        extra = set()  # a name of four letters differs from too many words
    return frozenset((swapped | missing | wrong | extra) - {word})
