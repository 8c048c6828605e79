"""Departures from the printed algorithm, one at a time, and the table that measures them."""

import pathlib
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import reference
from dogc.paper import command, departures
from dogc.paper import reproduction_page as pages
from dogc.paper.as_printed import PrintedDOGC, PrintedDOGCOS, laplacian, solve_rows
from dogc.paper.departures import ALL, DEFAULTS, METHODS, PRINTED, SAME, printed_with
from dogc.paper.runs import Results

C, K = 3, 5
DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def X():
    return make_blobs(30, n_features=4, centers=C, cluster_std=2.0, random_state=1)[0]


def made(X, *names, method="DOGC", seed=0, **setting):
    """An estimator with departures, ready for single steps, and a state to take them from."""
    model = printed_with(method, *names)(C, n_components=2, n_neighbors=K, **setting)
    model._check(X)
    return model, model.start(X, np.random.default_rng(seed))


@pytest.mark.parametrize("method", METHODS)
def test_a_departure_is_the_printed_class_with_few_methods_changed_and_fits_alone(method, X):
    base, known = METHODS[method]
    for name, part in known.items():
        cls = printed_with(method, name)
        assert issubclass(cls, base)
        own = {key for key, value in vars(part).items() if callable(value)}
        assert 1 <= len(own) <= 3
        assert own <= set(dir(base))
        model = cls(C, max_iter=3, random_state=0).fit(X)
        assert len(model.labels_) == len(X)
        assert np.isfinite(model.history_[-1].objective)


def test_new_laplacian(X):
    model, s = made(X, "Laplacian of the new S")
    new = model.iterate(X, s)
    np.testing.assert_array_equal(new.L, laplacian(new.S))


def test_the_laplacian_of_the_S_before_makes_the_objective_rise_at_every_second_step():
    # Two sequences run side by side, each seeing the other's graph: the printed order of steps
    # 2 and 3 alone does that.
    X = make_blobs(60, n_features=5, centers=C, cluster_std=2.0, random_state=1)[0]
    printed, new = (
        printed_with("DOGC", *names)(C, n_components=2, n_neighbors=6, max_iter=20, random_state=0)
        for names in ((), ("Laplacian of the new S",))
    )
    assert departures.ever_rose(printed.fit(X).history_)
    assert not departures.ever_rose(new.fit(X).history_)


def test_two_lambda(X):
    model, s = made(X, "2 lambda in the F step", alpha=0.1)
    s = s._replace(lam=0.7)

    def value(F):
        fit = 0.1 * np.linalg.norm(s.Y - F @ s.Q) ** 2
        return 1.4 * np.trace(F.T @ s.L @ F) + fit

    F = model.step_F(X, s).F
    G = 2.8 * s.L @ F - 0.2 * s.Y @ s.Q.T
    assert np.linalg.norm(G - F @ (G.T @ F)) < 1e-3
    assert value(F) < value(s.F)


def test_xi_fixed(X):
    model, s = made(X, "xi fixed")
    raw = np.sum((X[:, None] - X[None]) ** 2, axis=2) / np.sum((X - X.mean(axis=0)) ** 2)
    expected = np.mean([reference.neighbour_xi(np.sort(row), K) for row in raw])
    assert model.regulariser(X, s) == pytest.approx(expected)
    assert model.regulariser(X, s._replace(W=s.W[::-1])) == model.regulariser(X, s)


def test_candidates_are_the_nearest_other_rows_in_all_features(X):
    model, s = made(X, "k nearest candidates")
    S = model.step_S(X, s._replace(xi=1e6)).S
    for i, row in enumerate(S):
        order = np.argsort(np.sum((X - X[i]) ** 2, axis=1))[1 : K + 1]
        assert set(np.flatnonzero(row)) == set(order)
    printed, _ = made(X)
    d = printed.distances(X, s)
    near = np.flatnonzero(S[0])
    S = model.step_S(X, s).S
    np.testing.assert_allclose(S[0, near], solve_rows(d[:1, near], s.xi)[0])


