"""How to make each entry of docs/errata.md untrue: small changes of the source, as plain data.

Title of an entry -> changes, each (file under src/dogc, text that occurs there once, replacement).
"""

from __future__ import annotations

SLIPS = {
    "`eq:11`": [
        (
            "loop/steps.py",
            "pull = min(alpha / (2.0 * state.lam), STRONGEST) if state.lam > 0 else alpha",
            "pull = alpha",
        ),
    ],
    "Algorithm 1": [
        (
            "loop/steps.py",
            "graph=LearnedGraph(joined.S, L, joined.member",
            'graph=LearnedGraph(joined.S, getattr(state.graph, "L", L), joined.member',
        ),
    ],
    "`eq:13`, `eq:14`": [
        ("numerics/trace_ratio.py", "for _ in range(max_iter):", "for _ in range(1):"),
        (
            "numerics/trace_ratio.py",
            "float(np.vdot(W, A @ W) / np.vdot(W, B @ W))",
            "float((W[:, 0] @ A @ W[:, 0]) / (W[:, 0] @ B @ W[:, 0]))",
        ),
    ],
    "W'W = I_c": [
        ("rows/problems.py", "= space.R, min(place.geometry.m or 0, ", "= space.R, min(c, "),
    ],
    "`eq:17`, `eq:18`": [
        (
            "loop/steps.py",
            "discrete.assign((problem.nodes.root * state.F) @ state.Q)",
            "discrete.assign(problem.nodes.root * state.F)",
        ),
    ],
    "D_ii": [
        (
            "numerics/l2p.py",
            "return (p / 2) * np.maximum(squared, floor**2) ** (p / 2 - 1)",
            'with np.errstate(divide="ignore"):\n        return (p / 2) * squared ** (p / 2 - 1)',
        ),
        ("numerics/l2p.py", "RESIDUAL_FLOOR = 1e-4", "RESIDUAL_FLOOR = 1e-3"),
    ],
    "p = 0": [
        ("_checks.py", "not LEAST_POWER <= power <= 2", "not 0 <= power <= 2"),
        ("numerics/l2p.py", "return (p / 2) * np.maximum", "return max(p / 2, 0.1) * np.maximum"),
    ],
    "`eq:27`": [
        ("estimators/_dogc.py", "fit_intercept: bool = True", "fit_intercept: bool = False"),
        (
            "numerics/l2p.py",
            "x_mean = share @ X if fit_intercept else np.zeros(d)",
            "fit_intercept, x_mean = False, np.zeros(d)",
        ),
        (
            "numerics/l2p.py",
            "x_mean = share @ X if fit_intercept else np.zeros(d)",
            "fit_intercept, x_mean = True, share @ X",
        ),
    ],
    "`eq:54`": [
        ("metrics.py", 'average: str = "max"', 'average: str = "geometric"'),
        ("metrics.py", '_nmi(table, "geometric")', '_nmi(table, "max")'),
        ("comparison.py", '"nmi_max": "NMI"', '"nmi_geometric": "NMI"'),
        ("app/files/clustering.py", 'found["nmi_max"]', 'found["nmi_geometric"]'),
    ],
}

