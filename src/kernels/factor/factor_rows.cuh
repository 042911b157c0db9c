/*
   factor_rows.cuh: how one row of ILU(0) or IC(0) is made; see factor_rows.cu.
*/
#ifndef TRSV_FACTOR_ROWS_CUH
#define TRSV_FACTOR_ROWS_CUH

#include <math.h>
#include "device/vocabulary.cuh"
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

  FactorView(const TrsvFactor *f, const void *values, const FactorShift *p) : slots(f->slots), slot(f->slot), working(f->working), l_offsets(f->l_offsets), l_columns(f->l_columns), u_offsets(f->u_offsets), u_columns(f->u_columns), l_source(f->l_source), start(f->start), a((const T *)values), l((T *)f->l), u((T *)f->u), inverse((T *)f->inverse), work((T *)f->work), status(f->status), shift(p->shift), amount(p->amount), zero(p->zero), diagonal((T)p->diagonal), sync(f->sync) { }
};

/* The elimination row by row: factor_rows.cu. */
template <class T> TrsvError FactorRows(const TrsvFactor *, const void *values, const FactorShift *, TrsvStream);

/* A row: its entries in L and in U, and those that it makes: all of them, or with ICC those in U. Its diagonal is number `diagonal` of these. */
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

template <class T, bool ICC> static __device__ __forceinline__ T factor_value(const FactorView<T> &F, const FactorRow &r, int entry)
{
  const T v = F.a[(ICC ? F.start[r.row] : r.l + r.u) + entry];

  return entry == r.diagonal ? v + F.diagonal : v;
}

template <class T> static __device__ __forceinline__ int factor_column(const FactorView<T> &F, const FactorRow &r, int entry)
{
  return entry < r.diagonal ? F.l_columns[r.l + entry] : F.u_columns[r.u + entry - r.diagonal];
}

/* The row's pivot, which goes to a place in U, as PETSc's MatPivotCheck() has it, given the sum of the magnitudes of its other entries. Hands
   over its reciprocal in a word, and returns it. */
template <class T> static __device__ __forceinline__ T factor_pivot(const FactorView<T> &F, int row, int at, T *word, T pivot, T sum)
{
  const bool   relative = F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE;
  const double zero = relative ? F.zero * (double)sum : F.zero, size = F.shift == TRSV_SHIFT_POSITIVE_DEFINITE ? (double)pivot : fabs((double)pivot);

  if (size <= zero) { /* never so where one is NaN */
    if (F.shift == TRSV_SHIFT_INBLOCKS) {
      pivot += (T)F.amount;
      atomicAdd(&F.status->shifted, 1u);
    } else atomicMin(&F.status->row, (unsigned)row);
  }
  F.u[at] = pivot; /* others take the reciprocal */
  return trsv_publish(word, 1 / pivot);
}

/* sum, and to it the magnitudes of a lane's entries [begin, end): by itself, or, where they are many, by all lanes of the warp, who call this together. */
template <class S, class T> static __device__ __forceinline__ S factor_magnitudes(const T *a, int begin, int end, S sum)
{
  const int  lane = (int)(threadIdx.x % 32);
  const bool many = end - begin > ALONE;

  for (int k = begin; !many && k < end; k++) sum += fabs((S)a[k]);
  for (unsigned left = __ballot_sync(0xffffffffu, many); left; left &= left - 1) {
    const int l = __ffs((int)left) - 1, from = __shfl_sync(0xffffffffu, begin, l), to = __shfl_sync(0xffffffffu, end, l);
    S         part = 0;

    for (int k = from + lane; k < to; k += 32) part += fabs((S)a[k]);
    for (int half = 16; half; half /= 2) part += __shfl_xor_sync(0xffffffffu, part, half);
    if (lane == l) sum += part;
  }
  return sum;
}

