"""Exit codes of `repro`."""

OK, FAULT, MENDABLE, NO_SANDBOX, INTERRUPTED = 0, 1, 2, 3, 130
