/*
   factor_rows.cuh: one row of ILU(0) or IC(0), computed by a group of lanes; see factor_rows.cu.
*/
#ifndef TRSV_FACTOR_ROWS_CUH
#define TRSV_FACTOR_ROWS_CUH

#include <math.h>
#include "device/sync.cuh"
#include "factor/factor.h"

enum {
  FACTOR_BLOCK        = 128,     /* threads of a block */
  FACTOR_TERMS        = 6,       /* dependencies of a row that one thread handles, at most */
  FACTOR_NO_ROW       = INT_MIN, /* a group without a row */
  FACTOR_LANE_CHOICES = 4,       /* 4, 8, 16 or 32 lanes for each row */

  LANE_ENTRIES = 2,  /* entries of a row in the registers of one lane */
  AHEAD        = 4,  /* dependencies that a short row waits for at once; loads in flight of a long row */
  LANE_SUM_MAX = 32, /* entries of a row that one lane adds up, at most */
  MATCH_ROUNDS = 8,  /* S lanes read up to 8 S columns of a row of U; in a longer row of U each lane searches for the
                        columns of its entries */

  /* a row of a whole warp: */
  LANE_APPLY_MAX  = 4,   /* entries of a row of U that one lane applies, at most */
  STEP_CHUNKS     = 2,   /* 64 entries of a longer row of U are loaded before the wait, 32 at a time */
  STAR_ROW        = 512, /* rows with at least so many dependencies are checked for stars (long_eliminate_stars) */
  LANE_SEARCH_MAX = 16   /* entries of a row of U that one lane checks for others than the diagonal, at most */
};

template <class R> static TRSV_INLINE R trsv_conjugate(R v) { return v; }

/* The arguments of a launch: the factor, with types of values. */
template <class T> struct FactorView : TrsvFactor {
  const T  *a;
  T        *l, *u, *inverse, *work;
  TrsvShift shift;
  double    amount, zero; /* what INBLOCKS adds to a zero pivot; the largest magnitude of a zero pivot */
  T         diagonal;     /* added to the diagonal of A */

  FactorView(const TrsvFactor *f, const void *values, const TrsvPivots *p, double diagonal)
      : TrsvFactor(*f), a((const T *)values), l((T *)f->l), u((T *)f->u), inverse((T *)f->inverse),
        work((T *)f->work), shift(p->shift == TRSV_SHIFT_EXPECT_POSITIVE ? TRSV_SHIFT_POSITIVE_DEFINITE : p->shift),
        amount(p->amount), zero(p->zero), diagonal((T)diagonal)
  {
  }

  /* Whether the size of a zero pivot is relative to the other entries of its row. */
  TRSV_INLINE bool relative() const { return shift == TRSV_SHIFT_NONZERO || shift == TRSV_SHIFT_POSITIVE_DEFINITE; }

  /* The index in A of the diagonal of row i. */
  template <bool ICC> TRSV_INLINE int diagonal_at(int i) const
  {
    return ICC ? a_row_start[i] : l_offsets[i + 1] + u_offsets[i];
  }

  TRSV_INLINE T conjugate(T v) const { return hermitian ? trsv_conjugate(v) : v; }
  TRSV_INLINE T diagonal_of(T v) const { return hermitian ? T(trsv_real(v)) : v; }
};

/* factor_rows.cu: elimination row by row. */
template <class T> TrsvError FactorRows(const TrsvFactor *, const FactorView<T> &, TrsvStream);

/* The shared memory that limits the blocks on a multiprocessor to those of `level_sets` level sets, and to 8: enough
   blocks to hide the loads before a wait, and few that poll long before their dependencies are ready. */
static inline TrsvError FactorLimitBlocks(const TrsvFactor *f, double level_sets, const void *kernel, size_t *shared)
{
  const double most = 8;
  int          multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks =
    level_sets * f->statistics.level_mean * f->lanes_per_row / ((double)FACTOR_BLOCK * multiprocessors);
  return TrsvDeviceLimitBlocks(
    kernel, (int)(blocks < 1 ? 1 : blocks > most ? most : f->pivots ? blocks : ceil(blocks)), shared);
}

/* A row: its first entries in L and U, the number of its dependencies, and the entries that are computed: all of them,
   or for ICC those of U; entry number `diagonal` is its diagonal. */
template <class T, bool ICC> struct FactorRow {
  int row, l, u, dependencies, diagonal, length;

  FactorRow() = default;
  TRSV_INLINE FactorRow(const FactorView<T> &F, int row)
      : row(row), l(F.l_offsets[row]), u(F.u_offsets[row]), dependencies(F.l_offsets[row + 1] - l),
        diagonal(ICC ? 0 : dependencies), length(diagonal + F.u_offsets[row + 1] - u)
  {
  }

  TRSV_INLINE T value(const FactorView<T> &F, int entry) const
  {
    const T v = F.a[(ICC ? F.a_row_start[row] : l + u) + entry];

    return entry == diagonal ? v + F.diagonal : v;
  }

  TRSV_INLINE int column(const FactorView<T> &F, int entry) const
  {
    return entry < diagonal ? F.l_columns[l + entry] : F.u_columns[u + entry - diagonal];
  }
};

