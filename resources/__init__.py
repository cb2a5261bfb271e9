"""The outside world, behind the domain's ports: ledger database, artifact store, project."""
