"""PaperBench: trees of requirements, `reproduce.sh` in the sandbox, grades by rule, judge or person."""
