/*
   factor_rows.cuh: how one row of ILU(0) or IC(0) is made; see factor_rows.cu.
*/
#ifndef TRSV_FACTOR_ROWS_CUH
#define TRSV_FACTOR_ROWS_CUH

#include <math.h>
#include "device/sync.cuh"
#include "factor/factor.h"

enum {
  OWN   = FACTOR_OWN,
  AHEAD = 4, /* dependencies that a short row waits for at once */
  FEW   = 4, /* entries of a row of U that a lane of a long row applies by itself */
  ALONE = 32, /* entries of a row that a lane sums up by itself */
  MANY = 512, /* dependencies of a very long row */
  STAR = 16, /* entries of a row of U that it looks through for others than the diagonal's */
  CHUNKS = 2, /* of 32 entries of a longer one that are looked up before they are waited for */
  ROUNDS = 8 /* in which the lanes of a short row go through a row of U; in a longer one they look for their entries */
};

/* What a launch gets. */
template <class T> struct FactorView {
  int           slots;
  const int    *slot, *working, *l_offsets, *l_columns, *u_offsets, *u_columns, *l_source, *start;
  const T      *a;
  T            *l, *u, *inverse, *work;
  FactorStatus *status;
  TrsvShift     shift;
  double        amount, zero; /* of a pivot: what INBLOCKS adds, and what counts as zero */
  T             diagonal;     /* added to the diagonal of A */
  TrsvSync      sync;

  FactorView(const TrsvFactor *f, const void *values, const FactorShift *p)
      : slots(f->groups), slot(f->row_of_group), working(f->work_offset), l_offsets(f->l_offsets),
        l_columns(f->l_columns), u_offsets(f->u_offsets), u_columns(f->u_columns), l_source(f->l_source),
        start(f->a_row_start), a((const T *)values), l((T *)f->l), u((T *)f->u), inverse((T *)f->inverse),
        work((T *)f->work), status(f->status), shift(p->shift), amount(p->amount), zero(p->zero),
        diagonal((T)p->diagonal), sync(f->sync)
  {
  }
};

/* The elimination row by row: factor_rows.cu. */
template <class T> TrsvError FactorRows(const TrsvFactor *, const void *values, const FactorShift *, TrsvStream);

/* A row: its entries in L and in U, and those that it makes: all of them, or with ICC those in U. Its diagonal is
   number `diagonal` of these. */
struct FactorRow {
  int row, l, u, dependencies, diagonal, length;
};

template <class T, bool ICC> static __device__ __forceinline__ FactorRow factor_row(const FactorView<T> &F, int row)
{
  FactorRow r;

  r.row          = row;
  r.l            = F.l_offsets[row];
  r.u            = F.u_offsets[row];
  r.dependencies = F.l_offsets[row + 1] - r.l;
  r.diagonal     = ICC ? 0 : r.dependencies;
  r.length       = r.diagonal + F.u_offsets[row + 1] - r.u;
  return r;
}

template <class T, bool ICC> static __device__ __forceinline__ T factor_value(const FactorView<T> &F,
                                                                              const FactorRow &r, int entry)
{
  const T v = F.a[(ICC ? F.start[r.row] : r.l + r.u) + entry];

  return entry == r.diagonal ? v + F.diagonal : v;
}

template <class T> static __device__ __forceinline__ int factor_column(const FactorView<T> &F, const FactorRow &r,
                                                                       int entry)
{
  return entry < r.diagonal ? F.l_columns[r.l + entry] : F.u_columns[r.u + entry - r.diagonal];
}

/* The row's pivot, which goes to a place in U, as PETSc's MatPivotCheck() has it, given the sum of the magnitudes of
   its other entries. Hands over its reciprocal in a word, and returns it. */
template <class T> static __device__ __forceinline__ T factor_pivot(const FactorView<T> &F, int row, int at, T *word,
                                                                    T pivot, T sum)
{
  const bool   relative = F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE;
  const double zero     = relative ? F.zero * (double)sum : F.zero,
               size     = F.shift == TRSV_SHIFT_POSITIVE_DEFINITE ? (double)pivot : fabs((double)pivot);

  if (size <= zero) { /* never so where one is NaN */
    if (F.shift == TRSV_SHIFT_INBLOCKS) {
      pivot += (T)F.amount;
      atomicAdd(&F.status->shifted, 1u);
    } else atomicMin(&F.status->row, (unsigned)row);
  }
  F.u[at] = pivot; /* others take the reciprocal */
  return trsv_publish(word, 1 / pivot);
}

