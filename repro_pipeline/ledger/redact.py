"""Secrets are taken out of text before it is kept: keys and tokens by their form, values by their name.

What is found is replaced by `[redacted]`, and so is, wherever it stands, what this process was given in
its environment under the name of a key. Digests stay. Another secret that has no known form and stands
beside no telling name is not found: nothing here replaces keeping secrets from the process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from functools import lru_cache
from itertools import count
from typing import IO, Any, TypeVar

from pydantic import ValidationError

from repro_pipeline.errors import LedgerError
from repro_pipeline.ledger.events import Payload

REDACTED = "[redacted]"
LINE = 1 << 20
"""Longest piece of a line, in bytes, that is looked at as a whole."""
SHORTEST_TOKEN = 15
"""Characters that a secret by its form has at least; one by its name stands behind `=` or `:`."""
LONGEST_KEY = 1 << 14
"""Characters within which a private key that begins in a log is expected to end."""

AnyEvent = TypeVar("AnyEvent", bound=Payload)

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = re.compile(rf"{_BEGIN}.*?(?:{_END}|\Z)", re.DOTALL)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SECRET_LIKE = "a1" * 10
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    + "|".join(
        (
            r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic, OpenRouter
            r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
            r"gh[pousr]_[A-Za-z0-9]{30,}",  # GitHub
            r"github_pat_[A-Za-z0-9_]{22,}",
            r"gl(?:pat|dt|rt|ft|ptt|cbt|soat)-[A-Za-z0-9_-]{20,}",  # GitLab
            r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}",  # Slack
            r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
            r"AIza[A-Za-z0-9_-]{35}",  # Google
            r"ya29\.[A-Za-z0-9_-]{20,}",
            r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
            r"gsk_[A-Za-z0-9]{30,}",  # Groq
            r"xai-[A-Za-z0-9]{30,}",
            r"nvapi-[A-Za-z0-9_-]{30,}",
            r"r8_[A-Za-z0-9]{30,}",  # Replicate
            r"pplx-[A-Za-z0-9]{40,}",  # Perplexity
            r"tgp_v1_[A-Za-z0-9_-]{40,}",  # Together
            r"tvly-(?=[A-Za-z-]*[0-9])[A-Za-z0-9-]{20,}",  # Tavily
            r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",  # LangSmith
            r"dapi[0-9a-f]{32}",  # Databricks
            r"sk_[0-9a-f]{48}",  # ElevenLabs
            r"npm_[A-Za-z0-9]{36}",
            r"pypi-AgE[A-Za-z0-9_-]{30,}",
            r"dop_v1_[0-9a-f]{64}",  # DigitalOcean
            r"GOCSPX-[A-Za-z0-9_-]{20,}",  # Google OAuth
            r"hvs\.[A-Za-z0-9_-]{20,}",  # Vault
            r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",  # Shopify
            r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",  # Telegram
            r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
            r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # JSON web token
        )
    )
    + ")"
)
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/?#:@\"']{0,200}):([^\s/?#@\"']{1,500})@")
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic)(\s+)(?=[^\s]*[0-9=])[A-Za-z0-9._~+/=-]{16,}")

_QUOTE = r"(?:\\?[\"'])?"
"""Around a name or a value, escaped where JSON stands in a JSON text."""
_IS = rf"{_QUOTE}\s{{0,3}}[=:]\s{{0,3}}"
_NAME = (
    r"(?:(?:api|access|account|secret|private)[_-]?keys?|secrets?|passw(?:or)?ds?|passphrase"
    r"|_pwd|(?:db|pg|sql|smtp|ftp|user)_?pass)"
)
"""How the name of a secret ends; what stands before does not matter."""
_WHOLE_NAME = re.compile(rf"(?i)[\w-]*{_NAME}")
_VALUE = r"(?:[^\s\"',;\\]|\\(?![\"'])){6,}"
# A value in quotes goes up to the next quote, spaces and commas with it.
_NAMED_QUOTED = re.compile(
    rf"(?i)({_NAME}{_IS})(?P<quote>\\?[\"'])(?:(?!(?P=quote))[^\n]){{1,500}}(?P=quote)"
)
_NAMED = re.compile(rf"(?i)({_NAME}{_IS}{_QUOTE}){_VALUE}")
# Language models speak of tokens that are no secrets: `max_tokens=4096`, `pad_token=<pad>`.
_TOKEN_NAME = r"(?:token|credentials?)"
_TOKEN_VALUE = r"(?![0-9a-f]{64}\b)(?=[^\s\"',;]*[0-9])(?=[^\s\"',;]*[a-z])[a-z0-9_.~+/=-]{16,}"
_NAMED_TOKEN = re.compile(rf"(?i)({_TOKEN_NAME}{_IS}{_QUOTE}){_TOKEN_VALUE}")
# `--password x` needs no sign between.
_OPTION = re.compile(
    rf"(?i)(?<![\w-])(--?[\w-]{{0,64}}(?:{_NAME}\s{{1,3}}(?=(?!-){_VALUE})"
    rf"|{_TOKEN_NAME}\s{{1,3}}(?={_TOKEN_VALUE})))[^\s\"',;]+"
)
_ELSEWHERE = re.compile(
    "|".join(
        (
            rf"(?i:(?<=authorization)){_IS}{_QUOTE}[A-Za-z]{{1,20}}\s{{1,3}}",  # any scheme
            r"(?<=[?&])(?i:sig|signature|x-(?:amz|goog)-signature)=",  # signed addresses
            r"(?m:^|(?<=\s))(?i:(?:set-)?cookie)\s{0,3}:\s{0,3}[\w.-]{1,64}=",
            r"\blogin\s+\S{1,200}\s+password\s+",  # .netrc
            r'"auth"\s{0,3}:\s{0,3}"(?=[^"]{12})',  # a registry's login
            r'"username"\s{0,3}:\s{0,3}"[^"\n]{0,200}"\s{0,3},\s{0,3}"key"\s{0,3}:\s{0,3}"',
        )
    ).join(("(", r")([^\s\"',;&]{6,})"))
)
"""Values behind other words that tell."""
_STEPS = (
    (("-----begin",), _PRIVATE_KEY, REDACTED),
    (("://",), _URL_PASSWORD, rf"\1:{REDACTED}@"),
    (("",), _TOKEN, REDACTED),
    (("bearer", "basic"), _AUTHORIZATION, rf"\1\2{REDACTED}"),
    (("auth", "sig", "cookie", "login", "username"), _ELSEWHERE, rf"\1{REDACTED}"),
    (("key", "secret", "pass", "pwd"), _NAMED_QUOTED, rf"\1\g<quote>{REDACTED}\g<quote>"),
    (("key", "secret", "pass", "pwd"), _NAMED, rf"\1{REDACTED}"),
    (("token", "credential"), _NAMED_TOKEN, rf"\1{REDACTED}"),
    (("--", " -"), _OPTION, rf"\1{REDACTED}"),
)
"""In order: words of which a text holds one where the pattern can match, the pattern, what takes its
place. Most texts hold none, and to look for words costs little."""


def redact(text: str) -> str:
    """The text with each secret replaced by `[redacted]`; doing it twice changes nothing more."""
    if len(text) < SHORTEST_TOKEN and "=" not in text and ":" not in text:
        return text
    for secret in _given():
        text = text.replace(secret, REDACTED)
    lower = text.lower()
    for words, pattern, replacement in _STEPS:
        if any(word in lower for word in words):
            text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=1)
def _given() -> tuple[str, ...]:
    """The secrets in this process's environment, as it was when first asked; the longest first."""
    found = {
        value
        for name, value in os.environ.items()
        if re.fullmatch(rf"(?i)[\w-]*(?:{_NAME}|token)", name) and len(value) >= SHORTEST_TOKEN
    }
    return tuple(sorted(found, key=len, reverse=True))


