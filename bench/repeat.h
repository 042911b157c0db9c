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

extern TrsvPrecision precision; /* of all that is repeated */
extern int           times;     /* how often each thing is repeated */
extern int           wrong;     /* how often bits differed, or something failed */
extern FILE         *json;      /* where objects go, NULL: nowhere */

/* Without memory, or after an error, the program ends. */
void *CheckMemory(void *);
void  CheckError(TrsvError);

/* A copy on the device, to be given to TrsvDeviceFree(); numbers in the precision that is asked for. */
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

/* One thing that is done over and over: once(data) does it, and what it leaves is in some arrays on the device, which
   are poisoned before where they are nothing but its result. expected, on the host: what the first array is to be,
   NULL: what it is the first time. */
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
void ReportRefused(const char *matrix, const char *what, TrsvError); /* it could not be begun */

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
