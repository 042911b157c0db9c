/*
   ILU(0) of Ginkgo as a type of PC, for a build with GINKGO_DIR; bench/get_ginkgo.sh builds Ginkgo. C++, because Ginkgo
   has no other interface.

     ginkgo_ilu  factored and solved on the GPU by Ginkgo's own kernels, not by cuSPARSE: its algorithms "syncfree"

   As for hypre, the Krylov method is PETSc's, and the type is a PCSHELL. An apply is a LowerTrs and an UpperTrs, each
   with one right-hand side. Ginkgo reads the arrays of PETSc's matrix and vectors; it copies only the matrix, to factor
   it. There is no analysis, so a set-up is the factorization and the two triangles.

   Ginkgo computes on PETSc's stream, so each waits for the other, and SystemNow for both. Each solve allocates a few
   bytes. They come from CUDA's pool, which keeps what is freed, like the memory of hypre: cudaFree would wait for the
   GPU. Ginkgo is built without messages, because it otherwise reads back a flag after each solve.
*/
#include <exception>
#include <memory>

#include <ginkgo/core/base/array.hpp>
#include <ginkgo/core/base/executor.hpp>
#include <ginkgo/core/base/memory.hpp>
#include <ginkgo/core/factorization/ilu.hpp>
#include <ginkgo/core/matrix/csr.hpp>
#include <ginkgo/core/matrix/dense.hpp>
#include <ginkgo/core/solver/triangular.hpp>
#include "systems.h"
#if PetscDefined(HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#if !PetscDefined(HAVE_CUDA) || !PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_COMPLEX)
  #error "GINKGO_DIR needs a PETSc with CUDA, and real scalars of double precision"
#endif
static_assert(sizeof(PetscInt) == sizeof(gko::int32), "GINKGO_DIR: indices have 32 bits");

using Csr   = gko::matrix::Csr<double, gko::int32>;
using Dense = gko::matrix::Dense<double>;
using Ilu   = gko::factorization::Ilu<double, gko::int32>;
using Lower = gko::solver::LowerTrs<double, gko::int32>;
using Upper = gko::solver::UpperTrs<double, gko::int32>;

namespace
{

struct Factor {
  std::unique_ptr<Lower> lower;
  std::unique_ptr<Upper> upper;
  std::unique_ptr<Dense> middle; /* the solution of L */
};

std::shared_ptr<gko::CudaExecutor> gpu; /* one for all, because it takes milliseconds to create */

/* Calls f; an exception becomes an error of PETSc. */
template <typename F>
PetscErrorCode Try(F f)
{
  PetscFunctionBeginUser;
  try {
    f();
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Ginkgo: %s", e.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Finalize(void)
{
  PetscFunctionBeginUser;
  PetscCall(Try([] { gpu.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Initialize(void)
{
  cudaStream_t  stream;
  cudaMemPool_t pool;
  int           device;
  uint64_t      keep = UINT64_MAX;

  PetscFunctionBeginUser;
  if (gpu) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  PetscCallCUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  PetscCall(Try([&] {
    gpu = gko::CudaExecutor::create(device, gko::ReferenceExecutor::create(),
                                    std::make_shared<gko::CudaAsyncAllocator>(stream), stream);
  }));
  PetscCall(PetscRegisterFinalize(Finalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc sorts the columns of a row. A strategy is that of products, and all but this one copy the matrix's rows to the
   host. */
void MakeFactor(PetscInt n, const PetscInt i[], const PetscInt j[], const PetscScalar a[], PetscInt nnz, Factor *s)
{
  const auto                 rows  = gko::dim<2>(static_cast<gko::size_type>(n));
  const auto                 plain = std::make_shared<Csr::sparselib>();
  std::shared_ptr<const Csr> A     = Csr::create_const(gpu, rows, gko::array<double>::const_view(gpu, nnz, a),
                                                       gko::array<gko::int32>::const_view(gpu, nnz, j),
                                                       gko::array<gko::int32>::const_view(gpu, n + 1, i), plain);
  const auto factored = Ilu::build()
                          .with_algorithm(gko::factorization::incomplete_algorithm::syncfree)
                          .with_skip_sorting(true)
                          .with_l_strategy(plain)
                          .with_u_strategy(plain)
                          .on(gpu)
                          ->generate(A);
  const auto syncfree = gko::solver::trisolve_algorithm::syncfree;

  s->lower  = Lower::build().with_algorithm(syncfree).on(gpu)->generate(factored->get_l_factor());
  s->upper  = Upper::build().with_algorithm(syncfree).on(gpu)->generate(factored->get_u_factor());
  s->middle = Dense::create(gpu, gko::dim<2>(rows[0], 1));
}

PetscErrorCode SetUp(PC pc)
{
  Factor         *s;
  Mat             A;
  const PetscInt *i, *j;
  PetscInt        n;
  PetscScalar    *a;
  PetscMemType    type;
  MatInfo         info;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &type));
  PetscCheck(PetscMemTypeDevice(type), PETSC_COMM_SELF, PETSC_ERR_SUP, "ginkgo_ilu needs a matrix on the GPU");
  PetscCall(Initialize());
  PetscCall(Try([&] { MakeFactor(n, i, j, a, static_cast<PetscInt>(info.nz_used), s); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Apply(PC pc, Vec b, Vec x)
{
  Factor            *s;
  PetscInt           n;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(VecGetSize(b, &n));
  PetscCall(VecGetArrayReadAndMemType(b, &from, NULL));
  PetscCall(VecGetArrayWriteAndMemType(x, &to, NULL));
  PetscCall(Try([&] {
    const auto size = s->middle->get_size();

    s->lower->apply(Dense::create_const(gpu, size, gko::array<double>::const_view(gpu, n, from), 1), s->middle);
    s->upper->apply(s->middle, Dense::create(gpu, size, gko::array<double>::view(gpu, n, to), 1));
  }));
  PetscCall(VecRestoreArrayWriteAndMemType(x, &to));
  PetscCall(VecRestoreArrayReadAndMemType(b, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Destroy(PC pc)
{
  Factor *s;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(Try([&] { delete s; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(SystemMakeShell(pc, new Factor(), SetUp, Apply, Destroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} /* namespace */

PetscErrorCode SystemRegisterGinkgo(void)
{
  PetscFunctionBeginUser;
  PetscCall(PCRegister("ginkgo_ilu", Create));
  PetscFunctionReturn(PETSC_SUCCESS);
}
