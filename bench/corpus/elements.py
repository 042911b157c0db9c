"""Finite elements by scikit-fem."""

import numpy as np
import scipy.sparse as sp
import skfem
from scipy.spatial import Delaunay
from skfem import Basis, BilinearForm, InteriorFacetBasis
from skfem.helpers import curl, dd, ddot, div, dot, grad, sym_grad
from skfem.models.elasticity import lame_parameters, linear_elasticity
from skfem.models.poisson import laplace, mass

from families import FIT, REPORT, family, random, rcm, reorder


def inside(A, basis):
    """Without the unknowns of the boundary."""
    return submatrix(A, basis.complement_dofs(basis.get_dofs()))


def submatrix(A, keep):
    return A.tocsr()[keep][:, keep]


def scattered(name, count, dim, grade=1.0):
    """A mesh of random points, its sides included; grade > 1: points gather at the origin."""
    r = random(name)
    side = int(round(count ** (1 / dim)))
    lattice = np.stack(np.meshgrid(*[np.linspace(0, 1, side)] * dim, indexing="ij"), -1).reshape(-1, dim)
    moved = lattice + r.uniform(-0.35, 0.35, lattice.shape) / (side - 1)
    p = np.where((lattice == 0) | (lattice == 1), lattice, moved).clip(0, 1) ** grade
    t = Delaunay(p).simplices
    edges = p[t[:, 1:]] - p[t[:, :1]]
    t = t[np.abs(np.linalg.det(edges)) > 1e-4 * np.prod(np.linalg.norm(edges, axis=2), axis=1)]
    kind = skfem.MeshTri if dim == 2 else skfem.MeshTet
    used = np.unique(t)
    place = np.full(len(p), -1)
    place[used] = np.arange(len(used))
    return kind(np.ascontiguousarray(p[used].T), np.ascontiguousarray(place[t].T))


def graded(levels, corners=((0.0, 0.0),)):
    """Triangles refined again and again toward some points."""
    m = skfem.MeshTri.init_symmetric().refined(2)
    for k in range(levels):
        center = m.p[:, m.t].mean(axis=1)
        near = np.min([np.hypot(center[0] - x, center[1] - y) for x, y in corners], axis=0) < 0.9 * 0.53**k
        m = m.refined(np.nonzero(near)[0])
    return m


def stretched(n, power, dim=3):
    x = np.linspace(0, 1, n + 1)
    y = x**power
    return skfem.MeshHex.init_tensor(x, x, y) if dim == 3 else skfem.MeshQuad.init_tensor(x, y)


@BilinearForm
def coefficient(u, v, w):
    return w["a"] * dot(grad(u), grad(v))


def diffusion(basis, a):
    x = basis.global_coordinates()
    return coefficient.assemble(basis, a=a(*np.asarray(x)))


@family(FIT)
def tri_p1():
    for n in (10000, 40000):
        b = Basis(scattered("tri_p1", n, 2), skfem.ElementTriP1())
        yield n, inside(laplace.assemble(b), b)


@family(REPORT)
def tri_graded():
    for levels in (8, 14):
        b = Basis(graded(levels).refined(2), skfem.ElementTriP1())
        yield levels, inside(laplace.assemble(b), b)
    b = Basis(graded(10, ((0.3, 0.4), (1.0, 0.2))).refined(1), skfem.ElementTriP2())
    yield "p2", inside(laplace.assemble(b), b)


@family(FIT)
def disk_p2():
    for refinements in (5, 6):
        b = Basis(skfem.MeshTri2.init_circle(refinements), skfem.ElementTriP2())
        yield refinements, inside(laplace.assemble(b), b)


@family(REPORT)
def tet_p1():
    for n in (8000, 40000):
        b = Basis(scattered("tet_p1", n, 3), skfem.ElementTetP1())
        yield n, inside(laplace.assemble(b), b)
    b = Basis(scattered("tet_graded", 20000, 3, 1.8), skfem.ElementTetP1())
    yield "graded", rcm(inside(laplace.assemble(b), b), 500)


