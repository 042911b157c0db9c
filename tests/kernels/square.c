/*
   Square matrices for the tests of the factorizations: from triangles, permuted, with values.
*/
#include "square.h"

static void *AllocateOnDevice(size_t bytes)
{
  void *p;

  ExpectError(TrsvDeviceAlloc(bytes, &p), TRSV_SUCCESS, "TrsvDeviceAlloc");
  return p;
}

Square NewSquare(int rows, int nnz, TrsvPrecision precision)
{
  return (Square){precision,
                  rows,
                  nnz,
                  AllocateOnDevice(sizeof(int) * ((size_t)rows + 1)),
                  AllocateOnDevice(sizeof(int) * (size_t)nnz),
                  AllocateOnDevice(TrsvValueSize(precision) * (size_t)nnz)};
}

void FreeSquare(Square *A)
{
  TrsvDeviceFree(A->offsets);
  TrsvDeviceFree(A->columns);
  TrsvDeviceFree(A->values);
}

void FillSquare(Square *A, int symmetric, double dominance, unsigned seed)
{
  for (int i = 0; i < A->rows; i++) {
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int j = A->columns[k], mine = A->offsets[i + 1] - A->offsets[i], other = A->offsets[j + 1] - A->offsets[j];
      Random    r =
        seed + 7919u * (unsigned)(symmetric && j < i ? j : i) + 104729u * (unsigned)(symmetric && j < i ? i : j);
      double v = RandomReal(&r);

      if (j == i) v = dominance * (2 + v) * (symmetric || v > 0 ? 1 : -1);
      else v /= mine > other ? mine : other;
      Set(A->values, A->precision, k, v);
    }
  }
}

/* Joins L, a diagonal, and U; L and U are without diagonals. */
static Square JoinTriangles(const TrsvMatrix *L, const TrsvMatrix *U)
{
  const int rows = L->rows;
  Square    A    = NewSquare(rows, L->offsets[rows] + rows + U->offsets[rows], L->precision);
  int       n    = 0;

  A.offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    for (int k = L->offsets[i]; k < L->offsets[i + 1]; k++) A.columns[n++] = L->columns[k];
    A.columns[n++] = i;
    for (int k = U->offsets[i]; k < U->offsets[i + 1]; k++) A.columns[n++] = U->columns[k];
    A.offsets[i + 1] = n;
  }
  return A;
}

/* An unsymmetric pattern has triangles of different seeds. */
Square MakeSquare(Shape shape, int rows, int symmetric, TrsvPrecision precision, unsigned seed)
{
  Triangle   L = MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, seed), U = {0};
  TrsvMatrix T;
  int       *made = NULL;
  const int *source;
  Square     A;

  if (symmetric) ExpectError(TrsvTranspose(&L.view, &T, &made, &source), TRSV_SUCCESS, "TrsvTranspose");
  else {
    U = MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_UNIT, precision, seed + 1);
    T = U.view;
  }
  A = JoinTriangles(&L.view, &T);
  free(made);
  FreeTriangle(&L);
  FreeTriangle(&U);
  FillSquare(&A, symmetric, 1, seed);
  return A;
}

Square MakeSquareFrom(int rows, const int *offsets, const int *columns)
{
  Triangle L = MakeFrom(rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE),
           U = MakeFrom(rows, offsets, columns, TRSV_UPPER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE);
  Square A   = JoinTriangles(&L.view, &U.view);

  FreeTriangle(&L);
  FreeTriangle(&U);
  return A;
}

static void CopyValue(TrsvPrecision p, void *to, int i, const void *from, int k)
{
  const size_t size = TrsvValueSize(p);

  memcpy((char *)to + size * (size_t)i, (const char *)from + size * (size_t)k, size);
}

Square Permuted(const Square *A, const int *order)
{
  Square B        = NewSquare(A->rows, A->nnz, A->precision);
  int   *position = malloc(sizeof(int) * (size_t)A->rows), n = 0;

  for (int i = 0; i < A->rows; i++) position[order ? order[i] : i] = i;
  B.offsets[0] = 0;
  for (int i = 0; i < A->rows; i++) {
    const int row = order ? order[i] : i;

    for (int k = A->offsets[row]; k < A->offsets[row + 1]; k++) { /* sorted by insertion */
      int at = n++;

      for (; at > B.offsets[i] && B.columns[at - 1] > position[A->columns[k]]; at--) {
        B.columns[at] = B.columns[at - 1];
        CopyValue(B.precision, B.values, at, B.values, at - 1);
      }
      B.columns[at] = position[A->columns[k]];
      CopyValue(B.precision, B.values, at, A->values, k);
    }
    B.offsets[i + 1] = n;
  }
  free(position);
  return B;
}

int *MakeOrder(int rows, unsigned seed)
{
  Random r     = seed;
  int   *order = AllocateOnDevice(sizeof(int) * (size_t)rows);

  Shuffle(&r, rows, order);
  return order;
}
