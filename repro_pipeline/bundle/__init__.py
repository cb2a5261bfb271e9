"""A paper's folder as its user gives it: the sources, and `task.yaml` that says what to do with them."""
