"""Secrets are taken out of text before it is kept: keys and tokens by their form, values by their name.

What is found is replaced by `[redacted]`. Digests stay. A secret that has no known form and stands
beside no telling name is not found: nothing here replaces keeping secrets from the process.
"""

from __future__ import annotations

import re
from functools import lru_cache
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
            r"glpat-[A-Za-z0-9_-]{20,}",  # GitLab
            r"xox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
            r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
            r"AIza[A-Za-z0-9_-]{35}",  # Google
            r"ya29\.[A-Za-z0-9_-]{20,}",
            r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
            r"gsk_[A-Za-z0-9]{30,}",  # Groq
            r"xai-[A-Za-z0-9]{30,}",
            r"nvapi-[A-Za-z0-9_-]{30,}",
            r"r8_[A-Za-z0-9]{30,}",  # Replicate
            r"npm_[A-Za-z0-9]{36}",
            r"pypi-AgE[A-Za-z0-9_-]{30,}",
            r"dop_v1_[0-9a-f]{64}",  # DigitalOcean
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
            r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # JSON web token
        )
    )
    + ")"
)
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/?#:@\"']{0,200}):([^\s/?#@\"']{1,500})@")
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic)(\s+)(?=[^\s]*[0-9=])[A-Za-z0-9._~+/=-]{16,}")

_NAME = (
    r"[\w-]{0,64}(?:api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|secret|passw(?:or)?d)"
)
_NAMED = re.compile(rf"(?i)(?<![\w-])({_NAME}[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?)([^\s\"',;]{{6,}})")
# Language models speak of tokens that are no secrets: `max_tokens=4096`, `pad_token=<pad>`.
_TOKEN_NAME = r"[\w-]{0,64}(?:token|credentials?)"
_NAMED_TOKEN = re.compile(
    rf"(?i)(?<![\w-])({_TOKEN_NAME}[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?)"
    r"((?![0-9a-f]{64}\b)(?=[^\s\"',;]*[0-9])(?=[^\s\"',;]*[a-z])[a-z0-9_.~+/=-]{16,})"
)


def redact(text: str) -> str:
    """The text with each secret replaced by `[redacted]`; doing it twice changes nothing more."""
    if len(text) < SHORTEST_TOKEN and "=" not in text and ":" not in text:
        return text
    text = _PRIVATE_KEY.sub(REDACTED, text)
    text = _URL_PASSWORD.sub(rf"\1:{REDACTED}@", text)
    text = _TOKEN.sub(REDACTED, text)
    text = _AUTHORIZATION.sub(rf"\1\2{REDACTED}", text)
    text = _NAMED.sub(rf"\1{REDACTED}", text)
    return _NAMED_TOKEN.sub(rf"\1{REDACTED}", text)


def redact_json(value: Any, name: str = "") -> Any:
    """A JSON value with every string in it redacted; `name` is the key that it stands under."""
    if isinstance(value, str):
        if _is_telling(name) and redact(f"{name}={value}") == f"{name}={REDACTED}":
            return REDACTED
        return value if _DIGEST.fullmatch(value) else redact(value)
    if isinstance(value, dict):
        return {key: redact_json(inner, key) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(inner, name) for inner in value]
    return value


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
