/*
   The device functions of a build without CUDA. Nothing there calls them: the table has no algorithm of the device.
*/
#include <stdlib.h>
#include "bmc.h"
#include "factor.h"

static TrsvError None(void) { return TrsvFail(TRSV_ERR_UNSUPPORTED, "built without CUDA"); }

TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer)
{
  (void)bytes;
  (void)pointer;
  return None();
}

void TrsvDeviceFree(void *pointer) { (void)pointer; }

size_t TrsvDeviceHeld(void) { return 0; }
size_t TrsvDevicePeak(void) { return 0; }
void   TrsvDeviceMark(void) { }
void   TrsvDeviceApart(void) { }

TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream stream)
{
  (void)device;
  (void)host;
  (void)bytes;
  (void)stream;
  return None();
}

TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream stream) { return TrsvDeviceUpload(host, device, bytes, stream); }

TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream stream) { return TrsvDeviceUpload(to, from, bytes, stream); }

TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream stream) { return TrsvDeviceUpload(device, NULL, bytes, stream); }

TrsvError TrsvDeviceAllocWord(unsigned **word) { return TrsvDeviceAlloc(sizeof(**word), word); }
void      TrsvDeviceFreeWord(unsigned *word) { (void)word; }

TrsvError TrsvDeviceStage(const void *host, size_t bytes, void *pointer, TrsvStream stream) { return TrsvDeviceUpload(pointer, host, bytes, stream); }

void TrsvDeviceRelease(void *device, TrsvStream stream)
{
  (void)device;
  (void)stream;
}

TrsvError TrsvDeviceFinish(void) { return TRSV_SUCCESS; }

int TrsvDeviceHolds(size_t shared_bytes)
{
  (void)shared_bytes;
  return 0;
}

TrsvError TrsvDeviceCurrent(int *device)
{
  (void)device;
  return None();
}

TrsvError TrsvDeviceTimerCreate(TrsvTimer **timer)
{
  *timer = NULL;
  return None();
}

TrsvError TrsvDeviceTimerStart(TrsvTimer *timer, TrsvStream stream)
{
  (void)timer;
  (void)stream;
  return None();
}

TrsvError TrsvDeviceTimerStop(TrsvTimer *timer, TrsvStream stream) { return TrsvDeviceTimerStart(timer, stream); }

TrsvError TrsvDeviceTimerRead(TrsvTimer *timer, double *seconds)
{
  *seconds = 0;
  return TrsvDeviceTimerStart(timer, NULL);
}

void TrsvDeviceTimerDestroy(TrsvTimer **timer) { (void)timer; }

TrsvError TrsvDeviceError(const TrsvMatrix *A, const int *source, const void *values, const void *b, const void *x, double *error, TrsvStream stream)
{
  (void)A;
  (void)source;
  (void)values;
  (void)b;
  (void)stream;
  return TrsvDeviceUpload(error, x, 0, NULL);
}

TrsvError TrsvCalibrate(size_t copied, TrsvMeasured *measured)
{
  (void)copied;
  (void)measured;
  return None();
}

TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision precision, const void *from, void *to, TrsvStream stream)
{
  (void)index;
  (void)scatter;
  (void)precision;
  return TrsvDeviceUpload(to, from, (size_t)n, stream);
}

TrsvError TrsvThreadPairCreate(const TrsvPlan *first, const TrsvPlan *second, void *between, TrsvThreadPair **pair)
{
  (void)between;
  (void)first;
  (void)second;
  (void)pair;
  return None();
}

TrsvError TrsvThreadPairReady(TrsvThreadPair *pair, TrsvStream stream) { return TrsvDeviceClear(pair, 0, stream); }

TrsvError TrsvThreadPairSolve(TrsvThreadPair *pair, const void *b, void *x, TrsvStream stream)
{
  (void)pair;
  return TrsvDeviceUpload(x, b, 0, stream);
}

