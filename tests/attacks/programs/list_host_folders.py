"""Lists the folders of the host in which people keep things."""

import os

from attack import attempt, facts, finish

for folder in facts["hidden_folders"]:
    with attempt(f"listing {folder}"):
        os.listdir(folder)
finish()
