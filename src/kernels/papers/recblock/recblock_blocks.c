/*
   The blocks of `recblock`, made on the host: the order of the rows, the kernels, the entries of each block.

   Source: Lu, Niu, Liu (ICPP 2020): "Improved Recursive Block Data Structure". The whole triangle is sorted by its
     level sets, then each half by its own level sets, and so on; this moves entries from triangles to squares. With
     column and row blocks, for which the paper has no reordering, each segment is sorted once. Changes: triangles are
     stored by rows, not columns; all indices are places of the whole triangle; halves start at multiples of 32 rows.

   Takes O((rows + entries) * depth) and a sort of each row's entries.
*/
#include <stdlib.h>
#include <string.h>
#include "papers/recblock/recblock.h"

enum {
  INSERTION_MAX = 64,     /* entries of a row that are sorted by insertion, at most */
  ALIGNMENT     = 32,     /* segments start at multiples of so many rows, so that their vectors are aligned */
  LAUNCHES_MAX  = 65536,  /* a solve then takes about 0.1 s, and so does making the graph */
  OFFSETS_MAX   = 1 << 29 /* row offsets, at most: 2 GB */
};

/* An entry of a row, sorted by place. */
typedef struct {
  int place, at;
} Entry;

typedef struct {
  const TrsvMatrix *A;
  const int        *source;
  TrsvRecblocks    *r;
  int               segments;
  int              *bounds;    /* [segments + 1] the first place of each segment */
  int              *place;     /* [rows] the place of each row */
  int              *segment;   /* [rows] the segment of each place */
  int              *depth;     /* [rows] the level set of each row in its part */
  int              *start;     /* [rows + 2] the start of each level set */
  int              *sets;      /* [segments] level sets of each segment */
  int              *order;     /* [rows] scratch */
  Entry            *entry;     /* [row_max] */
  int *filled, *last, *number; /* [2 * segments] of a block: filled rows; the last one; its index in block */
  int *next;                   /* [2 * segments] of a block: the next entry */
} Maker;

