/*
   trsv.h: the door of src/kernels. An incomplete factorization L U of a matrix, and the solves with it.

     TrsvIluCreate -> TrsvIluPrepare -> TrsvIluSetValues -> TrsvIluSolve ... -> TrsvIluDestroy
                                        with new values again and again

   ILU(0) and IC(0) of a matrix on a device are computed there. Where the host has to factor (TrsvIluDescribe says
   why), or the matrix lives there, the caller factors and hands over the triangles: TrsvIluSetFactor in place of
   TrsvIluSetValues.

   Errors: a function that can fail returns a TrsvError; TrsvErrorMessage() describes this thread's last failure. Each
   may return TRSV_ERR_MEMORY and TRSV_ERR_DEVICE; others are named where they occur. Nothing prints, exits or aborts.
   After an error an object can be destroyed, and used as if the call had not been made unless stated otherwise.

   Threads: objects are independent; one object belongs to one thread at a time, and to the device that was current when
   it was made: with another one current, its functions return TRSV_ERR_ARGUMENT. Work of one object in several streams
   is done in the order of the calls. What a captured stream gets is ordered by whoever launches the graph. No object is
   made, given values or destroyed, nor used in another stream for the first time, while another thread captures a CUDA
   graph on the same device.

   Time-outs: a thread of the device waits at most timeout seconds for one value. A solve that gives up writes NaN to x,
   and the next call returns TRSV_ERR_TIMEOUT, once; the object works again after that. A graph of solves that gave up
   writes NaN until that next call.

   Indices are 32 bits, 0-based. Times are in seconds, sizes in bytes. Arrays that are passed in belong to the caller
   and are not kept.
*/
#ifndef TRSV_H
#define TRSV_H

#include "base/citations.h"
#include "base/types.h"
#include "ordering/ordering.h" /* TrsvOrderMulticolor, TrsvOrderingDestroy */
#include "solve/plan/table.h"  /* the table of algorithms: TrsvAlgorithmGet, TrsvAlgorithmFind, ... */

