"""The subcommands of ``dogc``."""
