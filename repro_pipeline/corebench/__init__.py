"""CORE-Bench: a capsule run in the sandbox, answers read from its output, scored by the benchmark's rule."""
