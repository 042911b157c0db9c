/*
   The learned model of the algorithm `ag`.

   Source: AG-SpTRSV (ACM TACO 21(4), 2024), Section 4.5: ten features (Table 3), as polynomials of degree 2, in units
   of their standard deviation; a perceptron with two hidden layers of 32 and one output for each scheme, which predicts
   whether it reaches 85% of the best performance. Changes: logarithms of features that span orders of magnitude;
   schemes are ranked by output. bench/ag_train.py makes the weights in ag_weights.h and ag_weights_2.h.
*/
#include <math.h>
#include <string.h>
#include "papers/ag/ag_model.h"
#include "papers/ag/ag_weights.h"
#include "papers/ag/ag_weights_2.h"

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

      TrsvRowRange(A, i, &begin, &end, &diagonal);
      n += end - begin + 1;
      if (end > begin) near += 1. / (A->triangle == TRSV_LOWER ? i - A->columns[end - 1] : A->columns[begin] - i);
    }
    squares += n * n;
    if (n > most) most = n;
  }
  const double mean = (double)s->nnz / levels, variance = squares / levels - mean * mean;
  const double all[AG_FEATURES] = {
    s->rows,          (double)s->nnz, s->row_mean, s->row_max,
    s->row_variation, mean,           most,        mean > 0 && variance > 0 ? sqrt(variance) / mean : 0,
    s->levels,        near / rows};

  memcpy(f, all, sizeof(all));
}

enum {
  POLYNOMIALS = AG_FEATURES + AG_FEATURES * (AG_FEATURES + 1) / 2,
  HIDDEN      = 32
};

_Static_assert(sizeof(ag_bias_3) / sizeof(float) == AG_REDUCED && sizeof(ag_mean) / sizeof(float) == POLYNOMIALS,
               "the weights are of another space: run bench/ag.cu and bench/ag_train.py");

/* out = weights^T in + bias */
static void ApplyLayer(int ins, int outs, const float *weights, const float *bias, const double *in, double *out)
{
  for (int o = 0; o < outs; o++) out[o] = (double)bias[o];
  for (int i = 0; i < ins; i++)
    for (int o = 0; o < outs; o++) out[o] += (double)weights[i * outs + o] * in[i];
}

void TrsvAgOutputs(const double features[AG_FEATURES], double outputs[AG_REDUCED])
{
  static const int logarithmic[] = {0, 1, 2, 3, 5, 6, 8};
  double           x[POLYNOMIALS], first[HIDDEN], second[HIDDEN];
  int              n = AG_FEATURES;

  memcpy(x, features, sizeof(double) * AG_FEATURES);
  for (size_t i = 0; i < sizeof(logarithmic) / sizeof(logarithmic[0]); i++)
    x[logarithmic[i]] = log10(1 + x[logarithmic[i]]);
  for (int i = 0; i < AG_FEATURES; i++)
    for (int k = i; k < AG_FEATURES; k++) x[n++] = x[i] * x[k];
  for (int i = 0; i < POLYNOMIALS; i++) x[i] = (x[i] - (double)ag_mean[i]) / (double)ag_deviation[i];
  ApplyLayer(POLYNOMIALS, HIDDEN, ag_weights_1, ag_bias_1, x, first);
  for (int i = 0; i < HIDDEN; i++) first[i] = fmax(first[i], 0);
  ApplyLayer(HIDDEN, HIDDEN, ag_weights_2, ag_bias_2, first, second);
  for (int i = 0; i < HIDDEN; i++) second[i] = fmax(second[i], 0);
  ApplyLayer(HIDDEN, AG_REDUCED, ag_weights_3, ag_bias_3, second, outputs);
  for (int i = 0; i < AG_REDUCED; i++) outputs[i] = 1 / (1 + exp(-outputs[i]));
}

TrsvError TrsvAgChoose(const TrsvMatrix *A, const TrsvAnalysis *analysis, int rank, AgScheme *s)
{
  double features[AG_FEATURES], outputs[AG_REDUCED];

  TrsvAgFeatures(A, analysis, features);
  TrsvAgOutputs(features, outputs);
  for (int i = 0; i < AG_REDUCED; i++) {
    int better = 0;

    for (int k = 0; k < AG_REDUCED; k++) better += outputs[k] > outputs[i] || (!(outputs[k] < outputs[i]) && k < i);
    if (better == rank) TrsvAgReduced(i, s);
  }
  return TRSV_SUCCESS;
}
