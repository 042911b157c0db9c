"""Finite volumes and differences, and lattices."""

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter
from scipy.spatial import Delaunay

from families import FIT, REPORT, edges, family, grid, laplacian, random, reorder


def fluxes(sides, conductivity, spacing=None):
    """Edges of two-point fluxes on a grid, and their weights: harmonic means; spacing: of each side's cells."""
    all_i, all_j, all_w = [], [], []
    k = conductivity.transpose().ravel()
    for d in range(len(sides)):
        i, j = edges(sides, [int(d == e) for e in range(len(sides))])
        w = 2 * k[i] * k[j] / (k[i] + k[j])
        if spacing is not None:
            shape = [1] * len(sides)
            area = np.ones(sides)
            for e, h in enumerate(spacing):
                shape[e] = sides[e]
                area = area * (np.reshape(h, shape) if e != d else 1)
                shape[e] = 1
            h = np.broadcast_to(np.reshape(spacing[d], [-1 if e == d else 1 for e in range(len(sides))]), sides)
            area, h = area.transpose().ravel(), h.transpose().ravel()
            w = w * area[i] * 2 / (h[i] + h[j])
        all_i, all_j, all_w = all_i + [i], all_j + [j], all_w + [w]
    return np.concatenate(all_i), np.concatenate(all_j), np.concatenate(all_w)


@family(FIT)
def layers():
    """A boundary layer: cells get thinner toward a wall."""
    for nx, ny, ratio in ((100, 100, 1.05), (300, 60, 1.15)):
        h = ratio ** np.arange(ny)
        i, j, w = fluxes((nx, ny), np.ones((nx, ny)), (np.ones(nx) / nx, h / h.sum()))
        yield f"{nx}x{ny}", laplacian(nx * ny, i, j, w, 1e-3 * w.mean())


@family(REPORT)
def reservoir():
    """Permeabilities of many magnitudes, correlated along layers."""
    r = random("reservoir")
    for sides, size in (((30, 30, 12), 2.0), ((60, 110, 8), 3.0), ((40, 40, 40), 1.0)):
        k = gaussian_filter(r.normal(size=sides), (3, 3, 0.5))
        k = np.exp(size * k / k.std())
        i, j, w = fluxes(sides, k, (np.full(sides[0], 20.0), np.full(sides[1], 20.0), np.full(sides[2], 4.0)))
        yield "x".join(map(str, sides)), laplacian(np.prod(sides), i, j, w, 1e-4 * w.mean())


@family(FIT)
def groundwater():
    """The same in a plane with wells, numbered along the short side."""
    r = random("groundwater")
    for sides in ((50, 200), (120, 400)):
        k = gaussian_filter(r.normal(size=sides), 4)
        k = np.exp(2.0 * k / k.std())
        i, j, w = fluxes(sides, k)
        wells = np.where(r.random(np.prod(sides)) < 0.002, 10.0, 0)
        yield f"{sides[0]}x{sides[1]}", laplacian(np.prod(sides), i, j, w, wells + 1e-5)


@family(REPORT)
def cells():
    """Two-point fluxes between the cells of random points, in the order of the points, or sorted along a line."""
    r = random("cells")
    for n, way in ((10000, "random"), (30000, "sorted")):
        p = r.random((n, 2))
        p = p[np.lexsort((p[:, 1], np.floor(40 * p[:, 0])))] if way == "sorted" else p
        t = Delaunay(p).simplices
        e = np.unique(np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [0, 2]]]), axis=1), axis=0)
        w = 1 / np.maximum(np.linalg.norm(p[e[:, 0]] - p[e[:, 1]], axis=1) * np.sqrt(n), 0.05)
        yield f"{way}", laplacian(n, e[:, 0], e[:, 1], w, 1e-3)


def upwind(sides, flow, eps, reaction=0.0):
    """Upwind differences: flow has a component for each side, each an array over the grid."""
    n = np.prod(sides)
    A = sp.csr_matrix((n, n))
    for d in range(len(sides)):
        i, j = edges(sides, [int(d == e) for e in range(len(sides))])
        f = flow[d].transpose().ravel()
        f = 0.5 * (f[i] + f[j])
        h = 1.0 / sides[d]
        right, left = eps / h + np.maximum(-f, 0), eps / h + np.maximum(f, 0)  # from j to i, from i to j
        A = A + sp.coo_matrix(
            (np.concatenate([-right, -left]), (np.concatenate([i, j]), np.concatenate([j, i]))), (n, n)
        )
        A = A + sp.diags(np.bincount(i, left, n) + np.bincount(j, right, n))
        edge = np.isin(grid(*sides).ravel("F"), grid(*sides).take([0, sides[d] - 1], axis=d).ravel())
        A = A + sp.diags(edge * eps / h)
    return (A + sp.diags(np.full(n, reaction / min(sides)))).tocsr()


