"""From requirements to a locked, built environment that another machine can rebuild."""
