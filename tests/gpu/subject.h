/*
   subject.h: something that solves, over and over, and what comes of it compared on the device; for the long runs on a
   GPU.
*/
#ifndef GPU_SUBJECT_H
#define GPU_SUBJECT_H

#include "dag.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SIDES = 4 /* right-hand sides of a subject */
};

/* A triangle and its solutions, on the host and on the device. Numbers are of its precision. */
typedef struct Case {
  Dag        *dag;
  TrsvMatrix  device;     /* the pattern there */
  void       *values;     /* of the host */
  void       *device_values;
  void       *b;          /* [SIDES * rows] of the host */
  void       *x;          /* by serial */
} Case;

void CaseMake(Case *, Dag *, const void *b); /* b: NULL for one by chance, from a seed of its own */
void CaseFree(Case *);

typedef struct Subject {
  TrsvPlan     *plan; /* or: */
  TrsvPair     *pair;
  TrsvPrecision precision;
  int           rows, vary; /* vary: bits may differ; then residuals are compared with the bound */
  const Case   *c;          /* of the plan, where bits vary */
  TrsvStream    stream;     /* NULL at first */
  void         *b, *first, *x; /* on the device, [SIDES * rows]; first: the solutions that are known to be right */
  unsigned     *differ;        /* on the device: numbers that were not what they should be */
} Subject;

/* Failures print what and where, are counted, and do not end the program. */
extern long failures;
void        Fail(const char *where, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* The largest componentwise backward error |b - T x| / (|T| |x| + |b|) that passes. */
double Bound(TrsvPrecision);

/* A subject with values: solves every right-hand side once and checks what comes out. Of a plan, by the backward error
   and against the case's serial solution; of a pair, against that of U, whose right-hand sides are serial's solutions
   of L; where order is given, b and x of row i stand at order[i]. 0 after a failure. */
int SubjectMake(Subject *, const Case *, TrsvPlan *, const char *where);
int SubjectMakePair(Subject *, TrsvPair *, const Case *U, const void *b, const int *order, const char *where);

size_t DeviceBytesLeft(void); /* of the whole device's memory */

/* A copy on the device, for TrsvDeviceFree(); without memory the program ends. */
void *Upload(const void *from, size_t bytes);

/* Solves all right-hand sides, beginning with one by chance, into poisoned memory, some of them by early launches; and
   compares. Nothing is waited for. */
TrsvError SubjectSolve(Subject *, Seed *);

/* Waits, and tells where something was different. 0 after a failure. */
int  SubjectCheck(Subject *, const char *where);
void SubjectFree(Subject *);

#ifdef __cplusplus
}
#endif
#endif
