/*
   The pattern of a plan with inverted diagonal blocks: the entries of the inverses, the entries of their product with
   the triangle, and the size of the blocks.

   Mapping: one warp for each group of 32 positions, one lane for each row. The warp merges the rising columns of its
     rows, so no sort is needed.
   Memory order: launches in sequence; within a warp shuffles. Why it ends: no thread waits.
   Same bits: sums and extremes of integers.
*/
#include <limits.h>
#include "solve/chunk/inverse.cuh"
#include "solve/model/model.h"
#include "solve/schedule/chunk_graph.cuh"

typedef unsigned long long Count64;

/* A bit for each row of its block on which a position depends, directly or not, and for itself; 0 after the last. */
static __device__ __forceinline__ unsigned inverse_reach(const InverseView &A, int p, InverseRow *row)
{
  unsigned direct = 0, all = p < A.rows ? 1u << p % INVERSE_GROUP : 0;

  *row = inverse_row(A, p, [&](int q, int) { direct |= 1u << q % INVERSE_GROUP; });
  for (int s = 0; s < INVERSE_GROUP; s++) { /* row s is complete by now */
    const unsigned other = __shfl_sync(~0u, all, s);
    if (direct >> s & 1) all |= other;
  }
  return all;
}

/* Counts the entries of each row of D^-1 T and of each group of D^-1, and the totals; late entries are those at most
   `before` positions before the row's block. One warp for each size and group. */
static __global__ void inverse_count(InverseView A, int groups, int before, InverseTotals *totals, int *rows,
                                     int *inverse)
{
  const int size = (int)blockIdx.x / groups, group = (int)blockIdx.x % groups,
            p = group * INVERSE_GROUP + (int)threadIdx.x, i = A.row_of(p);
  InverseRow row;
  int        count = 0, farthest = 0, late = 0;
  Count64    distance = 0;

  A.block              = INVERSE_GROUP >> size;
  const int      top   = p / A.block * A.block;
  const unsigned reach = inverse_reach(A, p, &row);
  inverse_columns(
    A, row, [](int) {},
    [&](int column, unsigned have) {
      if (!(have & reach)) return;
      count++;
      late += top - A.row_of(column) <= before;
      distance += (Count64)abs(column - i);
      farthest = max(farthest, abs(column - i));
    },
    [&](int s, int begin, int end) { /* rows whose reach has s are in the block of s */
      const int row_top = __shfl_sync(~0u, top, s), n = end - begin;
      int       waits   = 0;
      Count64   columns = 0;

      entries_each<32>(begin, end, [&](int k) {
        columns += (Count64)A.columns[k];
        waits += row_top - A.row_of(A.columns[k]) <= before;
      });
      columns = warp_sum(columns);
      waits   = warp_sum(waits);
      if (!(reach >> s & 1)) return;
      count += n;
      late += waits;
      distance += A.lower ? (Count64)n * (Count64)i - columns : columns - (Count64)n * (Count64)i;
      farthest = max(farthest, max(abs(A.columns[begin] - i), abs(A.columns[end - 1] - i)));
    });
  if (p < A.rows) rows[(size_t)size * (size_t)A.rows + (size_t)i] = count;

  const Count64 length = p < A.rows ? (Count64)count + 1 : 0, own = warp_sum((Count64)__popc(reach)),
                sum[]  = {own, warp_sum((Count64)count), warp_sum((Count64)late), warp_sum(length * length),
                          warp_sum(distance), warp_sum((Count64)farthest)};
  const unsigned most = trsv_warp_max((unsigned)length), bandwidth = trsv_warp_max((unsigned)farthest);
  if (threadIdx.x) return;
  inverse[(size_t)size * (size_t)groups + (size_t)group] = (int)own;
  for (int n = 0; n < 6; n++) (void)atomicAdd(&totals[size].inverse + n, sum[n]);
  (void)atomicMax(&totals[size].measures.row_max, most);
  (void)atomicMax(&totals[size].measures.bandwidth, bandwidth);
}

/* Writes the entries that inverse_count has counted, and the row numbers for a sort. One warp for each group. */
static __global__ void inverse_product(const InverseView A, unsigned *reaches, int *columns, int *natural)
{
  const int      p = (int)(blockIdx.x * INVERSE_GROUP + threadIdx.x);
  InverseRow     row;
  const unsigned reach = inverse_reach(A, p, &row);
  int           *to    = p < A.rows ? columns + A.begin[A.row_of(p)] : NULL;

  if (p < A.rows) {
    reaches[p] = reach;
    natural[p] = p;
  }
  inverse_columns(
    A, row, [](int) {},
    [&](int column, unsigned have) {
      if (have & reach) *to++ = column;
    },
    [&](int s, int begin, int end) {
      inverse_each(reach >> s & 1, to,
                   [&](int, int *out) { entries_each<32>(begin, end, [&](int k) { out[k - begin] = A.columns[k]; }); });
      if (reach >> s & 1) to += end - begin;
    });
}