@family(FIT)
def ball_p2():
    for refinements in (2, 3):
        b = Basis(skfem.MeshTet.init_ball(refinements), skfem.ElementTetP2())
        yield refinements, inside(laplace.assemble(b), b)


@family(REPORT)
def hex_stretched():
    for n, power, e in ((24, 2.5, skfem.ElementHex1()), (10, 1.5, skfem.ElementHex2())):
        b = Basis(stretched(n, power), e)
        yield f"{n}", inside(laplace.assemble(b), b)


@family(FIT)
def tri_jumps():
    r = random("tri_jumps")
    for n, size in ((60, 3), (120, 5)):
        table = 10.0 ** r.uniform(-size / 2, size / 2, (12, 12))
        b = Basis(skfem.MeshTri.init_tensor(*[np.linspace(0, 1, n + 1)] * 2), skfem.ElementTriP1())
        a = lambda x, y: table[(12 * x).clip(0, 11).astype(int), (12 * y).clip(0, 11).astype(int)]
        yield n, inside(diffusion(b, a), b)


@family(REPORT)
def tet_jumps():
    r = random("tet_jumps")
    for n, size in ((6000, 2), (25000, 4)):
        table = 10.0 ** r.uniform(-size / 2, size / 2, (6, 6, 6))
        b = Basis(scattered("tet_jumps", n, 3), skfem.ElementTetP1())
        a = lambda x, y, z: table[tuple((6 * c).clip(0, 5).astype(int) for c in (x, y, z))]
        yield n, inside(diffusion(b, a), b)


@BilinearForm
def rotated(u, v, w):
    c, s = np.cos(w["angle"]), np.sin(w["angle"])
    along = lambda f: c * grad(f)[0] + s * grad(f)[1]
    return w["weak"] * dot(grad(u), grad(v)) + (1 - w["weak"]) * along(u) * along(v)


@family(REPORT)
def quad_rotated():
    for angle, weak in ((0.0, 0.01), (0.5, 0.01), (0.8, 0.001)):
        b = Basis(stretched(100, 1.0, 2), skfem.ElementQuad1())
        yield f"{angle}_{weak}", inside(rotated.assemble(b, angle=angle, weak=weak), b)


@family(FIT)
def tri_rotated():
    for angle, weak in ((0.3, 0.02), (1.2, 0.005)):
        b = Basis(scattered("tri_rotated", 20000, 2), skfem.ElementTriP1())
        yield f"{angle}", inside(rotated.assemble(b, angle=angle, weak=weak), b)


def elastic(mesh, element, nu, fixed):
    b = Basis(mesh, skfem.ElementVector(element))
    A = linear_elasticity(*lame_parameters(1.0, nu)).assemble(b)
    return submatrix(A, b.complement_dofs(b.get_dofs(fixed)))


@family(FIT)
def elastic_tri():
    left = lambda x: x[0] < 1e-9
    yield "p1", elastic(scattered("elastic_tri", 8000, 2), skfem.ElementTriP1(), 0.3, left)
    yield "p2", elastic(scattered("elastic_tri", 3000, 2), skfem.ElementTriP2(), 0.4, left)


@family(REPORT)
def elastic_beam():
    ends = lambda x: (x[0] < 1e-9) | (x[0] > 1 - 1e-9)
    thick, long = np.linspace(0, 0.2, 9), np.linspace(0, 1, 41)
    m = skfem.MeshHex.init_tensor(long, thick, thick)
    yield "hex", elastic(m, skfem.ElementHex1(), 0.3, ends)
    yield "tet", elastic(m.to_meshtet(), skfem.ElementTetP1(), 0.45, ends)
    m = skfem.MeshQuad.init_tensor(np.linspace(0, 1, 121), np.linspace(0, 0.2, 31))
    yield "quad", elastic(m, skfem.ElementQuad1(), 0.3, ends)


