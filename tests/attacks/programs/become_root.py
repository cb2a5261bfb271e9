"""Becomes root."""

import os
import subprocess

from attack import attempt, breach, finish

with attempt("taking user 0"):
    os.setresuid(0, 0, 0)
with attempt("taking other groups"):
    os.setgroups([0])
for program in ("/bin/su", "/usr/bin/newgrp", "/usr/bin/mount"):
    if os.path.exists(program):
        done = subprocess.run(
            [program, *(["-c", "id -u"] if "su" in program else [])],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.stdout.strip() == "0":
            breach(f"{program} gave root")
finish()
