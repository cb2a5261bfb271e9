"""Run hostile code so that it can do its work and nothing else."""
