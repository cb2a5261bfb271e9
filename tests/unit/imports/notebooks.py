"""Notebooks as files."""

from __future__ import annotations

import json


def notebook(*cells: str | tuple[str, str], language: str = "python") -> str:
    """A notebook of code cells; a pair is a tag and a cell."""
    listed = []
    for cell in cells:
        tag, source = cell if isinstance(cell, tuple) else ("", cell)
        listed.append(
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {"tags": [tag]} if tag else {},
                "outputs": [],
                "source": source.splitlines(keepends=True),
            }
        )
    prose = {"cell_type": "markdown", "metadata": {}, "source": ["# A study"]}
    return json.dumps(
        {
            "cells": [prose, *listed],
            "metadata": {
                "kernelspec": {"name": "an-old-one", "language": language, "display_name": "x"}
            },
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    )
