"""How many directions of the data hold more than noise."""

from __future__ import annotations

import numpy as np

# A direction counts as signal from this multiple of the noise edge on.
MARGIN = 1.1
# Fewer directions of noise than this are too few to be told from structure.
FEWEST_NOISY = 8


def signal_dimension(variances: np.ndarray, n: int) -> int | None:
    r"""Principal directions above the noise, or None where the rest does not look like noise.

    Variances of n rows of independent noise of variance :math:`\sigma^2` in d columns lie
    between :math:`\sigma^2 (1 \pm \sqrt{d/n})^2` (Marchenko and Pastur). With
    :math:`\sigma^2` from the median, directions above the upper edge are signal. If any
    other lies below the lower edge, or if they are fewer than eight or than twice the
    signal, the rest is no pure noise and nothing is said: dropping it might drop structure.

    Parameters
    ----------
    variances : array of shape (d,)
        Variances along the principal directions, in any order.
    n : number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> signal_dimension(np.array([5.0, 3.0, *np.linspace(0.9, 1.1, 10)]), n=1000)
    2
    >>> signal_dimension(0.8 ** np.arange(12), n=1000) is None
    True
    """
    variances = np.sort(variances)[::-1]
    d = len(variances)
    if n <= d or d < FEWEST_NOISY:
        return None
    level = float(np.median(variances))
    reach = np.sqrt(d / n)
    m = int(np.count_nonzero(variances > MARGIN * level * (1.0 + reach) ** 2))
    floor = level * (1.0 - reach) ** 2 / MARGIN
    if m == 0 or d - m < max(2 * m, FEWEST_NOISY) or variances[-1] < floor:
        return None
    return m
