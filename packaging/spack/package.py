# Copyright (c) 2026, the sptrsvgpu developers
#
# SPDX-License-Identifier: BSD-2-Clause
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Sptrsvgpu(MakefilePackage, CudaPackage):
    """A PETSc preconditioner: incomplete factorizations whose triangular solves run on the GPU."""

    license("BSD-2-Clause")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("mpi")
    depends_on("petsc@3.20:+mpi+shared")
    depends_on("petsc~cuda", when="~cuda")
    depends_on("cuda@12:", when="+cuda")

    conflicts("cuda_arch=none", when="+cuda", msg="name the compute capabilities: cuda_arch=80,90")
    for sm in CudaPackage.cuda_arch_values:
        if sm in ("80", "86", "87", "89", "90", "100", "103", "110", "120", "121"):
            depends_on(f"petsc+cuda cuda_arch={sm}", when=f"+cuda cuda_arch={sm}")
        else:
            conflicts(f"cuda_arch={sm}", when="+cuda", msg="the kernels are not tried on this compute capability")

    @property
    def build_targets(self):
        targets = [f"PETSC_DIR={self.spec['petsc'].prefix}", "PETSC_ARCH="]
        if self.spec.satisfies("+cuda"):
            targets.append("CUDA_ARCH=" + " ".join(self.spec.variants["cuda_arch"].value))
        return targets

    @property
    def install_targets(self):
        return [*self.build_targets, f"PREFIX={self.prefix}", "install"]

    def check(self):
        make(*self.build_targets, "check")

    def setup_run_environment(self, env):
        env.set("SPTRSVGPU_LIB", join_path(self.prefix.lib, "libsptrsvgpu.so"))
        env.prepend_path("PYTHONPATH", join_path(self.prefix.share, "sptrsvgpu", "python"))