static void SplitSegments(const Maker *m, int segment, int segments, int first, int last)
{
  const int half   = ((last - first) / 2 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
            middle = half < last - first ? first + half : last;

  m->bounds[segment + segments] = last;
  if (segments == 1) return;
  SplitSegments(m, segment, segments / 2, first, middle);
  SplitSegments(m, segment + segments / 2, segments / 2, middle, last);
}

/* Sorts the rows of a part by its level sets; returns their number, and their starts in start, start[0] = first. */
static int SortByLevel(const Maker *m, int first, int last)
{
  int *const order = m->r->order, *const start = m->start;
  int sets = 0;

  for (int p = first; p < last; p++) {
    int begin, end, diagonal, depth = 0;

    TrsvRowRange(m->A, order[p], &begin, &end, &diagonal);
    for (int k = begin; k < end; k++) {
      const int column = m->A->columns[k];

      if (m->place[column] >= first && m->depth[column] >= depth) depth = m->depth[column] + 1;
    }
    m->depth[order[p]] = depth;
    for (; sets <= depth; sets++) start[sets + 1] = 0;
    start[depth + 1]++;
  }
  start[0] = first;
  for (int s = 0; s < sets; s++) start[s + 1] += start[s];
  for (int p = first; p < last; p++) m->order[start[m->depth[order[p]]]++] = order[p];
  for (int s = sets; s > 0; s--) start[s] = start[s - 1];
  start[0] = first;
  for (int p = first; p < last; p++) {
    order[p]           = m->order[p];
    m->place[order[p]] = p;
  }
  return sets;
}

/* Sorts the whole, halves, quarters, ...; for column and row blocks only segments. Records the segments' level sets. */
static TrsvError SortAllParts(Maker *m)
{
  TrsvRecblocks *r    = m->r;
  const int      each = r->settings.type == RECBLOCK_RECURSIVE;
  size_t         room = 0;

  for (int parts = each ? 1 : m->segments; parts <= m->segments; parts *= 2) /* the whole for its level sets */
    for (int i = 0; i < parts; i++) {
      const int wide = m->segments / parts, sets = SortByLevel(m, m->bounds[i * wide], m->bounds[(i + 1) * wide]);

      if (parts < m->segments) continue;
      if ((size_t)r->level_count + (size_t)sets + 1 > room) {
        room          = 2 * room + (size_t)sets + 1;
        int *const to = realloc(r->level, sizeof(int) * room);
        if (!to) return TrsvFail(TRSV_ERR_MEMORY, "recblock: no memory for the level sets of %d blocks", m->segments);
        r->level = to;
      }
      memcpy(r->level + r->level_count, m->start, sizeof(int) * ((size_t)sets + 1));
      r->level_count += sets + 1;
      m->sets[i] = sets;
    }
  return TRSV_SUCCESS;
}

/* The segment whose square block has the entries of these two segments. */
static int SquareOf(TrsvRecblockType type, int row, int column)
{
  int bit = 0;

  if (type == RECBLOCK_COLUMN) return column;
  if (type == RECBLOCK_ROW) return row;
  while ((row ^ column) >> (bit + 1)) bit++;
  return (row >> bit << bit) - 1;
}

/* The rows of a square block are those of segments [*first, *last). */
static void SquareRows(TrsvRecblockType type, int s, int segments, int *first, int *last)
{
  *first = type == RECBLOCK_ROW ? s : s + 1;
  *last  = type == RECBLOCK_ROW ? s + 1 : type == RECBLOCK_COLUMN ? segments : s + 1 + ((s + 1) & -(s + 1));
  if (*last > segments) *last = segments; /* no such block */
}

/* The number of a block while blocks are made: 2 s for the triangle of segment s, 2 s + 1 for its square. */
static int BlockNumber(const Maker *m, int row, int column)
{
  const int i = m->segment[row], j = m->segment[column];

  return i == j ? 2 * i : 2 * SquareOf((TrsvRecblockType)m->r->settings.type, i, j) + 1;
}

static int ComparePlaces(const void *a, const void *b) { return ((const Entry *)a)->place - ((const Entry *)b)->place; }

/* Collects the off-diagonal entries of the row at a place, sorted by place; returns their number. */
static int CollectEntries(const Maker *m, int p, int *diagonal)
{
  Entry *const e = m->entry;
  int          begin, end, n = 0;

  TrsvRowRange(m->A, m->r->order[p], &begin, &end, diagonal);
  for (int k = begin; k < end; k++) {
    const Entry next = {m->place[m->A->columns[k]], k};
    int         i    = n++;

    for (; end - begin <= INSERTION_MAX && i > 0 && e[i - 1].place > next.place; i--) e[i] = e[i - 1];
    e[i] = next;
  }
  if (end - begin > INSERTION_MAX) qsort(e, (size_t)n, sizeof(*e), ComparePlaces);
  return n;
}

static TrsvError CountEntries(Maker *m)
{
  TrsvRecblocks *r     = m->r;
  const int      total = 2 * m->segments, type = r->settings.type;

  TrsvCall(TrsvAlloc(sizeof(*r->block) * (size_t)total, &r->block));
  memset(r->block, 0, sizeof(*r->block) * (size_t)total);
  /* in the order of solution */
  for (int i = 0, level = 0; i < total; i++) {
    const int     number = type == RECBLOCK_ROW ? i ^ 1 : i, s = number / 2;
    TrsvRecblockPart *b = r->block + i;
    int           first = s, last = s + 1;

    m->number[number] = i;
    b->square         = number & 1;
    if (b->square) SquareRows((TrsvRecblockType)type, s, m->segments, &first, &last);
    b->first = m->bounds[first];
    b->rows  = m->bounds[last] - b->first;
    if (b->square) continue;
    b->level  = level;
    b->levels = m->sets[s];
    level += m->sets[s] + 1;
  }
  for (int i = 0; i < total; i++) m->last[i] = -1;
  for (int p = 0; p < r->rows; p++) {
    int begin, end, diagonal;

    TrsvRowRange(m->A, r->order[p], &begin, &end, &diagonal);
    for (int k = begin; k < end; k++) {
      const int         number = BlockNumber(m, p, m->place[m->A->columns[k]]);
      TrsvRecblockPart *b      = r->block + m->number[number];

      b->entries++;
      if (m->last[number] != p) {
        m->filled[number]++;
        m->next[number] = 0;
      }
      m->last[number] = p;
      if (++m->next[number] > b->longest) b->longest = m->next[number];
    }
  }
  return TRSV_SUCCESS;
}

/* Removes empty blocks, chooses kernels, and sets the start of each block's arrays. */
static TrsvError ChooseKernels(Maker *m, int has_cusparse)
{
  TrsvRecblocks *r       = m->r;
  const int      stored  = m->A->diagonal == TRSV_DIAGONAL_STORED;
  long           offsets = 0, index = 0, entries = 0, launches = 0;

  for (int i = 0; i < 2 * m->segments; i++) {
    const int    number = r->settings.type == RECBLOCK_ROW ? i ^ 1 : i;
    TrsvRecblockPart b      = r->block[i];

    if (b.square ? !b.entries : !b.rows) continue;
    if (b.square) TrsvRecblockChooseSquare(&r->settings, m->filled[number], &b);
    else {
      TrsvRecblockChooseTriangle(&r->settings, stored, has_cusparse, &b);
      b.count = b.rows;
    }
    b.entry  = (int)entries;
    b.offset = (int)offsets;
    b.index  = (int)index;
    entries += b.entries;
    offsets += b.count + 1;
    index += TrsvRecblockIsDcsr(&b) ? b.count : 0;
    launches += !b.square && b.kernel == RECBLOCK_LEVEL ? b.levels : 1;
    if (offsets > OFFSETS_MAX || entries > 0x7fffffff)
      return TrsvFail(
        TRSV_ERR_UNSUPPORTED,
        "recblock: the blocks have more than %d row offsets; use a smaller depth, such as depth=4, or a square kernel "
        "in DCSR",
        OFFSETS_MAX);
    if (!b.square && b.kernel == RECBLOCK_CUSPARSE) r->has_cusparse = 1;
    m->number[number]     = r->blocks;
    r->block[r->blocks++] = b;
  }
  if (launches > LAUNCHES_MAX)
    return TrsvFail(
      TRSV_ERR_UNSUPPORTED,
      "recblock: level-set kernels need %ld launches for each solve; the limit is %d; use triangle=syncfree",
      launches, LAUNCHES_MAX);
  r->offset_count = (int)offsets;
  r->index_count  = (int)index;
  r->entries      = (int)entries;
  r->launches     = (int)launches;
  return TRSV_SUCCESS;
}

static void PutEntry(Maker *m, int number, int p, int column, int at)
{
  TrsvRecblocks    *r   = m->r;
  TrsvRecblockPart *b   = r->block + m->number[number];
  const int         k   = b->entry + m->next[number]++;
  int               row = p - b->first;

  if (TrsvRecblockIsDcsr(b)) {
    if (m->last[number] != p) r->index[b->index + m->filled[number]++] = p;
    row = m->filled[number] - 1;
  }
  m->last[number] = p;
  r->offsets[b->offset + row + 1]++;
  r->columns[k] = !b->square && b->kernel == RECBLOCK_CUSPARSE ? column - b->first : column;
  r->source[k]  = m->source ? m->source[at] : at;
}

static TrsvError FillBlocks(Maker *m)
{
  TrsvRecblocks *r      = m->r;
  const size_t   total  = 2 * (size_t)m->segments;
  const int      stored = m->A->diagonal == TRSV_DIAGONAL_STORED;

  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)r->offset_count, &r->offsets));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)r->index_count, &r->index));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)r->entries, &r->columns));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)r->entries, &r->source));
  if (stored) TrsvCall(TrsvAlloc(sizeof(int) * (size_t)r->rows, &r->diagonal));
  memset(r->offsets, 0, sizeof(int) * (size_t)r->offset_count);
  memset(m->filled, 0, sizeof(int) * total);
  memset(m->next, 0, sizeof(int) * total);
  memset(m->last, 0xff, sizeof(int) * total);
  for (int p = 0; p < r->rows; p++) {
    const int own = 2 * m->segment[p];
    int       diagonal, n = CollectEntries(m, p, &diagonal);

    for (int i = 0; i < n; i++) PutEntry(m, BlockNumber(m, p, m->entry[i].place), p, m->entry[i].place, m->entry[i].at);
    if (!stored) continue;
    r->diagonal[p] = m->source ? m->source[diagonal] : diagonal;
    if (r->block[m->number[own]].kernel == RECBLOCK_CUSPARSE) PutEntry(m, own, p, p, diagonal);
  }
  for (int i = 0; i < r->blocks; i++) {
    int *const offsets = r->offsets + r->block[i].offset;

    for (int k = 0; k < r->block[i].count; k++) offsets[k + 1] += offsets[k];
  }
  return TRSV_SUCCESS;
}

