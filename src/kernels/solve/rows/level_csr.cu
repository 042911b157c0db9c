/*
   Makes the layout in level order on the device: long rows are split (split_rows.cu), the rows of the resulting
   sequence are ordered by level set (levels.cu) and copied to their positions. New values are gathered.

   Mapping: one thread for each row, entry or value. Memory order: launches in sequence. Why it ends: no thread waits.
   Same bits: each number is written by one thread.
*/
#include <limits.h>
#include <stdlib.h>
#include "device/setup.cuh"
#include "solve/rows/level_csr.h"

template <class T> static __global__ void level_csr_gather(long off, int rows, const int *source, const T *from,
                                                           T *values, T *inverse)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < off) values[k] = source[k] < 0 ? -1 : from[source[k]];
  else if (inverse && k < off + rows) inverse[k - off] = source[k] < 0 ? 1 : 1 / from[source[k]];
}

/* position[r]: the position of row r of the sequence. Of each position, unless NULL: the entries of its row; its level
   set, by the positions at which level sets start. order: that of the sequence, or, with last, of the matrix's rows. */
static __global__ void level_csr_positions(const TrsvSplit s, const int *order, const int *last, int levels,
                                           const int *start, int *position, int *length, unsigned *level)
{
  const int p = trsv_index();

  if (p >= s.rows) return;
  const int r = last ? last[order[p]] : order[p];
  position[r] = p;
  if (length) length[p] = s.offsets[r + 1] - s.offsets[r];
  if (level) level[p] = 1u + (unsigned)segment(start, levels, p);
}

/* Prepares the search for the level sets of a sequence: its columns, and what a search expects. */
static __global__ void level_csr_search(const TrsvSplit s, const int *columns, int *own_columns, TrsvSearch *search,
                                        unsigned *word, int *natural)
{
  const int k = trsv_index();

  if (k < s.off) own_columns[k] = split_dependency(s, columns, k);
  if (k < s.rows) {
    word[k]    = 0;
    natural[k] = k;
  }
  if (k == 0) *search = TrsvSearch{};
}

/* Writes each row of the sequence at its position. width: the width of padded rows, or 0. Unless level is NULL, marks
   what the rows of level sets 3, 5, 7, ... recompute: dependencies in level sets 2, 4, 6, ... Rows of level set 1 wait
   for nothing, so recomputing them would save no hop. */
static __global__ void level_csr_place(const TriangleView A, const TrsvSplit s, const int *position,
                                       const unsigned *level, const int *source, int width,
                                       const TrsvPermutation places, TrsvLevelCSR o)
{
  const int r = trsv_index();

  if (r >= s.rows) return;
  const int  p = position[r], end = s.offsets[r + 1];
  const bool recomputes = level && level[p] % 2; /* levels count from 1 */
  int        to = width ? p * width : o.offsets[p];
  for (int k = s.offsets[r]; k < end; k++, to++) {
    const int q = position[split_dependency(s, A.columns, k)];

    o.columns[to] = recomputes && level[q] + 1 == level[p] ? -2 - q : q;
    o.source[to]  = split_source(source, s.items[k]);
  }
  for (; width && to < (p + 1) * width; to++) o.columns[to] = o.source[to] = -1;
  level_csr_row(A, s.row[r], source, places, p, o);
}

TrsvError TrsvLevelCSRPositions(const TrsvMatrix *A, const TrsvAnalysis *a, const TrsvSplit *s, int *position,
                                int *length, unsigned *level)
{
  const size_t rows = (size_t)s->rows;
  TrsvScratch  scratch;
  TrsvMatrix   S = *A;
  TrsvSearch  *search, found;
  unsigned    *word, *sorted;
  int         *natural, *order, *columns;

  if (s->rows == A->rows) /* there are no partial sums */
    return TrsvLaunchEach(level_csr_positions, rows, *s, a->order, s->last, a->statistics.levels, a->levels, position,
                          length, level);
  TrsvCall(scratch.take(1, search, rows, word, level ? 0 : rows, sorted, rows, natural, rows, order, (size_t)s->off,
                        columns));
  TrsvCall(TrsvLaunchEach(level_csr_search, (size_t)max(s->off, s->rows), *s, A->columns, columns, search, word,
                          natural));
  S.rows     = s->rows;
  S.offsets  = s->offsets;
  S.columns  = columns;
  S.triangle = TRSV_LOWER;
  S.diagonal = TRSV_DIAGONAL_UNIT;
  const TrsvLevelSearch levels = {&S, 1, NULL, word, NULL, search};
  TrsvCall(TrsvSearchLevels(1, &levels));
  TrsvCall(TrsvDeviceDownload(&found, search, sizeof(found), NULL));
  TrsvCall(TrsvSyncCheck(found.state, TRSV_LEVEL_SEARCH));
  TrsvCall(TrsvDeviceSort(s->rows, TrsvBits(found.levels), word, level ? level : sorted, natural, order));
  return TrsvLaunchEach(level_csr_positions, rows, *s, (const int *)order, (const int *)NULL, 0, (const int *)NULL,
                        position, length, (unsigned *)NULL);
}

