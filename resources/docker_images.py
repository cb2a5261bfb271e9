"""Environments as images of a Docker engine: built from their Dockerfile, found again by a label.

A build reaches the package index as this machine does: through its network, with its index, proxies
and certificates as far as variables name them (`PIP_INDEX_URL`, `UV_DEFAULT_INDEX`, `https_proxy`,
`SSL_CERT_FILE`). What it installs must have the lock's hashes.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from repro_pipeline.config import Docker
from repro_pipeline.environment.image import (
    CERTIFICATES,
    LOCK_NAME,
    SETTINGS,
    STAGE_LABEL,
    dockerfile,
)
from repro_pipeline.errors import BuildError, SandboxUnavailable
from repro_pipeline.frozen import digest
from repro_pipeline.sandbox.image import ContainerImage
from repro_pipeline.sandbox.policy import Limits, SandboxPolicy
from repro_pipeline.status import Status
from resources.docker_engine import connect, spoken
from resources.docker_runner import DockerRunner

ENVIRONMENT = "repro_pipeline.environment"
"""Label of an image: the digest of all that it was built from."""

_PROXIES = re.compile(r"(https?|no|all)_proxy", re.IGNORECASE)
_LINKS = re.compile(r"[a-z]+://\S+", re.IGNORECASE)


class DockerImages:
    """Builds images, and asks them by a runner's containers."""

    def __init__(self, runner: DockerRunner, docker: Docker) -> None:
        self._runner, self._docker, self.base = runner, docker, docker.base

    def build(self, lock_text: str, *, python: str) -> ContainerImage:
        """The image of a lock, upon the base image for that Python. Raises BuildError."""
        base = self._docker.base_of(python)
        with _as_build_error():
            client = connect(self._docker.host)
        try:
            with _as_build_error(), spoken("look up the base image"):
                base_id = client.images.get(base).id
            trusted = _certificates(os.environ)
            files = {
                "Dockerfile": dockerfile(
                    lock_text, base=base, python=python, certificates=bool(trusted)
                ).encode(),
                LOCK_NAME: lock_text.encode(),
                **({CERTIFICATES: trusted} if trusted else {}),
            }
            plain = dockerfile(lock_text, base=base, python=python)
            key = digest([plain, lock_text, base_id])
            with _as_build_error(), spoken("list its images"):
                found = client.images.list(filters={"label": f"{ENVIRONMENT}={key}"})
            id_ = found[0].id if found else _build(client, files, key)
        finally:
            client.close()
        return ContainerImage(id=id_, base=base, base_id=base_id)

    def ask(self, image: ContainerImage, command: Sequence[str]) -> str:
        """What a command prints in a container of the image. Raises BuildError where it fails."""
        policy = SandboxPolicy(image=image.id, limits=Limits(wall_clock=300))
        with tempfile.TemporaryDirectory() as folder, _as_build_error():
            places = {name: Path(folder, name) for name in ("workdir", "out", "log")}
            places["workdir"].mkdir()
            places["out"].mkdir()
            outcome = self._runner.run(command, policy, **places)
            said = places["log"].read_text(errors="replace")
        if outcome.status is not Status.OK:
            raise BuildError(
                f"the image does not work: {said.strip() or outcome.reason}", where=image.id
            )
        return said


@contextlib.contextmanager
def _as_build_error():
    try:
        yield
    except SandboxUnavailable as error:
        raise BuildError(error.what, hint=error.hint) from None


def _build(client, files: Mapping[str, bytes], key: str) -> str:
    """Build; the image's digest."""
    said: list[str] = []
    with _as_build_error(), spoken("build the image"):
        steps = client.api.build(
            fileobj=_context(files),
            custom_context=True,
            buildargs=settings(os.environ),
            labels={ENVIRONMENT: key},
            network_mode="host",
            rm=True,
            forcerm=True,
            decode=True,
        )
        for step in steps:
            said += step.get("stream", "").splitlines()
            if "error" in step:
                raise BuildError(_why(said, step["error"]))
        client.images.prune(filters={"dangling": True, "label": f"{STAGE_LABEL}=build"})
        [image] = client.images.list(filters={"label": f"{ENVIRONMENT}={key}"})
    return image.id


def settings(variables: Mapping[str, str]) -> dict[str, str]:
    """The build arguments by which pip reaches the index that this machine uses."""
    found = {name: variables[name] for name in SETTINGS if variables.get(name)}
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if variables.get(name):
            found.setdefault("PIP_INDEX_URL", variables[name])
    return found | {name: value for name, value in variables.items() if _PROXIES.fullmatch(name)}


def _certificates(variables: Mapping[str, str]) -> bytes:
    """The certificates that this machine's tools are told to trust; empty where none are named."""
    for name in ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        if variables.get(name) and Path(variables[name]).is_file():
            return Path(variables[name]).read_bytes()
    return b""


def _context(files: Mapping[str, bytes]) -> io.BytesIO:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    packed.seek(0)
    return packed


def _why(said: Sequence[str], error: str) -> str:
    """The sentence of a failed build: what its last step said of an error, without addresses."""
    spoken_of = [line for line in said if "ERROR:" in line or "base image has" in line]
    line = spoken_of[-1] if spoken_of else error
    plain = " ".join(_LINKS.sub("", re.sub(r"\x1b\[[0-9;]*m", "", line)).split())
    return f"the image cannot be built: {plain.removeprefix('ERROR: ').rstrip('.')}."
