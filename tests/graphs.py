"""Graphs and small checks that several test files use."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial import cKDTree


def neighbour_graph(Z, k):
    """Weights that fall with distance on the k nearest rows, symmetric."""
    distance, idx = cKDTree(Z).query(Z, k + 1)
    weight = np.exp(-(distance[:, 1:] ** 2))
    rows = np.repeat(np.arange(len(Z)), k)
    S = sp.csr_array((weight.ravel() / k, (rows, idx[:, 1:].ravel())), shape=(len(Z),) * 2)
    return (S + S.T) * 0.5


def laplacian(S):
    S = sp.csr_array(S)
    return sp.csr_array(sp.diags_array(np.asarray(S.sum(axis=1)).ravel()) - S)


def orthonormal(rng, n, c):
    return np.linalg.qr(rng.standard_normal((n, c)))[0]


def assert_orthonormal(F):
    np.testing.assert_allclose(F.T @ F, np.eye(F.shape[1]), rtol=0, atol=1e-12)


def clique(n):
    return np.ones((n, n)) - np.eye(n)


def ring(n):
    S = np.zeros((n, n))
    for i in range(n):
        S[i, (i + 1) % n] = S[(i + 1) % n, i] = 1.0
    return S


def lattice(side):
    path = np.diag(np.ones(side - 1), 1)
    path += path.T
    return np.kron(path, np.eye(side)) + np.kron(np.eye(side), path)


def cliques_around_a_hub(how_many, size):
    S = scipy.linalg.block_diag(np.zeros((1, 1)), *[clique(size)] * how_many)
    gates = 1 + size * np.arange(how_many)
    S[0, gates] = S[gates, 0] = 0.1
    return S


def blobs(seed, sizes, gap):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((sum(sizes), 2))
    Z[:, 0] += gap * np.repeat(np.arange(len(sizes)), sizes)
    return neighbour_graph(Z, 8).toarray()