/* Predicts the seconds of a solve with the best settings on the current device. */
static TrsvError EstimateSolve(const TrsvStatistics *t, TrsvPrecision precision, double *seconds)
{
  TrsvChunkSettings choice[CHUNK_CHOICES];
  double            time[CHUNK_CHOICES];
  int               choices;

  TrsvCall(ChunkRank(t, precision, choice, time, &choices));
  *seconds = choices ? time[0] : 0;
  return TRSV_SUCCESS;
}

/* Predicts the seconds of a solve with D^-1 T. */
static TrsvError EstimateProduct(const TrsvStatistics *plain, TrsvPrecision precision, int levels, long nnz,
                                 Count64 late, double *seconds)
{
  TrsvStatistics s = *plain;

  s.row_mean     = (double)nnz / s.rows;
  s.levels       = levels;
  s.level_mean   = (double)s.rows / levels;
  s.late_per_row = (double)late / s.rows;
  s.nnz          = nnz;
  s.row_max      = s.row_max > TrsvModel.inverse_row_max ? s.row_max : (int)TrsvModel.inverse_row_max;
  TrsvCall(EstimateSolve(&s, precision, seconds));
  *seconds = TrsvModel.inverse_launch + TrsvModel.inverse_estimate * *seconds;
  return TRSV_SUCCESS;
}

/* Reduces *sizes to the number of sizes, from the largest on, that would take less than *least seconds if their product
   had as many entries as T and no late ones: smaller blocks have more level sets, but fewer entries. *best: with
   counts, the size whose product is predicted fastest, and *least its time; INVERSE_SIZES if none takes less. */
static TrsvError ChooseSize(const TrsvStatistics *plain, TrsvPrecision precision, const InverseSizes *s, int counted,
                            double *least, int *sizes, int *best)
{
  int size = 0;

  for (*best = INVERSE_SIZES; size < *sizes; size++) {
    const InverseTotals *t = &s->totals[size];
    double               seconds;

    TrsvCall(EstimateProduct(plain, precision, s->levels[size], plain->nnz, 0, &seconds));
    if (seconds >= *least) break;
    if (!counted) continue;
    TrsvCall(EstimateProduct(plain, precision, s->levels[size], (long)t->entries + plain->rows, t->late, &seconds));
    if (seconds < *least && t->entries <= INT_MAX && t->inverse <= INT_MAX) *least = seconds, *best = size;
  }
  *sizes = size;
  return TRSV_SUCCESS;
}

TrsvError TrsvInverseCount(const Inverse *v, double span, int sizes, InverseSizes *s)
{
  const size_t   n = (size_t)sizes;
  InverseTotals *totals;

  TrsvCall(
    s->counted.take((size_t)INVERSE_SIZES, totals, n * (size_t)v->T.rows, s->rows, n * (size_t)v->groups, s->groups));
  TrsvCall(TrsvDeviceClear(totals, sizeof(s->totals), NULL));
  TrsvCall(TrsvLaunch(inverse_count, (unsigned)(sizes * v->groups), 32, 0, NULL, InverseView(v), v->groups,
                      INVERSE_GROUP + (int)span, totals, s->rows, s->groups));
  return TrsvDeviceDownload(s->totals, totals, sizeof(s->totals), NULL);
}

/* Allocates the arrays of a plan with inverses, and copies T, source and the permutations. */
static TrsvError AllocateInverse(TrsvPlan *plan, Inverse *v, const InverseTotals *totals, const int *source)
{
  const TrsvPermutation given = plan->given;
  const size_t          rows = (size_t)v->T.rows, groups = (size_t)v->groups, n = (size_t)v->entries,
               size = TrsvValueSize(plan->precision);
  int *offsets, *columns;

  TrsvCall(TrsvArenaAllocate(
    TrsvDeviceAlloc,
    [&](TrsvArena &a) {
      a.take(rows + 1, offsets, n, columns, rows, v->reach, rows + 1, v->begin, groups + 1, v->start);
      a.take(size * (size_t)totals->inverse, v->inverse, size * rows, v->right, 1, v->exceeding);
      if (source) a.take(n, v->source);
      if (given.b_index) a.take(rows, v->from);
      if (given.x_index) a.take(rows, v->to);
    },
    &v->memory, &plan->bytes));
  const struct {
    int       *to;
    const int *from;
    size_t     count;
  } copies[] = {{offsets, v->T.offsets, rows + 1},
                {columns, v->T.columns, n},
                {v->source, source, n},
                {v->from, given.b_index, rows},
                {v->to, given.x_index, rows}};
  for (const auto &c : copies)
    if (c.from) TrsvCall(TrsvDeviceCopy(c.to, c.from, sizeof(int) * c.count, NULL));
  v->T.offsets = offsets;
  v->T.columns = columns;
  return TRSV_SUCCESS;
}

