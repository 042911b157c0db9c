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

/* A matrix of the test, on the device as the executor has it, where the host reads and writes it, too */
typedef struct {
  TrsvPrecision precision;
  int           rows, nnz, *offsets, *columns;
  void         *values;
} Square;

Square NewSquare(int rows, int nnz, TrsvPrecision); /* arrays without contents */
Square MakeSquare(Shape, int rows, int symmetric, TrsvPrecision,
                  unsigned seed); /* lower and upper triangle of a shape, and values */
Square MakeSquareFrom(int rows, const int *offsets,
                      const int *columns); /* a pattern, made complete, in double precision without values */
void   FreeSquare(Square *);

/* Values dominant by rows and, symmetric patterns provided, by columns; symmetric where asked for */
void FillSquare(Square *, int symmetric, double dominance, unsigned seed);

/* P A P^T: row order[i], and column, in place i; NULL: a copy of A as it is. */
Square Permuted(const Square *, const int *order);

/* A random order of rows on the device, to be given to TrsvDeviceFree(). */
int *MakeOrder(int rows, unsigned seed);

/* A factor whose rows get so many lanes, 0 for its own choice; NULL and a failed Expect where that does not work. */
TrsvFactor *MakeFactor(const Square *, const int *order, TrsvFactorKind, int lanes);

/* No shifts, and pivots of a size that makes little of rounding */
extern const TrsvPivots Plain;

/* A plan of the algorithm chunk for its L, by which it finds pivots where nothing but these depends on each other */
TrsvPlan *MakeLower(const TrsvFactor *);

/* Factors A some times under different schedules, with such a plan, too, where that makes a difference. Expects factors
   close to those of the host, closer where pivots is &Plain; the same to the bit every time; and the same outcome. */
void CheckNumeric(TrsvFactor *, const Square *, TrsvFactorKind, const TrsvPivots *pivots, int times, const char *where);
void CheckNumericBy(TrsvFactor *, TrsvPlan *lower, const Square *, TrsvFactorKind, const TrsvPivots *pivots, int times,
                    const char *where); /* with that plan alone */

/* Parts of TestFactor() */
void TestFactorLong(void), TestFactorPair(void), TestFactorPlan(void), TestFactorRefused(void);

#ifdef __cplusplus
}
#endif
#endif
