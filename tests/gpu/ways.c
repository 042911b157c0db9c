/*
   The ways to solve. A row of the table that chooses between two forms by prediction is here twice, once for each.
*/
#include <stdio.h>
#include <string.h>
#include "papers/settings.h"
#include "solve/chunk/chunk.h"
#include "solve/rows/level_csr.h"
#include "ways.h"

void TrsvChunkSettingsOverride(const TrsvChunkSettings *); /* chunk_plan.cu */

static Seed Bits(Seed *seed) /* splitmix64 */
{
  Seed z = *seed += 0x9e3779b97f4a7c15ull;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

unsigned Below(Seed *seed, unsigned n) { return (unsigned)((Bits(seed) >> 32) * n >> 32); }
double   Real(Seed *seed) { return (double)(long long)Bits(seed) * 0x1p-63; }

enum {
  AS_IT_IS, /* the row of the table */
  AWAITED,
  RECOMPUTED, /* the forms of thread */
  PLAIN,
  INVERTED, /* the forms of chunk */
  CHANCE    /* chunk by settings that are left to chance */
};

static const struct {
  const char *name, *algorithm;
  int         form;
  const char *settings;
  int         rank, pair;
} ways[] = {
  {"thread",                          "thread",   AWAITED,    NULL, 0, 0},
  {"thread, recomputing",             "thread",   RECOMPUTED, NULL, 0, 0},
  {"warp",                            "warp",     AS_IT_IS,   NULL, 0, 0},
  {"sell",                            "sell",     AS_IT_IS,   NULL, 0, 0},
  {"chunk",                           "chunk",    PLAIN,      NULL, 0, 0},
  {"chunk, inverted",                 "chunk",    INVERTED,   NULL, 0, 0},
  {"level",                           "level",    AS_IT_IS,   NULL, 0, 0},
  {"csc",                             "csc",      AS_IT_IS,   NULL, 0, 0},
  {"twophase",                        "twophase", AS_IT_IS,   NULL, 0, 0},
  {"fusion",                          "fusion",   AS_IT_IS,   NULL, 0, 0},
  {"ag",                              "ag",       AS_IT_IS,   NULL, 0, 0},
  {"recblock",                        "recblock", AS_IT_IS,   NULL, 0, 0},
  {"dense",                           "dense",    AS_IT_IS,   NULL, 0, 0},
  {"chunk, second settings",          "chunk",    AS_IT_IS,   NULL, 1, 0},
  {"chunk, third settings",           "chunk",    AS_IT_IS,   NULL, 2, 0},
  {"chunk, settings by chance",       "chunk",    CHANCE,     NULL, 0, 0},
  {"chunk, settings by chance again", "chunk",    CHANCE,     NULL, 0, 0},
  {"ag, merged rows", "ag", AS_IT_IS,
   "scheme=nw:4,ng:1,sw_rnnz:inf,natural,merge_fixed:32,rg_sequential,ws_hardware,alpha:inf", 0, 0},
  {"ag, by length", "ag", AS_IT_IS,
   "scheme=nw:4,ng:4,sw_rnnz:4,reorder,merge_thresh:4,rg_sequential,ws_hardware,alpha:inf", 0, 0},
  {"ag, by mean length", "ag", AS_IT_IS,
   "scheme=nw:32,ng:1,sw_rnnz:8,reorder,merge_avg:8,rg_sequential,ws_balance,alpha:inf", 0, 0},
  {"ag, balanced", "ag", AS_IT_IS,
   "scheme=nw:32,ng:8,sw_rnnz:0,reorder,merge_fixed:1,rg_balance,ws_balance,alpha:inf", 0, 0},
  {"ag, near", "ag", AS_IT_IS,
   "scheme=nw:32,ng:8,sw_rnnz:0,natural,merge_fixed:1,rg_sequential,ws_locality,alpha:inf", 0, 0},
  {"ag, in turns", "ag", AS_IT_IS,
   "scheme=nw:32,ng:8,sw_rnnz:0,reorder,merge_fixed:1,rg_sequential,ws_rr,alpha:2", 0, 0},
  {"recblock, depth 4", "recblock", AS_IT_IS, "depth=4", 0, 0},
  {"recblock, fitted", "recblock", AS_IT_IS, "depth=4 thresholds=fitted", 0, 0},
  {"recblock, columns", "recblock", AS_IT_IS, "type=column depth=3", 0, 0},
  {"recblock, rows", "recblock", AS_IT_IS, "type=row depth=3", 0, 0},
  {"dense, simple",      "dense", AS_IT_IS, "form=simple", 0, 0},
  {"pair of thread",     "thread", AWAITED, NULL, 0, 1},
  {"pair of sell",       "sell",   AS_IT_IS, NULL, 0, 1},
  {"pair of chunk",      "chunk",  PLAIN, NULL, 0, 1},
};

enum {
  WAYS       = sizeof(ways) / sizeof(ways[0]),
  ALGORITHMS = 13 /* the first: one for each algorithm, or form */
};

static TrsvError Await(TrsvPlan *p, const TrsvMatrix *A, const TrsvAnalysis *a, const int *source)
{
  return TrsvThreadAnalyze(p, A, a, source, 0);
}

static TrsvError Recompute(TrsvPlan *p, const TrsvMatrix *A, const TrsvAnalysis *a, const int *source)
{
  return TrsvThreadAnalyze(p, A, a, source, 1);
}

/* A row of the table in one form, whatever is predicted. */
static const TrsvAlgorithm *Form(const char *name, int form)
{
  static TrsvAlgorithm       made[CHANCE + 1];
  TrsvAlgorithm *const       m   = &made[form];
  const TrsvAlgorithm *const row = TrsvAlgorithmFind(name);

  if (form == AS_IT_IS) return row;
  if (form == PLAIN || form == CHANCE) return &TrsvChunkPlain;
  if (m->name) return m;
  *m         = *row;
  m->choices = form == INVERTED;
  m->analyze = form == INVERTED ? TrsvChunkAnalyzeInverted : form == RECOMPUTED ? Recompute : Await;
  return m;
}

static TrsvChunkSettings ByChance(Seed *seed)
{
  static const int  lengths[] = {2, 3, 5, 13}, clusters[] = {1, 1, 2, 4, 8, 16}, lives[] = {-1, -1, -1, 16, 4, 1, 0};
  TrsvChunkSettings s = {.steps_l2 = 8, .steps_cluster = 4};

  s.length  = lengths[Below(seed, 4)];
  s.width   = s.length <= 3 && Below(seed, 2) ? 8 : 32;
  s.cluster = clusters[Below(seed, 6)];
  s.chunks  = s.cluster + (int)Below(seed, 40);
  s.ring    = Below(seed, 2) ? 1024 : 2048;
  s.stages  = CHUNK_LEAST + (int)Below(seed, 5);
  s.import_lifetime = lives[Below(seed, 7)];
  if (s.import_lifetime >= 0) s.cluster = 1;
  return s;
}

int WayCount(void) { return WAYS; }

Way WayGet(int k, Seed *seed)
{
  Way w = {.algorithm = Form(ways[k].algorithm, ways[k].form),
           .settings  = ways[k].settings,
           .rank      = ways[k].rank,
           .pair      = ways[k].pair};

  (void)snprintf(w.name, sizeof(w.name), "%s", ways[k].name);
  if (ways[k].form == CHANCE) w.chunk = ByChance(seed);
  return w;
}

int WayFind(const char *name)
{
  for (int k = 0; k < WAYS; k++)
    if (!strcmp(ways[k].name, name)) return k;
  return -1;
}

int WayOfAlgorithm(int k, Way *w)
{
  Seed none = 0;

  if (k < ALGORITHMS) *w = WayGet(k, &none);
  return k < ALGORITHMS;
}

static void Request(const Way *w, int on)
{
  TrsvSettingsRequest(on ? w->settings : NULL);
  TrsvChunkSettingsOverride(on && w->chunk.chunks ? &w->chunk : NULL);
}

TrsvError WayPlan(const Way *w, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values,
                  TrsvPlan **plan)
{
  Request(w, 1);
  const TrsvError error = TrsvPlanCreatePlaced(A, analysis, source, values, NULL, w->algorithm, w->rank, plan);
  Request(w, 0);
  return error;
}

TrsvError WayPair(const Way *w, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                  TrsvPair **pair)
{
  Request(w, 1);
  const TrsvError error = TrsvPairCreate(L, U, row, column, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, w->algorithm,
                                         w->algorithm, NULL, pair);
  Request(w, 0);
  return error;
}
