/*
   recblock: the triangle cut into triangular and square blocks; each is solved, or multiplied, by the kernel that suits
   it.

   Source: Lu, Niu, Liu: Efficient Block Algorithms for Parallel Sparse Triangular Solve (ICPP 2020): column, row and
   recursive block algorithm, "Improved Recursive Block Data Structure" (reordering, DCSR), "Adaptive Kernel Selection"
   for SpTRSV and for SpMV. What changed: triangles are in rows, and the sync-free kernel sums in rows, the value its
   own flag, so that the bits are the same every run (published: columns, atomics); blocks of threads have tickets;
   nothing is reset but by the launch that brings b into order; reciprocals of the diagonal are taken when values
   arrive; all launches are one CUDA graph, in which each starts while the one before it still runs (published: a launch
   after the other). What maps to what, and why it ends: recblock_kernels.cuh; how the blocks are made:
   recblock_blocks.c; the choice of kernels: recblock_tree.c.

   The graph is recorded once; which x is meant, and how long to wait, stands in device memory, put there by the launch
   before it. Where cuSPARSE solves a block, the graph is recorded anew with new values, as nothing is promised of its
   launches.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "papers/recblock/recblock.h"
#include "papers/recblock/recblock_kernels.cuh"

typedef struct {
  TrsvRecblocks      blocks; /* its large arrays are on the device alone */
  TrsvPrecision      precision;
  int               *order, *diagonal, *offsets, *index, *columns, *source;
  void              *values, *inverse; /* [entries]; [rows] by place, NULL where the diagonal is unit */
  void              *right, *y;        /* [rows] by place */
  RecblockCall      *call;
  unsigned          *tickets;          /* [blocks] */
  TrsvSync           sync;
  TrsvRecblockSpsv **spsv;             /* [blocks], NULL but where cuSPARSE solves */
  TrsvDeviceGraph     *launches;
} Recblock;

/* Of a block; of the whole where b is NULL. */
template <class T> static RecblockView<T> View(const Recblock *r, const TrsvRecblockPart *b)
{
  RecblockView<T> A = {};

  A.count   = r->blocks.rows;
  A.order   = r->order;
  A.inverse = (const T *)r->inverse;
  A.right   = (T *)r->right;
  A.y       = (T *)r->y;
  A.call    = r->call;
  A.sync    = r->sync;
  if (!b) return A;
  A.first       = b->first;
  A.count       = b->count;
  A.offsets     = r->offsets + b->offset;
  A.index       = TrsvRecblockIsDcsr(b) ? r->index + b->index : NULL;
  A.columns     = r->columns + b->entry;
  A.values      = (const T *)r->values + b->entry;
  A.sync.ticket = r->tickets + (b - r->blocks.block);
  return A;
}

template <class T> static TrsvError SyncFree(const RecblockView<T> &A, int lanes, bool early, TrsvStream stream)
{
  auto           kernel = lanes == 1    ? recblock_syncfree<T, 1>
                          : lanes == 2  ? recblock_syncfree<T, 2>
                          : lanes == 4  ? recblock_syncfree<T, 4>
                          : lanes == 8  ? recblock_syncfree<T, 8>
                          : lanes == 16 ? recblock_syncfree<T, 16>
                                        : recblock_syncfree<T, 32>;
  const unsigned grid   = TrsvBlocks(A.count, RECBLOCK_BLOCK / lanes);

  TRSV_LAUNCH_EARLY(kernel, early, 1, grid, RECBLOCK_BLOCK, 0, stream, A);
  return TrsvDeviceCheckLaunch("recblock_syncfree");
}

