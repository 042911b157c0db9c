/*
   repeat.h: repeats one thing and reports whether its bits are the same (repeat.c); the matrices of repeats.c;
   orderings and factorizations that are repeated (repeat_factors.c).
*/
#ifndef REPEAT_H
#define REPEAT_H

#include <stdio.h>
#include "factor/factor.h"
#include "ilu/ilu.h"
#include "matrices.h"
#include "ordering/multicolor.h"
#include "solve/model/model.h"

extern TrsvPrecision precision; /* of all matrices and vectors */
extern int           times;     /* how often each thing is repeated */
extern int           wrong;     /* how often bits differed, or something failed */
extern FILE         *json;      /* file of JSON lines; NULL: none */

/* End the program without memory, or after an error. */
void *CheckMemory(void *);
void  CheckError(TrsvError);

/* A copy on the device; the caller frees it by TrsvDeviceFree(). Numbers are converted to `precision`. */
void *Upload(const void *from, size_t bytes);
void *UploadNumbers(const double *from, size_t n);

/* A square matrix with a full diagonal. weak: values with a diagonal so small that pivots need a shift. */
typedef struct {
  const char *name;
  int         rows, nnz, *offsets, *columns; /* on the host */
  double     *values;
  int        *device_offsets, *device_columns;
  void       *device_values, *device_weak;
} Square;

Square MakeSquare(const char *name, const Matrix *);
void   FreeSquare(Square *);

/* An operation that is repeated: once(data) performs it and leaves its result in arrays on the device, which are
   poisoned before if `poisoned`. expected, on the host: the bits of the first array; NULL: those of the first time. */
typedef struct {
  const char *matrix;
  char        what[192];
  int         times, vary;
  TrsvError (*once)(void *);
  void *data;
  int   poisoned;
  struct {
    const void *device;
    size_t      bytes;
  } result[2];
  const void *expected;
} Repeat;

void RunRepeat(const Repeat *);
void ReportRefused(const char *matrix, const char *what, TrsvError); /* reports that it could not start */

/* Repeats the multicolor ordering of a pattern on the device, and compares it with that of the host. The arrays are on
   the device; order gets the ordering; values may be NULL. */
void RepeatOrdering(const char *name, int rows, const int *offsets, const int *columns, const double *values,
                    int *order);
void RepeatOrderingAlone(const char *name, const Matrix *); /* with the values of the matrix, if it has any */

/* ILU(0) and IC(0) in the natural order and in the given one, by every number of lanes, with every shift. */
void RepeatFactors(const Square *, const int *order);

/* A factor whose rows get so many lanes, 0: its own choice. order: NULL for the natural one. */
TrsvFactor *MakeFactor(const Square *, const int *order, TrsvFactorKind, int lanes);

#endif