TrsvError TrsvLevelCSRAlloc(TrsvPlan *plan, int rows, int off, int columns, int stored, int padded)
{
  TrsvLevelCSR *const o = (TrsvLevelCSR *)plan->data;
  const size_t size = TrsvValueSize(plan->precision), n = (size_t)rows, entries = (size_t)off;
  const bool   placed = plan->given.b_index || plan->given.x_index;
  unsigned    *shared;

  o->rows = rows;
  o->off  = off;
  TrsvCall(TrsvArenaAllocate(
    TrsvDeviceAlloc,
    [&](TrsvArena &a) {
      a.take((size_t)columns, o->columns), a.take(entries, o->values, size), a.take(2 * n, o->words, size);
      a.take(n, o->to);
      if (placed) a.take(n, o->from);
      else o->from = o->to;
      a.take(entries + n, o->source);
      if (!padded) a.take(n + 1, o->offsets);
      if (stored) a.take(n, o->inverse, size);
      a.take(TRSV_SYNC_WORDS, shared);
    },
    &o->memory, &plan->bytes));
  TrsvCall(TrsvSyncIn(shared, &o->sync));
  /* both halves; later each launch clears the half of the next one */
  return TrsvClearWords(plan->precision, 2 * n, o->words, shared, NULL);
}

TrsvError TrsvLevelCSRAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                              int longest, int padded, int recomputes)
{
  TrsvSplit   s;
  TrsvScratch sequence, positions;
  int        *position, *length;
  unsigned   *level;

  TrsvCall(TrsvAlloc(sizeof(TrsvLevelCSR), &plan->data));
  TrsvLevelCSR *const o = (TrsvLevelCSR *)plan->data;
  o->recomputes         = recomputes;
  TrsvCall(TrsvSplitRows(A, analysis, longest, &s, &sequence.memory));
  if (padded && s.rows > INT_MAX / longest)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "%d rows of %d entries exceed 32-bit indices", s.rows, longest);
  const size_t rows = (size_t)s.rows;
  TrsvCall(positions.take(rows, position, padded ? 0 : rows, length, recomputes ? rows : 0, level));
  if (padded) length = NULL;
  if (!recomputes) level = NULL;
  if (rows) TrsvCall(TrsvLevelCSRPositions(A, analysis, &s, position, length, level));
  const int off = padded ? s.rows * longest : s.off;
  TrsvCall(TrsvLevelCSRAlloc(plan, s.rows, off, off, A->diagonal == TRSV_DIAGONAL_STORED, padded));
  if (!padded && rows) TrsvCall(TrsvDeviceScan(s.rows, length, o->offsets));
  return TrsvLaunchEach(level_csr_place, rows, TriangleView(A), s, position, level, source, padded ? longest : 0,
                        plan->given, *o);
}

TrsvError TrsvLevelCSRSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  const TrsvLevelCSR *o = (const TrsvLevelCSR *)plan->data;

  return TrsvByType(plan->precision, [&](auto value) {
    typedef decltype(value) T;
    return TrsvLaunchEachIn(stream, level_csr_gather<T>, (size_t)o->off + (size_t)(o->inverse ? o->rows : 0),
                            (long)o->off, o->rows, o->source, (const T *)values, (T *)o->values, (T *)o->inverse);
  });
}

void TrsvLevelCSRDestroy(TrsvPlan *plan)
{
  TrsvLevelCSR *o = (TrsvLevelCSR *)plan->data;

  if (!o) return;
  TrsvDeviceFree(o->memory);
  TrsvPinnedFree(1, o->sync.abort_host);
  free(o);
}
