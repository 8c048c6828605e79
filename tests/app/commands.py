"""Commands, run in a folder of their own; their tests are skipped where the extra is missing."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
for package in ("pyarrow", "typer", "skops"):
    pytest.importorskip(package)

from dogc.app.commands import command_line  # noqa: E402


def run(*arguments):
    return command_line.run([str(argument) for argument in arguments])


def blobs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    centre = np.repeat([[0.0, 0.0, 5.0], [6.0, 6.0, 0.0], [0.0, 9.0, 9.0]], n // 3, axis=0)
    frame = pd.DataFrame(centre + rng.normal(0, 0.7, centre.shape), columns=["a", "b", "c"])
    return frame.assign(kind=np.repeat(["x", "y", "z"], n // 3))
