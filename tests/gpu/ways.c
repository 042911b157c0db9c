/*
   The ways to solve. An algorithm that chooses between two forms by predicted times has a way for each.
*/
#include <stdio.h>
#include <string.h>
#include "papers/settings.h"
#include "solve/chunk/chunk.h"
#include "../kernels/forms.h"
#include "ways.h"

void TrsvChunkSettingsOverride(const TrsvChunkSettings *); /* chunk_plan.cu */

static Seed RandomBits(Seed *seed) /* splitmix64 */
{
  Seed z = *seed += 0x9e3779b97f4a7c15ull;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

unsigned RandomBelow(Seed *seed, unsigned n) { return (unsigned)((RandomBits(seed) >> 32) * n >> 32); }
double   RandomReal(Seed *seed) { return (double)(long long)RandomBits(seed) * 0x1p-63; }

enum {
  TABLE_ROW, /* as in the table */
  WAITING,
  RECOMPUTING, /* the forms of thread */
  PLAIN,
  INVERTED, /* the forms of chunk */
  RANDOM    /* chunk with random settings */
};

static const struct {
  const char *name, *algorithm;
  int         form;
  const char *settings;
  int         rank, pair;
} ways[] = {
  {"thread",                          "thread",   WAITING,    NULL, 0, 0},
  {"thread, recomputing",             "thread",   RECOMPUTING, NULL, 0, 0},
  {"warp",                            "warp",     TABLE_ROW,   NULL, 0, 0},
  {"sell",                            "sell",     TABLE_ROW,   NULL, 0, 0},
  {"chunk",                           "chunk",    PLAIN,      NULL, 0, 0},
  {"chunk, inverted",                 "chunk",    INVERTED,   NULL, 0, 0},
  {"level",                           "level",    TABLE_ROW,   NULL, 0, 0},
  {"csc",                             "csc",      TABLE_ROW,   NULL, 0, 0},
  {"twophase",                        "twophase", TABLE_ROW,   NULL, 0, 0},
  {"fusion",                          "fusion",   TABLE_ROW,   NULL, 0, 0},
  {"ag",                              "ag",       TABLE_ROW,   NULL, 0, 0},
  {"recblock",                        "recblock", TABLE_ROW,   NULL, 0, 0},
  {"dense",                           "dense",    TABLE_ROW,   NULL, 0, 0},
  {"chunk, second settings",          "chunk",    TABLE_ROW,   NULL, 1, 0},
  {"chunk, third settings",           "chunk",    TABLE_ROW,   NULL, 2, 0},
  {"chunk, settings by chance",       "chunk",    RANDOM,     NULL, 0, 0},
  {"chunk, settings by chance again", "chunk",    RANDOM,     NULL, 0, 0},
  {"ag, merged rows", "ag", TABLE_ROW,
   "scheme=nw:4,ng:1,sw_rnnz:inf,natural,merge_fixed:32,rg_sequential,ws_hardware,alpha:inf", 0, 0},
  {"ag, by length", "ag", TABLE_ROW,
   "scheme=nw:4,ng:4,sw_rnnz:4,reorder,merge_thresh:4,rg_sequential,ws_hardware,alpha:inf", 0, 0},
  {"ag, by mean length", "ag", TABLE_ROW,
   "scheme=nw:32,ng:1,sw_rnnz:8,reorder,merge_avg:8,rg_sequential,ws_balance,alpha:inf", 0, 0},
  {"ag, balanced", "ag", TABLE_ROW,
   "scheme=nw:32,ng:8,sw_rnnz:0,reorder,merge_fixed:1,rg_balance,ws_balance,alpha:inf", 0, 0},
  {"ag, near", "ag", TABLE_ROW,
   "scheme=nw:32,ng:8,sw_rnnz:0,natural,merge_fixed:1,rg_sequential,ws_locality,alpha:inf", 0, 0},
  {"ag, in turns", "ag", TABLE_ROW,
   "scheme=nw:32,ng:8,sw_rnnz:0,reorder,merge_fixed:1,rg_sequential,ws_rr,alpha:2", 0, 0},
  {"recblock, depth 4", "recblock", TABLE_ROW, "depth=4", 0, 0},
  {"recblock, fitted", "recblock", TABLE_ROW, "depth=4 thresholds=fitted", 0, 0},
  {"recblock, columns", "recblock", TABLE_ROW, "type=column depth=3", 0, 0},
  {"recblock, rows", "recblock", TABLE_ROW, "type=row depth=3", 0, 0},
  {"dense, simple",      "dense", TABLE_ROW, "form=simple", 0, 0},
  {"pair of thread",     "thread", WAITING, NULL, 0, 1},
  {"pair of sell",       "sell",   TABLE_ROW, NULL, 0, 1},
  {"pair of chunk",      "chunk",  PLAIN, NULL, 0, 1},
};

enum {
  WAYS       = sizeof(ways) / sizeof(ways[0]),
  ALGORITHMS = 13 /* the first ways: one for each algorithm or form */
};

/* An algorithm in one form, which does not depend on predicted times. */
static const TrsvAlgorithm *GetForm(const char *name, int form)
{
  static TrsvAlgorithm       made[RANDOM + 1];
  TrsvAlgorithm *const       m   = &made[form];
  const TrsvAlgorithm *const row = TrsvAlgorithmFind(name);

  if (form == TABLE_ROW) return row;
  if (form == PLAIN || form == RANDOM) return &TrsvChunkPlain;
  if (m->name) return m;
  *m         = *row;
  m->choices = form == INVERTED;
  if (form == INVERTED) m->finish = TrsvChunkPlain.finish;
  m->analyze = form == INVERTED ? AnalyzeInverted : form == RECOMPUTING ? AnalyzeRecomputed : AnalyzeAwaited;
  return m;
}

static TrsvChunkSettings RandomChunkSettings(Seed *seed)
{
  static const int  lengths[] = {2, 3, 5, 13}, clusters[] = {1, 1, 2, 4, 8, 16}, lives[] = {-1, -1, -1, 16, 4, 1, 0};
  TrsvChunkSettings s = {.steps_l2 = 8, .steps_cluster = 4};

  s.length  = lengths[RandomBelow(seed, 4)];
  s.width   = s.length <= 3 && RandomBelow(seed, 2) ? 8 : 32;
  s.cluster = clusters[RandomBelow(seed, 6)];
  s.chunks  = s.cluster + (int)RandomBelow(seed, 40);
  s.ring    = RandomBelow(seed, 2) ? 1024 : 2048;
  s.stages  = CHUNK_LEAST + (int)RandomBelow(seed, 5);
  s.import_lifetime = lives[RandomBelow(seed, 7)];
  if (s.import_lifetime >= 0) s.cluster = 1;
  return s;
}

int WayCount(void) { return WAYS; }

Way WayGet(int k, Seed *seed)
{
  Way w = {.algorithm = GetForm(ways[k].algorithm, ways[k].form),
           .settings  = ways[k].settings,
           .rank      = ways[k].rank,
           .pair      = ways[k].pair};

  (void)snprintf(w.name, sizeof(w.name), "%s", ways[k].name);
  if (ways[k].form == RANDOM) w.chunk = RandomChunkSettings(seed);
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

static void RequestSettings(const Way *w, int on)
{
  TrsvSettingsRequest(on ? w->settings : NULL);
  TrsvChunkSettingsOverride(on && w->chunk.chunks ? &w->chunk : NULL);
}

TrsvError WayPlan(const Way *w, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values,
                  TrsvPlan **plan)
{
  RequestSettings(w, 1);
  const TrsvError error = TrsvPlanCreate(A, analysis, source, values, NULL, w->algorithm, w->rank, plan);
  RequestSettings(w, 0);
  return error;
}

TrsvError WayPair(const Way *w, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                  TrsvPair **pair)
{
  RequestSettings(w, 1);
  const TrsvError error = TrsvPairCreate(L, U, row, column, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, w->algorithm,
                                         w->algorithm, pair);
  RequestSettings(w, 0);
  return error;
}