/* Waits for a word. */
template <class T> static __device__ __forceinline__ T factor_wait(const FactorView<T> &F, const T *word, TrsvPatience &patience)
{
  T v;

  while (!trsv_is_ready(v = trsv_load(word)))
    if (!patience.more(F.sync)) return trsv_nan<T>();
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
  int       column[OWN], from[OWN], to[OWN], source[OWN]; /* of the entries; of the dependencies: the rows of U, and where they are needed */
  int       where[AHEAD][OWN], owner[AHEAD];              /* in U: what entries need of dependencies base, ...; the rows they are */
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
        for (int at = begin[w] + S; at < end[w]; at += S) match(w, at, at + lane < end[w] ? F.u_columns[at + lane] : -1);
      }
      inverse[w] = owner[w] < 0 ? 0 : trsv_not_ready<T>();
#pragma unroll
      for (int e = 0; e < OWN; e++) got[w][e] = where[w][e] < 0 ? 0 : trsv_not_ready<T>();
    }
    waiting = true;
  }

  /* Polls once for all that is not there yet; is it now? */
  __device__ __forceinline__ bool poll(const FactorView<T> &F, TrsvPatience &patience)
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
    if (ready || patience.more(F.sync)) return ready;
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
    if (lane == r.diagonal % S) (void)factor_pivot(F, r.row, r.u, F.inverse + r.row, factor_pick(value, r.diagonal / S), sum);
  }
};

/* Where among the entries of a long row a column stands, -1 where it does not. Mostly it is the row's own, or beyond all others. */
template <class T> static __device__ __forceinline__ int factor_find(const FactorView<T> &F, const FactorRow &r, int column)
{
  const bool lower = column < r.row;
  const int *columns = lower ? F.l_columns + r.l : F.u_columns + r.u, entries = lower ? r.diagonal : r.length - r.diagonal;

  if (column == r.row) return r.diagonal;
  if (!entries || column > columns[entries - 1]) return -1;
  const int n = factor_search(columns, 0, entries, column);
  return n < 0 || lower ? n : r.diagonal + n;
}

/* Waits for a word that has been looked at. */
template <class T> static __device__ __forceinline__ T factor_wait(const FactorView<T> &F, const T *word, T seen, TrsvPatience &patience) { return trsv_is_ready(seen) ? seen : factor_wait(F, word, patience); }

/* What the whole warp takes off a long row: a row of U of many entries, [begin, end). Where the first of them belong, and what was there of them
   when they were last looked at. What is gone through is the shorter one: the row of U, or the row's own entries from `first` on. */
template <class T> struct LongStep {
  int  begin, end, owner, first, count;
  bool own;
  int  at[CHUNKS], target[CHUNKS];
  T    got[CHUNKS], inverse, source;
};

/* Number n of what is gone through: the row's own entry, and where it stands in U; -1 where one has none in the other. */
template <class T> static __device__ __forceinline__ int long_pair(const FactorView<T> &F, const FactorRow &r, const LongStep<T> &s, int n, int *at)
{
  *at = s.own ? factor_search(F.u_columns, s.begin, s.end, factor_column(F, r, s.first + n)) : s.begin + n;
  if (s.own) return *at < 0 ? -1 : s.first + n;
  return factor_find(F, r, F.u_columns[*at]);
}

/* Asks for nothing that it waits for. */
template <class T, bool ICC> static __device__ __forceinline__ void long_look(const FactorView<T> &F, const FactorRow &r, int lane, LongStep<T> &s)
{
#pragma unroll
  for (int c = 0; c < CHUNKS; c++) {
    const int n = 32 * c + lane;

    s.target[c] = n < s.count ? long_pair(F, r, s, n, &s.at[c]) : -1;
    s.got[c]    = s.target[c] < 0 ? 0 : trsv_load(F.u + s.at[c]);
  }
  s.inverse = trsv_load(F.inverse + s.owner);
  s.source  = ICC ? trsv_load(F.u + s.begin) : 0;
}

