"""The subcommands of `repro`, a module for each family; each adds its own to the parser."""
