"""Reads how the sandbox was made: paths and variables of the host in its command line."""

from pathlib import Path

from attack import breach, facts, finish

line = Path("/proc/1/cmdline").read_text() + Path("/proc/self/cmdline").read_text()
if facts["host_workdir"] in line or facts["host_out"] in line:
    breach("paths of the host are in a command line")
finish()
