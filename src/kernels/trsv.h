/*
   trsv.h: sparse triangular solves T x = b on a host or on a GPU.

   A matrix view is analysed once; the analysis gives statistics, from which an algorithm is chosen, and a topological
   order, from which a plan, one algorithm's prepared data, is made. A plan takes values as often as they change and
   solves as often as asked:

     TrsvAnalyse -> TrsvSelect -> TrsvPlanCreate -> TrsvPlanSetValues -> TrsvPlanSolve ... -> TrsvPlanDestroy

   A pair holds the plans of the two factors L and U of one matrix, and of their transposes once they are asked for.
   A factor makes L and U: ILU(0) or IC(0) of a matrix on the device.

   A function that can fail returns a TrsvError; TrsvErrorMessage() says in words what the last failure of this thread
   was. Nothing here prints, exits or aborts. Indices are 32 bits, 0-based.
*/
#ifndef TRSV_H
#define TRSV_H

#include "analysis/analysis.h"
#include "base/base.h"
#include "device/device.h"
#include "factor/factor.h"
#include "ilu/ilu.h"
#include "ordering/ordering.h"
#include "papers/factor_cusparse.h"
#include "solve/plan/plan.h"
#include "solve/solve.h"

#endif