/* Checks the pivot of a row as PETSc's MatPivotCheck() does, given the sum of the magnitudes of the row's other
   entries. Stores the pivot in U, and publishes its reciprocal. */
template <class T>
static TRSV_INLINE void factor_pivot(const FactorView<T> &F, int row, int at, T pivot, TrsvReal<T> sum)
{
  pivot = F.diagonal_of(pivot);
  const bool   real = F.shift == TRSV_SHIFT_POSITIVE_DEFINITE;
  const double zero = F.relative() ? F.zero * (double)sum : F.zero,
               size = real ? (double)trsv_real(pivot) : trsv_magnitude<double>(pivot);

  if (size <= zero) { /* false for NaN */
    if (F.shift == TRSV_SHIFT_INBLOCKS) pivot += (T)F.amount;
    else atomicMin(&F.status->row, (unsigned)row);
  }
  F.u[at] = pivot; /* other rows read the reciprocal */
  (void)trsv_publish(F.inverse + row, 1 / pivot);
}

/* Adds to sum the magnitudes of a lane's entries [begin, end). If they are many, all lanes of the warp add them up. All
   lanes call this together. */
template <class S, class T> static TRSV_INLINE S factor_magnitudes(const T *a, int begin, int end, S sum)
{
  const int  lane = (int)(threadIdx.x % 32);
  const bool many = end - begin > LANE_SUM_MAX;

  for (int k = begin; !many && k < end; k++) sum += trsv_magnitude<S>(a[k]);
  for (unsigned left = __ballot_sync(0xffffffffu, many); left; left &= left - 1) {
    const int l = __ffs((int)left) - 1, from = __shfl_sync(0xffffffffu, begin, l),
              to   = __shfl_sync(0xffffffffu, end, l);
    S         part = 0;

    for (int k = from + lane; k < to; k += 32) part += trsv_magnitude<S>(a[k]);
    part = warp_sum(part);
    if (lane == l) sum += part;
  }
  return sum;
}

/* Waits for a word, unless v is ready, the value that was loaded before; NaN after the time limit. */
template <class T> static TRSV_INLINE T factor_wait(const FactorView<T> &F, const T *word, T v = trsv_not_ready<T>())
{
  if (trsv_is_ready(v)) return v;
  for (TrsvSpinLimit spin; !trsv_is_ready(v = trsv_load(word));)
    if (!spin.more(F.sync)) return trsv_nan<T>();
  return v;
}

/* The index of a column in the rising columns [low, high), or -1. */
static TRSV_INLINE int factor_search(const int *columns, int low, int high, int column)
{
  const int k = trsv_first(low, high, [&](int e) { return columns[e] >= column; });

  return k < high && columns[k] == column ? k : -1;
}

/* Element e of an array in registers; a variable index would move the array to local memory. */
template <class V> static TRSV_INLINE V factor_select(const V (&array)[LANE_ENTRIES], int e)
{
  V v = array[0];

#pragma unroll
  for (int n = 1; n < LANE_ENTRIES; n++) v = e == n ? array[n] : v;
  return v;
}

