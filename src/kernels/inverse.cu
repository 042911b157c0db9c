/*
   inverse: for narrow factors: the rows of a triangle multiplied by the inverses of its small diagonal blocks, then `chunk`.

   A factor of a few rows a level set is a chain of hops, with most lanes idle. Cut into blocks of m <= 32 consecutive rows, with D its
   block diagonal, T x = b has the solution of (D^-1 T) x = D^-1 b: within a block nobody waits for anybody any more, so that the chain is up
   to m times shorter, and the entries that the product adds fill lanes that had nothing to do. D^-1 b is one multiplication, side by
   side for all rows.

   Source: partial inverses are those of Alvarado and Schreiber (SIAM J. Sci. Comput. 14, 1993), here of one factor, block-diagonal, with the
   rest of the matrix multiplied in.

   Stability: substitution is backward stable row by row; multiplying by an inverse is so up to the growth || |D^-1| |D| ||, the condition
   of the worst block (Higham, Accuracy and Stability of Numerical Algorithms, Section 14.2). It is computed with every set of
   values; where any block exceeds the limit, or is not finite, those values are solved by `chunk` without inverses.

   Mapping: positions in order of solution (row, or from the last row) in groups of 32, a warp each, a lane for each row; blocks never
   cross groups. Nobody waits here: the order between launches is all that is needed. Same bits: every sum has one order.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vocabulary.cuh"
#include "chunk.h"

enum {
  GROUP = 32,
  LAST  = 32, /* in a place: the column has no further entry in the group */
  WARPS = 4   /* groups of a block of threads in the multiplication */
};

static const float growth_limit = 100;

typedef struct {
  int       rows, groups, lower, stored, block; /* block: rows of a diagonal block; 1: none is inverted */
  int       entries;            /* of T, off the diagonal */
  TrsvPlan *product, *plain;    /* chunk's plans: of D^-1 T; of T, where that is what is solved or was needed once */
  int       use_plain;
  int      *offsets, *columns, *source; /* T, as analysed */
  int      *entry;              /* [entries] entries by group, column, row: where in T's columns */
  unsigned char *place;         /* [entries] of each: position in its group, LAST */
  int      *first;              /* [groups + 1] the first of each group */
  unsigned *reach;              /* [rows], by position: the positions of the group that its row of D^-1 has entries for */
  int      *begin, *width;      /* [rows + 1] offsets of D^-1 T; [groups + 1] of D^-1, in lanes of entries */
  void     *inverse, *values, *right; /* D^-1; values of D^-1 T; D^-1 b */
  unsigned *beyond;             /* rows whose growth is beyond the limit */
} Inverse;

/* What kernels see of it. */
struct InverseView {
  int                  rows, lower, stored, block;
  const int           *offsets, *columns, *source, *entry, *first, *begin, *width;
  const unsigned char *place;
  const unsigned      *reach;

  InverseView(const Inverse *v) : rows(v->rows), lower(v->lower), stored(v->stored), block(v->block), offsets(v->offsets), columns(v->columns), source(v->source), entry(v->entry), first(v->first), begin(v->begin), width(v->width), place(v->place), reach(v->reach) { }

  __device__ __forceinline__ int turn(int i) const { return lower ? i : rows - 1 - i; } /* from row to position, and back */

  /* The entries off the diagonal of a row are [*from, *to); returns where its diagonal is, or -1. */
  __device__ __forceinline__ int row(int i, int *from, int *to) const
  {
    *from = offsets[i], *to = offsets[i + 1];
    return !stored ? -1 : lower ? --*to : (*from)++;
  }
};

/* --- the pattern --- */

/* A warp for each row: its number for each of its entries. */
static __global__ void inverse_rows(const InverseView A, int *row)
{
  const int i = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);

  if (i >= A.rows) return;
  for (int k = A.offsets[i] + (int)(threadIdx.x % 32); k < A.offsets[i + 1]; k += 32) row[k] = i;
}

static __global__ void inverse_count_up(int n, int *to)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k < n) to[k] = k;
}

/* The group of each entry, in the order given; those on the diagonal are in none. */
static __global__ void inverse_groups(const InverseView A, int n, int groups, const int *order, const int *row, unsigned *group)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k < n) group[k] = (unsigned)(row[order[k]] == A.columns[order[k]] ? groups : A.turn(row[order[k]]) / GROUP);
}