def test_bisection_goes_back_after_an_overshoot(X):
    model, s = made(X, "lambda bisected")
    too_few = s._replace(lam=1.0, F=-s.F)
    assert model.next_lambda(too_few, 1).lam == 2.0
    after = model.next_lambda(s._replace(lam=2.0), C + 1)
    assert after.lam == pytest.approx(np.sqrt(2.0))
    np.testing.assert_array_equal(after.F, too_few.F)
    assert model.next_lambda(s._replace(lam=1.2), 2).lam == pytest.approx(np.sqrt(2.4))
    assert model.next_lambda(s._replace(lam=1.3), C).lam == 1.3
    model.start(X, np.random.default_rng(0))  # a second fit knows nothing of the first
    assert model.next_lambda(s._replace(lam=2.0), C + 1).lam == 1.0


def test_start_from_the_data_has_no_chance_in_it(X):
    states = [made(X, "start from the data", seed=seed)[1] for seed in (0, 1)]
    for a, b in zip(*states, strict=True):
        np.testing.assert_array_equal(a, b)
    s = states[0]
    assert np.trace(s.F.T @ laplacian(s.S) @ s.F) == pytest.approx(
        reference.smallest_eigenvalue_sum(laplacian(s.S), C), abs=1e-10
    )
    np.testing.assert_array_equal(s.Y, np.eye(C)[(s.F @ s.Q).argmax(axis=1)])
    assert s.lam == s.xi > 0


def test_restart_takes_the_better_rotation(X):
    for seed in range(5):
        (plain, s), (model, _) = made(X, seed=seed), made(X, "restart of Q, Y")
        s = plain.step_F(X, s)
        gaps = [np.linalg.norm(new.Y - s.F @ new.Q)
                for new in (plain.step_Q(X, s), model.step_Q(X, s))]  # fmt: skip
        assert gaps[1] <= gaps[0]
    assert gaps[1] < gaps[0]


def test_no_empty_cluster_is_the_best_labelling_that_uses_all():
    model = departures.NoEmptyCluster(2)
    rng = np.random.default_rng(0)
    for _ in range(20):
        gain = rng.random((5, 3)) + np.array([0.6, 0.0, 0.0])
        Y = model.assign(gain)
        assert Y.any(axis=0).all()
        assert np.sum(Y * gain) == pytest.approx(reference.best_gain_without_empty_cluster(gain))


def test_relative_penalties_follow_scale_and_lambda(X):
    model, s = made(X, "relative penalties", method="DOGC-OS")
    alpha, beta, gamma = model.penalties(X, s)
    assert alpha == pytest.approx(1e-3 * s.lam * np.sqrt(C / 30))
    twice = model.penalties(2 * X, s._replace(lam=3 * s.lam))
    np.testing.assert_allclose(twice, (3 * alpha, 3 * beta, 4 * gamma))


def test_small_components_are_tied_to_their_nearest():
    X = np.vstack([make_blobs(40, centers=2, random_state=0)[0], [[60.0, 60.0]]])
    printed, s = made(X)
    model, _ = made(X, "small components tied")
    s = s._replace(F=np.zeros_like(s.F), xi=1e-12)  # every row alone
    assert printed.components(printed.step_S(X, s).S)[0] == 41
    S = model.step_S(X, s).S
    np.testing.assert_allclose(S.sum(axis=1), 1.0)
    sizes = np.bincount(model.components(S)[1])
    assert sizes.min() >= 41 / (10 * C)


def test_distinct_rows_make_copies_and_order_immaterial(X):
    model = printed_with("DOGC", "rows distinct and sorted")(C, n_neighbors=K, random_state=0)
    once = model.set_params(max_iter=5).fit(X).labels_.copy()
    order = np.random.default_rng(0).permutation(30)
    np.testing.assert_array_equal(model.fit(X[order]).labels_, once[order])
    np.testing.assert_array_equal(model.fit(np.vstack([X, X])).labels_, np.tile(once, 2))
    assert model.get_params()["n_neighbors"] == K


def test_the_exact_Y_step_finds_the_best_labels(X):
    model, s = made(X, "exact Y step", method="DOGC-OS", alpha=0.5, beta=0.5, p=1.25)
    new = model.step_Y(X, s)

    def cost(i, j):
        y = np.eye(C)[j]
        fit = 0.5 * np.sum((y - s.F[i] @ s.Q) ** 2)
        return fit + 0.5 * np.linalg.norm(y - X[i] @ new.P) ** 1.25

    for i in range(len(X)):
        assert new.Y[i].argmax() == np.argmin([cost(i, j) for j in range(C)])