/* A row of at most S * LANE_ENTRIES entries and dependencies, computed by S lanes. Lane n has entries n, n + S, ... */
template <class T, int S, bool ICC> struct ShortRow {
  FactorRow<T, ICC> r;
  unsigned          mask;
  int               lane, base; /* the next dependency; those before it are eliminated */
  bool              waiting;    /* for dependencies base, base + 1, ... */
  bool              lost;       /* this wait exceeded its limit: values stay NOT_READY, a NaN */
  int               column[LANE_ENTRIES]; /* of the lane's entries */
  /* of its dependencies: the row, and its entries [from, to) of U that may match */
  int source[LANE_ENTRIES], from[LANE_ENTRIES], to[LANE_ENTRIES];
  /* of dependencies base, ...: the entry of U for each entry of the lane, or -1; the row, or -1 */
  int where[AHEAD][LANE_ENTRIES], owner[AHEAD];
  T   value[LANE_ENTRIES], got[AHEAD][LANE_ENTRIES], inverse[AHEAD];

  TRSV_INLINE void load(const FactorView<T> &F, int row)
  {
    r       = FactorRow<T, ICC>(F, row);
    base    = 0;
    waiting = false;
#pragma unroll
    for (int e = 0; e < LANE_ENTRIES; e++) {
      const int n = e * S + lane;

      column[e] = n < r.length ? r.column(F, n) : -2;
      value[e]  = n < r.length ? r.value(F, n) : 0;
      source[e] = n < r.dependencies ? ICC ? F.l_columns[r.l + n] : column[e] : 0;
      to[e]     = n < r.dependencies ? F.u_offsets[source[e] + 1] : 0;
      from[e]   = n < r.dependencies ? ICC ? F.l_source[r.l + n] : F.u_offsets[source[e]] + 1 : 0;
    }
  }

  /* Matches the S columns of U at `at` with the lane's entries. */
  TRSV_INLINE void match(int w, int at, int mine)
  {
#pragma unroll
    for (int n = 0; n < S; n++) {
      const int c = __shfl_sync(mask, mine, n, S);

#pragma unroll
      for (int e = 0; e < LANE_ENTRIES; e++)
        if (c == column[e]) where[w][e] = at + n;
    }
  }

  /* Finds the entries of U that the next AHEAD dependencies contribute, before the wait for any of them. */
  TRSV_INLINE void prepare(const FactorView<T> &F)
  {
    int begin[AHEAD], end[AHEAD], first[AHEAD];

#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
      const int d = base + w, e = d / S;

      owner[w] = __shfl_sync(mask, factor_select(source, e), d % S, S);
      begin[w] = __shfl_sync(mask, factor_select(from, e), d % S, S);
      end[w]   = __shfl_sync(mask, factor_select(to, e), d % S, S);
      if (d >= r.dependencies) owner[w] = -1, begin[w] = end[w] = 0;
      first[w] = begin[w] + lane < end[w] ? F.u_columns[begin[w] + lane] : -1;
    }
#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
#pragma unroll
      for (int e = 0; e < LANE_ENTRIES; e++) where[w][e] = -1;
      if (end[w] - begin[w] > MATCH_ROUNDS * S) { /* a search: many rows may depend on one long row */
#pragma unroll
        for (int e = 0; e < LANE_ENTRIES; e++) where[w][e] = factor_search(F.u_columns, begin[w], end[w], column[e]);
      } else {
        match(w, begin[w], first[w]);
        for (int at = begin[w] + S; at < end[w]; at += S)
          match(w, at, at + lane < end[w] ? F.u_columns[at + lane] : -1);
      }
      inverse[w] = owner[w] < 0 ? 0 : trsv_not_ready<T>();
#pragma unroll
      for (int e = 0; e < LANE_ENTRIES; e++) got[w][e] = where[w][e] < 0 ? 0 : trsv_not_ready<T>();
    }
    waiting = true;
    lost    = false;
  }

  /* Polls once for each value that is not ready; returns true if all are ready, or after the time limit. */
  TRSV_INLINE bool poll(const FactorView<T> &F, TrsvSpinLimit &spin)
  {
    bool ready = true;

#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
      if (!trsv_is_ready(inverse[w])) inverse[w] = trsv_load(F.inverse + owner[w]);
#pragma unroll
      for (int e = 0; e < LANE_ENTRIES; e++)
        if (!trsv_is_ready(got[w][e])) got[w][e] = trsv_load(F.u + where[w][e]);
    }
#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
      ready = ready && trsv_is_ready(inverse[w]);
#pragma unroll
      for (int e = 0; e < LANE_ENTRIES; e++) ready = ready && trsv_is_ready(got[w][e]);
    }
    lost = lost || (!ready && !spin.more(F.sync));
    return ready || lost;
  }

  /* Eliminates the next AHEAD dependencies, which are ready or lost, in the order of their columns. */
  TRSV_INLINE void eliminate(const FactorView<T> &F)
  {
#pragma unroll
    for (int w = 0; w < AHEAD && base + w < r.dependencies; w++) {
      const int d = base + w, e = d / S;
      const T   entry      = __shfl_sync(mask, ICC ? got[w][0] : factor_select(value, e), ICC ? 0 : d % S, S),
                factor     = ICC ? F.conjugate(entry) : entry;
      const T   multiplier = factor * inverse[w];

#pragma unroll
      for (int n = 0; n < LANE_ENTRIES; n++) {
        if (where[w][n] >= 0 && (ICC || factor != 0)) value[n] = fma(-multiplier, got[w][n], value[n]);
        if (!ICC && d == n * S + lane && factor != 0) value[n] = multiplier;
      }
      if (ICC && lane == 0) F.l[r.l + d] = multiplier;
    }
    base += AHEAD;
    waiting = false;
  }

  TRSV_INLINE void store(const FactorView<T> &F)
  {
    TrsvReal<T> sum = 0;

#pragma unroll
    for (int e = 0; e < LANE_ENTRIES; e++) {
      const int n = e * S + lane;

      if (n < r.diagonal) F.l[r.l + n] = value[e];
      if (n > r.diagonal && n < r.length) trsv_publish(F.u + r.u + n - r.diagonal, value[e]);
      if (n != r.diagonal && n < r.length) sum += trsv_magnitude<TrsvReal<T>>(value[e]);
    }
    if (F.relative()) /* else the sum is not used */
#pragma unroll
      for (int other = S / 2; other; other /= 2) sum += __shfl_xor_sync(mask, sum, other, S);
    if (lane == r.diagonal % S) factor_pivot(F, r.row, r.u, factor_select(value, r.diagonal / S), sum);
  }
};

#endif
