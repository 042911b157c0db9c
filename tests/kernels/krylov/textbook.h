/*
   textbook.h: CG and BiCGStab on the host, for a matrix whose products are made there.
*/
#ifndef TEST_TEXTBOOK_H
#define TEST_TEXTBOOK_H

#include "check.h"
#include "krylov/krylov.h"

enum { ITERATIONS = 12 };

/* A tridiagonal matrix and a diagonal preconditioner: products are made on the host, whose memory is the device's. */
typedef struct {
  int    rows;
  double lower, upper, *diagonal, *scale; /* [rows] */
} System;

System MakeSystem(int rows, int symmetric, unsigned seed);
void   FreeSystem(System *);

/* y = A x, y = M x, y = M A x; x and y of Multiply and Operate are different arrays */
void Multiply(const System *, const double *x, double *y);
void Precondition(const System *, const double *x, double *y);
void Operate(const System *, const double *x, double *y);

/* ITERATIONS iterations from x = 0. norms: [ITERATIONS + 1]; returns x, which the caller frees. */
double *HostCG(const System *, const double *b, TrsvNorm, double *norms);
double *HostBCGS(const System *, const double *b, double *norms);

#endif
