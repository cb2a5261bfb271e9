"""Agents and models compared on papers whose right values are known: suites, trials, measures, cards."""