/* Takes dependency d off the row; the multiplier. */
template <class T, bool ICC> static __device__ __forceinline__ T long_take(const FactorView<T> &F, const FactorRow &r, T *work, int lane, int d, const LongStep<T> &s, TrsvPatience &patience)
{
  const T factor = ICC ? factor_wait(F, F.u + s.begin, s.source, patience) : work[d], multiplier = factor * factor_wait(F, F.inverse + s.owner, s.inverse, patience);

  if (!ICC && factor == 0) return factor;
#pragma unroll
  for (int c = 0; c < CHUNKS; c++)
    if (s.target[c] >= 0) work[s.target[c]] = fma(-multiplier, factor_wait(F, F.u + s.at[c], s.got[c], patience), work[s.target[c]]);
  for (int n = 32 * CHUNKS + lane; n < s.count; n += 32) {
    int       at;
    const int target = long_pair(F, r, s, n, &at);

    if (target >= 0) work[target] = fma(-multiplier, factor_wait(F, F.u + at, patience), work[target]);
  }
  return multiplier;
}

/* 32 dependencies, d the lane's, whose rows of U have no entry for this row but the diagonal's: they do not depend on each other, and are taken off side by
   side, the diagonal from what each lane has of it. False, and nothing has been done, where there are others. */
template <class T, bool ICC> static __device__ __forceinline__ bool long_stars(const FactorView<T> &F, const FactorRow &r, T *work, int d, T *diagonal, TrsvPatience &patience)
{
  const int owner = F.l_columns[r.l + d], to = F.u_offsets[owner + 1], from = ICC ? F.l_source[r.l + d] : F.u_offsets[owner] + 1;
  int       at = -1;
  bool      others = to - from > STAR;

  for (int k = from; k < to && !others; k++) {
    const int entry = factor_find(F, r, F.u_columns[k]);

    if (entry == r.diagonal) at = k;
    else others = entry >= 0;
  }
  if (__any_sync(0xffffffffu, others)) return false;
  const T factor = ICC ? factor_wait(F, F.u + from, patience) : work[d], multiplier = factor * factor_wait(F, F.inverse + owner, patience);

  if (!ICC && factor == 0) return true;
  if (at >= 0) *diagonal = fma(-multiplier, factor_wait(F, F.u + at, patience), *diagonal);
  (ICC ? F.l + r.l : work)[d] = multiplier;
  return true;
}

/* A row of any length by a warp. The row under work is in device memory, for this warp alone; __syncwarp orders its lanes. 32
   dependencies at a time are looked up, a lane each, and taken off in turn, each once it is there: by that lane where there is little to do,
   else by all, who look up the next such dependency before they wait for one. Of very long rows, of which there may be one in a factor that has no other chain,
   many that touch nothing but the diagonal are taken off side by side. */
