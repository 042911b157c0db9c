/*
   recblock: the triangle is cut into triangular and square blocks; a decision tree chooses the kernel that solves, or
   multiplies, each block.

   The graph of all launches is recorded once. The launch before it writes x and the time limit into device memory. If
   cuSPARSE solves a block, the graph is recorded again for new values, because cuSPARSE guarantees nothing about its
   launches.

   Mapping, memory order, why it ends, same bits: recblock_kernels.cuh. recblock_blocks.c makes the blocks,
     recblock_tree.c chooses their kernels.
   Source: Lu, Niu, Liu: Efficient Block Algorithms for Parallel Sparse Triangular Solve (ICPP 2020): column, row and
     recursive block algorithm, "Improved Recursive Block Data Structure" (reordering, DCSR), "Adaptive Kernel
     Selection" for SpTRSV and for SpMV. Changes: triangles are stored by rows, and the sync-free kernel sums by rows,
     with each value as its own flag, so that the bits are the same in every run (published: columns, atomics); thread
     blocks have tickets; only the launch that permutes b resets words; reciprocals of the diagonal are computed when
     values are set; all launches are in one CUDA graph, in which each starts before the previous one ends (published:
     launches in sequence). */
#include <stdlib.h>
#include <string.h>
#include "papers/graph.h"
#include "papers/recblock/recblock.h"
#include "papers/recblock/recblock_kernels.cuh"
#include "papers/spsv.h"

typedef struct {
  TrsvRecblocks      blocks; /* its large arrays are moved to the device */
  TrsvPrecision      precision;
  int               *order, *diagonal, *offsets, *index, *columns, *source;
  void              *values, *inverse; /* [entries]; [rows] by place, NULL: unit diagonal */
  void              *right, *y;        /* [rows] by place */
  RecblockCall      *call;
  unsigned          *tickets; /* [blocks] */
  TrsvSync           sync;
  TrsvSpsv         **spsv; /* [blocks], NULL: another kernel solves the block */
  TrsvDeviceGraph   *launches;
} Recblock;

/* The view of a block; b is NULL: of the whole triangle. */
template <class T> static RecblockView<T> MakeView(const Recblock *r, const TrsvRecblockPart *b)
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

template <class T> static TrsvError LaunchSyncFree(const RecblockView<T> &A, int lanes, bool early, TrsvStream stream)
{
  auto           recblock_syncfree_of = lanes == 1  ? recblock_syncfree<T, 1>
                                      : lanes == 2  ? recblock_syncfree<T, 2>
                                      : lanes == 4  ? recblock_syncfree<T, 4>
                                      : lanes == 8  ? recblock_syncfree<T, 8>
                                      : lanes == 16 ? recblock_syncfree<T, 16>
                                                    : recblock_syncfree<T, 32>;
  const unsigned grid   = TrsvBlocks(A.count, RECBLOCK_BLOCK / lanes);

  return TrsvLaunchEarly(recblock_syncfree_of, early, 1, grid, RECBLOCK_BLOCK, 0, stream, A);
}

template <class T> static TrsvError LaunchLevelSets(const Recblock *r, const TrsvRecblockPart *b,
                                                    const RecblockView<T> &A, bool early, TrsvStream stream)
{
  const int *start  = r->blocks.level + b->level;

  for (int s = 0; s < b->levels; s++) {
    TrsvCall(TrsvLaunchEarly(recblock_level<T>, early || s, 1, TrsvBlocks(start[s + 1] - start[s], RECBLOCK_BLOCK),
                             RECBLOCK_BLOCK, 0, stream, A, start[s], start[s + 1]));
  }
  return TRSV_SUCCESS;
}

template <class T> static TrsvError LaunchProduct(const TrsvRecblockPart *b, const RecblockView<T> &A, bool early,
                                             TrsvStream stream)
{
  const bool     scalar = b->kernel == RECBLOCK_SCALAR_CSR || b->kernel == RECBLOCK_SCALAR_DCSR;
  auto           recblock_product = scalar ? recblock_scalar<T> : recblock_vector<T>;
  const unsigned grid   = TrsvBlocks(b->count, scalar ? RECBLOCK_BLOCK : RECBLOCK_BLOCK / 32);

  return TrsvLaunchEarly(recblock_product, early, 1, grid, RECBLOCK_BLOCK, 0, stream, A);
}

