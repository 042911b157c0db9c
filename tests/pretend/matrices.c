/*
   Stand-ins for PETSc's types of matrices on a GPU: a seqaij or mpiaij matrix. Its pattern and values are copied to the
   device when a program asks for them there.
*/
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include "stand_ins.h"
#include <petsc/private/matimpl.h>

typedef struct {
  PetscInt        *offsets, *columns; /* on the device */
  PetscScalar     *values;
  PetscObjectState pattern, state; /* of the matrix, when they were copied */
} OnDevice;

static PetscErrorCode (*destroy_seqaij)(Mat);
static PetscErrorCode (*assemblyend_mpiaij)(Mat, MatAssemblyType);
static PetscErrorCode (*getdiagonalblock_mpiaij)(Mat, Mat *);

static void ForgetOnDevice(OnDevice *d)
{
  TrsvDeviceFree(d->offsets);
  TrsvDeviceFree(d->columns);
  TrsvDeviceFree(d->values);
  *d = (OnDevice){NULL, NULL, NULL, -1, -1};
}

static PetscErrorCode MatDestroy_Pretend(Mat A)
{
  PetscFunctionBegin;
  ForgetOnDevice((OnDevice *)A->spptr);
  PetscCall(PetscFree(A->spptr));
  PetscCall((*destroy_seqaij)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UseDeviceVectors(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(A->defaultvectype));
  PetscCall(PetscStrallocpy(VECCUDA, &A->defaultvectype));
  A->boundtocpu = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MoveSeqToDevice(Mat A)
{
  OnDevice *d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  ForgetOnDevice(d);
  A->spptr        = d;
  destroy_seqaij  = A->ops->destroy;
  A->ops->destroy = MatDestroy_Pretend;
  PetscCall(UseDeviceVectors(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSEQAIJCUSPARSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal block is one of the device, too. */
static PetscErrorCode MoveBlockToDevice(Mat A)
{
  Mat       block;
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)block, MATSEQAIJCUSPARSE, &there));
  if (!there) PetscCall(MoveSeqToDevice(block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_MPIPretend(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscCall((*assemblyend_mpiaij)(A, type));
  PetscCall(MoveBlockToDevice(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonalBlock_MPIPretend(Mat A, Mat *block)
{
  PetscFunctionBegin;
  PetscCall(MoveBlockToDevice(A));
  PetscCall((*getdiagonalblock_mpiaij)(A, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MoveMPIToDevice(Mat A)
{
  PetscFunctionBegin;
  assemblyend_mpiaij       = A->ops->assemblyend;
  getdiagonalblock_mpiaij  = A->ops->getdiagonalblock;
  A->ops->assemblyend      = MatAssemblyEnd_MPIPretend;
  A->ops->getdiagonalblock = MatGetDiagonalBlock_MPIPretend;
  PetscCall(UseDeviceVectors(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATMPIAIJCUSPARSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a seqaij or mpiaij one of the device. */
static PetscErrorCode MoveToDevice(Mat A)
{
  PetscBool seq;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  if (seq) PetscCall(MoveSeqToDevice(A));
  else PetscCall(MoveMPIToDevice(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqPretend(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MoveToDevice(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_MPIPretend(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MoveToDevice(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Upload(const void *host, size_t bytes, void *pointer)
{
  PetscFunctionBegin;
  PetscCall(PretendCreateStream());
  if (!*(void **)pointer) CallDevice(TrsvDeviceAlloc(bytes, pointer));
  CallDevice(TrsvDeviceUpload(*(void **)pointer, host, bytes, pretend_stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckOnDevice(Mat A)
{
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &there));
  PetscCheck(there && !A->boundtocpu, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "a matrix of the host");
  PetscCheck(A->assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "not assembled");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendGetIJ(Mat A, PetscBool compressed, const PetscInt **i, const PetscInt **j)
{
  OnDevice        *d = (OnDevice *)A->spptr;
  PetscObjectState now;
  const PetscInt  *offsets, *columns;
  PetscInt         n;
  PetscBool        done, hidden = PETSC_FALSE;

  PetscFunctionBegin;
  (void)compressed;
  PetscCall(CheckOnDevice(A));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-pretend_no_pattern", &hidden, NULL));
  PetscCheck(!hidden, PETSC_COMM_SELF, PETSC_ERR_SUP, "no rows of this storage format");
  PetscCall(MatGetNonzeroState(A, &now));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &offsets, &columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no rows");
  if (now != d->pattern) {
    ForgetOnDevice(d);
    PetscCall(Upload(offsets, sizeof(PetscInt) * (size_t)(n + 1), &d->offsets));
    PetscCall(Upload(columns, sizeof(PetscInt) * (size_t)offsets[n], &d->columns));
    d->pattern = now;
  }
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &offsets, &columns, &done));
  *i = d->offsets;
  *j = d->columns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendRestoreIJ(Mat A, PetscBool compressed, const PetscInt **i, const PetscInt **j)
{
  PetscFunctionBegin;
  (void)A;
  (void)compressed;
  *i = *j = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendGetValues(Mat A, const PetscScalar **a)
{
  OnDevice          *d = (OnDevice *)A->spptr;
  PetscObjectState   now, pattern;
  const PetscScalar *host;
  MatInfo            info;

  PetscFunctionBegin;
  PetscCall(CheckOnDevice(A));
  PetscCall(PetscObjectStateGet((PetscObject)A, &now));
  PetscCall(MatGetNonzeroState(A, &pattern));
  if (pattern != d->pattern) ForgetOnDevice(d);
  if (now != d->state) {
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArrayRead(A, &host));
    PetscCall(Upload(host, sizeof(PetscScalar) * (size_t)info.nz_used, &d->values));
    PetscCall(MatSeqAIJRestoreArrayRead(A, &host));
    d->state = now;
  }
  *a = d->values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendRestoreValues(Mat A, const PetscScalar **a)
{
  PetscFunctionBegin;
  (void)A;
  *a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As VecSetType() in vectors.c, for matrices on the host. */
PETSC_EXTERN PetscErrorCode MatConvert(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscErrorCode (*petsc)(Mat, MatType, MatReuse, Mat *) =
    (PetscErrorCode(*)(Mat, MatType, MatReuse, Mat *))dlsym(RTLD_NEXT, "MatConvert");
  PetscBool host, device;

  PetscFunctionBegin;
  PetscCall(PetscStrcmpAny(type, &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, MATAIJCUSPARSE, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &host, MATSEQAIJ, MATMPIAIJ, ""));
  if (host && device && reuse != MAT_REUSE_MATRIX) {
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    PetscCall(MoveToDevice(*B));
  } else PetscCall((*petsc)(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The default of the solver type cusparse: PETSc's own, on the host. */
static PetscErrorCode GetFactor(Mat A, MatFactorType type, Mat *F)
{
  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, type, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendRegisterMatrices(void)
{
  static const MatFactorType kinds[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBegin;
  PetscCall(MatInitializePackage());
  PetscCall(MatRegister(MATSEQAIJCUSPARSE, MatCreate_SeqPretend));
  PetscCall(MatRegister(MATMPIAIJCUSPARSE, MatCreate_MPIPretend));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kinds); i++)
    PetscCall(MatSolverTypeRegister(MATSOLVERCUSPARSE, MATSEQAIJCUSPARSE, kinds[i], GetFactor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