@family(FIT)
def elastic_tet():
    bottom = lambda x: x[2] < 1e-9
    yield "p1", elastic(scattered("elastic_tet", 4000, 3), skfem.ElementTetP1(), 0.3, bottom)
    m = skfem.MeshTet.init_tensor(*[np.linspace(0, 1, 7)] * 3)
    yield "p2", elastic(m, skfem.ElementTetP2(), 0.3, bottom)


def stokes(mesh, stabilization, vector, scalar):
    """Velocities, then pressures; the pressure block is negative, by a stabilization with the size of the elements."""
    u = Basis(mesh, skfem.ElementVector(vector), intorder=4)
    p = Basis(mesh, scalar, intorder=4)
    A = BilinearForm(lambda u, v, w: 2 * ddot(sym_grad(u), sym_grad(v))).assemble(u)
    B = BilinearForm(lambda u, q, w: -div(u) * q).assemble(u, p)
    C = BilinearForm(lambda p, q, w: w.h**2 * dot(grad(p), grad(q))).assemble(p)
    C = stabilization * C + 1e-6 * mass.assemble(p)
    keep = np.concatenate([u.complement_dofs(u.get_dofs()), u.N + np.arange(p.N)])
    return submatrix(sp.bmat([[A, B.T], [B, -C]]).tocsr(), keep), u.N, keep


@family(REPORT)
def stokes_blocks():
    yield "tri", stokes(scattered("stokes", 6000, 2), 0.05, skfem.ElementTriP1(), skfem.ElementTriP1())[0]
    m = skfem.MeshTri.init_tensor(*[np.linspace(0, 1, 41)] * 2)
    yield "taylor_hood", stokes(m, 0.001, skfem.ElementTriP2(), skfem.ElementTriP1())[0]


