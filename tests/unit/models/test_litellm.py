"""The adapter against a real HTTP endpoint of this machine: what is sent, and each failure its kind."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from repro_pipeline.chat import (
    ChatRequest,
    ContextExceeded,
    Message,
    NoModel,
    NotAuthorised,
    Price,
    RateLimited,
    Refused,
    Rejected,
    Unavailable,
)
from repro_pipeline.config import Role, Roles
from resources.chat_litellm import LiteLlmChat

pytest.importorskip("litellm", reason="the extra `models` is not installed")

REQUEST = ChatRequest(
    step="s",
    role="coder",
    messages=(Message(role="user", content="Say yes."),),
    answer_schema={"type": "object", "properties": {"word": {"type": "string"}}},
    max_tokens=50,
    temperature=0.0,
)
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 60},
}


class Endpoint:
    """Answers as it is told, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status, self.headers, self.body, self.seen = 200, {}, {}, []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_POST(self):
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                endpoint.seen.append((self.path, headers, sent))
                raw = json.dumps(endpoint.body).encode()
                self.send_response(endpoint.status)
                for name, value in {"Content-Type": "application/json", **endpoint.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def says(self, content, *, finish="stop", usage=USAGE, **message):
        choice = {
            "index": 0,
            "finish_reason": finish,
            "message": {"role": "assistant", "content": content, **message},
        }
        self.status = 200
        self.body = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            **({"usage": usage} if usage else {}),
        }

    def fails(self, status, message, **headers):
        self.status, self.headers = status, headers
        self.body = {"error": {"message": message, "type": "error", "code": None}}


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = Endpoint()
    yield made
    made.server.shutdown()
    made.server.server_close()


def chat(endpoint, **more) -> LiteLlmChat:
    return LiteLlmChat(
        Roles(coder=Role(model="openai/m", api_base=endpoint.url, timeout=20, **more))
    )


def test_an_answer_with_its_tokens_and_no_price(endpoint):
    endpoint.says('{"word": "yes"}')
    answer = chat(endpoint).complete(REQUEST)
    assert (answer.text, answer.finish_reason, answer.model) == (
        '{"word": "yes"}',
        "stop",
        "openai/m",
    )
    assert (answer.usage.tokens_in, answer.usage.tokens_cached, answer.usage.tokens_out) == (
        100,
        60,
        10,
    )
    assert answer.usd is None
    ((path, headers, sent),) = endpoint.seen
    assert path == "/v1/chat/completions"
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("m", 50, 0.0)
    assert sent["response_format"]["json_schema"]["schema"] == REQUEST.answer_schema
    assert headers["authorization"] == "Bearer none"


def test_a_price_of_the_configuration_counts_cached_tokens(endpoint):
    endpoint.says("x")
    priced = chat(endpoint, price={"input": 1.0, "output": 10.0, "cached": 0.1})
    assert priced.info("coder").price == Price(input=1.0, output=10.0, cached=0.1)
    assert priced.complete(REQUEST).usd == pytest.approx((40 * 1.0 + 60 * 0.1 + 10 * 10.0) / 1e6)


def test_the_key_comes_from_the_environment(endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    endpoint.says("x")
    chat(endpoint).complete(REQUEST)
    assert endpoint.seen[0][1]["authorization"] == "Bearer from-environment"


def test_missing_counts_are_estimated_and_said(endpoint):
    endpoint.says("x" * 300, usage=None)
    usage = chat(endpoint).complete(REQUEST).usage
    assert usage.estimated and usage.tokens_out == 101 and usage.tokens_in > 0


@pytest.mark.parametrize(
    ("finish", "message", "reason"),
    [
        ("length", {}, "length"),
        ("content_filter", {}, "refused"),
        ("stop", {"refusal": "I will not."}, "refused"),
    ],
)
def test_how_an_answer_ended(endpoint, finish, message, reason):
    endpoint.says("" if message else "x", finish=finish, **message)
    assert chat(endpoint).complete(REQUEST).finish_reason == reason


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (401, "Incorrect API key provided.", NotAuthorised),
        (403, "You may not use this model.", NotAuthorised),
        (404, "The model `m` does not exist.", NoModel),
        (400, "This model's maximum context length is 100 tokens.", ContextExceeded),
        (400, "invalid_request_error: content_policy_violation.", Refused),
        (400, "Unsupported value.", Rejected),
        (429, "Slow down.", RateLimited),
        (500, "Oops.", Unavailable),
        (503, "Overloaded.", Unavailable),
    ],
)
def test_each_failure_is_of_its_kind_and_asked_once(endpoint, status, said, kind):
    endpoint.fails(status, said)
    with pytest.raises(kind) as raised:
        chat(endpoint).complete(REQUEST)
    assert type(raised.value) is kind
    assert "openai/m" in str(raised.value)
    assert len(endpoint.seen) == 1  # neither litellm nor the client tried again


def test_a_rate_limit_says_when_to_come_back(endpoint):
    endpoint.fails(429, "Slow down.", **{"retry-after": "17"})
    with pytest.raises(RateLimited) as raised:
        chat(endpoint).complete(REQUEST)
    assert raised.value.retry_after == 17


def test_an_endpoint_that_is_not_there_and_a_silent_one(endpoint):
    gone = Roles(coder=Role(model="openai/m", api_base="http://127.0.0.1:9/v1", timeout=20))
    with pytest.raises(Unavailable):
        LiteLlmChat(gone).complete(REQUEST)


def test_a_provider_that_nobody_knows_and_a_role_without_a_model():
    with pytest.raises(NoModel, match=r"Correct `models` in repro\.yaml"):
        LiteLlmChat(Roles(coder=Role(model="nonsense"))).complete(REQUEST)
    with pytest.raises(NoModel, match=r"models\.coder"):
        LiteLlmChat(Roles()).info("coder")


def test_a_known_model_has_a_price_and_a_context_and_one_behind_an_endpoint_has_not(endpoint):
    known = LiteLlmChat(Roles(coder=Role(model="openai/gpt-4o-mini"))).info("coder")
    assert known.price.input > 0 and known.context_tokens > 1000
    own = Role(model="openai/gpt-4o-mini", api_base=endpoint.url)
    assert LiteLlmChat(Roles(coder=own)).info("coder").price is None
