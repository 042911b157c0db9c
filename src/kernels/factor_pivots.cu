/*
   The values of ILU(0) or IC(0) where only the pivots depend on each other: grids of 5 or 7 points, trees, all graphs without triangles.

   Source: what the elimination by rows (Saad, Iterative Methods for Sparse Linear Systems, 2003, Algorithm 10.4) comes to where no row
   of U that is taken off a row has an entry in common with it but on the diagonal: U is the upper triangle of A but for its pivots
   d_i = a_ii - sum over k of (a_ik / d_k) a_ki, and L follows from them. With at most four terms in a sum a thread does a row, as in thread.cu.

   Mapping: the block of ticket t finds the pivots of positions t * blockDim.x onwards of L's level order, thread by thread; then, in a launch
   of its own, L and U are filled in, a block for so many rows.
   Memory order: the reciprocal of a pivot is handed over in one word that is its own flag; nothing else crosses threads (vocabulary.cuh), but for
   offsets and pairs of rows at a block's barriers, and sums of long rows by shuffles.
   Why it ends: as in thread.cu: a row waits for smaller positions only; those of other blocks have started, and the threads of a warp take
   turns, each of which polls once and writes if it can. By induction on the position every wait ends; patience bounds it.
   Same bits: a row's terms are taken off in the order of their columns.
*/
#include "factor_rows.cuh"
#include "pattern.cuh"

enum {
  WIDTH   = FACTOR_TERMS,
  PAIRS   = (int)WIDTH * (int)ROWS_BLOCK, /* of a row and one that it depends on, in a block */
  MEETING = 128                           /* entries of a row that a thread looks for in another */
};

struct alignas(16) Four {
  int v[WIDTH];
};

/* A row, by position: itself, where in A its first entry and its diagonal stand, and where in U its pivot does; the positions it depends on, -1
   for none; where in A their entries in its column stand, -1 where they have none. */
struct Record {
  Four self, needs, theirs;
};

/* Row i, and row k of U, on which it depends: entries of either that may be in columns of the other. */
struct Meeting {
  int i, l, l_count, u, count; /* its own: those of L, and U's behind them; how many */
  int begin, end;              /* row k's */

  __device__ __forceinline__ Meeting(int i, int k, bool icc, const int *l_offsets, const int *u_offsets) : i(i), l(icc ? l_offsets[i + 1] : l_offsets[i]), l_count(l_offsets[i + 1] - l), u(u_offsets[i] + 1), count(l_count + u_offsets[i + 1] - u), begin(u_offsets[k] + 1), end(u_offsets[k + 1]) { }

  __device__ __forceinline__ int shorter() const { return min(count, end - begin); }
};

/* Is there a column that both have, i's own apart? Entries first, first + step, ... of the shorter one are looked for in the other: a row that all
   depend on would else be gone through by each of them. */
static __device__ bool pivots_meet(const Meeting m, const int *l_columns, const int *u_columns, int first, int step)
{
  for (int t = first; t < m.shorter(); t += step) {
    if (m.end - m.begin <= m.count) {
      const int column = u_columns[m.begin + t];

      if (column != m.i && (column < m.i ? factor_search(l_columns, m.l, m.l + m.l_count, column) : factor_search(u_columns, m.u, m.u + m.count - m.l_count, column)) >= 0) return true;
    } else if (factor_search(u_columns, m.begin, m.end, t < m.l_count ? l_columns[m.l + t] : u_columns[m.u + t - m.l_count]) >= 0) return true;
  }
  return false;
}

static __global__ void pivots_position(int n, const int *order, int *position)
{
  const int p = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (p < n) position[order[p]] = p;
}

