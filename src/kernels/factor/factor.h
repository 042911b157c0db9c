/*
   factor.h: ILU(0) and IC(0) of a matrix A on the device. The patterns of L and U are found once, the values each time
   that those of A change.

   One thread at a time may use a factor. Unless stated otherwise functions work in the default stream, and may return
   TRSV_ERR_MEMORY and TRSV_ERR_DEVICE.
*/
#ifndef TRSV_FACTOR_H
#define TRSV_FACTOR_H

#include <limits.h>
#include "solve/plan/plan.h"

TRSV_C_BEGIN

typedef struct TrsvFactor TrsvFactor;

/* Splits the pattern of A, on the device, and analyzes L and U. order [rows], in the given memory: the row (and column)
   of A in each position of the factor; NULL: the natural order. Keeps no array of the caller; waits for the default
   stream. TRSV_ERR_STRUCTURE: a row of A has no diagonal entry, a column outside the matrix, or columns that do not
   rise; the message names the row. TRSV_ERR_ARGUMENT: A has no rows, or order is not a permutation. */
TrsvError TrsvFactorCreate(const TrsvCSR *A, const int *order, TrsvMemory, TrsvFactorKind, TrsvPrecision,
                           TrsvFactor **factor);

/* TrsvFactorCreate in two halves: Begin makes triangles, analyses and statistics, End the rest. Between them call only
   TrsvFactorDestroy, and TrsvFactorPredict, which leaves out the longest row of a warp. On an error *factor is NULL. */
TrsvError TrsvFactorBegin(const TrsvCSR *A, const int *order, TrsvMemory, TrsvFactorKind, TrsvPrecision,
                          TrsvFactor **factor);
TrsvError TrsvFactorEnd(TrsvFactor **factor);

/* Computes L and U from the values of A, on the device and in the order of its columns. Waits for the stream. L and U
   are undefined after a zero pivot. lower: a plan for L that may find the pivots, or NULL; vector [rows]: workspace, or
   NULL. If TrsvFactorTriangles returns values of L, the caller must set those of lower before it solves with lower; if
   not, lower has them. TRSV_ERR_ARGUMENT: invalid pivots. TRSV_ERR_TIMEOUT: a wait in a kernel exceeded its limit. */
TrsvError TrsvFactorSetValues(TrsvFactor *, TrsvPlan *lower, void *vector, const void *values, const TrsvPivots *,
                              TrsvOutcome *, TrsvStream);

/* L with a unit diagonal, and U with a stored one. Arrays and values belong to the factor; values are NULL until they
   are computed. After TrsvFactorReleaseWorkspace the columns of U and the values of L may be NULL. */
void TrsvFactorTriangles(const TrsvFactor *, TrsvMatrix *L, TrsvMatrix *U, const void **lvalues, const void **uvalues);

/* Downloads the triangles, in the order of the factor. All arrays are in t->memory, which the caller frees by
   TrsvFree(TRSV_HOST, t->memory). All values are NULL if the factor does not have those of L. Waits for the stream. */
TrsvError TrsvFactorDownload(TrsvFactor *, TrsvTriangles *t, TrsvStream);

double TrsvFactorPredict(const TrsvFactor *);     /* seconds that new values take on the device */
double TrsvFactorPredictHost(const TrsvFactor *); /* seconds by PETSc on the host, with the copies to it and back */

/* Frees what new values do not need once the plans exist: the analyses, except L's if rows must still be sorted by it;
   and, if lower finds pivots, the columns of U. The values of L then get no memory. */
void TrsvFactorReleaseWorkspace(TrsvFactor *, const TrsvPlan *lower);

/* Rebuilds what other plans need if the factor lacks it: the columns of U, and, if lower is not NULL, the values of L,
   read from that plan. Waits for the default stream. TRSV_ERR_ARGUMENT: the plan has no values. */
TrsvError TrsvFactorMaterialize(TrsvFactor *, const TrsvPlan *lower, TrsvStream);

void TrsvFactorDestroy(TrsvFactor **);

/* What kernels report to the host. In device memory. */
typedef struct {
  unsigned           row;     /* the first row with a zero pivot, or UINT_MAX; also a word of factor_split.cu */
  unsigned long long largest; /* bits of the largest row sum, for TRSV_SHIFT_POSITIVE_DEFINITE */
} FactorStatus;

