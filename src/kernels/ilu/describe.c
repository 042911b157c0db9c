/*
   What a factorization shows of itself.
*/
#include <string.h>
#include "ilu/ilu.h"

static void DescribeSolve(const TrsvPairMember *m, TrsvSolveInfo *s)
{
  *s = (TrsvSolveInfo){.statistics  = m->statistics,
                       .algorithm   = m->choice.algorithm,
                       .reason      = m->choice.reason,
                       .seconds     = m->seconds,
                       .bytes       = TrsvPlanBytes(m->plan),
                       .trials      = m->trials,
                       .trial_count = m->trial_count,
                       .chosen      = m->chosen};
  TrsvPlanDescribe(m->plan, s->settings, sizeof(s->settings));
}

void TrsvIluDescribe(const TrsvIlu *ilu, TrsvIluInfo *info)
{
  const TrsvMemory  home = ilu->request.memory;
  const TrsvPair   *pair = ilu->pair[home][0];
  const TrsvFactor *f    = ilu->factor;

  *info = (TrsvIluInfo){.host_reason  = ilu->host_reason,
                        .order_reason = ilu->order.why,
                        .on_device    = f != NULL,
                        .multicolor   = ilu->order.multicolor,
                        .planned      = pair != NULL,
                        .transposed   = ilu->pair[home][1] != NULL,
                        .also_on_host = home == TRSV_DEVICE && ilu->pair[TRSV_HOST][0],
                        .setup_bytes  = ilu->peak > ilu->held ? ilu->peak - ilu->held : 0};
  if (f) {
    TrsvFactorEntries(f, &info->lower, &info->upper);
    info->lanes        = TrsvFactorLanes(f);
    info->factor_bytes = TrsvFactorBytes(f);
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