def redact_json(value: Any, name: str = "") -> Any:
    """A JSON value with every string in it redacted, keys too; `name` is the key that it stands under.

    Under the name of a password or key every text goes, however short, also deeper. Numbers stay: a
    claim may be called `crack-password`, and its value is one.
    """
    if isinstance(value, dict):
        clean: dict[str, Any] = {}
        for key, inner in value.items():
            clean[_fresh(redact(key), clean)] = redact_json(
                inner, name if _names_secret(name) else key
            )
        return clean
    if isinstance(value, list | tuple):
        return [
            redact_json(inner, _option(before) or name)
            for before, inner in zip(("", *value), value, strict=False)
        ]
    if not isinstance(value, str):
        return value
    if (_names_secret(name) and value) or (
        _is_telling(name) and redact(f"{name}={value}") == f"{name}={REDACTED}"
    ):
        return REDACTED
    return value if _DIGEST.fullmatch(value) else redact(value)


def _fresh(key: str, taken: Collection[str]) -> str:
    """The key, or one like it: two that were redacted must not become one."""
    numbered = (f"{key} ({number})" for number in count(2))
    return key if key not in taken else next(one for one in numbered if one not in taken)


def _option(word: Any) -> str:
    """The name that a word of a command line gives the next one: `api-key` of `--api-key`."""
    return word.lstrip("-") if isinstance(word, str) and word.startswith("-") else ""


@lru_cache
def _names_secret(name: str) -> bool:
    """Whether whatever stands under that name is secret."""
    return bool(_WHOLE_NAME.fullmatch(name))


@lru_cache
def _is_telling(name: str) -> bool:
    """Whether a value under that name can be a secret by its name alone."""
    return redact(f"{name}={_SECRET_LIKE}") != f"{name}={_SECRET_LIKE}"


def storable(payload: AnyEvent) -> AnyEvent:
    """The payload without secrets, and without characters that no database takes (NUL, halves of
    surrogate pairs: `�` stands for them).

    Raises LedgerError where a secret stands in place of an id.
    """
    plain = payload.model_dump(mode="json")
    clean = _replace_characters(redact_json(plain))
    if clean == plain:
        return payload
    try:
        return type(payload).model_validate(clean)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise LedgerError(
            "what looks like a secret stands where the event needs something else",
            where=f"{payload.kind}: {place}",
        ) from error


def redact_log(source: IO[bytes], target: IO[bytes]) -> None:
    """Copy a log line by line, redacted, in little memory whatever its length.

    A secret across the seam of two pieces of a line longer than `LINE` bytes is not found.
    """
    held: list[str] = []
    in_key, size = False, 0
    while piece := source.readline(LINE):
        line = piece.decode(errors="surrogateescape")
        held.append(line)
        size += len(line)
        if not in_key or re.search(_END, line):
            in_key = _opens_key(line)
        if not in_key or size > LONGEST_KEY:
            target.write(redact("".join(held)).encode(errors="surrogateescape"))
            held, in_key, size = [], False, 0
    target.write(redact("".join(held)).encode(errors="surrogateescape"))


def _opens_key(line: str) -> bool:
    begun = [match.end() for match in re.finditer(_BEGIN, line)]
    return bool(begun) and not re.search(_END, line[begun[-1] :])


def _replace_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isprintable() else _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {
            _replace_characters(key): _replace_characters(inner) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_replace_characters(inner) for inner in value]
    return value
