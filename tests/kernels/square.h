/*
   square.h: square matrices, and factors of them on the device against the same elimination on the host.
*/
#ifndef TEST_SQUARE_H
#define TEST_SQUARE_H

#include "check.h"
#include "factor/factor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix on the device; in the executor the host reads and writes device memory, too */
typedef struct {
  TrsvPrecision precision;
  int           rows, nnz, *offsets, *columns;
  void         *values;
} Square;

Square NewSquare(int rows, int nnz, TrsvPrecision); /* arrays without contents */
Square MakeSquare(Shape, int rows, int symmetric, TrsvPrecision,
                  unsigned seed); /* lower and upper triangle of a shape, and values */
Square MakeSquareFrom(int rows, const int *offsets,
                      const int *columns); /* a pattern with an added diagonal, in double precision, without values */
void   FreeSquare(Square *);

/* Sets values that are dominant by rows and, for symmetric patterns, by columns; symmetric if asked for. */
void FillSquare(Square *, int symmetric, double dominance, unsigned seed);

/* P A P^T: row and column i are row and column order[i] of A; NULL: a copy of A. */
Square Permuted(const Square *, const int *order);

/* A random order of rows on the device; the caller frees it by TrsvDeviceFree(). */
int *MakeOrder(int rows, unsigned seed);

/* A factor with so many lanes for a row, 0: its own choice; NULL after a failed Expect. */
TrsvFactor *MakeFactor(const Square *, const int *order, TrsvFactorKind, int lanes);

/* No shifts, and a limit for zero pivots so small that rounding does not matter. */
extern const TrsvPivots Plain;

/* A plan of `chunk` for L, which finds the pivots if only pivots depend on each other. */
TrsvPlan *MakeLower(const TrsvFactor *);

/* Factors A several times under different schedules, also by such a plan if it finds pivots. Expects factors close to
   those of the host, closer if pivots is &Plain; the same bits every time; and the same outcome. */
void CheckNumeric(TrsvFactor *, const Square *, TrsvFactorKind, const TrsvPivots *pivots, int times, const char *where);
void CheckNumericBy(TrsvFactor *, TrsvPlan *lower, const Square *, TrsvFactorKind, const TrsvPivots *pivots, int times,
                    const char *where); /* with that plan alone */

/* Parts of TestFactor() */
void TestFactorLong(void), TestFactorPair(void), TestFactorPlan(void);

#ifdef __cplusplus
}
#endif
#endif