template <class T> static TrsvError LevelSets(const Recblock *r, const TrsvRecblockPart *b, const RecblockView<T> &A,
                                              bool early, TrsvStream stream)
{
  auto       kernel = recblock_level<T>;
  const int *start  = r->blocks.level + b->level;

  for (int s = 0; s < b->levels; s++) {
    TRSV_LAUNCH_EARLY(kernel, early || s, 1, TrsvBlocks(start[s + 1] - start[s], RECBLOCK_BLOCK), RECBLOCK_BLOCK, 0,
                      stream, A, start[s], start[s + 1]);
    TrsvCall(TrsvDeviceCheckLaunch("recblock_level"));
  }
  return TRSV_SUCCESS;
}

template <class T> static TrsvError Multiply(const TrsvRecblockPart *b, const RecblockView<T> &A, bool early,
                                             TrsvStream stream)
{
  const bool     scalar = b->kernel == RECBLOCK_SCALAR_CSR || b->kernel == RECBLOCK_SCALAR_DCSR;
  auto           kernel = scalar ? recblock_scalar<T> : recblock_vector<T>;
  const unsigned grid   = TrsvBlocks(b->count, scalar ? RECBLOCK_BLOCK : RECBLOCK_BLOCK / 32);

  TRSV_LAUNCH_EARLY(kernel, early, 1, grid, RECBLOCK_BLOCK, 0, stream, A);
  return TrsvDeviceCheckLaunch("recblock product");
}

template <class T> static TrsvError Parallel(const RecblockView<T> &A, bool early, TrsvStream stream)
{
  auto kernel = recblock_parallel<T>;

  TRSV_LAUNCH_EARLY(kernel, early, 1, TrsvBlocks(A.count, RECBLOCK_BLOCK), RECBLOCK_BLOCK, 0, stream, A);
  return TrsvDeviceCheckLaunch("recblock_parallel");
}

#if defined(TRSV_CUDA)
template <class T> static TrsvError ByCusparse(const Recblock *r, const TrsvRecblockPart *b, const RecblockView<T> &A,
                                               TrsvStream stream)
{
  auto kernel = recblock_finish<T>;

  TrsvCall(TrsvRecblockSpsvSolve(r->spsv[b - r->blocks.block], stream));
  TRSV_LAUNCH(kernel, TrsvBlocks(A.count, RECBLOCK_BLOCK), RECBLOCK_BLOCK, 0, stream, A);
  return TrsvDeviceCheckLaunch("recblock_finish");
}
#endif

template <class T> static TrsvError LaunchBlocks(const Recblock *r, TrsvStream stream)
{
  for (int i = 0; i < r->blocks.blocks; i++) {
    const TrsvRecblockPart   *b     = r->blocks.block + i;
    const RecblockView<T> A     = View<T>(r, b);
    const bool early = i && !r->spsv[i - 1]; /* the first comes behind a launch that does not let it start early */

    if (b->square) TrsvCall(Multiply(b, A, early, stream));
    else if (b->kernel == RECBLOCK_LEVEL) TrsvCall(LevelSets(r, b, A, early, stream));
    else if (b->kernel == RECBLOCK_PARALLEL) TrsvCall(Parallel(A, early, stream));
#if defined(TRSV_CUDA)
    else if (b->kernel == RECBLOCK_CUSPARSE) TrsvCall(ByCusparse(r, b, A, stream));
#endif
    else TrsvCall(SyncFree(A, b->lanes, early, stream));
  }
  return TRSV_SUCCESS;
}

static TrsvError LaunchAll(void *data, TrsvStream stream)
{
  const Recblock *r = (const Recblock *)data;

  return r->precision == TRSV_FLOAT ? LaunchBlocks<float>(r, stream) : LaunchBlocks<double>(r, stream);
}

static TrsvError Record(Recblock *r)
{
  TrsvDeviceGraphDestroy(&r->launches);
  return r->blocks.blocks ? TrsvDeviceGraphCreate(LaunchAll, r, &r->launches) : TRSV_SUCCESS;
}

/* A new array on the device, with what stands in one of the host, which is freed. */
static TrsvError Move(TrsvPlan *plan, int count, int **from, int **to)
{
  const size_t bytes = sizeof(int) * (size_t)count;

  if (!*from) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(bytes, to));
  plan->bytes += bytes;
  TrsvCall(TrsvDeviceUpload(*to, *from, bytes, NULL));
  free(*from);
  *from = NULL;
  return TRSV_SUCCESS;
}

