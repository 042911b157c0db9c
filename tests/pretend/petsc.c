/*
   Stand-ins for PETSc's types of matrices and vectors on a GPU, with the device memory of the executor (tests/simt).
   They have the names of PETSc's types, and are for tests of src/mat without a GPU.

   A matrix is a seqaij or mpiaij matrix. Its pattern and values are copied to the device when a program asks for them
   there. A vector is a seq or mpi vector with a second array on the device. As in PETSc, offloadmask says which of the
   two arrays has the values, so a pointer to the other array gives a wrong answer. Everything else runs on the host.

   Device memory that exists after PetscFinalize() is reported, on standard output, so that a test fails.
*/
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include "pretend.h"
#undef MatInitializePackage
#include <petsc/private/matimpl.h>
#include <petsc/private/vecimpl.h>
#include <petscdevice.h>
#include "cuda_runtime.h"
#include "device/device.h"
#include "executor.h"

PETSC_EXTERN PetscErrorCode PretendInitializePackage(void);

#define CallDevice(...) \
  do { \
    const TrsvError error_ = (__VA_ARGS__); \
    PetscCheck(!error_, PETSC_COMM_SELF, error_ == TRSV_ERR_MEMORY ? PETSC_ERR_MEM : PETSC_ERR_GPU, "%s", \
               TrsvErrorMessage()); \
  } while (0)

/* ---- the stream of the current context */

static TrsvStream stream;

