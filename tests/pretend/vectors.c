/*
   Stand-ins for PETSc's types of vectors on a GPU: a seq or mpi vector with a second array on the device. As in PETSc,
   offloadmask says which of the two arrays has the values, so a pointer to the other array gives a wrong answer.
*/
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include "stand_ins.h"
#include <petsc/private/vecimpl.h>

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
    CallDevice(TrsvDeviceDownload(HostArray(v), v->spptr, sizeof(PetscScalar) * (size_t)v->map->n, pretend_stream));
    v->offloadmask = PETSC_OFFLOAD_BOTH;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocateOnDevice(Vec v)
{
  PetscFunctionBegin;
  PetscCall(PretendCreateStream());
  if (!v->spptr) CallDevice(TrsvDeviceAlloc(sizeof(PetscScalar) * (size_t)v->map->n, &v->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToDevice(Vec v)
{
  PetscFunctionBegin;
  PetscCall(AllocateOnDevice(v));
  if (v->offloadmask == PETSC_OFFLOAD_CPU) {
    CallDevice(TrsvDeviceUpload(v->spptr, HostArray(v), sizeof(PetscScalar) * (size_t)v->map->n, pretend_stream));
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

/* The old contents are lost. */
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
  (*v)->ops[0]             = w->ops[0];
  (*v)->boundtocpu         = w->boundtocpu;
  (*v)->bindingpropagates  = w->bindingpropagates;
  (*v)->stash.donotstash   = w->stash.donotstash;
  (*v)->stash.ignorenegidx = w->stash.ignorenegidx;
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
  *base                     = (VecBase){v->ops->destroy, v->ops->placearray, v->ops->replacearray, v->ops->resetarray};
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

PetscErrorCode PretendRegisterVectors(void)
{
  PetscFunctionBegin;
  PetscCall(VecInitializePackage());
  PetscCall(VecRegister(VECSEQCUDA, VecCreate_SeqPretend));
  PetscCall(VecRegister(VECMPICUDA, VecCreate_MPIPretend));
  PetscCall(VecRegister(VECCUDA, VecCreate_Pretend));
  PetscFunctionReturn(PETSC_SUCCESS);
}
