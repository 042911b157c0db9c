/*
   The values of ILU(0) or IC(0) where only the pivots depend on each other: grids of 5 or 7 points, trees, all graphs
   without triangles, of at most six dependencies a row.

   Source: what the elimination by rows (Saad, Iterative Methods for Sparse Linear Systems, 2003, Algorithm 10.4) comes
   to where no row of U that is taken off a row has an entry in common with it but on the diagonal: U is the upper
   triangle of A but for its pivots d_i = a_ii - sum over k of (a_ik / d_k) a_ki, and L follows from them. With at most
   six terms in a sum a thread does a row, as in thread.cu. Where there is a plan of the algorithm chunk for L, its
   launch finds them inside the multiprocessors, in a third of the time where level sets are many, and what comes of it
   is checked: a matrix with zero pivots, or whose products are beyond the range of numbers, is done by the launch of
   this file after all.

   Mapping: the block of ticket t finds the pivots of positions t * blockDim.x onwards of L's level order, thread by
   thread; then, in a launch of its own, L and U are filled in, a block for so many rows. By a plan, a thread for each
   row makes what it is given, and another checks what comes. Memory order: the reciprocal of a pivot is handed over in
   one word that is its own flag; nothing else crosses threads (sync.cuh), but for offsets and pairs of rows at a
   block's barriers, and sums of long rows by shuffles. Why it ends: as in thread.cu: a row waits for smaller positions
   only; those of other blocks have started, and the threads of a warp take turns, each of which polls once and writes
   if it can. By induction on the position every wait ends; spin bounds it. Same bits: a row's terms are taken off in
   the order of their columns, or in that of the plan's records.
*/
#include <float.h>
#include <limits.h>
#include "factor/factor_rows.cuh"
#include "analysis/triangle_view.cuh"

enum {
  WIDTH   = FACTOR_TERMS,
  PAIRS   = (int)WIDTH * (int)ROWS_BLOCK, /* of a row and one that it depends on, in a block */
  MEETING = 128                           /* entries of a row that a thread looks for in another */
};

/* Row i, and row k of U, on which it depends: entries of either that may be in columns of the other. */
struct Meeting {
  int i, l, l_count, u, count; /* its own: those of L, and U's behind them; how many */
  int begin, end;              /* row k's */

  __device__ __forceinline__ Meeting(int i, int k, bool icc, const int *l_offsets, const int *u_offsets)
      : i(i), l(icc ? l_offsets[i + 1] : l_offsets[i]), l_count(l_offsets[i + 1] - l), u(u_offsets[i] + 1),
        count(l_count + u_offsets[i + 1] - u), begin(u_offsets[k] + 1), end(u_offsets[k + 1])
  {
  }

  __device__ __forceinline__ int shorter() const { return min(count, end - begin); }
};

/* Is there any such pair of rows? Any entry of L without one mirror_offset the diagonal? */
struct Meetings {
  unsigned met, alone;
};

/* Is there a column that both have, i's own apart? Entries first, first + step, ... of the shorter one are looked for
   in the other: a row that all depend on would else be gone through by each of them. */
static __device__ bool pivots_meet(const Meeting m, const int *l_columns, const int *u_columns, int first, int step)
{
  for (int t = first; t < m.shorter(); t += step) {
    if (m.end - m.begin <= m.count) {
      const int column = u_columns[m.begin + t];

      if (column != m.i && (column < m.i ? factor_search(l_columns, m.l, m.l + m.l_count, column)
                                         : factor_search(u_columns, m.u, m.u + m.count - m.l_count, column)) >= 0)
        return true;
    } else if (factor_search(u_columns, m.begin, m.end,
                             t < m.l_count ? l_columns[m.l + t] : u_columns[m.u + t - m.l_count]) >= 0)
      return true;
  }
  return false;
}

/* Does any row meet one that it depends on? A thread for each row; where both rows are long, all of the block look for
   what they have in common. Where mirror_offset is not NULL: what each entry of L has mirror_offset the diagonal, or
   that one has nothing there, or too far from it. */
