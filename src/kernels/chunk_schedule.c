/*
   The schedule of the algorithm `chunk`, made on the host in phases that are linear in rows and entries:

     cut      the rows, in solve order, into chunks of equally many records
     heights  a pass from the last row to the first: how many steps the longest chain behind each row takes, crossings counted;
              also which rows are needed in other chunks
     then chunk by chunk, in the cache:
     nodes    rows and, where a row is longer than a record, partial sums
     place    in falling height (a radix sort), each node at the earliest step that its dependencies allow and that has room
     emit     records, imports in order of need, exports in order of production
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "chunk.h"

enum { PUSHED = 1, EXPORTED = 2, MOST = 13 };

typedef struct {
  const TrsvMatrix *A;
  const int        *source;
  ChunkSchedule    *out;
  int               K, W, shift, steps; /* dependencies of a record, records of a step and their logarithm, steps of a stage */
  int               capacity;          /* cells for imports */

  /* of the whole triangle, by position in solve order */
  int           *cuts;   /* [chunks + 1] */
  int           *height, *finish;
  unsigned char *needed; /* PUSHED, EXPORTED */
  int           *word;   /* where a row's result stands among the exports */
  size_t        *tail;   /* where a row's tail is, for its push cell */
  int           *seen, *import_; /* the chunk that last imported it, and which of its imports that is */

  /* of one chunk, by node */
  int  q, first, near_first, nodes, deps;
  int *begin, *ref, *from; /* begin [nodes + 1]; ref: a node of this chunk, or -1 - position of another; from: as in sources */
  int *owner, *partial;    /* the position of its row; is it a partial sum? */
  int *rank, *time, *at, *order, *spare, *own, *soon; /* at: step * W + lane; own: import of the chunk itself */
  int *item_time, *item_ref, *item_from;

  /* of steps, by time */
  int *load, *next, times;

  /* of imports: last stage that uses each */
  int   *last;
  size_t imports_room, stages_room, lasts_room, batches_room;
} Work;

static int Row(const Work *w, int p) { return w->A->triangle == TRSV_LOWER ? p : w->A->rows - 1 - p; }

static int Position(const Work *w, int row) { return Row(w, row); }

/* Off-diagonal entries of the row at a position. */
static int Length(const TrsvMatrix *A, int row) { return A->offsets[row + 1] - A->offsets[row] - (A->diagonal == TRSV_DIAGONAL_STORED); }

static int Records(int length, int K) { return length <= K ? 1 : 1 + (length - K + K - 2) / (K - 1); }

static TrsvError Grow(void *array, size_t *room, size_t want, size_t size)
{
  void **a = array, *p;

  if (want <= *room) return TRSV_SUCCESS;
  want += want / 2 + 64;
  p = realloc(*a, want * size);
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a schedule");
  *a    = p;
  *room = want;
  return TRSV_SUCCESS;
}

/* --- cut --- */

static TrsvError Cut(Work *w)
{
  const TrsvMatrix *A = w->A;
  long              all = 0, sum = 0;
  int               q = 0, most_nodes = 0, most_deps = 0, most_row = 0;

  for (int i = 0; i < A->rows; i++) all += Records(Length(A, i), w->K);
  w->out->records = all;
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)w->out->settings.chunks + 1), &w->cuts));
  w->cuts[0] = 0;
  for (int p = 0, nodes = 0, deps = 0; p < A->rows; p++) {
    const int length = Length(A, Row(w, p)), records = Records(length, w->K);

    sum += records, nodes += records, deps += length + records - 1;
    if (length > most_row) most_row = length;
    if (nodes > most_nodes) most_nodes = nodes;
    if (deps > most_deps) most_deps = deps;
    if (p + 1 == A->rows || ((double)sum * w->out->settings.chunks >= (double)all * (q + 1) && q + 1 < w->out->settings.chunks)) w->cuts[++q] = p + 1, nodes = deps = 0;
  }
  w->out->chunks = w->out->settings.chunks = q;

  const size_t n = (size_t)most_nodes + 1, m = (size_t)A->rows + 1, d = (size_t)most_row + 1;
  TrsvCall(TrsvAlloc(sizeof(int) * m, &w->height));
  TrsvCall(TrsvAlloc(sizeof(int) * m, &w->finish));
  TrsvCall(TrsvAlloc(m, &w->needed));
  TrsvCall(TrsvAlloc(sizeof(int) * m, &w->word));
  TrsvCall(TrsvAlloc(sizeof(size_t) * m, &w->tail));
  TrsvCall(TrsvAlloc(sizeof(int) * m, &w->seen));
  TrsvCall(TrsvAlloc(sizeof(int) * m, &w->import_));
  TrsvCall(TrsvAlloc(sizeof(int) * (n + 1), &w->begin));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)most_deps + 1), &w->ref));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)most_deps + 1), &w->from));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->owner));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->partial));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->rank));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->time));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->at));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->order));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->spare));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->own));
  TrsvCall(TrsvAlloc(sizeof(int) * n, &w->soon));
  TrsvCall(TrsvAlloc(sizeof(int) * 2 * d, &w->item_time));
  TrsvCall(TrsvAlloc(sizeof(int) * 2 * d, &w->item_ref));
  TrsvCall(TrsvAlloc(sizeof(int) * 2 * d, &w->item_from));
  memset(w->height, 0, sizeof(int) * m);
  memset(w->needed, 0, m);
  memset(w->seen, 255, sizeof(int) * m);
  return TRSV_SUCCESS;
}

