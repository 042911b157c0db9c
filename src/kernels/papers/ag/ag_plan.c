/*
   The host's plan of a scheme: places, nodes, their levels, tasks, launches and lists.

   Source: AG-SpTRSV (ACM TACO 21(4), 2024): computation graph transformation (Section 4.3), multi-hierarchy heuristic
   scheduling (4.4). Changes: tasks are always in the order of the levels of the graph, even if the hardware schedules
   them. A level that is a separate launch still waits if rows of a node depend on each other, which the paper does not
   mention. Each task has its own choice whether its entries are read together (4.2.2).

   All steps are passes over rows or entries, except the order inside a level by rg_balance (a sort) and ws_balance (a
   heap of warps).
*/
#include <stdlib.h>
#include <string.h>
#include "papers/ag/ag.h"

/* Scratch of a plan. */
typedef struct {
  int *position; /* [rows] the place of each row */
  int *owner;    /* [rows] the node of each place */
  int *level;    /* [nodes], from 0 */
  int *inner;    /* [nodes] 1: rows of the node depend on each other */
  int *start;    /* [levels + 1] the first node of each level in by_level, later the first task */
  int *by_level; /* [nodes] */
  int *slot;     /* [nodes] the task of each node */
  int *worker;   /* [tasks] */
  int  levels;
} Work;

static TrsvError AllocateInts(size_t n, int **p) { return TrsvAlloc(sizeof(int) * n, p); }

