"""Changes its input data in every way that leaves a name in place."""

import os
from pathlib import Path

from attack import attempt, facts, finish

data = Path(facts["data"])
with attempt("appending to the data"), data.open("ab") as stream:
    stream.write(b"x")
with attempt("truncating the data"):
    os.truncate(data, 0)
with attempt("removing the data"):
    data.unlink()
with attempt("changing the mode of the data"):
    data.chmod(0o777)
with attempt("changing the times of the data"):
    os.utime(data, (0, 0))
finish()
