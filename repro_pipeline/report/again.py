"""`reproduce.sh` beside a report: runs again what the report rests on, from the stored code and lock."""

from __future__ import annotations

import shlex

from repro_pipeline.report.model import ReportData

SCRIPT = "reproduce.sh"


def script(data: ReportData) -> str | None:
    """The script; None where no code was frozen or no environment was built.

    It takes the code tree, the lock, the configurations and the seeds out of the project's store
    (`repro export`), and stops where the project has gone on to other code or another lock.
    """
    code, built = data.evidence.code_tree, data.evidence.environment
    if code is None or built is None:
        return None
    paper = shlex.quote(data.paper)
    return f"""#!/bin/sh
# Runs again, in a new folder, what this report rests on. Start it within the project:
#   sh reports/{data.paper}/{SCRIPT} [FOLDER [SEED...]]
# Without seeds, those of the report. The code runs WITHOUT a sandbox.
set -eu
command -v repro >/dev/null || {{
  echo "The command repro is not on PATH: add the folder that holds it." >&2
  exit 1
}}
code={code}
lock={built.lock.sha256}
folder=${{1:-{paper}-again}}
[ "$#" -eq 0 ] || shift
repro export {paper} --format capsule --out "$folder"
for digest in "$code" "$lock"; do
  grep -q "$digest" "$folder/environment/runs.json" || {{
    echo "The project has gone on: $digest is not what $folder holds." >&2
    exit 1
  }}
done
exec sh "$folder/{SCRIPT}" "$@"
"""