/* A thread for each position; where both rows are long, all of the block look for what they have in common. */
static __global__ void pivots_record(int n, bool icc, const int *order, const int *position, const int *l_offsets, const int *l_columns, const int *u_offsets, const int *u_columns, const int *start, Record *records, unsigned *met)
{
  TRSV_SHARED(int, later, PAIRS); /* where both are long: the row; the one it depends on */
  TRSV_SHARED(int, earlier, PAIRS);
  TRSV_SHARED(int, pairs, 1);
  const int p = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  bool      meet = false;

  if (threadIdx.x == 0) pairs[0] = 0;
  __syncthreads();
  if (p < n) {
    const int i = order[p], l = l_offsets[i], terms = l_offsets[i + 1] - l;
    Record    r;

    r.self.v[0] = i;
    r.self.v[1] = icc ? start[i] : l + u_offsets[i];
    r.self.v[2] = r.self.v[1] + (icc ? 0 : terms);
    r.self.v[3] = u_offsets[i];
#pragma unroll
    for (int t = 0; t < WIDTH; t++) {
      const int k  = t < terms ? l_columns[l + t] : -1;
      int       at = -1;

      if (k >= 0) {
        const Meeting m(i, k, icc, l_offsets, u_offsets);

        at = factor_search(u_columns, m.begin, m.end, i);
        if (m.shorter() > MEETING) {
          const int pair = atomicAdd(&pairs[0], 1);

          later[pair]   = i;
          earlier[pair] = k;
        } else meet = pivots_meet(m, l_columns, u_columns, 0, 1) || meet;
      }
      r.needs.v[t]  = k < 0 ? -1 : position[k];
      r.theirs.v[t] = at < 0 ? -1 : at + (icc ? start[k] - u_offsets[k] : l_offsets[k + 1]);
    }
    records[p] = r;
  }
  __syncthreads();
  for (int pair = 0, all = pairs[0]; pair < all; pair++) meet = pivots_meet(Meeting(later[pair], earlier[pair], icc, l_offsets, u_offsets), l_columns, u_columns, (int)threadIdx.x, ROWS_BLOCK) || meet;
  if (meet) atomicMax(met, 1u);
}

template <class T, bool ICC> static __global__ void __launch_bounds__(FACTOR_BLOCK) pivots_find(const FactorView<T> F, int rows, const Record *records)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(F.sync, &start[1]);
  __syncthreads();
  const int    p    = (int)(start[0] * FACTOR_BLOCK + threadIdx.x);
  bool         done = p >= rows;
  const Record r    = done ? Record() : records[p];
  T            mine[WIDTH], theirs[WIDTH], inverse[WIDTH], pivot = done ? 0 : F.a[r.self.v[2]] + F.diagonal, sum = 0;
  TrsvPatience patience;

#pragma unroll
  for (int t = 0; t < WIDTH; t++) {
    const bool there = !done && r.needs.v[t] >= 0;

    theirs[t]  = there && r.theirs.v[t] >= 0 ? F.a[r.theirs.v[t]] : 0;
    mine[t]    = !there ? 0 : ICC ? theirs[t] : F.a[r.self.v[1] + t];
    inverse[t] = there ? trsv_not_ready<T>() : 0;
  }
  if (F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE) {
    const int begin = done ? 0 : r.self.v[2] + 1;

    sum = factor_magnitudes(F.a, begin, done ? 0 : begin - 1 + F.u_offsets[r.self.v[0] + 1] - r.self.v[3], sum);
  }
  do {
    if (!done) {
#pragma unroll
      for (int t = 0; t < WIDTH; t++)
        if (!trsv_is_ready(inverse[t])) inverse[t] = trsv_load(F.work + r.needs.v[t]);
      done = true;
#pragma unroll
      for (int t = 0; t < WIDTH; t++) done = done && trsv_is_ready(inverse[t]);
      if (!done && !patience.more(F.sync)) {
        pivot = trsv_nan<T>();
        done  = true;
#pragma unroll
        for (int t = 0; t < WIDTH; t++) inverse[t] = 0;
      }
      if (done) {
#pragma unroll
        for (int t = 0; t < WIDTH; t++) {
          const T multiplier = ICC || mine[t] != 0 ? mine[t] * inverse[t] : 0;

          if (r.theirs.v[t] >= 0 && r.needs.v[t] >= 0 && (ICC || mine[t] != 0)) pivot = fma(-multiplier, theirs[t], pivot);
          if (!ICC) sum += fabs(multiplier);
        }
        F.inverse[r.self.v[0]] = factor_pivot(F, r.self.v[0], r.self.v[3], F.work + p, pivot, sum);
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

/* A block has ROWS_BLOCK rows: of L a thread each, since these are short; U's entries are gone through side by side. No thread waits for another. */
template <class T, bool ICC> static __global__ void __launch_bounds__(ROWS_BLOCK) pivots_fill(const FactorView<T> F, int rows)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, from, ROWS_BLOCK); /* where in A an entry of U stands, less where in U it does */
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, count = rows_load(F.u_offsets, rows, first, start), i = first + t;

  if (t < count) {
    const int l_end = F.l_offsets[i + 1];

    from[t] = ICC ? F.start[i] - start[t] : l_end;
    for (int k = F.l_offsets[i]; k < l_end; k++) {
      const int j = F.l_columns[k];
      const T   a = F.a[ICC ? F.start[j] + F.l_source[k] - F.u_offsets[j] : start[t] + k];

      F.l[k] = ICC || a != 0 ? a * F.inverse[j] : a;
    }
  }
  __syncthreads();
  rows_each(start, count, [&](int m, int k) {
    if (k > start[m]) F.u[k] = F.a[k + from[m]];
  });
}

/* Makes the records; met: is there a row that does not fit them? */
static TrsvError Records(TrsvFactor *f, const int *order, int *position, unsigned *met)
{
  const unsigned grid = (unsigned)((f->rows + ROWS_BLOCK - 1) / ROWS_BLOCK), none = 0;

  TrsvCall(TrsvDeviceUpload(&f->status->row, &none, sizeof(none), NULL));
  TRSV_LAUNCH(pivots_position, grid, ROWS_BLOCK, 0, (TrsvStream)NULL, f->rows, order, position);
  TrsvCall(TrsvDeviceLaunched("pivots_position"));
  TRSV_LAUNCH(pivots_record, grid, ROWS_BLOCK, 0, (TrsvStream)NULL, f->rows, f->kind == TRSV_ICC, order, (const int *)position, (const int *)f->l_offsets, (const int *)f->l_columns, (const int *)f->u_offsets, (const int *)f->u_columns, (const int *)f->start, (Record *)f->records, &f->status->row);
  TrsvCall(TrsvDeviceLaunched("pivots_record"));
  return TrsvDeviceDownload(met, &f->status->row, sizeof(*met), NULL);
}

extern "C" TrsvError TrsvFactorPivotsPlan(TrsvFactor *f, const int *order)
{
  const size_t rows = (size_t)f->rows, bytes = sizeof(Record) * rows;
  int         *position;
  unsigned     met;
  TrsvError    error;

  if (f->statistics.row_max > WIDTH + 1 || TrsvFactorForcedLanes) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(bytes, &f->records));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * rows, &position));
  error = Records(f, order, position, &met);
  TrsvDeviceFree(position);
  if (error) return error;
  if (met) {
    TrsvDeviceFree(f->records);
    f->records = NULL;
    return TRSV_SUCCESS;
  }
  f->lanes = 1;
  f->slots = f->rows;
  f->bytes += bytes;
  return TRSV_SUCCESS;
}

