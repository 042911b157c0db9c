/*
   The solves of a factor Mat: each is a first and a second triangular solve, of L and U, or of U^T and L^T; or, on the host, PETSc's own.
*/
#include "impl.h"
#include <petscdevice.h>

typedef enum {
  FIRST  = 1,
  SECOND = 2,
  BOTH   = FIRST | SECOND
} Halves;

PetscErrorCode SpTRSVGPUGetStream(TrsvMemory memory, TrsvStream *stream)
{
  PetscFunctionBegin;
  *stream = NULL;
  if (memory == TRSV_DEVICE) {
    PetscDeviceContext context;
    void              *handle;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
    if (handle) *stream = *(TrsvStream *)handle;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a solve by L, which has a unit diagonal, or U. */
static PetscLogDouble Flops(const TrsvPairMember *m, PetscBool lower)
{
  const PetscLogDouble rows = m->statistics.rows;

  return 2 * ((PetscLogDouble)m->statistics.nnz - rows) + (lower ? 0 : rows);
}

/* One triangular solve, or both in one launch, as the log counts it. */
static PetscErrorCode Logged(TrsvPair *pair, Halves halves, const void *from, void *to, TrsvStream stream)
{
  const PetscBool      lower = (PetscBool)((halves == FIRST) != pair->transposed);
  const PetscLogEvent  event = halves == BOTH ? SpTRSVGPU_SolveLU : lower ? SpTRSVGPU_SolveL : SpTRSVGPU_SolveU;
  const PetscLogDouble flops = (halves & FIRST ? Flops(&pair->forward, (PetscBool)!pair->transposed) : 0) + (halves & SECOND ? Flops(&pair->backward, (PetscBool)pair->transposed) : 0);
  TrsvError            error;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  if (pair->memory == TRSV_DEVICE) PetscCall(PetscLogGpuTimeBegin());
  error = halves == BOTH ? TrsvPairSolve(pair, from, to, stream) : halves == FIRST ? TrsvPairForward(pair, from, to, stream) : TrsvPairBackward(pair, from, to, stream);
  if (pair->memory == TRSV_DEVICE) {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops));
  } else PetscCall(PetscLogFlops(flops));
  PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  PetscCallTrsv(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveArrays(TrsvPair *pair, Halves halves, const void *b, void *x)
{
  TrsvStream stream;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetStream(pair->memory, &stream));
  if (halves != BOTH || pair->fused) PetscCall(Logged(pair, halves, b, x, stream));
  else {
    PetscCall(Logged(pair, FIRST, b, pair->work, stream));
    PetscCall(Logged(pair, SECOND, pair->work, x, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(HAVE_CUDA)
static PetscErrorCode OnDevice(Vec v, PetscBool *flg)
{
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, flg, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(v, &bound));
  if (bound) *flg = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a vector of the host when the solve runs on the device. */
static PetscErrorCode DeviceVector(Mat F, Vec *v)
{
  PetscFunctionBegin;
  if (*v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreate(PetscObjectComm((PetscObject)F), v));
  PetscCall(VecSetLayout(*v, F->rmap));
  PetscCall(VecSetType(*v, VECCUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveOnDevice(Mat F, TrsvPair *pair, Halves halves, Vec b, Vec x)
{
  SpTRSVGPU         *s      = (SpTRSVGPU *)F->data;
  Vec                result = x;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscBool          there;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(OnDevice(b, &there));
  if (!there) {
    PetscCall(DeviceVector(F, &s->b));
    PetscCall(VecCopy(b, s->b));
    b = s->b;
  }
  PetscCall(OnDevice(x, &there));
  if (!there) {
    PetscCall(DeviceVector(F, &s->x));
    result = s->x;
  }
  PetscCall(VecCUDAGetArrayRead(b, &from));
  PetscCall(VecCUDAGetArrayWrite(result, &to));
  ierr = SolveArrays(pair, halves, from, to);
  PetscCall(VecCUDARestoreArrayWrite(result, &to));
  PetscCall(VecCUDARestoreArrayRead(b, &from));
  PetscCall(ierr); /* a program may go on after that, with its vectors */
  if (result != x) PetscCall(VecCopy(result, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode SolveOnHost(TrsvPair *pair, Halves halves, Vec b, Vec x)
{
  const PetscScalar *from;
  PetscScalar       *to;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  ierr = SolveArrays(pair, halves, from, to);
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a factorisation that failed there is neither a solve nor a root. */
static PetscErrorCode CheckSound(Mat F)
{
  PetscFunctionBegin;
  PetscCheck(!F->factorerrortype, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The factorisation failed; there is no solve with it");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat F, PetscBool transposed, Halves halves, Vec b, Vec x)
{
  SpTRSVGPU *s      = (SpTRSVGPU *)F->data;
  TrsvMemory memory = s->home;
  TrsvPair  *pair;
  PetscBool  bound;

  PetscFunctionBegin;
  PetscCall(CheckSound(F));
  PetscCall(MatBoundToCPU(F, &bound));
  if (bound) memory = TRSV_HOST;
  if (halves == BOTH && SpTRSVGPUPetscSolves(s, memory)) { /* they go by the arrays of b and x, which are this rank's where these are parallel */
    if (transposed) PetscUseTypeMethod(s->host, solvetranspose, b, x);
    else PetscUseTypeMethod(s->host, solve, b, x);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpTRSVGPUGetPair(F, memory, transposed, &pair));
#if PetscDefined(HAVE_CUDA)
  if (memory == TRSV_DEVICE) {
    PetscCall(SolveOnDevice(F, pair, halves, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(SolveOnHost(pair, halves, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_FALSE, BOTH, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTranspose_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_TRUE, BOTH, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ILU: L and U. */
static PetscErrorCode MatForwardSolve_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_FALSE, FIRST, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_SpTRSVGPU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, PETSC_FALSE, SECOND, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a factor of PETSc's whose rows are not read here: ICC has halves. */
static PetscErrorCode MatForwardSolve_SpTRSVGPU_Petsc(Mat F, Vec b, Vec x)
{
  Mat host = ((SpTRSVGPU *)F->data)->host;

  PetscFunctionBegin;
  PetscCall(CheckSound(F));
  PetscUseTypeMethod(host, forwardsolve, b, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_SpTRSVGPU_Petsc(Mat F, Vec b, Vec x)
{
  Mat host = ((SpTRSVGPU *)F->data)->host;

  PetscFunctionBegin;
  PetscCall(CheckSound(F));
  PetscUseTypeMethod(host, backwardsolve, b, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The square roots of ICC's pivots, in the order of the factor. */
static PetscErrorCode GetRoot(Mat F, Vec like)
{
  SpTRSVGPU         *s = (SpTRSVGPU *)F->data;
  SpTRSVGPUTriangles t;
  Vec                roots;
  PetscScalar       *root;
  PetscReal          pivot = 0;
  PetscInt           row   = -1;

  PetscFunctionBegin;
  if (s->root) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckSound(F));
  PetscCall(SpTRSVGPUTrianglesCreate(s, TRSV_HOST, PETSC_TRUE, &t));
  PetscCheck(t.u || !t.U.rows, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "There are no values in the factor, as a set-up failed; factor again");
  PetscCall(VecDuplicate(like, &roots));
  PetscCall(VecGetArrayWrite(roots, &root));
  for (PetscInt r = 0; r < t.U.rows && row < 0; r++) {
    pivot = PetscRealPart(t.u[t.U.offsets[r]]);
    if (pivot < 0) row = t.row ? t.row[r] : r;
    else root[r] = PetscSqrtReal(pivot);
  }
  PetscCall(VecRestoreArrayWrite(roots, &root));
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  if (row < 0) s->root = roots;
  else PetscCall(VecDestroy(&roots));
  PetscCheck(row < 0, PETSC_COMM_SELF, PETSC_ERR_MAT_CH_ZRPVT, "Pivot %g of row %" PetscInt_FMT " is negative: the factor has no symmetric halves", (double)pivot, row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ICC = U^T D U: the halves are U^T D^(1/2) and D^(1/2) U, so that one is the transpose of the other. The plans are of U^T and D U. */
static PetscErrorCode MatForwardSolve_SpTRSVGPU_ICC(Mat F, Vec b, Vec x)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  PetscCall(GetRoot(F, x));
  PetscCall(Solve(F, PETSC_FALSE, FIRST, b, x));
  PetscCall(VecPointwiseDivide(x, x, s->root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_SpTRSVGPU_ICC(Mat F, Vec b, Vec x)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;
  PetscBool  same;

  PetscFunctionBegin;
  PetscCall(GetRoot(F, b));
  PetscCall(PetscObjectTypeCompare((PetscObject)s->scaled, ((PetscObject)b)->type_name, &same));
  if (!same) PetscCall(VecDestroy(&s->scaled)); /* vectors of the host and of the device may take turns */
  if (!s->scaled) PetscCall(VecDuplicate(b, &s->scaled));
  PetscCall(VecPointwiseMult(s->scaled, b, s->root));
  PetscCall(Solve(F, PETSC_FALSE, SECOND, s->scaled, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column by column. X may be B, for which a column is copied aside. */
static PetscErrorCode MatSolveColumns(Mat F, PetscBool transposed, Mat B, Mat X)
{
  PetscErrorCode (*solve)(Mat, Vec, Vec) = transposed ? F->ops->solvetranspose : F->ops->solve;
  Vec       b, x, aside = NULL;
  PetscInt  columns;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &columns));
  for (PetscInt j = 0; j < columns; j++) {
    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    if (B == X) {
      if (!aside) PetscCall(VecDuplicate(b, &aside));
      PetscCall(VecCopy(b, aside));
      PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
    }
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    PetscCall((*solve)(F, aside ? aside : b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
    if (B != X) PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
  }
  PetscCall(VecDestroy(&aside));
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

PetscErrorCode MatSetSolves_SpTRSVGPU(Mat F)
{
  const SpTRSVGPU *s   = (SpTRSVGPU *)F->data;
  const PetscBool  icc = (PetscBool)(F->factortype == MAT_FACTOR_ICC);

  PetscFunctionBegin;
  F->ops->solve             = MatSolve_SpTRSVGPU;
  F->ops->solvetranspose    = icc ? MatSolve_SpTRSVGPU : MatSolveTranspose_SpTRSVGPU;
  F->ops->forwardsolve      = icc ? MatForwardSolve_SpTRSVGPU_ICC : MatForwardSolve_SpTRSVGPU;
  F->ops->backwardsolve     = icc ? MatBackwardSolve_SpTRSVGPU_ICC : MatBackwardSolve_SpTRSVGPU;
  F->ops->matsolve          = MatMatSolve_SpTRSVGPU;
  F->ops->matsolvetranspose = MatMatSolveTranspose_SpTRSVGPU;
  if (!s->csr) {
    F->ops->forwardsolve  = s->host->ops->forwardsolve ? MatForwardSolve_SpTRSVGPU_Petsc : NULL;
    F->ops->backwardsolve = s->host->ops->backwardsolve ? MatBackwardSolve_SpTRSVGPU_Petsc : NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
