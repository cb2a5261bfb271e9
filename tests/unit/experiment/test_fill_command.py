"""The command of a run: each place filled in, and code that knows no contract run as it is."""

import pytest

from repro_pipeline.experiment.command import fill_command

PLACES = {"python": "/env/python", "config": "/c.json", "seed": "7", "out": "/o", "data": {}}
CONTRACT = ["--config", "/c.json", "--seed", "7", "--out", "/o"]


@pytest.mark.parametrize(
    ("command", "contract", "filled"),
    [
        (["python", "run.py"], True, ["/env/python", "run.py", *CONTRACT]),
        (["python3", "run.py"], False, ["/env/python", "run.py"]),
        (["./run", "python"], False, ["./run", "python"]),
        (["./run", "-s{seed}"], True, ["./run", "-s7"]),
        (["./run", "{out}/x", "{seed}"], False, ["./run", "/o/x", "7"]),
        (["./run", "{config}", "{seed}", "{out}"], True, ["./run", "/c.json", "7", "/o"]),
        (["awk", "{print}"], False, ["awk", "{print}"]),
    ],
)
def test_a_command_is_filled_in(command, contract, filled):
    assert fill_command(command, PLACES, contract=contract) == filled


def test_data_have_their_places():
    one = {**PLACES, "data": {"d": "/data/d.csv"}}
    two = {**PLACES, "data": {"d": "/data/d.csv", "e": "/data/e.csv"}}
    assert fill_command(["x", "{data}"], one) == ["x", "/data/d.csv"]
    assert fill_command(["x", "{data.e}", "{data.d}"], two) == ["x", "/data/e.csv", "/data/d.csv"]
