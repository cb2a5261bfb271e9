"""Secrets leave, everything else stays."""

import io
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_examples import attempt_pair, payloads, warning

from repro_pipeline.errors import LedgerError
from repro_pipeline.frozen import digest
from repro_pipeline.ledger import redact as forms
from repro_pipeline.ledger.redact import LONGEST_KEY, redact, redact_json, redact_log, storable

_RANDOM = random.Random(11)


def made_up(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Characters such as keys have, so that no real-looking key stands in this file."""
    return "7a" + "".join(_RANDOM.choice(alphabet) for _ in range(length - 2))


UPPER = string.ascii_uppercase + string.digits
KEY_BODY = "\n".join(made_up(64) for _ in range(12))
PRIVATE_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "openai": "sk-proj-" + made_up(48),
    "anthropic": "sk-ant-api03-" + made_up(80),
    "github": "ghp_" + made_up(36),
    "github fine": "github_pat_" + made_up(60),
    "gitlab": "glpat-" + made_up(20),
    "slack": "xoxb-" + made_up(40),
    "aws": "AKIA" + made_up(16, UPPER).upper(),
    "google": "AIza" + made_up(35),
    "hugging face": "hf_" + made_up(34),
    "groq": "gsk_" + made_up(50),
    "npm": "npm_" + made_up(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + made_up(80),
    "gitlab runner": "glrt-" + made_up(20),
    "slack app": "xapp-1-" + made_up(40),
    "perplexity": "pplx-" + made_up(48),
    "together": "tgp_v1_" + made_up(43),
    "tavily": "tvly-dev-" + made_up(32),
    "langsmith": f"lsv2_pt_{made_up(32, '0123456789abcdef')}_{made_up(10, '0123456789abcdef')}",
    "databricks": "dapi" + made_up(32, "0123456789abcdef"),
    "elevenlabs": "sk_" + made_up(48, "0123456789abcdef"),
    "google client": "GOCSPX-" + made_up(28),
    "vault": "hvs." + made_up(30),
    "shopify": "shpat_" + made_up(32, "0123456789abcdef"),
    "telegram": "1234567890:AA" + made_up(33),
    "age": "AGE-SECRET-KEY-1" + made_up(58, UPPER).upper(),
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJ{made_up(30)}.{made_up(43)}",
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize(
    "around", ["{}", "key {} refused", '{{"key":"{}"}}', "https://api/x?k={}&y=1", "'{}'", "a={};b"]
)
def test_a_key_of_a_known_form_leaves_wherever_it_stands(name, around):
    secret = SECRETS[name]
    before, after = around.replace("{{", "{").replace("}}", "}").split("{}")
    assert redact(around.format(secret)) == f"{before}[redacted]{after}"


PASSWORD = made_up(14)
HEX = digest("a secret that looks like a digest")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"postgresql://repro:{PASSWORD}@db.local:5432/ledger", PASSWORD),
        (f"redis://:{PASSWORD}@localhost", PASSWORD),
        (f"Authorization: Bearer {made_up(40)}", made_up),
        (f"WANDB_API_KEY={made_up(40, '0123456789abcdef')}", made_up),
        (f"export DB_PASSWORD='{PASSWORD}'", PASSWORD),
        (f'"client_secret": "{made_up(24)}"', made_up),
        (f"HF_TOKEN: {made_up(30)}", made_up),
        (f"AWS_SECRET_ACCESS_KEY={made_up(38)}/+", made_up),
        (f"SECRET_KEY={HEX}", HEX),
        (f"--api-key={PASSWORD}", PASSWORD),
        (f"--api-key {PASSWORD} --next", PASSWORD),
        (f"--hf-token {made_up(30)}", made_up),
        (f"MYSQL_PASSWD={PASSWORD} and", PASSWORD),
        (f"passphrase: {PASSWORD}", PASSWORD),
        (f"DB_PWD={PASSWORD}", PASSWORD),
        (f"AccountName=x;AccountKey={PASSWORD}==;", PASSWORD),
        ('password="correct horse, battery"', "battery"),
        ("secret = 'no; digit'", "digit"),
        (r"{\"password\": \"correct horse\"}", "horse"),
        ("password=back\\slash", "slash"),
        (f"Authorization: Token {PASSWORD}", PASSWORD),
        (f"machine api login ada password {PASSWORD}", PASSWORD),
        (f"https://blob/x?sv=2020&sig={PASSWORD}", PASSWORD),
        (f"Set-Cookie: session={PASSWORD}; Path=/", PASSWORD),
        (f'{{"auths":{{"host":{{"auth":"{PASSWORD}"}}}}}}', PASSWORD),
        (f'{{"username":"ada","key":"{PASSWORD}"}}', PASSWORD),
    ],
)
def test_a_value_with_a_telling_name_leaves(text, secret):
    clean = redact(text)
    assert "[redacted]" in clean
    hidden = secret if isinstance(secret, str) else text[-20:].strip("'\"")
    assert hidden not in clean
    assert clean[:5] == text[:5]


@pytest.mark.parametrize("text", [PRIVATE_KEY, f"log\n{PRIVATE_KEY}\nmore", PRIVATE_KEY[:300]])
def test_a_private_key_leaves_whole(text):
    clean = redact(text)
    assert not any(line in clean for line in KEY_BODY.splitlines())
    assert "more" in clean or "more" not in text


SHA = digest("content")
HARMLESS = [
    SHA,
    f"sha256:{SHA}",
    f"numpy==2.1.0 --hash=sha256:{SHA} \\",
    f'{{"run_key":"{SHA}","code_tree":"{digest("tree")}"}}',
    f"attempt-start:{SHA}:1",
    f"https://files.example.org/packages/{SHA}/numpy-2.1.0.whl",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "max_tokens=4096, n_tokens: 20000, num_tokens=1234567890123456",
    "pad_token=<|endoftext|> eos_token: </s> token_type_ids=[0, 1]",
    "tokenizer: bert-base-uncased; token: the",
    "lr=0.0003 weight_decay=1e-05 epoch 3/20 loss 0.1234",
    f"cache_token={SHA} run_key={SHA} primary_key={SHA}",
    "key=value keyboard monkey=3 primary_key: id",
    "skip-connections-in-residual-networks-help",
    "mailto:ada@example.org and http://host:8080/path@2x.png",
    "The secret of good baselines: tune them as well.",
    "task-sk-learn-RandomForestClassifier",
    "2024-05-01T12:00:00.250000Z",
    "forward_pass=0.123456 second pass: 123456 bypass: enabled PWD=/home/ada/project OLDPWD=/home/ada",
    "tokenizer=bert-base-uncased-2024 signature: 0123456789abcdef",
    "the login of a password manager; authorization: required; cookie: yes",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


@given(st.text(alphabet=string.printable, max_size=200))
def test_redacting_twice_changes_nothing_more(text):
    assert redact(redact(text)) == redact(text)


@given(payloads)
def test_payloads_without_secrets_are_left_alone(payload):
    assert storable(payload) is payload


def test_a_payload_leaves_its_secrets_and_keeps_its_digests():
    started, _ = attempt_pair()
    config = {
        "api_key": PASSWORD,
        "nested": [{"url": f"https://u:{PASSWORD}@host/"}],
        "hf_token": made_up(30),
        "max_tokens": 512,
        "pad_token": "<pad>",
        "data": SHA,
    }
    clean = storable(started.model_copy(update={"config": config}))
    assert clean.config == {
        "api_key": "[redacted]",
        "nested": [{"url": "https://u:[redacted]@host/"}],
        "hf_token": "[redacted]",
        "max_tokens": 512,
        "pad_token": "<pad>",
        "data": SHA,
    }
    assert clean.run_key == started.run_key
    assert storable(clean) == clean


def test_characters_that_a_database_refuses_are_replaced():
    started, _ = attempt_pair()
    clean = storable(started.model_copy(update={"config": {"a\0": "b\0", "c": "\ud800"}}))
    assert clean.config == {"a�": "b�", "c": "�"}
    assert storable(warning("\0")).sentence == "�"


def test_a_secret_in_place_of_an_id_is_refused():
    started, _ = attempt_pair()
    with pytest.raises(LedgerError, match="attempt_started: experiment"):
        storable(started.model_copy(update={"experiment": SECRETS["hugging face"]}))


def test_only_strings_are_touched():
    value = {"password": 12345678, "secret": None, "list": [True, 1.5]}
    assert redact_json(value) == value


def test_a_log_is_redacted_line_by_line_and_otherwise_kept_byte_for_byte():
    raw = b"epoch 1\r\n\xff\xfe not utf-8\nkey " + SECRETS["openai"].encode() + b"\n"
    raw += PRIVATE_KEY.encode() + b"\nlast line without end"
    out = io.BytesIO()
    redact_log(io.BytesIO(raw), out)
    assert out.getvalue() == (
        b"epoch 1\r\n\xff\xfe not utf-8\nkey [redacted]\n[redacted]\nlast line without end"
    )


def test_a_key_that_never_ends_does_not_swallow_the_log():
    begun = "-----BEGIN PRIVATE KEY-----\n"
    rest = "".join(f"line {number}\n" for number in range(LONGEST_KEY))
    out = io.BytesIO()
    redact_log(io.BytesIO((begun + rest).encode()), out)
    assert out.getvalue().endswith(rest[-1000:].encode())
    assert out.getvalue().startswith(b"[redacted]")


@given(st.from_regex(forms._TOKEN, fullmatch=True) | st.from_regex(forms._AUTHORIZATION))
def test_no_secret_by_its_form_is_as_short_as_what_is_not_looked_at(secret):
    assert len(secret) >= forms.SHORTEST_TOKEN


def test_what_stands_under_a_telling_name_leaves_whole_however_it_looks():
    value = {
        "password": "correct horse, battery",
        "db": {"passwd": "abc", "port": 5432},
        "secrets": ["x y", {"value": "z"}],
        "command": ["run", "--api-key", "hunter", "--hf-token", made_up(30), "--seed", "7"],
        "max_tokens": ["many", "more"],
    }
    assert redact_json(value) == {
        "password": "[redacted]",
        "db": {"passwd": "[redacted]", "port": 5432},
        "secrets": ["[redacted]", {"value": "[redacted]"}],
        "command": ["run", "--api-key", "[redacted]", "--hf-token", "[redacted]", "--seed", "7"],
        "max_tokens": ["many", "more"],
    }


def test_a_secret_in_a_name_leaves_and_no_two_names_become_one():
    one, two = (f"{SECRETS[name]}.json" for name in ("openai", "groq"))
    clean = redact_json({one: 1, two: 2, "metrics.json": 3})
    assert clean == {"[redacted].json": 1, "[redacted].json (2)": 2, "metrics.json": 3}
    assert redact_json(clean) == clean
