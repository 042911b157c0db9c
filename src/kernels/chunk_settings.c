/*
   The settings of the algorithm `chunk`: chosen from statistics, printed, overridden.
*/
#include <stdio.h>
#include "chunk.h"

static TrsvChunkSettings override;
static int               overridden;

void TrsvChunkSettingsOverride(const TrsvChunkSettings *s)
{
  overridden = s != NULL;
  if (s) override = *s;
}

void TrsvChunkSettingsPrint(const TrsvChunkSettings *s, char *line, size_t size)
{
  (void)snprintf(line, size, "P%d K%d W%d N%d R%d S%d L%d C%d D%d", s->chunks, s->length, s->width, s->cluster, s->ring, s->stages, s->life, s->far, s->near);
}

void TrsvChunkSettingsChoose(const TrsvMatrix *A, const TrsvAnalysis *analysis, int multiprocessors, TrsvChunkSettings *s)
{
  const TrsvStatistics *t = &analysis->statistics;

  (void)A;
  if (overridden) {
    *s = override;
    return;
  }
  *s         = (TrsvChunkSettings){.ring = 2048, .stages = 8, .life = -1, .far = 8, .near = 4, .width = 32};
  s->length  = t->row_mean <= 3.5 ? 2 : t->row_mean <= 5 ? 3 : t->row_mean <= 10 ? 5 : 13;
  s->cluster = t->levels > 40 ? 8 : 1;
  s->chunks  = multiprocessors * 10 / 11;
}
