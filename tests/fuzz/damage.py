"""Damage to the bytes of a file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzz.odd_rows import pick


def _flipped(rng: np.random.Generator, content: bytes) -> bytes:
    found = bytearray(content)
    for _ in range(rng.integers(1, 8)):
        found[rng.integers(len(found))] ^= 1 << int(rng.integers(8))
    return bytes(found)


def _cut(rng: np.random.Generator, content: bytes) -> bytes:
    return content[: rng.integers(len(content))]


def _spliced(rng: np.random.Generator, content: bytes) -> bytes:
    first, last = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    place = int(rng.integers(len(content)))
    return content[:place] + content[first:last] * int(rng.integers(1, 4)) + content[place:]


def _overwritten(rng: np.random.Generator, content: bytes) -> bytes:
    place, more = int(rng.integers(len(content))), rng.bytes(int(rng.integers(1, 20)))
    return content[:place] + more + content[place + len(more) :]


def _inserted(rng: np.random.Generator, content: bytes) -> bytes:
    bits = [bytes([sign]) for sign in b"\"\n\r,\0\xff'{%\t"]
    bits += [b"\xef\xbb\xbf", b" " * 50_000, b"9" * 400]
    place = int(rng.integers(len(content)))
    return content[:place] + pick(rng, bits) + content[place:]


def _large(rng: np.random.Generator, content: bytes) -> bytes:
    """A number somewhere is as large as it can be."""
    width = int(pick(rng, [2, 4, 8]))
    number = int(pick(rng, [-1, 2 ** (8 * width - 1) - 1, 10**4, 2 ** (4 * width)]))
    place = int(rng.integers(len(content)))
    written = (number % 2 ** (8 * width)).to_bytes(width, "little")
    return content[:place] + written + content[place + width :]


DAMAGE: dict[str, Callable[[np.random.Generator, bytes], bytes]] = {
    "flipped": _flipped,
    "cut": _cut,
    "spliced": _spliced,
    "overwritten": _overwritten,
    "inserted": _inserted,
    "large number": _large,
    "noise": lambda rng, content: rng.bytes(int(rng.integers(0, 300))),
    "noise after the beginning": lambda rng, content: (
        content[:8] + rng.bytes(int(rng.integers(1, 300)))
    ),
}
