/*
   The blocks of `recblock`, made on the host: the order of the rows, the kernels, the entries of each block.

   Source: Lu, Niu, Liu (ICPP 2020): "Improved Recursive Block Data Structure". The whole triangle is brought into the
   order of its level sets, then each half, looked at alone, into that of its own, and so on; entries move from
   triangles to squares by that. Column and row blocks, of which the paper has none of that, have their segments brought
   into the order of their own level sets once. What is changed: triangles are in rows, not columns, and everything is
   where it stands in places of the whole; halves start at multiples of 32 rows.

   O((rows + entries) * depth) and a sort of each row's entries.
*/
#include <stdlib.h>
#include <string.h>
#include "papers/recblock/recblock.h"

enum {
  SHORT         = 64,     /* entries that are sorted by insertion */
  ALIGN         = 32,     /* rows to which segments are rounded, so that vectors of them are aligned */
  MOST_LAUNCHES = 65536,  /* some 0.1 s a solve, and about as long to make the graph */
  MOST_OFFSETS  = 1 << 29 /* row offsets: 2 GB */
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
  int              *bounds;  /* [segments + 1] in places */
  int              *place;   /* [rows] of each row */
  int              *segment; /* [rows] of each place */
  int              *depth;   /* [rows] of each row: its level set among its part */
  int              *start;   /* [rows + 2] of level sets */
  int              *sets;    /* [segments] how many each segment has */
  int              *order;   /* [rows] the next one */
  Entry            *entry;   /* [row_max] */
  int              *filled, *last, *number,
    *next; /* [2 * segments] of a block: its filled rows; the last of them; where it is in the list; the next entry */
} Maker;

static void Split(const Maker *m, int segment, int segments, int first, int last)
{
  const int half = ((last - first) / 2 + ALIGN - 1) / ALIGN * ALIGN, middle = half < last - first ? first + half : last;

  m->bounds[segment + segments] = last;
  if (segments == 1) return;
  Split(m, segment, segments / 2, first, middle);
  Split(m, segment + segments / 2, segments / 2, middle, last);
}

/* Brings the rows of a part into the order of its level sets; start [returned + 1] says where these start, from
   start[0] = first on. */
