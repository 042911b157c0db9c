/*
   ways.h: the ways to solve a triangle, which are algorithms of the table with settings; for the long runs on a GPU.
*/
#ifndef GPU_WAYS_H
#define GPU_WAYS_H

#include "ilu/ilu.h"
#include "solve/schedule/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seeded random numbers. */
typedef unsigned long long Seed;
unsigned RandomBelow(Seed *, unsigned n); /* 0 .. n - 1 */
double   RandomReal(Seed *);              /* in [-1, 1) */

typedef struct Way {
  char                 name[120];
  const TrsvAlgorithm *algorithm;
  const char          *settings; /* as TrsvSettingsRequest() takes them; NULL: none */
  int                  rank;
  TrsvChunkSettings    chunk; /* chunks = 0: the algorithm chooses */
  int                  pair;  /* L and then U; in one launch if the algorithm can */
} Way;

/* Way k, 0 <= k < WayCount(). Random settings of `chunk` depend on the seed. */
int WayCount(void);
Way WayGet(int k, Seed *);
int WayFind(const char *name); /* k, or -1 */

/* One way for each algorithm, two for `thread` and `chunk`; returns 0 past the last. */
int WayOfAlgorithm(int k, Way *);

/* TrsvPlanCreate() and TrsvPairCreate() with the settings of the way. */
TrsvError WayPlan(const Way *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values, TrsvPlan **);
TrsvError WayPair(const Way *, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                  TrsvPair **);

#ifdef __cplusplus
}
#endif
#endif
