"""Reproduce the numbers of machine-learning papers; the domain, free of any orchestrator.

A paper flows one way through these rooms: bundle -> paper -> claims -> lineage -> environment ->
experiment (in the sandbox) -> scoring -> report; the ledger remembers what happened in each.
"""

__version__ = "0.1.0"
