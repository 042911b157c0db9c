/*
   Splits long rows into partial sums, on the device (level_csr.h).

   Each long row becomes a tree of sums. A sum takes the entries and sums that are ready first. There are so many sums
   that `longest` entries are left for the row itself. An entry counts as ready after the level set of its column in the
   whole matrix. Rows of more than WHOLE_MAX entries are first cut into pieces, each a tree that ends in one sum; the
   last KEPT entries to get ready stay with the row.

   Mapping: one thread for each row or piece, after the entries of long rows are sorted by level set. For rows of at
     most RANKED_MAX entries, one thread for each entry counts the entries of its row that are ready before it; longer
     rows need two sorts.
   Memory order: launches in sequence. Why it ends: no thread waits. Same bits: integers, each written by one thread.
*/
#include <limits.h>
#include "device/setup.cuh"
#include "solve/rows/level_csr.h"

enum {
  BLOCK      = 256,
  WHOLE_MAX  = 1024, /* entries of a row that is not cut into pieces, at most */
  KEPT       = 256,  /* entries of a longer row that are in no piece */
  PIECE_MIN  = 512,  /* entries of each piece but the last, at least */
  PIECES_MAX = 256,  /* pieces of a row, at most */
  RANKED_MAX = 128,  /* entries of a row that is ranked by split_rank, not sorted, at most */
  RANKED     = 64    /* rows of a block of split_rank */
};

/* The number of partial sums of n entries: each replaces `longest` entries by one. */
static TRSV_INLINE int count_sums(int n, int longest) { return n > longest ? (n - 2) / (longest - 1) : 0; }

/* The pieces of a row of n entries. */
struct Pieces {
  int pieces, size, last, kept; /* size, last: entries of each piece and of the last; kept: entries in no piece */
  int sums, last_sums;          /* partial sums in each piece and in the last */
  int depth;                    /* of a piece's tree if all entries get ready together */

  __device__ Pieces(int n, int longest) : pieces(0), size(0), last(0), kept(n), sums(0), last_sums(0), depth(1)
  {
    if (n <= WHOLE_MAX) return;
    kept      = KEPT;
    size      = max((int)PIECE_MIN, (n - kept + PIECES_MAX - 1) / PIECES_MAX);
    pieces    = (n - kept + size - 1) / size;
    last      = n - kept - (pieces - 1) * size;
    sums      = count_sums(size, longest);
    last_sums = count_sums(last, longest);
    for (int reach = longest; reach < size; reach *= longest) depth++;
  }
  /* the rows of the sequence that all pieces take, and their entries */
  __device__ int rows() const { return pieces ? (pieces - 1) * (sums + 1) + last_sums + 1 : 0; }
  __device__ int entries() const { return pieces ? (pieces - 1) * (size + sums) + last + last_sums : 0; }
};

/* The arrays of the kernels. The scans have the rows in solve order. first is NULL if no row is long; part and sorted
   are NULL if no row is sorted. */
struct Splitting {
  int        longest;
  const int *first, *part, *sorted; /* scans of the numbers of rows of the sequence, rows and pieces, sorted entries */
  int       *entry, *ready;         /* of long rows: the entries in the order in which they get ready; their levels */
  int       *level;                 /* a level of each row of the sequence */
};

/* level[i]: the level set of row i; first, part, sorted: the numbers that are then scanned. */
static __global__ void split_count(const TriangleView A, int longest, int levels, const int *order, const int *start,
                                   int *level, int *first, int *part, int *sorted)
{
  const int r = trsv_index();

  if (r >= A.rows) return;
  const int    n = A.entries(A.row_of(r));
  const Pieces p(n, longest);
  level[order[r]] = segment(start, levels, r);
  first[r]        = p.rows() + count_sums(p.kept + p.pieces, longest) + 1;
  if (!part) return;
  part[r]   = p.pieces + 1;
  sorted[r] = n > max(longest, (int)RANKED_MAX) ? n : 0;
}

static __global__ void split_rank(const TriangleView A, const Splitting c, const int *level)
{
  TRSV_SHARED(int, start, RANKED + 1);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * RANKED, rows = min((int)RANKED, A.rows - first);

  for (int n = t; n <= rows; n += BLOCK) start[n] = A.before(first + n);
  __syncthreads();
  entries_each<BLOCK>(start[0], start[rows], [&](int k) {
    const int n = segment(start, rows, k), i = A.row_of(first + n), e = k - start[n], entries = start[n + 1] - start[n];
    int       to = start[n];

    if (entries <= c.longest || entries > RANKED_MAX) return;
    const int mine = level[A.columns[A.entry(i, e)]];
    for (int other = 0; other < entries; other++) {
      const int l = level[A.columns[A.entry(i, other)]];

      to += l < mine || (l == mine && other < e);
    }
    c.entry[to] = A.entry(i, e);
    c.ready[to] = mine;
  });
}