/* --- heights --- */

/* Rows from here on are pushed to chunk q, or belong to it. */
static int NearFirst(const Work *w, int q) { return q % w->out->settings.cluster ? w->cuts[q - 1] : w->cuts[q]; }

static void Heights(Work *w)
{
  const TrsvMatrix        *A = w->A;
  const TrsvChunkSettings *s = &w->out->settings;

  for (int q = w->out->chunks - 1; q >= 0; q--) {
    const int first = w->cuts[q], near_first = NearFirst(w, q);

    for (int p = w->cuts[q + 1] - 1; p >= first; p--) {
      const int h = w->height[p];
      int       begin, end, diagonal;

      TrsvRow(A, Row(w, p), &begin, &end, &diagonal);
      for (int k = begin; k < end; k++) {
        const int c = Position(w, A->columns[k]), t = h + (c >= first ? 1 : c >= near_first ? s->near : s->far);

        if (t > w->height[c]) w->height[c] = t;
        if (c < first) w->needed[c] |= c >= near_first ? PUSHED : EXPORTED;
      }
    }
  }
}

/* --- sort --- */

/* order [n] by rising key, equal keys in the order they have; spare [n]. Keys are not negative. */
static void Sort(int n, const int *key, int *order, int *spare)
{
  int most = 0, *a = order, *b = spare;

  for (int i = 0; i < n; i++)
    if (key[i] > most) most = key[i];
  for (int i = 0; i < n; i++) a[i] = i;
  for (int shift = 0; shift < 31 && most >> shift; shift += 11) {
    int count[2049] = {0};

    for (int i = 0; i < n; i++) count[((key[i] >> shift) & 2047) + 1]++;
    for (int d = 0; d < 2048; d++) count[d + 1] += count[d];
    for (int i = 0; i < n; i++) b[count[(key[a[i]] >> shift) & 2047]++] = a[i];
    int *t = a;
    a = b, b = t;
  }
  if (a != order) memcpy(order, a, sizeof(int) * (size_t)n);
}

/* --- nodes --- */

/* When a result can be used: here in the step after its own, elsewhere after a crossing. */
static int Ready(const Work *w, int ref)
{
  if (ref >= 0) return w->time[ref] + 1;
  return w->finish[-1 - ref] + (-1 - ref >= w->near_first ? w->out->settings.near : w->out->settings.far);
}

static void AddNode(Work *w, int p, int partial, int rank)
{
  w->owner[w->nodes]   = p;
  w->partial[w->nodes] = partial;
  w->rank[w->nodes]    = rank;
  w->begin[++w->nodes] = w->deps;
}

static void AddDependency(Work *w, int ref, int from)
{
  w->ref[w->deps]    = ref;
  w->from[w->deps++] = from;
}

/* A row longer than a record: as long as it is, its K readiest items become a partial sum, an item ready one step later. Of all trees
   of sums this one is ready first. The sorted items and the sums each form a queue, so the readiest is at one of two heads. */