/* The place of each sorted entry, and where groups start. */
static __global__ void inverse_places(const InverseView A, int n, int groups, const int *entry, const unsigned *group, const int *row, unsigned char *place, int *first)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k > n) return;
  const int now = k < n ? (int)group[k] : groups, before = k ? (int)group[k - 1] : -1;
  for (int g = before + 1; g <= now; g++) first[g] = k;
  if (k == n) return;
  const bool last = k + 1 == n || (int)group[k + 1] != now || A.columns[entry[k + 1]] != A.columns[entry[k]];
  place[k]        = (unsigned char)(A.turn(row[entry[k]]) % GROUP | (last ? LAST : 0));
}

/* A warp for each group: which rows of its block each row depends on, directly or not, itself included. */
static __global__ void inverse_reach(const InverseView A, unsigned *reach, int *width)
{
  const int p = (int)(blockIdx.x * GROUP + threadIdx.x);
  unsigned  direct = 0, all = 1u << threadIdx.x;

  if (p < A.rows) {
    int from, to;

    (void)A.row(A.turn(p), &from, &to);
    for (int k = from; k < to; k++) {
      const int q = A.turn(A.columns[k]);
      if (q / A.block == p / A.block) direct |= 1u << q % GROUP;
    }
  }
  for (int s = 0; s < GROUP; s++) { /* that of row s is complete by now */
    const unsigned other = __shfl_sync(~0u, all, s);
    if (direct >> s & 1) all |= other;
  }
  if (p < A.rows) reach[p] = all;
  int most = __popc(all);
  for (int d = 16; d; d /= 2) most = max(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x == 0) width[blockIdx.x] = most;
}

/* Goes through the columns of a group, and calls give(column, which rows have it) for each; add(position, entry) before that for each entry
   outside the diagonal block of its row. All lanes alike. */
template <class Add, class Give> static __device__ __forceinline__ void inverse_columns(const InverseView &A, int group, Add add, Give give)
{
  unsigned rows = 0;

  for (int k = A.first[group]; k < A.first[group + 1]; k++) {
    const int place = A.place[k], s = place % GROUP, column = A.columns[A.entry[k]];

    if (A.turn(column) / A.block != (group * GROUP + s) / A.block) {
      rows |= 1u << s;
      add(s, A.entry[k]);
    }
    if (place & LAST) {
      if (rows) give(column, rows);
      rows = 0;
    }
  }
}

/* A warp for each group: how many entries each row of D^-1 T has, or, where columns is not NULL, which. */
static __global__ void inverse_product(const InverseView A, int *counts, int *columns)
{
  const int p = (int)(blockIdx.x * GROUP + threadIdx.x), i = A.turn(p);

  const unsigned reach = p < A.rows ? A.reach[p] : 0;
  int            count = 0, *const to = columns && p < A.rows ? columns + A.begin[i] : NULL;

  inverse_columns(
    A, (int)blockIdx.x, [](int, int) { },
    [&](int column, unsigned rows) {
      if (!(rows & reach)) return;
      if (to) to[count] = column;
      count++;
    });
  if (counts && p < A.rows) counts[i] = count;
}

/* --- values --- */

