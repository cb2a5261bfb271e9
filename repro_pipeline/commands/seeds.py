"""How many seeds a command draws."""

from __future__ import annotations

import argparse


def add_seeds(one: argparse.ArgumentParser, text: str, *, least: int = 1) -> None:
    """Add `--seeds`, by default 5."""

    def count(said: str) -> int:
        from repro_pipeline.config import MOST_SEEDS

        if not (len(said) < 9 and said.isdecimal() and least <= int(said) <= MOST_SEEDS):
            raise argparse.ArgumentTypeError(
                f"it is a number from {least} to {MOST_SEEDS}: each seed is a run of every experiment."
            )
        return int(said)

    one.add_argument("--seeds", type=count, default=5, metavar="N", help=f"{text} (default 5)")
