"""The command ``dogc``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Hand over to a subcommand."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    tool = argparse.ArgumentParser(prog="dogc", description=__doc__)
    tool.add_argument("command", choices=["demo", "paper"], help="what to do; add --help for more")
    command = tool.parse_args(given[:1]).command
    if command == "paper":
        from .paper.command import main as run
    else:
        from .demo import main as run
    run(given[1:])