/* A warp for each group: D, its inverse, the growth of both, the product. */
template <class T> static __global__ void inverse_values(const InverseView A, const T *from, float limit, T *inverse, T *values, unsigned *beyond)
{
  TRSV_SHARED(T, D, GROUP * (GROUP + 1));
  TRSV_SHARED(T, X, GROUP * (GROUP + 1));
  const int      lane = (int)threadIdx.x, group = (int)blockIdx.x, p = group * GROUP + lane, i = A.turn(p), stride = GROUP + 1;
  const unsigned reach = p < A.rows ? A.reach[p] : 0;

  const auto value = [&](int k) { return from[A.source ? A.source[k] : k]; };

  for (int s = 0; s < GROUP; s++) D[lane * stride + s] = s == lane;
  if (p < A.rows) {
    int       begin, end;
    const int diagonal = A.row(i, &begin, &end);

    if (diagonal >= 0) D[lane * stride + lane] = value(diagonal);
    for (int k = begin; k < end; k++) {
      const int q = A.turn(A.columns[k]);
      if (q / A.block == p / A.block) D[lane * stride + q % GROUP] = value(k);
    }
  }
  __syncwarp();

  /* column by column of the inverse, a lane each: D x = e */
  const int top = lane / A.block * A.block;
  for (int r = 0; r < GROUP; r++) {
    T x = r == lane;
    if (r >= lane && r < top + A.block) {
      for (int k = lane; k < r; k++) x = fma(-D[r * stride + k], X[k * stride + lane], x);
      x /= D[r * stride + r];
    } else x = 0;
    X[r * stride + lane] = x;
  }
  T sum = 0, growth = 0;
  for (int s = 0; s < GROUP; s++) sum += fabs(D[lane * stride + s]);
  __syncwarp();
  for (int s = 0; s < GROUP; s++) growth = fma(fabs(X[lane * stride + s]), __shfl_sync(~0u, sum, s), growth);
  const unsigned bad = __ballot_sync(~0u, !(growth <= limit));
  if (lane == 0 && bad) (void)atomicAdd(beyond, (unsigned)__popc(bad));

  T *const to = inverse + (size_t)A.width[group] * GROUP + lane;
  int      n  = 0, most = A.width[group + 1] - A.width[group];
  for (int s = 0; s < GROUP; s++)
    if (reach >> s & 1) to[GROUP * n++] = X[lane * stride + s];
  for (; n < most; n++) to[GROUP * n] = 0;

  T  entry = 0;
  T *out   = p < A.rows ? values + A.begin[i] : NULL;
  inverse_columns(
    A, group, [&](int s, int k) { entry = fma(X[lane * stride + s], value(k), entry); },
    [&](int, unsigned rows) {
      if (rows & reach) *out++ = entry;
      entry = 0;
    });
}

/* right = D^-1 b; a warp for each group. */
template <class T> static __global__ void __launch_bounds__(WARPS * 32) inverse_multiply(const InverseView A, int groups, const T *inverse, const T *b, T *right)
{
  const int lane = (int)(threadIdx.x % 32), group = (int)(blockIdx.x * WARPS + threadIdx.x / 32), p = group * GROUP + lane;

  if (group >= groups) return;
  trsv_wait_for_previous();
  trsv_let_next_start();
  const T  *from = inverse + (size_t)A.width[group] * GROUP + lane, mine = p < A.rows ? b[A.turn(p)] : 0;
  const int most = A.width[group + 1] - A.width[group];
  unsigned  left = p < A.rows ? A.reach[p] : 0;
  T         sum  = 0;

  for (int n = 0; n < most; n++, left &= left - 1) {
    const T other = __shfl_sync(~0u, mine, left ? __ffs((int)left) - 1 : lane);
    if (left) sum = fma(from[GROUP * n], other, sum);
  }
  if (p < A.rows) right[A.turn(p)] = sum;
}

/* --- set-up --- */

static unsigned Blocks(int n, int size) { return (unsigned)((n + size - 1) / size); }

static int Bits(int n)
{
  int bits = 1;

  while (bits < 31 && n >> bits) bits++;
  return bits;
}

static TrsvError Copy(const int *from, size_t count, int **to)
{
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * count, to));
  return TrsvDeviceCopy(*to, from, sizeof(int) * count, NULL);
}

/* The entries off the diagonal by group, column, row. */
static TrsvError SortEntries(Inverse *v, int stored, void *room[5])
{
  const size_t       n = (size_t)stored, bytes = sizeof(int) * n;
  const InverseView  A(v);
  int               *row, *order, *sorted;
  unsigned          *key, *group;

  for (int r = 0; r < 5; r++) TrsvCall(TrsvDeviceAlloc(bytes, &room[r]));
  row = (int *)room[0], order = (int *)room[1], sorted = (int *)room[2], key = (unsigned *)room[3], group = (unsigned *)room[4];
  TRSV_LAUNCH(inverse_rows, Blocks(v->rows, 8), 256, 0, (TrsvStream)NULL, A, row);
  TrsvCall(TrsvDeviceLaunched("inverse_rows"));
  TRSV_LAUNCH(inverse_count_up, Blocks(stored, 256), 256, 0, (TrsvStream)NULL, stored, order);
  TrsvCall(TrsvDeviceLaunched("inverse_count_up"));
  TrsvCall(TrsvDeviceSort(stored, Bits(v->rows), (const unsigned *)v->columns, key, order, sorted));
  TRSV_LAUNCH(inverse_groups, Blocks(stored, 256), 256, 0, (TrsvStream)NULL, A, stored, v->groups, sorted, row, key);
  TrsvCall(TrsvDeviceLaunched("inverse_groups"));
  TrsvCall(TrsvDeviceSort(stored, Bits(v->groups), key, group, sorted, v->entry));
  TRSV_LAUNCH(inverse_places, Blocks(v->entries + 1, 256), 256, 0, (TrsvStream)NULL, A, v->entries, v->groups, v->entry, group, row, v->place, v->first);
  return TrsvDeviceLaunched("inverse_places");
}

