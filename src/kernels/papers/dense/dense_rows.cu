/*
   dense: a sparse triangle whose dense diagonal blocks are solved as dense triangles.

   The rows are cut into segments in the order of solution; some have a dense diagonal block. Segments are solved in
   sequence: products of the entries outside of the diagonal block with known components are subtracted from b; then
   the block is solved. A dense block is solved as a dense triangle (dense.cu), by default with inverted
   diagonal blocks, any other block by the algorithm with the shortest predicted time. Without a dense block that
   algorithm solves the whole triangle.

   Dense blocks are: the largest trailing block that is at least half full; or, if larger, the block that starts with
     the first of very long rows at the end (an arrow, one dense row), because the square of their number is small
     compared with their entries; elsewhere completely full blocks, as in supernodes.

   Mapping of the multiplication: a warp for each piece of up to 1024 entries of a row, then a thread for each row that
     adds up its pieces.
   Memory order: launches of one stream run in sequence. Why it ends: no thread waits. Same bits: a sum has one order.
   Source: the course report "Dense Lower Triangular Solver" for dense triangles; here in sparse factors.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "papers/dense/dense.cuh"
#include "papers/settings.h"
#include "solve/solve.h"

enum {
  PIECE = 1024, /* entries of a piece, at most */
  WARPS = 4
};

typedef struct {
  int        begin, end;       /* rows */
  TrsvPlan  *plan;             /* of the diagonal block, if it is not dense */
  TrsvDense *dense;            /* of the diagonal block, if it is */
  int        entries;          /* stored entries of a dense block; -1: the block is not dense */
  int       *place, *origin;   /* [entries] the index among the tiles, the index in the caller's values */
  int        pieces, rest;     /* pieces and entries outside of the diagonal block */
  int       *piece, *first;    /* [pieces + 1] the start of each piece; [rows + 1] the first piece of each row */
  int       *columns, *source; /* [rest] */
  void      *values, *sums;    /* [rest], [pieces] */
} Segment;

typedef struct {
  int     segments, blocks, lower, covered;  /* blocks, covered: dense blocks and their rows */
  Segment segment[2 * DENSE_BLOCKS_MAX + 1]; /* in the order of solution */
  void   *right;                             /* [rows] b - the products of known components */
} Dense;

/* One warp for each piece. */
template <class T> static __global__ void __launch_bounds__(WARPS * 32)
  dense_pieces(int pieces, const int *piece, const int *columns, const T *values, const T *x, T *sums)
{
  const int k = (int)(blockIdx.x * WARPS + threadIdx.x / 32), lane = (int)(threadIdx.x % 32);

  if (k >= pieces) return;
  T sum = 0;
  for (int e = piece[k] + lane; e < piece[k + 1]; e += 32) sum = fma(values[e], x[columns[e]], sum);
  sum = warp_sum(sum);
  if (lane == 0) sums[k] = sum;
}

template <class T>
static __global__ void dense_subtract(int rows, const int *first, const T *sums, const T *b, T *right)
{
  const int i = trsv_index();

  if (i >= rows) return;
  T sum = 0;
  for (int k = first[i]; k < first[i + 1]; k++) sum += sums[k];
  right[i] = b[i] - sum;
}

static TrsvError UploadInts(TrsvPlan *plan, const int *from, size_t count, int **to)
{
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * count, to));
  plan->bytes += sizeof(int) * count;
  return TrsvDeviceUpload(*to, from, sizeof(int) * count, NULL);
}

