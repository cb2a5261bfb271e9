"""`scoreboard`: all papers on one page; unpartitioned, made anew after any paper was scored."""

import dagster as dg

from assets.stage import OWNERS, table
from repro_pipeline.report.scoreboard import write_scoreboard
from resources.project import ProjectResource


@dg.asset(
    deps=["scores"],
    group_name="judge",
    kinds={"python"},
    owners=OWNERS,
    code_version="2",
    description="Every paper's latest scores side by side: headline, dimensions, integrity, trend, cost.",
)
def scoreboard(project: ProjectResource) -> dg.MaterializeResult:
    """Write `reports/scoreboard.{html,csv,parquet}` from the ledger."""
    board = write_scoreboard(project.open())
    return dg.MaterializeResult(
        metadata={
            **table("scores", board.rows),
            "papers": len(board.rows),
            "page": dg.MetadataValue.path(board.path),
        },
        data_version=dg.DataVersion(board.digest),
    )
