/*
   Set-up of plans of the algorithm `chunk`: settings, schedule, and memory.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/chunk/chunk_emission.cuh"

/* Frees the memory of an attempt. */
static void FreeAttempt(ChunkPlan *c)
{
  void *const arrays[] = {c->records, c->memory, c->heads, c->batch_of};

  TrsvDeviceFreeAll(sizeof(arrays) / sizeof(*arrays), arrays);
  TrsvPinnedFree(1, c->sync.abort_host);
  (ChunkView &)*c = ChunkView();
  c->memory       = NULL;
  c->rows         = NULL;
  c->sources      = ChunkSources();
}

/* Writes the plan of a schedule, with this lifetime of imports. *fits: 1 if the cells fit into shared memory; the
   schedule, which is then not needed any more, is freed. */
static TrsvError EmitPlan(TrsvPlan *plan, ChunkHeights *heights, ChunkSchedule *schedule, int lifetime, int *fits)
{
  ChunkEmission e = ChunkEmission();
  ChunkScratch  scratch;

  plan->bytes = 0;
  TrsvCall(TrsvChunkNumber(plan->precision, heights, schedule, lifetime, &e, &scratch));
  TrsvCall(TrsvChunkCells(plan, &e, &scratch, fits));
  if (!*fits) return TRSV_SUCCESS;
  for (TrsvScratch &s : scratch.early) s.release();
  TrsvScratchRelease(schedule->early);
  TrsvScratchRelease(heights->memory);
  TrsvCall(TrsvChunkWrite(plan, &e, &scratch));
  for (TrsvScratch &s : scratch.numbered) s.release();
  TrsvScratchRelease(schedule->memory);
  TrsvScratchRelease(heights->extended);
  return TrsvChunkRecords(plan, &e);
}

/* Allows the solve kernel for these settings the largest shared memory, and reduces the cluster to a size that the
   device can run. TRSV_ERR_UNSUPPORTED: there is no kernel. */
static TrsvError PrepareKernel(TrsvPlan *plan, TrsvChunkSettings *s)
{
  const ChunkKernels *const k        = TRSV_BY_PRECISION(plan->precision, ChunkKernelsOf)(s);
  const TrsvDeviceLimits    limits   = TrsvDeviceGetLimits();
  int                       clusters = 0;

  if (!k)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no kernel for records of length %d in steps of width %d", s->length,
                    s->width);
  ((ChunkPlan *)plan->data)->kernels = k;
  TrsvCall(TrsvDeviceSetMaxShared((const void *)k->solve));
  if (!limits.clusters) s->cluster = 1;
  while (s->cluster > 1) {
    TrsvCall(TrsvDeviceClusters((const void *)k->solve, s->cluster, WARPS * 32, limits.shared_bytes, &clusters));
    if (clusters > 0) break;
    s->cluster = s->cluster > 8 ? 8 : 1; /* all devices with clusters allow 8; a MIG slice may not */
  }
  return TRSV_SUCCESS;
}

/* Writes the plan of a schedule, with the longest lifetime of imports with which their cells fit. If none fits, tries
   again with the smallest ring, then with shorter records. Cells are reused if the lifetime is limited; neighbors do
   not push into such cells, so there are no clusters. With a lifetime of 0 two stages need a cell for each dependency
   of their records, and cells for a batch. These always fit into CHUNK_SHARED bytes, except with records of 13 in
   double precision. */
static TrsvError Emit(TrsvPlan *plan, ChunkHeights *heights, ChunkSchedule *schedule)
{
  enum { SHORTER = 5 };
  static const int        lifetimes[] = {-1, 16, 4, 1, 0};
  const TrsvChunkSettings asked       = schedule->settings;
  TrsvChunkSettings       settings    = asked;
  int                     fits        = 0;

  TrsvCall(PrepareKernel(plan, &settings));
  for (;;) {
    const int least = CHUNK_LEAST * CHUNK_ROWS(settings.length, (int)TrsvValueSize(plan->precision)); /* of a ring */

    for (int lifetime : lifetimes) {
      if (asked.import_lifetime >= 0 && (lifetime < 0 || lifetime > asked.import_lifetime)) continue;
      if (lifetime >= 0) settings.cluster = 1;
      if (memcmp(&schedule->settings, &settings, sizeof(settings))) {
        TrsvCall(TrsvChunkPlaceBegin(heights, &settings, schedule));
        TrsvCall(TrsvChunkPlaceEnd(schedule));
      }
      TrsvCall(EmitPlan(plan, heights, schedule, lifetime, &fits));
      if (fits) return TRSV_SUCCESS;
      FreeAttempt((ChunkPlan *)plan->data);
    }
    if (settings.ring > least) settings.ring = schedule->settings.ring = least; /* times do not depend on the ring */
    else if (settings.length > SHORTER) {
      settings        = asked;
      settings.length = SHORTER;
      TrsvCall(PrepareKernel(plan, &settings));
    } else return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no settings fit %d rows", plan->rows);
  }
}

