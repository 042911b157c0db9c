/*
   The pattern of the algorithm `inverse`: which entries the inverses of the diagonal blocks have, which their product with the triangle, and
   how large the blocks are to be.

   The entries of the triangle are sorted by group of 32 positions, then column, once; whatever the block size, a warp goes through those of
   its group in this order, a lane for each row. Nobody waits for anybody.
*/
#include "inverse.cuh"
#include "chunk.h"
#include "pattern.cuh"

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
static __global__ void inverse_reach(const InverseView A, unsigned *reach, int *count)
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
  int sum = p < A.rows ? __popc(all) : 0;
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) count[blockIdx.x] = sum;
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
static TrsvError SortEntries(Inverse *v, int stored, int *room)
{
  const size_t      n = (size_t)stored;
  const InverseView A(v);
  int *const        row = room, *const order = row + n, *const sorted = order + n;
  unsigned *const   key = (unsigned *)(sorted + n), *const group = key + n;

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

/* How many entries D^-1 T has, in each row (v->begin) and at all, for blocks of so many rows. */
static TrsvError Product(Inverse *v, int block, int *counts, TrsvMatrix *P, int *entries)
{
  v->block    = block;
  P->diagonal = TRSV_DIAGONAL_UNIT;
  P->offsets  = v->begin;
  P->columns  = NULL;
  TRSV_LAUNCH(inverse_reach, (unsigned)v->groups, 32, 0, (TrsvStream)NULL, InverseView(v), v->reach, counts);
  TrsvCall(TrsvDeviceLaunched("inverse_reach"));
  TrsvCall(TrsvDeviceScan(v->groups, counts, v->start));
  TRSV_LAUNCH(inverse_product, (unsigned)v->groups, 32, 0, (TrsvStream)NULL, InverseView(v), counts, (int *)NULL);
  TrsvCall(TrsvDeviceLaunched("inverse_product"));
  TrsvCall(TrsvDeviceScan(v->rows, counts, v->begin));
  return TrsvEntries(P, entries);
}

/* And which; the caller releases the columns, on errors too. */
static TrsvError Columns(Inverse *v, TrsvMatrix *P, int entries)
{
  int *columns;

  TrsvCall(TrsvDeviceRoom(sizeof(int) * (size_t)entries, &columns, NULL));
  P->columns = columns;
  TRSV_LAUNCH(inverse_product, (unsigned)v->groups, 32, 0, (TrsvStream)NULL, InverseView(v), (int *)NULL, columns);
  return TrsvDeviceLaunched("inverse_product");
}

/* What a solve with D^-1 T is expected to take, with so many level sets and entries. Its rows depend on many rows that get ready together, so that
   partial sums cannot begin early: the longer rows are, the more steps a level set takes. */
static TrsvError Estimate(const TrsvStatistics *plain, int levels, long nnz, double *seconds)
{
  const double   launch = 2e-6, late = 0.06;
  TrsvStatistics s = *plain;

  s.row_mean   = (double)nnz / s.rows;
  s.levels     = (int)(levels * (1 + late * s.row_mean));
  s.level_mean = (double)s.rows / s.levels;
  s.nnz        = nnz;
  s.row_max    = s.row_max > 14 ? s.row_max : 14; /* rows get longer */
  TrsvCall(TrsvChunkEstimate(&s, seconds));
  *seconds += launch;
  return TRSV_SUCCESS;
}

/* The level sets of D^-1 T, without making it. */
static TrsvError Levels(const TrsvMatrix *A, int block, int *levels)
{
  unsigned *word;

  TrsvCall(TrsvDeviceRoom(sizeof(unsigned) * (size_t)A->rows, &word, NULL));
  const TrsvError error = TrsvDeviceBlockLevels(A, block, word, levels);
  TrsvDeviceUnstage(word, NULL);
  return error;
}

TrsvError TrsvInverseHope(const TrsvMatrix *A, const TrsvStatistics *plain, double *least, int *levels, int *hope)
{
  double seconds;

  TrsvCall(TrsvChunkEstimate(plain, least));
  TrsvCall(Levels(A, INVERSE_GROUP, levels));
  TrsvCall(Estimate(plain, *levels, plain->nnz, &seconds));
  *hope = seconds < *least;
  return TRSV_SUCCESS;
}

/* The block size whose product is solved fastest, 1 if none is faster than T itself. Smaller blocks have more level sets, but fewer entries;
   the product is made only where the level sets alone do not rule it out. */
static TrsvError ChooseBlock(Inverse *v, const TrsvMatrix *A, const TrsvStatistics *plain, double least, int levels, int *counts, int *best)
{
  *best = 1;
  for (int block = INVERSE_GROUP; block >= 8; block /= 2) {
    TrsvMatrix P = *A;
    double     seconds;
    int        entries;

    if (block < INVERSE_GROUP) TrsvCall(Levels(A, block, &levels));
    TrsvCall(Estimate(plain, levels, plain->nnz, &seconds));
    if (seconds >= least) break;
    TrsvCall(Product(v, block, counts, &P, &entries));
    TrsvCall(Estimate(plain, levels, (long)entries + plain->rows, &seconds));
    if (seconds < least) least = seconds, *best = block;
  }
  return TRSV_SUCCESS;
}

/* The plan of D^-1 T. */
static TrsvError MakeProduct(TrsvPlan *plan, Inverse *v, const TrsvMatrix *A, int *counts)
{
  const size_t  size     = TrsvValueSize(plan->precision);
  const TrsvPlaces places = {NULL, v->to}; /* D^-1 b is in the order of the rows */
  TrsvMatrix    P        = *A;
  TrsvAnalysis *analysis = NULL;
  int           entries = 0, inverse = 0;
  TrsvError     error;

  error = Product(v, v->block, counts, &P, &entries);
  if (!error) error = Columns(v, &P, entries);
  if (!error) error = TrsvAnalyse(&P, &analysis);
  if (!error) error = TrsvPlanCreatePlaced(&P, analysis, NULL, entries, &places, &TrsvChunk, NULL, &v->product);
  TrsvAnalysisDestroy(&analysis);
  TrsvDeviceUnstage((void *)P.columns, NULL);
  TrsvCall(error);
  TrsvCall(TrsvDeviceDownload(&inverse, v->start + v->groups, sizeof(int), NULL));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)inverse, &v->inverse));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)v->rows, &v->right));
  TrsvCall(TrsvDeviceAlloc(sizeof(unsigned), &v->beyond));
  plan->bytes += TrsvPlanBytes(v->product) + size * ((size_t)inverse + (size_t)v->rows);
  return TRSV_SUCCESS;
}