def test_the_intercept_is_not_penalised(X):
    model, s = made(X, "intercept", method="DOGC-OS", gamma=0.3)
    new = model.step_P(X, s)
    P, b = reference.weighted_ridge_with_intercept(X, s.Y, s.D, 0.3)
    np.testing.assert_allclose(new.P, np.vstack([P, b]), atol=1e-10)
    far = model.step_P(X + 100.0, s)
    np.testing.assert_allclose(far.D, new.D, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_with_all_departures_the_objective_never_rises(method, X):
    cls = printed_with(method, *METHODS[method][1])
    labels = []
    for seed in (0, 1):
        model = cls(C, n_neighbors=K, n_components=2, max_iter=15, random_state=seed).fit(X)
        labels.append(model.labels_)
        assert not departures.ever_rose(model.history_)
        assert model.history_[-1].n_empty == 0
    np.testing.assert_array_equal(*labels)


# ---------------------------------------------------------------------------------- the table


def test_ever_rose_compares_within_a_lambda():
    def record(value, lam, **more):
        return SimpleNamespace(objective=value, lam=lam, **more)

    assert not departures.ever_rose([record(1.0, 1), record(2.0, 2), record(2.0, 2)])
    assert departures.ever_rose([record(1.0, 1), record(1.1, 1)])
    assert departures.ever_rose([record(1.0, 1, objective_before=0.9)])
    assert not departures.ever_rose([record(1.0, 1, objective_before=1.0)])


def test_settings_are_those_of_the_text():
    X = np.zeros((435, 16))
    assert departures.settings("DOGC", X, 2) == {
        "n_clusters": 2, "n_neighbors": 44, "n_components": 2, "alpha": 1e-4
    }  # fmt: skip
    assert departures.settings("DOGC-OS", X, 2)["p"] == 1.25
    model = departures.model_for("DOGC-OS", SAME, X, 2, 0)
    assert (model.n_neighbors, model.beta, model.penalties) == (44, 1e-2, "paper")
    assert isinstance(departures.model_for("DOGC", PRINTED, X, 2, 0), PrintedDOGC)
    assert isinstance(departures.model_for("DOGC-OS", ALL, X, 2, 0), PrintedDOGCOS)
    assert type(departures.model_for("DOGC", DEFAULTS, X, 2, 0)).__name__ == "DOGC"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(departures, "MAX_ITER", 2)
        how = Results(tmp_path_factory.mktemp("departures") / "runs.jsonl", 2)
        return departures.departures_table("lenses", how)


def test_the_table_has_every_line_once(rows):
    assert [(row["method"], row["variant"]) for row in rows] == [
        (method, line) for method in METHODS for line in departures.lines_of(method)
    ]
    for row in rows:
        seeds = {**dict.fromkeys(departures.CERTAIN, 1), departures.PUBLISHED: 4}
        assert row["seeds"] == seeds.get(row["variant"], 2)
        assert 0 < row["acc_q1"] <= row["acc_median"] <= row["acc_q3"] <= row["acc_best"] <= 1
        assert 0 <= row["exact"] <= 1
        assert np.isnan(row["rose"]) if row["variant"] == departures.PUBLISHED else row["rose"] <= 1


def test_the_command_writes_the_table_and_a_page_shows_it(rows, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(departures, "departures_table", lambda *arguments: rows)
    options = ["--datasets", "lenses", "--runs", "2", "--quiet", "--out", str(tmp_path)]
    command.main(["departures", *options])
    assert "lenses DOGC-OS xi fixed" in capsys.readouterr().out
    stored = pages.read_rows(tmp_path / "departures.csv")
    assert list(stored.variant) == [row["variant"] for row in rows]
    np.testing.assert_allclose(stored.acc_median, [row["acc_median"] for row in rows], atol=6e-5)
    monkeypatch.setattr(departures, "departures_table", lambda *a: pytest.fail("it was known"))
    command.main(["departures", *options])
    with pytest.raises(pytest.fail.Exception, match="it was known"):  # more seeds are new
        command.main(["departures", *options, "--runs", "3"])
    html = (tmp_path / "departures.html").read_text(encoding="utf-8")
    assert f"<td>{rows[0]['acc_median']:.4f}</td>" in html


def test_the_page_has_a_paragraph_for_every_departure():
    text = (DOCS / "departures.md").read_text(encoding="utf-8")
    assert text.count("<!-- table: departures -->") == text.count("<!-- end of table -->") == 1
    for name in METHODS["DOGC-OS"][1]:
        assert f"**{name}" in text, name
