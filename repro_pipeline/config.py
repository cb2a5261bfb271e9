"""`repro.yaml`: the one configuration file of a project."""

from __future__ import annotations

from datetime import date
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from repro_pipeline.bundle.task import Budget
from repro_pipeline.chat import Price
from repro_pipeline.frozen import Frozen
from repro_pipeline.quantities import Bytes, Fraction, Seconds, Share
from repro_pipeline.sandbox.names import RunnerName
from repro_pipeline.sandbox.policy import Limits
from repro_pipeline.stage_names import RUNNING_STAGES, STAGES
from repro_pipeline.status import AlertKind, FindingKind

CONFIG_NAME = "repro.yaml"
STAGE_SECONDS = 2 * 3600.0
"""Of reading, locking, scoring: longer than the largest paper needs, shorter than a night."""
MOST_SEEDS = 1000
"""Each is a run of every experiment."""

HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+")]


class Role(Frozen):
    """The model that plays a role, by its litellm name."""

    model: str
    api_base: HttpUrl | None = None
    """The endpoint, where it is not the provider's own. Keys come from the environment only."""
    temperature: Annotated[float, Field(ge=0)] | None = 0.0
    """`null` for the model's own."""
    max_output_tokens: Annotated[int, Field(gt=0)] = 8192
    context_tokens: Annotated[int, Field(gt=0)] | None = None
    """Longer prompts are shortened; by default as the provider says."""
    price: Price | None = None
    """US dollars per million tokens, for a model whose price is not known."""
    timeout: Seconds = 600
    """The longest wait for an answer."""


class Roles(Frozen):
    """One model per role. In the agent's loop the coder's plays the roles that have none."""

    reader: Role | None = None
    planner: Role | None = None
    coder: Role | None = None
    judge: Role | None = None

    def of(self, role: str) -> Role | None:
        """The role's model, else the coder's."""
        return getattr(self, role) or self.coder


class Agent(Frozen):
    """How an agent works that writes a paper's code."""

    packages: tuple[str, ...] = ("numpy", "scipy", "pandas", "scikit-learn", "pytest")
    """What its code can import; a task can add to it. They are locked before any code is written."""
    steps: Annotated[int, Field(ge=1)] = 60
    """Steps of the loop, where the budget does not say."""
    share: Fraction = 0.5
    """Of the budget's time, what the loop may take: the rest is for the runs that count."""


class SendToModels(Frozen):
    """What may leave this machine towards a model."""

    paper: bool = True
    code: bool = True
    logs: bool = True


class Fetch(Frozen):
    """How `repro add arxiv:…` and the like ask for papers."""

    arxiv: HttpUrl = "https://export.arxiv.org"
    """arXiv's host for programs, or a mirror."""
    interval: Seconds = 3
    """Between two requests to a host, by all processes of the user; arXiv asks for 3 seconds."""
    timeout: Seconds = 30
    """The longest silence of a server."""
    longest: Seconds = 600
    """The longest time that one file may take."""
    largest: Bytes = 200 << 20
    """The largest file."""


class LiteratureConfig(Frozen):
    """Where cited works are looked for. Without it in `repro.yaml` nothing is asked or fetched."""

    providers: tuple[Literal["openalex", "semantic_scholar", "arxiv", "crossref"], ...] = (
        "openalex",
        "semantic_scholar",
        "arxiv",
        "crossref",
    )
    """Asked in this order."""
    openalex: HttpUrl = "https://api.openalex.org"
    semantic_scholar: HttpUrl = "https://api.semanticscholar.org"
    arxiv: HttpUrl = "https://export.arxiv.org"
    crossref: HttpUrl = "https://api.crossref.org"
    github: HttpUrl = "https://api.github.com"
    top: Annotated[int, Field(ge=1, le=20)] = 3
    """How many of the highest ranked works are brought."""
    interval: Seconds = 3
    """Between two requests to a host, by all processes of the user."""
    timeout: Seconds = 30
    """The longest silence of a server."""
    longest: Seconds = 120
    """The longest time that one answer may take."""
    longest_pause: Seconds = 60
    """A server that asks for a longer pause is left alone."""


class Audit(Frozen):
    """What is looked for in the packages of environments (docs/environment.md)."""

    advisories: str | None = None
    """A folder of OSV records as JSON files, beside the few advisories that come with this package."""
    block: tuple[FindingKind, ...] = ()
    """Findings with which nothing is run; others are warnings."""


class Grobid(Frozen):
    """The GROBID server that PDFs are sent to."""

    url: HttpUrl
    concurrency: Annotated[int, Field(ge=1)] = 2
    """PDFs at the same time, by all processes of the user."""
    timeout: Seconds = 180
    """The longest wait for a PDF's answer."""
    tries: Annotated[int, Field(ge=1)] = 5
    """How often a PDF is sent to a server that is busy."""
    pause: Seconds = 5
    """Between two tries; it doubles each time."""


class Slots(Frozen):
    """Places for runs that all projects of a host share: no more run at the same time."""

    count: Annotated[int, Field(ge=1)] | None = None
    """By default one per CPU."""
    gpus: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """Graphics cards by number: one place each, whose run is given that card alone."""
    folder: str | None = None
    """Where the places' locks lie: one folder for all who share them. By default in the user's cache."""


