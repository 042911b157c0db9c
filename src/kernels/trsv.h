/*
   trsv.h: the interface of src/kernels: an incomplete factorization L U of a square matrix A, and the solves with it.

     TrsvIluCreate -> TrsvIluPrepare -> TrsvIluSetValues -> TrsvIluSolve ... -> TrsvIluDestroy
                                        again with new values

   ILU(0) and IC(0) of a matrix on a device are computed there. If the matrix is on the host, or TrsvIluDescribe gives a
   reason why the host has to factor, the caller factors, and calls TrsvIluSetFactor instead of TrsvIluSetValues.

   Errors: a function that can fail returns a TrsvError; TrsvErrorMessage() describes the last failure of this thread.
   Each may return TRSV_ERR_MEMORY and TRSV_ERR_DEVICE, and in a build without CUDA TRSV_ERR_UNSUPPORTED for work on a
   device; others are named with the function. Nothing prints, exits or aborts. Unless stated otherwise, an object after
   an error is as it was before the call; it can always be destroyed.

   Threads: objects are independent. One thread at a time may use an object. It belongs to the device that was current
   when it was created: with another current device its functions return TRSV_ERR_ARGUMENT. Work of one object in
   several streams is done in the order of the calls; the first call in a second stream waits for the device. Work in a
   captured stream is ordered by the caller who launches the graph. While a thread captures a CUDA graph on a device, no
   other thread may create, fill or destroy an object there, or use one in another stream for the first time.

   Timeouts: a thread of the device waits at most timeout seconds for one value. A solve that exceeds this writes NaN to
   x, and the next solve with that triangle returns TRSV_ERR_TIMEOUT, once; then the object works again. A graph of
   solves that exceeded it writes NaN until that call; solves that are captured return TRSV_ERR_TIMEOUT until a solve
   that is not. TrsvIluCreate, TrsvIluPrepare and TrsvIluSetValues return TRSV_ERR_TIMEOUT if one of their own waits
   exceeds it, TrsvIluTune if that happens outside of a trial.

   Units: indices have 32 bits and start at 0, times are seconds, sizes are bytes. Ownership: arrays passed in belong to
   the caller and are not kept.
*/
#ifndef TRSV_H
#define TRSV_H

#include "base/types.h"
#include "ordering/ordering.h" /* TrsvOrderMulticolor, TrsvOrderingDestroy */
#include "solve/plan/table.h"  /* the table of algorithms: TrsvAlgorithmGet, TrsvAlgorithmFind, ... */

TRSV_C_BEGIN

/* Where a matrix on a device is factored. */
typedef enum {
  TRSV_PLACE_AUTO, /* where the predicted time is shorter */
  TRSV_PLACE_DEVICE,
  TRSV_PLACE_HOST
} TrsvPlace;

typedef enum {
  TRSV_ORDER_GIVEN,      /* row and column of the request; NULL: the natural order */
  TRSV_ORDER_MULTICOLOR, /* TrsvOrderMulticolor */
  TRSV_ORDER_AUTO        /* natural or multicolor: the one with the shorter predicted time to solution */
} TrsvOrderRequest;

typedef struct {
  TrsvFactorKind       kind;
  TrsvPrecision        precision;
  TrsvMemory           memory;       /* of A, and of b and x */
  TrsvPlace            place;        /* for TRSV_DEVICE */
  int                  fill_levels;  /* more than 0: the host factors */
  TrsvOrderRequest     order;        /* for TRSV_DEVICE */
  const int           *row, *column; /* [rows] on the host; if they differ, the host factors */
  const TrsvAlgorithm *algorithm[2]; /* of L and of U; NULL: chosen by selection */
  int                  thread_level; /* 1: on a device, a triangle with no named algorithm gets a thread-level one */
  TrsvSelection        selection;
  double               timeout; /* seconds that a wait on the device may take; 0: no limit */
} TrsvIluRequest;

typedef struct TrsvIlu TrsvIlu;

