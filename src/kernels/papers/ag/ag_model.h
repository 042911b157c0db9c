/*
   ag_model.h: the learned model of AG-SpTRSV, which ranks the schemes of the reduced space. bench/ag_train.py makes it.
*/
#ifndef TRSV_AG_MODEL_H
#define TRSV_AG_MODEL_H

#include "papers/ag/ag.h"

TRSV_C_BEGIN

enum {
  AG_FEATURES = 10
};

/* The features of Table 3 of a triangle in host memory: m, nnz, rnnz, rnnz max, rnnz cov, lnnz, lnnz max, lnnz cov,
   level num, dep dist. */
void TrsvAgFeatures(const TrsvMatrix *, const TrsvAnalysis *, double features[AG_FEATURES]);

/* The model's outputs, one for each scheme of the reduced space, in (0, 1): larger if it is more likely fast. */
void TrsvAgOutputs(const double features[AG_FEATURES], double outputs[AG_REDUCED]);

/* The scheme of this rank by output. */
TrsvError TrsvAgChoose(const TrsvMatrix *, const TrsvAnalysis *, int rank, AgScheme *);

TRSV_C_END
#endif
