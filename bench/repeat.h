/*
   repeat.h: one thing done over and over, and what came of it told; for repeats.c.
*/
#ifndef REPEAT_H
#define REPEAT_H

#include <stdio.h>
#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "solve/model/model.h"

extern TrsvPrecision precision; /* of all that is repeated */
extern int           wrong;     /* how often bits differed, or something failed */
extern FILE         *json;      /* where objects go, NULL: nowhere */

/* Without memory, or after an error, the program ends. */
void *Must(void *);
void  Need(TrsvError);

/* A copy on the device, to be given to TrsvDeviceFree(); numbers in the precision that is asked for. */
void *Upload(const void *from, size_t bytes);
void *UploadNumbers(const double *from, size_t n);

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

void Run(const Repeat *);
void Refused(const char *matrix, const char *what, TrsvError); /* it could not be begun */

#endif
