/*
   The pattern of the algorithm `inverse`: which entries the inverses of the diagonal blocks have, which their product with the triangle, and
   how large the blocks are to be.

   The entries of the triangle are sorted by group of 32 positions, then column, once; whatever the block size, a warp goes through those of
   its group in this order, a lane for each row. Nobody waits for anybody.
*/
#include <stdlib.h>
#include "inverse.cuh"
#include "chunk.h"

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

  if (k < n) group[k] = (unsigned)(row[order[k]] == A.columns[order[k]] ? groups : A.turn(row[order[k]]) / INVERSE_GROUP);
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
  place[k]        = (unsigned char)(A.turn(row[entry[k]]) % INVERSE_GROUP | (last ? INVERSE_LAST : 0));
}

/* A warp for each group: which rows of its block each row depends on, directly or not, itself included. */
static __global__ void inverse_reach(const InverseView A, unsigned *reach, int *width)
{
  const int p = (int)(blockIdx.x * INVERSE_GROUP + threadIdx.x);
  unsigned  direct = 0, all = 1u << threadIdx.x;

  if (p < A.rows) {
    int from, to;

    (void)A.row(A.turn(p), &from, &to);
    for (int k = from; k < to; k++) {
      const int q = A.turn(A.columns[k]);
      if (q / A.block == p / A.block) direct |= 1u << q % INVERSE_GROUP;
    }
  }
  for (int s = 0; s < INVERSE_GROUP; s++) { /* that of row s is complete by now */
    const unsigned other = __shfl_sync(~0u, all, s);
    if (direct >> s & 1) all |= other;
  }
  if (p < A.rows) reach[p] = all;
  int most = __popc(all);
  for (int d = 16; d; d /= 2) most = max(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x == 0) width[blockIdx.x] = most;
}

/* A warp for each group: how many entries each row of D^-1 T has, or, where columns is not NULL, which. */
static __global__ void inverse_product(const InverseView A, int *counts, int *columns)
{
  const int p = (int)(blockIdx.x * INVERSE_GROUP + threadIdx.x), i = A.turn(p);

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

static unsigned Blocks(int n, int size) { return (unsigned)((n + size - 1) / size); }

static int Bits(int n)
{
  int bits = 1;

  while (bits < 31 && n >> bits) bits++;
  return bits;
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

/* The block size whose product is solved fastest, if any is faster than T itself by more than what a launch costs. Where a smaller block is
   slower than the one before, smaller ones yet would be, too. */
static TrsvError ChooseBlock(Inverse *v, const TrsvMatrix *A, const TrsvAnalysis *plain, int *counts, int *best)
{
  const double chain = Chain(&plain->statistics);
  double       least, before = 1;

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
    if (!error && seconds < least) least = seconds, *best = block;
    TrsvAnalysisDestroy(&analysis);
    TrsvDeviceFree((void *)P.columns);
    TrsvCall(error);
    if (seconds > before) break;
    before = seconds;
  }
  return TRSV_SUCCESS;
}

/* The plan of D^-1 T, and room for its values. */
static TrsvError MakeProduct(TrsvPlan *plan, Inverse *v, const TrsvMatrix *A, int *counts)
{
  const size_t  size     = TrsvValueSize(plan->precision);
  const TrsvPlaces places = {NULL, v->to}; /* D^-1 b is in the order of the rows */
  TrsvMatrix    P        = *A;
  TrsvAnalysis *analysis = NULL;
  int           entries = 0, lanes = 0;
  TrsvError     error;

  error = Product(v, v->block, counts, &P);
  if (!error) error = TrsvAnalyse(&P, &analysis);
  if (!error) error = TrsvEntries(&P, &entries);
  if (!error) error = TrsvPlanCreateRanked(&P, analysis, NULL, entries, &places, &TrsvChunk, 0, &v->product);
  TrsvAnalysisDestroy(&analysis);
  TrsvDeviceFree((void *)P.columns);
  TrsvCall(error);
  TrsvCall(TrsvDeviceDownload(&lanes, v->width + v->groups, sizeof(int), NULL));
  TrsvCall(TrsvDeviceAlloc(size * INVERSE_GROUP * (size_t)lanes, &v->inverse));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)entries, &v->values));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)v->rows, &v->right));
  TrsvCall(TrsvDeviceAlloc(sizeof(unsigned), &v->beyond));
  plan->bytes += TrsvPlanBytes(v->product) + size * (INVERSE_GROUP * (size_t)lanes + (size_t)entries + (size_t)v->rows);
  return TRSV_SUCCESS;
}

TrsvError TrsvInversePattern(TrsvPlan *plan, Inverse *v, const TrsvMatrix *A, const TrsvAnalysis *analysis)
{
  void     *room[5] = {NULL, NULL, NULL, NULL, NULL};
  int      *counts  = NULL, block = 1;
  const int entries = v->entries + (v->stored ? v->rows : 0);
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