/* The symbolic factorization: splits the pattern of A, on the device, into L and U in the requested order and analyzes
   both. A may be wide. The host has to factor if A or its offsets are NULL, or if TrsvIluDescribe gives a reason; an
   invalid pattern (a row without a diagonal entry, columns that do not rise) is such a reason, not an error. Needs the
   values of A unless the order is TRSV_ORDER_GIVEN. Works in the default stream and waits for it.
   TRSV_ERR_ARGUMENT: row is not a permutation. */
TrsvError TrsvIluCreate(const TrsvIluRequest *, int rows, const TrsvCSR *A, TrsvIlu **ilu);

/* Makes the plans for solves with A, or with its transpose, in the given memory, and fills them if there are values.
   Call it once after TrsvIluCreate, before the first values, and before the first solve of another kind; where
   TrsvIluIsReady is 1 it does nothing. factor: the triangles if the host factored, else NULL. Waits for the default
   stream, and for the given one if values go from one memory to the other. After an error these plans have no values,
   or do not exist: call it again. TRSV_ERR_UNSUPPORTED: a named algorithm cannot run in that memory or on that device,
   or takes no such values or triangles; or no algorithm of this build takes such values. TRSV_ERR_ARGUMENT: the host
   has factored, and factor is NULL. TRSV_ERR_STRUCTURE: L or U of factor is not a valid triangle. */
TrsvError TrsvIluPrepare(TrsvIlu *, TrsvMemory, int transposed, const TrsvTriangles *factor, TrsvStream);

/* Returns 1 if there are plans with values for these solves, else 0. */
int TrsvIluIsReady(const TrsvIlu *, TrsvMemory, int transposed);

/* Factors A, given its values on the device in the pattern of TrsvIluCreate, and fills all plans. Downloads the
   outcome, and so waits for the stream. A zero pivot is an outcome, not an error. After a zero pivot nothing can be
   solved until the next values; after an error only where TrsvIluIsReady is 1. Where it is still 0 after the next
   values, call TrsvIluPrepare. TRSV_ERR_ARGUMENT: invalid pivots, or the host has to factor. */
TrsvError TrsvIluSetValues(TrsvIlu *, const void *values, const TrsvPivots *, TrsvOutcome *, TrsvStream);

/* Fills all plans with a factor that the host computed, in the pattern of TrsvIluPrepare. Waits for the stream if plans
   are on a device. After an error: as after one of TrsvIluSetValues. TRSV_ERR_ARGUMENT: factor is NULL, or has no
   values; an L without entries needs none. */
TrsvError TrsvIluSetFactor(TrsvIlu *, const TrsvTriangles *factor, TrsvStream);

/* Measures algorithms and settings for at most that many seconds, those in use first, and keeps the fastest whose
   solution is right. Plans on the host stay as they are. The plans need values; factor: as for TrsvIluPrepare, with
   values. Waits for the stream. After an error call TrsvIluPrepare again if TrsvIluIsReady is 0. TRSV_ERR_ARGUMENT:
   there are no values, or the host has factored and factor is NULL or has no values. TRSV_ERR_STRUCTURE: as for
   TrsvIluPrepare. */
TrsvError TrsvIluTune(TrsvIlu *, TrsvMemory, int transposed, const TrsvTriangles *factor, double seconds, TrsvStream);

/* Moves the factorization to the host: the plans stay, and the caller factors from now on, in the same order. order
   [rows], on the host, gets the row of A in each position. Waits until the device is idle. */
TrsvError TrsvIluLeaveDevice(TrsvIlu *, int order[], TrsvStream);

/* A solve is L y = b, then U x = y; with the transpose U^T y = b, then L^T x = y. */
typedef enum {
  TRSV_FORWARD  = 1, /* the first half */
  TRSV_BACKWARD = 2, /* the second half */
  TRSV_SOLVE    = TRSV_FORWARD | TRSV_BACKWARD
} TrsvPart;

