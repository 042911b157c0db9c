/*
   pretend.h: included before each file that calls PETSc in the test build: the calls that need a GPU, by the names of
   their stand-ins in petsc.c, vectors.c and matrices.c.
*/
#ifndef PRETEND_H
#define PRETEND_H

#define MatInitializePackage              PretendInitializePackage
#define MatSeqAIJCUSPARSEGetIJ            PretendGetIJ
#define MatSeqAIJCUSPARSERestoreIJ        PretendRestoreIJ
#define MatSeqAIJCUSPARSEGetArrayRead     PretendGetValues
#define MatSeqAIJCUSPARSERestoreArrayRead PretendRestoreValues
#define VecCUDAGetArrayRead               PretendGetArrayRead
#define VecCUDARestoreArrayRead           PretendRestoreArrayRead
#define VecCUDAGetArray                   PretendGetArray
#define VecCUDARestoreArray               PretendRestoreArray
#define VecCUDAGetArrayWrite              PretendGetArrayWrite
#define VecCUDARestoreArrayWrite          PretendRestoreArrayWrite
#define PetscDeviceContextGetStreamHandle PretendGetStreamHandle
#define PetscDeviceContextSynchronize     PretendSynchronize

#endif