template <class T> static TrsvError LaunchParallel(const RecblockView<T> &A, bool early, TrsvStream stream)
{

  return TrsvLaunchEarly(recblock_parallel<T>, early, 1, TrsvBlocks(A.count, RECBLOCK_BLOCK), RECBLOCK_BLOCK, 0, stream,
                         A);
}

#if defined(TRSV_CUDA)
template <class T> static TrsvError SolveByCusparse(const Recblock *r, const TrsvRecblockPart *b,
                                                    const RecblockView<T> &A, TrsvStream stream)
{

  TrsvCall(TrsvSpsvSolve(r->spsv[b - r->blocks.block], stream));
  return TrsvLaunch(recblock_finish<T>, TrsvBlocks(A.count, RECBLOCK_BLOCK), RECBLOCK_BLOCK, 0, stream, A);
}
#endif

template <class T> static TrsvError LaunchBlocks(const Recblock *r, TrsvStream stream)
{
  for (int i = 0; i < r->blocks.blocks; i++) {
    const TrsvRecblockPart *b = r->blocks.block + i;
    const RecblockView<T>   A = MakeView<T>(r, b);
    const bool early          = i && !r->spsv[i - 1]; /* the launch before the first allows no early start */

    if (b->square) TrsvCall(LaunchProduct(b, A, early, stream));
    else if (b->kernel == RECBLOCK_LEVEL) TrsvCall(LaunchLevelSets(r, b, A, early, stream));
    else if (b->kernel == RECBLOCK_PARALLEL) TrsvCall(LaunchParallel(A, early, stream));
#if defined(TRSV_CUDA)
    else if (b->kernel == RECBLOCK_CUSPARSE) TrsvCall(SolveByCusparse(r, b, A, stream));
#endif
    else TrsvCall(LaunchSyncFree(A, b->lanes, early, stream));
  }
  return TRSV_SUCCESS;
}

static TrsvError LaunchAll(void *data, TrsvStream stream)
{
  const Recblock *r = (const Recblock *)data;

  return TRSV_BY_REAL_PRECISION(r->precision, LaunchBlocks)(r, stream);
}

static TrsvError RecordLaunches(Recblock *r)
{
  TrsvDeviceGraphDestroy(&r->launches);
  return r->blocks.blocks ? TrsvDeviceGraphCreate(LaunchAll, r, &r->launches) : TRSV_SUCCESS;
}

/* Moves an array to the device: copies it and frees the copy on the host. */
static TrsvError MoveToDevice(TrsvPlan *plan, int count, int **from, int **to)
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

static TrsvError AllocateCounted(TrsvPlan *plan, size_t bytes, void *to)
{
  TrsvCall(TrsvDeviceAlloc(bytes, to));
  plan->bytes += bytes;
  return TRSV_SUCCESS;
}