static TrsvError Allocate(TrsvPlan *plan, size_t bytes, void *to)
{
  TrsvCall(TrsvDeviceAlloc(bytes, to));
  plan->bytes += bytes;
  return TRSV_SUCCESS;
}

static TrsvError MakeTickets(TrsvPlan *plan, Recblock *r)
{
  const size_t bytes = sizeof(unsigned) * (size_t)r->blocks.blocks;
  unsigned    *zeros;
  TrsvError    error;

  TrsvCall(Allocate(plan, bytes, &r->tickets));
  TrsvCall(TrsvAlloc(bytes, &zeros));
  error = TrsvDeviceUpload(r->tickets, memset(zeros, 0, bytes), bytes, NULL);
  free(zeros);
  return error;
}

static TrsvError MakeSpsv(Recblock *r)
{
  const size_t bytes = sizeof(*r->spsv) * (size_t)r->blocks.blocks;

  TrsvCall(TrsvAlloc(bytes, &r->spsv));
  memset(r->spsv, 0, bytes);
#if defined(TRSV_CUDA)
  const size_t      size   = TrsvValueSize(r->precision);
  TrsvRecblockSpsv *shares = NULL;

  for (int i = 0; i < r->blocks.blocks; i++) {
    const TrsvRecblockPart *b = r->blocks.block + i;

    if (b->square || b->kernel != RECBLOCK_CUSPARSE) continue;
    const TrsvRecblockSystem system = {b->rows,
                                       b->entries,
                                       r->inverse != NULL,
                                       r->precision,
                                       r->offsets + b->offset,
                                       r->columns + b->entry,
                                       (char *)r->values + size * (size_t)b->entry,
                                       (char *)r->right + size * (size_t)b->first,
                                       (char *)r->y + size * (size_t)b->first};
    TrsvCall(TrsvRecblockSpsvCreate(shares, &system, &r->spsv[i]));
    if (!shares) shares = r->spsv[i];
  }
#endif
  return TRSV_SUCCESS;
}

static TrsvError RecblockAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const size_t         vector = TrsvValueSize(A->precision) * (size_t)A->rows;
  TrsvRecblockSettings settings;
  Recblock            *r;
  int                  multiprocessors, has_cusparse = 0;

#if defined(TRSV_CUDA)
  has_cusparse = 1;
#endif
  TrsvCall(TrsvRecblockSettingsGet(&settings));
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  TrsvCall(TrsvAlloc(sizeof(*r), &plan->data));
  r            = (Recblock *)memset(plan->data, 0, sizeof(*r));
  r->precision = A->precision;
  TrsvRecblocks *blocks = &r->blocks;
  TrsvCall(TrsvRecblocksMake(A, analysis, source, &settings, multiprocessors, has_cusparse, blocks));
  TrsvCall(Move(plan, A->rows, &blocks->order, &r->order));
  TrsvCall(Move(plan, A->rows, &blocks->diagonal, &r->diagonal));
  TrsvCall(Move(plan, blocks->offset_count, &blocks->offsets, &r->offsets));
  TrsvCall(Move(plan, blocks->index_count, &blocks->index, &r->index));
  TrsvCall(Move(plan, blocks->entries, &blocks->columns, &r->columns));
  TrsvCall(Move(plan, blocks->entries, &blocks->source, &r->source));
  TrsvCall(Allocate(plan, TrsvValueSize(A->precision) * (size_t)blocks->entries, &r->values));
  if (r->diagonal) TrsvCall(Allocate(plan, vector, &r->inverse));
  TrsvCall(Allocate(plan, vector, &r->right));
  TrsvCall(Allocate(plan, vector, &r->y));
  TrsvCall(Allocate(plan, sizeof(*r->call), &r->call));
  TrsvCall(MakeTickets(plan, r));
  TrsvCall(TrsvSyncCreate(&r->sync));
  TrsvCall(MakeSpsv(r));
  return blocks->has_cusparse ? TRSV_SUCCESS : Record(r);
}

