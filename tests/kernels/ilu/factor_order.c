/*
   Factors in another order of the rows: long rows, arrays that are no order, the fill that an order leaves out, values
   of every type. The choice of the order is in order_choice.c.
*/
#include "square.h"

/* Another order: rows too long to count, and arrays that are no order */
static void CheckOrders(void)
{
  Square      A;
  TrsvFactor *f;
  int        *order;

  Begin("factor in another order: long rows");
  A     = MakeSquare(DENSE_ROW, 300, 1, TRSV_DOUBLE, 3);
  order = MakeOrder(300, 4);
  for (int kind = 0; kind < 2; kind++) {
    f = MakeFactor(&A, order, (TrsvFactorKind)kind, 0);
    if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 1, kind ? "icc" : "ilu");
    TrsvFactorDestroy(&f);
  }
  End();

  Begin("factor in another order: what is none is refused");
  for (int wrong = 0; wrong < 3; wrong++) {
    const int kept = order[7];

    order[7] = wrong == 0 ? -1 : wrong == 1 ? 300 : order[8];
    ExpectError(TrsvFactorCreate(&(TrsvCSR){A.rows, A.offsets, A.columns}, order, TRSV_DEVICE, TRSV_ILU,
                                 TRSV_DOUBLE, &f),
                TRSV_ERR_ARGUMENT, "TrsvFactorCreate");
    Expect(!f, "a factor");
    order[7] = kept;
  }
  TrsvDeviceFree(order);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* The discarded fill by its definition, of the rows that the library samples: all, if there are few. */
static void ComputeDiscardedFill(const Square *A, const int *place, double fill[2])
{
  const int stride = TrsvFillStride(A->rows);
  double   *d      = (double *)calloc((size_t)(unsigned)A->rows, sizeof(double));

  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      if (A->columns[k] == i) d[i] = fabs(Get(A->values, A->precision, k));
  fill[0] = fill[1] = 0;
  for (int s = 0; s * stride < A->rows; s++) {
    const int i = TrsvFillRow(s, stride);

    if (i >= A->rows) continue;
    for (int e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      for (int k = A->columns[e], t = A->offsets[k]; t < A->offsets[k + 1]; t++) {
        const int j     = A->columns[t];
        int       there = k == i || j == k || j == i || A->offsets[i + 1] - A->offsets[i] > TRSV_FILL_LONGEST ||
                    A->offsets[k + 1] - A->offsets[k] > TRSV_FILL_LONGEST;
        double v = Get(A->values, A->precision, e) * Get(A->values, A->precision, t);

        for (int f = A->offsets[i]; f < A->offsets[i + 1] && !there; f++) there = A->columns[f] == j;
        v *= v / (d[k] * d[k] * d[i] * d[j]);
        if (!there && k < i && k < j) fill[0] += v;
        if (!there && place[k] < place[i] && place[k] < place[j]) fill[1] += v;
      }
  }
  for (int o = 0; o < 2; o++) fill[o] = sqrt(fill[o]);
  free(d);
}

static void CheckDiscardedFill(void)
{
  enum { SAMPLED = 4 }; /* more rows than the library samples; of one shape, to save time */

  Begin("the fill that an order leaves out");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int variant = 0; variant < (shape == BAND ? SAMPLED + 1 : SAMPLED); variant++) {
      const int rows = variant == SAMPLED ? 5000 : variant == 3 ? 1 : 300;
      Square    A    = MakeSquare((Shape)shape, rows, variant % 2, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE, 5);
      int   *order = (int *)malloc(2 * sizeof(int) * (size_t)A.rows), *place = order + A.rows;
      double got[2], wanted[2];

      for (int i = 0; i < A.rows; i++) order[i] = A.rows % 7 ? (int)(7L * i % A.rows) : i;
      for (int i = 0; i < A.rows; i++) place[order[i]] = i;
      ComputeDiscardedFill(&A, place, wanted);
      ExpectError(TrsvDeviceDiscardedFill(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, order, A.precision, got),
                  TRSV_SUCCESS, "TrsvDeviceDiscardedFill");
      for (int o = 0; o < 2; o++)
        Expect(fabs(got[o] - wanted[o]) <= 1e-12 * wanted[o], "%s, order %d: %g, not %g", ShapeName[shape], o, got[o],
               wanted[o]);
      free(order);
      FreeSquare(&A);
    }
  End();
}

/* Values of every type with the same magnitudes give the same multicolor order, which differs from that without values.
 */
static void CheckEveryType(void)
{
  Square        A    = MakeSquare(BAND, 600, 1, TRSV_DOUBLE, 7);
  const int     n    = A.offsets[A.rows];
  const size_t  rows = (size_t)A.rows, bytes = sizeof(int) * (rows + 1);
  int          *offsets, *columns, *order = malloc(bytes);
  TrsvOrdering *with, *without;

  Begin("the order: values of every type");
  for (int k = 0; k < n; k++) Set(A.values, TRSV_DOUBLE, k, k % 3 ? 1 : 64);
  ExpectError(TrsvOrderMulticolor(A.rows, A.offsets, A.columns, A.values, TRSV_HOST, &with), TRSV_SUCCESS, "values");
  ExpectError(TrsvOrderMulticolor(A.rows, A.offsets, A.columns, NULL, TRSV_HOST, &without), TRSV_SUCCESS, "none");
  Expect(memcmp(with->order, without->order, sizeof(int) * rows) != 0, "values change nothing");
  ExpectError(UploadNew(A.offsets, bytes, &offsets), TRSV_SUCCESS, "offsets");
  ExpectError(UploadNew(A.columns, sizeof(int) * (size_t)n, &columns), TRSV_SUCCESS, "columns");
  for (int type = 0; type < 4; type++) {
    const TrsvPrecision p      = (TrsvPrecision)type;
    void               *values = MakeArray(p, n), *there;
    TrsvOrdering       *made;

    for (int k = 0; k < n; k++)
      Set(values, p, Reals(p, k) + TrsvIsComplex(p), (k & 1 ? -1 : 1) * Get(A.values, TRSV_DOUBLE, k));
    ExpectError(UploadNew(values, TrsvValueSize(p) * (size_t)n, &there), TRSV_SUCCESS, "values");
    if (ExpectError(TrsvDeviceOrderValues(&(TrsvCSR){A.rows, offsets, columns, there}, p, &made), TRSV_SUCCESS,
                    "TrsvDeviceOrderValues")) {
      ExpectError(TrsvDeviceDownload(order, made->order, sizeof(int) * rows, NULL), TRSV_SUCCESS, "order");
      Expect(!memcmp(order, with->order, sizeof(int) * rows), "another order with %s", PrecisionName(p));
    }
    TrsvOrderingDestroy(&made);
    TrsvDeviceFree(there);
    free(values);
  }
  TrsvDeviceFree(offsets);
  TrsvDeviceFree(columns);
  TrsvOrderingDestroy(&with);
  TrsvOrderingDestroy(&without);
  FreeSquare(&A);
  free(order);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

void TestFactorOrder(void)
{
  CheckOrders();
  CheckDiscardedFill();
  CheckEveryType();
  TestOrderChoice();
}