#ifdef __cplusplus
extern "C" {
#endif

/* Where a matrix on a device is factored. */
typedef enum {
  TRSV_PLACE_AUTO, /* where it is predicted to take less time */
  TRSV_PLACE_DEVICE,
  TRSV_PLACE_HOST
} TrsvPlace;

typedef enum {
  TRSV_ORDER_GIVEN,      /* row and column of the request; NULL: the natural order */
  TRSV_ORDER_MULTICOLOR, /* TrsvOrderMulticolor */
  TRSV_ORDER_AUTO        /* natural or multicolor: the one with the shorter predicted time to solution */
} TrsvOrderRequest;

/* What is asked of a factorization. */
typedef struct {
  TrsvFactorKind       kind;
  TrsvPrecision        precision;
  TrsvMemory           memory;       /* where A lives, and b and x of the solves */
  TrsvPlace            place;        /* for TRSV_DEVICE */
  int                  fill_levels;  /* more than 0: the host factors */
  TrsvOrderRequest     order;        /* for TRSV_DEVICE */
  const int           *row, *column; /* [rows] on the host; where they differ, the host factors */
  const TrsvAlgorithm *algorithm[2]; /* of L and of U; NULL: chosen by selection */
  int                  thread_level; /* on a device: a thread-level algorithm where none is named */
  TrsvSelection        selection;
  double               timeout; /* seconds that a wait on the device may take; 0: no limit */
} TrsvIluRequest;

typedef struct TrsvIlu TrsvIlu;

/* Splits the pattern of A, in memory of the device, into L and U in the order asked for and analyses L: a symbolic
   factorization. A may be NULL, or its offsets, where there is no such pattern; then, and where TrsvIluDescribe gives a
   reason, the host has to factor. A pattern that cannot be factored (a row without a diagonal, columns that do not
   rise) is such a reason, not an error. values of A are needed for any order but TRSV_ORDER_GIVEN. Works in the default
   stream and waits for it. */
TrsvError TrsvIluCreate(const TrsvIluRequest *, int rows, const TrsvCSR *A, TrsvIlu **ilu);

/* Makes the plans for solves in the given memory, with A or with its transpose, and fills them if there are values:
   once after TrsvIluCreate, before the first values; then for any other solve before it is asked for. factor: the
   triangles of a factor of the host; NULL where A was factored here. TRSV_ERR_UNSUPPORTED: an algorithm that is named
   cannot run in that memory. Waits for the default stream. After an error that plan does not exist. */
TrsvError TrsvIluPrepare(TrsvIlu *, TrsvMemory, int transposed, const TrsvTriangles *factor, TrsvStream);

/* Is there a plan for such solves, with values? */
int TrsvIluIsReady(const TrsvIlu *, TrsvMemory, int transposed);

/* Factors A, on the device in the pattern of TrsvIluCreate, and fills all plans that are there. Offsets and
   columns of A are not used. Waits for the outcome, a small
   read, and so for the stream. A zero pivot is an outcome, not an error; there is then nothing to solve with until the
   next values. TRSV_ERR_ARGUMENT: pivots that are no numbers. After an error, too, there is nothing to solve with. */
TrsvError TrsvIluSetValues(TrsvIlu *, const TrsvCSR *A, const TrsvPivots *, TrsvOutcome *, TrsvStream);

/* The same where the host has factored: fills all plans that are there. */
TrsvError TrsvIluSetFactor(TrsvIlu *, const TrsvTriangles *factor, TrsvStream);

/* Measures algorithms and settings for at most so many seconds, the solves' own first, and keeps the fastest of those
   that give the right answer. For plans with values; factor as for TrsvIluPrepare. Waits for the stream. */
TrsvError TrsvIluTune(TrsvIlu *, TrsvMemory, int transposed, const TrsvTriangles *factor, double seconds, TrsvStream);

/* The matrix cannot be factored on the device any more: from now on the host does, in the same order, for plans that
   stay. order [rows], of the caller, gets the row of A in each place. Waits for the stream. */
TrsvError TrsvIluLeaveDevice(TrsvIlu *, int order[], TrsvStream);

/* A solve is L y = b, then U x = y; of the transpose U^T y = b, then L^T x = y. */
typedef enum {
  TRSV_FORWARD  = 1, /* the first of them */
  TRSV_BACKWARD = 2, /* the second */
  TRSV_SOLVE    = TRSV_FORWARD | TRSV_BACKWARD
} TrsvPart;

/* x [rows] = the solution for b [rows], both in the given memory and in the order of A; x is not b. b and x of halves
   may be NULL: y is then in the object. Returns at once; the stream does the work; no allocation.
   TRSV_ERR_ARGUMENT: TrsvIluIsReady is not true, or a half without y of a solve in one launch. */
TrsvError TrsvIluSolve(TrsvIlu *, TrsvMemory, int transposed, TrsvPart, const void *b, void *x, TrsvStream);

int    TrsvIluIsOneLaunch(const TrsvIlu *, TrsvMemory, int transposed);     /* is y inside a launch of both halves? */
double TrsvIluFlops(const TrsvIlu *, TrsvMemory, int transposed, TrsvPart); /* of such a solve */

/* The factor of TrsvIluSetValues on the host. Waits for the stream. TRSV_ERR_ARGUMENT: there are no values. */
TrsvError TrsvIluDownload(TrsvIlu *, TrsvTriangles *, TrsvStream);
void      TrsvTrianglesDestroy(TrsvTriangles *);

/* Statistics of triangles on the host. TRSV_ERR_STRUCTURE: they are none. */
TrsvError TrsvTrianglesAnalyze(const TrsvTriangles *, TrsvPrecision, TrsvStatistics *L, TrsvStatistics *U);

/* How one triangle is solved. Strings and trials are valid until the plan changes. */
typedef struct {
  TrsvStatistics       statistics;
  const TrsvAlgorithm *algorithm;
  const char          *reason;                  /* why this algorithm */
  char                 settings[TRSV_SETTINGS]; /* of its plan; "" where there are none */
  double               seconds; /* that the analysis and the plan took, on the host's clock; and tuning */
  size_t               bytes;   /* of its plan */
  const TrsvTrial     *trials;
  int                  trial_count, chosen;
} TrsvSolveInfo;

typedef struct {
  const char   *host_reason;  /* why the host has to factor; "" where the device does or the matrix is on the host */
  const char   *order_reason; /* why TRSV_ORDER_AUTO has chosen this order; "" for others */
  int           on_device;    /* is A factored there? then: */
  int           lower, upper; /* entries of L and U */
  int           lanes;        /* threads for a row */
  size_t        factor_bytes; /* of the device */
  int           multicolor;   /* is that the order? */
  int           planned;      /* are there plans for solves with A where it lives? then: */
  TrsvSolveInfo L, U;
  int           one_launch;
  const TrsvAlgorithm *algorithms[2][2][2]; /* [memory][transposed][half]: of all plans; NULL where there is none */
  size_t               plan_bytes;          /* of all plans */
  int    transposed, also_on_host;          /* are there plans for the transpose, or for the host beside the device? */
  size_t setup_bytes; /* the most device memory in use during the first set-up, less that of others; 0: unknown */
} TrsvIluInfo;

void TrsvIluDescribe(const TrsvIlu *, TrsvIluInfo *);
void TrsvIluDestroy(TrsvIlu **);

/* Says in why what makes values of A, on the device, unsuitable for the multicolor order: they are far from symmetric.
   "": they are not, or some are no numbers. Works in the default stream and waits for it. */
TrsvError TrsvCheckNearlySymmetric(const TrsvCSR *A, TrsvPrecision, char why[], size_t size);

/* Gives back what the process holds on its devices beside objects: pools of memory, streams, pinned words. Objects that
   are still there stay valid, and others can be made afterwards. Waits for the devices. */
void TrsvDeviceFinalize(void);

#ifdef __cplusplus
}
#endif
#endif
