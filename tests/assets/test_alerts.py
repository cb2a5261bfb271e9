"""Alerts, sent to real servers on this machine: once each, tried again when refused, and recorded."""

from __future__ import annotations

import json
import socketserver
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import dagster as dg
import pytest
import yaml

from assets.alerts import send_alerts
from repro_pipeline.alerts import Alert, budget_alerts, due
from repro_pipeline.bundle.task import Budget
from repro_pipeline.cli import main
from repro_pipeline.commands import opening
from repro_pipeline.config import Alerts
from repro_pipeline.definitions import build_definitions
from repro_pipeline.errors import ServiceError
from repro_pipeline.ledger.events import PROJECT_CHAIN, ModelReserved, StageFinished
from repro_pipeline.status import Status
from resources.alert_channels import channels
from resources.opening import open_project
from resources.project import ProjectResource, _open
from tests.bundles import make_bundle


class Hook(BaseHTTPRequestHandler):
    """Takes what is posted, or refuses it."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append(json.loads(body))
        self.send_response(self.server.answer)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


class Mail(socketserver.StreamRequestHandler):
    """Just enough SMTP to take a message, and a password; the server notes each word it is told."""

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            word = line.strip().upper()
            self.server.told.append(word)
            if word.startswith(b"EHLO"):
                self.wfile.write(b"250-here\r\n250 AUTH PLAIN\r\n")
                continue
            if word.startswith(b"AUTH"):
                self.wfile.write(b"235 in\r\n")
                continue
            if word == b"DATA":
                self.wfile.write(b"354 go\r\n")
                text = b""
                while (line := self.rfile.readline()) != b".\r\n":
                    text += line
                self.server.taken.append(text.decode())
            if word == b"QUIT":
                return
            self.wfile.write(b"250 fine\r\n")


@contextmanager
def serving(server):
    server.taken, server.told, server.answer = [], [], 200
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def hook():
    with serving(HTTPServer(("127.0.0.1", 0), Hook)) as server:
        yield server


@pytest.fixture
def mail():
    with serving(socketserver.TCPServer(("127.0.0.1", 0), Mail)) as server:
        yield server


def configure(project, **alerts):
    """Write `alerts` into repro.yaml; open the project anew."""
    text = (project / "repro.yaml").read_text()
    (project / "repro.yaml").write_text(text + yaml.safe_dump({"alerts": alerts}))
    _open.cache_clear()
    return open_project(project)


def tick(project, opened, cursor) -> str:
    """One tick of the sensor; its cursor."""
    context = dg.build_sensor_context(
        instance=opening.instance_of(opened),
        cursor=cursor,
        resources={"project": ProjectResource(root=str(project))},
    )
    return send_alerts.evaluate_tick(context).cursor


LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC).isoformat()


def url(server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/hook/secret-part"


def tries(opened) -> list[dict]:
    return [e.payload for e in opened.ledger.events(PROJECT_CHAIN, kinds={"alert_tried"})]


def test_a_failed_stage_of_a_good_launch_is_told_once_everywhere(project, hook, mail, monkeypatch):
    monkeypatch.setenv("HOOK", url(hook))
    port = mail.server_address[1]
    email = {"sender": "r@x", "to": ["me@x"], "host": "127.0.0.1", "port": port, "security": "none"}
    opened = configure(project, webhook={"url_env": "HOOK"}, slack={"url": url(hook)}, email=email)
    make_bundle(project / "papers" / "bad", behaviour="exit")
    main(["run", "bad"])
    cursor = tick(project, opened, LONG_AGO)
    (plain,) = [m for m in hook.taken if m.get("stage") == "baseline"]
    assert plain["paper"] == "bad" and plain["about"] == "stage_failed"
    assert "the estimator diverged" in plain["reason"]
    assert any("the estimator diverged" in m.get("text", "") for m in hook.taken)
    assert any("Subject: [repro] bad, stage baseline" in m for m in mail.taken)
    blocked = {m.get("stage") for m in hook.taken} & {"report", "attribution"}
    assert blocked == set()

    sent = len(hook.taken) + len(mail.taken)
    tick(project, opened, LONG_AGO)  # even where the sensor forgot how far it was
    tick(project, opened, cursor)
    assert len(hook.taken) + len(mail.taken) == sent
    assert all(one["delivered"] for one in tries(opened))
    assert "secret-part" not in json.dumps(tries(opened))


def test_what_is_refused_is_tried_again_a_few_times_and_recorded(project, hook):
    hook.answer = 500
    opened = configure(project, webhook={"url": url(hook)}, tries=2)
    make_bundle(project / "papers" / "bad", behaviour="exit")
    main(["run", "bad"])
    tick(project, opened, LONG_AGO)
    first = tries(opened)
    assert first and not any(one["delivered"] for one in first)
    assert first[0]["sentence"] == "the webhook answered 500."
    assert due(opened, [], {"webhook"}, datetime.now(UTC)) == ()  # it rests first
    later = datetime.now(UTC) + timedelta(minutes=1)
    again = due(opened, [], {"webhook"}, later)
    assert {one.number for one in again} == {2} and len(again) == len(first)
    assert due(opened, [], {"webhook"}, later) == again

    from repro_pipeline.alerts import tried

    for one in again:
        opened.ledger.append(PROJECT_CHAIN, tried(one, "again"), actor="code:test")
    assert due(opened, [], {"webhook"}, later + timedelta(hours=9)) == ()  # given up


def test_a_launch_that_breaks_and_a_budget_nearly_spent_are_told(project, hook, monkeypatch):
    opened = configure(project, webhook={"url": url(hook)}, budget=0.5)
    make_bundle(project / "papers" / "tiny", budget={"wall_clock": "2s"})

    def breaks(*_: object, **__: object):
        raise RuntimeError("a fault of the pipeline")

    with monkeypatch.context() as broken:
        broken.setattr("assets.scores.score_and_record", breaks)
        main(["run", "tiny"])
    tick(project, opened, LONG_AGO)
    about = {m["about"]: m for m in hook.taken}
    assert "a fault of the pipeline" in about["run_failed"]["reason"]
    assert about["run_failed"]["paper"] == "tiny"
    assert about["budget"]["reason"] == "50% of the budget's wall_clock (2) is spent."


def test_a_budget_is_counted_as_it_is_enforced(project, opened):
    """The time is a launch's, not that of all; what was reserved and never settled is spent."""
    make_bundle(project / "papers" / "tiny")
    budget = Budget(wall_clock=10, tokens=100)
    for launch in ("a", "b", "c"):
        opened.ledger.append("tiny", stage_row(launch, seconds=4), actor="code:test")
    assert list(budget_alerts(opened, "tiny", budget, share=0.8)) == []
    reserved = ModelReserved(
        step="s",
        role="coder",
        ordinal=0,
        model="m",
        request="0" * 64,
        number=1,
        tokens=90,
        usd=None,
    )
    opened.ledger.append("tiny", reserved, actor="code:test")
    (alert,) = budget_alerts(opened, "tiny", budget, share=0.8)
    assert "tokens" in alert.reason