static PetscErrorCode CreateStream(void)
{
  PetscFunctionBegin;
  if (!stream && cudaStreamCreateWithFlags((cudaStream_t *)&stream, 0))
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU, "no stream");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendGetStreamHandle(PetscDeviceContext context, void **handle)
{
  PetscFunctionBegin;
  (void)context;
  PetscCall(CreateStream());
  *handle = &stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendSynchronize(PetscDeviceContext context)
{
  PetscFunctionBegin;
  (void)context;
  if (stream && cudaStreamSynchronize((cudaStream_t)stream))
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU, "waiting for a stream failed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- vectors */

typedef struct {
  PetscErrorCode (*destroy)(Vec);
  PetscErrorCode (*placearray)(Vec, const PetscScalar *);
  PetscErrorCode (*replacearray)(Vec, const PetscScalar *);
  PetscErrorCode (*resetarray)(Vec);
} VecBase;

static VecBase base_of[2]; /* of one rank, of several */

static VecBase *BaseOfVec(Vec v)
{
  PetscMPIInt size;

  (void)MPI_Comm_size(PetscObjectComm((PetscObject)v), &size);
  return &base_of[size > 1];
}

static PetscScalar *HostArray(Vec v) { return *(PetscScalar **)v->data; }

static PetscErrorCode ToHost(Vec v)
{
  PetscFunctionBegin;
  if (v->offloadmask == PETSC_OFFLOAD_GPU) {
    CallDevice(TrsvDeviceDownload(HostArray(v), v->spptr, sizeof(PetscScalar) * (size_t)v->map->n, stream));
    v->offloadmask = PETSC_OFFLOAD_BOTH;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocateOnDevice(Vec v)
{
  PetscFunctionBegin;
  PetscCall(CreateStream());
  if (!v->spptr) CallDevice(TrsvDeviceAlloc(sizeof(PetscScalar) * (size_t)v->map->n, &v->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToDevice(Vec v)
{
  PetscFunctionBegin;
  PetscCall(AllocateOnDevice(v));
  if (v->offloadmask == PETSC_OFFLOAD_CPU) {
    CallDevice(TrsvDeviceUpload(v->spptr, HostArray(v), sizeof(PetscScalar) * (size_t)v->map->n, stream));
    v->offloadmask = PETSC_OFFLOAD_BOTH;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendGetArrayRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCheck(!v->boundtocpu, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the vector is bound to the host");
  PetscCall(ToDevice(v));
  *a = (const PetscScalar *)v->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendRestoreArrayRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  (void)v;
  *a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendGetArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCheck(!v->boundtocpu, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the vector is bound to the host");
  PetscCall(VecSetErrorIfLocked(v, 1));
  PetscCall(ToDevice(v));
  *a = (PetscScalar *)v->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendRestoreArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(PretendRestoreArrayWrite(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was there is lost. */
PetscErrorCode PretendGetArrayWrite(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCheck(!v->boundtocpu, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the vector is bound to the host");
  PetscCall(VecSetErrorIfLocked(v, 1));
  PetscCall(AllocateOnDevice(v));
  *a = (PetscScalar *)v->spptr;
  for (PetscInt i = 0; i < v->map->n; i++) (*a)[i] = NAN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendRestoreArrayWrite(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  *a             = NULL;
  v->offloadmask = PETSC_OFFLOAD_GPU;
  PetscCall(PetscObjectStateIncrease((PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArray_Pretend(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(ToHost(v));
  *a = HostArray(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayRead_Pretend(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(ToHost(v));
  *a = HostArray(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArrayRead_Pretend(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  (void)v;
  (void)a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayWrite_Pretend(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  *a = HostArray(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArray_Pretend(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  (void)a;
  v->offloadmask = PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecPlaceArray_Pretend(Vec v, const PetscScalar *a)
{
  PetscFunctionBegin;
  PetscCall(ToHost(v));
  PetscCall((*BaseOfVec(v)->placearray)(v, a));
  v->offloadmask = PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecReplaceArray_Pretend(Vec v, const PetscScalar *a)
{
  PetscFunctionBegin;
  PetscCall((*BaseOfVec(v)->replacearray)(v, a));
  v->offloadmask = PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecResetArray_Pretend(Vec v)
{
  PetscFunctionBegin;
  PetscCall(ToHost(v)); /* into the array that was placed */
  PetscCall((*BaseOfVec(v)->resetarray)(v));
  v->offloadmask = PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecBindToCPU_Pretend(Vec v, PetscBool bind)
{
  PetscFunctionBegin;
  if (bind) PetscCall(ToHost(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDestroy_Pretend(Vec v)
{
  const VecBase *base = BaseOfVec(v);

  PetscFunctionBegin;
  TrsvDeviceFree(v->spptr);
  v->spptr = NULL;
  PetscCall((*base->destroy)(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDuplicate_Pretend(Vec w, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PetscObjectComm((PetscObject)w), v));
  PetscCall(VecSetLayout(*v, w->map));
  PetscCall(VecSetType(*v, ((PetscObject)w)->type_name));
  PetscCall(PetscObjectListDuplicate(((PetscObject)w)->olist, &((PetscObject)*v)->olist));
  PetscCall(PetscFunctionListDuplicate(((PetscObject)w)->qlist, &((PetscObject)*v)->qlist));
  (*v)->ops[0]               = w->ops[0];
  (*v)->boundtocpu           = w->boundtocpu;
  (*v)->bindingpropagates    = w->bindingpropagates;
  (*v)->stash.donotstash     = w->stash.donotstash;
  (*v)->stash.ignorenegidx   = w->stash.ignorenegidx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDuplicateVecs_Pretend(Vec w, PetscInt m, Vec **v)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m, v));
  for (PetscInt i = 0; i < m; i++) PetscCall(VecDuplicate(w, &(*v)[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a vector of the host one of the device. */
static PetscErrorCode MoveVecToDevice(Vec v)
{
  VecBase *base = BaseOfVec(v);

  PetscFunctionBegin;
  *base = (VecBase){v->ops->destroy, v->ops->placearray, v->ops->replacearray, v->ops->resetarray};
  v->ops->destroy           = VecDestroy_Pretend;
  v->ops->placearray        = VecPlaceArray_Pretend;
  v->ops->replacearray      = VecReplaceArray_Pretend;
  v->ops->resetarray        = VecResetArray_Pretend;
  v->ops->getarray          = VecGetArray_Pretend;
  v->ops->restorearray      = VecRestoreArray_Pretend;
  v->ops->getarrayread      = VecGetArrayRead_Pretend;
  v->ops->restorearrayread  = VecRestoreArrayRead_Pretend;
  v->ops->getarraywrite     = VecGetArrayWrite_Pretend;
  v->ops->restorearraywrite = VecRestoreArray_Pretend;
  v->ops->bindtocpu         = VecBindToCPU_Pretend;
  v->ops->duplicate         = VecDuplicate_Pretend;
  v->ops->duplicatevecs     = VecDuplicateVecs_Pretend;
  v->boundtocpu             = PETSC_FALSE;
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, base == &base_of[0] ? VECSEQCUDA : VECMPICUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreate_SeqPretend(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecSetType(v, VECSEQ));
  PetscCall(MoveVecToDevice(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreate_MPIPretend(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecSetType(v, VECMPI));
  PetscCall(MoveVecToDevice(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreate_Pretend(Vec v)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCall(VecSetType(v, size == 1 ? VECSEQCUDA : VECMPICUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's VecSetType() changes a vector on the host into one on a real GPU. In a program that is linked with this
   library PETSc calls this function instead. */
PETSC_EXTERN PetscErrorCode VecSetType(Vec v, VecType type)
{
  PetscErrorCode (*petsc)(Vec, VecType) = (PetscErrorCode(*)(Vec, VecType))dlsym(RTLD_NEXT, "VecSetType");
  PetscBool host, device;

  PetscFunctionBegin;
  PetscCall(PetscStrcmpAny(type, &device, VECSEQCUDA, VECMPICUDA, VECCUDA, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &host, VECSEQ, VECMPI, ""));
  if (host && device) PetscCall(MoveVecToDevice(v));
  else PetscCall((*petsc)(v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- matrices */

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
  PetscCall(CreateStream());
  if (!*(void **)pointer) CallDevice(TrsvDeviceAlloc(bytes, pointer));
  CallDevice(TrsvDeviceUpload(*(void **)pointer, host, bytes, stream));
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
  OnDevice         *d = (OnDevice *)A->spptr;
  PetscObjectState  now;
  const PetscInt   *offsets, *columns;
  PetscInt          n;
  PetscBool         done, hidden = PETSC_FALSE;

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

/* As VecSetType(), for matrices on the host. */
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

/* What cuSPARSE's solver type is by default for a matrix of the device: PETSc's own, on the host. */
static PetscErrorCode GetFactor(Mat A, MatFactorType type, Mat *F)
{
  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, type, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- registration, in each PetscInitialize() anew */

static PetscBool finalized;

static PetscErrorCode Finalize(void)
{
  PetscFunctionBegin;
  if (stream) (void)cudaStreamDestroy((cudaStream_t)stream);
  stream    = NULL;
  finalized = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As the library is closed, when PETSc has given back all that it has */
static void Report(void)
{
  if (finalized && (SimtLive() || SimtObjects()))
    printf("not given back: %zu allocations of device memory, %zu streams and pools\n", SimtLive(), SimtObjects());
}

PetscErrorCode PretendInitializePackage(void)
{
  static const MatFactorType kinds[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  static PetscBool           reported;

  PetscFunctionBegin;
  PetscCall(MatInitializePackage());
  PetscCall(VecInitializePackage());
  PetscCall(VecRegister(VECSEQCUDA, VecCreate_SeqPretend));
  PetscCall(VecRegister(VECMPICUDA, VecCreate_MPIPretend));
  PetscCall(VecRegister(VECCUDA, VecCreate_Pretend));
  PetscCall(MatRegister(MATSEQAIJCUSPARSE, MatCreate_SeqPretend));
  PetscCall(MatRegister(MATMPIAIJCUSPARSE, MatCreate_MPIPretend));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kinds); i++)
    PetscCall(MatSolverTypeRegister(MATSOLVERCUSPARSE, MATSEQAIJCUSPARSE, kinds[i], GetFactor));
  PetscCall(PetscRegisterFinalize(Finalize));
  if (!reported) PetscCheck(!atexit(Report), PETSC_COMM_SELF, PETSC_ERR_LIB, "atexit()");
  reported  = PETSC_TRUE;
  finalized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
