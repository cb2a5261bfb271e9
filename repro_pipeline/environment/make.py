"""From a code folder to its built environment: requirements, lock, build."""

from __future__ import annotations
