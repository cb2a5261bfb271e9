"""The rubric: an external, unpartitioned asset whose data version is the hash of what `rubric.yaml` says."""

import warnings

import dagster as dg

from repro_pipeline.project import Project
from repro_pipeline.scoring.current import keep_rubric
from resources.project import ProjectResource

KEY = dg.AssetKey("rubric")


def _content(project: ProjectResource) -> dg.DataVersion:
    """Observe the rubric's content."""
    _, digest = keep_rubric(project.open())
    return dg.DataVersion(digest)


with warnings.catch_warnings(action="ignore", category=dg.BetaWarning):
    rubric = dg.observable_source_asset(
        name="rubric",
        group_name="sources",
        description="The thresholds by which evidence becomes scores; changing it makes scores stale, "
        "and nothing else.",
    )(_content)


def observe_if_changed(instance: dg.DagsterInstance, project: Project) -> None:
    """Tell Dagster of the rubric's content where it does not know it yet; an observation each time
    would make every score look stale."""
    _, digest = keep_rubric(project)
    event = instance.get_latest_data_version_record(KEY)
    tags = event.event_log_entry.dagster_event.event_specific_data if event else None
    known = tags.asset_observation.tags.get("dagster/data_version") if tags else None
    if known != digest:
        instance.report_runless_asset_event(
            dg.AssetObservation(KEY, tags={"dagster/data_version": digest})
        )