TrsvError TrsvInversePattern(TrsvPlan *plan, Inverse *v, const TrsvMatrix *A, const TrsvStatistics *plain, double least, int levels)
{
  int      *room = NULL, *counts = NULL, block = 1;
  const int entries = v->entries + (v->stored ? v->rows : 0);
  TrsvError error   = TrsvDeviceAlloc((size_t)v->entries, &v->place);

  if (!error) error = TrsvDeviceAlloc(sizeof(int) * (size_t)entries, &v->entry);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * ((size_t)v->groups + 1), &v->first);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * ((size_t)v->groups + 1), &v->start);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * ((size_t)v->rows + 1), &v->begin);
  if (!error) error = TrsvDeviceAlloc(sizeof(int) * (size_t)v->rows, &v->reach);
  if (!error) error = TrsvDeviceRoom(sizeof(int) * (size_t)v->rows, &counts, NULL);
  plan->bytes += 5 * (size_t)v->entries + sizeof(int) * (2 * (size_t)v->groups + 2 * (size_t)v->rows);
  if (!error) error = TrsvDeviceRoom(5 * sizeof(int) * (size_t)entries, &room, NULL);
  if (!error) error = SortEntries(v, entries, room);
  TrsvDeviceUnstage(room, NULL);
  if (!error) error = ChooseBlock(v, A, plain, least, levels, counts, &block);
  v->block = block;
  if (!error && block > 1) error = MakeProduct(plan, v, A, counts);
  TrsvDeviceUnstage(counts, NULL);
  return error;
}