class Docker(Frozen):
    """The engine and the images of the runner `docker`."""

    host: str | None = None
    """The engine's address, as unix:///var/run/docker.sock; by default DOCKER_HOST or that."""
    base: str = "python:{python}-slim"
    """The image that environments are built upon; `{python}` stands for its version, as 3.11."""

    def base_of(self, python: str) -> str:
        """The base image for a Python version (3.11, 3.11.7)."""
        return self.base.replace("{python}", python)


EnvironmentVariable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of one: secrets stand in no file."""


class Hook(Frozen):
    """An address that JSON is posted to."""

    url: HttpUrl | None = None
    url_env: EnvironmentVariable | None = None
    """The environment variable that holds the address, where knowing it is enough to post."""

    @model_validator(mode="after")
    def _one(self) -> Hook:
        if (self.url is None) == (self.url_env is None):
            raise ValueError("needs `url`, or `url_env`: the variable that holds it")
        return self


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own, and nobody listens on the way."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Email(Frozen):
    """A mail server, and who writes to whom. A password goes through TLS, or to this machine alone."""

    sender: str
    to: Annotated[tuple[str, ...], Field(min_length=1)]
    host: str
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """None: the usual one, 587 with STARTTLS, 465 with SSL, 25 with none."""
    security: Literal["starttls", "ssl", "none"] = "starttls"
    user: str | None = None
    """None: the server wants no login."""
    password_env: EnvironmentVariable | None = None

    @model_validator(mode="after")
    def _secret_on_the_way(self) -> Email:
        if self.user and not self.password_env:
            raise ValueError("`user` needs `password_env`: the variable that holds the password")
        if self.user and self.security == "none" and not is_loopback(self.host):
            raise ValueError(
                "a password would be sent in clear: take `security: starttls` or `ssl`"
            )
        return self


class Alerts(Frozen):
    """Who is told of what goes wrong. None of these by default: nothing is sent."""

    webhook: Hook | None = None
    slack: Hook | None = None
    """A Slack-compatible incoming webhook."""
    email: Email | None = None
    on: tuple[AlertKind, ...] = tuple(AlertKind)
    """A launch that broke; a stage that ended badly in whatever launch; scores that fail; a budget nearly
    spent; a sweep that came to another conclusion."""
    budget: Annotated[Share, Field(gt=0)] = 0.8
    """The share of a paper's budget at which it is told."""
    tries: Annotated[int, Field(ge=1)] = 5
    """How often an alert is sent that cannot be delivered; the pauses double, from 30 s."""


class Sweeps(Frozen):
    """When papers are reproduced again by themselves. Without a time none is."""

    cron: str | None = None
    """Fresh seeds, the locked environment."""
    fresh_dependencies_cron: str | None = None
    """Fresh seeds, and what the requirements resolve to at that time."""
    timezone: str = "UTC"
    papers: tuple[str, ...] = ()
    """None for every paper that was scored."""


class ProjectConfig(Frozen):
    """The whole of `repro.yaml`. Paths are relative to its folder."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    papers: str = "papers"
    rubric: str = "rubric.yaml"
    ledger: str = "sqlite:///.repro/ledger.sqlite"
    """An SQLAlchemy URL; `postgresql+psycopg://…` for PostgreSQL."""
    store: str = ".repro/store"
    """An fsspec URL or a folder."""
    runner: RunnerName = "bubblewrap"
    """`unsafe_local` runs code without a sandbox: it is recorded and shown in every report."""
    docker: Docker = Docker()
    workers: Annotated[int, Field(ge=1)] | None = None
    """Runs at the same time; by default one per CPU."""
    slots: Slots | None = None
    """Runs at the same time on this host, over all launches and projects. None: nothing is shared."""
    timeouts: dict[Literal[STAGES], Seconds] = {}
    """The longest time of a stage, by its name; see `timeout_of` for those that are not named."""
    seeds: Annotated[int, Field(ge=1, le=MOST_SEEDS)] = 5
    """Evaluation seeds per experiment, where the task fixes none."""
    limits: Limits = Limits()
    """Of one run."""
    budget: Budget = Budget()
    """Of one paper; a task can only lower it."""
    fetch: Fetch = Fetch()
    literature: LiteratureConfig | None = None
    """None: cited works are read from `references/` only; no service is asked for them."""
    as_of: date | Literal["paper"] | None = None
    """Packages are resolved as of this day, or of the end of the paper's year; None for today's."""
    audit: Audit = Audit()
    grobid: Grobid | None = None
    """None: PDFs are read without a service."""
    models: Roles = Roles()
    agent: Agent = Agent()
    send_to_models: SendToModels = SendToModels()
    alerts: Alerts = Alerts()
    sweeps: Sweeps = Sweeps()

    def timeout_of(self, stage: str) -> float | None:
        """The longest time of a stage, in seconds. None for stages that run code, unless they are named:
        their runs have limits, and the paper a budget."""
        return self.timeouts.get(stage, None if stage in RUNNING_STAGES else STAGE_SECONDS)


def find_project(start: Path) -> Path | None:
    """The nearest folder at or above `start` that holds `repro.yaml`; None where there is none."""
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder
    return None