def vortex(sides):
    x, y = np.meshgrid(*[np.linspace(0, 1, s) for s in sides[:2]], indexing="ij")
    return np.sin(np.pi * x) * np.cos(np.pi * y), -np.cos(np.pi * x) * np.sin(np.pi * y)


@family(REPORT)
def upwind_plane():
    sides = (120, 120)
    for eps in (1e-1, 1e-2, 1e-3):
        yield f"vortex_{eps}", upwind(sides, vortex(sides), eps, 0.1)
    yield "straight_0.001", upwind(sides, (np.ones(sides), 0.3 * np.ones(sides)), 1e-3)
    A = upwind(sides, (np.ones(sides), 0.3 * np.ones(sides)), 1e-2)
    yield "shuffled_0.01", reorder(A, random("upwind").permutation(A.shape[0]))


@family(FIT)
def upwind_space():
    sides = (25, 25, 25)
    for eps in (1e-1, 1e-2, 1e-4):
        f = [np.full(sides, v) for v in (1.0, 0.5, 0.2)]
        yield f"straight_{eps}", upwind(sides, f, eps, 0.1)
    u, v = vortex(sides)
    f = [np.repeat(c[:, :, None], sides[2], 2) for c in (u, v)] + [np.full(sides, 0.1)]
    yield "vortex_0.003", upwind(sides, f, 3e-3, 0.1)


@family(FIT)
def central_plane():
    """Central differences for convection: off the diagonal of both signs, hardly any symmetry."""
    n = 110
    i, j = edges((n, n), (1, 0))
    k, l = edges((n, n), (0, 1))
    for wind in (0.5, 2.0, 8.0):
        A = laplacian(n * n, np.concatenate([i, k]), np.concatenate([j, l]), 1.0, 0.05)
        S = sp.coo_matrix((np.full(len(i), wind / 2), (i, j)), (n * n, n * n))
        yield f"{wind}", (A + S - S.T).tocsr()


@family(REPORT)
def options_market():
    """Prices of an option on two assets: cross derivatives, nine points, unsymmetric."""
    n = 100
    x = np.linspace(0.02, 2, n)
    X, Y = (c.ravel() for c in np.meshgrid(x, x))
    h = x[1] - x[0]
    for correlation, dt in ((0.5, 0.02), (-0.7, 0.2)):
        I, D1 = sp.identity(n), sp.diags([-0.5, 0.5], [-1, 1], (n, n)) / h
        D2 = sp.diags([1, -2, 1], [-1, 0, 1], (n, n)) / h**2
        L = 0.5 * 0.16 * sp.diags(X * X) @ sp.kron(I, D2) + 0.5 * 0.09 * sp.diags(Y * Y) @ sp.kron(D2, I)
        L = L + correlation * 0.12 * sp.diags(X * Y) @ sp.kron(D1, D1)
        L = L + 0.05 * (sp.diags(X) @ sp.kron(I, D1) + sp.diags(Y) @ sp.kron(D1, I)) - 0.05 * sp.identity(n * n)
        yield f"{correlation}", (sp.identity(n * n) - dt * L).tocsr()


@family(FIT)
def neutrons():
    """Groups of neutrons that scatter downward, in a core of two materials; groups of a cell together."""
    n, groups = 45, 5
    r = random("neutrons")
    for upscatter in (0.0, 0.3):
        core = (np.hypot(*np.meshgrid(*[np.linspace(-1, 1, n)] * 2)) < 0.7).astype(float)
        A = sp.csr_matrix((n * n * groups, n * n * groups))
        for g in range(groups):
            i, j, w = fluxes((n, n), 0.3 + core / (1 + g))
            one = sp.coo_matrix(([1.0], ([g], [g])), (groups, groups))
            A = A + sp.kron(laplacian(n * n, i, j, w, 0.05 + 0.02 * g), one)
        S = np.tril(r.random((groups, groups)), -1) * 0.05 + upscatter * np.triu(r.random((groups, groups)), 1) * 0.05
        yield f"{upscatter}", (A - sp.kron(sp.diags(core.ravel()), S)).tocsr()


