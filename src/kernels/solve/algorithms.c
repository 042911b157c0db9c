/*
   The table of algorithms, and the choice among them.

   An algorithm is a file that defines a row of the table, and the name of that row here. No other file names it.
*/
#include <stdio.h>
#include <string.h>
#include "solve/solve.h"

/* Algorithms for a device, or for the executor. */
#if defined(TRSV_CUDA) || defined(TRSV_SIMT)
  #define ON_A_DEVICE(row) \
    row(TrsvThread) \
    row(TrsvWarp) \
    row(TrsvSell) \
    row(TrsvChunk) \
    row(TrsvLevel) \
    row(TrsvCsc) \
    row(TrsvTwoPhase) \
    row(TrsvFusion) \
    row(TrsvAg) \
    row(TrsvRecblock) \
    row(TrsvDenseRows)
#else
  #define ON_A_DEVICE(row)
#endif

/* Algorithms that call libraries of CUDA, which the executor does not have. */
#if defined(TRSV_CUDA)
  #define WITH_LIBRARIES(row) row(TrsvCusparse)
#else
  #define WITH_LIBRARIES(row)
#endif

#define ROWS(row) row(TrsvSerial) ON_A_DEVICE(row) WITH_LIBRARIES(row)

#define DECLARATION(name) extern const TrsvAlgorithm name;
#define POINTER(name)     &name,
ROWS(DECLARATION)
static const TrsvAlgorithm *const table[] = {ROWS(POINTER)};

const TrsvAlgorithm *TrsvAlgorithmGet(int i)
{
  return i >= 0 && i < (int)(sizeof(table) / sizeof(table[0])) ? table[i] : NULL;
}

const TrsvAlgorithm *TrsvAlgorithmFind(const char *name)
{
  const TrsvAlgorithm *a;

  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++)
    if (!strcmp(a->name, name)) return a;
  return NULL;
}

const TrsvAlgorithm *TrsvAlgorithmByTraits(TrsvMemory memory, unsigned traits)
{
  const TrsvAlgorithm *a;

  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++)
    if (a->memory == memory && (a->traits & traits) == traits) return a;
  return NULL;
}

const TrsvAlgorithm *TrsvAlgorithmFallback(const TrsvAlgorithm *chosen, TrsvError error, int alone)
{
  const TrsvAlgorithm *thread = TrsvAlgorithmByTraits(TRSV_DEVICE, TRSV_THREAD_LEVEL);

  if (chosen->memory == TRSV_HOST || chosen == thread) return NULL;
  return error == TRSV_ERR_UNSUPPORTED || (error == TRSV_ERR_MEMORY && alone) ? thread : NULL;
}

double TrsvPredict(const TrsvAlgorithm *a, const TrsvStatistics *s, TrsvPrecision precision)
{
  return a->predict ? a->predict(s, precision) : 0;
}

/* CapelliniSpTRSV (ICPP 2020), Section 5.2: warp-level solves lose speed if parallel granularity exceeds 0.7. */
static const double threshold = 0.7;

static TrsvChoice SelectByGranularity(const TrsvStatistics *s, TrsvPrecision precision)
{
  const int            thread = s->granularity > threshold;
  const unsigned       values = TrsvIsComplex(precision) ? TRSV_TAKES_COMPLEX : 0;
  const TrsvAlgorithm *warp   = thread ? NULL : TrsvAlgorithmByTraits(TRSV_DEVICE, TRSV_WARP_LEVEL | values);
  TrsvChoice           c = {warp ? warp : TrsvAlgorithmByTraits(TRSV_DEVICE, TRSV_THREAD_LEVEL | values), 0, ""};

  (void)snprintf(c.reason, sizeof(c.reason), "parallel granularity %.2f %s %.1f%s", s->granularity, thread ? ">" : "<=",
                 threshold, thread || warp ? "" : ", but warp-level kernels are for real values");
  return c;
}

/* The algorithm with the shortest predicted time of those that run here. */
static TrsvChoice SelectByModel(const TrsvStatistics *s, TrsvPrecision precision)
{
  const TrsvAlgorithm *a;
  TrsvChoice           c = {NULL, 0, "predicted"};
  size_t               end = strlen(c.reason);

  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
    double seconds;

    if (!a->predict || !TrsvAlgorithmRuns(a, precision)) continue;
    seconds = a->predict(s, precision);
    if (end < sizeof(c.reason)) {
      (void)snprintf(c.reason + end, sizeof(c.reason) - end, "%s %s %.3g ms", c.algorithm ? "," : "", a->name,
                     1e3 * seconds);
      end = strlen(c.reason);
    }
    if (c.algorithm && !(seconds < c.predicted)) continue;
    c.algorithm = a;
    c.predicted = seconds;
  }
  return c;
}

TrsvChoice TrsvSelect(const TrsvStatistics *s, TrsvMemory memory, TrsvPrecision precision, TrsvSelection selection)
{
  if (memory == TRSV_HOST) return (TrsvChoice){TrsvAlgorithmByTraits(TRSV_HOST, 0), 0, "the matrix is on the host"};
  return selection == TRSV_SELECT_GRANULARITY ? SelectByGranularity(s, precision) : SelectByModel(s, precision);
}