static TrsvError PrepareMaker(Maker *m, const TrsvAnalysis *analysis)
{
  TrsvRecblocks *r    = m->r;
  const size_t   rows = (size_t)r->rows, segments = (size_t)m->segments;

  TrsvCall(TrsvAlloc(sizeof(int) * rows, &r->order));
  TrsvCall(TrsvAlloc(sizeof(int) * (segments + 1), &m->bounds));
  TrsvCall(TrsvAlloc(sizeof(int) * rows, &m->place));
  TrsvCall(TrsvAlloc(sizeof(int) * rows, &m->segment));
  TrsvCall(TrsvAlloc(sizeof(int) * rows, &m->depth));
  TrsvCall(TrsvAlloc(sizeof(int) * (rows + 2), &m->start));
  TrsvCall(TrsvAlloc(sizeof(int) * segments, &m->sets));
  TrsvCall(TrsvAlloc(sizeof(int) * rows, &m->order));
  TrsvCall(TrsvAlloc(sizeof(*m->entry) * (size_t)analysis->statistics.row_max, &m->entry));
  TrsvCall(TrsvAlloc(sizeof(int) * 8 * segments, &m->filled));
  memset(m->filled, 0, sizeof(int) * 8 * segments);
  m->last   = m->filled + 2 * segments;
  m->number = m->last + 2 * segments;
  m->next   = m->number + 2 * segments;
  memcpy(r->order, analysis->order, sizeof(int) * rows);
  for (int p = 0; p < r->rows; p++) m->place[r->order[p]] = p;
  m->bounds[0] = 0;
  SplitSegments(m, 0, m->segments, 0, r->rows);
  for (int s = 0; s < m->segments; s++)
    for (int p = m->bounds[s]; p < m->bounds[s + 1]; p++) m->segment[p] = s;
  return TRSV_SUCCESS;
}

