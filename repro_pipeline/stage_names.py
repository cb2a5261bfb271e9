"""The stages of a paper, by name; apart, so that the command line knows them at no cost."""

STAGES = (
    "paper_bundle",
    "parsed_paper",
    "reported_claims",
    "paper_lineage",
    "assumption_ledger",
    "data_manifest",
    "environment",
    "implementation",
    "baseline",
    "ablations",
    "sensitivity",
    "integrity",
    "experiment_ledger",
    "scores",
    "attribution",
    "review_queue",
    "report",
)
"""In an order in which they can run."""

RUNNING_STAGES = ("implementation", "baseline", "ablations", "sensitivity", "integrity")
"""Those that run the paper's code."""
