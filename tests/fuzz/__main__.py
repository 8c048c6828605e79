"""``make fuzz SECONDS=600 SEED=1``: attack for so long, and say what was tried and what failed.

One attempt again: ``python tests/fuzz arrays --seed 1 --case 17``.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / name) for name in (".", "../src")]

from fuzz import harness  # noqa: E402

KINDS = ("arrays", "changes", "files", "model_files", "kills", "interrupts")


def main() -> int:
    """Attack; 1 where something broke."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="all unless named")
    parser.add_argument("--seconds", type=float, default=60, help="for all kinds together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="one attempt alone, with its traceback")
    given = parser.parse_args()
    kinds = given.kinds or list(KINDS)
    attempts = {kind: importlib.import_module(f"fuzz.{kind}").attempt for kind in kinds}
    if given.case is not None:
        for kind in kinds:
            print(kind, given.case, harness.tried(attempts[kind], given.seed, given.case))
        return 0
    counts = []
    for kind in kinds:
        share = given.seconds / len(kinds)
        found = harness.count(kind, attempts[kind], given.seed, itertools.count(), share)
        counts.append(found)
        for number, text in found.broken:
            print(f"broken: {kind} --seed {given.seed} --case {number}: {text}", flush=True)
    print("| kind | tried | failed | seconds | what |\n| --- | --- | --- | --- | --- |")
    for found in counts:
        what = ", ".join(f"{name} {times:,}" for name, times in sorted(found.tried.items()))
        print(
            f"| {found.kind} | {found.tried.total():,} | {len(found.broken)} "
            f"| {found.seconds:.0f} | {what} |"
        )
    return int(any(found.broken for found in counts))


if __name__ == "__main__":
    sys.exit(main())
