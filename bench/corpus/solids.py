"""Finite elements in curved bodies and of higher degrees, most of them with 50 to 140 entries a row."""

import numpy as np
import scipy.sparse as sp
import skfem
from skfem import Basis, BilinearForm
from skfem.helpers import ddot, div, sym_grad
from skfem.models.elasticity import lame_parameters
from skfem.models.poisson import laplace

from elements import elastic, inside, scattered, submatrix
from families import REPORT, family


def bent(mesh, kind, move):
    """The mesh with curved elements, whose points move; kind: of the curved mesh."""
    m = kind.from_mesh(mesh)
    return kind(np.ascontiguousarray(move(*m.doflocs)), m.t)


def pipe(radius, angle, length):
    """Around the third axis"""
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), length])


def twist(x, y, z):
    """A bar that gets wider, and turns by half a right angle."""
    angle, width = np.pi / 4 * z, 1 + 0.5 * z**2
    x, y = width * (x - 0.5), width * (y - 0.5)
    return np.stack([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle), 2 * z])


@family(REPORT)
def pipe_elastic():
    """A quarter of a pipe between two walls: curved hexahedra, linear, and quadratic without inner nodes."""
    ends = lambda x: (x[2] < 1e-9) | (x[2] > 3 - 1e-9)
    for member, element, sides in (("q1", skfem.ElementHex1(), (6, 18, 36)), ("s2", skfem.ElementHexS2(), (3, 8, 12))):
        lines = (np.linspace(a, b, n + 1) for n, a, b in zip(sides, (1, 0, 0), (1.3, np.pi / 2, 3)))
        A = elastic(bent(skfem.MeshHex.init_tensor(*lines), skfem.MeshHex2, pipe), element, 0.3, ends)
        A.data[abs(A.data) < 1e-10 * abs(A.data).max()] = 0  # rounding errors are up to 1e-13, others are at least 1e-7
        yield member, A


@family(REPORT)
def twisted_bar():
    """Curved tetrahedra of random points, quadratic: Poisson, elasticity."""
    b = Basis(bent(scattered("twisted_bar", 2200, 3), skfem.MeshTet2, twist), skfem.ElementTetP2())
    yield "poisson", inside(laplace.assemble(b), b)
    m = bent(scattered("twisted_bar_elastic", 343, 3), skfem.MeshTet2, twist)
    yield "elastic", elastic(m, skfem.ElementTetP2(), 0.3, lambda x: x[2] < 1e-9)


@family(REPORT)
def layers_elastic():
    """Layers of a hundred times the stiffness of those between them: quadratic tetrahedra."""
    form = BilinearForm(lambda u, v, w: w["e"] * (
        2 * w["mu"] * ddot(sym_grad(u), sym_grad(v)) + w["lam"] * div(u) * div(v)))
    lam, mu = lame_parameters(1.0, 0.3)
    for n in (6, 8):
        m = skfem.MeshTet.init_tensor(*[np.linspace(0, 1, n + 1)] * 3)
        b = Basis(m, skfem.ElementVector(skfem.ElementTetP2()))
        e = np.where((m.p[2][m.t].mean(axis=0) * n / 2).astype(int) % 2 == 0, 1.0, 100.0)
        A = form.assemble(b, e=np.repeat(e[:, None], b.X.shape[-1], axis=1), lam=lam, mu=mu)
        yield n, submatrix(A, b.complement_dofs(b.get_dofs(lambda x: x[2] < 1e-9)))


def line(points, degree):
    """Stiffness and mass on a line of elements between points, without the ends: nodes of Lobatto."""
    P = np.polynomial.legendre.Legendre.basis(degree)
    nodes = np.concatenate([[-1], np.sort(P.deriv().roots().real), [1]])
    x, weights = np.polynomial.legendre.leggauss(degree + 1)
    V = np.polynomial.polynomial.polyvander
    C = np.linalg.inv(V(nodes, degree))  # a column: coefficients of a basis function
    f = V(x, degree) @ C
    d = (V(x, degree - 1) * np.arange(1, degree + 1)) @ C[1:]
    rows = degree * (len(points) - 1) + 1
    K, M = sp.lil_matrix((rows, rows)), sp.lil_matrix((rows, rows))
    for e, h in enumerate(np.diff(points)):
        at = slice(degree * e, degree * (e + 1) + 1)
        K[at, at] += d.T @ (weights[:, None] * d) * 2 / h
        M[at, at] += f.T @ (weights[:, None] * f) * h / 2
    return K.tocsr()[1:-1, 1:-1], M.tocsr()[1:-1, 1:-1]


@family(REPORT)
def hex_high():
    """Poisson with hexahedra of degrees 2 and 3: about 60 and 110 entries a row."""
    for degree, sides in ((2, (12, 12, 14)), (3, (6, 6, 8))):
        (K, M), (L, N), (P, Q) = (line(np.linspace(0, 1, n + 1) ** 1.2, degree) for n in sides)
        A = sp.kron(sp.kron(K, N), Q) + sp.kron(sp.kron(M, L), Q) + sp.kron(sp.kron(M, N), P)
        yield f"q{degree}", A.tocsr()


@family(REPORT)
def plane_high():
    """Plane elasticity of degree 4: a curved strip of quadrilaterals, triangles of random points."""
    lines = [np.linspace(1, 1.5, 7), np.linspace(0, np.pi, 25)]
    m = bent(skfem.MeshQuad.init_tensor(*lines), skfem.MeshQuad2, lambda r, a: np.stack([r * np.cos(a), r * np.sin(a)]))
    yield "quad", elastic(m, skfem.ElementQuadP(4), 0.3, lambda x: x[1] < 1e-9)
    yield "tri", elastic(scattered("plane_high", 300, 2), skfem.ElementTriP4(), 0.4, lambda x: x[0] < 1e-9)
