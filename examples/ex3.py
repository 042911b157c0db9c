"""Poisson's equation in two dimensions with petsc4py and -pc_type sptrsvgpu.

    python3 ex3.py [-n 100] [PETSc options]

On a machine with a GPU add -mat_type aijcusparse.
"""

import os
import sys

import petsc4py

# for a sptrsvgpu.py that is not on Python's path
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import sptrsvgpu  # noqa: E402, F401  makes the PC type known

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  after init, which reads the options

options = PETSc.Options()
n = options.getInt("n", 100)

A = PETSc.Mat().create()
A.setSizes(n * n)
A.setFromOptions()
A.setPreallocationNNZ(5)
start, end = A.getOwnershipRange()
for row in range(start, end):
    i, j = divmod(row, n)
    A[row, row] = 4
    if i > 0:
        A[row, row - n] = -1
    if i < n - 1:
        A[row, row + n] = -1
    if j > 0:
        A[row, row - 1] = -1
    if j < n - 1:
        A[row, row + 1] = -1
A.assemble()
A.setOption(PETSc.Mat.Option.SPD, True)

exact, b = A.createVecs()
exact.set(1)
A.mult(exact, b)
x = b.duplicate()

ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
ksp.getPC().setType("sptrsvgpu")
ksp.setTolerances(rtol=1e-8)
ksp.setFromOptions()
ksp.solve(b, x)

# the choice for each factor stands in the view of the factored matrix, as -ksp_view and -mat_sptrsvgpu_view show it
viewer = PETSc.Viewer().createASCII("ex3.view", comm=PETSc.COMM_WORLD)
ksp.view(viewer)
viewer.destroy()
if PETSc.COMM_WORLD.rank == 0:
    with open("ex3.view") as view:
        for line in view:
            if "algorithm" in line:
                print(line.strip())
    os.remove("ex3.view")

error = (x - exact).norm(PETSc.NormType.INFINITY)
PETSc.Sys.Print(f"{ksp.getPC().getType()}: {ksp.getIterationNumber()} iterations, error {error:.1e}")
sys.exit(0 if ksp.getConvergedReason() > 0 and error < 1e-5 else 1)
