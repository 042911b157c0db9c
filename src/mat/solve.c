/*
   The solves of a factor Mat: a forward and a backward triangular solve, with L and U, or with U^T and L^T for the
   transpose. On the host PETSc's factor solves, unless an algorithm is named.
*/
#include "impl.h"
#include <math.h>
#include <petscdevice.h>

/* Makes, fills and tunes the plans for solves in a memory, with A or with its transpose, before their first use. */
PetscErrorCode SpTRSVGPUPrepare(Mat F, TrsvMemory memory, PetscBool transposed)
{
  SpTRSVGPU         *s    = (SpTRSVGPU *)F->data;
  const PetscBool    tune = (PetscBool)(s->settings.selection == SPTRSVGPU_SELECT_TUNE && memory == TRSV_DEVICE);
  SpTRSVGPUTriangles t;
  TrsvStream         stream;
  TrsvError          error;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetStream(s->memory, &stream));
  if (!s->on_device) PetscCall(SpTRSVGPUTrianglesCreate(s, &t));
  PetscCall(PetscLogEventBegin(SpTRSVGPU_Analysis, F, 0, 0, 0));
  error = TrsvIluPrepare(s->ilu, memory, transposed, s->on_device ? NULL : &t.view, stream);
  if (!error && tune && TrsvIluIsReady(s->ilu, memory, transposed))
    error = TrsvIluTune(s->ilu, memory, transposed, s->on_device ? NULL : &t.view, (double)s->settings.tune_seconds,
                        stream);
  PetscCall(PetscLogEventEnd(SpTRSVGPU_Analysis, F, 0, 0, 0));
  if (!s->on_device) PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCallTrsv(error);
  PetscCall(SpTRSVGPUCite(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One triangular solve, or both if they are one launch, with its log event and flops. */
static PetscErrorCode LogSolve(const SpTRSVGPU *s, TrsvMemory memory, PetscBool transposed, TrsvPart part,
                               const void *b, void *x)
{
  const PetscBool      lower = (PetscBool)((part == TRSV_FORWARD) != transposed);
  const PetscLogEvent  event = part == TRSV_SOLVE ? SpTRSVGPU_SolveLU : lower ? SpTRSVGPU_SolveL : SpTRSVGPU_SolveU;
  const PetscLogDouble flops = TrsvIluFlops(s->ilu, memory, transposed, part);
  TrsvStream           stream;
  TrsvError            error;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetStream(s->memory, &stream));
  PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  if (memory == TRSV_DEVICE) PetscCall(PetscLogGpuTimeBegin());
  error = TrsvIluSolve(s->ilu, memory, transposed, part, b, x, stream);
  if (memory == TRSV_DEVICE) {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops));
  } else PetscCall(PetscLogFlops(flops));
  PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  PetscCallTrsv(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveArrays(const SpTRSVGPU *s, TrsvMemory memory, PetscBool transposed, TrsvPart part,
                                  const void *b, void *x)
{
  PetscFunctionBegin;
  if (part != TRSV_SOLVE || TrsvIluIsOneLaunch(s->ilu, memory, transposed))
    PetscCall(LogSolve(s, memory, transposed, part, b, x));
  else {
    PetscCall(LogSolve(s, memory, transposed, TRSV_FORWARD, b, NULL));
    PetscCall(LogSolve(s, memory, transposed, TRSV_BACKWARD, NULL, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(HAVE_CUDA)
static PetscErrorCode IsOnDevice(Vec v, PetscBool *flg)
{
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, flg, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(v, &bound));
  if (bound) *flg = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector on the GPU, to copy one on the host. */
static PetscErrorCode GetDeviceVector(Mat F, Vec *v)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (*v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreate(PetscObjectComm((PetscObject)F), v));
  ierr = VecSetLayout(*v, F->rmap);
  if (!ierr) ierr = VecSetType(*v, VECCUDA);
  if (ierr) PetscCall(VecDestroy(v)); /* the next call makes another one */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveOnDevice(Mat F, PetscBool transposed, TrsvPart part, Vec b, Vec x)
{
  SpTRSVGPU         *s      = (SpTRSVGPU *)F->data;
  Vec                result = x;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscBool          there;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(IsOnDevice(b, &there));
  if (!there) {
    PetscCall(GetDeviceVector(F, &s->b));
    PetscCall(VecCopy(b, s->b));
    b = s->b;
  }
  PetscCall(IsOnDevice(x, &there));
  if (!there) {
    PetscCall(GetDeviceVector(F, &s->x));
    result = s->x;
  }
  PetscCall(VecCUDAGetArrayRead(b, &from));
  PetscCall(VecCUDAGetArrayWrite(result, &to));
  ierr = SolveArrays(s, TRSV_DEVICE, transposed, part, from, to);
  PetscCall(VecCUDARestoreArrayWrite(result, &to));
  PetscCall(VecCUDARestoreArrayRead(b, &from));
  PetscCall(ierr); /* after the vectors are restored: the program may use them again */
  if (result != x) PetscCall(VecCopy(result, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode SolveOnHost(const SpTRSVGPU *s, PetscBool transposed, TrsvPart part, Vec b, Vec x)
{
  const PetscScalar *from;
  PetscScalar       *to;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  ierr = SolveArrays(s, TRSV_HOST, transposed, part, from, to);
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with PETSc's factor, which uses the local arrays of b and x. */
static PetscErrorCode SolveByPetsc(Mat host, PetscBool transposed, TrsvPart part, Vec b, Vec x)
{
  PetscFunctionBegin;
  if (part == TRSV_FORWARD) PetscUseTypeMethod(host, forwardsolve, b, x);
  else if (part == TRSV_BACKWARD) PetscUseTypeMethod(host, backwardsolve, b, x);
  else if (transposed) PetscUseTypeMethod(host, solvetranspose, b, x);
  else PetscUseTypeMethod(host, solve, b, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat F, PetscBool transposed, TrsvPart part, Vec b, Vec x)
{
  SpTRSVGPU *s      = (SpTRSVGPU *)F->data;
  TrsvMemory memory = s->memory;
  PetscBool  bound;

  PetscFunctionBegin;
  if (F->factorerrortype) { /* as MatSolve() does; halves of a solve come here */
    PetscCall(VecSet(x, (PetscReal)INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatBoundToCPU(F, &bound));
  if (bound) memory = TRSV_HOST;
  /* halves only if the factor cannot be read as triangles: PETSc has none for ILU of aij */
  if (SpTRSVGPUPetscSolves(s, memory) && (part == TRSV_SOLVE || !s->is_csr)) {
    PetscCall(SolveByPetsc(s->host, transposed, part, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!TrsvIluIsReady(s->ilu, memory, transposed)) PetscCall(SpTRSVGPUPrepare(F, memory, transposed));
#if PetscDefined(HAVE_CUDA)
  if (memory == TRSV_DEVICE) {
    PetscCall(SolveOnDevice(F, transposed, part, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(SolveOnHost(s, transposed, part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_FALSE, TRSV_SOLVE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTranspose_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_TRUE, TRSV_SOLVE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Halves of a solve with ILU: L and U. */
static PetscErrorCode MatForwardSolve_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_FALSE, TRSV_FORWARD, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_FALSE, TRSV_BACKWARD, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the square roots of ICC's pivots, in the order of the factor, once after each numeric phase for vectors of
   one type. */
static PetscErrorCode MakeRoot(Mat F, Vec like)
{
  SpTRSVGPU         *s = (SpTRSVGPU *)F->data;
  SpTRSVGPUTriangles t;
  Vec                roots;
  PetscScalar       *root, pivot = 0;
  PetscInt           row   = -1;
  PetscBool          same;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  if (s->root) {
    PetscCall(PetscObjectTypeCompare((PetscObject)s->root, ((PetscObject)like)->type_name, &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecDestroy(&s->root));
  }
  PetscCall(SpTRSVGPUTrianglesCreate(s, &t));
  ierr = VecDuplicate(like, &roots);
  if (ierr) PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCall(ierr);
  PetscCall(VecGetArrayWrite(roots, &root));
  for (PetscInt r = 0; r < t.view.U.rows && row < 0; r++) {
    pivot = ((const PetscScalar *)t.view.U.values)[t.view.U.offsets[r]];
    if (PetscRealPart(pivot) < 0 || PetscImaginaryPart(pivot) != 0) row = t.view.row ? t.view.row[r] : r;
    else root[r] = PetscSqrtReal(PetscRealPart(pivot));
  }
  PetscCall(VecRestoreArrayWrite(roots, &root));
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  if (row < 0) s->root = roots;
  else PetscCall(VecDestroy(&roots));
  PetscCheck(row < 0, PETSC_COMM_SELF, PETSC_ERR_MAT_CH_ZRPVT,
             "Pivot %g of row %" PetscInt_FMT " is %s, so MatForwardSolve() and MatBackwardSolve() of ICC, which need "
             "its square root, cannot be used; MatSolve() can",
             (double)PetscRealPart(pivot), row, PetscImaginaryPart(pivot) != 0 ? "not real" : "negative");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ICC = U^T D U: the halves are U^T D^(1/2) and D^(1/2) U, so one is the transpose of the other. The plans solve with
   U^T and D U. For a Hermitian matrix U^H takes the place of U^T. */
static PetscErrorCode MatForwardSolve_SpTRSVGPU_ICC(Mat F, Vec b, Vec x)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  if (!F->factorerrortype) PetscCall(MakeRoot(F, x));
  PetscCall(Solve(F, PETSC_FALSE, TRSV_FORWARD, b, x));
  if (!F->factorerrortype) PetscCall(VecPointwiseDivide(x, x, s->root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_SpTRSVGPU_ICC(Mat F, Vec b, Vec x)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;
  PetscBool  same;

  PetscFunctionBegin;
  if (F->factorerrortype) {
    PetscCall(Solve(F, PETSC_FALSE, TRSV_BACKWARD, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MakeRoot(F, b));
  PetscCall(PetscObjectTypeCompare((PetscObject)s->scaled, ((PetscObject)b)->type_name, &same));
  if (!same) PetscCall(VecDestroy(&s->scaled)); /* one b is on the host and the next one on the GPU, or conversely */
  if (!s->scaled) PetscCall(VecDuplicate(b, &s->scaled));
  PetscCall(VecPointwiseMult(s->scaled, b, s->root));
  PetscCall(Solve(F, PETSC_FALSE, TRSV_BACKWARD, s->scaled, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves column by column. X may be B: a column is then copied first. */
static PetscErrorCode MatSolveColumns(Mat F, PetscBool transposed, Mat B, Mat X)
{
  PetscErrorCode (*solve)(Mat, Vec, Vec) = transposed ? F->ops->solvetranspose : F->ops->solve;
  Vec            b, x, copy = NULL;
  PetscInt       columns;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &columns));
  for (PetscInt j = 0; j < columns && !ierr; j++) {
    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    if (B == X) {
      if (!copy) ierr = VecDuplicate(b, &copy);
      if (!ierr) ierr = VecCopy(b, copy);
      PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
      if (ierr) break;
    }
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    ierr = (*solve)(F, copy ? copy : b, x);
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
    if (B != X) PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
  }
  PetscCall(VecDestroy(&copy));
  PetscCall(ierr); /* after the matrices are restored: the program may use them again */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolve_SpTRSVGPU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(MatSolveColumns(F, PETSC_FALSE, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolveTranspose_SpTRSVGPU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(MatSolveColumns(F, PETSC_TRUE, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the solve operations of a factor that has values. */
PetscErrorCode SpTRSVGPUSetSolves(Mat F)
{
  const SpTRSVGPU *s   = (SpTRSVGPU *)F->data;
  const PetscBool  icc = (PetscBool)(F->factortype == MAT_FACTOR_ICC);

  PetscFunctionBegin;
  F->ops->solve             = MatSolve_SpTRSVGPU;
  F->ops->solvetranspose    = icc && !s->hermitian ? MatSolve_SpTRSVGPU : MatSolveTranspose_SpTRSVGPU;
  F->ops->forwardsolve      = icc ? MatForwardSolve_SpTRSVGPU_ICC : MatForwardSolve_SpTRSVGPU;
  F->ops->backwardsolve     = icc ? MatBackwardSolve_SpTRSVGPU_ICC : MatBackwardSolve_SpTRSVGPU;
  F->ops->matsolve          = MatMatSolve_SpTRSVGPU;
  F->ops->matsolvetranspose = MatMatSolveTranspose_SpTRSVGPU;
  if (!s->is_csr) { /* PETSc's halves, if it has them */
    F->ops->forwardsolve  = s->host->ops->forwardsolve ? MatForwardSolve_SpTRSVGPU : NULL;
    F->ops->backwardsolve = s->host->ops->backwardsolve ? MatBackwardSolve_SpTRSVGPU : NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
