"""Nests folders so deep that common tools fail to remove them."""

import os

from attack import facts, finish

os.chdir(facts["out"])
for _ in range(300):
    os.mkdir("d")
    os.chdir("d")
finish()
