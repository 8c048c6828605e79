"""The paper's data: the twelve UCI sets, bundled, and its synthetic ones."""

from ._synthetic import make_multi_cluster, make_two_gaussians, make_two_moons
from ._uci import UCI_NAMES, load_uci

__all__ = ["UCI_NAMES", "load_uci", "make_multi_cluster", "make_two_gaussians", "make_two_moons"]
