"""The sensors that tell Dagster what changed in the project's folder: papers, and the rubric."""

import json

import dagster as dg

from assets.rubric import observe_if_changed
from assets.stage import PAPERS
from repro_pipeline.bundle.folder import PAPER_ID
from repro_pipeline.frozen import digest
from repro_pipeline.project import Project
from repro_pipeline.stages import latest
from resources.launches import end_dead_launches, end_orphaned_launches
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
    end_orphaned_launches(context.instance)
    added = register_papers(context.instance, opened)
    observe_if_changed(context.instance, opened)
    return dg.SkipReason(f"new papers: {', '.join(added)}" if added else "nothing new")


@dg.sensor(
    job_name="reproduce_paper",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Switched on, it reproduces each new or changed folder of papers/, once it rests. "
    "What is there when it is switched on, and was never scored, is run as well.",
)
def run_new_papers(
    context: dg.SensorEvaluationContext, project: ProjectResource
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a launch of each paper whose files are new, and the same as at the last tick.

    The cursor holds each folder's state at the last tick, and the one that was launched.
    """
    opened = project.open()
    register_papers(context.instance, opened)
    known = json.loads(context.cursor) if context.cursor else {}
    seen, requests = {}, []
    for paper in context.instance.get_dynamic_partitions(PAPERS.name):
        now = _state_of(opened, paper)
        before, launched = known.get(paper, (None, None))
        if before is None and latest(opened, paper, "scores"):
            launched = now  # it was reproduced before anyone watched
        elif now == before != launched:
            requests.append(dg.RunRequest(run_key=f"{paper}:{now}", partition_key=paper))
            launched = now
        seen[paper] = (now, launched)
    return dg.SensorResult(run_requests=requests, cursor=json.dumps(seen))


def _state_of(project: Project, paper: str) -> str:
    """Names, sizes and times of a paper's files, in a digest: without reading them."""
    files = sorted(path for path in project.bundle(paper).rglob("*") if path.is_file())
    stats = [(str(path), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in files]
    return digest([list(one) for one in stats])[:16]


def register_papers(instance: dg.DagsterInstance, project: Project) -> list[str]:
    """Make a partition of each folder of `papers/` that is none yet; return the new ones."""
    folders = project.papers.iterdir() if project.papers.is_dir() else ()
    found = {path.name for path in folders if path.is_dir() and PAPER_ID.fullmatch(path.name)}
    new = sorted(found - set(instance.get_dynamic_partitions(PAPERS.name)))
    if new:
        instance.add_dynamic_partitions(PAPERS.name, new)
    return new