/* Makes the pieces outside of a segment's diagonal block. room [rows + 1 + pieces + 1 + 2 * entries] */
static TrsvError MakeRest(TrsvPlan *plan, Segment *g, const TrsvMatrix *A, const int *source, int *room)
{
  const size_t size = TrsvValueSize(plan->precision), rows = (size_t)(g->end - g->begin),
               entries = (size_t)(A->offsets[g->end] - A->offsets[g->begin]);
  int *const first = room, *const columns = first + rows + 1, *const from = columns + entries,
             *const piece = from + entries;

  for (int i = g->begin; i < g->end; i++) {
    int start = g->rest;

    first[i - g->begin] = g->pieces;
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      if (A->columns[k] >= g->begin && A->columns[k] < g->end) continue;
      columns[g->rest] = A->columns[k];
      from[g->rest++]  = source ? source[k] : k;
    }
    for (; start < g->rest; start += PIECE) piece[g->pieces++] = start;
  }
  first[rows]      = g->pieces;
  piece[g->pieces] = g->rest;
  if (!g->rest) return TRSV_SUCCESS;
  TrsvCall(UploadInts(plan, first, rows + 1, &g->first));
  TrsvCall(UploadInts(plan, piece, (size_t)g->pieces + 1, &g->piece));
  TrsvCall(UploadInts(plan, columns, (size_t)g->rest, &g->columns));
  TrsvCall(UploadInts(plan, from, (size_t)g->rest, &g->source));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)g->rest, &g->values));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)g->pieces, &g->sums));
  plan->bytes += size * (size_t)(g->rest + g->pieces);
  return TRSV_SUCCESS;
}

static const char *const forms[] = {"blocks", "doubling", "simple", "pairs"};

static int ParseForm(const char *value, void *to)
{
  int form = 0;

  while (form < 4 && strcmp(value, forms[form])) form++;
  if (to) *(int *)to = form;
  return form < 4;
}

static int ParseBlock(const char *value, void *to)
{
  char      *end;
  const long rows = strtol(value, &end, 10);

  if (to) *(int *)to = (int)rows;
  return end != value && !*end && rows > 0 && rows <= 1 << 20;
}

static int ParseSteps(const char *value, void *to)
{
  const int launches = !strcmp(value, "launches");

  if (to) *(int *)to = launches;
  return launches || !strcmp(value, "values");
}

static const TrsvSetting words[] = {
  {"form",  "blocks, doubling, simple or pairs",                                     ParseForm },
  {"block", "the number of rows of an inverted diagonal block, 1 to 1048576",        ParseBlock},
  {"steps", "values: one launch, in which values wait for values; or launches: one for each step", ParseSteps},
  {NULL,    NULL,                                                                    NULL      }
};

static TrsvDenseSettings GetSettings(void)
{
  int form = TRSV_DENSE_BLOCKS, block = 0, launches = 0;

  (void)TrsvSettingsGet(words, "form", &form);
  (void)TrsvSettingsGet(words, "block", &block);
  (void)TrsvSettingsGet(words, "steps", &launches);
  return TrsvDenseSettings{(TrsvDenseForm)form, block, launches};
}

static TrsvError MakeDense(TrsvPlan *plan, Segment *g, const TrsvMatrix *A, const int *source, int *room)
{
  const TrsvDenseSettings settings = GetSettings();
  const size_t            entries  = (size_t)(A->offsets[g->end] - A->offsets[g->begin]);
  int *const place = room, *const from = room + entries;

  TrsvCall(TrsvDenseCreate(g->end - g->begin, A->triangle, A->diagonal, A->precision, &settings, &g->dense));
  plan->bytes += TrsvDenseBytes(g->dense);
  for (int i = g->begin; i < g->end; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      if (A->columns[k] < g->begin || A->columns[k] >= g->end) continue;
      place[g->entries]  = DensePlace(g->dense, i - g->begin, A->columns[k] - g->begin);
      from[g->entries++] = source ? source[k] : k;
    }
  TrsvCall(UploadInts(plan, place, (size_t)g->entries, &g->place));
  return UploadInts(plan, from, (size_t)g->entries, &g->origin);
}