/* Solves for x [rows], given b [rows], both in the given memory and in the order of A; x must not be b. For one half, b
   or x may be NULL instead of y, which the object keeps. On a device it returns before the stream has done the work.
   Allocates nothing. TRSV_ERR_ARGUMENT: TrsvIluIsReady is false, or y is not stored because one launch does both
   halves. */
TrsvError TrsvIluSolve(TrsvIlu *, TrsvMemory, int transposed, TrsvPart, const void *b, void *x, TrsvStream);

int    TrsvIluIsOneLaunch(const TrsvIlu *, TrsvMemory, int transposed);     /* 1: one launch does both halves */
double TrsvIluFlops(const TrsvIlu *, TrsvMemory, int transposed, TrsvPart); /* of one solve; 0: there are no plans */

/* Downloads the factor of TrsvIluSetValues; the caller owns it. Waits for the stream and the default stream.
   TRSV_ERR_ARGUMENT: there are no values on the device. */
TrsvError TrsvIluDownload(TrsvIlu *, TrsvTriangles *, TrsvStream);
void      TrsvTrianglesDestroy(TrsvTriangles *);

/* The statistics of triangles on the host. TRSV_ERR_STRUCTURE: L or U is not a valid triangle;
   TRSV_ERR_ARGUMENT: it has a negative number of rows. */
TrsvError TrsvTrianglesAnalyze(const TrsvTriangles *, TrsvPrecision, TrsvStatistics *L, TrsvStatistics *U);

/* How one triangle is solved. Strings and trials are valid until the plan changes. */
typedef struct {
  TrsvStatistics       statistics;
  const TrsvAlgorithm *algorithm;
  const char          *reason;                  /* for this algorithm */
  char                 settings[TRSV_SETTINGS]; /* of its plan; "" if it has none */
  double               seconds;                 /* wall-clock time of analysis, plan and tuning */
  size_t               bytes;                   /* of its plan */
  const TrsvTrial     *trials;
  int                  trial_count, chosen;
} TrsvSolveInfo;

typedef struct {
  const char          *host_reason;  /* why the host has to factor a matrix on the device; else "" */
  const char          *order_reason; /* why TRSV_ORDER_AUTO chose this order; else "" */
  int                  on_device;    /* 1: A is factored on the device; the next four members are then set */
  int                  lower, upper; /* entries of L and U */
  int                  lanes;        /* threads for a row */
  size_t               factor_bytes; /* of the device */
  int                  multicolor;   /* 1: the order is multicolor */
  int                  planned;      /* 1: plans for solves with A in its memory exist; the next three are then set */
  TrsvSolveInfo        L, U;
  int                  one_launch;
  const TrsvAlgorithm *algorithms[2][2][2]; /* [memory][transposed][half] of all plans; NULL: no plan */
  size_t               plan_bytes;          /* of all plans */
  int                  transposed;          /* 1: there are plans for the transpose in the memory of A */
  int                  also_on_host;        /* 1: a matrix on the device also has a plan on the host */
  size_t               setup_bytes; /* the peak of device memory during the first set-up, less what others used; 0:
                                       unknown */
} TrsvIluInfo;

void TrsvIluDescribe(const TrsvIlu *, TrsvIluInfo *);

/* Frees the object, which may be NULL. Waits until the device is idle if the object has memory there. */
void TrsvIluDestroy(TrsvIlu **);

/* Checks that new values of A, on the device in the pattern of TrsvIluCreate, suit the multicolor order that
   TRSV_ORDER_AUTO has chosen: its time to solution is still the shorter predicted one. A may be wide. If they do not,
   reason gets why; else "", as for values with NaN, another order, or a factorization on the host. Works in the default
   stream and waits for it. */
TrsvError TrsvIluCheckOrder(const TrsvIlu *, const TrsvCSR *A, char reason[], size_t size);

/* Releases what the process keeps on its devices for later objects: memory pools, streams, pinned memory. Existing
   objects stay valid, and new ones can be created. Waits for the devices. No other function may run at the same
   time. */
void TrsvDeviceFinalize(void);

TRSV_C_END
#endif