static TrsvChunkSettings override_settings; /* chunks = 0: none */

/* For tests (tests/kernels/check.h): fixes the settings of later plans; NULL: they are chosen. */
extern "C" void TrsvChunkSettingsOverride(const TrsvChunkSettings *s)
{
  override_settings = s ? *s : TrsvChunkSettings();
}

/* A schedule that is being made. */
struct ChunkSetup {
  ChunkHeights      heights;
  ChunkSchedule     schedule;
  TrsvChunkSettings choice[CHUNK_CHOICES];
  int               next, end; /* the ranks of the settings that are tried after these: from next to end - 1 */
};

static void FreeSetup(ChunkSetup **setup)
{
  if (!*setup) return;
  TrsvChunkScheduleFree(&(*setup)->schedule);
  TrsvChunkHeightsFree(&(*setup)->heights);
  free(*setup);
  *setup = NULL;
}

TrsvError ChunkRank(const TrsvStatistics *s, TrsvPrecision precision, TrsvChunkSettings choice[], double time[],
                    int *choices)
{
  int multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  *choices = TrsvChunkSettingsRank(s, multiprocessors, TrsvDeviceGetLimits(), precision, choice, time);
  return TRSV_SUCCESS;
}

TrsvError TrsvChunkScheduleBegin(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                                 int rank)
{
  ChunkSetup *p;
  double      time[CHUNK_CHOICES];
  int         choices;
  TrsvError   error;

  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(sizeof(*p), &p));
  ((ChunkPlan *)plan->data)->setup = p;
  TrsvCall(TrsvChunkFindHeights(A, analysis, source, &p->heights));
  TrsvCall(ChunkRank(&analysis->statistics, plan->precision, p->choice, time, &choices));
  if (override_settings.chunks) p->choice[0] = override_settings, choices = 1, rank = 0;
  if (rank >= choices) return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk has only %d settings for this matrix", choices);
  p->next = rank;
  p->end  = rank ? rank + 1 : choices;
  do error = TrsvChunkPlaceBegin(&p->heights, &p->choice[p->next++], &p->schedule);
  while (error == TRSV_ERR_UNSUPPORTED && p->next < p->end);
  return error;
}

/* If the schedule is too long for the best settings, tries the next ones. */
TrsvError TrsvChunkScheduleWait(TrsvPlan *plan, double *seconds)
{
  ChunkSetup *const p     = ((ChunkPlan *)plan->data)->setup;
  TrsvError         error = TrsvChunkPlaceEnd(&p->schedule);

  while (error == TRSV_ERR_UNSUPPORTED && p->next < p->end) {
    error = TrsvChunkPlaceBegin(&p->heights, &p->choice[p->next++], &p->schedule);
    if (!error) error = TrsvChunkPlaceEnd(&p->schedule);
  }
  if (!error) *seconds = TrsvChunkScheduleSeconds(&p->schedule.settings, p->schedule.times);
  return error;
}

TrsvError TrsvChunkScheduleEnd(TrsvPlan *plan)
{
  ChunkSetup *&p     = ((ChunkPlan *)plan->data)->setup;
  TrsvError    error = TRSV_SUCCESS;
  double       seconds;

  if (!p) return TRSV_SUCCESS;
  if (p->schedule.placing) error = TrsvChunkScheduleWait(plan, &seconds);
  if (!error) error = Emit(plan, &p->heights, &p->schedule);
  FreeSetup(&p);
  return error;
}

void TrsvChunkFreeSchedule(ChunkPlan *c)
{
  FreeSetup(&c->setup);
  FreeAttempt(c);
}
