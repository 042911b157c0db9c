/*
   ag_task.cuh: a plan of the algorithm `ag` on the device, and the work of a warp on one task. Mapping, memory order,
   why it ends, same bits, source: ag.cu. */
#ifndef TRSV_AG_TASK_CUH
#define TRSV_AG_TASK_CUH

#include "papers/ag/ag.h"
#include "papers/papers.cuh"

enum {
  WIDTH = 4 /* entries of a row that a lane polls together */
};

typedef struct {
  AgScheme  scheme;
  int       rows, off, launches, collected;
  int       torn;   /* 1: a launch of a solve failed, so its launches may use different halves of the words */
  void     *memory; /* holds the arrays below, on the device */
  int      *offsets, *columns, *order, *source, *node, *task, *begin;
  void     *values, *inverse, *words;
  unsigned *tickets; /* [launches] */
  AgLaunch *launch;  /* on the host */
  TrsvSync  sync;
} Ag;

template <class T> struct AgView {
  int        rows, workers, log, rnnz;
  const int *offsets, *columns, *order, *node, *task, *begin;
  const T   *values, *inverse;
  T         *words;
  TrsvSync   sync;

  AgView(const Ag *a, const AgLaunch *l, int index)
      : rows(a->rows), workers(a->scheme.ws == AG_HARDWARE ? l->tasks : l->workers), log(0), rnnz(a->scheme.sw_rnnz),
        offsets(a->offsets), columns(a->columns), order(a->order), node(a->node), task(a->task), begin(NULL),
        values((const T *)a->values), inverse((const T *)a->inverse), words((T *)a->words), sync(a->sync)
  {
    while (1 << log < a->scheme.ng) log++;
    if (a->scheme.ws == AG_HARDWARE) task += (size_t)l->task << log;
    else begin = a->begin + l->begin;
    sync.ticket = a->tickets + index;
  }
};

/* A lane's part of a row: the entries at, at + step, ... */
template <class T> struct AgRow {
  int row, at, left, step, held; /* row: a place; left: entries not yet summed; held: those in registers */
  T   sum;
};

/* Entries of a task, in device memory or, if they were read together, in shared memory. */
template <class T> struct AgEntries {
  const int *columns;
  const T   *values;
  int        shift; /* added to an index in device memory */
};

/* All lanes read the entries of all nodes of a task. begin, count: the entries of the node of this lane's subwarp. */
template <class T> static __device__ __forceinline__ AgEntries<T> ag_collect(const AgView<T> &A, int begin, int count,
                                                                             int lane, int *columns, T *values)
{
  const int size = 32 >> A.log;
  int       mine = 0, base = 0;

  for (int sub = 0; sub < 1 << A.log; sub++) {
    const int from = __shfl_sync(0xffffffffu, begin, sub * size), n = __shfl_sync(0xffffffffu, count, sub * size);

    if (lane / size == sub) mine = base - from;
    for (int k = lane; k < n; k += 32) {
      columns[base + k] = A.columns[from + k];
      values[base + k]  = A.values[from + k];
    }
    base += n;
  }
  __syncwarp();
  return {columns, values, mine};
}

template <class T, bool WAIT> static __device__ __forceinline__ void ag_task(const AgView<T> &A, const int *task,
                                                                             int lane, T *now, T *then, const T *b,
                                                                             T *x, int *columns, T *values)
{
  const int       size = 32 >> A.log, sub = lane / size, me = lane % size, given = task[sub],
                  node  = given < 0 ? -1 : given & ~AG_COLLECT;
  const int       first = node < 0 ? 0 : A.node[node], last = node < 0 ? 0 : A.node[node + 1], begin = A.offsets[first],
                  end      = A.offsets[last];
  const bool     together = A.rnnz != AG_INFINITE && end - begin + (last - first) > (long)A.rnnz * (last - first);
  const unsigned all = (size == 32 ? 0xffffffffu : (1u << size) - 1) << (sub * size);
  AgEntries<T>   e = {A.columns, A.values, 0};
  AgRow<T>       r = {together ? first : first + me, 0, 0, together ? size : 1, 0, 0};
  int            column[WIDTH], row = 0;
  T              value[WIDTH], solution[WIDTH], inverse = 1;
  TrsvSpinLimit  spin;
  bool           done = r.row >= last;

  if (task[0] & AG_COLLECT) e = ag_collect(A, begin, end - begin, lane, columns, values);
  const auto start = [&] {
    const int at = A.offsets[r.row], skip = together ? me : 0, n = A.offsets[r.row + 1] - at;

    row     = A.order[r.row];
    inverse = A.inverse ? A.inverse[r.row] : 1;
    r.at    = at + skip;
    r.left  = n > skip ? (n - skip + r.step - 1) / r.step : 0;
    r.held  = 0;
    r.sum   = skip ? 0 : b[row < 0 ? ~row : row];
    if (!skip && row >= 0) then[r.row] = trsv_not_ready<T>();
  };

  if (!done) start();
  do {
    bool ready = true; /* this lane has summed its part of the row */

    while (!done && r.left) {
      if (!r.held) {
        r.held = r.left < WIDTH ? r.left : WIDTH;
#pragma unroll
        for (int n = 0; n < WIDTH; n++)
          if (n < r.held) {
            column[n]   = e.columns[r.at + n * r.step + e.shift];
            value[n]    = e.values[r.at + n * r.step + e.shift];
            solution[n] = trsv_not_ready<T>();
          }
      }
#pragma unroll
      for (int n = 0; n < WIDTH; n++)
        if (n < r.held && (!WAIT || !trsv_is_ready(solution[n])))
          solution[n] = WAIT ? trsv_load(now + column[n]) : now[column[n]];
#pragma unroll
      for (int n = 0; n < WIDTH; n++) ready = ready && (!WAIT || n >= r.held || trsv_is_ready(solution[n]));
      if (!ready && spin.more(A.sync, A.begin != NULL)) break;
#pragma unroll
      for (int n = 0; n < WIDTH; n++)
        if (n < r.held) r.sum = fma(-value[n], solution[n], r.sum);
      r.at += r.held * r.step;
      r.left -= r.held;
      r.held = 0;
      if (!ready) { /* the wait exceeded its limit */
        r.sum  = trsv_nan<T>();
        r.left = 0;
        ready  = true;
      }
    }
    const unsigned votes = __ballot_sync(0xffffffffu, ready);
    const bool     whole = together ? (votes & all) == all : ready;
    T              sum   = r.sum;
    if (size > 1 && __any_sync(0xffffffffu, together && whole && !done))
      for (int half = size / 2; half; half /= 2) {
        const T other = __shfl_down_sync(0xffffffffu, sum, half, size);
        if (together) sum += other;
      }
    if (whole && !done) {
      if (!together || !me) {
        sum                     = sum * inverse;
        x[row < 0 ? ~row : row] = row < 0 ? trsv_is_ready(sum) ? sum : trsv_nan<T>() : trsv_publish(now + r.row, sum);
      }
      spin = TrsvSpinLimit();
      r.row += together ? 1 : size;
      done = r.row >= last;
      if (!done) start();
    }
  } while (!__all_sync(0xffffffffu, done));
}

#endif