static __global__ void pivots_meetings(int n, bool icc, const int *l_offsets, const int *l_columns,
                                       const int *u_offsets, const int *u_columns, unsigned char *mirror_offset,
                                       Meetings *found)
{
  TRSV_SHARED(int, later, PAIRS); /* where both are long: the row; the one it depends on */
  TRSV_SHARED(int, earlier, PAIRS);
  TRSV_SHARED(int, pairs, 1);
  const int i    = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  bool      meet = false, alone = false;

  if (threadIdx.x == 0) pairs[0] = 0;
  __syncthreads();
  for (int k = i < n ? l_offsets[i] : 0, end = i < n ? l_offsets[i + 1] : 0; k < end; k++) {
    const Meeting m(i, l_columns[k], icc, l_offsets, u_offsets);
    const int     at = mirror_offset ? factor_search(u_columns, m.begin, m.end, i) - (m.begin - 1) : 0;

    if (mirror_offset && at > 0 && at <= UCHAR_MAX) mirror_offset[k] = (unsigned char)at;
    else if (mirror_offset) alone = true;
    if (m.shorter() > MEETING) {
      const int pair = atomicAdd(&pairs[0], 1);

      later[pair]   = i;
      earlier[pair] = l_columns[k];
    } else meet = pivots_meet(m, l_columns, u_columns, 0, 1) || meet;
  }
  __syncthreads();
  for (int pair = 0, all = pairs[0]; pair < all; pair++)
    meet = pivots_meet(Meeting(later[pair], earlier[pair], icc, l_offsets, u_offsets), l_columns, u_columns,
                       (int)threadIdx.x, ROWS_BLOCK) ||
           meet;
  if (meet) atomicMax(&found->met, 1u);
  if (alone) atomicMax(&found->alone, 1u);
}

/* Where in A the entry of row j, on which row i depends by entry k of L, in i's column stands; -1 where it has none. */
template <class T, bool ICC> static __device__ __forceinline__ int pivots_theirs(const FactorView<T> &F,
                                                                                 const unsigned char *mirror_offset,
                                                                                 int i, int j, int k)
{
  if (ICC) return F.start[j] + F.l_source[k] - F.u_offsets[j];
  if (mirror_offset) return F.l_offsets[j + 1] + F.u_offsets[j] + mirror_offset[k];
  const int at = factor_search(F.u_columns, F.u_offsets[j] + 1, F.u_offsets[j + 1], i);
  return at < 0 ? -1 : at + F.l_offsets[j + 1];
}

template <class T, bool ICC> static __global__ void __launch_bounds__(FACTOR_BLOCK)
  pivots_find(const FactorView<T> F, const unsigned char *mirror_offset, int rows)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(F.sync, &start[1]);
  __syncthreads();
  const int    p     = (int)(start[0] * FACTOR_BLOCK + threadIdx.x);
  bool         done  = p >= rows;
  const int     i = done ? 0 : F.slot[p], begin = F.l_offsets[i], end = done ? begin : F.l_offsets[i + 1],
                u = F.u_offsets[i], diagonal = ICC ? F.start[i] : u + F.l_offsets[i + 1];
  int          needs[WIDTH];
  unsigned     met = 0; /* which of the rows it depends on have an entry in its column */
  T            mine[WIDTH], theirs[WIDTH], inverse[WIDTH], pivot = F.a[diagonal] + F.diagonal, sum = 0;
  TrsvSpinLimit spin;

#pragma unroll
  for (int t = 0; t < WIDTH; t++) needs[t] = begin + t < end ? F.l_columns[begin + t] : -1;