template <class T, bool ICC> static __device__ void long_row(const FactorView<T> &F, int row, T *work)
{
  const FactorRow r        = factor_row<T, ICC>(F, row);
  const bool      relative = F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE;
  const int       lane     = (int)(threadIdx.x % 32);
  TrsvPatience    patience;
  T               sum = 0, diagonal = 0;
  int             hope = r.dependencies < MANY ? r.dependencies : 0; /* from where on such are looked for */

  for (int n = lane; n < r.length; n += 32 * AHEAD) { /* rows of U may be the longest, and have nothing else to do */
    T v[AHEAD];

#pragma unroll
    for (int m = 0; m < AHEAD; m++) v[m] = n + 32 * m < r.length ? factor_value<T, ICC>(F, r, n + 32 * m) : 0;
#pragma unroll
    for (int m = 0; m < AHEAD; m++)
      if (n + 32 * m < r.length) work[n + 32 * m] = v[m];
  }
  __syncwarp();
  for (int base = 0; base < r.dependencies; base += 32) {
    if (base >= hope && r.dependencies - base >= 32) {
      if (long_stars<T, ICC>(F, r, work, base + lane, &diagonal, patience)) continue;
      hope = base + MANY;
    }
    const int   d = base + lane, count = min(32, r.dependencies - base);
    const bool  mine  = d < r.dependencies;
    const int   owner = mine ? F.l_columns[r.l + d] : 0, to = mine ? F.u_offsets[owner + 1] : 0;
    const int   from  = !mine ? 0 : ICC ? F.l_source[r.l + d] : F.u_offsets[owner] + 1;
    const bool  alone = to - from <= FEW;
    int         target[FEW];
    T           got[FEW], inverse = mine ? trsv_load(F.inverse + owner) : 0, source = mine && ICC ? trsv_load(F.u + from) : 0;
    LongStep<T> next = {};

#pragma unroll
    for (int n = 0; n < FEW; n++) {
      target[n] = alone && from + n < to ? factor_find(F, r, F.u_columns[from + n]) : -1;
      got[n]    = target[n] < 0 ? 0 : trsv_load(F.u + from + n);
    }
    unsigned many = __ballot_sync(0xffffffffu, !alone);

    for (int n = -1; n < count; n++) {
      const LongStep<T> now     = next;
      const bool        by_all  = n >= 0 && (many >> n & 1);
      const unsigned    behind  = many & ~0u << (n + 1) % 32;

      if ((n < 0 || by_all) && n < 31 && behind) { /* the next */
        const int l = __ffs((int)behind) - 1;

        next.begin = __shfl_sync(0xffffffffu, from, l);
        next.end   = __shfl_sync(0xffffffffu, to, l);
        next.owner = __shfl_sync(0xffffffffu, owner, l);
        next.first = ICC ? 0 : base + l + 1;
        next.own   = r.length - next.first < next.end - next.begin;
        next.count = next.own ? r.length - next.first : next.end - next.begin;
        long_look<T, ICC>(F, r, lane, next);
      }
      if (by_all) {
        const T multiplier = long_take<T, ICC>(F, r, work, lane, base + n, now, patience);

        __syncwarp();
        if (lane == 0) (ICC ? F.l + r.l : work)[base + n] = multiplier;
      } else if (lane == n) {
        const T factor = ICC ? factor_wait(F, F.u + from, source, patience) : work[d], multiplier = factor * factor_wait(F, F.inverse + owner, inverse, patience);

        if (ICC || factor != 0) {
#pragma unroll
          for (int m = 0; m < FEW; m++)
            if (target[m] >= 0) work[target[m]] = fma(-multiplier, factor_wait(F, F.u + from + m, got[m], patience), work[target[m]]);
          (ICC ? F.l + r.l : work)[d] = multiplier;
        }
      }
      __syncwarp();
    }
  }
  __syncwarp();
  for (int other = 16; other; other /= 2) diagonal += __shfl_xor_sync(0xffffffffu, diagonal, other);
  if (lane == r.diagonal % 32) work[r.diagonal] += diagonal;
  __syncwarp();
  if (!relative && lane == 0) (void)factor_pivot(F, r.row, r.u, F.inverse + r.row, work[r.diagonal], sum);
  for (int first = lane; first < r.length; first += 32 * AHEAD) {
    T v[AHEAD];

#pragma unroll
    for (int m = 0; m < AHEAD; m++) v[m] = first + 32 * m < r.length ? work[first + 32 * m] : 0;
#pragma unroll
    for (int m = 0; m < AHEAD; m++) {
      const int n = first + 32 * m;

      if (n < r.diagonal) F.l[r.l + n] = v[m];
      if (n > r.diagonal && n < r.length) trsv_publish(F.u + r.u + n - r.diagonal, v[m]);
      if (n != r.diagonal) sum += fabs(v[m]);
    }
  }
  if (!relative) return;
#pragma unroll
  for (int other = 16; other; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
  if (lane == 0) (void)factor_pivot(F, r.row, r.u, F.inverse + r.row, work[r.diagonal], sum);
}

#endif
