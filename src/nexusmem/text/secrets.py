"""Secret redaction: masks keys, tokens, passwords and card numbers in texts.

A secret is recognized by its form (a provider's prefix, a check digit) or by its name (`password:
…`). Dates, prices, phone numbers, hashes and ids are not secrets. Texts are redacted before they
are embedded, indexed or logged.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

from .terms import STOP_WORDS

compile_pattern = cache(re.compile)  # compiled on first use: compiling all of them is slow


class SecretPattern(NamedTuple):
    """Patterns of one kind of secret, and lowercase hints of which one must occur in the text."""

    kind: str
    patterns: tuple[str, ...]
    hints: tuple[str, ...]
    is_named: bool = False  # recognized by a name only, so its value is checked, too
    is_strong: bool = False  # the value must mix letters, digits and symbols


LONG_WORD_LENGTH = 16  # minimum length of secrets other than passwords, numbers and phrases


PREFIXED = r"""(?x)(?<![A-Za-z0-9])(?:
    sk-[A-Za-z0-9_-]{16,250} | [sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,200}
  | (?:whsec|sbp|sb_secret|gsk|lin_api|ntn|dckr_pat|dckr_oat|figd)_[A-Za-z0-9_-]{16,200}
  | rzp_(?:live|test)_[A-Za-z0-9]{14,40} | pplx-[A-Za-z0-9]{32,80}
  | gh[pousr]_[A-Za-z0-9]{30,255} | github_pat_[A-Za-z0-9_]{30,255}
  | gl(?:pat|ptt|rt|dt|cbt|soat|ft)-[A-Za-z0-9_.-]{16,200} | glsa_[A-Za-z0-9_]{32,80}
  | xox[abeoprs]-[A-Za-z0-9-]{10,250} | xapp-\d-[A-Za-z0-9-]{10,250}
  | (?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])
  | AIza[0-9A-Za-z_-]{35} | GOCSPX-[A-Za-z0-9_-]{20,60}
  | ya29\.[0-9A-Za-z_-]{20,500} | 1//0[A-Za-z0-9_-]{30,200}
  | hf_[A-Za-z0-9]{30,60} | r8_[A-Za-z0-9]{30,60} | npm_[A-Za-z0-9]{36}
  | pypi-[A-Za-z0-9_-]{40,300} | rubygems_[a-f0-9]{48} | dapi[a-f0-9]{32}(?:-\d)?
  | SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64} | xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}
  | do[opr]_v1_[a-f0-9]{64} | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
  | sq0(?:atp|csp)-[A-Za-z0-9_-]{22,60} | EAACEdEose0cBA[A-Za-z0-9]{20,250}
  | hv[sbr]\.[A-Za-z0-9_-]{20,250} | dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.-]{30,90}
  | ATATT3[A-Za-z0-9_=-]{50,250} | NRAK-[A-Z0-9]{27}
  | pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.-]{30,70} | key-[a-f0-9]{32}(?![A-Za-z0-9])
  | AGE-SECRET-KEY-1[0-9A-Z]{58} | [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}
    )"""
PREFIXES = tuple(
    """sk- k_live_ k_test_ k_prod_ whsec_ rzp_ sbp_ sb_secret_ gsk_ lin_api_ ntn_ dckr_ figd_
    pplx- ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glptt- glrt- gldt- glcbt- glsoat- glft-
    glsa_ xox xapp- akia asia abia acca aiza gocspx- ya29. 1//0 hf_ r8_ npm_ pypi- rubygems_ dapi
    sg. xkeysib- o_v1_ p_v1_ r_v1_ shpat_ shpca_ shppa_ shpss_ sq0 eaacedeose hvs. hvb. hvr. dp.
    atatt3 nrak- pscale_ age-secret-key- atlasv1 key-""".split()
)

# Tokens without a fixed prefix
UNPREFIXED = r"""(?x)(?<![A-Za-z0-9])(?: (?:SK|AC)[a-f0-9]{32}(?![A-Za-z0-9])
  | [MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])
  | \d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-]) )"""
ENCODED = r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{22,4000}={0,2}(?![A-Za-z0-9+/_=-])"

JWT = r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}"
BEARER = (
    r"(?i)\b(?:bearer|(?:basic|token)(?=\s{1,3}[A-Za-z._~+/-]{0,60}[0-9=]))\s{1,3}"
    r"(?P<secret>[A-Za-z0-9._~+/-]{16,2000}={0,2})"
)
HEADER = r"(?i)\b(?:set-)?cookie:\s{0,3}(?P<secret>[^\s;=]{1,60}=[^\s;]{12,1000})"
WEBHOOK = (
    r"(?i)\b(?:hooks\.slack\.com/(?:services|workflows)"
    r"|discord(?:app)?\.com/api/webhooks|webhook\.office\.com/webhookb2)/"
    r"(?P<secret>[A-Za-z0-9_@/-]{16,300})"
)
CONNECTION = (
    r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,64}:(?P<secret>[^\s/@]{1,128})@[^\s/]{1,255}"
)
USER_OF_URL = r"(?i)\bhttps?://(?P<secret>[A-Za-z0-9_-]{20,255})@[^\s/]{1,255}"
PARAMETER = r"""(?ix)[?&;](?:[a-z_-]{0,24}(?:token|secret|password|passwd|signature|api_?key|apikey)
        |sig|pwd|x-amz-credential) = (?P<secret>[^\s&"'<>;]{6,2000})"""

NAMES_OF_PASSWORDS = r"""(?:pass(?:word|wd|code|phrase)|\bpwd|_pass|\bpw|passwort|kennwort
    |mot\ de\ passe|contrase[ñn]a|\bsenha|wachtwoord|has[łl]o|парол[ья]|密[码碼]|パスワード
    |비밀번호|lozinka|salasana|lösenord|şifre)"""
NAMES_OF_KEYS = r"""(?:(?:api|access|auth|secret|private|signing|encryption|master|account|session
    |sharedaccess|refresh|client|webhook|app|bot|deploy|license|storage)[ _-]?(?:key|token|secret)
    |secret|token|api[ _-]?pass)"""
IS = r"""(?:\s{1,3}(?:is|was|are|be|=|ist|lautet|est|es|é|jest|är)(?:\s{1,3}(?:now|still|just))?
    \s{1,3} | \s{0,2}(?:[是は이가]|:|：)\s{0,3})"""
VALUE = r"""["'“”„«`*]{0,3} (?P<secret>[^\s"'“”»`<>,;]{4,200})"""
KEY_VALUE = VALUE.replace("[^", "(?:&(?!\\w{1,30}=)|[^").replace(",;]", ",;&])")

ASSIGNED_PASSWORD = (
    rf"""(?ix){NAMES_OF_PASSWORDS} s? ["'”)\]]{{0,2}} \s{{0,3}} (?:=>|:=|[:=：])\s{{0,3}} {VALUE}"""
)
SPOKEN_PASSWORD = rf"""(?ix){NAMES_OF_PASSWORDS} s?
        (?:\s{{1,3}}(?:for|of|on|at|für|de|para)(?:\s{{1,3}}[\w.'’@-]{{1,40}}){{1,4}}?)?
        (?: {IS} | \s{{1,3}}to\s{{1,3}} | \s{{1,3}}(?=[`"“])) {VALUE}"""
ASSIGNED_KEY = (
    rf"""(?ix){NAMES_OF_KEYS} s? ["'”)\]]{{0,2}} \s{{0,3}} (?:=>|:=|[:=：])\s{{0,3}} {KEY_VALUE}"""
)
SPOKEN_KEY = rf"(?ix)\b{NAMES_OF_KEYS} s? (?: {IS} | \s{{1,3}}to\s{{1,3}} ) {KEY_VALUE}"
OPTION = (
    r"""(?ix)(?: --(?:[a-z-]{0,20}(?:password|passwd|token|secret|api-key|apikey)) [ =]{1,3}
        | \bsshpass\s{1,3}-p\s{0,3} | \bmysql(?:dump|admin)?\b[^\n]{0,100}?\s-p
        | \bcurl\b[^\n]{0,200}?\s-u\s{1,3}[^\s:]{1,60}: ) """
    + VALUE
)
# "the wifi password, it's now …": the value must mix letters, digits and symbols
REFERRED_PASSWORD = rf"""(?ix){NAMES_OF_PASSWORDS}
        (?:\s{{1,3}}(?:for|of|on|at)(?:\s{{1,3}}[\w.'’@-]{{1,40}}){{1,4}}?)?
        \s{{0,2}}[,:;.–—-]\s{{0,3}} (?:it|that)(?:['’]s|\s{{1,3}}is|\s{{1,3}}was)
        (?:\s{{1,3}}(?:now|still|just))? \s{{0,2}}:?\s{{1,3}} {VALUE}"""
# Without "is": the value must mix letters, digits and symbols
NEAR_PASSWORD = rf"""(?ix)(?<!redacted:[ ])(?:{NAMES_OF_PASSWORDS}|\bpass) ['’]? s? [^\w\n]{{1,4}}
        (?:(?:is|was|from|to|with|as)[^\w\n]{{1,4}})? {VALUE}"""
NEAR_LOGIN = (
    r"(?i)\b(?:credentials?|creds|log[ -]?in)\b[^\n/:]{0,30}[/:]\s{0,2}"
    r"(?:[\w.@-]{1,40}\s{0,2}[/:]\s{0,2})?(?P<secret>[^\s\"'“”»`<>,;/][^\s\"'“”»`<>,;]{7,64})"
)
NEAR_KEY = rf"(?ix)\bkeys? (?:{IS}|[ ]{{1,2}}) {KEY_VALUE}"
PIN = r"""(?ix)\b(?: pin(?:[ ]?(?:code|number|nummer))?
        | (?:verification|one[ -]time|2fa|mfa|otp|security|authenticat(?:ion|or)|login|recovery
            |backup|unlock|door|gate|alarm|lock|safe|entry|access)[ ]?(?:code|pin|otp) | otp
        | cvv2? | cvc2? )
        (?:\s{1,3}(?:for|of|on|to)(?:\s{1,3}[\w'’-]{1,30}){1,3}?)?
        (?: \s{0,2}[:=]\s{0,3} | \s{1,3}(?:is|was|=|ist)\s{1,3} | (?<=cv[vc])\s{1,3} )
        ["'“`]? (?P<secret>\d{3,10}\#?)(?![\w%]|[.,:/-]\d)"""
SOCIAL = (
    r"(?i)\b(?:ssn|(?:my|his|her|their) social(?= (?:is|:))|social security(?: number| no\.?| #)?)"
    r"[^\d\n]{0,12}"
    r"(?P<secret>\d{3}-\d{2}-\d{4}|\d{9})(?!\d)"
)
SEED_PHRASE = r"""(?ix)
    \b(?:(?:seed|recovery|backup|mnemonic|wallet)[ ](?:phrase|words)|mnemonic|passphrase)
        (?:\s{1,3}is)? \s{0,3}[:=]?\s{0,3} ["'“`]?
        (?P<secret>[a-z]{3,10}(?:[ ,]{1,2}[a-z]{3,10}){11,23})\b"""
PLAIN_WORDS = (
    r"(?i)\bpassphrase (?:is|was) (?P<secret>[a-z]{3,12}(?: [a-z]{3,12}){3,7})"
    r"(?=[.!]?\s{0,3}(?:\n|$))"
)
SEVERAL_WORDS = r"""(?ix)\bpassphrase\s{0,2}(?: [:=]\s{0,3} | \s(?:is|was)\s{1,3}(?=["“`])) ["'“`]?
        (?P<secret>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,7})(?=["'”`.]?\s{0,3}(?:\n|$))"""

ASKED = rf"""(?ix){NAMES_OF_PASSWORDS}
    (?: [^.!?\n]{{0,60}}[?？]
      | s?\s{{0,3}}(?:is|was|ist|est|es|é|=)?\s{{0,3}}[:：…=.-]{{0,3}} )\s{{0,3}}$"""
ANSWER = r"""[^\s"'“”»`<>,;]{4,64}(?<![.?])"""

IS_PASSWORD = ("pass", "pwd", "pw", "kennwort", "contrase", "senha", "wachtwoord", "haslo",
    "lozinka", "salasana")  # fmt: skip
IS_PASSWORD_NON_ASCII = ("hasło", "парол", "密", "パスワード", "비밀번호", "lösenord", "şifre")
IS_KEY = ("token", "secret", "key", "api")
IS_CODE = ("pin", "otp", "cvv", "cvc", "code")
IS_PARAMETER = ("token=", "secret=", "passw", "sig", "key=", "pwd=")
PASSWORD = (ASSIGNED_PASSWORD, SPOKEN_PASSWORD)

IN_LONG_WORDS = (
    SecretPattern("api key", (PREFIXED,), PREFIXES),
    SecretPattern("token", (JWT,), ("eyj",)),
    SecretPattern("token", (BEARER,), ("bearer", "basic", "token ")),
    SecretPattern("token", (HEADER,), ("cookie:",)),
    SecretPattern("token", (WEBHOOK,), ("hooks.slack", "webhook")),
    SecretPattern("token", (USER_OF_URL,), ("://",)),
    SecretPattern("token", (PARAMETER,), IS_PARAMETER, is_named=True),
)
WITH_DIGITS = (
    SecretPattern("key", (ASSIGNED_KEY, SPOKEN_KEY), IS_KEY, is_named=True),
    SecretPattern(
        "password", (NEAR_PASSWORD, REFERRED_PASSWORD), ("pass",), is_named=True, is_strong=True
    ),
    SecretPattern(
        "password", (NEAR_LOGIN,), ("cred", "login", "log in"), is_named=True, is_strong=True
    ),
    SecretPattern("key", (NEAR_KEY,), ("key",), is_named=True, is_strong=True),
    SecretPattern("code", (PIN,), IS_CODE),
    SecretPattern("social security number", (SOCIAL,), ("ssn", "social")),
)
IN_ANY_TEXT = (
    SecretPattern("password", (CONNECTION,), ("://",), is_named=True),
    SecretPattern("pass phrase", (SEED_PHRASE, SEVERAL_WORDS), ("phrase", "mnemonic", " words")),
    SecretPattern("pass phrase", (PLAIN_WORDS,), ("passphrase",), is_named=True, is_strong=True),
    SecretPattern("password", PASSWORD, IS_PASSWORD, is_named=True),
    SecretPattern("password", (OPTION,), ("--", "sshpass", "curl", "mysql"), is_named=True),
)
_hints = {hint for each in IN_ANY_TEXT for hint in each.hints}
HINTS_IN_ANY_TEXT = sorted(  # without those that contain another one
    hint for hint in _hints if not any(other in hint for other in _hints - {hint})
)
NON_ASCII = (SecretPattern("password", PASSWORD, IS_PASSWORD_NON_ASCII, is_named=True),)

PEM = r"(?i)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d"
PEM_HINTS = ("private key", "putty-user-key-file")
PEM_END = "-----END"

CARD = r"(?<![\w.+-])\d(?:[ -]?\d){13,18}(?![\w-])"
CARDS = (  # Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}"
    r"|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
)
IBAN = r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,7}(?:[ ]?[A-Z0-9]{1,3})?\b"
DIGIT = re.compile("[0-9]")
MANY_DIGITS = re.compile("[0-9][0-9A-Z -]{11}")  # a card or account number

MAX_ANSWER_LENGTH = 100  # characters
LETTERS_AS_NUMBERS = 10 - ord("A")


class Secret(NamedTuple):
    """Position and kind of a secret in a text."""

    start: int
    end: int
    kind: str


def redact_secrets(text: str, *, previous: str = "") -> str:
    """Return the text with each secret replaced by a mark such as `[redacted: api key]`.

    `previous` is the message before it: if that asks for a password, this text may be the answer.
    """
    return mask_secrets(text, find_secrets(text) or find_password_answer(text, previous))


SECRET_MARK = "[secret]"  # in contexts  # noqa: S105 - it replaces a secret
MARK_PATTERN = r"\[redacted: [a-z ]{1,40}\]"
MAX_CLEAN_TEXTS = 50_000
_clean_texts: set[bytes] = set()  # digests, not texts: an erased text leaves nothing readable


def mask_text(text: str, *, previous: str = "") -> str:
    """Return a text for a context: each secret, and each mark of a redaction, is `[secret]`.

    A context shows the same texts turn after turn, so digests of texts without secrets are kept.
    A text without secrets is returned itself.
    """
    key = blake2b(text.encode(errors="replace"), digest_size=16).digest()
    if previous:
        before = previous[-120:].encode(errors="replace")
        key += blake2b(before, digest_size=16).digest()  # longer than the keys of texts alone
    if key in _clean_texts:
        return text
    masked = redact_secrets(text, previous=previous)
    if "[redacted: " in masked:
        masked = compile_pattern(MARK_PATTERN).sub(SECRET_MARK, masked)
    if masked == text:
        if len(_clean_texts) >= MAX_CLEAN_TEXTS:
            _clean_texts.clear()
        _clean_texts.add(key)
        return text
    return masked


def mask_value(key: str, value: Any) -> Any:
    """Return a JSON value for a context, with secrets masked; the keys tell what a value is."""
    if isinstance(value, dict):
        return {name: mask_value(f"{key} {name}", each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [mask_value(key, each) for each in value]
    if value is None or isinstance(value, bool):
        return value
    told = f"{key.replace('.', ' ').strip()}: "
    masked = mask_text(f"{told}{value}")
    if masked == f"{told}{value}":
        return value
    return masked[len(told) :] if masked.startswith(told) else SECRET_MARK


def mask_secrets(text: str, secrets: list[Secret]) -> str:
    """Return the text with these secrets replaced by marks."""
    pieces, position = [], 0
    for secret in secrets:
        pieces += [text[position : secret.start], f"[redacted: {secret.kind}]"]
        position = secret.end
    return "".join([*pieces, text[position:]]) if secrets else text


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text, in order and without overlap."""
    merged: list[Secret] = []
    for found in sorted(_scan_text(text), key=lambda each: (each.start, -each.end)):
        if merged and found.start < merged[-1].end:
            before = merged[-1]
            merged[-1] = before._replace(end=max(before.end, found.end))
        else:
            merged.append(found)
    return merged


def _scan_text(text: str) -> Iterator[Secret]:
    """Yield secrets of all kinds; cheap hints skip most patterns, since most texts have none."""
    lowered = text.lower()
    if any(map(lowered.__contains__, HINTS_IN_ANY_TEXT)):
        yield from _match_hinted(text, lowered, IN_ANY_TEXT)
    yield from _find_key_blocks(text, lowered)
    if not lowered.isascii():
        yield from _match_hinted(text, lowered, NON_ASCII)
    if max(map(len, text.split()), default=0) >= LONG_WORD_LENGTH:
        yield from _match_hinted(text, lowered, IN_LONG_WORDS)
        yield from _find_unprefixed(text)
    if DIGIT.search(text):
        yield from _match_hinted(text, lowered, WITH_DIGITS)
        if MANY_DIGITS.search(text):
            yield from _find_numbers(text)


def _match_hinted(text: str, lowered: str, patterns: tuple[SecretPattern, ...]) -> Iterator[Secret]:
    for shape in patterns:
        for hint in shape.hints:
            if hint in lowered:
                yield from _match_pattern(text, shape)
                break


def _match_pattern(text: str, secret_pattern: SecretPattern) -> Iterator[Secret]:
    for pattern in map(compile_pattern, secret_pattern.patterns):
        group = "secret" if pattern.groups else 0
        for match in pattern.finditer(text):
            start, end = match.span(group)
            if not secret_pattern.is_named:
                if not compile_pattern(WORDS).fullmatch(text, start, end):
                    yield Secret(start, end, secret_pattern.kind)
                continue
            value = text[start:end].rstrip(".)]}*:")
            check = _is_strong_value if secret_pattern.is_strong else _is_secret_value
            if check(value, text, start, secret_pattern.kind):
                yield Secret(start, start + len(value), secret_pattern.kind)


# Values after a name such as "password"


REDACTED = ("[redacted", "[secret")
PLACEHOLDER = r"""(?ix)
    \[redacted | \[secret | [*x•.·_-]{3,} | \$\{.* | [$%](?-i:[A-Z_]{2,})%? | \{\{.* | <.*
    | [a-z_][\w.]{2,} [(\[] [\w,=.]* \)?
    | (?:[a-z_]+\.)+[a-z_]+ | .*(?:env|config|settings)\..*
    | [a-z_]*_(?:password|passwd|pass|secret|token|key|pwd|hash) | wrong_?password
    | (?:my|your|the|new|old|a|an|some|db|user|admin|test|example|dummy|fake|change)?
      [_-]?(?:pass(?:word|wd|phrase|code)?|secret|token|api|key|pwd|here|me|value|string|str|auth
      |access|client|user|hash|id|name|text|input|bytes|bool|int|field)+
      (?:[_-](?:pass(?:word|wd)?|secret|token|api|key|here|value|string|goes|id|name|me|it|hash))*
    """
WORDS = r"(?:[A-Za-z]+[-_]){2,}[A-Za-z]+"  # sk-your-key-goes-here
DATE = r"\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d.*"
COMPOUND = r"(?:[A-Z]?[a-z]{0,20}|[A-Z]{0,10})\d{0,6}[a-z]{0,2}(?:-[A-Z]?[a-z]{1,20})+"
WORD_AND_DIGITS = r"(?=.{8,40}$)[A-Za-z]{3,30}\d{3,8}"  # bluewhale2024
INNER_SYMBOL = r"\w[$%^&*#@!?=+~|\\/]+\w"
SIGN = r"\w[$%^&*#@!=+~|]+\w"  # never inside an address, path or number
NO_PASSWORD = frozenset(
    """about above accepted added allowed already also always another any attached available back
    bad based because before being below best better both broken case changing common complex
    compromised correct created default different done easy either empty encrypted enough entered
    even exactly expired expiring false fine first forgotten from gone good great guessed hard
    hashed here hidden identical inactive incorrect inside insecure invalid just known last later
    leaked less like long longer lost made mandatory matching mine missing more must need needed
    never none nonsense nothing null nice obvious okay old once only open optional outdated over
    personal plain private probably protected public quite random ready really rejected required
    reset right safe same secret secure sent shared short should similar simple simply single
    some something somewhere still stolen stored strong stuff such supposed temporary terrible
    that their them then there these they this those through true unique unknown unsafe until
    updated used useful useless valid visible wait weak well what when where which whatever who
    why will wrong written yours yes your""".split()
)
INFLECTED = ("ed", "ing", "ly", "able", "ible", "ive", "less", "ful", "ous", "ation")


def _is_secret_value(value: str, text: str, start: int, kind: str) -> bool:
    """Return whether the value after "password is" or "token:" is a secret, not prose."""
    if (
        len(value) < 4
        or compile_pattern(PLACEHOLDER).fullmatch(value)
        or value.startswith(REDACTED)
    ):
        return False
    has_digits = any(map(str.isdigit, value))
    has_letters = any(map(str.isalpha, value))
    if kind != "password":
        is_mixed = (
            has_digits
            and has_letters
            and len(value) >= 8
            and not compile_pattern(COMPOUND).fullmatch(value)
        )
        return (is_mixed and not compile_pattern(DATE).fullmatch(value)) or (
            len(value) >= 20 and value.isalnum()
        )
    if has_digits and (
        compile_pattern(COMPOUND).fullmatch(value) or compile_pattern(DATE).fullmatch(value)
    ):
        return False
    cased = value != value.lower() and value != value.upper() and value != value.capitalize()
    if has_digits or cased or compile_pattern(INNER_SYMBOL).search(value):
        return True
    is_last = _is_clause_end(text, start + len(value))
    word = value.lower().strip("!?")
    return is_last and word not in NO_PASSWORD and not word.endswith(INFLECTED)


def _is_strong_value(value: str, text: str, start: int, kind: str) -> bool:
    """Return whether the value mixes letters, digits and symbols as no word does."""
    if " " in value:  # a phrase: few sentences are without common words
        words = value.lower().split()
        is_prose = any(word in STOP_WORDS or word.endswith(INFLECTED) for word in words)
        return not is_prose and sum(word in NO_PASSWORD for word in words) < 2
    if len(value) < (12 if kind == "key" else 8) or compile_pattern(PLACEHOLDER).fullmatch(value):
        return False
    cased = any(map(str.islower, value)) and any(map(str.isupper, value))
    mixed = any(map(str.isdigit, value)) and (cased or bool(compile_pattern(SIGN).search(value)))
    if kind == "password" and compile_pattern(WORD_AND_DIGITS).fullmatch(value):
        mixed = _is_clause_end(text, start + len(value))
    return mixed and not compile_pattern(COMPOUND).fullmatch(value) and "://" not in value


def _is_clause_end(text: str, position: int) -> bool:
    """Return whether a clause or line ends here; a word inside a clause is not a password."""
    rest = text[position : position + 6].lstrip("\"'“”»`.!*)]} \t")
    return not rest or rest[0] in "\r\n,;&@"


def find_password_answer(text: str, previous: str) -> list[Secret]:
    """Return the password that answers the request or announcement in the previous message."""
    end = previous[-120:].lower()
    hints = (*IS_PASSWORD, *IS_PASSWORD_NON_ASCII)
    if not end or len(text) > MAX_ANSWER_LENGTH or not any(hint in end for hint in hints):
        return []
    if not compile_pattern(ASKED).search(end):
        return []
    words = list(compile_pattern(ANSWER).finditer(text))
    return [
        Secret(*word.span(), "password")
        for word in words
        if _is_answer(word.group(), text if len(words) == 1 else "", word.start())
    ]


def _is_answer(value: str, alone: str, start: int) -> bool:
    """Return whether a word is a password: a single word may be, others must look like one."""
    looks_random = compile_pattern(SIGN).search(value) or any(map(str.isdigit, value))
    return bool(looks_random or alone) and _is_secret_value(
        value, alone or value, start, "password"
    )


# Long sequences of letters and digits


def _find_unprefixed(text: str) -> Iterator[Secret]:
    for match in compile_pattern(UNPREFIXED).finditer(text):
        yield Secret(*match.span(), "token")
    for match in compile_pattern(ENCODED).finditer(text):
        inside = _decode_base64(match.group())
        if inside and inside != text and find_secrets(inside):
            yield Secret(*match.span(), "encoded secret")


def _decode_base64(run: str) -> str | None:
    """Return the text that base64 data encodes; None if it is not text."""
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if text.replace("\n", "").isprintable() else None


# Numbers with check digits, and key blocks


def _find_numbers(text: str) -> Iterator[Secret]:
    for match in compile_pattern(CARD).finditer(text):
        digits = re.sub("[ -]", "", match.group())
        if compile_pattern(CARDS).fullmatch(digits) and _passes_luhn(digits):
            yield Secret(*match.span(), "card number")
    for match in compile_pattern(IBAN).finditer(text):
        if _passes_mod_97(match.group()):
            yield Secret(*match.span(), "account number")


def _find_key_blocks(text: str, lowered: str) -> Iterator[Secret]:
    """Yield private keys up to their last line; a truncated one extends to the end of the text."""
    if not any(hint in lowered for hint in PEM_HINTS):
        return
    position = 0
    while header := compile_pattern(PEM).search(text, position):
        footer = text.find(PEM_END, header.end())
        line_end = -1 if footer < 0 else text.find("\n", footer)
        position = len(text) if line_end < 0 else line_end
        yield Secret(header.start(), position, "private key")


def _passes_luhn(digits: str) -> bool:
    """Return whether the Luhn check digit is valid; repeated digits are rejected."""
    numbers = [int(each) for each in digits]
    if len(set(numbers)) < 2:
        return False
    doubled = [(2 * each - 9 if each > 4 else 2 * each) for each in numbers[-2::-2]]
    return (sum(numbers[-1::-2]) + sum(doubled)) % 10 == 0


def _passes_mod_97(iban: str) -> bool:
    """Return whether an IBAN passes its checksum (ISO 13616)."""
    plain = iban.replace(" ", "")
    rotated = plain[4:] + plain[:4]
    number = "".join(
        str(ord(each) + LETTERS_AS_NUMBERS) if each.isalpha() else each for each in rotated
    )
    return number.isdigit() and int(number) % 97 == 1
