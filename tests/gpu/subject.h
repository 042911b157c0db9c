/*
   subject.h: a plan or a pair that solves repeatedly; its solutions are compared on the device. For the long runs on a
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

/* A triangle and its solutions, on the host and on the device, in the precision of the triangle. */
typedef struct Case {
  Dag       *dag;
  TrsvMatrix device; /* the pattern there */
  void      *values; /* of the host */
  void      *device_values;
  void      *b; /* [SIDES * rows] of the host */
  void      *x; /* by serial */
} Case;

void CaseMake(Case *, Dag *, const void *b); /* b: NULL for a random one */
void CaseFree(Case *);

typedef struct Subject {
  TrsvPlan     *plan; /* or: */
  TrsvPair     *pair;
  TrsvPrecision precision;
  int           rows, vary;    /* vary: bits may differ; then backward errors are compared with the bound */
  const Case   *c;             /* of the plan, if bits vary */
  TrsvStream    stream;        /* NULL at first */
  void         *b, *first, *x; /* on the device, [SIDES * rows]; first: the checked solutions */
  unsigned     *differ;        /* on the device: how many numbers differed */
} Subject;

/* Prints a failure and where it happened, and counts it; the program continues. */
extern long failures;
void        ReportFailure(const char *where, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* The largest componentwise backward error |b - T x| / (|T| |x| + |b|) that passes. */
double ErrorBound(TrsvPrecision);

/* Makes a subject of a plan or a pair that has values: solves every right-hand side once and checks the solutions.
   Those of a plan are checked by the backward error and against serial's solution; those of a pair against serial's
   solution with U, whose right-hand sides are serial's solutions with L. If order is given, b and x of row i are at
   order[i]. Returns 0 after a failure. */
int SubjectMake(Subject *, const Case *, TrsvPlan *, const char *where);
int SubjectMakePair(Subject *, TrsvPair *, const Case *U, const void *b, const int *order, const char *where);

size_t DeviceBytesLeft(void); /* free memory of the device */

/* A copy on the device; the caller frees it by TrsvDeviceFree(). Without memory the program ends. */
void *Upload(const void *from, size_t bytes);

/* Solves all right-hand sides into poisoned memory, from a random one on, some of them by early launches, and compares
   the solutions. It does not wait. */
TrsvError SubjectSolve(Subject *, Seed *);

/* Waits, and reports differences. Returns 0 after a failure. */
int  SubjectCheck(Subject *, const char *where);
void SubjectFree(Subject *);

#ifdef __cplusplus
}
#endif
#endif