/* The level sets of the product are those of T's blocks (TrsvDeviceBlockLevels). In both, a row depends on all rows
   outside of its block on which, in T, the rows of its reach depend. */
TrsvError TrsvInverseMake(TrsvPlan *plan, Inverse *v, InverseSizes *s, int size, const int *source)
{
  InverseTotals *totals = &s->totals[size];
  const int       rows = v->T.rows, levels = s->levels[size];
  InverseProduct *P    = &v->unfinished;
  int            *columns, *natural;

  v->block = INVERSE_GROUP >> size;
  TrsvCall(AllocateInverse(plan, v, totals, source));
  const TrsvScan scan[] = {{v->groups, s->groups + (size_t)size * (size_t)v->groups, v->start},
                           {rows, s->rows + (size_t)size * (size_t)rows, v->begin}};
  TrsvCall(TrsvDeviceScanAll(2, scan));
  TrsvCall(TrsvScratchArrays(&P->memory, (size_t)totals->entries, columns, (size_t)rows, P->analysis.order,
                             (size_t)rows, natural));
  TrsvCall(TrsvLaunch(inverse_product, (unsigned)v->groups, 32, 0, NULL, InverseView(v), v->reach, columns, natural));
  if (totals->measures.row_max - 1 > CHUNK_ITEMS)
    P->analysis.order = NULL; /* chunk splits long rows, and then uses no order */
  else
    TrsvCall(TrsvDeviceSort(rows, TrsvBits(levels), s->word + (size_t)size * (size_t)rows, (unsigned *)s->rows, natural,
                            P->analysis.order));
  P->matrix          = v->T;
  P->matrix.diagonal = TRSV_DIAGONAL_UNIT;
  P->matrix.offsets  = v->begin;
  P->matrix.columns  = columns;
  P->analysis.memory = TRSV_DEVICE;
  totals->measures.entries = (int)totals->entries;
  totals->measures.levels  = (unsigned)levels;
  TrsvFillStatistics(&P->matrix, &totals->measures, &P->analysis.statistics);
  return TRSV_SUCCESS;
}

static TrsvError BeginFastest(TrsvPlan *plan, Inverse *v, const TrsvStatistics *plain, const int *source, double from,
                              double below)
{
  InverseProduct *const P = &v->unfinished;
  InverseSizes          s;
  double                seconds, least, least_before;
  int                   sizes = INVERSE_SIZES, sizes_before, best;

  TrsvCall(EstimateSolve(plain, plan->precision, &seconds));
  least = below * seconds;
  TrsvCall(s.searched.take(INVERSE_SIZES * (size_t)plain->rows, s.word));
  TrsvCall(TrsvDeviceBlockLevels(&v->T, INVERSE_GROUP, INVERSE_SIZES, s.word, s.levels));
  TrsvCall(ChooseSize(plain, plan->precision, &s, 0, &least, &sizes, &best));
  if (!sizes) return TRSV_SUCCESS;
  TrsvCall(TrsvInverseCount(v, plain->level_span, sizes, &s));
  sizes_before = sizes;
  least_before = from * seconds;
  TrsvCall(ChooseSize(plain, plan->precision, &s, 1, &least_before, &sizes_before, &best));
  if (best < INVERSE_SIZES) return TRSV_SUCCESS;
  TrsvCall(ChooseSize(plain, plan->precision, &s, 1, &least, &sizes, &best));
  if (best == INVERSE_SIZES) return TRSV_SUCCESS;
  TrsvCall(TrsvInverseMake(plan, v, &s, best, source));
  s.searched.release();
  s.counted.release();
  const TrsvPermutation places        = {NULL, v->to}; /* TrsvInverseMake sets v->to; D^-1 b is in row order */
  P->analysis.statistics.level_span   = plain->level_span; /* an approximation */
  P->analysis.statistics.late_per_row = (double)s.totals[best].late / plain->rows;
  return TrsvPlanBegin(&P->matrix, &P->analysis, NULL, (int)s.totals[best].entries, &places, &TrsvChunkPlain, 0,
                       &v->product);
}

TrsvError TrsvInverseBegin(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                           double from, double below, Inverse **inverse)
{
  Inverse *v;

  if (below <= from) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(sizeof(*v), inverse));
  v             = *inverse;
  v->T          = *A;
  v->T.analysis = NULL;
  v->entries    = TrsvStoredEntries(A, analysis);
  v->groups     = (A->rows + INVERSE_GROUP - 1) / INVERSE_GROUP;
  const TrsvError error = BeginFastest(plan, v, &analysis->statistics, source, from, below);
  if (error || !v->product) TrsvInverseDestroy(inverse);
  return error;
}