static int Split(Work *w, int p, int n)
{
  const int K = w->K;
  int       a = 0, b = n, end = n, ready = 0;
  int      *time = w->item_time, *ref = w->item_ref, *from = w->item_from;

  /* by readiness; rows are short as a rule */
  for (int i = 1; i < n && n <= 64; i++) {
    const int t = time[i], r = ref[i], f = from[i];
    int       j = i;

    for (; j > 0 && time[j - 1] > t; j--) time[j] = time[j - 1], ref[j] = ref[j - 1], from[j] = from[j - 1];
    time[j] = t, ref[j] = r, from[j] = f;
  }
  for (int left = n; left > 0;) {
    const int partial = left > K, take = partial ? K : left;

    ready = 0;
    for (int i = 0; i < take; i++) {
      const int x = b == end || (a < n && time[a] <= time[b]) ? a++ : b++;

      if (time[x] > ready) ready = time[x];
      AddDependency(w, ref[x], from[x]);
    }
    left -= take;
    if (partial) {
      time[end] = ready + 1, ref[end] = w->nodes, from[end] = 1;
      AddNode(w, p, 1, w->height[p] + 1);
      end++, left++;
    }
  }
  return ready;
}

/* Items of long rows, sorted as Sort does it. */
static TrsvError SortItems(Work *w, int n)
{
  int *copy;

  if (n <= 64) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(sizeof(int) * 5 * (size_t)n, &copy));
  int *order = copy, *spare = copy + n, *time = copy + 2 * (size_t)n, *ref = copy + 3 * (size_t)n, *from = copy + 4 * (size_t)n;

  memcpy(time, w->item_time, sizeof(int) * (size_t)n);
  memcpy(ref, w->item_ref, sizeof(int) * (size_t)n);
  memcpy(from, w->item_from, sizeof(int) * (size_t)n);
  Sort(n, time, order, spare);
  for (int i = 0; i < n; i++) w->item_time[i] = time[order[i]], w->item_ref[i] = ref[order[i]], w->item_from[i] = from[order[i]];
  free(copy);
  return TRSV_SUCCESS;
}

/* soon: the node of a row. While nodes are made, time holds when a row could be over if steps had room for all. */
static TrsvError Nodes(Work *w, int split)
{
  const TrsvMatrix *A = w->A;

  w->nodes = w->deps = 0;
  w->begin[0]        = 0;
  for (int p = w->first; p < w->cuts[w->q + 1]; p++) {
    int begin, end, diagonal, ready = 0;

    TrsvRow(A, Row(w, p), &begin, &end, &diagonal);
    for (int n = 0; n < end - begin; n++) {
      const int k = begin + n, c = Position(w, A->columns[k]), from = 2 + (w->source ? w->source[k] : k);
      const int ref = c >= w->first ? w->soon[c - w->first] : -1 - c;

      if (end - begin > w->K) w->item_time[n] = Ready(w, ref), w->item_ref[n] = ref, w->item_from[n] = from;
      else {
        AddDependency(w, ref, from);
        if (split && Ready(w, ref) > ready) ready = Ready(w, ref);
      }
    }
    if (end - begin > w->K) {
      TrsvCall(SortItems(w, end - begin));
      ready = Split(w, p, end - begin);
    }
    w->soon[p - w->first] = w->nodes;
    w->time[w->nodes]     = ready;
    AddNode(w, p, 0, w->height[p]);
  }
  return TRSV_SUCCESS;
}

/* --- place --- */

static TrsvError Times(Work *w, int times)
{
  int *load, *next;

  if (times <= w->times) return TRSV_SUCCESS;
  times += times / 2 + 4096;
  load = realloc(w->load, sizeof(int) * (size_t)times);
  if (load) w->load = load;
  next = realloc(w->next, sizeof(int) * (size_t)times);
  if (next) w->next = next;
  if (!load || !next) return TrsvFail(TRSV_ERR_MEMORY, "no memory for %d steps", times);
  for (int t = w->times; t < times; t++) load[t] = 0, next[t] = t;
  w->times = times;
  return TRSV_SUCCESS;
}

/* The first time from t on whose step has room. */
static int Room(Work *w, int t)
{
  while (w->next[t] != t) t = w->next[t] = w->next[w->next[t]];
  return t;
}