#pragma unroll
  for (int t = 0; t < WIDTH; t++) {
    const int at = needs[t] < 0 ? -1 : pivots_theirs<T, ICC>(F, mirror_offset, i, needs[t], begin + t);

    if (at >= 0) met |= 1u << t;
    theirs[t]  = at < 0 ? 0 : F.a[at];
    mine[t]    = needs[t] < 0 ? 0 : ICC ? theirs[t] : F.a[u + begin + t];
    inverse[t] = needs[t] < 0 ? 0 : trsv_not_ready<T>();
  }
  if (F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE)
    sum = factor_magnitudes(F.a, diagonal + 1, done ? 0 : diagonal + F.u_offsets[i + 1] - u, sum);
  do {
    if (!done) {
#pragma unroll
      for (int t = 0; t < WIDTH; t++)
        if (!trsv_is_ready(inverse[t])) inverse[t] = trsv_load(F.inverse + needs[t]);
      done = true;
#pragma unroll
      for (int t = 0; t < WIDTH; t++) done = done && trsv_is_ready(inverse[t]);
      if (!done && !spin.more(F.sync)) {
        pivot = trsv_nan<T>();
        done  = true;
#pragma unroll
        for (int t = 0; t < WIDTH; t++) inverse[t] = 0;
      }
      if (done) {
#pragma unroll
        for (int t = 0; t < WIDTH; t++) {
          const T multiplier = ICC || mine[t] != 0 ? mine[t] * inverse[t] : 0;

          if (met >> t & 1 && (ICC || mine[t] != 0)) pivot = fma(-multiplier, theirs[t], pivot);
          if (!ICC) sum += fabs(multiplier);
        }
        (void)factor_pivot(F, i, u, F.inverse + i, pivot, sum);
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

/* The reciprocals y of the pivots obey y_i = 1 / (a_ii - sum over k of (a_ik a_ki) y_k), a recurrence with L's pattern,
   and so a plan for L can find them (chunk.h). These are its values, to L, and its right-hand side, to the start of U:
   a thread for each row. A product that is not a normal number is told. */
template <class T, bool ICC> static __global__ void __launch_bounds__(ROWS_BLOCK)
  pivots_terms(const FactorView<T> F, const unsigned char *mirror_offset, int rows)
{
  const T     least = (T)(sizeof(T) == sizeof(float) ? FLT_MIN : DBL_MIN),
              most  = (T)(sizeof(T) == sizeof(float) ? FLT_MAX : DBL_MAX);
  const int   i     = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  bool        fit   = true;

  if (i >= rows) return;
  const int begin = F.l_offsets[i], end = F.l_offsets[i + 1], u = F.u_offsets[i];
  F.u[i] = F.a[ICC ? F.start[i] : u + end] + F.diagonal; /* F.l may be in U, behind these */
  for (int k = begin; k < end; k++) {
    const int j = F.l_columns[k], at = pivots_theirs<T, ICC>(F, mirror_offset, i, j, k);
    const T   theirs = at < 0 ? 0 : F.a[at], mine = ICC ? theirs : F.a[u + k];
    const T   term = mine == 0 || theirs == 0 ? 0 : mine * theirs;

    fit    = fit && (mine == 0 || theirs == 0 || (fabs(term) >= least && fabs(term) <= most));
    F.l[k] = term;
  }
  if (!fit) atomicMin(&F.status->row, (unsigned)i);
}

/* The pivots, of which L has the reciprocals: a thread for each row. One that differs from what it comes to by more
   than rounding of its terms, or counts as zero, is told: such a matrix is for pivots_find. U will take the
   reciprocal's own, not what it comes to: where terms cancel out, these two may differ by much of the pivot, and L U
   would differ from A by as much of an entry; so it does by rounding of the terms on the diagonal alone. Infinite
   terms, and those that are too small to be told from nothing, fail. */
template <class T, bool ICC> static __global__ void __launch_bounds__(ROWS_BLOCK)
  pivots_check(const FactorView<T> F, int rows)
{
  const T    tolerance = 32 * (T)(sizeof(T) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON);
  const int  i         = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  const bool there     = i < rows;
  const int  begin = there ? F.l_offsets[i] : 0, end = there ? F.l_offsets[i + 1] : 0, u = there ? F.u_offsets[i] : 0,
             length   = there ? F.u_offsets[i + 1] - u : 1;
  const int  diagonal = !there ? 0 : ICC ? F.start[i] : u + end;
  const bool relative = F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE;
  T          pivot = there ? F.a[diagonal] + F.diagonal : 1, size = fabs(pivot), sum = 0;

  if (relative) sum = factor_magnitudes(F.a, diagonal + 1, diagonal + length, sum);
  if (!there) return;
  for (int k = begin; k < end; k++) {
    const T inverse = F.inverse[F.l_columns[k]], part = F.l[k] * inverse;

    pivot -= part;
    size += fabs(part);
    if (!ICC) sum += fabs(F.a[u + k] * inverse);
  }
  const T found = 1 / F.inverse[i], counted = F.shift == TRSV_SHIFT_POSITIVE_DEFINITE ? found : fabs(found);
  if (!(fabs(pivot - found) < tolerance * size) || (double)counted <= (relative ? F.zero * (double)sum : F.zero))
    atomicMin(&F.status->row, (unsigned)i);
}

/* What is filled in by a launch: L; U but for its pivots; these, of which there are the reciprocals. */
enum {
  FILL_LOWER  = 1,
  FILL_UPPER  = 2,
  FILL_PIVOTS = 4
};

/* A block has ROWS_BLOCK rows: of L a thread each, since these are short; U's entries are gone through side by side. No
   thread waits for another. */
template <class T, bool ICC> static __global__ void __launch_bounds__(ROWS_BLOCK)
  pivots_fill(const FactorView<T> F, int rows, int what)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, from, ROWS_BLOCK); /* where in A an entry of U stands, less where in U it does */
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK,
            count = rows_load(F.u_offsets, rows, first, start), i = first + t;

  if (t < count) {
    const int l_end = F.l_offsets[i + 1];

    from[t] = ICC ? F.start[i] - start[t] : l_end;
    for (int k = what & FILL_LOWER ? F.l_offsets[i] : l_end; k < l_end; k++) {
      const int j = F.l_columns[k];
      const T   a = F.a[ICC ? F.start[j] + F.l_source[k] - F.u_offsets[j] : start[t] + k];

      F.l[k] = ICC || a != 0 ? a * F.inverse[j] : a;
    }
  }
  if (!(what & FILL_UPPER)) return;
  __syncthreads();
  rows_each(start, count, [&](int m, int k) {
    if (k > start[m]) F.u[k] = F.a[k + from[m]];
    else if (what & FILL_PIVOTS) F.u[k] = 1 / F.inverse[first + m];
  });
}

extern "C" TrsvError TrsvFactorPivotsCheck(TrsvFactor *f)
{
  const unsigned  grid    = TrsvBlocks(f->rows, ROWS_BLOCK);
  Meetings *const meetings = (Meetings *)f->status;
  Meetings        found;

  static_assert(sizeof(Meetings) <= sizeof(FactorStatus), "there is room for them");
  if (f->statistics.row_max > WIDTH + 1 || TrsvFactorForcedLanes) return TRSV_SUCCESS;
  if (f->kind == TRSV_ILU && f->upper - f->rows == f->lower)
    TrsvCall(TrsvDeviceAlloc((size_t)f->lower, &f->mirror_offset));
  TrsvCall(TrsvDeviceClear(meetings, sizeof(found), NULL));
  TRSV_LAUNCH(pivots_meetings, grid, ROWS_BLOCK, 0, (TrsvStream)NULL, f->rows, f->kind == TRSV_ICC,
              (const int *)f->l_offsets, (const int *)f->l_columns, (const int *)f->u_offsets,
              (const int *)f->u_columns, f->mirror_offset, meetings);
  TrsvCall(TrsvDeviceCheckLaunch("pivots_meetings"));
  TrsvCall(TrsvDeviceDownload(&found, meetings, sizeof(found), NULL));
  if (found.met || found.alone) {
    TrsvDeviceFree(f->mirror_offset);
    f->mirror_offset = NULL;
  }
  if (found.met) return TRSV_SUCCESS;
  if (f->mirror_offset) f->bytes += (size_t)f->lower;
  f->pivots = 1;
  f->lanes_per_row  = 1;
  f->groups  = f->rows;
  return TRSV_SUCCESS;
}

/* As in thread.cu: enough level sets in flight to hide the loads before a wait, and no more polls than L2 bears. */
static TrsvError Blocks(const TrsvFactor *f, int *limit)
{
  static const double level_sets_ahead = 16, blocks_at_most = 8;
  int                 multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks = level_sets_ahead * f->statistics.level_mean / ((double)FACTOR_BLOCK * multiprocessors);
  *limit              = blocks < 1 ? 1 : blocks > blocks_at_most ? (int)blocks_at_most : (int)blocks;
  return TRSV_SUCCESS;
}

template <class T, bool ICC> static TrsvError Fill(const FactorView<T> &F, int rows, int what, TrsvStream stream)
{
  TRSV_LAUNCH((pivots_fill<T, ICC>), TrsvBlocks(rows, ROWS_BLOCK), ROWS_BLOCK, 0, stream, F, rows, what);
  return TrsvDeviceCheckLaunch("pivots_fill");
}

template <class T, bool ICC> static TrsvError Find(const TrsvFactor *f, const FactorView<T> &F, TrsvStream stream)
{
  auto   find = pivots_find<T, ICC>;
  int    limit;
  size_t shared;

  TrsvCall(Blocks(f, &limit));
  TrsvCall(TrsvDeviceLimitBlocks((const void *)find, limit, &shared));
  TRSV_LAUNCH(find, TrsvBlocks(f->rows, FACTOR_BLOCK), FACTOR_BLOCK, shared, stream, F,
              (const unsigned char *)f->mirror_offset, f->rows);
  TrsvCall(TrsvDeviceCheckLaunch("pivots_find"));
  return Fill<T, ICC>(F, f->rows, FILL_LOWER | FILL_UPPER, stream);
}

/* L's values go to the plan, and stay in the factor where it has room for them: else they make way for U's. */
template <class T, bool ICC> static TrsvError FindByPlan(TrsvFactor *f, TrsvPlan *lower, FactorView<T> F,
                                                         TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(f->rows, ROWS_BLOCK);

  if (!f->l) F.l = F.u + f->rows;
  TRSV_LAUNCH((pivots_terms<T, ICC>), grid, ROWS_BLOCK, 0, stream, F, (const unsigned char *)f->mirror_offset, f->rows);
  TrsvCall(TrsvDeviceCheckLaunch("pivots_terms"));
  TrsvCall(TrsvPlanSetValues(lower, F.l, TRSV_DEVICE, stream));
  lower->filled = 0; /* with what the pivots are made of, not with L */
  TrsvCall(TrsvPlanReciprocals(lower, f->u, f->inverse, stream));
  TRSV_LAUNCH((pivots_check<T, ICC>), grid, ROWS_BLOCK, 0, stream, F, f->rows);
  TrsvCall(TrsvDeviceCheckLaunch("pivots_check"));
  if (f->l) return Fill<T, ICC>(F, f->rows, FILL_LOWER | FILL_UPPER | FILL_PIVOTS, stream);
  TrsvCall(Fill<T, ICC>(F, f->rows, FILL_LOWER, stream));
  TrsvCall(TrsvPlanSetValues(lower, F.l, TRSV_DEVICE, stream));
  return Fill<T, ICC>(F, f->rows, FILL_UPPER | FILL_PIVOTS, stream);
}

template <class T> static TrsvError Launch(TrsvFactor *f, TrsvPlan *lower, const void *values, const FactorShift *shift,
                                           TrsvStream stream)
{
  const FactorView<T> F(f, values, shift);

  if (f->kind == TRSV_ICC) return lower ? FindByPlan<T, true>(f, lower, F, stream) : Find<T, true>(f, F, stream);
  return lower ? FindByPlan<T, false>(f, lower, F, stream) : Find<T, false>(f, F, stream);
}

extern "C" TrsvError TrsvFactorPivots(TrsvFactor *f, TrsvPlan *lower, const void *values, const FactorShift *shift,
                                      TrsvStream stream)
{
  return f->precision == TRSV_FLOAT ? Launch<float>(f, lower, values, shift, stream)
                                    : Launch<double>(f, lower, values, shift, stream);
}