/* sum, and to it the magnitudes of a lane's entries [begin, end): by itself, or, where they are many, by all lanes of
   the warp, who call this together. */
template <class S, class T> static __device__ __forceinline__ S factor_magnitudes(const T *a, int begin, int end, S sum)
{
  const int  lane = (int)(threadIdx.x % 32);
  const bool many = end - begin > ALONE;

  for (int k = begin; !many && k < end; k++) sum += fabs((S)a[k]);
  for (unsigned left = __ballot_sync(0xffffffffu, many); left; left &= left - 1) {
    const int l = __ffs((int)left) - 1, from = __shfl_sync(0xffffffffu, begin, l),
              to   = __shfl_sync(0xffffffffu, end, l);
    S         part = 0;

    for (int k = from + lane; k < to; k += 32) part += fabs((S)a[k]);
    part = warp_sum(part);
    if (lane == l) sum += part;
  }
  return sum;
}

/* Waits for a word. */
template <class T> static __device__ __forceinline__ T factor_wait(const FactorView<T> &F, const T *word)
{
  TrsvSpinLimit spin;
  T             v;

  while (!trsv_is_ready(v = trsv_load(word)))
    if (!spin.more(F.sync)) return trsv_nan<T>();
  return v;
}

/* Where in [low, high) of columns that rise one stands; -1 where it does not. */
static __device__ __forceinline__ int factor_search(const int *columns, int low, int high, int column)
{
  while (low < high) {
    const int middle = low + (high - low) / 2, c = columns[middle];

    if (c == column) return middle;
    if (c < column) low = middle + 1;
    else high = middle;
  }
  return -1;
}

/* Element e of an array that stays in registers. */
template <class V> static __device__ __forceinline__ V factor_pick(const V (&array)[OWN], int e)
{
  V v = array[0];

#pragma unroll
  for (int n = 1; n < OWN; n++) v = e == n ? array[n] : v;
  return v;
}

/* A row of at most S * OWN entries and dependencies, by the S lanes of `mask`: lane n has entries n, n + S, ... */
template <class T, int S, bool ICC> struct ShortRow {
  FactorRow r;
  unsigned  mask;
  int       lane, base; /* the next dependency; those before are done */
  bool      waiting;    /* for the dependencies from base on */
  int       column[OWN], from[OWN], to[OWN],
    source[OWN]; /* of the entries; of the dependencies: the rows of U, and where they are needed */
  int       where[AHEAD][OWN], owner[AHEAD]; /* in U: what entries need of dependencies base, ...; the rows they are */
  T         value[OWN], got[AHEAD][OWN], inverse[AHEAD];

  __device__ __forceinline__ void start(const FactorView<T> &F, int row)
  {
    r       = factor_row<T, ICC>(F, row);
    base    = 0;
    waiting = false;
#pragma unroll
    for (int e = 0; e < OWN; e++) {
      const int n = e * S + lane;

      column[e] = n < r.length ? factor_column(F, r, n) : -2;
      value[e]  = n < r.length ? factor_value<T, ICC>(F, r, n) : 0;
      source[e] = n < r.dependencies ? ICC ? F.l_columns[r.l + n] : column[e] : 0;
      to[e]     = n < r.dependencies ? F.u_offsets[source[e] + 1] : 0;
      from[e]   = n < r.dependencies ? ICC ? F.l_source[r.l + n] : F.u_offsets[source[e]] + 1 : 0;
    }
  }

  /* Which entries do S columns of U that stand at `at` belong to? */
  __device__ __forceinline__ void match(int w, int at, int mine)
  {
#pragma unroll
    for (int n = 0; n < S; n++) {
      const int c = __shfl_sync(mask, mine, n, S);

#pragma unroll
      for (int e = 0; e < OWN; e++)
        if (c == column[e]) where[w][e] = at + n;
    }
  }

  /* Finds out what the next dependencies have for this row, all of it before any is waited for. */
  __device__ __forceinline__ void look(const FactorView<T> &F)
  {
    int begin[AHEAD], end[AHEAD], first[AHEAD];

#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
      const int d = base + w, e = d / S;

      owner[w] = __shfl_sync(mask, factor_pick(source, e), d % S, S);
      begin[w] = __shfl_sync(mask, factor_pick(from, e), d % S, S);
      end[w]   = __shfl_sync(mask, factor_pick(to, e), d % S, S);
      if (d >= r.dependencies) owner[w] = -1, begin[w] = end[w] = 0;
      first[w] = begin[w] + lane < end[w] ? F.u_columns[begin[w] + lane] : -1;
    }
#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
#pragma unroll
      for (int e = 0; e < OWN; e++) where[w][e] = -1;
      if (end[w] - begin[w] > ROUNDS * S) { /* or rows that share a long one would take its length times their number */
#pragma unroll
        for (int e = 0; e < OWN; e++) where[w][e] = factor_search(F.u_columns, begin[w], end[w], column[e]);
      } else {
        match(w, begin[w], first[w]);
        for (int at = begin[w] + S; at < end[w]; at += S)
          match(w, at, at + lane < end[w] ? F.u_columns[at + lane] : -1);
      }
      inverse[w] = owner[w] < 0 ? 0 : trsv_not_ready<T>();
#pragma unroll
      for (int e = 0; e < OWN; e++) got[w][e] = where[w][e] < 0 ? 0 : trsv_not_ready<T>();
    }
    waiting = true;
  }

  /* Polls once for all that is not there yet; is it now? */
  __device__ __forceinline__ bool poll(const FactorView<T> &F, TrsvSpinLimit &spin)
  {
    bool ready = true;

#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
      if (!trsv_is_ready(inverse[w])) inverse[w] = trsv_load(F.inverse + owner[w]);
#pragma unroll
      for (int e = 0; e < OWN; e++)
        if (!trsv_is_ready(got[w][e])) got[w][e] = trsv_load(F.u + where[w][e]);
    }
