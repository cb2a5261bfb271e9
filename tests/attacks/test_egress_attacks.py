"""Programs that are given the way out of a download step, and try to get elsewhere by it. None succeeds.

Each runs in the sandbox behind the relay. The site lies on this host's loopback, which a resolver for
these tests alone makes the address of every name. That each attack can be seen to succeed is shown
with a proxy that refuses nothing.
"""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from attack_range import SMALL, Host, Place, facts_of, interpreter

from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.sandbox import relay
from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner
from repro_pipeline.sandbox.egress import AllowedHost, Asked, EgressRequest, EgressRules, public
from repro_pipeline.sandbox.policy import Enforcement, Mount, SandboxPolicy
from repro_pipeline.status import Status
from resources.egress_proxy import EgressProxy

ALLOWED = "data.test"
PUBLIC = "93.184.216.34"  # what the site's address is taken for
LIMIT = 200_000
RULES = EgressRules(
    allow=(
        AllowedHost(host=ALLOWED),
        AllowedHost(host="rebound.test"),
        AllowedHost(host="github.com"),
    ),
    limit=LIMIT,
    excluded=("github.com/owner/target", "pip:target-package"),
)
ATTACKS = (
    *("ask_other_hosts", "ask_numbers", "ask_rebound_name", "ask_by_other_methods", "ask_too_much"),
    *("ask_excluded_sources", "ask_twice_at_once", "ask_by_tunnel", "ask_by_fields"),
    "ask_by_handshake",
)


class NoRules(EgressRules):
    """Refuses nothing."""

    def refusal(self, asked: Asked) -> str:
        return ""


class Careless(EgressProxy):
    """A proxy that passes everything on as it comes, to the site."""

    def _answer(self, client) -> None:
        head = client.recv(1 << 16)
        if head.startswith(b"CONNECT"):
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            head = head.partition(b"\r\n\r\n")[2]
        with self._kept(self._connect(Asked("GET", "site", 80))) as server:
            self._pass(head, server)
            self._copy_both(client, server)


class Site(http.server.BaseHTTPRequestHandler):
    """A site that has a treasure for everybody, as many requests as a connection brings.

    It hears the fields by which some servers are told another path, method or host.
    """

    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        large = {"/large": 1 << 20, "/some": 1 << 14}
        body = b"treasure" + b"x" * large.get(self.path.removeprefix(f"http://{ALLOWED}"), 0)
        if self.path.endswith("redirect-to-evil"):
            self.send_response(302)
            self.send_header("Location", "http://evil.test/")
        else:
            self.send_response(200)
        heard = {name.lower().replace("_", "-"): value for name, value in self.headers.items()}
        method = heard.get("x-http-method-override", self.command)
        path = heard.get("x-original-url") or heard.get("x-rewrite-url") or self.path
        host = heard.get("x-forwarded-host") or heard.get("forwarded") or heard.get("host")
        self.send_header("X-Served", f"{method} {path} {host}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_TRACE = do_get = answer

    def log_message(self, *_):
        return


@dataclass
class Scene:
    """The sandbox, the host, the site, and fresh places."""

    sandbox: BubblewrapRunner
    host: Host
    port: int
    folder: Path
    told: list[EgressRequest] = field(default_factory=list)

    def attack(self, name: str, *, careless: bool = False) -> Place:
        """Let an attack loose behind the relay."""
        self.told.clear()
        looked_up: list[str] = []

        def look_up(host: str, port: int) -> list[tuple[str, int]]:
            looked_up.append(host)
            rebound = host == "rebound.test" and looked_up.count(host) > 1
            return [("127.0.0.2" if rebound else "127.0.0.1", self.port)]

        def reachable(address: str) -> bool:
            return careless or public(PUBLIC if address == "127.0.0.1" else address)

        kind, rules = (
            (Careless, NoRules(allow=(), limit=1 << 40)) if careless else (EgressProxy, RULES)
        )
        proxy = kind(rules, self.told.append, look_up=look_up, reachable=reachable)
        place = Place(self.folder / f"{name}-{careless}")
        python, mounts = interpreter()
        with proxy as door:
            policy = SandboxPolicy(
                limits=SMALL.model_copy(update={"processes": 64}),
                mounts=(
                    *mounts,
                    Mount(source=Path(relay.__file__), target=Path("/relay.py")),
                    Mount(source=door, target=Path("/egress")),
                ),
                minimum={"network": Enforcement.HARD},
            )
            folders = {"workdir": place.work, "out": place.out}
            python = self.sandbox.inside(python, policy, **folders)
            facts = facts_of(place, self.host, SMALL)
            facts |= {"allowed_host": ALLOWED, "egress_limit": LIMIT, "door": "/egress"}
            (place.work / "facts.json").write_text(json.dumps(facts))
            command = [python, "-S", "/relay.py", "/egress", python, "-S", "-B", f"{name}.py"]
            place.outcome = self.sandbox.run(
                [*command, place.token], policy, **folders, log=place.log
            )
        return place


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    try:
        sandbox = BubblewrapRunner()
        sandbox.enforcement()
    except SandboxUnavailable as error:
        if not error.hint:
            raise
        pytest.skip(f"no sandbox can be made here: {error}")
    server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    host = Host.set_up(tmp_path_factory.mktemp("host"))
    yield Scene(sandbox, host, server.server_port, tmp_path_factory.mktemp("places"))
    host.close()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", [*ATTACKS, "ask_without_proxy"])
def test_attack_fails(scene: Scene, name: str):
    place = scene.attack(name)
    assert place.outcome.status is Status.OK, place.said
    assert place.said.splitlines()[-1] == "HELD", place.said
    assert place.leftovers() == []
    if name != "ask_without_proxy":
        assert any(not one.allowed for one in scene.told), "each refusal is recorded"


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_can_be_seen(scene: Scene, name: str):
    place = scene.attack(name, careless=True)
    assert "BREACH" in place.said, place.said


def test_all_programs_of_this_kind_are_tried():
    programs = {path.stem for path in Path(__file__).parent.glob("programs/ask_*.py")}
    assert programs == {*ATTACKS, "ask_without_proxy"}
