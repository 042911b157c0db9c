/*
   TrsvIluDescribe: the choices, sizes and times of a factorization.
*/
#include <string.h>
#include "ilu/ilu.h"

static void DescribeSolve(const TrsvPairMember *m, TrsvSolveInfo *s)
{
  *s = (TrsvSolveInfo){.statistics  = m->statistics,
                       .algorithm   = m->choice.algorithm,
                       .reason      = m->choice.reason,
                       .seconds     = m->seconds,
                       .bytes       = m->plan->bytes,
                       .trials      = m->trials,
                       .trial_count = m->trial_count,
                       .chosen      = m->chosen};
  TrsvPlanDescribe(m->plan, s->settings, sizeof(s->settings));
}

void TrsvIluDescribe(const TrsvIlu *ilu, TrsvIluInfo *info)
{
  const TrsvMemory  memory = ilu->request.memory;
  const TrsvPair   *pair = ilu->pair[memory][0];
  const TrsvFactor *f    = ilu->factor;

  *info = (TrsvIluInfo){.host_reason  = ilu->host_reason,
                        .order_reason = ilu->order.reason,
                        .on_device    = f != NULL,
                        .multicolor   = ilu->order.multicolor,
                        .planned      = pair != NULL,
                        .transposed   = ilu->pair[memory][1] != NULL,
                        .also_on_host = memory == TRSV_DEVICE && ilu->pair[TRSV_HOST][0],
                        .setup_bytes  = ilu->bytes_peak > ilu->bytes_before ? ilu->bytes_peak - ilu->bytes_before : 0};
  if (f) {
    info->lower        = f->lower;
    info->upper        = f->upper;
    info->lanes        = f->lanes_per_row;
    info->factor_bytes = f->bytes;
  }
  if (pair) {
    DescribeSolve(&pair->forward, &info->L);
    DescribeSolve(&pair->backward, &info->U);
    info->one_launch = pair->fused != NULL;
  }
  for (int m = 0; m < 2; m++)
    for (int t = 0; t < 2; t++) {
      const TrsvPair *p = ilu->pair[m][t];

      if (!p) continue;
      info->plan_bytes += TrsvPairBytes(p);
      info->algorithms[m][t][0] = p->forward.choice.algorithm;
      info->algorithms[m][t][1] = p->backward.choice.algorithm;
    }
}
