/*
   regroup.h: factors with a number of lanes for each row that their lengths do not choose.
*/
#ifndef TEST_REGROUP_H
#define TEST_REGROUP_H

#include "factor/factor.h"

/* Assigns groups of so many lanes again; the factor then computes its values row by row. Its bytes still count the old
   groups. */
static TrsvError Regroup(TrsvFactor *f, int lanes)
{
  void **const of[] = {(void **)&f->row_of_group, (void **)&f->work_offset, &f->work};

  for (int a = 0; a < 3; a++) {
    TrsvDeviceFree(*of[a]);
    *of[a] = NULL;
  }
  f->pivots        = 0;
  f->lanes_per_row = lanes;
  return TrsvFactorAssignGroups(f, f->analysis->order);
}

#endif
