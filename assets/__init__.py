"""The asset graph: one module per stage, each a short body that calls the domain."""
