"""Run the official RO-Crate validator on a crate, without a network; in an environment that has
`roc-validator` and `rocrate`.

The validator fetches the JSON-LD contexts that a crate names. Here they are served from what is at
hand: for RO-Crate 1.1 the context that the package `rocrate` carries (of a later version, which maps
these terms, but for four), for Workflow Run RO-Crate the terms that exports use.

Usage: python validate_crate.py CRATE [required|recommended]
"""

import json
import sys
from importlib.resources import files

import requests
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester
from rocrate_validator.utils.uri import URI

TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
CRATE = json.loads((files("rocrate") / "data" / "ro-crate.jsonld").read_text())["@context"]
CRATE |= {  # as version 1.1 has them
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": "https://bioschemas.org/ComputationalWorkflow#input",
    "output": "https://bioschemas.org/ComputationalWorkflow#output",
}
CONTEXTS = {
    "https://w3id.org/ro/crate/1.1/context": json.dumps({"@context": CRATE}),
    "https://w3id.org/ro/terms/workflow-run/context": json.dumps({"@context": TERMS}),
}


def served(_requester, url, **_options):
    """What a server of contexts would answer."""
    answer = requests.Response()
    answer.status_code = 200 if url in CONTEXTS else 404
    answer._content = CONTEXTS.get(url, "").encode()
    answer.headers["Content-Type"] = "application/ld+json"
    return answer


HttpRequester.get = HttpRequester.head = served
result = services.validate(
    services.ValidationSettings(
        rocrate_uri=URI(sys.argv[1]),
        profile_identifier="workflow-run-crate-0.5",
        requirement_severity=models.Severity[sys.argv[2].upper() if sys.argv[2:] else "REQUIRED"],
        skip_availability_check=True,
    )
)
print(
    json.dumps(
        {
            "checks": len(result.executed_checks),
            "issues": [
                f"{issue.severity.name} {issue.check.identifier}: {issue.message} "
                f"({issue.violatingEntity}, {issue.violatingProperty})"
                for issue in result.get_issues(models.Severity.OPTIONAL)
            ],
        }
    )
)
