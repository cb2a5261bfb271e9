"""A finished submission of somebody else: read it, run it, hold its claims against the runs."""
