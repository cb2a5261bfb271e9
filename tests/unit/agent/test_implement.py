"""Before the full runs: the baselines once, small, with a seed that evaluation never uses."""

from types import SimpleNamespace

import pytest
from test_given_code import ASSUMPTION, SENSITIVITY, SPEC, TASK, claims_of, write

from repro_pipeline.agent import implement as module
from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.config import ProjectConfig
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.errors import BundleError
from repro_pipeline.experiment.seeds import dev_seeds, evaluation_seeds
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import ImplementationFrozen
from repro_pipeline.ledger.runs import Purpose, RunSet
from repro_pipeline.stages import Ended
from repro_pipeline.status import Reason, Status
from resources.artifact_store import FsspecArtifactStore

SAMPLE = "sample: {config: {rate: 0.5}}\n"


class Asked:
    """A stage that writes down what it is told, and a laboratory that runs nothing."""

    def __init__(self, folder, monkeypatch, outcome=None):
        self.records, self.warnings, self.planned = [], [], []
        self.outcome = outcome or RunSet()
        self.bundle_folder = folder
        self.project = SimpleNamespace(
            config=ProjectConfig(),
            store=FsspecArtifactStore(str(folder.parent / "store")),
            secret=b"secret",
        )
        monkeypatch.setattr(module, "plan", lambda setting, *asked: asked)
        monkeypatch.setattr(module, "run_planned", self.run_planned)

    def record(self, payload):
        self.records.append(payload)

    def warn(self, code, sentence):
        self.warnings.append(code)

    def run_planned(self, stage, planned, setting):
        self.planned.append(planned)
        return self.outcome

    def implement(self):
        bundle = open_bundle(self.bundle_folder)
        self.claims = claims_of(bundle.task)
        return module.implement(self, bundle, self.claims, DataManifest(), environment=None)


@pytest.fixture
def folder(tmp_path):
    spec = SPEC + SENSITIVITY + SAMPLE
    return write(tmp_path / "x", task=TASK + ASSUMPTION, spec=spec)


def test_the_baselines_are_tried_small_with_a_dev_seed(folder, monkeypatch):
    asked = Asked(folder, monkeypatch)
    made = asked.implement()
    ((experiments, seeds, purpose),) = asked.planned
    assert [experiment.id for experiment in experiments] == ["base"]
    assert experiments[0].config == {"rate": 0.5, "sample": True}
    assert purpose is Purpose.DEV
    assert seeds == dev_seeds(b"secret", made.code_tree)
    evaluation = evaluation_seeds(b"secret", made.code_tree, sweep=0, count=500)
    assert not set(seeds) & set(evaluation)


def test_what_is_frozen_is_written_down_with_the_claims_and_without_the_sample(folder, monkeypatch):
    asked = Asked(folder, monkeypatch)
    made = asked.implement()
    (record,) = asked.records
    assert record == ImplementationFrozen(
        code_tree=made.code_tree, mode="code", claims=digest(asked.claims)
    )
    assert made.experiments[0].config == {"rate": 0.1}
    assert asked.warnings == ["mode_code", "claims_not_covered"]


def test_a_sample_that_fails_ends_it_before_anything_is_frozen(folder, monkeypatch):
    reason = Reason(code="exception:ValueError", sentence="It failed.")
    asked = Asked(folder, monkeypatch, outcome=Ended(RunSet(), Status.FAILED, reason))
    assert asked.implement() == Ended(None, Status.FAILED, reason)
    assert asked.records == []


def test_code_without_a_sample_is_not_tried(tmp_path, monkeypatch):
    asked = Asked(write(tmp_path / "x"), monkeypatch)
    asked.implement()
    assert asked.planned == []
    assert len(asked.records) == 1


def test_a_metric_that_sealed_labels_cannot_give_is_refused_before_anything_is_run(
    tmp_path, monkeypatch
):
    sealed = "data: [{name: d, path: d.csv, sealed_labels: l.csv}]\n"
    task = TASK.replace("error", "BLEU") + sealed
    asked = Asked(write(tmp_path / "x", task=task), monkeypatch)
    with pytest.raises(BundleError, match="the labels of 'd' are sealed, and the metric"):
        asked.implement()
    assert (asked.planned, asked.records) == ([], [])