static TrsvError MakeSpsv(Recblock *r)
{
  const size_t bytes = sizeof(*r->spsv) * (size_t)r->blocks.blocks;

  TrsvCall(TrsvAlloc(bytes, &r->spsv));
  memset(r->spsv, 0, bytes);
#if defined(TRSV_CUDA)
  const size_t size   = TrsvValueSize(r->precision);
  TrsvSpsv    *shares = NULL;

  for (int i = 0; i < r->blocks.blocks; i++) {
    const TrsvRecblockPart *b = r->blocks.block + i;
    TrsvMatrix              A = {};

    if (b->square || b->kernel != RECBLOCK_CUSPARSE) continue;
    A.rows      = b->rows;
    A.offsets   = r->offsets + b->offset;
    A.columns   = r->columns + b->entry;
    A.triangle  = TRSV_LOWER;
    A.diagonal  = r->inverse ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT;
    A.precision = r->precision;
    TrsvCall(TrsvSpsvCreate(shares, &A, b->entries, (char *)r->values + size * (size_t)b->entry,
                            (char *)r->right + size * (size_t)b->first, (char *)r->y + size * (size_t)b->first,
                            &r->spsv[i]));
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
  r                     = (Recblock *)plan->data;
  r->precision          = A->precision;
  TrsvRecblocks *blocks = &r->blocks;
  TrsvCall(TrsvRecblocksMake(A, analysis, source, &settings, multiprocessors, has_cusparse, blocks));
  const size_t tickets = sizeof(unsigned) * (size_t)blocks->blocks;
  TrsvCall(MoveToDevice(plan, A->rows, &blocks->order, &r->order));
  TrsvCall(MoveToDevice(plan, A->rows, &blocks->diagonal, &r->diagonal));
  TrsvCall(MoveToDevice(plan, blocks->offset_count, &blocks->offsets, &r->offsets));
  TrsvCall(MoveToDevice(plan, blocks->index_count, &blocks->index, &r->index));
  TrsvCall(MoveToDevice(plan, blocks->entries, &blocks->columns, &r->columns));
  TrsvCall(MoveToDevice(plan, blocks->entries, &blocks->source, &r->source));
  TrsvCall(AllocateCounted(plan, TrsvValueSize(A->precision) * (size_t)blocks->entries, &r->values));
  if (r->diagonal) TrsvCall(AllocateCounted(plan, vector, &r->inverse));
  TrsvCall(AllocateCounted(plan, vector, &r->right));
  TrsvCall(AllocateCounted(plan, vector, &r->y));
  TrsvCall(AllocateCounted(plan, sizeof(*r->call), &r->call));
  TrsvCall(AllocateCounted(plan, tickets, &r->tickets));
  TrsvCall(TrsvDeviceClear(r->tickets, tickets, NULL));
  TrsvCall(TrsvSyncCreate(&r->sync));
  TrsvCall(MakeSpsv(r));
  return blocks->has_cusparse ? TRSV_SUCCESS : RecordLaunches(r);
}

template <class T> static TrsvError GatherValues(const Recblock *r, const void *values, TrsvStream stream)
{
  const long all = (long)r->blocks.entries + (r->inverse ? r->blocks.rows : 0);

  if (!all) return TRSV_SUCCESS;
  return TrsvLaunch((recblock_gather<T>), TrsvBlocks(all, 256), 256, 0, stream, (long)r->blocks.entries, r->blocks.rows,
                    r->source, r->diagonal, (const T *)values, (T *)r->values, (T *)r->inverse);
}

static TrsvError RecblockSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Recblock *r = (Recblock *)plan->data;

  TrsvCall(TRSV_BY_REAL_PRECISION(plan->precision, GatherValues)(r, values, stream));
#if defined(TRSV_CUDA)
  for (int i = 0; i < r->blocks.blocks; i++)
    if (r->spsv[i]) TrsvCall(TrsvSpsvSetValues(r->spsv[i], &plan->bytes, stream));
#endif
  return r->blocks.has_cusparse ? RecordLaunches(r) : TRSV_SUCCESS;
}

template <class T> static TrsvError StartSolve(const Recblock *r, const void *b, void *x, TrsvStream stream)
{

  return TrsvLaunch(recblock_start<T>, TrsvBlocks(r->blocks.rows, 256), 256, 0, stream, MakeView<T>(r, NULL),
                    (const T *)b, (T *)x, r->sync.timeout);
}

static TrsvError RecblockSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Recblock *r = (Recblock *)plan->data;

  TrsvCall(TrsvSyncStart(&r->sync, stream));
  TrsvCall(TRSV_BY_REAL_PRECISION(plan->precision, StartSolve)(r, b, x, stream));
  return TrsvDeviceGraphLaunch(r->launches, stream);
}

static void RecblockDestroy(TrsvPlan *plan)
{
  Recblock *r = (Recblock *)plan->data;

  if (!r) return;
  TrsvDeviceGraphDestroy(&r->launches);
#if defined(TRSV_CUDA)
  for (int i = r->blocks.blocks - 1; r->spsv && i >= 0; i--) TrsvSpsvDestroy(r->spsv[i]);
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
  .citation   =
    "@inproceedings{RecBlockSpTRSV,\n"
    "  author    = {Zhengyang Lu and Yuyao Niu and Weifeng Liu},\n"
    "  title     = {Efficient Block Algorithms for Parallel Sparse Triangular Solve},\n"
    "  booktitle = {49th International Conference on Parallel Processing (ICPP)},\n"
    "  year      = {2020}\n"
    "}\n",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_HOST,
  .analyze    = RecblockAnalyze,
  .set_values = RecblockSetValues,
  .solve      = RecblockSolve,
  .destroy    = RecblockDestroy,
  .describe   = RecblockDescribe,
};