/* As in thread.cu: enough level sets in flight to hide the loads before a wait, and no more polls than L2 bears. */
static TrsvError Blocks(const TrsvFactor *f, int *limit)
{
  static const double level_sets_ahead = 16, blocks_at_most = 4;
  int                 multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks = level_sets_ahead * f->statistics.level_mean / ((double)FACTOR_BLOCK * multiprocessors);
  *limit              = blocks < 1 ? 1 : blocks > blocks_at_most ? (int)blocks_at_most : (int)blocks;
  return TRSV_SUCCESS;
}

template <class T, bool ICC> static TrsvError Launch(const TrsvFactor *f, const FactorView<T> &F, int limit, TrsvStream stream)
{
  auto   find = pivots_find<T, ICC>;
  auto   fill = pivots_fill<T, ICC>;
  size_t shared;

  TrsvCall(TrsvDeviceLimitBlocks((const void *)find, limit, &shared));
  TRSV_LAUNCH(find, (unsigned)((f->rows + FACTOR_BLOCK - 1) / FACTOR_BLOCK), FACTOR_BLOCK, shared, stream, F, f->rows, (const Record *)f->records);
  TrsvCall(TrsvDeviceLaunched("pivots_find"));
  TRSV_LAUNCH(fill, (unsigned)((f->rows + ROWS_BLOCK - 1) / ROWS_BLOCK), ROWS_BLOCK, 0, stream, F, f->rows);
  return TrsvDeviceLaunched("pivots_fill");
}

extern "C" TrsvError TrsvFactorPivots(TrsvFactor *f, const void *values, const FactorShift *shift, TrsvStream stream)
{
  const bool icc = f->kind == TRSV_ICC;
  int        limit;

  TrsvCall(Blocks(f, &limit));

  if (f->precision == TRSV_FLOAT) {
    const FactorView<float> F(f, values, shift);
    return icc ? Launch<float, true>(f, F, limit, stream) : Launch<float, false>(f, F, limit, stream);
  }
  const FactorView<double> F(f, values, shift);
  return icc ? Launch<double, true>(f, F, limit, stream) : Launch<double, false>(f, F, limit, stream);
}
