"""Places for runs that everything on this host shares: locked files, freed by the death of their holder.

A run takes a place before it starts, whichever project, launch or container it belongs to (containers,
where they share the folder). With GPUs there is one place for each, and a run sees that one alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from repro_pipeline.config import Slots
from resources.user_cache import cache_folder, one_of


def make_slots(config: Slots | None) -> HostSlots | Unlimited:
    """The places that a configuration names; without one, as many as are asked for."""
    return Unlimited() if config is None else HostSlots(config)


class Unlimited:
    """`ports.Slots` where nothing is shared."""

    @contextmanager
    def hold(
        self, given_up: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, ...] | None]:
        """A place at once, without a graphics card."""
        yield None if given_up() else ()


class HostSlots:
    """`ports.Slots` in a folder."""

    def __init__(self, config: Slots) -> None:
        folder = Path(config.folder) if config.folder else cache_folder() / "slots"
        count = config.count or len(os.sched_getaffinity(0))
        self._places: dict[Path, tuple[int, ...]] = {
            folder / f"gpu-{gpu}.lock": (gpu,) for gpu in config.gpus
        } or {folder / f"{number}.lock": () for number in range(count)}

    @contextmanager
    def hold(
        self, given_up: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, ...] | None]:
        """Hold a place: the graphics cards of its run; None where it was given up before one was free."""
        with one_of(list(self._places), given_up=given_up) as place:
            yield self._places[place] if place else None
