/*
   The level-ordered layout, on the host: long rows are cut into partial sums, then rows are sorted by level set.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "ordered.h"

/* Rows in an order of solution, partial sums right before the row they belong to. */
typedef struct {
  int  rows, off;
  int *offsets, *columns, *source; /* columns count rows of this sequence */
  int *row, *diagonal;             /* of the matrix, -1 for a partial sum; source of the diagonal, or -1 */
  int *level;
} Sequence;

typedef struct {
  int level, column, source;
} Entry;

static int ByLevel(const void *a, const void *b)
{
  const Entry *p = a, *q = b;

  return p->level != q->level ? (p->level > q->level) - (p->level < q->level) : (p->column > q->column) - (p->column < q->column);
}

/* How many partial sums a row of n dependencies is cut into: each takes `longest` entries away and becomes one. */
static int PartialSums(int n, int longest) { return n > longest ? (n - longest + longest - 2) / (longest - 1) : 0; }

static void Append(Sequence *s, int *at, Entry e)
{
  s->columns[*at]  = e.column;
  s->source[*at]   = e.source;
  if (e.level >= s->level[s->rows]) s->level[s->rows] = e.level + 1;
  ++*at;
}

static void Close(Sequence *s, int at, int row, int diagonal)
{
  s->row[s->rows]        = row;
  s->diagonal[s->rows]   = diagonal;
  s->offsets[++s->rows]  = at;
  s->level[s->rows]      = 0;
}

/* Takes the entry that is ready first, of entries [*e, n) and partial sums [*p, made), both in the order in which they get ready. */
static Entry Next(const Entry *entries, int *e, int n, const Entry *sums, int *p, int made)
{
  if (*p == made || (*e < n && entries[*e].level <= sums[*p].level)) return entries[(*e)++];
  return sums[(*p)++];
}

/* Sums up what is ready first, as often as it takes to leave no more than `longest` entries, and ends with the row itself: no row of the
   resulting tree waits for more than it must. The first sum takes fewer, so that all others are full. */
static void Cut(Sequence *s, int *at, Entry *entries, int n, int longest, Entry *sums)
{
  const int count = PartialSums(n, longest);
  int       e = 0, p = 0;

  qsort(entries, (size_t)n, sizeof(*entries), ByLevel);
  for (int made = 0; made < count; made++) {
    const int take = made ? longest : n - longest - (count - 1) * (longest - 1) + 1;

    for (int k = 0; k < take; k++) Append(s, at, Next(entries, &e, n, sums, &p, made));
    sums[made] = (Entry){s->level[s->rows], s->rows, -1};
    Close(s, *at, -1, -1);
  }
  while (e < n || p < count) Append(s, at, Next(entries, &e, n, sums, &p, count));
}

static void SequenceFree(Sequence *s)
{
  free(s->offsets);
  free(s->columns);
  free(s->source);
  free(s->row);
  free(s->diagonal);
  free(s->level);
}

static TrsvError SequenceMake(const TrsvMatrix *A, const int *source, int longest, Sequence *s)
{
  const int lower = A->triangle == TRSV_LOWER;
  size_t    rows  = (size_t)A->rows, off = (size_t)A->offsets[A->rows];
  int      *place = NULL, most = 0, at = 0;
  Entry    *entries = NULL;
  TrsvError error;

  memset(s, 0, sizeof(*s));
  for (int i = 0; i < A->rows; i++) {
    int begin, end, diagonal;

    TrsvRow(A, i, &begin, &end, &diagonal);
    rows += (size_t)PartialSums(end - begin, longest);
    if (end - begin > most) most = end - begin;
  }
  off += rows - (size_t)A->rows; /* each partial sum is an entry too */
  if (rows >= INT_MAX || off >= INT_MAX) return TrsvFail(TRSV_ERR_UNSUPPORTED, "%zu rows and %zu entries, partial sums included, are too many for 32-bit indices", rows, off);
  error = TrsvAlloc(sizeof(int) * (rows + 1), &s->offsets);
  if (!error) error = TrsvAlloc(sizeof(int) * off, &s->columns);
  if (!error) error = TrsvAlloc(sizeof(int) * off, &s->source);
  if (!error) error = TrsvAlloc(sizeof(int) * rows, &s->row);
  if (!error) error = TrsvAlloc(sizeof(int) * rows, &s->diagonal);
  if (!error) error = TrsvAlloc(sizeof(int) * (rows + 1), &s->level);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)A->rows, &place);
  if (!error) error = TrsvAlloc(2 * sizeof(*entries) * (size_t)most, &entries);
  if (!error) s->offsets[0] = s->level[0] = 0;
  for (int r = 0; !error && r < A->rows; r++) {
    const int i = lower ? r : A->rows - 1 - r;
    int       begin, end, diagonal, n;

    TrsvRow(A, i, &begin, &end, &diagonal);
    n = end - begin;
    for (int k = 0; k < n; k++) {
      const int   from = lower ? begin + k : end - 1 - k, column = place[A->columns[from]]; /* the nearest last */
      const Entry e    = {s->level[column], column, source ? source[from] : from};

      if (n > longest) entries[k] = e;
      else Append(s, &at, e);
    }
    if (n > longest) Cut(s, &at, entries, n, longest, entries + most);
    place[i] = s->rows;
    Close(s, at, i, diagonal < 0 ? -1 : source ? source[diagonal] : diagonal);
  }
  s->off = at;
  free(place);
  free(entries);
  return error;
}

