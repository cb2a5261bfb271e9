"""The append-only log of everything that was decided and done, and the tables projected from it."""
