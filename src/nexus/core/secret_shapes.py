"""How secrets are written: by a provider's prefix, or by what they are called.

Every repetition is bounded, so that any text is searched in one pass.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

compiled = cache(re.compile)  # when first looked for: all of them together take a while


class Shape(NamedTuple):
    """How one kind is written, and what must stand in a (small) text for it to be there."""

    kind: str
    patterns: tuple[str, ...]
    hints: tuple[str, ...]
    called: bool = False  # known by its name only: its value is looked at, too,
    strong: bool = False  # and must look like nothing else


LONG_WORD = 16  # letters: of every secret that is no password, number or phrase


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

# Without a prefix one could look for
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
SPOKEN_KEY = rf"(?ix)\b{NAMES_OF_KEYS} s? {IS} {KEY_VALUE}"
OPTION = (
    r"""(?ix)(?: --(?:[a-z-]{0,20}(?:password|passwd|token|secret|api-key|apikey)) [ =]{1,3}
        | \bsshpass\s{1,3}-p\s{0,3} | \bmysql(?:dump|admin)?\b[^\n]{0,100}?\s-p
        | \bcurl\b[^\n]{0,200}?\s-u\s{1,3}[^\s:]{1,60}: ) """
    + VALUE
)
# Where nothing says "is": only what mixes letters, digits and signs as no word does
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
    r"(?i)\b(?:ssn|social security(?: number| no\.?| #)?)[^\d\n]{0,12}"
    r"(?P<secret>\d{3}-\d{2}-\d{4}|\d{9})(?!\d)"
)
SEED_PHRASE = r"""(?ix)
    \b(?:(?:seed|recovery|backup|mnemonic|wallet)[ ](?:phrase|words)|mnemonic|passphrase)
        (?:\s{1,3}is)? \s{0,3}[:=]?\s{0,3} ["'“`]?
        (?P<secret>[a-z]{3,10}(?:[ ,]{1,2}[a-z]{3,10}){11,23})\b"""
SEVERAL_WORDS = r"""(?ix)\bpassphrase\s{0,2}(?: [:=]\s{0,3} | \s(?:is|was)\s{1,3}(?=["“`])) ["'“`]?
        (?P<secret>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,7})(?=["'”`.]?\s{0,3}(?:\n|$))"""

ASKED = rf"""(?ix){NAMES_OF_PASSWORDS}
    (?: [^.!?\n]{{0,60}}[?？]
      | s?\s{{0,3}}(?:is|was|ist|est|es|é|=)?\s{{0,3}}[:：…=.-]{{0,3}} )\s{{0,3}}$"""
ANSWER = r"""[^\s"'“”»`<>,;]{4,64}(?<![.?])"""

IS_PASSWORD = ("pass", "pwd", "pw", "kennwort", "contrase", "senha", "wachtwoord", "haslo",
    "lozinka", "salasana")  # fmt: skip
IS_PASSWORD_ABROAD = ("hasło", "парол", "密", "パスワード", "비밀번호", "lösenord", "şifre")
IS_KEY = ("token", "secret", "key", "api")
IS_CODE = ("pin", "otp", "cvv", "cvc", "code")
IS_PARAMETER = ("token=", "secret=", "passw", "sig", "key=", "pwd=")
PASSWORD = (ASSIGNED_PASSWORD, SPOKEN_PASSWORD)

IN_LONG_WORDS = (
    Shape("api key", (PREFIXED,), PREFIXES),
    Shape("token", (JWT,), ("eyj",)),
    Shape("token", (BEARER,), ("bearer", "basic", "token ")),
    Shape("token", (HEADER,), ("cookie:",)),
    Shape("token", (WEBHOOK,), ("hooks.slack", "webhook")),
    Shape("token", (USER_OF_URL,), ("://",)),
    Shape("token", (PARAMETER,), IS_PARAMETER, called=True),
)
WITH_DIGITS = (
    Shape("key", (ASSIGNED_KEY, SPOKEN_KEY), IS_KEY, called=True),
    Shape("password", (NEAR_PASSWORD,), ("pass",), called=True, strong=True),
    Shape("password", (NEAR_LOGIN,), ("cred", "login", "log in"), called=True, strong=True),
    Shape("key", (NEAR_KEY,), ("key",), called=True, strong=True),
    Shape("code", (PIN,), IS_CODE),
    Shape("social security number", (SOCIAL,), ("ssn", "social sec")),
)
IN_ANY_TEXT = (
    Shape("password", (CONNECTION,), ("://",), called=True),
    Shape("pass phrase", (SEED_PHRASE, SEVERAL_WORDS), ("phrase", "mnemonic", " words")),
    Shape("password", PASSWORD, IS_PASSWORD, called=True),
    Shape("password", (OPTION,), ("--", "sshpass", "curl", "mysql"), called=True),
)
ABROAD = (Shape("password", PASSWORD, IS_PASSWORD_ABROAD, called=True),)

PEM = r"(?i)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d"
PEM_HINTS = ("private key", "putty-user-key-file")
PEM_END = "-----END"

CARD = r"(?<![\w.+-])\d(?:[ -]?\d){13,18}(?![\w-])"
CARDS = (  # of Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}"
    r"|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
)
IBAN = r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,7}(?:[ ]?[A-Z0-9]{1,3})?\b"
DIGIT = re.compile("[0-9]")
MANY_DIGITS = re.compile("[0-9][0-9A-Z -]{11}")  # of a card or an account
