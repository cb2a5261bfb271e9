"""Experiments and their runs: the specification, the run contract, seeds, metrics."""