void TrsvThreadPairDestroy(TrsvThreadPair **pair) { (void)pair; }

TrsvError TrsvFactorCusparse(TrsvFactor *f, const int *offsets, const int *columns, const void *values, TrsvOutcome *outcome, TrsvStream stream)
{
  (void)offsets;
  (void)columns;
  (void)outcome;
  return TrsvFactorSums(f, values, stream);
}

void TrsvFactorCusparseDestroy(TrsvFactor *f) { (void)f; }

TrsvError TrsvDeviceAsymmetry(int rows, const int *offsets, const int *columns, TrsvPrecision precision, const void *values, double *asymmetry)
{
  (void)rows;
  (void)offsets;
  (void)columns;
  (void)precision;
  return TrsvDeviceUpload(asymmetry, values, 0, NULL);
}

TrsvError TrsvFactorGather(TrsvFactor *f, const void *values, TrsvStream stream) { return TrsvFactorSums(f, values, stream); }

TrsvError TrsvFactorSplit(TrsvFactor *f, const int *offsets, const int *columns, const int *order, TrsvMemory there, int *row)
{
  (void)f;
  (void)offsets;
  (void)columns;
  (void)order;
  (void)there;
  (void)row;
  return None();
}

TrsvError TrsvFactorSlots(TrsvFactor *f, const int *order) { return TrsvFactorSplit(f, order, order, order, TRSV_DEVICE, NULL); }
TrsvError TrsvFactorMirror(TrsvFactor *f) { return TrsvFactorSlots(f, NULL); }
TrsvError TrsvFactorFill(TrsvFactor *f, TrsvStream stream) { return TrsvFactorSums(f, NULL, stream); }

TrsvError TrsvFactorPivotsCheck(TrsvFactor *f) { return TrsvFactorSlots(f, NULL); }

TrsvError TrsvFactorPivots(TrsvFactor *f, TrsvPlan *lower, const void *values, const FactorShift *shift, TrsvStream stream)
{
  (void)lower;
  return TrsvFactorRows(f, values, shift, stream);
}

int TrsvChunkHasReciprocals(const TrsvPlan *plan)
{
  (void)plan;
  return 0;
}

TrsvError TrsvChunkReciprocalsOver(TrsvPlan *plan, TrsvStream stream)
{
  (void)plan;
  return TrsvFactorSums(NULL, NULL, stream);
}

TrsvError TrsvChunkGetValues(const TrsvPlan *plan, void *values, TrsvStream stream)
{
  (void)plan;
  return TrsvFactorSums(NULL, values, stream);
}

TrsvError TrsvFactorRows(TrsvFactor *f, const void *values, const FactorShift *shift, TrsvStream stream)
{
  (void)shift;
  return TrsvFactorSums(f, values, stream);
}

TrsvError TrsvFactorSums(TrsvFactor *f, const void *values, TrsvStream stream)
{
  (void)f;
  (void)values;
  (void)stream;
  return None();
}

TrsvError TrsvDeviceTogether(TrsvError (*run)(void *), void *first, void *second)
{
  (void)run;
  (void)first;
  (void)second;
  return None();
}

TrsvError TrsvDeviceAnalyse(const TrsvMatrix *A, TrsvAnalysis *analysis)
{
  (void)A;
  (void)analysis;
  return None();
}

TrsvError TrsvDeviceAcross(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper)
{
  (void)L;
  (void)lower;
  (void)U;
  (void)upper;
  return None();
}

TrsvError TrsvDeviceTranspose(const TrsvMatrix *A, int *offsets, int *columns, int *source)
{
  (void)A;
  (void)offsets;
  (void)columns;
  (void)source;
  return None();
}

TrsvError TrsvDeviceOrder(int rows, const int *offsets, const int *columns, const double *values, TrsvOrdering **ordering)
{
  (void)rows;
  (void)offsets;
  (void)columns;
  (void)values;
  (void)ordering;
  return None();
}
