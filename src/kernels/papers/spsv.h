/*
   spsv.h: a triangular solve by SpSV of NVIDIA's cuSPARSE, in builds with cuSPARSE.
*/
#ifndef TRSV_SPSV_H
#define TRSV_SPSV_H

#include "solve/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TrsvSpsv TrsvSpsv;

/* A: on the device; its arrays, values, b and x stay the caller's. shares: a solve whose handle this one uses, or NULL;
   destroy that one last. *spsv: to be destroyed also after an error. */
TrsvError TrsvSpsvCreate(TrsvSpsv *shares, const TrsvMatrix *A, int entries, void *values, void *b, void *x,
                         TrsvSpsv **spsv);
/* The vectors of the solves from now on */
TrsvError TrsvSpsvSetVectors(TrsvSpsv *, const void *b, void *x);
/* After the values have changed. bytes grows by the buffer of the first call. */
TrsvError TrsvSpsvSetValues(TrsvSpsv *, size_t *bytes, TrsvStream);
TrsvError TrsvSpsvSolve(TrsvSpsv *, TrsvStream);
void      TrsvSpsvDestroy(TrsvSpsv *);

#ifdef __cplusplus
}
#endif
#endif
