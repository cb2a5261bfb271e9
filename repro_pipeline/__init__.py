"""Reproduce the numbers of machine-learning papers; the domain, free of any orchestrator.

A paper flows one way through these rooms: bundle -> paper -> claims -> lineage -> environment ->
experiment (in the sandbox) -> scoring -> report; the ledger remembers what happened in each.
"""

__version__ = "0.1.0"


def __getattr__(name: str):
    """`open_project`, on first use: the domain imports this package, and must not reach what that needs."""
    if name == "open_project":
        from importlib import import_module

        return import_module("repro_pipeline.api").open_project
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
