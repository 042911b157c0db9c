/*
   The level-ordered layout, made on the device: long rows are cut (split_rows.cu), the rows that come of it are ordered
   by level set (levels.cu) and put where they belong. Its values are gathered whenever they change.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/triangle_view.cuh"
#include "solve/rows/level_csr.h"

/* One thread for each value. No thread waits for another. */
template <class T> static __global__ void level_csr_gather(long off, int rows, const int *source, const T *from,
                                                           T *values, T *inverse)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < off) values[k] = source[k] < 0 ? -1 : from[source[k]];
  else if (inverse && k < off + rows) inverse[k - off] = source[k] < 0 ? 1 : 1 / from[source[k]];
}

template <class T> static __global__ void level_csr_fill(long n, T *words, unsigned *shared)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < n) words[k] = trsv_not_ready<T>();
  if (shared && k < TRSV_SYNC_WORDS) shared[k] = 0;
}

/* position[s]: where row s of the sequence goes, from the order of the sequence's rows or, where none is cut, of the
   matrix's */
static __global__ void level_csr_positions(int rows, const int *order, const int *last, int *position)
{
  const int p = trsv_index();

  if (p < rows) position[last ? last[order[p]] : order[p]] = p;
}

/* The level set of each position, from where the matrix's start. */
static __global__ void level_csr_levels(int rows, int levels, const int *start, unsigned *level)
{
  const int p = trsv_index();

  if (p < rows) level[p] = 1u + (unsigned)segment(start, levels, p);
}

/* What the search for the level sets of a sequence wants: its columns, cleared words, numbered rows. */
static __global__ void level_csr_search(const TrsvSplit s, const int *columns, int *to, unsigned *word, int *natural,
                                        TrsvSearch *search)
{
  const int k = trsv_index();

  if (k < s.off) to[k] = s.items[k] < 0 ? ~s.items[k] : s.last[columns[s.items[k]]];
  if (k < s.rows) {
    word[k]    = 0;
    natural[k] = k;
  }
  if (k == 0) *search = TrsvSearch{};
}

static __global__ void level_csr_lengths(const TrsvSplit s, const int *position, int *length)
{
  const int r = trsv_index();

  if (r < s.rows) length[position[r]] = s.offsets[r + 1] - s.offsets[r];
}

/* One thread for each row of the sequence; width of padded rows, or 0. */
static __global__ void level_csr_place(const TriangleView A, const TrsvSplit s, const int *position, const int *source,
                                       int width, const TrsvPermutation places, TrsvLevelCSR o)
{
  const int r = trsv_index();

  if (r >= s.rows) return;
  const int p = position[r], row = s.row[r], end = s.offsets[r + 1],
            diagonal = row >= 0 && A.stored ? A.diagonal(row) : -1;
  int       to = width ? p * width : o.offsets[p];
  for (int k = s.offsets[r]; k < end; k++, to++) {
    const int item = s.items[k];

    o.columns[to] = position[item < 0 ? ~item : s.last[A.columns[item]]];
    o.source[to]  = item < 0 ? -1 : source ? source[item] : item;
  }
  for (; width && to < (p + 1) * width; to++) o.columns[to] = o.source[to] = -1;
  o.to[p]             = row >= 0 && places.x_index ? places.x_index[row] : row;
  if (o.from != o.to) o.from[p] = row >= 0 && places.b_index ? places.b_index[row] : row;
  o.source[o.off + p] = diagonal < 0 ? -1 : source ? source[diagonal] : diagonal;
}

/* room: what it takes to find the level sets of a sequence with partial sums, a search and [4 * rows + off] */
static TrsvError PositionsOfCut(const TrsvMatrix *A, const TrsvSplit *s, int *position, unsigned *level,
                                TrsvSearch *room)
{
  unsigned *const word = (unsigned *)(room + 1), *const sorted = word + s->rows;
  int *const      natural = (int *)sorted + s->rows, *const order = natural + s->rows, *const columns = order + s->rows;
  TrsvMatrix      S = *A;
  TrsvSearch      found;

  TRSV_LAUNCH(level_csr_search, TrsvBlocks(max(s->off, s->rows), 256), 256, 0, (TrsvStream)NULL, *s, A->columns,
              columns, word, natural, room);
  TrsvCall(TrsvDeviceCheckLaunch("level_csr_search"));
  S.rows     = s->rows;
  S.offsets  = s->offsets;
  S.columns  = columns;
  S.triangle = TRSV_LOWER;
  S.diagonal = TRSV_DIAGONAL_UNIT;
  TrsvCall(TrsvSearchLevels(&S, NULL, word, NULL, room));
  TrsvCall(TrsvDeviceDownload(&found, room, sizeof(found), NULL));
  TrsvCall(TrsvSearchEnded(&found));
  TrsvCall(TrsvSortLevels(s->rows, (int)found.levels, word, sorted, natural, order));
  if (level) TrsvCall(TrsvDeviceCopy(level, found.levels > 1 ? sorted : word, sizeof(*level) * (size_t)s->rows, NULL));
  TRSV_LAUNCH(level_csr_positions, TrsvBlocks(s->rows, 256), 256, 0, (TrsvStream)NULL, s->rows, order,
              (const int *)NULL, position);
  return TrsvDeviceCheckLaunch("level_csr_positions");
}

