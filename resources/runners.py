"""The runner that a configuration names: that one or an error, never another."""

from __future__ import annotations

from repro_pipeline.config import Docker
from repro_pipeline.environment.interpreter import OWN
from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.ports import Images, Runner
from repro_pipeline.sandbox.names import RUNNERS


def make_runner(name: str, docker: Docker | None = None) -> Runner:
    """The runner of that name. Raises SandboxUnavailable where there is none, or it cannot run."""
    if name == "bubblewrap":
        from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner

        return BubblewrapRunner()
    if name == "docker":
        from resources.docker_runner import DockerRunner

        docker = docker or Docker()
        return DockerRunner(host=docker.host, image=docker.base_of(OWN))
    if name == "unsafe_local":
        from repro_pipeline.sandbox.local import UnsafeLocalRunner

        return UnsafeLocalRunner()
    raise SandboxUnavailable(
        f"there is no runner '{name}'.", hint=f"Choose one of {', '.join(RUNNERS)}."
    )


def make_images(runner: Runner, docker: Docker) -> Images | None:
    """Environments as images, where a runner runs in such."""
    if runner.name != "docker":
        return None
    from resources.docker_images import DockerImages

    return DockerImages(runner, docker)