/* The n entries to be sorted: level, row in solve order, number. A thread for each: a few rows may have most. */
static __global__ void split_entries(const TriangleView A, int n, const int *sorted, const int *level, unsigned *key,
                                     int *row, int *number)
{
  TRSV_SHARED(int, end, 2); /* the rows of the block's first and last entry */
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, entries = min((int)BLOCK, n - first), e = first + t;

  if (t < 2) end[t] = segment(sorted, A.rows, t ? first + entries - 1 : first);
  __syncthreads();
  if (t >= entries) return;
  const int r = end[0] + segment(sorted + end[0], end[1] - end[0] + 1, e);

  key[e]    = (unsigned)level[A.columns[A.entry(A.row_of(r), e - sorted[r])]];
  row[e]    = r;
  number[e] = e;
}

static __global__ void split_keys(int n, const int *number, const int *row, unsigned *key)
{
  const int t = trsv_index();

  if (t < n) key[t] = (unsigned)row[number[t]];
}

/* Stores the entries of the matrix and their levels, from the sorted numbers and rows. */
static __global__ void split_store(const TriangleView A, const Splitting c, int n, const int *level,
                                   const unsigned *row, const int *number)
{
  const int t = trsv_index();

  if (t >= n) return;
  const int r = (int)row[t], k = A.entry(A.row_of(r), number[t] - c.sorted[r]), to = A.before(r) + t - c.sorted[r];
  c.entry[to] = k;
  c.ready[to] = level[A.columns[k]];
}

/* Writes the sequence. One thread for each row or piece. */
static __global__ void split_make(const TriangleView A, const Splitting c, int parts, TrsvSplit s)
{
  const int t = trsv_index();

  if (t == 0) s.offsets[s.rows] = s.off;
  if (t >= parts) return;
  const int    r = c.part ? segment(c.part, A.rows, t) : t, i = A.row_of(r), n = A.entries(i), longest = c.longest;
  const Pieces p(n, longest);
  const int    piece = c.part ? t - c.part[r] : 0,
               start = c.first ? c.first[r] : r; /* the first row of the sequence that is part of row r */
  const bool   whole = piece == p.pieces;  /* the row itself, after its pieces */
  int          now   = start + (whole ? p.rows() : piece * (p.sums + 1));
  int          to    = A.before(r) + start - r + (whole ? p.entries() : piece * (p.size + p.sums));

  if (n <= longest) {
    s.offsets[now] = to;
    for (int e = 0; e < n; e++) s.items[to + e] = A.entry(i, e);
  } else {
    const int own = A.before(r), from = own + (whole ? n - p.kept : piece * p.size), pieces = whole ? p.pieces : 0;
    const int entries = whole                  ? p.kept
                        : piece < p.pieces - 1 ? p.size
                                               : p.last,
              sums = count_sums(entries + pieces, longest), first = now;
    int e = 0, g = 0, q = 0; /* entries, pieces and sums that are taken, in the order in which they get ready */

    for (int made = 0; made <= sums; made++, now++) {
      /* the first sum takes fewer, so that all others are full; the last ends the row or the piece */
      const int take  = sums == 0 ? entries + pieces
                        : made    ? longest
                                  : entries + pieces - longest - (sums - 1) * (longest - 1) + 1;
      int       level = 0;

      s.offsets[now] = to;
      for (int k = 0; k < take; k++, to++) {
        const int entry = e < entries ? c.ready[from + e] : INT_MAX, sum = q < made ? c.level[first + q] : INT_MAX;
        const int given = g < pieces ? c.ready[own + min((g + 1) * p.size, n - p.kept) - 1] + p.depth : INT_MAX;

        level = max(level, min(entry, min(given, sum)) + 1);
        if (entry <= given && entry <= sum) s.items[to] = c.entry[from + e++];
        else if (given <= sum) {
          g++;
          s.items[to] = ~(start + (g == pieces ? p.rows() : g * (p.sums + 1)) - 1);
        } else s.items[to] = ~(first + q++);
      }
      if (made == sums) break;
      c.level[now] = level;
      s.row[now]   = -1;
    }
  }
  s.row[now] = whole ? i : -1;
  if (whole) s.last[i] = now;
}

