"""The paper's two ablations of DOGC-OS."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from ..loop import methods
from ..loop.solver import Result
from ..loop.state import Problem
from ._docs import document
from ._dogc import FEATURES_ONLY, REGRESSION
from ._regressing import RegressingDOGC


@document(
    lacks=("rotation_", *REGRESSION),
    parameters={
        "init": """\
init : {"spectral", "random"} or array of shape (n_samples,), default="spectral"
    Without effect: a continuous Y starts at F.""",
        "n_init": """\
n_init : int, default=1
    Without effect.""",
        "random_state": """\
random_state : int, RandomState, Generator or None, default=None
    Without effect.""",
        **FEATURES_ONLY,
    },
)
class DOGCRelaxed(RegressingDOGC):
    r"""DOGC-I, the ablation of DOGC-OS without discrete labels.

    The objective of :class:`DOGCOS` with Y any real matrix instead of an indicator:

    .. math::

        \min_{S,F,W,P,Y} \sum_{i,j} \frac{\|W^\top x_i - W^\top x_j\|^2 s_{ij}}
        {\operatorname{Tr}(W^\top X^\top H X W)} + \xi_i s_{ij}^2
        + 2 \lambda \operatorname{Tr}(F^\top L_S F) + \alpha \|Y - F\|_F^2
        + \beta \left(\|Y - X P\|_{2,p} + \gamma \|P\|_F^2\right)

    Such a Y absorbs every rotation, so Q is the identity. Discrete labels come from k-means
    on the rows of Y (ten starts, fixed seed), and new rows follow their neighbours.

    {parameters}

    See Also
    --------
    DOGCOS : The full method.

    References
    ----------
    Y. Han, L. Zhu, Z. Cheng, J. Li, X. Liu, "Discrete Optimal Graph Clustering", IEEE
    Transactions on Cybernetics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGCRelaxed
    >>> DOGCRelaxed(n_clusters=3).fit_predict(load_iris().data).shape
    (150,)
    """

    _method = methods.DOGC_RELAXED

    def _discretise(self, problem: Problem, result: Result) -> np.ndarray:
        kmeans = KMeans(problem.c, n_init=10, random_state=0)
        return kmeans.fit(result.state.Y, sample_weight=problem.size).labels_.astype(np.int64)


@document(
    lacks=REGRESSION,
    parameters={
        "lam": """\
lam : float or "auto", default="auto"
    The paper's :math:`\\lambda`, fixed. "auto" takes the value at which :class:`DOGCOS` would
    begin its search.""",
        **FEATURES_ONLY,
    },
)
class DOGCFixedGraph(RegressingDOGC):
    r"""DOGC-II, the ablation of DOGC-OS without graph learning.

    .. math::

        \min_{F,W,Q,P,Y} 2 \lambda \operatorname{Tr}(F^\top L_S F) + \alpha \|Y - F Q\|_F^2
        + \beta \left(\|Y - X P\|_{2,p} + \gamma \|P\|_F^2\right)

    S stays the data's own neighbour graph, `eq:10` at :math:`\lambda = 0`; the other
    variables are learned as in :class:`DOGCOS` at one fixed lambda. New rows follow their
    neighbours.

    {parameters}

    See Also
    --------
    DOGCOS : The full method.

    References
    ----------
    Y. Han, L. Zhu, Z. Cheng, J. Li, X. Liu, "Discrete Optimal Graph Clustering", IEEE
    Transactions on Cybernetics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGCFixedGraph
    >>> DOGCFixedGraph(n_clusters=3).fit(load_iris().data).stopping_reason_
    'settled'
    """

    _method = methods.DOGC_FIXED_GRAPH
