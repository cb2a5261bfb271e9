"""The evidence of integrity, gathered for one paper: this room runs, with things changed; `forensics`
reads what came of it, and runs nothing."""