@family(FIT)
def stokes_nodes():
    """Unknowns of a node together, the constraint with the other sign, so that the diagonal is positive."""
    for n in (2500, 10000):
        m = scattered("stokes_nodes", n, 2)
        A, velocities, keep = stokes(m, 0.1, skfem.ElementTriP1(), skfem.ElementTriP1())
        node = np.where(keep < velocities, keep // 2, keep - velocities)
        sign = sp.diags(np.where(keep < velocities, 1.0, -1.0))
        yield n, reorder(sign @ A, np.argsort(node, kind="stable"))


@BilinearForm
def transport(u, v, w):
    x, y = w.x[0], w.x[1]
    b = np.stack([np.ones_like(x), 0.5 * np.ones_like(x)] if w["straight"] else [2 * y - 1, 1 - 2 * x])
    if len(w.x) == 3:
        b = np.stack([b[0], b[1], 0.3 * np.ones_like(x)])
    size = np.sqrt(dot(b, b)) + 1e-12
    peclet = size * w.h / (2 * w["eps"])
    tau = w.h / (2 * size) * np.maximum(0, 1 - 1 / np.maximum(peclet, 1e-12))
    along = lambda f: dot(b, grad(f))
    return w["eps"] * dot(grad(u), grad(v)) + along(u) * v + tau * along(u) * along(v)


def convection(b, eps, straight):
    return inside(transport.assemble(b, eps=eps, straight=straight), b)


@family(FIT)
def wind_tri():
    b = Basis(scattered("wind_tri", 15000, 2), skfem.ElementTriP1())
    for eps in (1e-1, 1e-2, 1e-3):
        yield f"straight_{eps}", convection(b, eps, 1)
    yield "round_0.003", convection(b, 3e-3, 0)


@family(REPORT)
def wind_quad():
    b = Basis(stretched(120, 1.3, 2), skfem.ElementQuad1())
    for eps in (1e-1, 1e-2, 1e-3):
        yield f"round_{eps}", convection(b, eps, 0)
    yield "straight_0.005", convection(b, 5e-3, 1)


@family(REPORT)
def wind_tet():
    b = Basis(scattered("wind_tet", 15000, 3), skfem.ElementTetP1())
    for eps in (3e-2, 3e-3):
        yield f"{eps}", convection(b, eps, 1)


@family(FIT)
def wind_hex():
    b = Basis(stretched(22, 1.0), skfem.ElementHex1())
    for eps in (1e-1, 3e-3):
        yield f"{eps}", convection(b, eps, 0)


@family(REPORT)
def nedelec_tri():
    for n, shift in ((6000, 1.0), (20000, 100.0)):
        b = Basis(scattered("nedelec_tri", n, 2), skfem.ElementTriN1())
        form = BilinearForm(lambda u, v, w: curl(u) * curl(v) + shift * dot(u, v))
        yield n, inside(form.assemble(b), b)


@family(FIT)
def nedelec_tet():
    for n, shift in ((1500, 1.0), (4000, 50.0)):
        b = Basis(scattered("nedelec_tet", n, 3), skfem.ElementTetN0())
        form = BilinearForm(lambda u, v, w: dot(curl(u), curl(v)) + shift * dot(u, v))
        yield n, inside(form.assemble(b), b)


@family(REPORT)
def darcy():
    """Fluxes of Raviart and Thomas and pressures; a compressible fluid."""
    for n in (3000, 9000):
        m = scattered("darcy", n, 2)
        u, p = Basis(m, skfem.ElementTriRT1(), intorder=3), Basis(m, skfem.ElementTriP0(), intorder=3)
        A = BilinearForm(lambda u, v, w: dot(u, v)).assemble(u)
        B = BilinearForm(lambda u, q, w: -div(u) * q).assemble(u, p)
        yield n, sp.bmat([[A, B.T], [B, -1e-2 * mass.assemble(p)]]).tocsr()


@family(FIT)
def plate():
    for n in (25, 50):
        b = Basis(skfem.MeshTri.init_tensor(*[np.linspace(0, 1, n + 1)] * 2), skfem.ElementTriMorley())
        A = inside(BilinearForm(lambda u, v, w: ddot(dd(u), dd(v))).assemble(b), b)
        # Morley's elements have inverses of matrices: rounding errors are up to 1e-12 of the largest entry, others 1e-5
        A.data[abs(A.data) < 1e-9 * abs(A.data).max()] = 0
        yield n, A


@family(REPORT)
def quad_high():
    """Elements of a high degree: 25 to 81 entries a row."""
    b = Basis(stretched(40, 1.2, 2), skfem.ElementQuadP(4))
    yield "p4", inside(laplace.assemble(b), b)
    b = Basis(stretched(20, 1.0, 2), skfem.ElementVector(skfem.ElementQuadP(3)))
    A = linear_elasticity(*lame_parameters(1.0, 0.3)).assemble(b)
    yield "elastic", inside(A, b)


@family(FIT)
def discontinuous():
    """Interior penalties between discontinuous linear elements."""
    for n in (1500, 6000):
        m = scattered("discontinuous", n, 2)
        e = skfem.ElementDG(skfem.ElementTriP1())
        b = Basis(m, e)
        jump = BilinearForm(lambda u, v, w: (u * v) * w["s"] * 10 / w.h)
        A = laplace.assemble(b)
        f = [InteriorFacetBasis(m, e, side=s) for s in (0, 1)]
        for x in (0, 1):
            for y in (0, 1):
                A = A + jump.assemble(f[x], f[y], s=1.0 if x == y else -1.0)
        A = A + 1e-1 * mass.assemble(b)
        yield n, A


@family(REPORT)
def heat_step():
    for n, dt in ((10000, 1e-4), (10000, 1e-2)):
        b = Basis(scattered("heat_step", n, 2), skfem.ElementTriP2() if dt < 1e-3 else skfem.ElementTriP1())
        yield f"{dt}", mass.assemble(b) + dt * laplace.assemble(b)
