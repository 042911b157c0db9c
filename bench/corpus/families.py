"""What the modules of families share: a table of families, and helpers."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

FIT, REPORT = (
    "fit",
    "report",
)  # what a family is for: constants are fitted to one half, results are reported of the other
TABLE = {}  # name -> (use, function that yields (member, matrix))


def family(use):
    """Puts a generator of (member, matrix) into the table. Whole families are left out of the fit, not members."""

    def add(make):
        TABLE[make.__name__] = (use, make)
        return make

    return add


def random(name):
    """A generator of random numbers, seeded by a name."""
    return np.random.default_rng([ord(c) for c in name])


def grid(*sides):
    """Numbers of the points of a grid, the first side fastest, as an array with a dimension for each side."""
    return np.arange(np.prod(sides)).reshape(sides[::-1]).transpose()


def edges(sides, step, periodic=False):
    """Pairs of points of a grid that are a step (a vector) apart."""
    g = grid(*sides)
    if periodic:
        return g.ravel(), np.roll(g, [-s for s in step], range(len(sides))).ravel()
    low = tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(step, sides))
    high = tuple(slice(max(0, s), n - max(0, -s)) for s, n in zip(step, sides))
    return g[low].ravel(), g[high].ravel()


def laplacian(rows, i, j, weights, diagonal=0.0):
    """The weighted Laplacian of a graph with these edges, and a diagonal added to it."""
    w = np.broadcast_to(weights, np.shape(i)).astype(float)
    W = sp.coo_matrix((w, (i, j)), (rows, rows)).tocsr()
    W = W + W.T
    return (sp.diags(np.asarray(W.sum(axis=1)).ravel() + diagonal) - W).tocsr()


def reorder(A, order):
    return A.tocsr()[order][:, order]


def rcm(A, start):
    """A in the reverse order of Cuthill and McKee, which starts from the shortest row of each component.

    Of rows of equal length start comes first. The others keep their order. SciPy's function has the order of an
    unstable sort, which depends on the CPU. The values of start are those with which results/ were measured."""
    length = np.diff(A.tocsr().indptr)
    order = np.lexsort((np.arange(len(length)) != start, length))
    B = reorder(A, order)
    B.sort_indices()
    firsts = np.sort(np.unique(connected_components(B)[1], return_index=True)[1])
    parts = [breadth_first_order(B, first, return_predecessors=False) for first in firsts]
    return reorder(A, order[np.concatenate(parts)[::-1]])