static TrsvError MakeSparse(TrsvPlan *plan, Segment *g, const TrsvMatrix *A, const int *source, int *room)
{
  const size_t rows = (size_t)(g->end - g->begin), entries = (size_t)(A->offsets[g->end] - A->offsets[g->begin]);
  int *const offsets = room, *const columns = offsets + rows + 1, *const from = columns + entries;
  TrsvMatrix    M = *A;
  TrsvAnalysis *analysis;
  TrsvError     error;
  int           n = 0;

  for (int i = g->begin; i < g->end; i++) {
    offsets[i - g->begin] = n;
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      if (A->columns[k] < g->begin || A->columns[k] >= g->end) continue;
      columns[n] = A->columns[k] - g->begin;
      from[n++]  = source ? source[k] : k;
    }
  }
  offsets[rows] = n;
  M.rows        = (int)rows;
  M.offsets     = offsets;
  M.columns     = columns;
  TrsvCall(TrsvAnalyze(&M, &analysis));
  const TrsvAlgorithm *best =
    TrsvSelect(&analysis->statistics, TRSV_DEVICE, A->precision, TRSV_SELECT_MODEL).algorithm;
  error = TrsvPlanCreate(&M, analysis, from, plan->values, NULL, best, 0, &g->plan);
  best  = error ? TrsvAlgorithmFallback(best, error, 0) : NULL; /* 0: the pair's other plan may be made, too */
  if (best) error = TrsvPlanCreate(&M, analysis, from, plan->values, NULL, best, 0, &g->plan);
  TrsvAnalysisDestroy(&analysis);
  TrsvCall(error);
  plan->bytes += g->plan->bytes;
  return TRSV_SUCCESS;
}

/* Adds the next rows in the order of solution, if any, as a segment. */
static void AddSegment(Dense *d, int rows, int from, int to, int dense)
{
  Segment *g = &d->segment[d->segments];

  if (from == to) return;
  g->begin   = d->lower ? from : rows - to;
  g->end     = d->lower ? to : rows - from;
  g->entries = dense ? 0 : -1;
  d->covered += dense ? to - from : 0;
  d->segments++;
}

/* Cuts the rows into segments at the dense blocks. */
static void CutSegments(Dense *d, int rows, const DenseRange *blocks, int found)
{
  int p = 0;

  for (int k = 0; k < found; p = blocks[k++].end) {
    AddSegment(d, rows, p, blocks[k].begin, 0);
    AddSegment(d, rows, blocks[k].begin, blocks[k].end, 1);
  }
  AddSegment(d, rows, p, rows, 0);
  d->blocks = found;
}

static TrsvError DenseAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const size_t rows = (size_t)A->rows, entries = (size_t)A->offsets[A->rows], measures = 3 * rows,
               pieces = 2 * rows + 2 + 3 * entries + entries / PIECE;
  DenseRange blocks[DENSE_BLOCKS_MAX + 1];
  Dense     *d;
  int       *room;
  TrsvError  error = TRSV_SUCCESS;

  (void)analysis;
  TrsvCall(TrsvSettingsCheck(plan->algorithm->name, words));
  TrsvCall(TrsvAlloc(sizeof(*d), &plan->data));
  d        = (Dense *)plan->data;
  d->lower = A->triangle == TRSV_LOWER;
  TrsvCall(TrsvAlloc(sizeof(int) * (measures > pieces ? measures : pieces), &room));
  memset(room, 0, sizeof(int) * measures);
  DenseMeasure(A, room, room + rows, room + 2 * rows);
  CutSegments(d, A->rows, blocks, DenseFind(A->rows, room, room + rows, room + 2 * rows, blocks));
  for (int k = 0; k < d->segments && !error; k++) {
    Segment *g = &d->segment[k];

    if (g->entries < 0) error = MakeSparse(plan, g, A, source, room);
    else error = MakeDense(plan, g, A, source, room);
    if (!error) error = MakeRest(plan, g, A, source, room);
  }
  free(room);
  TrsvCall(error);
  if (d->segments < 2) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(TrsvValueSize(plan->precision) * rows, &d->right));
  plan->bytes += TrsvValueSize(plan->precision) * rows;
  return TRSV_SUCCESS;
}

static TrsvError DenseRowsSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Dense *d = (Dense *)plan->data;

  for (int k = 0; k < d->segments; k++) {
    Segment          *g    = &d->segment[k];
    const DenseValues from = {values, 0, g->entries, g->place, g->origin};

    if (g->dense) TrsvCall(DenseSetValues(g->dense, &from, stream));
    else TrsvCall(TrsvPlanSetValues(g->plan, values, TRSV_DEVICE, stream));
    TrsvCall(TrsvDevicePermute(g->rest, g->source, 0, plan->precision, values, g->values, stream));
  }
  return TRSV_SUCCESS;
}