static int Reorder(const Maker *m, int first, int last)
{
  int *const order = m->r->order, *const start = m->start;
  int        sets = 0;

  for (int p = first; p < last; p++) {
    int begin, end, diagonal, depth = 0;

    TrsvRow(m->A, order[p], &begin, &end, &diagonal);
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

/* Halves, quarters, ...; of columns and rows only the segments. Notes the level sets of the segments. */
static TrsvError ReorderAll(Maker *m)
{
  TrsvRecblocks *r    = m->r;
  const int      each = r->settings.type == RECBLOCK_RECURSIVE;
  size_t         room = 0;

  for (int parts = each ? 1 : m->segments; parts <= m->segments;
       parts *= 2) /* the whole, too: it is in that order, but its sets are wanted */
    for (int i = 0; i < parts; i++) {
      const int wide = m->segments / parts, sets = Reorder(m, m->bounds[i * wide], m->bounds[(i + 1) * wide]);

      if (parts < m->segments) continue;
      if ((size_t)r->level_count + (size_t)sets + 1 > room) {
        room          = 2 * room + (size_t)sets + 1;
        int *const to = realloc(r->level, sizeof(int) * room);
        if (!to) return TrsvFail(TRSV_ERR_MEMORY, "no memory for the level sets of %d blocks", m->segments);
        r->level = to;
      }
      memcpy(r->level + r->level_count, m->start, sizeof(int) * ((size_t)sets + 1));
      r->level_count += sets + 1;
      m->sets[i] = sets;
    }
  return TRSV_SUCCESS;
}

/* Which square block has the entries between two segments: the number of its segment. */
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
  if (*last > segments) *last = segments; /* there is none */
}

/* Blocks have numbers while they are made: 2 s is the triangle of segment s, 2 s + 1 the square. */
static int NumberOf(const Maker *m, int row, int column)
{
  const int i = m->segment[row], j = m->segment[column];

  return i == j ? 2 * i : 2 * SquareOf((TrsvRecblockType)m->r->settings.type, i, j) + 1;
}

static int ByPlace(const void *a, const void *b) { return ((const Entry *)a)->place - ((const Entry *)b)->place; }

/* The entries of the row in a place, off the diagonal, by place; returns how many. */
static int Entries(const Maker *m, int p, int *diagonal)
{
  Entry *const e = m->entry;
  int          begin, end, n = 0;

  TrsvRow(m->A, m->r->order[p], &begin, &end, diagonal);
  for (int k = begin; k < end; k++) {
    const Entry next = {m->place[m->A->columns[k]], k};
    int         i    = n++;

    for (; end - begin <= SHORT && i > 0 && e[i - 1].place > next.place; i--) e[i] = e[i - 1];
    e[i] = next;
  }
  if (end - begin > SHORT) qsort(e, (size_t)n, sizeof(*e), ByPlace);
  return n;
}

static TrsvError Count(Maker *m)
{
  TrsvRecblocks *r     = m->r;
  const int      total = 2 * m->segments, type = r->settings.type;

  TrsvCall(TrsvAlloc(sizeof(*r->block) * (size_t)total, &r->block));
  memset(r->block, 0, sizeof(*r->block) * (size_t)total);
  /* in the order in which they are worked off */
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

    TrsvRow(m->A, r->order[p], &begin, &end, &diagonal);
    for (int k = begin; k < end; k++) {
      const int         number = NumberOf(m, p, m->place[m->A->columns[k]]);
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

/* Drops empty blocks; chooses kernels; says where each block's arrays start. */
static TrsvError Choose(Maker *m, int has_cusparse)
{
  TrsvRecblocks *r = m->r;
  const int      stored = m->A->diagonal == TRSV_DIAGONAL_STORED;
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
    if (offsets > MOST_OFFSETS || entries > 0x7fffffff)
      return TrsvFail(
        TRSV_ERR_UNSUPPORTED,
        "recblock: the blocks have more than %d row offsets; a smaller depth, depth=4 say, or a square kernel in DCSR "
        "has fewer",
        MOST_OFFSETS);
    if (!b.square && b.kernel == RECBLOCK_CUSPARSE) r->has_cusparse = 1;
    m->number[number]     = r->blocks;
    r->block[r->blocks++] = b;
  }
  if (launches > MOST_LAUNCHES)
    return TrsvFail(
      TRSV_ERR_UNSUPPORTED,
      "recblock: %ld launches a solve, one for each level set of a block with the level-set kernel; %d is the limit; "
      "triangle=syncfree has fewer",
      launches, MOST_LAUNCHES);
  r->offset_count = (int)offsets;
  r->index_count  = (int)index;
  r->entries      = (int)entries;
  r->launches     = (int)launches;
  return TRSV_SUCCESS;
}

static void Put(Maker *m, int number, int p, int column, int at)
{
  TrsvRecblocks *r = m->r;
  TrsvRecblockPart  *b = r->block + m->number[number];
  const int      k = b->entry + m->next[number]++;
  int            row = p - b->first;

  if (TrsvRecblockIsDcsr(b)) {
    if (m->last[number] != p) r->index[b->index + m->filled[number]++] = p;
    row = m->filled[number] - 1;
  }
  m->last[number] = p;
  r->offsets[b->offset + row + 1]++;
  r->columns[k] = !b->square && b->kernel == RECBLOCK_CUSPARSE ? column - b->first : column;
  r->source[k]  = m->source ? m->source[at] : at;
}

static TrsvError Fill(Maker *m)
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
    int       diagonal, n = Entries(m, p, &diagonal);

    for (int i = 0; i < n; i++) Put(m, NumberOf(m, p, m->entry[i].place), p, m->entry[i].place, m->entry[i].at);
    if (!stored) continue;
    r->diagonal[p] = m->source ? m->source[diagonal] : diagonal;
    if (r->block[m->number[own]].kernel == RECBLOCK_CUSPARSE) Put(m, own, p, p, diagonal);
  }
  for (int i = 0; i < r->blocks; i++) {
    int *const offsets = r->offsets + r->block[i].offset;

    for (int k = 0; k < r->block[i].count; k++) offsets[k + 1] += offsets[k];
  }
  return TRSV_SUCCESS;
}

static TrsvError Prepare(Maker *m, const TrsvAnalysis *analysis)
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
  Split(m, 0, m->segments, 0, r->rows);
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
  error      = Prepare(&m, analysis);
  if (!error) error = ReorderAll(&m);
  if (!error) error = Count(&m);
  if (!error) error = Choose(&m, has_cusparse);
  if (!error) error = Fill(&m);
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
