import csv
import pathlib
import re

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score

import dogc.datasets
from dogc import DOGC, compare
from dogc.datasets import (
    UCI_NAMES,
    load_uci,
    make_multi_cluster,
    make_two_gaussians,
    make_two_moons,
)

FILES = pathlib.Path(dogc.datasets.__file__).parent / "data"

# Rows, features and classes as in the paper's table, but for solar and vote, whose files have
# one row more than the paper counts.
SHAPES = {
    "solar": (323, 12, 6),
    "vehicle": (846, 18, 4),
    "vote": (435, 16, 2),
    "ecoli": (336, 7, 8),
    "wine": (178, 13, 3),
    "glass": (214, 9, 6),
    "lenses": (24, 4, 3),
    "heart": (270, 13, 2),
    "zoo": (101, 16, 7),
    "cars": (392, 7, 3),
    "auto": (205, 25, 6),
    "balance": (625, 4, 3),
}
each = pytest.mark.parametrize("name", UCI_NAMES)


def cells(path):
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


def value(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


@each
def test_the_bundled_files_hold_what_uci_has(name, shared_data):
    _, rows = cells(FILES / f"{name}.csv")
    _, expected = cells(shared_data / f"{name}.csv")
    assert len(rows) == len(expected)
    for row, other in zip(rows, expected, strict=True):
        assert [value(cell) for cell in row[:-1]] == [value(cell) for cell in other[:-1]]
    classes = {(row[-1], other[-1]) for row, other in zip(rows, expected, strict=True)}
    assert len(classes) == len(dict(classes)) == len({b for _, b in classes})


@pytest.mark.parametrize("name", ["solar", "vehicle", "ecoli", "glass", "auto"])
def test_ordinal_codes_are_those_of_the_files_that_circulated(name, shared_data):
    _, rows = cells(shared_data / "uni" / f"{name}.csv")
    expected = np.array(rows, dtype=float)[:, :-1]
    data = load_uci(name, encoding="ordinal", missing="mark").data
    # In one of them the features stand behind a block that only numbers the rows.
    np.testing.assert_array_equal(data, expected[:, -data.shape[1] :])


def test_all_files_together_are_small():
    assert sum(path.stat().st_size for path in FILES.glob("*.csv")) < 250_000
    assert {path.stem for path in FILES.glob("*.csv")} == {*UCI_NAMES, "sources"}


@each
def test_shapes_are_those_of_the_paper_and_the_source_is_credited(name):
    bunch = load_uci(name)
    n, d, c = SHAPES[name]
    assert bunch.data.shape == (n, d)
    assert bunch.data.dtype == np.float64
    assert np.isfinite(bunch.data).all()
    assert len(bunch.feature_names) == len(set(bunch.feature_names)) == d
    assert len(bunch.target_names) == c
    assert set(bunch.target) == set(range(c))
    assert bunch.frame is None
    assert re.search(r"https://doi\.org/10\.24432/C\w+", bunch.DESCR)
    assert "CC BY 4.0" in bunch.DESCR
    assert f"{n} rows" in bunch.DESCR


@pytest.mark.parametrize("encoding", ["ordinal", "onehot", "raw"])
def test_frames_and_pairs_hold_the_same(encoding):
    for name in ("wine", "auto"):  # numbers alone; text and gaps
        bunch = load_uci(name, encoding=encoding)
        X, y = load_uci(name, encoding=encoding, return_X_y=True)
        framed = load_uci(name, encoding=encoding, as_frame=True)
        assert pd.DataFrame(X).equals(pd.DataFrame(bunch.data))
        np.testing.assert_array_equal(y, bunch.target)
        assert list(framed.frame.columns) == [*bunch.feature_names, "class"]
        np.testing.assert_array_equal(framed.target, bunch.target)
        if encoding != "raw":
            np.testing.assert_array_equal(framed.data.to_numpy(), bunch.data)


def test_raw_keeps_text_and_gaps():
    auto = load_uci("auto", encoding="raw", as_frame=True).frame
    assert auto["make"].iloc[0] == "alfa-romero"
    assert auto.isna().sum().sum() == 59
    assert auto["length"].dtype == float
    assert load_uci("wine", encoding="raw").data.dtype == float
    cars = load_uci("cars", encoding="raw", row_names=True).data
    assert cars[0, -1] == "chevrolet chevelle malibu"


def test_ordinal_codes_count_first_appearances_and_gaps_are_filled_or_marked():
    raw = load_uci("auto", encoding="raw", as_frame=True).data
    filled, marked = (load_uci("auto", missing=m, as_frame=True).data for m in ("impute", "mark"))
    order = {make: float(i) for i, make in enumerate(dict.fromkeys(raw["make"]), 1)}
    np.testing.assert_array_equal(filled["make"], raw["make"].map(order))
    gaps = raw["normalized_losses"].isna()
    assert (marked["normalized_losses"][gaps] == -99999).all()
    assert filled["normalized_losses"][gaps].to_numpy() == pytest.approx(
        raw["normalized_losses"].astype(float).mean()
    )
    doors = raw["num_of_doors"].isna()
    assert (filled["num_of_doors"][doors] == filled["num_of_doors"].mode()[0]).all()
    assert (marked["num_of_doors"][doors] == -99999).all()


def test_one_column_for_each_category():
    onehot = load_uci("lenses", encoding="onehot", as_frame=True).data
    assert list(onehot.columns[:3]) == ["age=young", "age=pre-presbyopic", "age=presbyopic"]
    assert set(np.unique(onehot)) == {0.0, 1.0}
    groups = onehot.T.groupby(onehot.columns.str.split("=").str[0]).sum().T
    assert (groups == 1.0).all().all()
    doors = load_uci("auto", encoding="onehot", as_frame=True).data.filter(like="num_of_doors=")
    assert (doors.sum(axis=1) == 0).sum() == 2  # missing: none of them


def test_an_empty_vote_is_an_answer_of_its_own():
    X = load_uci("vote").data
    assert set(np.unique(X)) == {1.0, 2.0, 3.0}
    assert load_uci("vote", encoding="onehot").data.shape == (435, 48)


def test_an_encoded_car_is_its_make_which_tells_its_class_and_is_left_out():
    for encoding in ("ordinal", "onehot", "raw"):
        assert "car_name" not in " ".join(load_uci("cars", encoding=encoding).feature_names)
    names = load_uci("cars", encoding="onehot", row_names=True).feature_names
    assert "car_name=chevrolet" in names
    assert sum(name.startswith("car_name=") for name in names) == 37
    cars = load_uci("cars", row_names=True, as_frame=True).frame
    assert cars.shape == (392, 9)
    assert (cars.groupby("car_name")["class"].nunique() == 1).all()


@pytest.mark.parametrize(
    ("load", "arguments", "says"),
    [
        (load_uci, {"name": "iris"}, "name must be one of 'solar', 'vehicle'"),
        (load_uci, {"name": "wine", "encoding": "binary"}, "encoding must be one of 'ordinal'"),
        (load_uci, {"name": "wine", "missing": "drop"}, "missing must be one of 'impute', 'mark'"),
        (make_multi_cluster, {"n_clusters": 0}, "n_clusters must be an integer of at least 1"),
        (make_multi_cluster, {"noise": -1}, "noise must be a finite number of at least 0"),
        (make_two_moons, {"n_samples": 1.5}, "n_samples must be an integer"),
        (make_two_gaussians, {"distance": 0}, "distance must be a finite number above 0"),
    ],
)
def test_bad_arguments_get_one_sentence(load, arguments, says):
    with pytest.raises(ValueError, match=says):
        load(**arguments)


# ---------------------------------------------------------------------------- synthetic


def test_the_centres_of_many_clusters_lie_evenly_on_the_sphere():
    centres, y = make_multi_cluster(n_per_cluster=1, noise=0.0)
    np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 1.0)
    assert len(centres) == len(set(y)) == 36
    assert pdist(centres).min() > 0.5
    np.testing.assert_allclose(centres.mean(axis=0), 0.0, atol=0.01)


