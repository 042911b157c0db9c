/*
   krylov.h: the parts of CG and BiCGStab between the products: fused kernels whose scalars stay on the device.

   A caller alternates these functions with products by the matrix and the preconditioner in one stream. Only
   TrsvKrylovAwait() waits: the device reports each iteration's norm to words of the host, and checks itself whether the
   iteration stops. Later iterations change nothing, so the host may launch iteration k + 1 before it reads the norm of
   iteration k.

   Vectors are arrays [rows] of doubles on the device. Iterations are numbered from 1; 0 is the initial residual.
   Errors: TRSV_ERR_MEMORY, TRSV_ERR_DEVICE. Threads: one thread and one stream at a time may use an object.
*/
#ifndef TRSV_KRYLOV_H
#define TRSV_KRYLOV_H

#include "base/types.h"

TRSV_C_BEGIN

typedef enum { TRSV_CG, TRSV_BCGS } TrsvKrylovType; /* CG, or BiCGStab */

/* The norm of an iteration; z is the preconditioned residual. BiCGStab: the norm of its residual, or none. */
typedef enum {
  TRSV_NORM_NONE,             /* 0 */
  TRSV_NORM_PRECONDITIONED,   /* sqrt(z.z) */
  TRSV_NORM_UNPRECONDITIONED, /* sqrt(r.r) */
  TRSV_NORM_NATURAL           /* sqrt(|r.z|) */
} TrsvNorm;

/* When the device stops. After the iteration at which it stops, launches change no vector; only the caller's products
   still write their results. */
typedef struct {
  int    enabled;                      /* 0: only a breakdown stops it */
  int    min_iterations, iterations;   /* norms are checked from the first of these on; the second always stops it */
  double convergence, divergence;      /* a norm <= convergence or >= divergence stops it, and so does NaN or Inf */
} TrsvStopping;

typedef enum {
  TRSV_RUNS,
  TRSV_STOPPED,               /* by TrsvStopping */
  TRSV_NOT_A_NUMBER,          /* an inner product is NaN or Inf before this iteration has changed x */
  TRSV_INDEFINITE_MATRIX,     /* CG: p.Ap is 0, or has changed its sign, before this iteration has changed x */
  TRSV_NEXT_NOT_A_NUMBER,     /* CG: r.z is NaN or Inf after this iteration */
  TRSV_NEXT_ZERO,             /* CG: r.z is 0 after this iteration */
  TRSV_NEXT_INDEFINITE_PC,    /* CG: r.z has changed its sign after this iteration */
  TRSV_BREAKDOWN,             /* BiCGStab: v.r0 is 0, or t is 0 and s is not, before this iteration has changed x */
  TRSV_EXACT,                 /* BiCGStab: t and s are 0: x + alpha p, which x is now, solves the system */
  TRSV_NEXT_BREAKDOWN         /* BiCGStab: r.r0 was 0 at the start of this iteration, which has changed x */
} TrsvKrylovState;

/* The report of the device on an iteration. */
typedef struct {
  double          norm; /* undefined if the iteration has not changed x */
  TrsvKrylovState state;
} TrsvIteration;

typedef struct TrsvKrylov TrsvKrylov;

/* Allocates the scalars on the current device, for vectors of any length. */
TrsvError TrsvKrylovCreate(TrsvKrylov **);
void      TrsvKrylovDestroy(TrsvKrylov **);

/* Starts a solve; discards the previous one. The functions below use the stream, which may be NULL. */
TrsvError TrsvKrylovStart(TrsvKrylov *, int rows, TrsvKrylovType, TrsvNorm, TrsvStream);

/* Waits until the device has reported iteration k, one of the last two that were launched. TRSV_ERR_DEVICE: the stream
   has failed, or is idle without that report. */
TrsvError TrsvKrylovAwait(TrsvKrylov *, int k, TrsvIteration *);

/* Parts of both methods. TrsvKrylovResidual computes rho = r.z and the norm, TrsvKrylovHalf alpha = rho / p.w and
   half = r - alpha w; half and r may be one vector. */
TrsvError TrsvKrylovResidual(TrsvKrylov *, int k, const double *r, const double *z, const TrsvStopping *);
TrsvError TrsvKrylovHalf(TrsvKrylov *, int k, const double *p, const double *w, const double *r, double *half);

/* CG, Hestenes and Stiefel 1952. At first r, z = M r, p = z, and TrsvKrylovResidual(r, z) for k = 0; then, for k = 1,
   2, ...: w = A p; TrsvKrylovHalf(p, w, r, r); z = M r; TrsvKrylovResidual(r, z), which reports k; TrsvCGAdvance(). z
   and w may be one vector. */
TrsvError TrsvCGAdvance(TrsvKrylov *, int k, const double *z, double *p, double *x); /* x += alpha p; p = z + beta p */

/* BiCGStab, van der Vorst 1992; K is the preconditioned operator. At first r, r0 = r, and TrsvKrylovResidual(r, r0) for
   k = 0; then, for k = 1, 2, ...: TrsvBCGSDirection(); v = K p; TrsvKrylovHalf(r0, v, r, s); t = K s; TrsvBCGSUpdate(),
   which reports k. */
TrsvError TrsvBCGSDirection(TrsvKrylov *, int k, const double *r, const double *v, double *p); /* v unread for k = 1 */
TrsvError TrsvBCGSUpdate(TrsvKrylov *, int k, const double *p, const double *s, const double *t, const double *r0,
                         double *x, double *r, const TrsvStopping *);

TRSV_C_END
#endif