def stage_row(launch: str, *, seconds: float) -> StageFinished:
    return StageFinished(
        stage="baseline",
        inputs="0" * 64,
        status=Status.OK,
        output=None,
        code_version="1",
        launch=launch,
        seconds=seconds,
    )


def test_scores_that_fail_under_a_changed_rubric_are_told(project, hook):
    opened = configure(project, webhook={"url": url(hook)})
    make_bundle(project / "papers" / "off", scale=1.03)
    main(["run", "off"])
    cursor = tick(project, opened, LONG_AGO)
    assert hook.taken == []
    rubric = {"schema": 1, "dimensions": {"metric_parity": {"threshold": 0.01}}}
    (project / "rubric.yaml").write_text(yaml.safe_dump(rubric))
    assert main(["rescore", "--stale"]) == 0
    tick(project, opened, cursor)
    assert [(m["about"], m["paper"]) for m in hook.taken] == [("overall_fail", "off")]


def test_a_launch_that_someone_cancelled_is_no_fault(project, hook):
    """Ended before its worker began, Dagster counts it as failed in the end."""
    opened = configure(project, webhook={"url": url(hook)})
    instance = opening.instance_of(opened)
    for cancelled in (True, False):
        run = instance.create_run_for_job(build_definitions(project).resolve_job_def("sweep_paper"))
        if cancelled:
            instance.report_run_canceling(run)
        instance.report_run_failed(run, "marked as failed from outside")
    tick(project, opened, LONG_AGO)
    assert [m["launch"] for m in hook.taken] == [run.run_id]


def test_an_address_that_is_missing_is_said_and_nothing_is_sent_without_alerts(project, hook):
    opened = configure(project, webhook={"url_env": "NOT_THERE"})
    make_bundle(project / "papers" / "bad", behaviour="exit")
    main(["run", "bad"])
    tick(project, opened, LONG_AGO)
    assert "NOT_THERE is not set" in tries(opened)[0]["sentence"]
    assert hook.taken == []


def test_a_password_goes_in_clear_to_this_machine_alone(project, mail, monkeypatch):
    """By default it goes through TLS, and to nobody who offers none."""
    monkeypatch.setenv("MAIL_WORD", "secret-word")
    port = mail.server_address[1]
    known = {"sender": "r@x", "to": ["me@x"], "host": "127.0.0.1", "port": port}
    known |= {"user": "me", "password_env": "MAIL_WORD"}
    alert = Alert(about="sweep", paper="tiny", reason="Changed.")
    send = channels(Alerts.model_validate({"email": known}))["email"]
    with pytest.raises(ServiceError, match="STARTTLS"):
        send(alert)
    assert mail.taken == [] and not any(b"AUTH" in word for word in mail.told)
    with pytest.raises(ServiceError, match="took no mail"):  # no TLS where it is to begin with it
        channels(Alerts.model_validate({"email": {**known, "security": "ssl"}}))["email"](alert)
    assert not any(b"AUTH" in word for word in mail.told)
    clear = {**known, "security": "none"}
    channels(Alerts.model_validate({"email": clear}))["email"](alert)
    assert any(b"AUTH" in word for word in mail.told) and len(mail.taken) == 1


@pytest.mark.parametrize(
    ("alerts", "said"),
    [
        ("webhook: {url: 'http://x', url_env: X}", "url_env"),
        ("email: {sender: r@x, to: [m@x], host: m, user: r}", "password_env"),
        (
            "email: {sender: r@x, to: [m@x], host: mail.x, user: r, password_env: P, security: none}",
            "a password would be sent in clear",
        ),
    ],
)
def test_settings_that_are_wrong_are_refused(project, capsys, alerts, said):
    (project / "repro.yaml").write_text(f"alerts: {{{alerts}}}\n")
    assert main(["status"]) == 2
    assert said in capsys.readouterr().err
