"""Matrices of PETSc's tutorials, which are compiled and run from its sources."""

import glob
import os
import shutil
import subprocess
import tempfile

import numpy as np
import scipy.sparse as sp

from families import FIT, REPORT, TABLE

AIJ = "-thi_mat_type aij -dm_mat_type aij"
EXACT = "-pc_type icc -ksp_type cg -ksp_rtol 1e-16"  # entries that vanish by symmetry are then zero but for rounding
PROGRAMS = {  # folder/program: (use, which matrix of a run, {member: options})
    "ksp/ex29": (FIT, 0, {n: f"-da_grid_x {n} -da_grid_y {n} -rho 0.01" for n in (80, 200)}),
    "ksp/ex32": (REPORT, 0, {n: f"-da_grid_x {n} -da_grid_y {n}" for n in (80, 200)}),
    "ksp/ex34": (FIT, 0, {n: f"-da_grid_x {n} -da_grid_y {n} -da_grid_z {n}" for n in (16, 32)}),
    "ksp/ex45": (REPORT, 0, {n: f"-da_grid_x {n} -da_grid_y {n} -da_grid_z {n}" for n in (20, 40)}),
    "ksp/ex42": (FIT, 0, {n: f"-mx {n} -model 1" for n in (6, 12)}),
    "ksp/ex43": (REPORT, 0, {n: f"-mx {n} -my {n} -c_str 3" for n in (30, 80)}),
    "ksp/ex49": (FIT, 0, {n: f"-mx {n} -my {n} -c_str 3" for n in (50, 120)}),
    "ksp/ex50": (REPORT, 0, {n: f"-da_grid_x {n} -da_grid_y {n}" for n in (90, 210)}),
    "ksp/ex54": (FIT, 0, {n: f"-ne {n} -alpha 1e-3" for n in (79, 199)}),
    "ksp/ex55": (REPORT, 0, {n: f"-ne {n}" for n in (59, 119)}),
    "ksp/ex56": (FIT, 0, {n: f"-ne {n} -alpha 1e-3" for n in (9, 19)}),
    "ksp/ex56_again": (REPORT, 0, {12: "-ne 12 -alpha 1e-3"}),  # another size of a family for fitting
    "ksp/ex70": (REPORT, 0, {n: f"-mx {n} -my {2 * n}" for n in (40, 80)}),
    "snes/ex5": (FIT, 1, {n: f"-da_grid_x {n} -da_grid_y {n} -par 6" for n in (70, 150)}),
    "snes/ex14": (REPORT, 1, {n: f"-da_grid_x {n} -da_grid_y {n} -da_grid_z {n}" for n in (18, 34)}),
    "snes/ex19": (FIT, 1, {n: f"-da_grid_x {n} -da_grid_y {n} -lidvelocity 50 -grashof 100" for n in (40, 90)}),
    "snes/ex48": (REPORT, 1, {n: f"-M {n} -P {n // 2} {AIJ} {EXACT}" for n in (12, 16, 28)}),
    "snes/ex15": (FIT, 1, {p: f"-da_grid_x 100 -da_grid_y 100 -p {p}" for p in (1.5, 4)}),
    "ts/ex5": (REPORT, 1, {n: f"-da_grid_x {n} -da_grid_y {n} -ts_max_steps 3 -implicitform" for n in (60, 120)}),
    "ts/ex7": (FIT, 1, {n: f"-da_grid_x {n} -da_grid_y {n} -ts_max_steps 2" for n in (64, 150)}),
    "ts/power_ex6": (REPORT, 1, {n: f"-da_grid_x {n} -da_grid_y {n} -ts_time_step 0.05 -ts_max_steps 3"
                                 for n in (80, 150)}),
}
FOLDERS = {
    "ksp": "src/ksp/ksp/tutorials",
    "snes": "src/snes/tutorials",
    "ts": "src/ts/tutorials",
}
ELSEWHERE = {
    "ts/ex5": "src/ts/tutorials/advection-diffusion-reaction/ex5",
    "ts/power_ex6": "src/ts/tutorials/power_grid/ex6",  # advection of a probability in a plane
    "ksp/ex56_again": "src/ksp/ksp/tutorials/ex56",
}
PREFIXES = ("", "stokes_", "elas_", "s1_")


def read(path):
    """All matrices of a file of PETSc's."""
    found = []
    with open(path, "rb") as f:
        while head := f.read(16):
            kind, rows, cols, nnz = np.frombuffer(head, ">i4")
            assert kind == 1211216, f"{path}: not a matrix"
            lengths = np.frombuffer(f.read(4 * rows), ">i4")
            columns = np.frombuffer(f.read(4 * nnz), ">i4").astype(np.int32)
            values = np.frombuffer(f.read(8 * nnz), ">f8").astype(float)
            found.append(sp.csr_matrix((values, columns, np.concatenate([[0], np.cumsum(lengths)])), (rows, cols)))
    return found


def build(program, folder):
    petsc, arch = os.environ["PETSC_DIR"], os.environ["PETSC_ARCH"]
    kind, name = program.split("/")
    source = os.path.join(petsc, ELSEWHERE.get(program, f"{FOLDERS[kind]}/{name}") + ".c")
    paths = [f"-I{petsc}/include", f"-I{petsc}/{arch}/include", f"-I{os.path.dirname(source)}"]
    more = os.path.join(os.path.dirname(source), "reaction_diffusion.c")
    sources = [source, more] if os.path.exists(more) else [source]
    for options in glob.glob(os.path.join(os.path.dirname(source), "petscopt_*")):  # files that programs read
        shutil.copy(options, folder)
    libraries = [f"-L{petsc}/{arch}/lib", f"-Wl,-rpath,{petsc}/{arch}/lib", "-lpetsc", "-lm"]
    out = os.path.join(folder, program.replace("/", "_"))
    subprocess.run(["mpicc", "-O2", "-w", *paths, *sources, "-o", out, *libraries], check=True)
    return out


def run(program, at, options):
    """The matrix number at (or the last one) of a run."""
    folder = tempfile.mkdtemp()
    try:
        name = os.path.join(folder, "A")
        command = [build(program, folder), "-snes_max_it", "3", "-options_left", "0"]
        for prefix in PREFIXES:
            command += f"-{prefix}pc_type none -{prefix}ksp_type gmres -{prefix}ksp_max_it 200".split()
            command += [f"-{prefix}ksp_view_mat", f"binary:{name}::append"]
        command += options.split()
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=100)
        found = read(name)
        return found[min(at, len(found) - 1)]
    finally:
        shutil.rmtree(folder)


def add(program, use, at, members):
    def make():
        for member, options in members.items():
            yield member, run(program, at, options)

    TABLE["petsc_" + program.replace("/", "_")] = (use, make)


for p, (u, a, m) in PROGRAMS.items():
    add(p, u, a, m)