extern "C" TrsvError TrsvLevelCSRPositions(const TrsvMatrix *A, const TrsvAnalysis *analysis, const TrsvSplit *s,
                                           int *position, unsigned *level)
{
  TrsvSearch *room;
  TrsvError   error;

  if (s->rows == A->rows) { /* nothing is cut */
    if (level) {
      TRSV_LAUNCH(level_csr_levels, TrsvBlocks(s->rows, 256), 256, 0, (TrsvStream)NULL, s->rows,
                  analysis->statistics.levels, (const int *)analysis->levels, level);
      TrsvCall(TrsvDeviceCheckLaunch("level_csr_levels"));
    }
    TRSV_LAUNCH(level_csr_positions, TrsvBlocks(s->rows, 256), 256, 0, (TrsvStream)NULL, s->rows, analysis->order,
                s->last, position);
    return TrsvDeviceCheckLaunch("level_csr_positions");
  }
  TrsvCall(TrsvScratchAlloc(sizeof(*room) + sizeof(int) * (4 * (size_t)s->rows + (size_t)s->off), &room, NULL));
  error = PositionsOfCut(A, s, position, level, room);
  TrsvScratchFree(room, NULL);
  return error;
}

static TrsvError Ready(TrsvPrecision precision, long n, void *words, unsigned *shared, TrsvStream stream)
{
  if (precision == TRSV_FLOAT)
    TRSV_LAUNCH((level_csr_fill<float>), TrsvBlocks(n, 256), 256, 0, stream, n, (float *)words, shared);
  else TRSV_LAUNCH((level_csr_fill<double>), TrsvBlocks(n, 256), 256, 0, stream, n, (double *)words, shared);
  return TrsvDeviceCheckLaunch("level_csr_fill");
}

/* The next part of a plan's memory; parts start at multiples of 256 bytes. With base NULL it only counts. */
static void *Part(char *base, size_t *bytes, size_t size)
{
  void *const part = base ? base + *bytes : NULL;

  *bytes += (size + 255) / 256 * 256;
  return part;
}

static size_t Divide(TrsvLevelCSR *o, size_t columns, size_t size, bool stored, bool padded, bool placed,
                     unsigned **shared)
{
  const size_t rows = (size_t)o->rows, off = (size_t)o->off;
  size_t       bytes = 0;
  char *const  base  = (char *)o->memory;

  o->columns = (int *)Part(base, &bytes, sizeof(int) * columns);
  o->values  = Part(base, &bytes, size * off);
  o->words   = Part(base, &bytes, 2 * size * rows);
  o->to      = (int *)Part(base, &bytes, sizeof(int) * rows);
  o->from    = placed ? (int *)Part(base, &bytes, sizeof(int) * rows) : o->to;
  o->source  = (int *)Part(base, &bytes, sizeof(int) * (off + rows));
  if (!padded) o->offsets = (int *)Part(base, &bytes, sizeof(int) * (rows + 1));
  if (stored) o->inverse = Part(base, &bytes, size * rows);
  *shared = (unsigned *)Part(base, &bytes, sizeof(unsigned) * TRSV_SYNC_WORDS);
  return bytes;
}

extern "C" TrsvError TrsvLevelCSRAlloc(TrsvPlan *plan, TrsvLevelCSR *o, int rows, int off, int columns, int stored,
                                       int padded)
{
  const size_t size   = TrsvValueSize(plan->precision);
  const long   words  = 2 * (long)rows;
  const bool   placed = plan->places.b_index || plan->places.x_index;
  unsigned    *shared;

  o->rows     = rows;
  o->off      = off;
  plan->bytes = Divide(o, (size_t)columns, size, stored, padded, placed, &shared);
  TrsvCall(TrsvDeviceAlloc(plan->bytes, &o->memory));
  (void)Divide(o, (size_t)columns, size, stored, padded, placed, &shared);
  TrsvCall(TrsvSyncIn(shared, &o->sync));
  if (!rows) return TRSV_SUCCESS;
  return Ready(plan->precision, words, o->words, shared,
               NULL); /* both halves: a launch readies that of the launch after it */
}

