/*
   spsv.h: a triangular solve by SpSV of NVIDIA's cuSPARSE, in builds with cuSPARSE.
*/
#ifndef TRSV_SPSV_H
#define TRSV_SPSV_H

#include "solve/plan/plan.h"

TRSV_C_BEGIN

typedef struct TrsvSpsv TrsvSpsv;

/* A: on the device; its arrays, values, b and x belong to the caller. shares: a solve whose handle this one uses, or
   NULL; destroy that solve last. Destroy *spsv even after an error. */
TrsvError TrsvSpsvCreate(TrsvSpsv *shares, const TrsvMatrix *A, int entries, void *values, void *b, void *x,
                         TrsvSpsv **spsv);
/* Sets the vectors of all later solves. */
TrsvError TrsvSpsvSetVectors(TrsvSpsv *, const void *b, void *x);
/* Call this after the values have changed. The first call adds the bytes of its buffer to *bytes. */
TrsvError TrsvSpsvSetValues(TrsvSpsv *, size_t *bytes, TrsvStream);
TrsvError TrsvSpsvSolve(TrsvSpsv *, TrsvStream);
void      TrsvSpsvDestroy(TrsvSpsv *);

TRSV_C_END
#endif
