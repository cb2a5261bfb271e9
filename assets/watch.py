"""The sensor that tells Dagster what changed in the project's folder: papers, and the rubric."""

import dagster as dg

from assets.rubric import observe_if_changed
from assets.stage import PAPERS
from repro_pipeline.bundle.folder import PAPER_ID
from repro_pipeline.project import Project
from resources.launches import end_dead_launches
from resources.project import ProjectResource


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Registers new folders of papers/ as partitions, and observes a changed rubric. "
    "Launches nothing.",
)
def watch_project(context: dg.SensorEvaluationContext, project: ProjectResource) -> dg.SkipReason:
    """Register and observe."""
    opened = project.open()
    end_dead_launches(context.instance, opened)
    added = register_papers(context.instance, opened)
    observe_if_changed(context.instance, opened)
    return dg.SkipReason(f"new papers: {', '.join(added)}" if added else "nothing new")


def register_papers(instance: dg.DagsterInstance, project: Project) -> list[str]:
    """Make a partition of each folder of `papers/` that is none yet; return the new ones."""
    folders = project.papers.iterdir() if project.papers.is_dir() else ()
    found = {path.name for path in folders if path.is_dir() and PAPER_ID.fullmatch(path.name)}
    new = sorted(found - set(instance.get_dynamic_partitions(PAPERS.name)))
    if new:
        instance.add_dynamic_partitions(PAPERS.name, new)
    return new
