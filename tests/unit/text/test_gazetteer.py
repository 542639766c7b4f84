"""The gazetteer: types of names, ambiguous names, spelling and limits."""

from __future__ import annotations

import subprocess
import sys
import time
import zlib
from collections import Counter

import pytest

from nexusmem.text.gazetteer import (
    DATA_FILE,
    PRONOUNS,
    SECTION_SEPARATOR,
    SECTIONS,
    fold_name,
    is_ambiguous,
    is_common_word,
    is_first_name,
    name_type,
    person_gender,
)

MAX_DATA_BYTES = 150_000
WOMEN = "Maria Priya Aoife Agnieszka Femke Giulia Fatima Ngozi Akiko Oksana Ayşe Siobhán Kate Zoë"
MEN = "Mark Rahul Cillian Łukasz Thijs Luca Mohammed Kwame Kenji Taras Mehmet Søren Jürgen Dave"
EITHER = "Alex Sam Robin Andrea Kim Taylor Morgan Wei Dominique Noor"
PLACES = (
    "Oviedo,Gijón,Munich,München,Cologne,New York,Rio de Janeiro,Bavaria,Asturias,Brittany,"
    "Andalusia,Texas,France,UK,U.S.,Czechia,Turkey,Reading,Nice,Mobile,Jordan,Nairobi,Lagos,"
    "Osaka,Aarhus,Ljubljana,Baden-Württemberg,Scotland,Kerala,Ho Chi Minh City"
)
COMPANIES = "Google,Siemens,Deloitte,Maersk,Lidl,Volvo,MIT,Procter & Gamble,McDonald's,L'Oréal"
PRODUCTS = (
    "PostgreSQL,Postgres,Redis,Kafka,Kubernetes,K8s,Terraform,Argo CD,GitHub Actions,Figma,Notion,"
    "Slack,Jira,Linear,Trello,Excel,Python,Rust,VS Code,iPhone,Pixel,Volvo V60,Ibuprofen,C++,.NET"
)


@pytest.mark.parametrize(
    ("names", "pronoun"), [(WOMEN, "she"), (MEN, "he"), (EITHER, "they")], ids=["she", "he", "they"]
)
def test_first_names_have_their_usual_pronoun(names: str, pronoun: str) -> None:
    assert {name: person_gender(name) for name in names.split()} == dict.fromkeys(
        names.split(), pronoun
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [(PLACES, "place"), (COMPANIES, "company"), (PRODUCTS, "product")],
    ids=["place", "company", "product"],
)
def test_whole_names_have_their_type(names: str, expected: str) -> None:
    listed = names.split(",")

    assert {name: name_type(name) for name in listed} == dict.fromkeys(listed, expected)


@pytest.mark.parametrize("word", "the and else said-so table kitchen yesterday quickly".split())
def test_other_words_are_unknown(word: str) -> None:
    assert person_gender(word) is None
    assert not is_first_name(word)
    assert name_type(word) is None
    assert not is_ambiguous(word)
    assert not is_common_word(word)


@pytest.mark.parametrize("name", "Mark Rose Will Grace May Joy Hope Frank".split())
def test_first_names_that_are_words_are_kept_and_flagged(name: str) -> None:
    assert is_first_name(name)
    assert is_common_word(name)
    assert is_ambiguous(name)


@pytest.mark.parametrize("name", "Reading Nice Mobile Slack Apple Linear Target Rust".split())
def test_other_names_that_are_words_are_flagged(name: str) -> None:
    assert name_type(name) is not None
    assert is_ambiguous(name)


@pytest.mark.parametrize("name", "Florence Sofia Jordan Paris Chelsea Claude Julia Otto".split())
def test_first_name_with_another_type_is_ambiguous(name: str) -> None:
    assert is_first_name(name)
    assert name_type(name) is not None
    assert is_ambiguous(name)


def test_company_that_is_a_place_is_an_ambiguous_place() -> None:
    assert name_type("Santander") == "place"
    assert is_ambiguous("Santander")


@pytest.mark.parametrize("name", "Peter Maria Priya Germany Berlin Google Siemens Redis".split())
def test_clear_names_are_not_ambiguous(name: str) -> None:
    assert is_first_name(name) != (name_type(name) is not None)
    assert not is_ambiguous(name)


@pytest.mark.parametrize(
    "spelling", ["gijón", "GIJÓN", "Gijon", "Gijo\u0301n", " gijón ", "the Gijón"]
)
def test_case_accents_and_spaces_are_ignored(spelling: str) -> None:
    assert name_type(spelling) == "place"


def test_different_apostrophes_are_equal() -> None:
    assert name_type("McDonald’s") == name_type("McDonald's") == "company"


def test_part_of_a_name_is_not_the_name() -> None:
    assert name_type("GitHub Actions runner") is None
    assert name_type("York New") is None


@pytest.mark.parametrize("name", ["", " ", "the", "the ", "\x00", "名前", "\ud800", "🙂"])
def test_odd_text_is_unknown(name: str) -> None:
    assert person_gender(name) is None
    assert name_type(name) is None
    assert not is_ambiguous(name)


def test_long_text_is_unknown_and_fast() -> None:
    started = time.perf_counter()

    assert name_type("é" * 5_000_000) is None
    assert time.perf_counter() - started < 1


def read_sections() -> dict[str, list[str]]:
    texts = zlib.decompress(DATA_FILE.read_bytes()).decode().split(SECTION_SEPARATOR)
    return {name: text.split("\n") for name, text in zip(SECTIONS, texts, strict=True)}


def test_data_file_is_small_sorted_and_folded() -> None:
    assert DATA_FILE.stat().st_size <= MAX_DATA_BYTES
    for names in read_sections().values():
        assert names == sorted(set(names))
        assert names == [fold_name(name) for name in names]


def test_pronoun_sections_do_not_overlap() -> None:
    sections = read_sections()
    names = [name for pronoun in PRONOUNS for name in sections[pronoun]]

    assert len(names) == len(set(names))
    assert len(names) > 6000


def test_names_with_several_types_are_complete() -> None:
    sections = read_sections()
    types = Counter(name for section in SECTIONS[:-2] for name in sections[section])

    assert sections["several"] == sorted(name for name, count in types.items() if count > 1)
    assert set(sections["word"]) <= types.keys()


def test_import_does_not_read_the_data() -> None:
    code = (
        "import nexusmem.text.gazetteer as g; assert g._load.cache_info().currsize == 0;"
        "g.is_first_name('Ann'); assert g._load.cache_info().currsize == 1"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
