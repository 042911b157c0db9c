/*
   The table of algorithms, and the choice among them.

   An algorithm is one file that defines its row, declared in impl.h. This is the only other place that knows it.
*/
#include <stdio.h>
#include <string.h>
#include "chunk.h"

static const TrsvAlgorithm *const table[] = {
  &TrsvSerial,
#if defined(TRSV_CUDA) || defined(TRSV_SIMT)
  &TrsvThread, &TrsvRecompute, &TrsvWarp, &TrsvSell, &TrsvChunk, &TrsvInverse, &TrsvLevel, &TrsvCsc, &TrsvTwoPhase, &TrsvFusion, &TrsvAg, &TrsvRecblock, &TrsvDenseRows,
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
int         TrsvAlgorithmBitsVary(const TrsvAlgorithm *a) { return (a->traits & TRSV_BITS_VARY) != 0; }

int TrsvAlgorithmRuns(const TrsvAlgorithm *a) { return !(a->traits & TRSV_NEEDS_CLUSTERS) || TrsvDeviceHolds(CHUNK_SHARED); }

double TrsvPredict(const TrsvAlgorithm *a, const TrsvStatistics *s, TrsvPrecision precision)
{
  TrsvCosts costs;

  if (!a->predict) return 0;
  costs = TrsvGetCosts();
  return a->predict(&costs, s, precision);
}

/* Section 5.2 of CapelliniSpTRSV (ICPP 2020): warp-level solves lose speed where parallel granularity exceeds 0.7. */
static const double threshold = 0.7;

static const TrsvAlgorithm *ByGranularity(const TrsvStatistics *s, char *why, size_t size)
{
  const int thread = s->granularity > threshold;

  (void)snprintf(why, size, "parallel granularity %.2f %s %.1f", s->granularity, thread ? ">" : "<=", threshold);
  return TrsvAlgorithmFind(thread ? "thread" : "warp");
}

/* The shortest predicted time of those that run here: a choice that cannot is none. */
static const TrsvAlgorithm *ByModel(const TrsvStatistics *s, TrsvPrecision precision, char *why, size_t size)
{
  const TrsvCosts      costs = TrsvGetCosts();
  const TrsvAlgorithm *a, *best = NULL;
  double               least = 0;
  size_t               end;

  (void)snprintf(why, size, "predicted");
  end = strlen(why);
  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
    double seconds;

    if (!a->predict || !TrsvAlgorithmRuns(a)) continue;
    seconds = a->predict(&costs, s, precision);
    if (!best || seconds < least) {
      best  = a;
      least = seconds;
    }
    if (end >= size) continue;
    (void)snprintf(why + end, size - end, "%s %s %.3g ms", end > 9 ? "," : "", a->name, 1e3 * seconds);
    end = strlen(why);
  }
  return best;
}

const TrsvAlgorithm *TrsvSelect(const TrsvStatistics *s, TrsvMemory memory, TrsvPrecision precision, TrsvSelection selection, char *why, size_t size)
{
  if (memory == TRSV_HOST) {
    (void)snprintf(why, size, "the matrix is on the host");
    return TrsvAlgorithmFind("serial");
  }
  return selection == TRSV_SELECT_GRANULARITY ? ByGranularity(s, why, size) : ByModel(s, precision, why, size);
}
