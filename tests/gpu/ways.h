/*
   ways.h: every way to solve a triangle: the rows of the table and their settings; for the long runs on a GPU.
*/
#ifndef GPU_WAYS_H
#define GPU_WAYS_H

#include "ilu/ilu.h"
#include "solve/schedule/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seeded numbers: of repeats of one seed the same ones. */
typedef unsigned long long Seed;
unsigned Below(Seed *, unsigned n); /* 0 .. n - 1 */
double   Real(Seed *);              /* in [-1, 1) */

typedef struct Way {
  char                 name[120];
  const TrsvAlgorithm *algorithm;
  const char          *settings; /* as TrsvSettingsRequest() takes them; NULL: none */
  int                  rank;
  TrsvChunkSettings    chunk; /* chunks = 0: chosen by the algorithm */
  int                  pair;  /* L and then U: in one launch where the algorithm has that */
} Way;

/* Way k, 0 <= k < WayCount(); settings of `chunk` that are left to chance come from the seed. */
int WayCount(void);
Way WayGet(int k, Seed *);
int WayFind(const char *name); /* k, or -1 */

/* One way for each algorithm, `thread` and `chunk` in both forms: 0 past the last. */
int WayOfAlgorithm(int k, Way *);

/* TrsvPlanCreatePlaced(), or TrsvPairCreate(), with the settings of the way. */
TrsvError WayPlan(const Way *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values, TrsvPlan **);
TrsvError WayPair(const Way *, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                  TrsvPair **);

#ifdef __cplusplus
}
#endif
#endif