CHOICES = {
    "Units of alpha, beta, gamma": [
        ("loop/penalties.py", "absolute = alpha * lam * row", "absolute = alpha"),
        ("loop/penalties.py", "beta * absolute * row, gamma / d", "beta * absolute, gamma / d"),
        ("loop/penalties.py", "beta * absolute * row, gamma / d", "beta * absolute * row, gamma"),
        ("loop/penalties.py", "fixed = Weights(alpha,", "fixed = Weights(2.0 * alpha,"),
        ("rows/problems.py", "gamma / scale / scale", "gamma"),
        (
            "loop/objective.py",
            "discrete.times(state.Y, np.eye(problem.c))\n    difference = Y",
            "discrete.times(state.Y, np.diag(np.bincount(state.Y) ** -0.5))\n    difference = Y",
        ),
    ],
    "xi": [
        ("loop/lambda_search.py", "values[values <= FAR * np.median(values)]", "values"),
        ("estimators/_regressing.py", 'xi: str = "mean"', 'xi: str = "row"'),
        ("numerics/graph.py", "beyond = d[:, min(k, d.shape[1] - 1)]", "beyond = near[:, -1]"),
    ],
    "Distances that xi is measured on": [
        (
            "loop/steps.py",
            "return state._replace(W=W, dx=projected_distances(problem, R @ W, state.idx))",
            "dx = projected_distances(problem, R @ W, state.idx)\n"
            "    xi = problem.candidates.xi_rule(np.sort(dx, axis=1), problem.candidates.k)\n"
            "    return state._replace(W=W, dx=dx, xi=xi)",
        ),
    ],
    "The floor of xi": [
        ("numerics/graph.py", "floor: float = 1e-3", "floor: float = 0.0"),
        (
            "numerics/graph.py",
            "return np.maximum(xi, max(floor * xi.mean(), np.finfo(float).tiny))",
            "return np.maximum(xi, floor * xi.mean())",
        ),
    ],
    "Rounding of coordinates": [
        (
            "rows/scaling.py",
            "    dropped = np.finfo(x.dtype).nmant",
            "    return x\n    dropped = np.finfo(x.dtype).nmant",
        ),
        ("numerics/exact.py", "np.rint(steps, out=steps)", "return Z"),
        (
            "rows/links.py",
            "return rounded(Z, search.unit, search.bits) if search.bits else Z",
            "return Z",
        ),
    ],
    "The geometry": [
        (
            "choices/geometry.py",
            "return best if best.score >= EVIDENCE else chosen[0]",
            "return chosen[0]",
        ),
        ("choices/geometry.py", "best_look(tried).score >= CERTAIN", "False"),
        (
            "choices/n_components.py",
            "        if m is not None:\n",
            "        m = m or 1\n        if m:\n",
        ),
    ],
    "New rows of DOGC": [
        (
            "rows/labelling.py",
            "weight = graph.solve_rows(d[:, :k], xi, copies=counts)\n    return",
            "weight = np.ones((len(d), k))\n    return",
        ),
    ],
    "New rows of DOGC-OS": [
        ("estimators/_dogc.py", 'rule: str = "logistic"', 'rule: str = "paper"'),
        ("estimators/_dogc.py", 'if self.rule_ == "paper":', "if False:"),
        ("paper/runs.py", 'model.set_params(rule="paper")', "model.set_params()"),
    ],
    "The neighbourhood size": [
        (
            "choices/n_neighbors.py",
            "chosen = min(alike, key=",
            "chosen = min(found, key=",
        ),
    ],
    "Rows far from everything": [
        ("numerics/outliers.py", "FAR = 30.0", "FAR = 1e300"),
        (
            "choices/solving_rows.py",
            "settings.smallest.rows is not None or not settings.penalties.relative",
            "False",
        ),
    ],
    "Small components": [
        ("rows/settings.py", "SMALLEST_SHARE = 0.1", "SMALLEST_SHARE = 0.0"),
        (
            "numerics/fragments.py",
            "np.lexsort((place, d.ravel()[place], ends))",
            "np.lexsort((place, -d.ravel()[place], ends))",
        ),
        ("numerics/fragments.py", "+= 1.0 / (k + added[row])", "+= 9.0 / (k + added[row])"),
        ("rows/settings.py", "return self.rows / self.unit", "return 4.0 * self.rows / self.unit"),
    ],
    "Overlapping clusters": [
        ("loop/running.py", "FIRMER = 100.0", "FIRMER = 1.0"),
        (
            "choices/solving_rows.py",
            "if left and not fewer:",
            "if left or fewer:",
        ),
        ("loop/penalties.py", "return self.relative and self.alpha > 0", "return self.alpha > 0"),
    ],
    "Copies": [
        ("rows/distinct.py", "    if not apart:", "    if apart:"),
        ("loop/steps.py", "return problem.nodes.size * D", "return D"),
        ("rows/distinct.py", "weights=None if weight is None else weight[kept]", "weights=None"),
    ],
    "The dimension m": [
        ("choices/n_components.py", "return 2 * m + 2", "return m"),
        ("choices/n_components.py", "if m is not None:", "if False:"),
        ("choices/n_components.py", "(1.0 + reach) ** 2))", "(1.0 + 9.0 * reach) ** 2))"),
    ],
    "Candidates": [
        (
            "loop/steps.py",
            "return state._replace(W=W, dx=projected_distances(problem, R @ W, state.idx))",
            "Z = R @ W\n"
            "    apart = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)\n"
            "    near = np.argsort(apart, axis=1)[:, 1 : state.idx.shape[1] + 1]\n"
            "    idx = np.sort(near, axis=1)\n"
            "    dx = projected_distances(problem, Z, idx)\n"
            "    return state._replace(W=W, idx=idx, dx=dx)",
        ),
        (
            "loop/steps.py",
            "return state._replace(W=W, dx=projected_distances(problem, R @ W, state.idx))",
            "return state._replace(W=W)",
        ),
        (
            "rows/labelling.py",
            "d = neighbours.distances(fitted.search, project(X, fitted.components), fitted.Z, idx)",
            "d = neighbours.distances(fitted.search, X, fitted.scaled.X, idx)",
        ),
    ],
    "lambda": [
        (
            "loop/lambda_search.py",
            "return reach * problem.n / (2.0 * problem.c) if reach > 0 else 1.0",
            "return float(state.xi.mean())",
        ),
        ("loop/lambda_search.py", "GROWTH = 2.0", "GROWTH = 1.0"),
        (
            "loop/lambda_search.py",
            "return search.anchor._replace(lam=_between(search), search=search)",
            "return state._replace(lam=_between(search), search=search)",
        ),
        (
            "loop/lambda_search.py",
            "return search.high <= search.low * (1.0 + CLOSED)",
            "return False",
        ),
    ],
    "More components than clusters at lambda = 0": [
        (
            "loop/initial_states.py",
            "    if state.graph.n_components > problem.c:\n",
            "    if False:\n",
        ),
        (
            "numerics/fragments.py",
            "smallest = int(np.argmin(np.where(sizes > 0, sizes, np.inf)))",
            "smallest = int(np.argmax(sizes))",
        ),
    ],
    "Empty clusters": [
        ("numerics/discrete.py", "== c or n < c:", "== c or n >= c:"),
        (
            "numerics/discrete.py",
            "linear_sum_assignment(loss[rows])",
            "linear_sum_assignment(-loss[rows])",
        ),
    ],
    "Y step of DOGC-OS": [
        (
            "loop/steps.py",
            "loss = l2p.loss(np.maximum(squared, 0.0), problem.regression.p)",
            "D = l2p.irls_weights(squared_residuals(problem, state), problem.regression.p)\n"
            "    loss = D[:, None] * squared",
        ),
    ],
    "One more step": [
        (
            "loop/steps.py",
            "if (F @ Q)[rows, labels].sum() <= agreement + 1e-9 * abs(agreement):",
            "if True:",
        ),
        (
            "loop/steps.py",
            "_label_terms(problem, fresh) < _label_terms(problem, state)",
            "True",
        ),
    ],
    "Random starts": [
        (
            "loop/initial_states.py",
            "yield state._replace(Q=Q, Y=Y)",
            "F = np.linalg.qr(rng.standard_normal(state.F.shape))[0]\n"
            "        yield state._replace(F=F, Q=Q, Y=Y)",
        ),
        (
            "loop/initial_states.py",
            "Y = discrete.assign(rng.random((problem.n, problem.c)))",
            "Y = discrete.assign(state.F @ Q)",
        ),
        ("estimators/_regressing.py", 'init: Any = "auto"', 'init: Any = "random"'),
    ],
    "DOGC-I and DOGC-II": [
        ("loop/methods.py", "state._replace(Q=np.eye(problem.c), Y=", "state._replace(Y="),
        (
            "estimators/_ablations.py",
            "return kmeans.fit(result.state.Y, sample_weight=problem.nodes.size).labels_"
            ".astype(np.int64)",
            "return result.state.Y.argmax(axis=1)",
        ),
        (
            "loop/methods.py",
            '    "DOGC-II",\n    (\n',
            '    "DOGC-II",\n    (\n        steps.step_S,\n',
        ),
    ],
    "Many rows": [
        ("rows/representatives.py", "FEW_ROWS = 3_000", "FEW_ROWS = 4_000"),
        (
            "loop/objective.py",
            "xi = state.xi if mass is None else mass * state.xi",
            "xi = state.xi",
        ),
    ],
    "Convergence": [
        ("loop/solver.py", "this.lam == last.lam and ", ""),
        ("loop/solver.py", " and this.labels_changed == 0", ""),
        (
            "loop/solver.py",
            "if state.graph.n_components == problem.c or problem.c == 1:",
            "if True:",
        ),
        ("loop/solver.py", "<= tol * abs(this.objective)", "<= tol"),
    ],
}

