"""Where alerts go: a webhook, a Slack-compatible webhook, mail. Secrets are read from the environment.

Mail goes through the standard library: what Dagster has for it knows launches alone, and a reproduction
that failed is a good launch.
"""

from __future__ import annotations

import os
import smtplib
import ssl
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from functools import partial

from repro_pipeline.alerts import Alert
from repro_pipeline.config import Alerts, Email, Hook
from repro_pipeline.errors import ServiceError

SECONDS = 10.0
"""The longest wait for a server."""
_PORTS = {"starttls": 587, "ssl": 465, "none": 25}

Send = Callable[[Alert], None]
"""Raises ServiceError where the alert was not taken."""


def channels(config: Alerts) -> Mapping[str, Send]:
    """The configured channels by name."""
    found: dict[str, Send] = {}
    if config.webhook:
        found["webhook"] = partial(_post, config.webhook, _plain)
    if config.slack:
        found["slack"] = partial(_post, config.slack, _slack)
    if config.email:
        found["email"] = partial(_mail, config.email)
    return found


def _plain(alert: Alert) -> dict:
    return {"id": alert.id, "title": alert.title, "hint": alert.hint, **alert.model_dump()}


def _slack(alert: Alert) -> dict:
    # Slack's three control characters, as its documentation says to escape them.
    reason = alert.reason.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": f"*{alert.title}*\n{reason}\n`{alert.hint}`"}


def _post(hook: Hook, shape: Callable[[Alert], dict], alert: Alert) -> None:
    import requests

    url = hook.url or _secret(hook.url_env)
    try:
        answer = requests.post(url, json=shape(alert), timeout=SECONDS, allow_redirects=False)
    except requests.RequestException as error:
        # The error's text holds the address, which may be a secret.
        raise ServiceError(f"the webhook does not answer ({type(error).__name__}).") from None
    if not answer.ok or answer.is_redirect:
        raise ServiceError(f"the webhook answered {answer.status_code}.")


def _mail(config: Email, alert: Alert) -> None:
    message = EmailMessage()
    message["From"], message["To"] = config.sender, ", ".join(config.to)
    message["Subject"] = f"[repro] {alert.title}"
    message["Message-ID"] = f"<{alert.id}@repro>"
    message.set_content(f"{alert.reason}\n\nLook: {alert.hint}\n")
    secure = ssl.create_default_context()
    connect = (
        partial(smtplib.SMTP_SSL, context=secure) if config.security == "ssl" else smtplib.SMTP
    )
    try:
        port = config.port or _PORTS[config.security]
        with connect(config.host, port, timeout=SECONDS) as server:
            if config.security == "starttls":
                server.starttls(context=secure)  # raises where it is refused: nothing goes in clear
            if config.user:
                server.login(config.user, _secret(config.password_env))
            server.send_message(message)
    except smtplib.SMTPNotSupportedError as error:
        raise ServiceError(
            f"the mail server does not do what `alerts: email:` asks for: {error}",
            hint="See `security` and `port` there.",
        ) from None
    except (OSError, smtplib.SMTPException) as error:
        raise ServiceError(f"the mail server took no mail ({type(error).__name__}).") from None


def _secret(variable: str | None) -> str:
    value = os.environ.get(variable or "")
    if not value:
        raise ServiceError(
            f"the environment variable {variable} is not set.",
            where="alerts in repro.yaml",
            hint="Set it where the daemon runs.",
        )
    return value