/* The pattern of D^-1 T for blocks of so many rows; the caller frees its columns, on errors too. */
static TrsvError Product(Inverse *v, int block, int *counts, TrsvMatrix *P)
{
  int entries;

  v->block    = block;
  P->diagonal = TRSV_DIAGONAL_UNIT;
  P->offsets  = v->begin;
  P->columns  = NULL;
  TRSV_LAUNCH(inverse_reach, (unsigned)v->groups, 32, 0, (TrsvStream)NULL, InverseView(v), v->reach, counts);
  TrsvCall(TrsvDeviceLaunched("inverse_reach"));
  TrsvCall(TrsvDeviceScan(v->groups, counts, v->width));
  TRSV_LAUNCH(inverse_product, (unsigned)v->groups, 32, 0, (TrsvStream)NULL, InverseView(v), counts, (int *)NULL);
  TrsvCall(TrsvDeviceLaunched("inverse_product"));
  TrsvCall(TrsvDeviceScan(v->rows, counts, v->begin));
  TrsvCall(TrsvEntries(P, &entries));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)entries, &P->columns));
  TRSV_LAUNCH(inverse_product, (unsigned)v->groups, 32, 0, (TrsvStream)NULL, InverseView(v), (int *)NULL, (int *)P->columns);
  return TrsvDeviceLaunched("inverse_product");
}

/* What a solve by `chunk` is taken to need: the chain of level sets at least, in ns; the price of a step by the length of records, as measured
   on an H200. */
static double Chain(const TrsvStatistics *s)
{
  return s->levels * (s->row_mean < 3.4 ? 58. : s->row_mean < 4.4 ? 75. : s->row_mean < 6.4 ? 92. : 130.);
}

/* The block size whose product is solved fastest, if any is faster than T itself by more than what a launch costs. */
static TrsvError ChooseBlock(Inverse *v, const TrsvMatrix *A, const TrsvAnalysis *plain, int *counts, int *best)
{
  double least, chain = Chain(&plain->statistics);

  *best = 1;
  TrsvCall(TrsvChunkPredict(A, plain, &least));
  least -= 2e-6;
  for (int block = 32; block >= 4; block /= 2) {
    TrsvMatrix    P        = *A;
    TrsvAnalysis *analysis = NULL;
    double        seconds  = 1;
    TrsvError     error;

    error = Product(v, block, counts, &P);
    if (!error) error = TrsvAnalyse(&P, &analysis);
    if (!error && Chain(&analysis->statistics) < 0.8 * chain) error = TrsvChunkPredict(&P, analysis, &seconds);
    if (!error && seconds > 0 && seconds < least) least = seconds, *best = block;
    TrsvAnalysisDestroy(&analysis);
    TrsvDeviceFree((void *)P.columns);
    TrsvCall(error);
  }
  return TRSV_SUCCESS;
}

