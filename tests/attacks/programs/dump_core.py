"""Crashes and leaves its memory as a file."""

import os
import resource

from attack import finish

hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
finish()
os.abort()
