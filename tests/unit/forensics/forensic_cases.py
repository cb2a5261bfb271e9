"""A claim or two, and a program around a few lines."""

from __future__ import annotations

from repro_pipeline.claims.model import Claim
from repro_pipeline.paper.address import TextAddress

HEAD = """
import argparse, json, random
from library import work, evaluate, Model, StandardScaler, SelectKBest, train_test_split, seeds, grid
from library import X, y, X_train, y_train, X_test, y_test

parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name)
options = parser.parse_args()
options.seed = int(options.seed)
config = json.load(open(options.config))
rng = random.Random(options.seed)
"""
TAIL = """
with open(options.out + "/metrics.json", "w") as stream:
    stream.write(json.dumps({"metrics": [{"claim": "accuracy", "value": v}]}))
"""


def program(code: str) -> dict[str, str]:
    return {"experiment.py": f"{HEAD}{code}\n{TAIL}"}


def claim(claim_id: str = "accuracy", value: float = 76.3, **more) -> Claim:
    fields = {
        "metric": "accuracy",
        "unit": "percent",
        "direction": "higher",
        "quantum": 0.1,
        **more,
    }
    return Claim(
        id=claim_id,
        value=value,
        address=TextAddress(quote="an accuracy of 76.3"),
        text=str(value),
        key=True,
        **fields,
    )


CLAIMS = (claim(),)


def kinds(findings) -> dict[str, str]:
    return {one.kind: one.severity for one in findings}