/* Counting sort by level; position[r] is where row r of the sequence goes. */
static TrsvError Positions(const Sequence *s, int **position)
{
  int      *start, levels = 0;
  TrsvError error;

  for (int r = 0; r < s->rows; r++)
    if (s->level[r] >= levels) levels = s->level[r] + 1;
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)s->rows, position));
  error = TrsvAlloc(sizeof(int) * ((size_t)levels + 1), &start);
  if (error) {
    free(*position);
    *position = NULL;
    return error;
  }
  memset(start, 0, sizeof(int) * ((size_t)levels + 1));
  for (int r = 0; r < s->rows; r++) start[s->level[r] + 1]++;
  for (int l = 0; l < levels; l++) start[l + 1] += start[l];
  for (int r = 0; r < s->rows; r++) (*position)[r] = start[s->level[r]]++;
  free(start);
  return TRSV_SUCCESS;
}

/* Copies the rows of a sequence to their positions. */
static void Place(const Sequence *s, const int *position, int width, TrsvOrderedRows *o)
{
  for (int r = 0; r < s->rows; r++) o->offsets[position[r] + 1] = width ? width : s->offsets[r + 1] - s->offsets[r];
  o->offsets[0] = 0;
  for (int p = 0; p < s->rows; p++) o->offsets[p + 1] += o->offsets[p];
  for (int r = 0; r < s->rows; r++) {
    const int p  = position[r];
    int       to = o->offsets[p];

    for (int k = s->offsets[r]; k < s->offsets[r + 1]; k++, to++) {
      o->columns[to] = position[s->columns[k]];
      o->source[to]  = s->source[k];
    }
    for (; to < o->offsets[p + 1]; to++) o->columns[to] = o->source[to] = -1;
    o->order[p]          = s->row[r];
    o->source[o->off + p] = s->diagonal[r];
  }
}

TrsvError TrsvOrder(const TrsvMatrix *A, const int *source, int longest, int padded, TrsvOrderedRows *o)
{
  Sequence  s;
  int      *position = NULL;
  TrsvError error    = SequenceMake(A, source, longest, &s);

  memset(o, 0, sizeof(*o));
  if (!error && padded && s.rows > INT_MAX / longest) error = TrsvFail(TRSV_ERR_UNSUPPORTED, "%d rows of %d are too many for 32-bit indices", s.rows, longest);
  if (!error) error = Positions(&s, &position);
  if (!error) {
    o->rows = s.rows;
    o->off  = padded ? s.rows * longest : s.off;
    error   = TrsvAlloc(sizeof(int) * ((size_t)o->rows + 1), &o->offsets);
  }
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)o->off, &o->columns);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)o->rows, &o->order);
  if (!error) error = TrsvAlloc(sizeof(int) * ((size_t)o->off + (size_t)o->rows), &o->source);
  if (!error) Place(&s, position, padded ? longest : 0, o);
  free(position);
  SequenceFree(&s);
  if (error) TrsvOrderFree(o);
  return error;
}

void TrsvOrderFree(TrsvOrderedRows *o)
{
  free(o->offsets);
  free(o->columns);
  free(o->order);
  free(o->source);
  memset(o, 0, sizeof(*o));
}
