"""One run: least squares, the LARS path and its Cp on the diabetes data. Nothing in it is random.

    python experiment.py --config configs/diabetes.json --seed 0 --out DIR

writes DIR/metrics.json. The configuration names the data file under `data`; the seed has no effect.
"""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from paths import cp, least_squares, path, standardise

PREDICTORS = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
RESPONSE = "progression"


@dataclass(frozen=True)
class Config:
    """The settings of one experiment."""

    data: dict[str, str]
    """`diabetes`: a CSV file with the columns above."""
    divisor: str
    """Of the error variance in Cp: `residual` degrees of freedom, or number of `cases`."""
    sample: bool = False
    """Set by whoever starts the small first run; this one is small as it is."""

    def __post_init__(self) -> None:
        if self.divisor not in ("residual", "cases"):
            raise ValueError(f"divisor is {self.divisor!r}, must be residual or cases")
        if "diabetes" not in self.data:
            raise ValueError("data names no file `diabetes`")


def read_data(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Predictors (n, 10) and response (n,). Raises ValueError where a column is absent."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    absent = [name for name in (*PREDICTORS, RESPONSE) if not rows or name not in rows[0]]
    if absent:
        raise ValueError(f"no column {', '.join(absent)}")
    table = np.array([[float(row[name]) for name in (*PREDICTORS, RESPONSE)] for row in rows])
    return table[:, :-1], table[:, -1]


def run(config: Config) -> dict:
    """The content of metrics.json."""
    data = standardise(*read_data(Path(config.data["diabetes"])))
    coefficients = least_squares(data)
    lars = path(data, "lar")
    values = {
        **{f"ols-{name}": b for name, b in zip(PREDICTORS, coefficients, strict=True)},
        **{f"entry-{name}": k for name, k in zip(PREDICTORS, lars.entry_steps(), strict=True)},
        "ols-length": np.abs(coefficients).sum(),
        "cp-minimum": np.argmin(cp(data, lars, config.divisor)),
        "lars-steps": lars.steps,
        "lasso-steps": path(data, "lasso").steps,
    }
    return {
        "metrics": [{"claim": claim, "value": float(value)} for claim, value in values.items()],
        "notes": f"{len(data.y)} patients",
    }


def read_config(file: Path) -> Config:
    """Reads a configuration file. Raises ValueError on an unknown, missing or impossible setting."""
    settings = json.loads(file.read_text(encoding="utf-8"))
    unknown = sorted(set(settings) - {field.name for field in fields(Config)})
    if unknown:
        raise ValueError(f"unknown setting {', '.join(unknown)}")
    try:
        return Config(**settings)
    except TypeError as error:
        raise ValueError(str(error)) from error


def main() -> None:
    """Command line of one run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        result = run(read_config(arguments.config))
    except (OSError, ValueError) as error:
        parser.error(f"{arguments.config}: {error}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "metrics.json"
    file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