/* The plan of D^-1 T, and room for its values. */
static TrsvError MakeProduct(TrsvPlan *plan, Inverse *v, const TrsvMatrix *A, int *counts)
{
  const size_t  size     = TrsvValueSize(plan->precision);
  TrsvMatrix    P        = *A;
  TrsvAnalysis *analysis = NULL;
  int           entries = 0, lanes = 0;
  TrsvError     error;

  error = Product(v, v->block, counts, &P);
  if (!error) error = TrsvAnalyse(&P, &analysis);
  if (!error) error = TrsvEntries(&P, &entries);
  if (!error) error = TrsvPlanCreate(&P, analysis, NULL, entries, &TrsvChunk, &v->product);
  TrsvAnalysisDestroy(&analysis);
  TrsvDeviceFree((void *)P.columns);
  TrsvCall(error);
  TrsvCall(TrsvDeviceDownload(&lanes, v->width + v->groups, sizeof(int), NULL));
  TrsvCall(TrsvDeviceAlloc(size * GROUP * (size_t)lanes, &v->inverse));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)entries, &v->values));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)v->rows, &v->right));
  TrsvCall(TrsvDeviceAlloc(sizeof(unsigned), &v->beyond));
  plan->bytes += TrsvPlanBytes(v->product) + size * (GROUP * (size_t)lanes + (size_t)entries + (size_t)v->rows);
  return TRSV_SUCCESS;
}

/* chunk's plan of T itself. */
static TrsvError MakePlain(TrsvPlan *plan, Inverse *v)
{
  TrsvMatrix    A = {v->rows, v->offsets, v->columns, v->lower ? TRSV_LOWER : TRSV_UPPER, v->stored ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT, plan->precision, TRSV_DEVICE};
  TrsvAnalysis *analysis;
  TrsvError     error;

  TrsvCall(TrsvAnalyse(&A, &analysis));
  error = TrsvPlanCreate(&A, analysis, v->source, plan->values, &TrsvChunk, &v->plain);
  TrsvAnalysisDestroy(&analysis);
  TrsvCall(error);
  plan->bytes += TrsvPlanBytes(v->plain);
  return TRSV_SUCCESS;
}

static const double narrow = 100; /* rows a level set: with more, lanes have other things to do */

static TrsvError Prepare(TrsvPlan *plan, Inverse *v, const TrsvMatrix *A, const TrsvAnalysis *analysis, int entries)
{
  void     *room[5] = {NULL, NULL, NULL, NULL, NULL};
  int      *counts  = NULL, block = 1;
  TrsvError error   = TrsvDeviceAlloc((size_t)v->entries, &v->place);

  if (!error) error = TrsvDeviceAlloc(sizeof(int) * (size_t)entries, &v->entry);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * ((size_t)v->groups + 1), &v->first);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * ((size_t)v->groups + 1), &v->width);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * ((size_t)v->rows + 1), &v->begin);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * (size_t)v->rows, &v->reach);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * (size_t)v->rows, &counts);
  plan->bytes += 5 * (size_t)v->entries + sizeof(int) * (2 * (size_t)v->groups + 2 * (size_t)v->rows);
  if (!error) error = SortEntries(v, entries, room);
  if (!error) error = ChooseBlock(v, A, analysis, counts, &block);
  v->block = block;
  if (!error && block > 1) error = MakeProduct(plan, v, A, counts);
  TrsvDeviceFree(counts);
  for (int r = 0; r < 5; r++) TrsvDeviceFree(room[r]);
  return error;
}

static void FreePattern(Inverse *v)
{
  void *const all[] = {v->offsets, v->columns, v->source, v->entry, v->place, v->first, v->reach, v->begin, v->width};

  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) TrsvDeviceFree(all[i]);
  v->offsets = v->columns = v->source = v->entry = v->first = v->begin = v->width = NULL;
  v->place = NULL;
  v->reach = NULL;
}

static TrsvError InverseAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  Inverse *v;
  int      entries;

  TrsvCall(TrsvEntries(A, &entries));
  TrsvCall(TrsvAlloc(sizeof(*v), &plan->data));
  v          = (Inverse *)memset(plan->data, 0, sizeof(*v));
  v->rows    = A->rows;
  v->groups  = (int)Blocks(A->rows, GROUP);
  v->lower   = A->triangle == TRSV_LOWER;
  v->stored  = A->diagonal == TRSV_DIAGONAL_STORED;
  v->entries = entries - (v->stored ? A->rows : 0);
  v->block   = 1;
  TrsvCall(Copy(A->offsets, (size_t)A->rows + 1, &v->offsets));
  TrsvCall(Copy(A->columns, (size_t)entries, &v->columns));
  if (source) TrsvCall(Copy(source, (size_t)entries, &v->source));
  plan->bytes = sizeof(int) * ((size_t)A->rows + 1 + (size_t)entries * (source ? 2 : 1));
  if (v->entries && analysis->statistics.level_mean <= narrow) TrsvCall(Prepare(plan, v, A, analysis, entries));
  v->use_plain = v->block == 1;
  if (!v->use_plain) return TRSV_SUCCESS;
  TrsvCall(MakePlain(plan, v)); /* all there will be */
  FreePattern(v);
  plan->bytes = TrsvPlanBytes(v->plain);
  return TRSV_SUCCESS;
}

