/*
   forms.h: `analyze` of the table for one form of an algorithm that chooses between two: `thread` without and with
   recomputation, and `chunk` with inverted blocks. The choice does not depend on predicted times, with one exception:
   a triangle for which no size of blocks is predicted to be faster gets no inverted blocks. Such a plan of `chunk` is
   finished by that of TrsvChunkPlain.
*/
#ifndef TESTS_FORMS_H
#define TESTS_FORMS_H

#include "solve/plan/plan.h"

TRSV_C_BEGIN

TrsvError AnalyzeAwaited(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
TrsvError AnalyzeRecomputed(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
TrsvError AnalyzeInverted(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);

TRSV_C_END
#endif
