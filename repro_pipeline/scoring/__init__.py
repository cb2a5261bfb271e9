"""Judge the evidence: a rubric, one module per dimension, verdicts, integrity, anomalies, review."""