static int CompareFirst(const void *a, const void *b)
{
  const int *x = (const int *)a, *y = (const int *)b;

  return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Writes rows in order of places, and their entries by place. pairs [2 * longest]: the columns and sources of a row. */
static void WriteRows(const TrsvMatrix *A, const int *source, const Work *w, AgPlan *h, int *pairs)
{
  h->offsets[0] = 0;
  for (int p = 0, n = 0; p < h->rows; p++) {
    int begin, end, diagonal, sorted = 1;

    TrsvRowRange(A, h->order[p], &begin, &end, &diagonal);
    for (int k = begin; k < end; k++) {
      const int from = A->triangle == TRSV_LOWER ? k : begin + end - 1 - k; /* in order of solution */

      pairs[2 * (k - begin)]     = w->position[A->columns[from]];
      pairs[2 * (k - begin) + 1] = source ? source[from] : from;
      sorted                     = sorted && (k == begin || pairs[2 * (k - begin)] > pairs[2 * (k - begin) - 2]);
    }
    if (!sorted) qsort(pairs, (size_t)(end - begin), 2 * sizeof(int), CompareFirst);
    for (int k = 0; k < end - begin; k++, n++) h->columns[n] = pairs[2 * k], h->source[n] = pairs[2 * k + 1];
    h->source[h->off + p] = diagonal < 0 ? -1 : source ? source[diagonal] : diagonal;
    h->offsets[p + 1]     = n;
  }
}

static TrsvError OrderRows(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, const AgScheme *s,
                           Work *w, AgPlan *h)
{
  int *pairs;

  for (int p = 0; p < h->rows; p++) {
    h->order[p]              = s->reorder ? analysis->order[p] : A->triangle == TRSV_LOWER ? p : h->rows - 1 - p;
    w->position[h->order[p]] = p;
  }
  TrsvCall(AllocateInts(2 * (size_t)analysis->statistics.row_max, &pairs));
  WriteRows(A, source, w, h, pairs);
  free(pairs);
  return TRSV_SUCCESS;
}

/* The entries of places [p, q), diagonals included. */
static int CountEntries(const AgPlan *h, int p, int q) { return h->offsets[q] - h->offsets[p] + (q - p); }

/* Cuts places into nodes. */
static void MergeRows(const AgScheme *s, Work *w, AgPlan *h)
{
  int n = 0;

  for (int p = 0; p < h->rows;) {
    int rows = 1;

    if (s->merge == AG_FIXED) rows = s->size;
    else if (s->merge == AG_THRESH)
      while (rows < 32 && p + rows < h->rows && CountEntries(h, p, p + 1) <= s->size &&
             CountEntries(h, p + rows, p + rows + 1) <= s->size)
        rows++;
    else { /* 32 at a time, starting at every 32nd place */
      const int end = p / 32 * 32 + 32 < h->rows ? p / 32 * 32 + 32 : h->rows, begin = p / 32 * 32;

      if (CountEntries(h, begin, end) <= (long)s->size * (end - begin)) rows = end - begin;
    }
    h->node[n] = p;
    for (const int end = p + rows < h->rows ? p + rows : h->rows; p < end; p++) w->owner[p] = n;
    n++;
  }
  h->nodes   = n;
  h->node[n] = h->rows;
}

/* Finds the levels of the graph of nodes, and complements order for rows that no row depends on. */
static void FindLevels(Work *w, AgPlan *h)
{
  w->levels = 0;
  for (int p = 0; p < h->rows; p++) h->order[p] = ~h->order[p];
  for (int n = 0; n < h->nodes; n++) {
    int level = 0, inner = 0;

    for (int k = h->offsets[h->node[n]]; k < h->offsets[h->node[n + 1]]; k++) {
      const int p = h->columns[k], from = w->owner[p];

      if (h->order[p] < 0) h->order[p] = ~h->order[p];
      if (from == n) inner = 1;
      else if (w->level[from] >= level) level = w->level[from] + 1;
    }
    w->level[n] = level;
    w->inner[n] = inner;
    if (level >= w->levels) w->levels = level + 1;
  }
}

/* Sorts nodes by level, and within a level by index or by falling number of entries. */
static TrsvError SortNodes(const AgScheme *s, Work *w, const AgPlan *h)
{
  int *pairs;

  TrsvCall(AllocateInts((size_t)w->levels + 1, &w->start));
  memset(w->start, 0, sizeof(int) * ((size_t)w->levels + 1));
  for (int n = 0; n < h->nodes; n++) w->start[w->level[n] + 1]++;
  for (int l = 0; l < w->levels; l++) w->start[l + 1] += w->start[l];
  for (int n = 0; n < h->nodes; n++) w->by_level[w->start[w->level[n]]++] = n;
  for (int l = w->levels; l; l--) w->start[l] = w->start[l - 1];
  w->start[0] = 0;
  if (!s->balance) return TRSV_SUCCESS;
  TrsvCall(AllocateInts(2 * (size_t)h->nodes, &pairs));
  for (int i = 0; i < h->nodes; i++) {
    const int n = w->by_level[i];

    pairs[2 * i]     = -CountEntries(h, h->node[n], h->node[n + 1]);
    pairs[2 * i + 1] = n;
  }
  for (int l = 0; l < w->levels; l++) {
    const int from = w->start[l], to = w->start[l + 1];

    qsort(pairs + 2 * (size_t)from, (size_t)(to - from), 2 * sizeof(int), CompareFirst);
    for (int i = from, k; i < to; i = k) { /* sorts equal ones by index: qsort is not stable */
      for (k = i; k < to && pairs[2 * k] == pairs[2 * i]; k++) pairs[2 * k] = pairs[2 * k + 1];
      qsort(pairs + 2 * (size_t)i, (size_t)(k - i), 2 * sizeof(int), CompareFirst);
      for (int m = i; m < k; m++) w->by_level[m] = pairs[2 * m];
    }
  }
  free(pairs);
  return TRSV_SUCCESS;
}

/* Makes tasks: as many nodes of a level as a warp has subwarps. start becomes the first task of each level. */
static void MakeTasks(const AgScheme *s, Work *w, AgPlan *h)
{
  int t = 0;

  for (int l = 0; l < w->levels; l++) {
    const int from = w->start[l], to = w->start[l + 1];

    w->start[l] = t;
    for (int i = from; i < to; i += s->ng, t++) {
      int entries = 0;

      for (int k = 0; k < s->ng; k++) {
        const int n = i + k < to ? w->by_level[i + k] : -1;

        h->task[t * s->ng + k] = n;
        if (n < 0) continue;
        w->slot[n] = t;
        entries += h->offsets[h->node[n + 1]] - h->offsets[h->node[n]];
      }
      /* all lanes read the entries if they fit and are enough to save time */
      if (entries <= AG_BUFFER && entries >= 16 * (to - i < s->ng ? to - i : s->ng)) {
        h->task[t * s->ng] |= AG_COLLECT;
        h->collected++;
      }
    }
  }
  w->start[w->levels] = h->tasks = t;
}

/* Makes launches: one for each level of more than `most` tasks, and one for each sequence of other levels. */
static TrsvError MakeLaunches(const AgScheme *s, int multiprocessors, const Work *w, AgPlan *h)
{
  const long most = s->alpha == AG_INFINITE ? (long)h->tasks + 1 : (long)s->alpha * AG_WARPS * multiprocessors;
  int        one  = 0;

  TrsvCall(TrsvAlloc(sizeof(AgLaunch) * ((size_t)w->levels + 1), &h->launch));
  for (int l = 0; l < w->levels; l++) {
    const int alone = w->start[l + 1] - w->start[l] > most, first = w->start[l];

    if (alone || !one) h->launch[h->launches++] = (AgLaunch){first, 0, 0, 0, 0};
    AgLaunch *const now = &h->launch[h->launches - 1];
    now->wait           = now->wait || now->tasks;
    now->tasks          = w->start[l + 1] - now->task;
    one                 = !alone;
    for (int i = first * s->ng; !now->wait && i < w->start[l + 1] * s->ng; i++) {
      const int n = h->task[i];

      now->wait = n >= 0 && w->inner[n & ~AG_COLLECT];
    }
  }
  return TRSV_SUCCESS;
}

/* The number of entries assigned to each warp so far, and a heap of the warps, the least loaded first. */
typedef struct {
  int   workers, nw;
  long *load;
  int  *heap;
} Warps;

static int IsLessLoaded(const Warps *v, int a, int b)
{
  return v->load[a] < v->load[b] || (v->load[a] == v->load[b] && a < b);
}

/* Restores the heap after the load of its first warp has grown. */
static void SinkFirst(Warps *v)
{
  const int moved = v->heap[0];
  int       at    = 0;

  for (int child; (child = 2 * at + 1) < v->workers; at = child) {
    if (child + 1 < v->workers && IsLessLoaded(v, v->heap[child + 1], v->heap[child])) child++;
    if (!IsLessLoaded(v, v->heap[child], moved)) break;
    v->heap[at] = v->heap[child];
  }
  v->heap[at] = moved;
}

static int FindLeastLoaded(const Warps *v, int block)
{
  int best = block * v->nw;

  for (int k = best + 1; k < (block + 1) * v->nw && k < v->workers; k++)
    if (v->load[k] < v->load[best]) best = k;
  return best;
}

/* The least loaded warp of the blocks that solve the dependencies of a task. Tasks without dependencies in this launch
   go to the warps in turn. */
static int FindNearWarp(const AgScheme *s, const Work *w, const AgPlan *h, const AgLaunch *l, const Warps *v, int task)
{
  int best = -1, last = -1;

  for (int k = 0; k < s->ng; k++) {
    const int n = h->task[task * s->ng + k] < 0 ? -1 : h->task[task * s->ng + k] & ~AG_COLLECT;

    for (int e = n < 0 ? 0 : h->offsets[h->node[n]]; n >= 0 && e < h->offsets[h->node[n + 1]]; e++) {
      const int parent = w->slot[w->owner[h->columns[e]]],
                block  = parent < l->task || parent == task ? -1 : w->worker[parent] / v->nw;

      if (block < 0 || block == last) continue;
      const int least = FindLeastLoaded(v, last = block);
      if (best < 0 || IsLessLoaded(v, least, best)) best = least;
    }
  }
  return best < 0 ? (task - l->task) % v->workers : best;
}

static long CountTaskEntries(const AgScheme *s, const AgPlan *h, int task)
{
  long n = 0;

  for (int k = 0; k < s->ng; k++)
    if (h->task[task * s->ng + k] >= 0) {
      const int node = h->task[task * s->ng + k] & ~AG_COLLECT;

      n += CountEntries(h, h->node[node], h->node[node + 1]);
    }
  return n;
}

/* Assigns the tasks of a launch to warps. room: the tasks of the launch in the order of warps. */
static void AssignTasks(const AgScheme *s, const Work *w, AgPlan *h, AgLaunch *l, Warps *v, int *room)
{
  int *const begin = h->begin + l->begin;

  for (int k = 0; k < l->workers; k++) v->load[k] = 0, v->heap[k] = k;
  v->workers = l->workers;
  memset(begin, 0, sizeof(int) * ((size_t)l->workers + 1));
  for (int t = l->task; t < l->task + l->tasks; t++) {
    const int to = s->ws == AG_RR        ? (t - l->task) % l->workers
                   : s->ws == AG_BALANCE ? v->heap[0]
                                         : FindNearWarp(s, w, h, l, v, t);

    v->load[to] += CountTaskEntries(s, h, t);
    if (s->ws == AG_BALANCE) SinkFirst(v);
    w->worker[t] = to;
    begin[to + 1]++;
  }
  for (int k = 0; k < l->workers; k++) begin[k + 1] += begin[k];
  for (int t = l->task; t < l->task + l->tasks; t++)
    memcpy(room + (size_t)begin[w->worker[t]]++ * (size_t)s->ng, h->task + (size_t)t * (size_t)s->ng,
           sizeof(int) * (size_t)s->ng);
  for (int k = l->workers; k; k--) begin[k] = begin[k - 1];
  begin[0] = 0;
  for (int k = 0; k <= l->workers; k++) begin[k] += l->task;
  memcpy(h->task + (size_t)l->task * (size_t)s->ng, room, sizeof(int) * (size_t)l->tasks * (size_t)s->ng);
}

static TrsvError MakeLists(const AgScheme *s, int multiprocessors, Work *w, AgPlan *h)
{
  const int most = multiprocessors * s->nw;
  Warps     v    = {0, s->nw, NULL, NULL};
  int      *room = NULL;
  TrsvError error;

  for (int l = 0; l < h->launches; l++) {
    h->launch[l].workers = h->launch[l].tasks < most ? h->launch[l].tasks : most;
    h->launch[l].begin   = h->begins;
    h->begins += h->launch[l].workers + 1;
  }
  TrsvCall(AllocateInts((size_t)h->begins, &h->begin));
  TrsvCall(AllocateInts((size_t)h->tasks, &w->worker));
  error = TrsvAlloc(sizeof(long) * (size_t)most, &v.load);
  if (!error) error = AllocateInts((size_t)most, &v.heap);
  if (!error) error = AllocateInts((size_t)h->tasks * (size_t)s->ng, &room);
  for (int l = 0; !error && l < h->launches; l++) AssignTasks(s, w, h, &h->launch[l], &v, room);
  free(v.load);
  free(v.heap);
  free(room);
  return error;
}

static TrsvError MakePlan(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, const AgScheme *s,
                          int multiprocessors, Work *w, AgPlan *h)
{
  const size_t rows  = (size_t)A->rows;
  long         nodes = 0;

  h->rows = A->rows;
  h->off  = A->offsets[A->rows] - (A->diagonal == TRSV_DIAGONAL_STORED ? A->rows : 0);
  TrsvCall(AllocateInts(rows, &h->order));
  TrsvCall(AllocateInts(rows + 1, &h->offsets));
  TrsvCall(AllocateInts((size_t)h->off, &h->columns));
  TrsvCall(AllocateInts((size_t)h->off + rows, &h->source));
  TrsvCall(AllocateInts(rows + 1, &h->node));
  TrsvCall(AllocateInts(rows, &w->position));
  TrsvCall(AllocateInts(rows, &w->owner));
  TrsvCall(OrderRows(A, analysis, source, s, w, h));
  MergeRows(s, w, h);
  TrsvCall(AllocateInts((size_t)h->nodes, &w->level));
  TrsvCall(AllocateInts((size_t)h->nodes, &w->inner));
  TrsvCall(AllocateInts((size_t)h->nodes, &w->by_level));
  TrsvCall(AllocateInts((size_t)h->nodes, &w->slot));
  FindLevels(w, h);
  TrsvCall(SortNodes(s, w, h));
  for (int l = 0; l < w->levels; l++) nodes += (w->start[l + 1] - w->start[l] + s->ng - 1) / s->ng;
  if (nodes * s->ng >= AG_COLLECT) return TrsvFail(TRSV_ERR_UNSUPPORTED, "ag: %ld tasks exceed 32-bit indices", nodes);
  TrsvCall(AllocateInts((size_t)nodes * (size_t)s->ng, &h->task));
  MakeTasks(s, w, h);
  TrsvCall(MakeLaunches(s, multiprocessors, w, h));
  return s->ws == AG_HARDWARE ? TRSV_SUCCESS : MakeLists(s, multiprocessors, w, h);
}

TrsvError TrsvAgPlan(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, const AgScheme *s,
                     int multiprocessors, AgPlan *h)
{
  Work      w = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0};
  TrsvError error;

  memset(h, 0, sizeof(*h));
  error = MakePlan(A, analysis, source, s, multiprocessors, &w, h);
  free(w.position);
  free(w.owner);
  free(w.level);
  free(w.inner);
  free(w.start);
  free(w.by_level);
  free(w.slot);
  free(w.worker);
  if (error) TrsvAgPlanFree(h);
  return error;
}

void TrsvAgPlanFree(AgPlan *h)
{
  free(h->order);
  free(h->offsets);
  free(h->columns);
  free(h->source);
  free(h->node);
  free(h->task);
  free(h->begin);
  free(h->launch);
  memset(h, 0, sizeof(*h));
}
