"""How to make each entry of docs/errata.md untrue: small changes of the source, as plain data.

Title of an entry -> (file under src/dogc, text that occurs there once, replacement).
"""

from __future__ import annotations

SLIPS = {
    "`eq:11`": ("loop/steps.py", "min(alpha / (2.0 * state.lam), STRONGEST)", "alpha"),
    "Algorithm 1": (
        "loop/steps.py",
        "LearnedGraph(idx, S, L, member",
        "LearnedGraph(idx, S, L if state.graph.L is None else state.graph.L, member",
    ),
    "`eq:13`, `eq:14`": ("numerics/trace_ratio.py", "in range(max_iter)", "in range(1)"),
    "W'W = I_c": ("fitting/problems.py", "min(place.geometry.m or 0, ", "min(c, "),
    "`eq:17`, `eq:18`": (
        "loop/steps.py",
        "discrete.assign((problem.nodes.root * state.F) @ state.Q)",
        "discrete.assign(problem.nodes.root * state.F)",
    ),
    "D_ii": ("numerics/l2p.py", "np.maximum(squared, floor**2) **", "squared **"),
    "p = 0": ("numerics/l2p.py", "return (p / 2) *", "return max(p / 2, 0.1) *"),
    "`eq:27`": (
        "numerics/l2p.py",
        "x_mean = share @ X if fit_intercept else np.zeros(d)",
        "fit_intercept, x_mean = False, np.zeros(d)",
    ),
    "`eq:32`": ("paper/as_printed.py", "XD @ Y)[0]", "X.T @ Y)[0]"),
    "`eq:43`, `eq:45`": ("loop/steps.py", "d *= state.lam\n", "d *= 0.0\n"),
    "`eq:46`, `eq:52`": ("loop/objective.py", "return 2.0 * state.lam * float", "return float"),
    "Complexity": ("numerics/stiefel.py", "AF_new = A @ F_new", "AF_new = AF"),
    "N-cut, R-cut": ("estimators/_cuts.py", "L. Hagen, A. B. Kahng,", "J. Shi, J. Malik,"),
    "Values outside the grid": ("paper/figures.py", '"beta": 1e-3', '"beta": 1e-4'),
    "`eq:54`": ("metrics.py", 'average: str = "max"', 'average: str = "geometric"'),
}

CLAIMS = {
    "Heart": ("paper/printed.csv", "0.8556,,,0.8370", "0.8370,,,0.8556"),
    "all data sets": ("paper/printed.csv", "0.7220,0.7244,0.6425", "0.6220,0.6244,0.6425"),
    "`table:6`": ("paper/printed.csv", "0.7364,0.6784,0.6852", "0.6364,0.6784,0.6852"),
    "`table:1`": ("loop/methods.py", '"PCAN", _LEARNED, _GRAPH', '"PCAN", _LEARNED, _LINKED'),
}

