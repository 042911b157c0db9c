"""Optimization, circuits, networks, poses."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay, cKDTree

from families import FIT, REPORT, edges, family, laplacian, random, rcm, reorder


def plane(n):
    i, j = (np.concatenate(c) for c in zip(edges((n, n), (1, 0)), edges((n, n), (0, 1))))
    return laplacian(n * n, i, j, 1.0, 0.01)


@family(REPORT)
def control():
    """Optimal control of a Poisson equation: states, controls, adjoints; by blocks or by points."""
    for n, weight, together in ((45, 1e-2, False), (60, 1e-1, True)):
        L, I = plane(n), sp.identity(n * n)
        A = sp.bmat([[I, None, L], [None, weight * I, -I], [L, -I, -1e-3 * I]]).tocsr()
        yield ("points" if together else "blocks"), (
            reorder(A, np.arange(3 * n * n).reshape(3, -1).T.ravel()) if together else A
        )


@family(FIT)
def quadratic():
    """KKT systems of random quadratic programs, as an interior point method regularizes them."""
    r = random("quadratic")
    for n, m in ((4000, 2000), (9000, 6000)):
        H = sp.random(n, n, 2.0 / n, random_state=r)
        H = H @ H.T + sp.diags(10.0 ** r.uniform(-1, 2, n))
        A = sp.random(m, n, 4.0 / n, random_state=r)
        yield f"{n}", sp.bmat([[H, A.T], [A, -1e-1 * sp.identity(m)]]).tocsr()


@family(REPORT)
def predictive():
    """KKT systems of model predictive control: stages one behind the other."""
    r = random("predictive")
    for stages, states, inputs in ((400, 8, 3), (1500, 4, 2)):
        per = 2 * states + inputs
        A = 0.9 * np.eye(states) + 0.1 * r.normal(size=(states, states))
        B = r.normal(size=(states, inputs))
        K = np.zeros((per, per))  # states, inputs, multipliers
        K[:states, :states], K[states : states + inputs, states : states + inputs] = np.eye(states), 0.1 * np.eye(
            inputs
        )
        K[states + inputs :, : states + inputs] = np.hstack([A, B])
        K[: states + inputs, states + inputs :] = np.hstack([A, B]).T
        K[states + inputs :, states + inputs :] = -0.05 * np.eye(states)
        E = np.zeros((per, per))  # a multiplier of a stage and the states of the next
        E[states + inputs :, :states] = -np.eye(states)
        up = sp.kron(sp.diags([1.0], [1], (stages, stages)), E)
        yield f"{stages}", (sp.kron(sp.identity(stages), K) + up + up.T).tocsr()


@family(FIT)
def power_grid():
    """Supply wires of a chip: layers of lines in turn, with vias between them."""
    r = random("power_grid")
    for n, layers in ((60, 3), (110, 4)):
        i, j, w = [], [], []
        for l in range(layers):
            a, b = edges((n, n), (1, 0) if l % 2 else (0, 1))
            i, j, w = i + [a + l * n * n], j + [b + l * n * n], w + [np.full(len(a), 2.0**l)]
            if l:
                via = np.nonzero(r.random(n * n) < 0.3 / l)[0]
                i, j, w = i + [via + (l - 1) * n * n], j + [via + l * n * n], w + [np.full(len(via), 5.0)]
        rows = layers * n * n
        pads = np.where(r.random(rows) < 0.01, 1.0, 1e-3)
        yield layers, laplacian(rows, np.concatenate(i), np.concatenate(j), np.concatenate(w), pads)


@family(REPORT)
def transistors():
    """Circuits with controlled sources: a conductance from other nodes in a row; unsymmetric."""
    r = random("transistors")
    for n in (6000, 25000):
        i, j = np.arange(n - 1), np.maximum(0, np.arange(1, n) - r.geometric(0.2, n - 1))
        k, l = r.integers(0, n, (2, n // 2))
        A = laplacian(
            n, np.concatenate([i + 1, k]), np.concatenate([j, l]), 10.0 ** r.uniform(-1, 1, n - 1 + n // 2), 0.05
        )
        gate, drain = r.integers(0, n, (2, n // 3))
        A = A + sp.coo_matrix((r.uniform(0.1, 2, n // 3), (drain, gate)), (n, n))
        yield n, A.tocsr()


@family(FIT)
def operational():
    """Larger amplifications, hardly symmetric, numbered by subcircuits."""
    r = random("operational")
    for blocks, size in ((300, 20), (900, 25)):
        n = blocks * size
        k = r.integers(0, size, (2, 3 * n)) + size * r.integers(0, blocks, 3 * n)
        far = r.integers(0, n, (2, n // 10))
        e = np.concatenate([k, far], axis=1)
        A = laplacian(n, e[0], e[1], 10.0 ** r.uniform(-1, 1, e.shape[1]), 0.05)
        S = sp.coo_matrix(
            (r.uniform(-3, 3, n), (r.integers(0, size, n) + size * np.repeat(np.arange(blocks), size), np.arange(n))),
            (n, n),
        )
        yield blocks, (A + S + sp.diags(np.full(n, 6.0))).tocsr()


def poses(r, steps, size, reach):
    """A walk through a city: its places, and pairs of poses that see each other again."""
    turn = r.integers(0, 4, steps) * (np.arange(steps) % 8 == 0)
    heading = np.cumsum(turn) % 4
    at = np.cumsum(np.stack([np.array([1, 0, -1, 0])[heading], np.array([0, 1, 0, -1])[heading]], 1), axis=0) % size
    pairs = cKDTree(at + r.normal(size=at.shape) * 0.1).query_pairs(0.8, output_type="ndarray")
    pairs = pairs[r.random(len(pairs)) < reach * steps / max(len(pairs), 1)]
    return pairs


def information(r, steps, i, j, dof, spread):
    """The normal equations of relative poses."""
    n = len(i)
    J = np.eye(dof) + spread * r.normal(size=(n, dof, dof))
    W = 10.0 ** r.uniform(0, 2, (n, dof, 1))
    rows = (dof * np.arange(n)[:, None, None] + np.arange(dof)[None, :, None]) + np.zeros((1, 1, dof), int)
    of = lambda v: dof * v[:, None, None] + np.zeros((1, dof, 1), int) + np.arange(dof)[None, None, :]
    G = sp.coo_matrix(
        (
            np.concatenate([(W * J).ravel(), (-W * np.eye(dof)).ravel()]),
            (
                np.concatenate([rows.ravel()] * 2),
                np.concatenate([(of(i) + 0 * rows).ravel(), (of(j) + 0 * rows).ravel()]),
            ),
        ),
        (n * dof, steps * dof),
    ).tocsr()
    return (G.T @ G + 1.0 * sp.identity(steps * dof)).tocsr()


@family(REPORT)
def poses_plane():
    r = random("poses_plane")
    for steps, size in ((3000, 40), (9000, 100)):
        loops = poses(r, steps, size, 0.8)
        i, j = np.concatenate([np.arange(steps - 1), loops[:, 0]]), np.concatenate([np.arange(1, steps), loops[:, 1]])
        yield steps, information(r, steps, i, j, 3, 0.3)


@family(FIT)
def poses_space():
    r = random("poses_space")
    for steps, size in ((1500, 30), (4000, 60)):
        loops = poses(r, steps, size, 0.5)
        i, j = np.concatenate([np.arange(steps - 1), loops[:, 0]]), np.concatenate([np.arange(1, steps), loops[:, 1]])
        yield steps, information(r, steps, i, j, 6, 0.2)


@family(REPORT)
def bundles():
    """Cameras and points: points see a few cameras each; damped normal equations."""
    r = random("bundles")
    for cameras, points in ((100, 3000), (250, 8000)):
        first = r.integers(0, cameras, points)
        seen = (first[:, None] + r.integers(0, 12, (points, 4))) % cameras
        n = points * 4
        at = np.repeat(np.arange(2 * n), 9)
        point = 3 * np.repeat(np.arange(points), 4)[:, None, None] + np.zeros((1, 2, 1), int) + np.arange(3)
        camera = 3 * points + 6 * seen.ravel()[:, None, None] + np.zeros((1, 2, 1), int) + np.arange(6)
        J = sp.coo_matrix((r.normal(size=len(at)), (at, np.concatenate([point, camera], axis=2).ravel())))
        H = (J.T @ J).tocsr()
        yield cameras, (H + 0.05 * sp.diags(H.diagonal())).tocsr()


@family(FIT)
def geometric():
    """Sensors that reach their neighbors, in the order in which they came, and in that of Cuthill and McKee."""
    r = random("geometric")
    for n, ordered in ((10000, True), (20000, False)):
        p = r.random((n, 2))
        e = cKDTree(p).query_pairs(np.sqrt(8 / (np.pi * n)), output_type="ndarray")
        A = laplacian(n, e[:, 0], e[:, 1], 1.0, 0.02)
        yield ("rcm" if ordered else "random"), rcm(A, 7758) if ordered else A


@family(REPORT)
def roads():
    """A spanning tree of random places and some shorter edges."""
    r = random("roads")
    for n in (10000, 40000):
        p = r.random((n, 2))
        p = p[np.argsort(np.floor(30 * p[:, 0]) * 2 + p[:, 1])]
        t = Delaunay(p).simplices
        e = np.unique(np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [0, 2]]]), axis=1), axis=0)
        d = np.linalg.norm(p[e[:, 0]] - p[e[:, 1]], axis=1)
        T = minimum_spanning_tree(sp.coo_matrix((d, (e[:, 0], e[:, 1])), (n, n)).tocsr()).tocoo()
        more = e[r.random(len(e)) < 0.1]
        i, j = np.concatenate([T.row, more[:, 0]]), np.concatenate([T.col, more[:, 1]])
        w = 1 / (np.linalg.norm(p[i] - p[j], axis=1) * np.sqrt(n) + 0.1)
        A = laplacian(n, i, j, w, 0.01)
        A.sum_duplicates()
        yield n, A


@family(FIT)
def friends():
    """A ring with short cuts; new members who know old ones."""
    r = random("friends")
    n = 20000
    i = np.repeat(np.arange(n), 3)
    j = (i + np.tile([1, 2, 3], n)) % n
    j = np.where(r.random(3 * n) < 0.05, r.integers(0, n, 3 * n), j)
    keep = i != j
    yield "ring", laplacian(n, i[keep], j[keep], 1.0, 0.05)
    j = (np.repeat(np.arange(1, n), 3) * r.random(3 * (n - 1)) ** 2).astype(int)
    i = np.repeat(np.arange(1, n), 3)
    e = np.unique(np.stack([i, j], 1), axis=0)
    yield "hubs", laplacian(n, e[:, 0], e[:, 1], 1.0, 0.05)


@family(REPORT)
def pixels():
    """Random walks among the pixels of a picture: weights by differences."""
    r = random("pixels")
    for n, sharp in ((100, 10.0), (200, 60.0)):
        x, y = np.meshgrid(*[np.linspace(0, 1, n)] * 2)
        picture = (np.sin(9 * x + 4 * y * y) > 0) * 0.5 + 0.1 * r.random((n, n))
        picture = picture.transpose().ravel()
        i, j = (np.concatenate(c) for c in zip(*[edges((n, n), s) for s in ((1, 0), (0, 1), (1, 1), (1, -1))]))
        w = np.exp(-sharp * (picture[i] - picture[j]) ** 2) + 1e-4
        yield n, laplacian(n * n, i, j, w, np.where(r.random(n * n) < 0.01, 1.0, 1e-4))


@family(FIT)
def surfing():
    """Ranks of pages: links by chance, most to pages of the same site."""
    r = random("surfing")
    for n, alpha in ((10000, 0.85), (30000, 0.95)):
        i = r.integers(0, n, 6 * n)
        j = np.where(r.random(6 * n) < 0.7, i // 50 * 50 + r.integers(0, 50, 6 * n), r.integers(0, n, 6 * n)) % n
        P = sp.coo_matrix((np.ones(6 * n), (i, j)), (n, n)).tocsr()
        P = sp.diags(1 / np.maximum(np.asarray(P.sum(axis=1)).ravel(), 1)) @ P
        yield n, (sp.identity(n) - alpha * P.T).tocsr()


@family(REPORT)
def queues():
    """A chain of Markov: customers in two or three queues; unsymmetric, diagonal of a generator."""
    for sides, rates in (((100, 100), (1.0, 1.3)), ((24, 24, 24), (1.0, 1.1, 1.5))):
        n = int(np.prod(sides))
        Q = sp.csr_matrix((n, n))
        for d, service in enumerate(rates):
            step = [int(d == e) for e in range(len(sides))]
            i, j = edges(sides, step)
            Q = Q + sp.coo_matrix((np.ones(len(i)), (i, j)), (n, n)) if d == 0 else Q
            if d + 1 < len(sides):
                pass_on = [-int(d == e) + int(d + 1 == e) for e in range(len(sides))]
                i, j = edges(sides, pass_on)
            else:
                j, i = i, j
            Q = Q + sp.coo_matrix((np.full(len(i), service), (i, j)), (n, n))
        Q = Q.tocsr()
        yield f"{len(sides)}", (sp.diags(np.asarray(Q.sum(axis=1)).ravel() + 0.02) - Q.T).tocsr()
