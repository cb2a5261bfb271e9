"""Old scores against new ones: what came out otherwise, and which setting of the rubric made it so.

A cause is computed, not guessed: the evidence is scored again under the old rubric with one changed
setting alone. What no setting brings about alone is laid to those without which it would not be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Frozen, Sha256, digest
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.scoring.model import Scores
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.wording import counted, plain

Kind = Literal["overall", "integrity", "dimension", "claim", "pair"]
States = Mapping[tuple[Kind, str], str]

_OTHER_PROGRAM = "the program or the attempts that it looks at"
_NO_SCORES = ("review.", "schema")
"""Settings that no score depends on."""


class SettingChange(Frozen):
    """A setting of the rubric that differs."""

    path: str
    """As in `rubric.yaml`: `dimensions.metric_parity.threshold`."""
    before: str
    after: str

    @property
    def sentence(self) -> str:
        """`metric_parity.threshold 0.05 → 0.02`."""
        return f"{self.path.removeprefix('dimensions.')} {self.before} → {self.after}"


class OutcomeChange(Frozen):
    """An outcome that differs."""

    kind: Kind
    name: str
    before: str | None
    """None where there was none: a new claim."""
    after: str | None
    how: Literal["alone", "together", "evidence", "program"]
    """`alone`: each of the causes suffices. `together`: none does, and none can be missed.
    `evidence`: the old rubric gives the new outcome, from new evidence. `program`: from the same."""
    causes: tuple[str, ...]
    """Paths of settings; none for `evidence` and `program`."""


class ScoreChange(Frozen):
    """Two scorings of a paper, one after the other."""

    paper: str
    before: Sha256
    """The scores as stored."""
    after: Sha256
    rubric_before: Sha256
    rubric_after: Sha256
    same_evidence: bool
    settings: tuple[SettingChange, ...]
    outcomes: tuple[OutcomeChange, ...]

    @property
    def sentence(self) -> str:
        """What changed, in one line."""
        by_kind = {
            noun: sum(one.kind == kind for one in self.outcomes)
            for kind, noun in (("claim", "claim"), ("dimension", "dimension"), ("pair", "pair"))
        }
        said = [counted(count, noun) for noun, count in by_kind.items() if count]
        said += [
            f"{one.kind} {one.before} → {one.after}"
            for one in self.outcomes
            if one.kind in {"overall", "integrity"}
        ]
        what = f"{', '.join(said)} changed" if said else "no outcome changed"
        named = {path for one in self.outcomes for path in one.causes}
        causes = [one.sentence for one in self.settings if one.path in named]
        causes += [] if self.same_evidence else ["other evidence"]
        because = f" ({'; '.join(causes)})" if causes else ""
        return f"{what}{because}."

    def why(self, one: OutcomeChange) -> str:
        """The causes of a change in words."""
        said = {setting.path: setting.sentence for setting in self.settings}
        named = [said[path] for path in one.causes]
        if one.how == "alone":
            return " or ".join(named) + (", either alone" if len(named) > 1 else "")
        if one.how == "together":
            return " and ".join(named) + " together" if named else "all changed settings together"
        return "other evidence" if one.how == "evidence" else _OTHER_PROGRAM


def compare(
    evidence: Evidence,
    attempts: Sequence[Attempt],
    old: tuple[Scores, Rubric],
    new: tuple[Scores, Rubric],
    *,
    stored: tuple[Sha256, Sha256] | None = None,
) -> ScoreChange:
    """What the new scores say otherwise than the old ones, with the causes.

    `evidence` and `attempts` are what the new scores rest on; `stored` the digests of old and new
    scores where they are kept. Scores the evidence anew for each setting that changed, and again
    without each where none suffices.
    """
    (old_scores, old_rubric), (new_scores, new_rubric) = old, new
    settings = tuple(changed_settings(old_rubric, new_rubric))
    before, after = states(old_scores), states(new_scores)
    same = old_scores.evidence == new_scores.evidence

    @cache
    def with_settings(paths: frozenset[str]) -> States:
        rubric = _mixed(old_rubric, new_rubric, paths)
        return states(score(evidence, rubric, new_scores.rubric, attempts))

    outcomes = []
    for key in dict.fromkeys((*after, *before)):
        if before.get(key) != after.get(key):
            how, causes = _cause(key, after.get(key), settings, with_settings, same)
            outcomes.append(
                OutcomeChange(
                    kind=key[0],
                    name=key[1],
                    before=before.get(key),
                    after=after.get(key),
                    how=how,
                    causes=causes,
                )
            )
    at = stored or (digest(old_scores), digest(new_scores))
    return ScoreChange(
        paper=new_scores.paper,
        before=at[0],
        after=at[1],
        rubric_before=old_scores.rubric,
        rubric_after=new_scores.rubric,
        same_evidence=same,
        settings=settings,
        outcomes=tuple(outcomes),
    )


def states(scores: Scores) -> dict[tuple[Kind, str], str]:
    """Every outcome of a scoring in words, the whole first."""
    return {
        ("overall", "overall"): plain(scores.overall),
        **{("dimension", one.id): plain(one.outcome) for one in scores.dimensions},
        **{
            ("claim", one.claim): plain(one.verdict)
            + (", does not stand" if one.stands is False else "")
            for one in scores.verdicts
        },
        **{("pair", one.pair): plain(one.sign) for one in scores.pairs},
        ("integrity", "integrity"): plain(scores.integrity),
    }


def changed_settings(old: Rubric, new: Rubric) -> Iterator[SettingChange]:
    """The settings that differ and that a score can depend on."""
    before, after = _flat(_plain(old)), _flat(_plain(new))
    for path, value in after.items():
        if value != before[path] and not path.startswith(_NO_SCORES):
            yield SettingChange(path=path, before=str(before[path]), after=str(value))


def _cause(
    key: tuple[Kind, str],
    after: str | None,
    settings: Sequence[SettingChange],
    with_settings,
    same_evidence: bool,
) -> tuple[str, tuple[str, ...]]:
    """How an outcome came about, and by which settings."""
    if with_settings(frozenset()).get(key) == after:
        return "program" if same_evidence else "evidence", ()
    paths = frozenset(one.path for one in settings)
    alone = [one for one in settings if with_settings(frozenset({one.path})).get(key) == after]
    if alone:
        return "alone", tuple(one.path for one in alone)
    needed = [one for one in settings if with_settings(paths - {one.path}).get(key) != after]
    return "together", tuple(one.path for one in needed)


def _mixed(old: Rubric, new: Rubric, paths: frozenset[str]) -> Rubric:
    """The old rubric with the settings at `paths` as in the new one."""
    mixed, after = _plain(old), _flat(_plain(new))
    for path in paths:
        *folders, name = path.split(".")
        place = mixed
        for folder in folders:
            place = place[folder]
        place[name] = after[path]
    return Rubric.model_validate(mixed)


def _plain(rubric: Rubric) -> dict[str, Any]:
    return rubric.model_dump(mode="json", by_alias=True)


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted paths to values."""
    flat = {}
    for name, part in value.items():
        here = f"{prefix}{name}"
        flat |= _flat(part, f"{here}.") if isinstance(part, Mapping) else {here: part}
    return flat
