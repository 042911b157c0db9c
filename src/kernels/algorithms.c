/*
   The table of algorithms, and the choice among them.

   An algorithm is one file that defines its row, declared in impl.h. This is the only other place that knows it.
*/
#include <stdio.h>
#include <string.h>
#include "impl.h"

static const TrsvAlgorithm *const table[] = {
  &TrsvSerial,
#if defined(TRSV_CUDA) || defined(TRSV_SIMT)
  &TrsvThread, &TrsvWarp, &TrsvChunk,
#endif
#if defined(TRSV_CUDA)
  &TrsvCusparse,
#endif
};

const TrsvAlgorithm *TrsvAlgorithmGet(int i) { return i >= 0 && i < (int)(sizeof(table) / sizeof(table[0])) ? table[i] : NULL; }

const TrsvAlgorithm *TrsvAlgorithmFind(const char *name)
{
  const TrsvAlgorithm *a;

  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++)
    if (!strcmp(a->name, name)) return a;
  return NULL;
}

const char *TrsvAlgorithmName(const TrsvAlgorithm *a) { return a->name; }
const char *TrsvAlgorithmSource(const TrsvAlgorithm *a) { return a->source; }
TrsvMemory  TrsvAlgorithmMemory(const TrsvAlgorithm *a) { return a->memory; }

/* Section 5.2 of CapelliniSpTRSV (ICPP 2020): warp-level solves lose speed where parallel granularity exceeds 0.7. */
static const double threshold = 0.7;

const TrsvAlgorithm *TrsvSelect(const TrsvStatistics *s, TrsvMemory memory, char *why, size_t size)
{
  const int thread = s->granularity > threshold;

  if (memory == TRSV_HOST) {
    (void)snprintf(why, size, "the matrix is on the host");
    return TrsvAlgorithmFind("serial");
  }
  (void)snprintf(why, size, "parallel granularity %.2f %s %.1f", s->granularity, thread ? ">" : "<=", threshold);
  return TrsvAlgorithmFind(thread ? "thread" : "warp");
}