/* right = b - the products of known components, for the rows of a segment. */
template <class T> static TrsvError SubtractRest(const Segment *g, const void *b, const void *x, void *right,
                                                 TrsvStream stream)
{
  const int rows = g->end - g->begin;

  TrsvCall(TrsvLaunch(dense_pieces<T>, TrsvBlocks(g->pieces, WARPS), WARPS * 32, 0, stream, g->pieces,
                      (const int *)g->piece, (const int *)g->columns, (const T *)g->values, (const T *)x,
                      (T *)g->sums));
  return TrsvLaunch(dense_subtract<T>, TrsvBlocks(rows, 256), 256, 0, stream, rows, (const int *)g->first,
                    (const T *)g->sums, (const T *)b + g->begin, (T *)right + g->begin);
}

static TrsvError DenseSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  const size_t size = TrsvValueSize(plan->precision);
  Dense       *d    = (Dense *)plan->data;

  if (d->segments == 1 && d->segment[0].plan)
    return (plan->early ? TrsvPlanSolveNext : TrsvPlanSolve)(d->segment[0].plan, b, x, stream);
  for (int k = 0; k < d->segments; k++) {
    Segment    *g    = &d->segment[k];
    const void *from = (const char *)(g->rest ? d->right : b) + size * (size_t)g->begin;
    void       *to   = (char *)x + size * (size_t)g->begin;

    if (g->rest)
      TrsvCall(TRSV_BY_REAL_PRECISION(plan->precision, SubtractRest)(g, b, x, d->right, stream));
    TrsvCall(g->dense ? TrsvDenseSolve(g->dense, from, to, stream) : TrsvPlanSolve(g->plan, from, to, stream));
  }
  return TRSV_SUCCESS;
}

static void DenseDestroy(TrsvPlan *plan)
{
  Dense *d = (Dense *)plan->data;

  if (!d) return;
  for (int k = 0; k < d->segments; k++) {
    Segment    *g     = &d->segment[k];
    void *const all[] = {g->place, g->origin, g->piece, g->first, g->columns, g->source, g->values, g->sums};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) TrsvDeviceFree(all[i]);
    TrsvPlanDestroy(&g->plan);
    TrsvDenseDestroy(&g->dense);
  }
  TrsvDeviceFree(d->right);
  free(d);
}

/* Prints the dense part, and the settings with which the current values are solved. */
static void DenseDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  const Dense     *d     = (const Dense *)plan->data;
  const TrsvDense *dense = NULL;
  const TrsvPlan  *rest  = NULL;
  int              n, most = 0;

  for (int k = 0; k < d->segments; k++) {
    const Segment *g = &d->segment[k];

    if (g->dense && (!dense || g->end - g->begin > dense->rows)) dense = g->dense;
    if (g->plan && g->end - g->begin > most) most = g->end - g->begin, rest = g->plan;
  }
  if (!dense) {
    (void)snprintf(line, size, "no dense block, all by %s", TrsvAlgorithmName(rest->algorithm));
    return;
  }
  n = snprintf(line, size, "%d rows dense in %d, rest %s, form=%s", d->covered, d->blocks,
               rest ? TrsvAlgorithmName(rest->algorithm) : "none", forms[TrsvDenseSolves(dense)]);
  if (n > 0 && (size_t)n < size && TrsvDenseSolves(dense) == TRSV_DENSE_BLOCKS)
    n += snprintf(line + n, size - (size_t)n, " block=%d", TrsvDenseBlock(dense));
  if (n > 0 && (size_t)n < size && dense->settings.launches)
    (void)snprintf(line + n, size - (size_t)n, " steps=launches");
}

TRSV_ALGORITHM(TrsvDenseRows) = {
  .name       = "dense",
  .summary    = "dense diagonal blocks of a sparse triangle as such",
  .source     = "Dense Lower Triangular Solver (a course report)",
  .citation   =
    "@misc{DenseLowerTriangularSolver,\n"
    "  title = {Dense Lower Triangular Solver: {GPU} Simple, {GPU} Complex 1 and {GPU} Complex 2},\n"
    "  note  = {Course report; its authors are not named}\n"
    "}\n",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_HOST,
  .analyze    = DenseAnalyze,
  .set_values = DenseRowsSetValues,
  .solve      = DenseSolve,
  .destroy    = DenseDestroy,
  .describe   = DenseDescribe,
};