static TrsvError Place(Work *w)
{
  int most = 0, least = INT_MAX;

  for (int u = 0; u < w->nodes; u++)
    if (w->rank[u] > most) most = w->rank[u];
  for (int u = 0; u < w->nodes; u++) w->rank[u] = most - w->rank[u];
  /* a dependency is higher than what needs it, or as high and made before: the order is topological */
  Sort(w->nodes, w->rank, w->order, w->spare);
  for (int n = 0; n < w->nodes; n++) {
    const int u = w->order[n];
    int       t = 0, late = 0;

    for (int k = w->begin[u]; k < w->begin[u + 1]; k++) {
      const int r = Ready(w, w->ref[k]);

      if (r > t) t = r, late = 0;
      late += r == t && w->ref[k] >= 0;
    }
    if (late > CHUNK_LATE) t++;
    TrsvCall(Times(w, t + w->nodes + 2));
    t = Room(w, t);
    w->time[u] = t;
    if (++w->load[t] == w->W) w->next[t] = t + 1;
    if (t < least) least = t;
  }
  for (int u = 0; u < w->nodes; u++) {
    w->load[w->time[u]] = 0;
    w->next[w->time[u]] = w->time[u];
    if (!w->partial[u]) w->finish[w->owner[u]] = w->time[u];
    if (w->time[u] >= w->out->steps) w->out->steps = w->time[u] + 1;
    w->rank[u] = w->time[u] - least;
  }
  Sort(w->nodes, w->rank, w->order, w->spare);
  return TRSV_SUCCESS;
}

/* Numbers steps: times at which nothing happens are left out, but one is kept where it keeps dependencies from being late. */
static int Number(Work *w)
{
  int step = -1;

  for (int n = 0; n < w->nodes;) {
    const int t = w->time[w->order[n]], gap = n && t > w->time[w->order[n - 1]] + 1;
    int       end = n, crowded = 0;

    step++;
    for (; end < w->nodes && w->time[w->order[end]] == t; end++) {
      const int u = w->order[end];
      int       late = 0;

      for (int k = w->begin[u]; gap && k < w->begin[u + 1]; k++) late += w->ref[k] >= 0 && w->at[w->ref[k]] >> w->shift == step - 1;
      crowded |= late > CHUNK_LATE;
      w->at[u] = end - n;
    }
    step += crowded;
    for (; n < end; n++) w->at[w->order[n]] += step * w->W;
  }
  return step + 1;
}

/* --- emit --- */

static TrsvError Room4Stages(Work *w, long stages)
{
  ChunkSchedule *o    = w->out;
  const size_t   rows = CHUNK_ROWS(w->K), had = (size_t)o->stages, tail = CHUNK_TAIL(w->K) * sizeof(unsigned), source = (1 + (size_t)w->K) * sizeof(int);
  size_t         r;

  if ((size_t)stages > w->stages_room) {
    TrsvCall((r = w->stages_room, Grow(&o->tails, &r, (size_t)stages, rows * tail)));
    TrsvCall((r = w->stages_room, Grow(&o->sources, &r, (size_t)stages, rows * source)));
    TrsvCall((r = w->stages_room, Grow(&o->rows, &r, (size_t)stages, rows * sizeof(int))));
    TrsvCall((r = w->stages_room, Grow(&o->places, &r, (size_t)stages, rows)));
    TrsvCall((r = w->stages_room, Grow(&o->starts, &r, (size_t)stages, sizeof(int))));
    TrsvCall((r = w->stages_room, Grow(&o->batch_of, &r, (size_t)stages, sizeof(int))));
    w->stages_room = r;
  }
  const size_t more = (size_t)stages - had;
  memset((char *)o->tails + had * rows * tail, 0, more * rows * tail);
  memset((char *)o->sources + had * rows * source, 0, more * rows * source);
  memset(o->rows + had * rows, 0, more * rows * sizeof(int));
  memset(o->places + had * rows, 0, more * rows);
  o->stages = stages;
  return TRSV_SUCCESS;
}

/* The cell of an import that is used in a stage; a new import where there is none, or where its cell may be another's by now.
   *mine says which import of the chunk it is, -1 at first. */
