"""Several numbers of clusters, one method."""

import re
import warnings

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs

from conftest import refused
from dogc import DOGC, NormalizedCut, explore
from dogc.quality import evidence

# Two far pairs of groups: two, then four.
CENTRES = [(0, 0), (0, 5), (30, 0), (30, 5)]


@pytest.fixture(scope="module")
def pairs():
    return make_blobs(80, centers=CENTRES, cluster_std=0.5, random_state=0)[0]


@pytest.fixture(scope="module")
def found(pairs):
    return explore(pairs, range(2, 5))


def test_pairs_split_one_after_the_other(found, pairs):
    assert [row.n_clusters for row in found] == [2, 3, 4]
    for step in found.steps:
        assert step.nested == 1.0
        assert [change.kind for change in step.changes] == ["split"]
    assert found[4].sizes == dict.fromkeys(range(4), 20)
    assert found.proposed in (2, 4)
    for row in found:
        assert row.evidence == row.estimator.evidence_
        own, named = DOGC(row.n_clusters).fit_predict(pairs), row.labels
        assert len(set(zip(own.tolist(), named.tolist(), strict=True))) == row.n_clusters
    with pytest.raises(KeyError, match="9 was not tried; these were: \\[2, 3, 4\\]"):
        found[9]


def test_it_prints_and_becomes_a_frame(found):
    text = str(found)
    assert f"* {found.proposed} clusters are proposed: the highest score. A score above 0" in text
    scores = {row.n_clusters: row.score for row in found}
    assert max(scores, key=scores.get) == found.proposed
    assert "2 to 3: Cluster" in text
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert frame.index.tolist() == [2, 3, 4]
    assert frame.loc[3, "changes"].startswith("Cluster")
    assert frame.loc[4, "sizes"] == "20 20 20 20"
    assert np.isnan(frame.loc[2, "nested"])


def test_a_proposal_is_one_of_the_numbers_that_were_tried(pairs):
    found = explore(pairs, [5, 6])
    scores = {row.n_clusters: row.score for row in found}
    assert found.proposed == max(scores, key=scores.get)
    outside = (
        "[24] clusters, which were not tried, .* the numbers tried, [56] scores highest and is"
    )
    assert re.match(outside, found.lead())
    cloud = explore(np.random.default_rng(0).normal(size=(200, 3)), [2, 3])
    assert cloud.proposed in (2, 3)
    assert cloud.lead().startswith("No cluster structure was detected: 1 cluster has the highest")


@pytest.mark.parametrize("model", [NormalizedCut(2), KMeans(2, n_init=1, random_state=0)])
def test_methods_that_propose_nothing_are_explored_too(model, pairs):
    found = explore(pairs, [4, 2, 4], model)
    assert [row.n_clusters for row in found] == [2, 4]
    assert found.proposed is None
    assert found.lead() == ""
    assert "proposed" not in str(found)
    assert np.isnan(found[2].score)
    assert found[2].evidence == evidence(pairs, found[2].labels)


def test_what_a_fit_warns_of_is_noted():
    X = np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = explore(X, [2, 4], KMeans(2, n_init=1, random_state=0))
    assert "distinct clusters" in found[4].note
    assert found[2].note == ""


def test_bad_arguments_are_refused_before_a_fit(pairs):
    refused("n_clusters is empty", explore, pairs, [])
    refused("n_clusters", explore, pairs, [2, 200])
    refused("a clusterer with n_clusters, such as DOGC", explore, pairs, method=DBSCAN())
