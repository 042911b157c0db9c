/*
   ag_model.h: which scheme of the reduced space is expected to be the fastest: AG-SpTRSV's learned model, made by
   bench/ag_train.py.
*/
#ifndef TRSV_AG_MODEL_H
#define TRSV_AG_MODEL_H

#include "papers/ag/ag.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  AG_FEATURES = 10
};

/* Table 3, of a triangle in host memory: m, nnz, rnnz, rnnz max, rnnz cov, lnnz, lnnz max, lnnz cov, level num, dep
   dist. */
void TrsvAgFeatures(const TrsvMatrix *, const TrsvAnalysis *, double features[AG_FEATURES]);

/* What the model says of each scheme of the reduced space, in (0, 1): is it likely to be nearly the fastest? */
void TrsvAgOutputs(const double features[AG_FEATURES], double outputs[AG_REDUCED]);

/* The scheme that is expected to be the rank-th best. */
TrsvError TrsvAgChoose(const TrsvMatrix *, const TrsvAnalysis *, int rank, AgScheme *);

#ifdef __cplusplus
}
#endif
#endif