static TrsvError Import(Work *w, int ref, int pushed, int stage, int *mine, int *cell)
{
  ChunkSchedule *o = w->out;
  ChunkHead     *h = &o->heads[w->q];
  const int      life = o->settings.life;

  if (life < 0) { /* every import has a cell of its own: mine is the cell */
    if (*mine < 0) {
      *mine = h->cells++;
      if (!pushed) {
        TrsvCall(Grow(&o->list, &w->imports_room, (size_t)o->imports + 1, sizeof(*o->list)));
        o->list[o->imports++] = (ChunkImport){ref, *mine};
        h->imports++;
      }
    }
    *cell = *mine;
    return TRSV_SUCCESS;
  }
  if (*mine >= 0 && stage > w->last[2 * (size_t)*mine + 1] + life) *mine = -1;
  if (*mine < 0) {
    *mine = h->imports++;
    TrsvCall(Grow(&o->list, &w->imports_room, (size_t)o->imports + 1, sizeof(*o->list)));
    TrsvCall(Grow(&w->last, &w->lasts_room, (size_t)*mine + 1, 2 * sizeof(int)));
    o->list[o->imports++]          = (ChunkImport){ref, *mine % w->capacity};
    w->last[2 * (size_t)*mine + 1] = stage; /* its first stage */
    if (h->cells < w->capacity) h->cells++;
  }
  w->last[2 * (size_t)*mine] = stage;
  *cell                      = *mine % w->capacity;
  return TRSV_SUCCESS;
}

/* When each batch of imports may have its cells, and whether that is soon enough: two stages before the first that needs one of them,
   since a stage that can start lets the one before it end. */
static TrsvError Batches(Work *w, int *fits)
{
  ChunkSchedule *o = w->out;
  ChunkHead     *h = &o->heads[w->q];
  const int      batches = (h->imports + CHUNK_BATCH - 1) / CHUNK_BATCH;

  h->batch = (int)o->batches;
  if (o->settings.life < 0) return TRSV_SUCCESS;
  TrsvCall(Grow(&o->after, &w->batches_room, (size_t)o->batches + (size_t)batches, sizeof(int)));
  for (int g = 0; g < batches; g++) {
    int after = 0;

    for (int i = g * CHUNK_BATCH; i < (g + 1) * CHUNK_BATCH && i < h->imports; i++)
      if (i >= w->capacity && w->last[2 * (size_t)(i - w->capacity)] + 1 > after) after = w->last[2 * (size_t)(i - w->capacity)] + 1;
    if (after && after + 1 > w->last[2 * (size_t)g * CHUNK_BATCH + 1]) *fits = 0;
    o->after[o->batches + g] = after;
  }
  o->batches += batches;
  return TRSV_SUCCESS;
}

