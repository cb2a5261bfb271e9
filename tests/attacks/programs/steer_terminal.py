"""Prints what steers terminals and confuses decoders."""

import os

from attack import finish

os.write(1, b"\x1b[2J\x1b]0;owned\x07\x1b[31mred\x9b31m\r overwritten\x00\xff\xfe\x08\x08\n")
finish()
