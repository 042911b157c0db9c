/*
   The object of a Krylov method: memory of its scalars, and the wait for a report.
*/
#include <string.h>
#include "device/setup.cuh"
#include "krylov/krylov.cuh"

extern "C" TrsvError TrsvKrylovCreate(TrsvKrylov **created)
{
  TrsvKrylov *k;
  int         multiprocessors;

  *created = NULL;
  TrsvCall(TrsvAlloc(sizeof(*k), &k));
  TrsvError error = TrsvDeviceMultiprocessors(&multiprocessors);
  if (!error) {
    k->most_blocks = KRYLOV_PER_SM * (unsigned)multiprocessors;
    error          = TrsvArenaAllocate(TrsvDeviceAlloc, [&](TrsvArena &a) {
      a.take(1, k->view.scalars, (size_t)KRYLOV_SUMS * k->most_blocks, k->view.partial);
    }, &k->memory);
  }
  if (!error) error = TrsvPinnedAlloc(KRYLOV_REPORTS * KRYLOV_REPORT, &k->view.reports);
  if (error) TrsvKrylovDestroy(&k);
  *created = k;
  return error;
}

extern "C" void TrsvKrylovDestroy(TrsvKrylov **destroyed)
{
  TrsvKrylov *const k = *destroyed;

  if (!k) return;
  TrsvDeviceFree(k->memory); /* waits for the device, which may still write reports */
  TrsvPinnedFree(KRYLOV_REPORTS * KRYLOV_REPORT, k->view.reports);
  free(k);
  *destroyed = NULL;
}

static __global__ void krylov_start(KrylovScalars *s)
{
  *s      = KrylovScalars();
  s->last = INT_MAX;
}

extern "C" TrsvError TrsvKrylovStart(TrsvKrylov *k, int rows, TrsvNorm norm, TrsvStream stream)
{
  const unsigned blocks = TrsvBlocks(rows, 2 * KRYLOV_BLOCK);

  k->view.rows = rows;
  k->view.norm = norm;
  k->view.first += (unsigned)k->launched + 1;
  k->launched = 0;
  k->stream = stream;
  k->blocks = blocks < 1 ? 1 : blocks < k->most_blocks ? blocks : k->most_blocks;
  return TrsvLaunch(krylov_start, 1, 1, 0, stream, k->view.scalars);
}

extern "C" TrsvError TrsvKrylovAwait(TrsvKrylov *k, int iteration, TrsvIteration *result)
{
  const unsigned *const report = k->view.reports + iteration % KRYLOV_REPORTS * KRYLOV_REPORT;
  const unsigned        number = k->view.first + (unsigned)iteration;

  TrsvCall(TrsvDeviceAwait(report + 3, number, k->stream));
  const unsigned long long bits = (unsigned long long)report[1] << 32 | report[0];
  memcpy(&result->norm, &bits, sizeof(bits));
  result->state = (TrsvKrylovState)report[2];
  return TRSV_SUCCESS;
}