static TrsvError Emit(Work *w, int steps, int *fits)
{
  const TrsvMatrix *A = w->A;
  ChunkSchedule    *o = w->out;
  ChunkHead        *h = &o->heads[w->q];
  const int         K = w->K, W = w->W, shift = w->shift, rows = CHUNK_ROWS(K), stages = (steps + w->steps - 1) / w->steps, tail_words = CHUNK_TAIL(K);
  const int         ring = o->settings.ring;
  const long        first_import = o->imports;
  const int         row_shift = rows == 256 ? 8 : 7;

  h->stage   = (int)o->stages;
  h->stages  = stages;
  h->import_ = (int)o->imports;
  h->imports = h->cells = 0;
  h->export_ = (int)o->exports;
  TrsvCall(Room4Stages(w, o->stages + stages));
  for (int u = 0; u < w->nodes; u++) w->own[u] = -1;

  for (int n = 0, stage = 0; stage < stages; stage++) {
    for (; n < w->nodes && w->at[w->order[n]] < (stage + 1) * rows; n++) {
      const int       u = w->order[n], p = w->owner[u], at = w->at[u], step = at >> shift, count = w->begin[u + 1] - w->begin[u];
      const size_t    place = (size_t)h->stage * (size_t)rows + (size_t)at;
      unsigned *const tail  = o->tails + place * (size_t)tail_words;
      int *const      from  = o->sources + place * (1 + (size_t)K);
      int             key[MOST], dep[MOST], begin, end, diagonal;

      /* the latest last; those of other chunks among those that may be read early */
      for (int i = 0; i < count; i++) {
        const int ref = w->ref[w->begin[u] + i], t = ref < 0 ? step - 2 : w->at[ref] >> shift;
        int       j = i;

        for (; j > 0 && key[j - 1] > t; j--) key[j] = key[j - 1], dep[j] = dep[j - 1];
        key[j] = t, dep[j] = w->begin[u] + i;
      }
      for (int i = 0; i < count; i++) {
        const int slot = K - count + i, ref = w->ref[dep[i]];
        int       cell;
        if (ref >= 0 && (step - key[i]) * W <= ring - 2 * W) cell = CHUNK_CELL + (w->at[ref] & (ring - 1));
        else {
          const int c = -1 - ref;

          if (ref >= 0) TrsvCall(Import(w, ref, 0, stage, &w->own[ref], &cell));
          else {
            if (w->seen[c] != w->q) w->seen[c] = w->q, w->import_[c] = -1;
            const int fresh = w->import_[c] < 0, pushed = c >= w->near_first;

            TrsvCall(Import(w, ref, pushed, stage, &w->import_[c], &cell));
            if (fresh && pushed) o->tails[w->tail[c]] |= (unsigned)(CHUNK_CELL + ring + cell), o->pushed++;
          }
          cell += CHUNK_CELL + ring;
        }
        ((unsigned short *)(tail + 1))[slot] = (unsigned short)cell;
        from[1 + slot]                       = w->from[dep[i]];
      }
      TrsvRow(A, Row(w, p), &begin, &end, &diagonal);
      from[0] = diagonal < 0 ? 1 : 2 + (w->source ? w->source[diagonal] : diagonal);
      if (w->partial[u]) from[0] = -from[0], o->partial++;
      else w->tail[p] = place * (size_t)tail_words;
    }
    o->batch_of[h->stage + stage] = (h->imports + CHUNK_BATCH - 1) / CHUNK_BATCH;
  }
  if (h->cells > w->capacity) *fits = 0;
  if (h->cells > o->cells) o->cells = (h->cells + 15) / 16 * 16; /* records behind them start at a multiple of 16 bytes */
  TrsvCall(Batches(w, fits));

  /* exports, in order of production; then imports of the chunk's own are known too */
  for (int n = 0, stage = 0; stage < stages; stage++) {
    const long start = o->exports;

    o->starts[h->stage + stage] = (int)start;
    for (; n < w->nodes && w->at[w->order[n]] < (stage + 1) * rows; n++) {
      const int u = w->order[n], p = w->owner[u];

      if (w->own[u] < 0 && (w->partial[u] || !(w->needed[p] & EXPORTED))) continue;
      w->soon[u] = (int)o->exports++;
      if (!w->partial[u]) w->word[p] = w->soon[u];
      o->tails[((size_t)h->stage * (size_t)rows + (size_t)w->at[u]) * (size_t)tail_words] |= (unsigned)(o->exports - start) << 16;
    }
  }
  h->exports = (int)(o->exports - h->export_);
  for (long i = first_import; i < o->imports; i++) {
    const int ref = o->list[i].word;

    o->own += ref >= 0;
    o->list[i].word = ref >= 0 ? w->soon[ref] : w->word[-1 - ref];
  }
  if (o->exports > INT_MAX / 2 || o->imports > INT_MAX / 2 || o->stages > INT_MAX / 2) return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: %d rows need too many exports", A->rows);

  /* each stage's rows, rising: b is read and x written in this order */
  for (int u = 0; u < w->nodes; u++) {
    if (w->partial[u]) continue;
    w->spare[w->owner[u] - w->first] = w->at[u];
  }
  for (int s = 0; s < stages; s++) w->order[s] = 0; /* how many rows of the stage are noted */
  const int count = w->cuts[w->q + 1] - w->first, lower = A->triangle == TRSV_LOWER;
  for (int n = 0; n < count; n++) {
    const int    i = lower ? n : count - 1 - n, at = w->spare[i], s = at >> row_shift;
    const size_t to = (size_t)(h->stage + s) * (size_t)rows + (size_t)w->order[s]++;

    o->rows[to]   = 1 + Row(w, w->first + i);
    o->places[to] = (unsigned char)(at & (rows - 1));
  }
  return TRSV_SUCCESS;
}

/* --- all of it --- */

static void Free(Work *w)
{
  void *const all[] = {w->cuts, w->height, w->finish, w->needed, w->word, w->tail, w->seen, w->import_, w->begin, w->ref, w->from, w->owner, w->partial, w->rank, w->time, w->at, w->order, w->spare, w->own, w->soon, w->item_time, w->item_ref, w->item_from, w->load, w->next, w->last};

  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) free(all[i]);
}

/* Cells for imports that the chunk needs if each has its own, but for those of the chunk itself. */
static void CountImports(Work *w)
{
  int cells = 0;

  for (int k = 0; k < w->deps; k++) {
    const int c = -1 - w->ref[k];

    if (c < 0 || w->seen[c] == w->q) continue;
    w->seen[c] = w->q;
    cells++;
  }
  if (cells > w->out->cells) w->out->cells = cells;
}

