"""The container image that runs start in."""

from __future__ import annotations

from repro_pipeline.frozen import Frozen


class ContainerImage(Frozen):
    """An image in which an environment lies at `/env`."""

    id: str
    """Digest of its configuration, by which the engine knows it: sha256:…"""
    base: str
    """The name of the image that it was built upon."""
    base_id: str
    """Digest of that image's configuration."""