/* Work of PETSc's factorization on the host. */
typedef struct {
  unsigned long long operations; /* multiply-adds: for each dependency of a row, the length of its row of U */
  unsigned long long squares;    /* sum of the squared lengths of rows, L's and U's together */
} FactorHostWork;

struct TrsvFactor {
  TrsvFactorKind kind; /* TRSV_ILU or TRSV_ICC */
  TrsvPrecision  precision;
  int            hermitian; /* TRSV_ICC_HERMITIAN of complex values */
  int            rows, entries, lower, upper; /* entries of A, L and U */

  /* With an order; NULL without one. In the files of this room A then stands for P A P^T. */
  int  *order;   /* [rows] the row of A in each position */
  int  *source;  /* [entries] the index in A of each entry of P A P^T */
  void *a;       /* [entries] values of P A P^T */

  int *l_offsets, *l_columns; /* L without its unit diagonal */
  int *u_offsets, *u_columns; /* U, the diagonal first in each row; with l_in_plan the columns may be NULL */
  int *l_source;              /* ICC: the index in U of each entry of L; else NULL */
  int *a_row_start;           /* ICC: the index in A at which each row of U starts; else NULL */

  int            pivots;        /* 1: only pivots depend on each other, and factor_pivots.cu computes the values */
  unsigned char *mirror_offset; /* ILU with pivots: for each entry of L, the offset of its mirror image in a row of U;
                                   NULL if an entry has no mirror image, or an offset exceeds 255 */
  int            lanes_per_row; /* 1 with pivots, else 4, 8, 16 or 32; 0 until AssignGroups chooses it */
  int            groups;        /* of lanes */
  int           *row_of_group;  /* [groups] the row of each group, ~row if the row needs the whole warp, or
                                   FACTOR_NO_ROW; with pivots NULL until they are found without a plan */
  int           *work_offset;   /* [groups] the index in work of the row of a whole warp; NULL: no row needs a warp */
  void          *work;          /* rows of whole warps while they are computed */
  int            longest_warp_row; /* entries of the longest of them */

  void *l, *u;        /* values */
  int   l_in_plan;    /* 1: the plan may have the only copy of L's values; they are computed in the memory of u, after a
                         right-hand side [rows], before U overwrites both */
  void *inverse;      /* [rows] reciprocals of the pivots: the caller's vector, or reciprocals */
  void *reciprocals;  /* the factor's own vector, or NULL */

  FactorStatus  *status;
  TrsvSync       sync;
  TrsvStatistics statistics;      /* of L */
  TrsvAnalysis  *analysis;        /* of L, until TrsvFactorReleaseWorkspace */
  TrsvAnalysis  *upper_analysis;  /* of U, until then */
  FactorHostWork host_work;
  size_t         bytes;           /* device memory */
};

/* Device memory for f->bytes: Alloc does nothing if there is an array. array: the address of a pointer. */
TrsvError TrsvFactorAlloc(TrsvFactor *, size_t size, int count, void *array);
void      TrsvFactorFree(TrsvFactor *, size_t size, int count, void *array);

/* factor_split.cu */
TrsvError TrsvFactorSplit(TrsvFactor *, const TrsvCSR *A, const int *order, TrsvMemory);
TrsvError TrsvFactorMirrorColumns(TrsvFactor *); /* rebuilds U's columns from L's if they are NULL */

/* factor_groups.cu: CheckPattern sets f->pivots and f->mirror_offset. AssignGroups assigns the rows, in that order, to
   groups of f->lanes_per_row lanes; there must be none. If that number is 0, it chooses one by the lengths of rows;
   only tests/regroup.h sets another one. With f->pivots each row is a group. */
TrsvError TrsvFactorCheckPattern(TrsvFactor *);
TrsvError TrsvFactorAssignGroups(TrsvFactor *, const int *order);

/* factor_pivots.cu: the shift that makes A diagonally dominant. Call it once after TrsvFactorCompute, which clears its
   word. Waits for the stream. */
TrsvError TrsvFactorFindLargestSum(TrsvFactor *, const void *values, double *largest, TrsvStream);

/* factor_pivots.cu: computes the values of A + shift I. If f->pivots, the plan lower finds the pivots; if it is NULL, a
   kernel finds them in the order of f->row_of_group. If the plan fails, f->status has a row, and the caller repeats the
   call without the plan; else the plan has the values of L, unless f->l has them. */
TrsvError TrsvFactorCompute(TrsvFactor *, TrsvPlan *lower, const void *values, const TrsvPivots *, double shift,
                            TrsvStream);

TRSV_C_END
#endif