TrsvError TrsvRecblocksMake(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                            const TrsvRecblockSettings *settings, int multiprocessors, int has_cusparse,
                            TrsvRecblocks *r)
{
  Maker     m;
  TrsvError error;

  memset(&m, 0, sizeof(m));
  r->settings = *settings;
  r->rows     = A->rows;
  if (r->settings.depth < 0)
    r->settings.depth = TrsvRecblockDepth(settings, A->rows, analysis->statistics.levels, multiprocessors);
  m.A        = A;
  m.source   = source;
  m.r        = r;
  m.segments = 1 << r->settings.depth;
  error      = PrepareMaker(&m, analysis);
  if (!error) error = SortAllParts(&m);
  if (!error) error = CountEntries(&m);
  if (!error) error = ChooseKernels(&m, has_cusparse);
  if (!error) error = FillBlocks(&m);
  free(m.bounds);
  free(m.place);
  free(m.segment);
  free(m.depth);
  free(m.start);
  free(m.sets);
  free(m.order);
  free(m.entry);
  free(m.filled);
  return error;
}

void TrsvRecblocksFree(TrsvRecblocks *r)
{
  free(r->block);
  free(r->order);
  free(r->diagonal);
  free(r->offsets);
  free(r->index);
  free(r->level);
  free(r->columns);
  free(r->source);
}