/* Everything, or no more than how many steps a solve takes. */
static TrsvError Build(Work *w, int emit, int *fits)
{
  ChunkSchedule *o = w->out;
  int            row_max = 0;

  TrsvCall(Cut(w));
  for (int i = 0; i < w->A->rows; i++)
    if (Length(w->A, i) > row_max) row_max = Length(w->A, i);
  TrsvCall(TrsvAlloc(sizeof(ChunkHead) * ((size_t)o->chunks + 1), &o->heads));
  memset(o->heads, 0, sizeof(ChunkHead) * ((size_t)o->chunks + 1));
  TrsvCall(Times(w, 1));
  Heights(w);
  for (int q = 0; q < o->chunks && *fits; q++) {
    w->q          = q;
    w->first      = w->cuts[q];
    w->near_first = NearFirst(w, q);
    TrsvCall(Nodes(w, row_max > w->K));
    TrsvCall(Place(w));
    if (emit) TrsvCall(Emit(w, Number(w), fits));
    else CountImports(w);
  }
  return TRSV_SUCCESS;
}

static void Prepare(Work *w, const TrsvMatrix *A, const int *source, const TrsvChunkSettings *settings, ChunkSchedule *out)
{
  *w = (Work){.A = A, .source = source, .out = out, .K = settings->length, .W = settings->width};
  memset(out, 0, sizeof(*out));
  out->settings = *settings;
  if (out->settings.chunks > A->rows) out->settings.chunks = A->rows;
  w->steps = CHUNK_STEPS(w->K, w->W);
  while (1 << w->shift < w->W) w->shift++;
}

/* Cells for imports that fit beside the ring and so many stages. */
static int Cells(const TrsvChunkSettings *s, int stages, int size)
{
  const int fit = (CHUNK_SHARED - CHUNK_FRONT - s->ring * size - stages * CHUNK_STAGE(s->length, size)) / size, most = 65536 - CHUNK_CELL - s->ring; /* what 16 bits can name */

  return (fit < most ? fit : most) / 16 * 16;
}

TrsvError TrsvChunkSteps(const TrsvMatrix *A, const TrsvChunkSettings *settings, int *steps, int *fits)
{
  ChunkSchedule schedule;
  Work          w;
  TrsvError     error;

  Prepare(&w, A, NULL, settings, &schedule);
  *fits  = 1;
  error  = Build(&w, 0, fits);
  *steps = schedule.steps;
  *fits  = schedule.cells <= Cells(settings, CHUNK_LEAST, (int)TrsvValueSize(A->precision));
  Free(&w);
  TrsvChunkScheduleFree(&schedule);
  return error;
}

TrsvError TrsvChunkSchedule(const TrsvMatrix *A, const int *source, const TrsvChunkSettings *settings, ChunkSchedule *out)
{
  /* if imports do not fit: a cell for some stages only, and no neighbour pushes into cells that change hands. With a life of 0 cells
     a stage needs no more than its records have places, which always fits. */
  static const int lives[] = {16, 4, 1, 0};
  const int        size    = (int)TrsvValueSize(A->precision);

  for (int attempt = -1; attempt < 4; attempt++) {
    Work      w;
    int       fits = 1;
    TrsvError error;

    if (attempt >= 0 && settings->life >= 0 && lives[attempt] > settings->life) continue;
    if (attempt < 0 && settings->life >= 0) continue;
    Prepare(&w, A, source, settings, out);
    out->settings.life = attempt < 0 ? -1 : lives[attempt];
    if (attempt >= 0) out->settings.cluster = 1;
    w.capacity = Cells(settings, CHUNK_LEAST, size);
    error      = Build(&w, 1, &fits);
    Free(&w);
    if (!error && fits) {
      while (out->settings.stages > CHUNK_LEAST && Cells(settings, out->settings.stages, size) < out->cells) out->settings.stages--;
      return TRSV_SUCCESS;
    }
    TrsvChunkScheduleFree(out);
    TrsvCall(error);
  }
  return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no settings fit %d rows", A->rows);
}

void TrsvChunkScheduleFree(ChunkSchedule *s)
{
  free(s->heads);
  free(s->tails);
  free(s->sources);
  free(s->rows);
  free(s->places);
  free(s->starts);
  free(s->list);
  free(s->batch_of);
  free(s->after);
  memset(s, 0, sizeof(*s));
}
