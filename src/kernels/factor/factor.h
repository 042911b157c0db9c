/*
   factor.h: what the files of the factorization share: factor.c runs it, factor_permute.cu brings A into another order,
   factor_split.cu makes the patterns, factor_start.cu starts an attempt at the values, factor_rows.cu makes them, and
   factor_pivots.cu where they are those of A but for the pivots.
*/
#ifndef TRSV_FACTOR_H
#define TRSV_FACTOR_H

#include <limits.h>
#include "solve/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ILU(0) or IC(0) of a matrix A on the device, in its natural order or another: the patterns once, the values as often
   as they change. */
typedef struct TrsvFactor TrsvFactor;

/* Splits a square pattern, compressed sparse rows on the device, into those of L and U, and sorts the rows by level
   set. A row without a diagonal, with columns that do not rise or lie outside, is TRSV_ERR_STRUCTURE; the message names
   it, and *row is that row, else -1. order [rows], in memory of the given kind, says which row of A, and which column,
   stands in each place of what is factored; NULL: A as it is. Works in the default stream. Nothing of the caller's is
   kept. */
TrsvError TrsvFactorCreate(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory,
                           TrsvFactorKind, TrsvPrecision, TrsvFactor **factor, int *row);

/* Makes values of L and U from those of A, on the device in the order of its columns. Waits for the outcome, a small
   read, and so for the stream. What a zero pivot leaves in L and U is of no use. lower, a plan for L, and vector [rows]
   may be made use of to find them, or are NULL; that plan has to be given values after that before it solves: where
   TrsvFactorTriangles then shows none of L, it has them. */
TrsvError TrsvFactorMake(TrsvFactor *, TrsvPlan *lower, void *vector, const void *values, const TrsvPivots *,
                         TrsvOutcome *, TrsvStream);

/* Has in the factor, too, now and whenever there are new values, what a pair alone has once it has been trimmed: the
   columns of U, and, lower not being NULL, the values of L, of which that is a plan. Waits for the default stream. */
TrsvError TrsvFactorMaterialize(TrsvFactor *, const TrsvPlan *lower, TrsvStream);

/* L with a unit diagonal and U with a stored one; they and their values, NULL until values have been made, belong to
   the factor. Once it has been trimmed, the columns of U, and the values of L, may be NULL: TrsvFactorMaterialize. */
void TrsvFactorTriangles(const TrsvFactor *, TrsvMatrix *L, TrsvMatrix *U, const void **lvalues, const void **uvalues);

/* The same on the host, in TrsvFactorOrder's order; values NULL where those of L are missing. All of it is in
   t->memory, which goes to TrsvFree(TRSV_HOST). Waits for the stream. */
TrsvError TrsvFactorDownload(TrsvFactor *, TrsvTriangles *t, TrsvStream);

const int *TrsvFactorOrder(
    const TrsvFactor *); /* [rows] on the device, or NULL: a copy of what TrsvFactorCreate was given */
void TrsvFactorEntries(const TrsvFactor *, int *L, int *U);
int  TrsvFactorLanes(const TrsvFactor *); /* threads for a row; 1 where only the pivots depend on each other */
size_t                TrsvFactorBytes(const TrsvFactor *);      /* device memory that it holds */
double TrsvFactorPredict(const TrsvFactor *); /* seconds that values are expected to take */
double TrsvFactorPredictHost(
  const TrsvFactor *); /* and all of PETSc's factorization on the host, with the ways to it and back */
void TrsvFactorReleaseWorkspace(
  TrsvFactor *,
  const TrsvPlan
    *lower); /* gives up the analyses, which TrsvFactorTriangles shows, once a pair has been made, that of L unless
                values, with its plan for L, will still need it; and what else values do not need with that plan */
void                  TrsvFactorDestroy(TrsvFactor **);

enum {
  FACTOR_BLOCK = 128,     /* threads of a block */
  FACTOR_OWN   = 2,       /* entries of a row that a lane keeps */
  FACTOR_TERMS = 6,       /* dependencies of a row that one thread takes */
  FACTOR_EMPTY = INT_MIN, /* a slot without a row */
  FACTOR_SIZES = 4        /* rows of more than 2, 4, 8, 16 entries for each of the lanes are counted */
};

/* What a launch tells the host. */
typedef struct {
  unsigned           row;     /* the first with a zero pivot, UINT_MAX where there is none */
  unsigned           shifted; /* pivots that had something added */
  unsigned long long largest; /* bits of the largest row sum, for TRSV_SHIFT_POSITIVE_DEFINITE */
} FactorStatus;

/* What PETSc's factorization on a host would take. */
typedef struct {
  unsigned long long operations; /* multiply-adds: each row goes through all of U's rows that it depends on */
  unsigned long long squares;    /* of the lengths of rows, L's and U's together */
} FactorWork;