COMPARED = {
    "The graph": [
        ("numerics/affinity.py", "BANDWIDTH_RANK = 7", "BANDWIDTH_RANK = 5"),
        ("rows/fixed_graph.py", "common = np.sqrt(2.0) * settings", "common = settings"),
    ],
    "Order and copies": [
        (
            "rows/distinct.py",
            '    order = np.argsort(group, kind="stable")\n    return SortedRows',
            "    order = np.arange(len(group))\n    return SortedRows",
        ),
        ("rows/distinct.py", "return discrete.assign(votes)[self.group]", "return labels"),
    ],
    "More components than clusters": [
        (
            "estimators/_fixed.py",
            "return fragments.merge_components(fixed.nodes, member, c)",
            "return np.minimum(member, c - 1)[::-1]",
        ),
        ("estimators/_sec.py", "        if count > c:\n", "        if False:\n"),
        ("estimators/_local.py", "        if count > c:\n", "        if False:\n"),
    ],
    "k-means": [
        (
            "estimators/_discretising.py",
            "    if n_init is None:\n        start = discrete.cluster_means(F, rotated)",
            "    if False:\n        start = discrete.cluster_means(F, rotated)",
        ),
        ("estimators/_ablations.py", "n_init=10, random_state=0", "n_init=1, random_state=0"),
        ("estimators/_dkm.py", "n_init: int = 10", "n_init: int = 1"),
        ("estimators/_dkm.py", "random_state: Any = 0", "random_state: Any = None"),
    ],
    "CLR": [
        (
            "rows/problems.py",
            "2.0 * (A.max(axis=1, keepdims=True) - A)",
            "1.0 * (A.max(axis=1, keepdims=True) - A)",
        ),
        (
            "numerics/graph.py",
            "np.where(cost - cheapest > 2.0, 0.0, A)",
            "np.where(cost - cheapest > 1.0, 0.0, A)",
        ),
    ],
    "SEC": [
        ("estimators/_sec.py", "weight = mu * float(A.sum()) / n", "weight = mu"),
        (
            "estimators/_sec.py",
            "gamma = self.gamma / max(scaled.n_varying, 1)",
            "gamma = self.gamma",
        ),
        ("estimators/_sec.py", 'if self.laplacian == "normalized":', "if False:"),
    ],
    "DKM": [
        (
            "estimators/_dkm.py",
            "l2p.ridge_map(space.R, lam * unit)",
            "l2p.ridge_map(space.R, unit)",
        ),
    ],
    "LL": [
        ("estimators/_local.py", "WIDTH = 8.0", "WIDTH = 1.0"),
        ("estimators/_local.py", "ridge: float = 0.1", "ridge: float = 0.5"),
    ],
    "CLGR": [
        ("estimators/_local.py", "(self.lam / mean_degree)", "self.lam"),
        (
            "numerics/local_models.py",
            "weights[rows] = 1.0 / k + _ridge_solve",
            "weights[rows] = _ridge_solve",
        ),
    ],
    "NMF": [
        ("estimators/_nmf.py", 'source: str = "graph"', 'source: str = "features"'),
    ],
    "LPP": [
        ("estimators/_lpp.py", "centre = (degree @ space.R) / total", "centre = 0.0 * space.R[0]"),
        (
            "estimators/_lpp.py",
            'if _checks.check_flag("center", self.center) else plain_projection',
            "if True else plain_projection",
        ),
    ],
}

BREAKS = {**SLIPS, **CHOICES, **COMPARED}
