/*
   The device functions of a build without CUDA, for a PETSc without CUDA, whose matrices are on the host: there PETSc
   factors, and the host algorithm of the table solves. The same files of C are compiled with and without CUDA, and
   these functions complete the library. They return TRSV_ERR_UNSUPPORTED, unless they do nothing. No algorithm in the
   table of that build calls them.
*/
#include "factor/factor.h"
#include "ordering/multicolor.h"
#include "solve/solve.h"
#include "trsv.h"

#define NONE(function, ...) \
  TrsvError function(__VA_ARGS__) { return TrsvFail(TRSV_ERR_UNSUPPORTED, "built without CUDA"); }

/* clang-format off */
NONE(TrsvDeviceAlloc, size_t bytes, void *pointer)
NONE(TrsvPinnedAlloc, int words, unsigned **pointer)
NONE(TrsvDeviceUpload, void *device, const void *host, size_t bytes, TrsvStream stream)
NONE(TrsvDeviceDownload, void *host, const void *device, size_t bytes, TrsvStream stream)
NONE(TrsvDeviceCopy, void *to, const void *from, size_t bytes, TrsvStream stream)
NONE(TrsvDeviceClear, void *device, size_t bytes, TrsvStream stream)
NONE(TrsvClearWords, TrsvPrecision precision, size_t n, void *words, unsigned *launch, TrsvStream stream)
NONE(TrsvScratchAlloc, size_t bytes, void *pointer, TrsvStream stream)
NONE(TrsvDeviceWait, TrsvStream stream)
NONE(TrsvDeviceIsCaptured, TrsvStream stream, int *captured)
NONE(TrsvWorkDevice, TrsvWorkOrder *order)
NONE(TrsvWorkBegin, TrsvWorkOrder *order, TrsvStream stream)
NONE(TrsvWorkEnd, TrsvWorkOrder *order, TrsvStream stream)
NONE(TrsvDeviceTime, TrsvError (*run)(void *, TrsvStream), void *data, TrsvStream stream, double *seconds)
NONE(TrsvRunInLockStep, TrsvError (*begin)(void *), TrsvError (*end)(void *), void *first, void *second)
NONE(TrsvDevicePermute, int n, const int *index, int scatter, TrsvPrecision precision, const void *from, void *to,
     TrsvStream stream)
NONE(TrsvNarrowCreate, const TrsvCSR *A, TrsvCSR *narrowed)
NONE(TrsvDeviceError, const TrsvMatrix *A, const int *source, const void *values, const TrsvPermutation *places,
     const void *b, const void *x, double *error, TrsvStream stream)
NONE(TrsvDeviceAnalyze, int count, const TrsvMatrix *const A[], TrsvAnalysis *const analysis[])
NONE(TrsvHeightsFromTranspose, const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper)
NONE(TrsvDeviceTranspose, const TrsvMatrix *A, int *offsets, int *columns, int *source)
NONE(TrsvDeviceOrder, TrsvColorMatrix *A, TrsvOrdering *o)
NONE(TrsvDeviceOrderValues, const TrsvCSR *A, TrsvPrecision precision, TrsvOrdering **multicolor)
NONE(TrsvDeviceDiscardedFill, const TrsvCSR *A, const int *order, TrsvPrecision precision, double fill[2])
NONE(TrsvFactorSplit, TrsvFactor *f, const TrsvCSR *A, const int *order, TrsvMemory there)
NONE(TrsvFactorAssignGroups, TrsvFactor *f, const int *order)
NONE(TrsvFactorMirrorColumns, TrsvFactor *f)
NONE(TrsvFactorFindLargestSum, TrsvFactor *f, const void *values, double *largest, TrsvStream stream)
NONE(TrsvFactorCheckPattern, TrsvFactor *f)
NONE(TrsvFactorCompute, TrsvFactor *f, TrsvPlan *lower, const void *values, const TrsvPivots *p, double shift,
     TrsvStream stream)
/* clang-format on */

void   TrsvDeviceFree(void *pointer) { }
void   TrsvDeviceFreeAll(int n, void *const memory[]) { }
void   TrsvScratchFree(void *device, TrsvStream stream) { }
void   TrsvNarrowDestroy(const TrsvCSR *A, TrsvCSR *narrowed) { }
void   TrsvPinnedFree(int words, unsigned *pointer) { }
void   TrsvWorkDestroy(TrsvWorkOrder *order) { }
TrsvDeviceLimits TrsvDeviceGetLimits(void) { return (TrsvDeviceLimits){0, 0}; }
size_t TrsvDeviceHeld(void) { return 0; }
size_t TrsvDevicePeak(void) { return 0; }
void   TrsvDeviceMark(void) { }
void   TrsvDeviceFinalize(void) { }