template <class T> static TrsvError Gather(const Recblock *r, const void *values, TrsvStream stream)
{
  const long all = (long)r->blocks.entries + (r->inverse ? r->blocks.rows : 0);

  if (!all) return TRSV_SUCCESS;
  TRSV_LAUNCH((recblock_gather<T>), TrsvBlocks(all, 256), 256, 0, stream, (long)r->blocks.entries, r->blocks.rows,
              r->source, r->diagonal, (const T *)values, (T *)r->values, (T *)r->inverse);
  return TrsvDeviceCheckLaunch("recblock_gather");
}

static TrsvError RecblockSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Recblock *r = (Recblock *)plan->data;

  TrsvCall(plan->precision == TRSV_FLOAT ? Gather<float>(r, values, stream) : Gather<double>(r, values, stream));
#if defined(TRSV_CUDA)
  for (int i = 0; i < r->blocks.blocks; i++)
    if (r->spsv[i]) TrsvCall(TrsvRecblockSpsvSetValues(r->spsv[i], &plan->bytes, stream));
#endif
  return r->blocks.has_cusparse ? Record(r) : TRSV_SUCCESS;
}

template <class T> static TrsvError Start(const Recblock *r, const void *b, void *x, TrsvStream stream)
{
  auto kernel = recblock_start<T>;

  TRSV_LAUNCH(kernel, TrsvBlocks(r->blocks.rows, 256), 256, 0, stream, View<T>(r, NULL), (const T *)b, (T *)x,
              r->sync.timeout);
  return TrsvDeviceCheckLaunch("recblock_start");
}

static TrsvError RecblockSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Recblock *r = (Recblock *)plan->data;

  TrsvCall(TrsvSyncStart(&r->sync, stream));
  TrsvCall(plan->precision == TRSV_FLOAT ? Start<float>(r, b, x, stream) : Start<double>(r, b, x, stream));
  return TrsvDeviceGraphLaunch(r->launches, stream);
}

static void RecblockDestroy(TrsvPlan *plan)
{
  Recblock *r = (Recblock *)plan->data;

  if (!r) return;
  TrsvDeviceGraphDestroy(&r->launches);
#if defined(TRSV_CUDA)
  for (int i = r->blocks.blocks - 1; r->spsv && i >= 0; i--) TrsvRecblockSpsvDestroy(r->spsv[i]);
#endif
  free(r->spsv);
  TrsvRecblocksFree(&r->blocks);
  TrsvDeviceFree(r->order);
  TrsvDeviceFree(r->diagonal);
  TrsvDeviceFree(r->offsets);
  TrsvDeviceFree(r->index);
  TrsvDeviceFree(r->columns);
  TrsvDeviceFree(r->source);
  TrsvDeviceFree(r->values);
  TrsvDeviceFree(r->inverse);
  TrsvDeviceFree(r->right);
  TrsvDeviceFree(r->y);
  TrsvDeviceFree(r->call);
  TrsvDeviceFree(r->tickets);
  TrsvSyncDestroy(&r->sync);
  free(r);
}

static void RecblockDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  TrsvRecblockSettingsPrint(&((const Recblock *)plan->data)->blocks, line, size);
}

TRSV_ALGORITHM(TrsvRecblock) = {
  .name       = "recblock",
  .summary    = "triangular blocks are solved, square blocks multiplied",
  .source     = "Lu, Niu and Liu (ICPP 2020)",
  .citation   = TRSV_CITE_BLOCK_ALGORITHMS,
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_HOST,
  .analyze    = RecblockAnalyze,
  .set_values = RecblockSetValues,
  .solve      = RecblockSolve,
  .destroy    = RecblockDestroy,
  .describe   = RecblockDescribe,
};