template <class T> static TrsvError Multiply(Inverse *v, bool early, const void *b, TrsvStream stream)
{
  TRSV_LAUNCH_EARLY(inverse_multiply<T>, early, 1, Blocks(v->groups, WARPS), WARPS * 32, 0, stream, InverseView(v), v->groups, (const T *)v->inverse, (const T *)b, (T *)v->right);
  return TrsvDeviceLaunched("inverse_multiply");
}

template <class T> static TrsvError Values(Inverse *v, const void *values, TrsvStream stream)
{
  TRSV_LAUNCH(inverse_values<T>, (unsigned)v->groups, 32, 0, stream, InverseView(v), (const T *)values, growth_limit, (T *)v->inverse, (T *)v->values, v->beyond);
  return TrsvDeviceLaunched("inverse_values");
}

static TrsvError InverseSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Inverse *v      = (Inverse *)plan->data;
  unsigned beyond = 0;

  if (v->block > 1) {
    TrsvCall(TrsvDeviceUpload(v->beyond, &beyond, sizeof(beyond), stream));
    TrsvCall(plan->precision == TRSV_FLOAT ? Values<float>(v, values, stream) : Values<double>(v, values, stream));
    TrsvCall(TrsvDeviceDownload(&beyond, v->beyond, sizeof(beyond), stream));
    if (!beyond) TrsvCall(TrsvPlanSetValues(v->product, v->values, TRSV_DEVICE, stream));
  }
  if (v->block == 1 || beyond) {
    if (!v->plain) TrsvCall(MakePlain(plan, v));
    TrsvCall(TrsvPlanSetValues(v->plain, values, TRSV_DEVICE, stream));
  }
  v->use_plain = v->block == 1 || beyond;
  return TRSV_SUCCESS;
}

static TrsvError InverseSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Inverse *v = (Inverse *)plan->data;

  if (v->use_plain) return TrsvPlanSolve(v->plain, b, x, stream);
  TrsvCall(plan->precision == TRSV_FLOAT ? Multiply<float>(v, !plan->fresh, b, stream) : Multiply<double>(v, !plan->fresh, b, stream));
  return TrsvPlanSolve(v->product, v->right, x, stream);
}

static void InverseDestroy(TrsvPlan *plan)
{
  Inverse *v = (Inverse *)plan->data;

  if (!v) return;
  TrsvPlanDestroy(&v->product);
  TrsvPlanDestroy(&v->plain);
  FreePattern(v);
  TrsvDeviceFree(v->inverse);
  TrsvDeviceFree(v->values);
  TrsvDeviceFree(v->right);
  TrsvDeviceFree(v->beyond);
  free(v);
}

/* Two launches; a chain that is the shorter the narrower level sets are, at a price a level set that is chunk's. Never for wide factors. */
static double InversePredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 2e-6 * c->launch, start = 10e-6 * c->launch;

  return s->level_mean <= narrow ? launch + start + (TrsvChunk.predict(c, s, precision) - start) / (1 + 11 * pow(s->level_mean, -0.9)) : 1;
}

static void InverseDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  const Inverse *v = (const Inverse *)plan->data;
  int            n = snprintf(line, size, "blocks of %d, ", v->use_plain ? 1 : v->block);

  if (n > 0 && (size_t)n < size) TrsvChunk.describe(v->use_plain ? v->plain : v->product, line + n, size - (size_t)n);
}

const TrsvAlgorithm TrsvInverse = {"inverse", "this project: inverted diagonal blocks, then chunk; after Alvarado and Schreiber (1993)", TRSV_DEVICE, TRSV_DEVICE, InverseAnalyse, InverseSetValues, InverseSolve, InverseDestroy, InversePredict, 1, InverseDescribe};