struct TrsvFactor {
  TrsvFactorKind kind;
  TrsvPrecision  precision;
  int            rows, lower, upper;   /* entries of L and U */
  int           *order;                /* [rows] the row of A in each place, NULL where they are the same; where not: */
  int            entries, *source;      /* of A; where in A each entry of P A P^T stands */
  void          *a;                     /* its values, and it is what is called A below and in the other files */
  int           *l_offsets, *l_columns; /* L off its unit diagonal */
  int           *u_offsets,
    *u_columns; /* U, each row's diagonal first; where l_in_plan, columns may be NULL: across the diagonal from L's */
  unsigned char *mirror_offset; /* ILU by pivots: which of its row in U each entry of L has across the diagonal; where
                                   not all have one, or too far, NULL */
  int           *l_source;              /* ICC: where in U each entry of L stands, else NULL */
  int           *a_row_start; /* ICC: where in A each row of U starts, else NULL: where L's and U's together do */
  int            lanes_per_row, groups;          /* lanes for a row; groups of lanes */
  int            pivots;                /* do only these depend on each other? factor_pivots.cu */
  int *row_of_group; /* [groups] the row of each group, ~row where it takes the whole warp, or FACTOR_EMPTY; by pivots
                        NULL until they are found without a plan */
  int *work_offset;  /* [groups] where in work a row that takes a warp stands; NULL where there is none */
  int l_in_plan; /* may L's values be in its plan alone? Then they are made in u, with room for them behind a right-hand
                    side, before U's are */
  void          *l, *u;                  /* values */
  void          *inverse,
    *reciprocals; /* of the pivots, while values are made: in a vector of the pair, or in this one of its own */
  void          *work;                   /* long rows while they are made */
  FactorStatus  *status;
  TrsvSync       sync;
  TrsvStatistics statistics; /* of L */
  TrsvAnalysis  *analysis;   /* of L, until TrsvFactorReleaseWorkspace() */
  TrsvAnalysis  *upper_analysis;      /* of U, where it has been looked at, likewise; else NULL */
  int            longest_warp_row;    /* entries of the longest row that takes a warp */
  FactorWork     on_host;
  size_t         bytes;
};

/* TrsvFactorCreate without a look at U, for who may want another order; and that look, for who then does not */
TrsvError TrsvFactorCreateLower(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory,
                                TrsvFactorKind, TrsvPrecision, TrsvFactor **, int           *row);
TrsvError TrsvFactorAnalyzeUpper(TrsvFactor *);

TrsvError TrsvFactorRoom(TrsvFactor *, TrsvPlan *lower,
                         void *vector); /* for values, once; as TrsvFactorMake has them */

/* factor_split.cu, in the default stream; without_cuda.c in builds without CUDA */
TrsvError TrsvFactorSplit(TrsvFactor *, const int *offsets, const int *columns, const int *order, TrsvMemory,
                          int *row);                       /* patterns of L and U */
TrsvError TrsvFactorMirrorColumns(TrsvFactor *);           /* U's columns from L's, where they are NULL */
TrsvError TrsvFactorSlots(TrsvFactor *, const int *order); /* who makes which row */

/* factor_permute.cu: offsets and columns of P A P^T, one behind the other, in the default stream's pool, to be given to
   TrsvScratchFree(); f->order and f->source. Then, as often as there are values, those into f->a. */
TrsvError TrsvFactorPermute(TrsvFactor *, const int *offsets, const int *columns, const int *order, TrsvMemory,
                            int **pattern);
TrsvError TrsvFactorGather(TrsvFactor *, const void *values, TrsvStream);

/* What is done about pivots, and what is added to the diagonal of A. */
typedef struct {
  TrsvShift shift;
  double    amount, zero, diagonal;
} FactorShift;

/* factor_pivots.cu: f->pivots and f->mirror_offset; and values, by a plan for L that TrsvPlanFindsPivots, or, lower
   being NULL, in the order of f->row_of_group. By a plan any row in f->status means that it takes that, and else the
   plan has L's values. */
TrsvError TrsvFactorPivotsCheck(TrsvFactor *);
TrsvError TrsvFactorPivots(TrsvFactor *, TrsvPlan *lower, const void *values, const FactorShift *, TrsvStream);

/* factor_start.cu */
TrsvError TrsvFactorFill(TrsvFactor *, TrsvStream);
TrsvError TrsvFactorRows(TrsvFactor *, const void *values, const FactorShift *, TrsvStream);
TrsvError TrsvFactorSums(TrsvFactor *, const void *values, TrsvStream); /* status->largest */

/* For tests and measurements: how many lanes a row gets, 4, 8, 16 or 32; 0: as its length says. For factors made from
   now on. */
void TrsvFactorSetLanes(int lanes);
extern int TrsvFactorForcedLanes;

#ifdef __cplusplus
}
#endif
#endif
