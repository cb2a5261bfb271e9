"""Signals processes of the host."""

import ctypes
import os

from attack import attempt, breach, facts, finish

with attempt("signalling the launcher"):
    os.kill(facts["pid"], 0)
if ctypes.CDLL(None).syscall(434, facts["pid"], 0) >= 0:
    breach("a descriptor of the launcher can be had")
finish()