#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
      ready = ready && trsv_is_ready(inverse[w]);
#pragma unroll
      for (int e = 0; e < OWN; e++) ready = ready && trsv_is_ready(got[w][e]);
    }
    if (ready || spin.more(F.sync)) return ready;
#pragma unroll
    for (int w = 0; w < AHEAD; w++) {
      if (!trsv_is_ready(inverse[w])) inverse[w] = trsv_nan<T>();
#pragma unroll
      for (int e = 0; e < OWN; e++)
        if (!trsv_is_ready(got[w][e])) got[w][e] = trsv_nan<T>();
    }
    return true;
  }

  /* Takes the dependencies that are there off the row, one after the other. */
  __device__ __forceinline__ void eliminate(const FactorView<T> &F)
  {
#pragma unroll
    for (int w = 0; w < AHEAD && base + w < r.dependencies; w++) {
      const int d = base + w, e = d / S;
      const T   factor     = __shfl_sync(mask, ICC ? got[w][0] : factor_pick(value, e), ICC ? 0 : d % S, S);
      const T   multiplier = factor * inverse[w];

#pragma unroll
      for (int n = 0; n < OWN; n++) {
        if (where[w][n] >= 0 && (ICC || factor != 0)) value[n] = fma(-multiplier, got[w][n], value[n]);
        if (!ICC && d == n * S + lane && factor != 0) value[n] = multiplier;
      }
      if (ICC && lane == 0) F.l[r.l + d] = multiplier;
    }
    base += AHEAD;
    waiting = false;
  }

  __device__ __forceinline__ void finish(const FactorView<T> &F)
  {
    T sum = 0;

#pragma unroll
    for (int e = 0; e < OWN; e++) {
      const int n = e * S + lane;

      if (n < r.diagonal) F.l[r.l + n] = value[e];
      if (n > r.diagonal && n < r.length) trsv_publish(F.u + r.u + n - r.diagonal, value[e]);
      if (n != r.diagonal && n < r.length) sum += fabs(value[e]);
    }
    if (F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE) /* nobody else asks for it */
#pragma unroll
      for (int other = S / 2; other; other /= 2) sum += __shfl_xor_sync(mask, sum, other, S);
    if (lane == r.diagonal % S)
      (void)factor_pivot(F, r.row, r.u, F.inverse + r.row, factor_pick(value, r.diagonal / S), sum);
  }
};

#endif