CHOICES = {
    "Units of alpha, beta, gamma": ("loop/penalties.py", "alpha * lam * row", "alpha"),
    "xi": ("loop/lambda_search.py", "values[values <= FAR * np.median(values)]", "values"),
    "Distances that xi is measured on": (
        "loop/steps.py",
        "candidates.xi, problem.threads",
        "graph.neighbour_xi(np.sort(state.dx, axis=1), candidates.k), problem.threads",
    ),
    "The floor of xi": ("numerics/graph.py", "floor: float = 1e-3", "floor: float = 0.0"),
    "Rounding of coordinates": ("numerics/exact.py", "np.rint(steps, out=steps)", "return Z"),
    "The geometry": ("fitting/auto/geometry.py", "best.score >= EVIDENCE", "False"),
    "New rows of DOGC": (
        "fitting/labelling.py",
        "weight = graph.solve_rows(d[:, :k], xi, copies=counts)\n    return",
        "weight = np.ones((len(d), k))\n    return",
    ),
    "New rows of DOGC-OS": ("estimators/_dogc.py", 'rule: str = "logistic"', 'rule: str = "paper"'),
    "The neighbourhood size": ("fitting/auto/n_neighbors.py", "min(alike, key=", "min(found, key="),
    "Rows far from everything": ("numerics/outliers.py", "FAR = 30.0", "FAR = 1e300"),
    "Small components": ("numerics/fragments.py", "((place, d.ravel()", "((place, -d.ravel()"),
    "Overlapping clusters": ("loop/running.py", "FIRMER = 100.0", "FIRMER = 1.0"),
    "Copies": ("loop/steps.py", "return problem.nodes.size * D", "return D"),
    "The dimension m": ("fitting/auto/n_components.py", "return 2 * m + 2", "return m"),
    "Candidates": (
        "loop/steps.py",
        "return state._replace(W=W, dx=projected_distances(problem, R @ W, state.graph.idx))",
        "Z = R @ W\n"
        "    apart = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)\n"
        "    near = np.argsort(apart, axis=1)[:, 1 : state.graph.idx.shape[1] + 1]\n"
        "    idx = np.sort(near, axis=1)\n"
        "    dx = projected_distances(problem, Z, idx)\n"
        "    return state._replace(W=W, dx=dx, graph=state.graph._replace(idx=idx))",
    ),
    "lambda": (
        "loop/lambda_search.py",
        "return reach * problem.n / (2.0 * problem.c) if reach > 0 else 1.0",
        "return float(problem.candidates.xi.mean())",
    ),
    "More components than clusters at lambda = 0": (
        "loop/initial_states.py",
        "    if state.graph.n_components > problem.c:\n",
        "    if False:\n",
    ),
    "Empty clusters": ("numerics/discrete.py", "== c or n < c:", "== c or n >= c:"),
    "Y step of DOGC-OS": (
        "loop/steps.py",
        "loss = l2p.loss(np.maximum(squared, 0.0), problem.regression.p)",
        "D = l2p.irls_weights(squared_residuals(problem, state), problem.regression.p)\n"
        "    loss = D[:, None] * squared",
    ),
    "One more step": ("loop/steps.py", "<= agreement + 1e-9 * abs(agreement)", "< np.inf"),
    "Random starts": (
        "loop/initial_states.py",
        "yield state._replace(Q=Q, Y=Y)",
        "F = np.linalg.qr(rng.standard_normal(state.F.shape))[0]\n"
        "        yield state._replace(F=F, Q=Q, Y=Y)",
    ),
    "DOGC-I and DOGC-II": ("loop/methods.py", "_replace(Q=np.eye(problem.c), Y=", "_replace(Y="),
    "Many rows": ("loop/objective.py", "xi = xi if mass is None else mass * xi", "pass"),
    "Convergence": ("loop/solver.py", "this.lam == last.lam and ", ""),
}

COMPARED = {
    "The graph": ("numerics/affinity.py", "BANDWIDTH_RANK = 7", "BANDWIDTH_RANK = 5"),
    "Order and copies": (
        "fitting/distinct.py",
        '    order = np.argsort(group, kind="stable")\n    return X if apart',
        "    order = np.arange(len(group))\n    return X if apart",
    ),
    "More components than clusters": (
        "estimators/_fixed.py",
        "return fragments.merge_components(fixed.nodes, member, c)",
        "return np.minimum(member, c - 1)[::-1]",
    ),
    "k-means": ("estimators/_discretising.py", "rotated) if n_init is None", "rotated) if False"),
    "CLR": ("numerics/graph.py", "cheapest > 2.0", "cheapest > 1.0"),
    "SEC": ("estimators/_sec.py", "constant, mu * float(A.sum()) / n", "constant, mu"),
    "DKM": ("estimators/_dkm.py", "lam * unit", "unit"),
    "LL": ("estimators/_local.py", "WIDTH = 8.0", "WIDTH = 1.0"),
    "CLGR": ("numerics/local_models.py", "= 1.0 / k + _ridge_solve", "= _ridge_solve"),
    "NMF": ("estimators/_nmf.py", 'source: str = "graph"', 'source: str = "features"'),
    "LPP": ("estimators/_lpp.py", "(degree @ space.R) /", "0.0 * space.R[0] /"),
}

BREAKS = {**SLIPS, **CLAIMS, **CHOICES, **COMPARED}
