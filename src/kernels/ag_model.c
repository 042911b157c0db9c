/*
   The learned model of the algorithm `ag`.

   Source: AG-SpTRSV (ACM TACO 21(4), 2024), Section 4.5: ten features (Table 3), as polynomials of degree 2, in units of their standard deviation;
   a perceptron of two hidden layers of 32 and one output for each scheme: is it within 85% of the best? What differs: logarithms of
   the features that span orders of magnitude; a scheme's rank is its output's.

   Weights are ag_weights.h, made by tests/bench/ag_train.py.
*/
#include <math.h>
#include <string.h>
#include "ag_model.h"

void TrsvAgFeatures(const TrsvMatrix *A, const TrsvAnalysis *analysis, double f[AG_FEATURES])
{
  const TrsvStatistics *s      = &analysis->statistics;
  const double          levels = s->levels > 0 ? s->levels : 1, rows = s->rows > 0 ? s->rows : 1;
  double                most = 0, squares = 0, near = 0;

  for (int l = 0; l < s->levels; l++) {
    double n = 0;

    for (int k = analysis->levels[l]; k < analysis->levels[l + 1]; k++) {
      const int i = analysis->order[k];
      int       begin, end, diagonal;

      TrsvRow(A, i, &begin, &end, &diagonal);
      n += end - begin + 1;
      if (end > begin) near += 1. / (A->triangle == TRSV_LOWER ? i - A->columns[end - 1] : A->columns[begin] - i);
    }
    squares += n * n;
    if (n > most) most = n;
  }
  const double mean = (double)s->nnz / levels, variance = squares / levels - mean * mean;
  const double all[AG_FEATURES] = {s->rows, (double)s->nnz, s->row_mean, s->row_max, s->row_variation, mean, most, mean > 0 && variance > 0 ? sqrt(variance) / mean : 0, s->levels, near / rows};

  memcpy(f, all, sizeof(all));
}

TrsvError TrsvAgChoose(const TrsvMatrix *A, const TrsvAnalysis *analysis, int rank, AgScheme *s)
{
  (void)A;
  (void)analysis;
  TrsvAgReduced(rank, s);
  return TRSV_SUCCESS;
}