@family(REPORT)
def reactor():
    """Species that react in each cell of a flow."""
    r = random("reactor")
    for sides, species in (((40, 40), 6), ((200, 8), 10)):
        T = upwind(sides, (np.ones(sides), np.zeros(sides)), 0.05)
        J = r.random((species, species)) * (r.random((species, species)) < 0.4)
        J = np.diag(J.sum(axis=0) + 0.1) - J.T
        rate = np.exp(r.normal(size=sides).ravel())
        yield f"{species}", (sp.kron(T, sp.identity(species)) + sp.kron(sp.diags(rate), J)).tocsr()


@family(FIT)
def slabs_in_time():
    """All time steps of a heat equation at once: the order of rows follows time."""
    for n, steps, dt in ((20, 30, 0.2), (200, 60, 1.0)):
        space = (n, n) if n < 100 else (n,)
        i, j, w = fluxes(space, np.ones(space))
        A = laplacian(np.prod(space), i, j, w)
        I = sp.identity(A.shape[0])
        yield (
            f"{steps}",
            (sp.kron(sp.identity(steps), I + dt * A) - sp.kron(sp.diags([1.0], [-1], (steps, steps)), I)).tocsr(),
        )


@family(REPORT)
def honeycomb():
    """Periodic honeycomb lattices: three neighbors each."""
    r = random("honeycomb")
    for nx, ny, disorder in ((64, 64, 0.0), (256, 128, 0.0), (128, 64, 1.0)):
        cells_ = grid(nx, ny).ravel()
        i, j = [], []
        for step in ((0, 0), (1, 0), (0, 1)):
            _, to = edges((nx, ny), step, True)
            i, j = i + [2 * cells_], j + [2 * to + 1]
        i, j = np.concatenate(i), np.concatenate(j)
        yield f"{nx}x{ny}_{disorder}", laplacian(2 * nx * ny, i, j, np.exp(disorder * r.normal(size=len(i))), 0.01)


@family(FIT)
def kagome():
    for nx in (40, 90):
        i, j = [], []
        for a, b, step in (
            (0, 1, (0, 0)),
            (0, 2, (0, 0)),
            (1, 2, (0, 0)),
            (1, 0, (1, 0)),
            (2, 0, (0, 1)),
            (2, 1, (-1, 1)),
        ):
            at, to = edges((nx, nx), step, True)
            i, j = i + [3 * at + a], j + [3 * to + b]
        yield nx, laplacian(3 * nx * nx, np.concatenate(i), np.concatenate(j), 1.0, 0.02)


@family(FIT)
def torus():
    """Periodic grids of four dimensions."""
    for n, mass in ((8, 0.1), (12, 0.02)):
        i, j = zip(*[edges((n,) * 4, [int(d == e) for e in range(4)], True) for d in range(4)])
        yield n, laplacian(n**4, np.concatenate(i), np.concatenate(j), 1.0, mass)


@family(REPORT)
def crystal():
    """Face-centered cubic, twelve neighbors, springs of chance."""
    r = random("crystal")
    steps = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -1, 0), (0, 1, -1), (1, 0, -1)]
    for n, spread in ((16, 0.0), (30, 1.5)):
        i, j = (np.concatenate(c) for c in zip(*[edges((n,) * 3, s) for s in steps]))
        yield n, laplacian(n**3, i, j, np.exp(spread * r.normal(size=len(i))), 0.01)


@family(REPORT)
def fourth_order():
    """Differences of fourth order: entries of both signs."""
    for n in (90, 180):
        D = sp.diags([1 / 12, -4 / 3, 5 / 2, -4 / 3, 1 / 12], [-2, -1, 0, 1, 2], (n, n))
        yield n, (sp.kron(sp.identity(n), D) + sp.kron(D, sp.identity(n))).tocsr()


@family(FIT)
def helmholtz():
    """A shifted Laplacian that is no longer definite."""
    n = 100
    i, j = (np.concatenate(c) for c in zip(edges((n, n), (1, 0)), edges((n, n), (0, 1))))
    for shift in (-0.002, -0.01):
        A = laplacian(n * n, i, j, 1.0)
        B = sp.diags((4 - np.asarray((A != 0).sum(axis=1)).ravel() + 1).clip(0))
        yield f"{-shift}", (A + B + shift * sp.identity(n * n)).tocsr()


@family(REPORT)
def larger():
    """Some larger systems."""
    i, j, w = fluxes((400, 500), np.ones((400, 500)))
    yield "plane", laplacian(200000, i, j, w, 1e-4)
    r = random("larger")
    sides = (60, 60, 60)
    k = np.exp(r.normal(size=sides).round(1))
    i, j, w = fluxes(sides, k)
    yield "space", laplacian(216000, i, j, w.round(2) + 0.01, 1e-3)
    yield "wind", upwind((300, 400), (np.ones((300, 400)), np.full((300, 400), 0.3)), 0.01)
