"""Cheating submissions must not come out clean; honest ones must not be accused.

    pytest tests/cheats -m "not slow"    a fixed sample: three kinds of each family, nine honest
    pytest tests/cheats                  all of them, with the table at the end
    python tests/cheats/test_cheats.py   lists them

Each is built anew, its claimed runs executed, and scored by the command as a user would.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import cheats_invented
import cheats_learning
import cheats_machinery
import cheats_records
import cheats_unread
import honest_styles
import honest_submissions
import pytest
from cheat_submissions import Submission, build, claimed_values
from cheat_worlds import World

FAMILIES = (cheats_invented, cheats_learning, cheats_records, cheats_machinery)
CHEATS = [one for family in (*FAMILIES, cheats_unread) for one in family.SUBMISSIONS]
HONEST = [*honest_submissions.SUBMISSIONS, *honest_styles.SUBMISSIONS]
STATUSES = ("clean", "unverified", "suspect", "violation")


def _sample() -> set[str]:
    """Three kinds of each family of cheats and eight honest ones, the same each time; of code where
    nobody reads one, and one honest style.
    """
    rng = random.Random(11)
    names = {one.name for one in rng.sample(honest_submissions.SUBMISSIONS, 8)}
    names |= {"cell-of-a-notebook", "code-made-by-code"}
    for family in FAMILIES:
        by_kind: dict[str, list[str]] = {}
        for cheat in family.SUBMISSIONS:
            by_kind.setdefault(cheat.kind, []).append(cheat.name)
        names |= {rng.choice(by_kind[kind]) for kind in rng.sample(sorted(by_kind), 3)}
    return names


SAMPLE = _sample()


def _params(submissions: list[Submission]) -> list:
    return [
        pytest.param(one, id=one.name, marks=() if one.name in SAMPLE else pytest.mark.slow)
        for one in submissions
    ]


def score(bundle: Path, submission: Path) -> dict:
    """What `repro score --json` prints."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "repro_pipeline.cli", "score", "--json"),
            *("--bundle", str(bundle), "--submission", str(submission)),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=submission.parent,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def told(result: dict) -> str:
    """Status and graver findings in one line."""
    integrity = result["integrity"]
    kinds = {
        f"{f['kind']} ({f['severity']})" for f in integrity["findings"] if f["severity"] != "info"
    }
    return f"{integrity['status']}: {', '.join(sorted(kinds)) or 'no finding'}"


@pytest.fixture(scope="session")
def table(request: pytest.FixtureRequest) -> Iterator[dict[str, tuple[Submission, dict]]]:
    """Every scored submission; printed when the session ends."""
    rows: dict[str, tuple[Submission, dict]] = {}
    yield rows
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print("\n" + confusion(rows))


def graver(result: dict) -> set[str]:
    """Kinds of the findings above mere information."""
    return {f["kind"] for f in result["integrity"]["findings"] if f["severity"] != "info"}


def confusion(rows: dict[str, tuple[Submission, dict]]) -> str:
    """A line per submission, and the counts of statuses.

    A cheat of which nothing is found but what honest submissions of its paper get too is marked `~`:
    it is caught by the rule, and by nothing that it did.
    """
    lines = []
    counts = {side: dict.fromkeys(STATUSES, 0) for side in ("cheat", "honest")}
    common: dict[str, set[str]] = {}
    for one, result in rows.values():
        if one.honest:
            common.setdefault(one.world.paper, set()).update(graver(result))
    weak = 0
    for one, result in rows.values():
        side = "honest" if one.honest else "cheat"
        counts[side][result["integrity"]["status"]] += 1
        as_honest = not one.honest and graver(result) <= common.get(one.world.paper, set())
        weak += as_honest
        mark = "~" if as_honest else " "
        lines.append(f"{side:6} {mark} {one.name:26} {one.kind:44} {told(result)}")
    lines += [f"{'':8}" + " ".join(f"{status:>10}" for status in STATUSES)]
    lines += [
        f"{side:8}" + " ".join(f"{n:10}" for n in row.values()) for side, row in counts.items()
    ]
    return "\n".join([*lines, f"cheats with no finding of their own: {weak}"])


@pytest.mark.parametrize("submission", _params(CHEATS))
def test_a_cheat_is_not_clean(submission: Submission, tmp_path: Path, table: dict) -> None:
    result = score(*build(submission, tmp_path))
    table[submission.name] = submission, result
    assert result["integrity"]["status"] != "clean", submission.what


@pytest.mark.parametrize("submission", _params(HONEST))
def test_an_honest_submission_is_not_accused(
    submission: Submission, tmp_path: Path, table: dict
) -> None:
    result = score(*build(submission, tmp_path))
    table[submission.name] = submission, result
    assert result["integrity"]["status"] in ("clean", "unverified"), told(result)


# The suite itself: a cheat that gains nothing would be caught for nothing.


@pytest.fixture(scope="session")
def honest_values(tmp_path_factory: pytest.TempPathFactory):
    """The claimed values of a world's honest submission, made once."""
    made: dict[str, dict[str, list[float]]] = {}

    def of(world: World) -> dict[str, list[float]]:
        if world.name not in made:
            plain = Submission("honest", "", "", world, honest=True)
            _, home = build(plain, tmp_path_factory.mktemp(world.name))
            made[world.name] = claimed_values(home)
        return made[world.name]

    return of


def gains(world: World, claimed: dict[str, list[float]], honest: dict[str, list[float]]) -> bool:
    """Whether some claim's mean is nearer to the printed value, or better, than honest work gets."""
    for claim, values in claimed.items():
        printed, mean, fair = world.value(claim), fmean(values), fmean(honest[claim])
        better = {"lower": mean < fair, "higher": mean > fair, "match": False}
        if abs(mean - printed) < abs(fair - printed) or better[world.direction(claim)]:
            return True
    return False


@pytest.mark.parametrize("submission", _params(CHEATS))
def test_a_cheat_gains(submission: Submission, tmp_path: Path, honest_values) -> None:
    _, home = build(submission, tmp_path)
    assert gains(submission.world, claimed_values(home), honest_values(submission.world))


def test_the_honest_gain_nothing(honest_values, tmp_path: Path) -> None:
    plain = honest_submissions.SUBMISSIONS[0]
    _, home = build(plain, tmp_path)
    assert not gains(plain.world, claimed_values(home), honest_values(plain.world))


def test_the_suite_is_large_and_its_names_are_its_own() -> None:
    names = [one.name for one in [*CHEATS, *HONEST]]
    assert len(set(names)) == len(names)
    assert len(CHEATS) >= 45
    assert len(HONEST) >= 28


if __name__ == "__main__":
    for one in [*CHEATS, *HONEST]:
        print(f"{'honest' if one.honest else 'cheat':6} {one.name:26} {one.kind:44} {one.what}")