extern "C" TrsvError TrsvLevelCSRReady(TrsvPrecision precision, long n, void *words, TrsvStream stream)
{
  return Ready(precision, n, words, NULL, stream);
}

static TrsvError Make(TrsvPlan *plan, const TrsvMatrix *A, const TrsvSplit *s, const int *source, const int *position,
                      int *length, int longest, bool padded)
{
  TrsvLevelCSR *o   = (TrsvLevelCSR *)plan->data;
  const int    off = padded ? s->rows * longest : s->off;

  TrsvCall(TrsvLevelCSRAlloc(plan, o, s->rows, off, off, A->diagonal == TRSV_DIAGONAL_STORED, padded));
  if (!s->rows) return TRSV_SUCCESS;
  if (!padded) {
    TRSV_LAUNCH(level_csr_lengths, TrsvBlocks(s->rows, 256), 256, 0, (TrsvStream)NULL, *s, position, length);
    TrsvCall(TrsvDeviceCheckLaunch("level_csr_lengths"));
    TrsvCall(TrsvDeviceScan(s->rows, length, o->offsets));
  }
  TRSV_LAUNCH(level_csr_place, TrsvBlocks(s->rows, 256), 256, 0, (TrsvStream)NULL, TriangleView(A), *s, position,
              source, padded ? longest : 0, plan->places, *o);
  return TrsvDeviceCheckLaunch("level_csr_place");
}

extern "C" TrsvError TrsvLevelCSRAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis,
                                         const int *source, int longest, int padded, unsigned **level)
{
  TrsvLevelCSR *o;
  TrsvSplit      s;
  int         *position = NULL;
  TrsvError    error;

  TrsvCall(TrsvAlloc(sizeof(*o), &plan->data));
  o             = (TrsvLevelCSR *)memset(plan->data, 0, sizeof(*o));
  o->level_mean = analysis->statistics.level_mean;
  error         = TrsvSplitRows(A, analysis, longest, &s);
  if (!error && padded && s.rows > INT_MAX / longest)
    error = TrsvFail(TRSV_ERR_UNSUPPORTED, "%d rows of %d are too many for 32-bit indices", s.rows, longest);
  if (!error) error = TrsvScratchAlloc(2 * sizeof(int) * (size_t)s.rows, &position, NULL); /* and lengths */
  if (!error && level) error = TrsvScratchAlloc(sizeof(**level) * (size_t)s.rows, level, NULL);
  if (!error) {
    if (s.rows) error = TrsvLevelCSRPositions(A, analysis, &s, position, level ? *level : NULL);
    if (!error) error = Make(plan, A, &s, source, position, position + s.rows, longest, padded);
  }
  TrsvScratchFree(position, NULL);
  TrsvSplitFree(&s);
  return error;
}

extern "C" TrsvError TrsvLevelCSRSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  TrsvLevelCSR   *o    = (TrsvLevelCSR *)plan->data;
  const unsigned grid = TrsvBlocks((long)o->off + (o->inverse ? o->rows : 0), 256);

  if (!grid) return TRSV_SUCCESS;
  if (plan->precision == TRSV_FLOAT)
    TRSV_LAUNCH((level_csr_gather<float>), grid, 256, 0, stream, (long)o->off, o->rows, o->source,
                (const float *)values, (float *)o->values, (float *)o->inverse);
  else
    TRSV_LAUNCH((level_csr_gather<double>), grid, 256, 0, stream, (long)o->off, o->rows, o->source,
                (const double *)values, (double *)o->values, (double *)o->inverse);
  return TrsvDeviceCheckLaunch("level_csr_gather");
}

extern "C" TrsvError TrsvLevelCSRLimit(TrsvLevelCSR *o, const void *kernel, int block, double level_sets_ahead)
{
  const int most = 4;
  int       multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks = level_sets_ahead * o->level_mean / ((double)block * multiprocessors);
  return TrsvDeviceLimitBlocks(kernel, blocks < 1 ? 1 : blocks > most ? most : (int)blocks, &o->shared_bytes);
}

extern "C" void TrsvLevelCSRDestroy(TrsvPlan *plan)
{
  TrsvLevelCSR *o = (TrsvLevelCSR *)plan->data;

  if (!o) return;
  TrsvDeviceFree(o->memory);
  TrsvPinnedFree(1, o->sync.abort_host);
  free(o);
}