def test_noise_is_the_deviation_in_every_direction():
    X, y = make_multi_cluster(4, n_per_cluster=4000, noise=0.07, random_state=0)
    for j in range(4):
        np.testing.assert_allclose(X[y == j].std(axis=0), 0.07, rtol=0.05)


def test_the_moons_are_solved_by_graphs_only_and_many_clusters_are_found():
    X, y = make_two_moons(random_state=0)
    table = compare(X, 2, ["KM", "DOGC"], y)
    assert table["DOGC"].scores["acc"] == 1.0
    assert table["KM"].scores["acc"] < 0.95
    X, y = make_multi_cluster(noise=0.05, random_state=0)
    assert adjusted_rand_score(y, DOGC(36, n_components=None).fit_predict(X)) == 1.0


def test_two_gaussians_are_parted_along_the_thin_axis():
    X, y = make_two_gaussians(20_000, distance=0.5, random_state=0)
    assert X[y == 1, 1].mean() - X[y == 0, 1].mean() == pytest.approx(0.5, abs=0.01)
    assert X[y == 0].std(axis=0) == pytest.approx([1.0, 0.1], rel=0.03)
    for distance, widest in ((4.0, 1), (1.0, 0)):
        X, _ = make_two_gaussians(2000, distance=distance, random_state=0)
        assert X.var(axis=0).argmax() == widest


@pytest.mark.parametrize("make", [make_multi_cluster, make_two_moons, make_two_gaussians])
def test_a_seed_fixes_the_rows_and_leaves_the_global_state_alone(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    np.testing.assert_array_equal(make(random_state=3)[0], make(random_state=3)[0])
    assert not np.array_equal(make(random_state=3)[0], make(random_state=4)[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
