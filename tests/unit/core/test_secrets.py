"""Secret detection: secrets and lookalikes. All keys here are invented."""

from __future__ import annotations

import base64
import itertools
import time
import timeit

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from nexusmem.text.secrets import find_secrets, redact_secrets

LOWER, MIXED, HEX = "a1b2c3d4e5", "aB3dE5gH7j", "0a1b2c3d4e5f6789"


def long(letters: str, length: int) -> str:
    return (letters * (length // len(letters) + 1))[:length]


PREFIXED = {
    "sk-proj-" + long(MIXED, 40): "openai",
    "sk-ant-api03-" + long(MIXED, 80): "anthropic",
    "sk_live_" + long(MIXED, 24): "stripe",
    "rk_live_" + long(MIXED, 24): "stripe, restricted",
    "whsec_" + long(MIXED, 32): "stripe, webhook",
    "ghp_" + long(MIXED, 36): "github",
    "ghs_" + long(MIXED, 36): "github, app",
    "github_pat_" + long(MIXED, 60): "github, fine-grained",
    "glpat-" + long(MIXED, 20): "gitlab",
    "xoxb-" + "1" * 12 + "-" + long(MIXED, 24): "slack",
    "xapp-1-" + long(MIXED, 40): "slack, app",
    "AKIA" + "ABCDEFGHIJKLMNOP": "aws",
    "ASIA" + "QRSTUVWXYZ234567": "aws, temporary",
    "AIza" + long(MIXED, 35): "google",
    "GOCSPX-" + long(MIXED, 28): "google, client",
    "ya29." + long(MIXED, 60): "google, oauth",
    "hf_" + long(MIXED, 34): "hugging face",
    "gsk_" + long(MIXED, 50): "groq",
    "r8_" + long(MIXED, 37): "replicate",
    "npm_" + long(MIXED, 36): "npm",
    "pypi-" + long(MIXED, 80): "pypi",
    "SG." + long(MIXED, 22) + "." + long(MIXED, 43): "sendgrid",
    "dop_v1_" + long(HEX, 64): "digitalocean",
    "shpat_" + long(HEX, 32): "shopify",
    "sq0atp-" + long(MIXED, 22): "square",
    "hvs." + long(MIXED, 40): "vault",
    "dapi" + long(HEX, 32): "databricks",
    "lin_api_" + long(MIXED, 40): "linear",
    "NRAK-" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ2": "new relic",
    "key-" + long(HEX, 32): "mailgun",
    "AGE-SECRET-KEY-1" + long("QPZRY9X8GF", 58): "age",
    "SK" + long(HEX, 32): "twilio",
    "123456789:AA" + long(MIXED, 33): "telegram",
    "M" + long(MIXED, 23) + "." + long(MIXED, 6) + "." + long(MIXED, 27): "discord",
    ".".join(("eyJ" + long(MIXED, 20), "eyJ" + long(MIXED, 30), long(MIXED, 43))): "jwt",
}


@pytest.mark.parametrize("secret", PREFIXED, ids=PREFIXED.get)
@pytest.mark.parametrize("text", ["{}", "use {} for now", "KEY={}\n", '{{"it": "{}"}}', "({})."])
def test_key_is_recognized_by_its_form(text: str, secret: str) -> None:
    said = text.format(secret)

    assert secret not in redact_secrets(said)
    assert [said[found.start : found.end] for found in find_secrets(said)] == [secret]


CALLED = [
    ("My password is hunter2.", "hunter2"),
    ("my password is hunter2!", "hunter2!"),
    ("The wifi password is swordfish.", "swordfish"),
    ("the password for the router is admin1234 btw", "admin1234"),
    ("I changed my password to Tr0ub4dor&3", "Tr0ub4dor&3"),
    ("password: correct-horse", "correct-horse"),
    ("PASSWORD=letmein\nHOST=db", "letmein"),
    ("DB_PASSWORD='p@ssw0rd!'", "p@ssw0rd!"),
    ('{"password": "hunter2", "user": "bob"}', "hunter2"),
    ("the passcode is `Qw3rty`, ok?", "Qw3rty"),
    ("login bob / password: Summer2024", "Summer2024"),
    ("Mein Passwort ist Geheim99.", "Geheim99"),
    ("mot de passe : Soleil42", "Soleil42"),
    ("mi contraseña es Perro77", "Perro77"),
    ("пароль: Секрет123", "Секрет123"),
    ("密码是 abc12345", "abc12345"),
    ("MYSQL_PASS=root123", "root123"),
    ("API_KEY=" + long(LOWER, 24), long(LOWER, 24)),
    ("my api key is " + long(LOWER, 20), long(LOWER, 20)),
    ("AWS_SECRET_ACCESS_KEY=" + long(MIXED, 40), long(MIXED, 40)),
    ("client_secret: " + long(MIXED, 32), long(MIXED, 32)),
    ("the access token is " + long(HEX, 32), long(HEX, 32)),
    ("AccountKey=" + long(MIXED, 86) + "==;EndpointSuffix=x", long(MIXED, 86) + "=="),
    ("Authorization: Bearer abcdefghijklmnop.qrstuv", "abcdefghijklmnop.qrstuv"),
    ("Authorization: Basic dXNlcjpodW50ZXIyMTIz", "dXNlcjpodW50ZXIyMTIz"),
    ("Cookie: session=" + long(MIXED, 24), "session=" + long(MIXED, 24)),
    ("https://x.example/a?access_token=" + long(MIXED, 20) + "&b=1", long(MIXED, 20)),
    ("https://s3.example/f?X-Amz-Signature=" + long(HEX, 64), long(HEX, 64)),
    ("otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&issuer=b", "JBSWY3DPEHPK3PXP"),
    ("postgres://app:s3cr3t@db.example/main", "s3cr3t"),
    ("mongodb+srv://bob:pa55@cluster.example.net", "pa55"),
    ("redis://:topsecret1@cache:6379/0", "topsecret1"),
    ("git clone https://" + long(MIXED, 40) + "@github.com/a/b", long(MIXED, 40)),
    ("https://hooks.slack.com/services/T0AB/B0CD/" + LOWER * 3, "T0AB/B0CD/" + LOWER * 3),
    ("mysqldump --password=hunter2 db", "hunter2"),
    ("curl -u bob:hunter2 https://x.example", "hunter2"),
    ("sshpass -p hunter2 ssh box", "hunter2"),
    ("Server=db;Uid=app;Pwd=hunter2;", "hunter2"),
    ("mysql -u root -phunter2 db", "hunter2"),
    ("username admin, password hfF7M7pjWje", "hfF7M7pjWje"),
    ("the root password (Sb!ruAW7b5) leaked", "Sb!ruAW7b5"),
    ("change my password from Alji0H$QHk3t to anything", "Alji0H$QHk3t"),
    ("The password's KvcMuemN42e", "KvcMuemN42e"),
    ("user: admin pass: KcV0Z^rFx", "KcV0Z^rFx"),
    ("credentials: admin / gDhj*pHUVzS_1", "gDhj*pHUVzS_1"),
    ("my openai key is w*wfz3KJr@S1R", "w*wfz3KJr@S1R"),
    ("password: p(ss8word", "p(ss8word"),
    ("I changed the wifi password, it's Blue!Whale77 now", "Blue!Whale77"),
    ("Set a password for the router: it's now Ahorn-5512-green.", "Ahorn-5512-green"),
    ("The new password is $ecret99!x now", "$ecret99!x"),
    ("card 4111 1111 1111 1111 please", "4111 1111 1111 1111"),
    ("5555555555554444", "5555555555554444"),
    ("amex 3782-822463-10005", "3782-822463-10005"),
    ("IBAN DE89 3704 0044 0532 0130 00.", "DE89 3704 0044 0532 0130 00"),
    ("my PIN is 4821", "4821"),
    ("The alarm code is 7719#.", "7719#"),
    ("Your verification code: 482913", "482913"),
    ("cvv 123", "123"),
    ("My social security number is 078-05-1120.", "078-05-1120"),
    (
        "seed phrase: army van defense carry jealous true garbage claim echo media make crunch",
        "army van defense carry jealous true garbage claim echo media make crunch",
    ),
    ("passphrase: correct horse battery staple", "correct horse battery staple"),
]  # fmt: skip


@pytest.mark.requirement("X8")
@pytest.mark.parametrize(("text", "secret"), CALLED, ids=[text[:40] for text, _ in CALLED])
def test_secret_is_recognized_by_its_name(text: str, secret: str) -> None:
    assert [text[found.start : found.end] for found in find_secrets(text)] == [secret]


ORDINARY = """
    My password is too long to remember.
    The password is expired.
    The password is wrong!
    Your password must have 12 characters.
    My password is case-sensitive.
    The password is 12-character long.
    Password: required
    password: string
    password: str = None
    password = input("Password? ")
    password=getpass.getpass()
    password: ${DB_PASSWORD}
    password: <your password>
    password: ********
    password: $DB_PASSWORD
    password: %DB_PASSWORD%
    password: {{ vault_password }}
    password=make_password(plain)
    I forgot my password again.
    Reset your password here, please.
    The password for the wiki is in the vault.
    What is the password?
    Is the password still the same?
    I changed my password on 2024-05-01.
    The password was changed on Monday.
    My password for the old laptop was 2024-05-01 or so.
    password = hashed_password
    The password SHA256 digest is stored.
    We hash every password with bcrypt12 now.
    The bus pass costs 49 euros.
    Boarding pass LH4411/12A is printed.
    new WebClient("xoxb-your-slack-token")
    OPENAI_API_KEY=sk-your-key-goes-here
    The login: https://example.org/Login2/Start
    The key findings are in Table3.
    api_key = os.environ["OPENAI_API_KEY"]
    api_key=YOUR_API_KEY
    token = request.headers.get("token")
    The token economy is a fad.
    The token limit is 128000 tokens.
    Each token is about 4 characters.
    The secret to good bread is time.
    The secret to 100% uptime is boredom.
    The secret is patience.
    Our secret ingredient: cinnamon
    The key is to start early.
    The key is under the mat.
    Key: value pairs are stored as JSON.
    The private key is stored in the vault.
    The session key: 2024-05-01
    The API key rotates every 90 days.
    Call 555-201-7788 or +49 151 2345678.
    My number is 4155552671.
    +4915123456789 is my mobile.
    Order 4111 1111 1111 1112 is no card.
    0000 0000 0000 0000
    Tracking number 1Z999AA10123456784
    It costs $1,299.99, or 1.199,00 € in Germany.
    The budget is 4500000000000000 rupiah.
    The meeting is on 2024-05-01 at 14:30.
    2024-05-01T14:30:00.123456Z
    1700000000000 is a time in milliseconds.
    ISBN 978-3-16-148410-0
    IMEI 356938035643809
    550e8400-e29b-41d4-a716-446655440000
    commit 9fceb02d0ae598e95dc970b74767f19372d61af8
    sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    See commit a76e599 of main.
    https://example.org/path?x=1&page=2
    https://user@example.org/path
    http://localhost:8080/a@b
    postgres://user:password@localhost/db
    git@github.com:someone/project.git
    ssh://git@example.org:22/a.git
    The basic internationalization works.
    He is the bearer of good news.
    I pin 2024 photos to the wall.
    The pin is on the map.
    My zip code is 94110.
    The error code is 404.
    Room code is blue.
    Asia is larger than Africa.
    skiing is fun, ask-me-anything-tomorrow-about-it
    Flight LH4411 leaves at 8:05 from gate B12.
    The ticket is PROJ-12345.
    About the password: it's in HAR-1123 on page 12.
    Forgot the password again, it's so annoying at 7:30.
    192.168.100.200 and 2001:db8::ff00:42:8329
    Version 1.2.3-beta.4+build.5678
    The invoice 20240501-000123 is paid.
    Account number 12345678 is a customer's.
    -----BEGIN CERTIFICATE-----
    ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE bob@laptop
    supercalifragilisticexpialidocious
    The quick brown fox jumps over the lazy dog
    data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ
    dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVy
    I spent 4 hours on 3 tickets and 2 reviews.
""".strip().splitlines()


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("text", [line.strip() for line in ORDINARY])
def test_ordinary_text_has_no_secret(text: str) -> None:
    assert redact_secrets(text) == text


def test_number_of_cases() -> None:
    assert len(PREFIXED) + len(CALLED) >= 60
    assert len(ORDINARY) >= 60


def test_private_key_is_redacted_even_if_truncated() -> None:
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----"

    assert redact_secrets(f"look:\n{key}\nthanks") == "look:\n[redacted: private key]\nthanks"
    assert redact_secrets(f"look: {key[:50]}") == "look: [redacted: private key]"


def test_mark_names_the_kind_of_secret() -> None:
    assert redact_secrets("My password is hunter2.") == "My password is [redacted: password]."


@pytest.mark.parametrize("inside", ["password=hunter2 for prod", "my key is sk-" + long(MIXED, 30)])
def test_base64_encoded_secret_is_found(inside: str) -> None:
    encoded = base64.b64encode(inside.encode()).decode()

    assert encoded not in redact_secrets(f"decode {encoded} please")


@pytest.mark.parametrize(
    ("asked", "answer", "left"),
    [
        ("What's the password?", "hunter2", "[redacted: password]"),
        ("What is the password for the wifi?", "swordfish", "[redacted: password]"),
        ("What's your password?", "It's Tr0ub4dor&3 now.", "It's [redacted: password] now."),
        ("My password is", "correct-horse", "[redacted: password]"),
        ("the password:", "letmein99", "[redacted: password]"),
        ("What's the password?", "Ask Bob about it.", "Ask Bob about it."),
        ("What's the password?", "wrong", "wrong"),
        ("What's for lunch?", "hunter2", "hunter2"),
        ("I forgot my password again, sorry!", "See you at 10:30.", "See you at 10:30."),
    ],
)  # fmt: skip
def test_answer_to_a_password_request_is_redacted(asked: str, answer: str, left: str) -> None:
    assert redact_secrets(answer, previous=asked) == left
    assert redact_secrets(answer) == answer


@pytest.mark.parametrize("text", [text for text, _ in CALLED])
def test_redaction_is_idempotent(text: str) -> None:
    once = redact_secrets(text)

    assert redact_secrets(once) == once


@given(some.text(max_size=200))
@example("password:" * 30)
def test_any_text_can_be_redacted(text: str) -> None:
    found = find_secrets(text)

    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["password: ", "password is ", "password, it's ", "eyJ", "sk-", "a:b@", "://a:", "1 ", "4111",
     "A", "-----BEGIN ", "token=", "?sig=", "curl -u ", "seed phrase abc ", "secret of the ",
     "AB12", "pin for a b c ", "password for a, it is "],
)  # fmt: skip
def test_megabyte_is_searched_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))

    assert timeit.timeit(lambda: redact_secrets(text), timer=time.process_time, number=1) < 10


def test_message_without_secret_is_fast() -> None:
    text = (
        "We talked about the trip to Lisbon in May and booked two rooms for 4 nights; "
        "Sarah brings her camera, and I will ask Tom about the car on Tuesday."
    )

    times = timeit.repeat(
        lambda: redact_secrets(text), number=200, repeat=40, timer=time.process_time
    )

    assert min(times) / 200 < 30e-6  # 9 µs on an idle machine