/* Counts and scans. room [rows + scans * (2 * rows + 1)]: levels, counts, scans. */
static TrsvError ScanCounts(const TrsvMatrix *A, const TrsvAnalysis *a, Splitting *c, int scans, int *room,
                            int total[3])
{
  const int    all  = scans == 3;
  const size_t size = (size_t)A->rows;
  int *const count = room + size, *const sums = count + (size_t)scans * size;
  const int *end[TRSV_ADDRESSES];
  TrsvScan   scan[TRSV_SCANS];

  TrsvCall(TrsvLaunchEach(split_count, size, TriangleView(A), c->longest, a->statistics.levels, a->order, a->levels,
                          room, count, all ? count + size : NULL, all ? count + 2 * size : NULL));
  for (size_t n = 0; n < (size_t)scans; n++) {
    scan[n] = {A->rows, count + n * size, sums + n * (size + 1)};
    end[n]  = scan[n].offsets + size;
  }
  c->first  = sums;
  c->part   = all ? scan[1].offsets : NULL;
  c->sorted = all ? scan[2].offsets : NULL;
  TrsvCall(TrsvDeviceScanAll(scans, scan));
  return TrsvDeviceDownloadEach(total, end, scans);
}

/* Sorts the entries of the longest rows by row and level: two stable sorts. room [5 * n] */
static TrsvError SortEntries(const TrsvMatrix *A, const TrsvAnalysis *a, const Splitting *c, const int *level, int n,
                             int *room)
{
  const size_t size = (size_t)n;
  int *const row = room, *const number = row + n, *const sorted_number = number + n;
  unsigned *const key = (unsigned *)sorted_number + n, *const sorted_key = key + n;

  TrsvCall(TrsvLaunchEach(split_entries, size, TriangleView(A), n, c->sorted, level, key, row, number));
  TrsvCall(TrsvDeviceSort(n, TrsvBits(a->statistics.levels), key, sorted_key, number, sorted_number));
  TrsvCall(TrsvLaunchEach(split_keys, size, n, sorted_number, row, key));
  TrsvCall(TrsvDeviceSort(n, TrsvBits(A->rows), key, sorted_key, sorted_number, number));
  return TrsvLaunchEach(split_store, size, TriangleView(A), *c, n, level, sorted_key, number);
}

TrsvError TrsvSplitRows(const TrsvMatrix *A, const TrsvAnalysis *a, int longest, TrsvSplit *s, void **memory)
{
  const int    row_max = a->statistics.row_max - 1, scans = row_max > RANKED_MAX ? 3 : 1;
  const size_t size = (size_t)A->rows, off = (size_t)(a->statistics.nnz - A->rows);
  int          total[3] = {A->rows, A->rows, 0}, *room, *more; /* rows of the sequence; parts; sorted entries */
  Splitting    c        = Splitting();
  TrsvScratch  counts, entries;

  c.longest = longest;
  if (row_max > longest) {
    TrsvCall(counts.take((2 * (size_t)scans + 1) * size + (size_t)scans, room));
    TrsvCall(ScanCounts(A, a, &c, scans, room, total));
    if (total[0] < A->rows || off + (size_t)(total[0] - A->rows) >= INT_MAX)
      return TrsvFail(TRSV_ERR_UNSUPPORTED, "%d rows and %zu entries with their partial sums exceed 32-bit indices",
                      A->rows, off);
    TrsvCall(entries.take(off, c.entry, off, c.ready, (size_t)total[0], c.level, 5 * (size_t)total[2], more));
    if (longest < RANKED_MAX)
      TrsvCall(TrsvLaunch(split_rank, TrsvBlocks(A->rows, RANKED), BLOCK, 0, NULL, TriangleView(A), c, room));
    if (total[2]) TrsvCall(SortEntries(A, a, &c, room, total[2], more));
  }
  s->rows = total[0];
  s->off  = (int)off + total[0] - A->rows; /* each partial sum is an entry */
  const size_t rows = (size_t)s->rows, items = (size_t)s->off;
  TrsvCall(TrsvScratchArrays(memory, rows + 1, s->offsets, rows, s->row, size, s->last, items, s->items));
  return TrsvLaunchEach(split_make, (size_t)max(total[1], 1), TriangleView(A), c, total[1], *s);
}
