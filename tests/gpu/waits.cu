/*
   Tests of waits and streams that need a GPU.

     waits        all tests; exit status 1 if anything failed

   halves   a word is stored by 8 bytes and probed by 4, as in chunk_compute.cuh; a complex value is stored by one
            access to both words, each of which is probed. PTX's memory model says nothing about accesses of different
            sizes; the kernels assume that a thread that has read the new upper half reads all of the new word in its
            next load. Another warp of the block stores, or another block of a cluster.
   long     a correct solve takes longer than the limit of a wait
   lost     a chunk computes nothing: the chunks after it give up in time, though none of them notes progress
   streams  two streams use one object in turn, without a wait between
   graph    a graph of solves is replayed after a solve that gave up
*/
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vector>
#include "device/sync.cuh"
#include "solve/chunk/inverse.cuh"
#include "solve/plan/table.h"
#include "trsv.h"
#include "expect.cuh"

extern "C" void TrsvChunkSettingsOverride(const TrsvChunkSettings *); /* tests/kernels/check.h */

/* --- halves --- */

enum {
  ROUNDS = 20000
};

static __device__ __forceinline__ unsigned long long mix(unsigned long long z)
{
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

/* Number i of a round for a lane: all 4 bytes of each differ from those of NOT_READY. */
template <class T> static __device__ __forceinline__ T word_of(unsigned block, int i)
{
  const unsigned long long bits = mix(((unsigned long long)block << 40) + (unsigned long long)i);

  if constexpr (sizeof(T) == 4) return trsv_from_bits((unsigned)(bits & 0x3fffffffu) | 1u);
  else if constexpr (sizeof(T) == sizeof(TrsvReal<T>)) return trsv_from_bits((bits & 0x3fffffffffffffffull) | 1);
  else return {word_of<TrsvReal<T>>(block, 2 * i), word_of<TrsvReal<T>>(block, 2 * i + 1)};
}

template <class R> static __device__ __forceinline__ bool same_bits(R a, R b) { return trsv_bits(a) == trsv_bits(b); }
template <class R> static __device__ __forceinline__ bool same_bits(TrsvComplex<R> a, TrsvComplex<R> b)
{
  return same_bits(a.re, b.re) && same_bits(a.im, b.im);
}

/* Each lane of warp 0 of a block reads a cell; warp 1 of the same block or of its neighbor writes. There are two
   buffers of cells, which take turns. counts: torn words, probes that found the mark, rounds. */
template <class T, bool CLUSTER> static __global__ void halves(unsigned long long *counts)
{
  constexpr unsigned CELLS = 32 * sizeof(T);
  const unsigned base = trsv_shared_address(), lane = threadIdx.x % 32, rank = CLUSTER ? trsv_cluster_rank() : 0,
                 reader   = CLUSTER ? blockIdx.x ^ 1 : blockIdx.x;
  unsigned long long torn = 0, waited = 0;

  for (unsigned i = 0; i < 2; i++)
    if (threadIdx.x < 32) trsv_shared_store(base + i * CELLS + (unsigned)sizeof(T) * lane, trsv_not_ready<T>());
  for (int round = 0; round < ROUNDS; round++) {
    const unsigned cell = base + round % 2 * CELLS + (unsigned)sizeof(T) * lane,
                   next = base + (round + 1) % 2 * CELLS + (unsigned)sizeof(T) * lane;

    if (CLUSTER) trsv_cluster_sync();
    else __syncthreads();
    if (threadIdx.x >= 32) {
      const long long until = clock64() + (long long)(mix(round * 64ull + lane) % 256);
      const T         v     = word_of<T>(reader, round * 32 + (int)lane);

      while (clock64() < until) {
      }
      if (CLUSTER) trsv_push_if(trsv_peer(rank ^ 1), cell, v, true);
      else trsv_shared_store(cell, v);
    } else {
      trsv_shared_store(next, trsv_not_ready<T>());
      while (trsv_shared_mark<T>(cell) == trsv_mark<T>()) waited++;
      if (!same_bits(trsv_shared_load<T>(cell), word_of<T>(blockIdx.x, round * 32 + (int)lane))) torn++;
    }
  }
  if (CLUSTER) trsv_cluster_sync();
  if (threadIdx.x >= 32) return;
  atomicAdd(counts, torn);
  atomicAdd(counts + 1, waited);
  atomicAdd(counts + 2, (unsigned long long)ROUNDS);
}

template <class T> static void TestHalves(const char *type)
{
  unsigned long long *counts, host[2][3];
  const int           clusters = TrsvDeviceGetLimits().clusters;

  EXPECT_CUDA(cudaMalloc(&counts, 2 * sizeof(host[0])));
  EXPECT_CUDA(cudaMemset(counts, 0, 2 * sizeof(host[0])));
  halves<T, false><<<264, 64, 64 * sizeof(T)>>>(counts);
  if (clusters) {
    const auto kernel = halves<T, true>;

    TRSV_LAUNCH_EARLY(kernel, false, 2, 264, 64, 64 * sizeof(T), (TrsvStream)NULL, counts + 3);
  }
  EXPECT_SUCCESS(TrsvDeviceCheckLaunch("halves"));
  EXPECT_CUDA(cudaMemcpy(host, counts, sizeof(host), cudaMemcpyDeviceToHost));
  for (int c = 0; c <= clusters; c++) {
    printf("halves, %s, %s: %llu words, %llu probes before they were there, %llu torn\n", type,
           c ? "from a block of the cluster" : "from a warp of the block", host[c][2], host[c][1], host[c][0]);
    EXPECT(host[c][2] && !host[c][0], "%s: words are torn", type);
    EXPECT(host[c][1] > host[c][2] / 10, "%s: no probe came early: nothing was tested", type);
  }
  EXPECT_CUDA(cudaFree(counts));
}

/* --- a chain of rows, on the device --- */

struct Chain {
  int                 rows;
  std::vector<int>    offsets, columns;
  std::vector<double> values, right;
  double             *b, *x;
  TrsvMatrix          T;
  TrsvPlan           *plan = NULL;

  Chain(int n, const char *algorithm) : rows(n), offsets(n + 1), right(n)
  {
    TrsvAnalysis *analysis = NULL;

    for (int i = 0; i < n; i++) {
      if (i) columns.push_back(i - 1), values.push_back(0.5 + 1e-7 * (i % 1000));
      columns.push_back(i), values.push_back(1.25);
      offsets[i + 1] = (int)columns.size();
      right[i]       = 1 + i % 17;
    }
    T.rows = n, T.offsets = offsets.data(), T.columns = columns.data(), T.triangle = TRSV_LOWER;
    T.diagonal = TRSV_DIAGONAL_STORED, T.precision = TRSV_DOUBLE, T.memory = TRSV_HOST, T.analysis = NULL;
    EXPECT_CUDA(cudaMalloc(&b, sizeof(double) * n));
    EXPECT_CUDA(cudaMalloc(&x, sizeof(double) * n));
    EXPECT_CUDA(cudaMemcpy(b, right.data(), sizeof(double) * n, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(TrsvAnalyze(&T, &analysis));
    EXPECT_SUCCESS(TrsvPlanCreate(&T, analysis, NULL, (int)columns.size(), NULL, TrsvAlgorithmFind(algorithm), 0,
                                  &plan));
    EXPECT_SUCCESS(TrsvPlanSetValues(plan, values.data(), TRSV_HOST, NULL));
    TrsvAnalysisDestroy(&analysis);
  }
  /* How many numbers of x differ from the recurrence; NaN counts. */
  int Wrong()
  {
    std::vector<double> found(rows);
    double              y     = 0;
    int                 wrong = 0;

    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaMemcpy(found.data(), x, sizeof(double) * rows, cudaMemcpyDeviceToHost));
    for (int i = 0; i < rows; i++) {
      y = (right[i] - (i ? values[2 * i - 1] * y : 0)) / 1.25;
      wrong += !(fabs(found[i] - y) <= 1e-12 * fabs(y));
    }
    return wrong;
  }
  ~Chain()
  {
    TrsvPlanDestroy(&plan);
    EXPECT_CUDA(cudaFree(b));
    EXPECT_CUDA(cudaFree(x));
  }
};

static double MeasureSolve(TrsvPlan *plan, const double *b, double *x)
{
  cudaEvent_t start, stop;
  float       ms = 0;

  EXPECT_CUDA(cudaEventCreate(&start));
  EXPECT_CUDA(cudaEventCreate(&stop));
  EXPECT_CUDA(cudaEventRecord(start, 0));
  EXPECT_SUCCESS(TrsvPlanSolve(plan, b, x, NULL));
  EXPECT_CUDA(cudaEventRecord(stop, 0));
  EXPECT_CUDA(cudaEventSynchronize(stop));
  EXPECT_CUDA(cudaEventElapsedTime(&ms, start, stop));
  EXPECT_CUDA(cudaEventDestroy(start));
  EXPECT_CUDA(cudaEventDestroy(stop));
  return 1e-3 * ms;
}

static void SetChunks(int cluster)
{
  TrsvChunkSettings settings = {};

  settings.chunks = 64, settings.length = 3, settings.width = 32, settings.cluster = cluster, settings.ring = 4096;
  settings.stages = 4, settings.import_lifetime = -1, settings.steps_l2 = 8, settings.steps_cluster = 4;
  TrsvChunkSettingsOverride(&settings);
}

static void TestLongSolve(int cluster)
{
  SetChunks(cluster);
  TrsvSetTimeout(TRSV_TIMEOUT);
  Chain c(40000000, "chunk"); /* a wait reads the clock each ms or so: the limit must be several of these */
  TrsvChunkSettingsOverride(NULL);
  if (!c.plan) return;
  const double seconds = MeasureSolve(c.plan, c.b, c.x);
  EXPECT(!c.Wrong(), "wrong under a long limit");
  TrsvSetTimeout(seconds / 3);
  EXPECT_CUDA(cudaMemset(c.x, 0xff, sizeof(double) * c.rows));
  (void)MeasureSolve(c.plan, c.b, c.x);
  EXPECT(!c.Wrong(), "a solve of %g s gives up under a limit of a third", seconds);
  EXPECT_SUCCESS(TrsvPlanSolve(c.plan, c.b, c.x, NULL));
  EXPECT_CUDA(cudaDeviceSynchronize());
  printf("long, clusters of %d: a solve of %.3g s under a limit of %.3g s\n", cluster, seconds, seconds / 3);
  TrsvSetTimeout(TRSV_TIMEOUT);
}

static void TestLostValue(int cluster)
{
  static const double    limit = 0.2;
  static const ChunkHead none  = {};

  SetChunks(cluster);
  TrsvSetTimeout(TRSV_TIMEOUT);
  Chain c(4000, "chunk"); /* 8 stages in each chunk: too few for a note of progress */
  TrsvChunkSettingsOverride(NULL);
  if (!c.plan) return;
  ChunkPlan *p = (ChunkPlan *)c.plan->data;
  if (p->inverse) p = (ChunkPlan *)p->inverse->product->data;
  EXPECT(p->blocks > 36 && p->schedule.stages <= 14 * (int)p->blocks, "%u chunks have %d stages", p->blocks,
         p->schedule.stages);
  EXPECT_SUCCESS(TrsvPlanSolve(c.plan, c.b, c.x, NULL));
  EXPECT(!c.Wrong(), "wrong before a value is lost");
  EXPECT_CUDA(cudaMemcpy(p->heads + 36, &none, sizeof(none), cudaMemcpyHostToDevice));
  TrsvSetTimeout(limit);
  const double seconds = MeasureSolve(c.plan, c.b, c.x);
  const int    wrong   = c.Wrong();
  EXPECT(seconds > limit && seconds < 10 * limit, "the solve gives up after %g s, its limit is %g s", seconds, limit);
  EXPECT(wrong > 0, "no value is missing: nothing was tested");
  EXPECT(TrsvPlanSolve(c.plan, c.b, c.x, NULL) == TRSV_ERR_TIMEOUT, "the next call does not tell");
  EXPECT_CUDA(cudaDeviceSynchronize());
  printf("lost, clusters of %d: gave up after %.3g s of %.3g s, %d of %d numbers are missing\n", cluster, seconds,
         limit, wrong, c.rows);
  TrsvSetTimeout(TRSV_TIMEOUT);
}

/* --- streams --- */

static void TestStreams(void)
{
  enum { SIDE = 300, ROWS = SIDE * SIDE, SOLVES = 400 };
  static const TrsvPivots none = {TRSV_SHIFT_NONE, 0, 1e-13};
  std::vector<int>        offsets(1, 0), columns;
  std::vector<double>     values, b(ROWS), first(ROWS), found(ROWS);
  TrsvIluRequest          r   = {};
  TrsvIlu                *ilu = NULL;
  TrsvOutcome             outcome;
  TrsvCSR                 A;
  cudaStream_t            stream[2];
  double                 *right, *x[2], *right_2;
  int                    *device_offsets, *device_columns, differ = 0;
  double                 *device_values;

  for (int i = 0; i < ROWS; i++) {
    const int places[] = {i - SIDE, i - 1, i, i + 1, i + SIDE};

    for (int k = 0; k < 5; k++)
      if (places[k] >= 0 && places[k] < ROWS) columns.push_back(places[k]), values.push_back(k == 2 ? 4.1 : -1);
    offsets.push_back((int)columns.size());
    b[i] = sin(i);
  }
  EXPECT_CUDA(cudaMalloc(&device_offsets, sizeof(int) * offsets.size()));
  EXPECT_CUDA(cudaMalloc(&device_columns, sizeof(int) * columns.size()));
  EXPECT_CUDA(cudaMalloc(&device_values, sizeof(double) * values.size()));
  EXPECT_CUDA(cudaMemcpy(device_offsets, offsets.data(), sizeof(int) * offsets.size(), cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaMemcpy(device_columns, columns.data(), sizeof(int) * columns.size(), cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaMemcpy(device_values, values.data(), sizeof(double) * values.size(), cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaMalloc(&right, sizeof(double) * ROWS));
  EXPECT_CUDA(cudaMalloc(&right_2, sizeof(double) * ROWS));
  EXPECT_CUDA(cudaMemcpy(right, b.data(), sizeof(double) * ROWS, cudaMemcpyHostToDevice));
  for (double &v : b) v *= 2; /* then x is twice as large, with the same other bits */
  EXPECT_CUDA(cudaMemcpy(right_2, b.data(), sizeof(double) * ROWS, cudaMemcpyHostToDevice));
  for (int s = 0; s < 2; s++) {
    EXPECT_CUDA(cudaMalloc(&x[s], sizeof(double) * ROWS));
    EXPECT_CUDA(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
  }
  A           = {ROWS, device_offsets, device_columns, device_values};
  r.precision = TRSV_DOUBLE, r.memory = TRSV_DEVICE, r.place = TRSV_PLACE_DEVICE, r.timeout = TRSV_TIMEOUT;
  EXPECT_SUCCESS(TrsvIluCreate(&r, ROWS, &A, &ilu));
  if (!ilu) return;
  EXPECT_SUCCESS(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, stream[0]));
  EXPECT_SUCCESS(TrsvIluSetValues(ilu, A.values, &none, &outcome, stream[0]));
  EXPECT_SUCCESS(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, right, x[0], stream[0]));
  EXPECT_CUDA(cudaStreamSynchronize(stream[0]));
  EXPECT_CUDA(cudaMemcpy(first.data(), x[0], sizeof(double) * ROWS, cudaMemcpyDeviceToHost));
  for (int n = 0; n < SOLVES; n++)
    EXPECT_SUCCESS(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, n % 2 ? right_2 : right, x[n % 2], stream[n % 2]));
  EXPECT_CUDA(cudaDeviceSynchronize());
  for (int s = 0; s < 2; s++) {
    EXPECT_CUDA(cudaMemcpy(found.data(), x[s], sizeof(double) * ROWS, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROWS; i++) differ += found[i] != (s ? 2 : 1) * first[i];
  }
  EXPECT(!differ, "%d numbers differ after %d solves in two streams", differ, (int)SOLVES);
  printf("streams: %d solves in two streams in turn, %d numbers differ\n", (int)SOLVES, differ);
  TrsvIluDestroy(&ilu);
  for (int s = 0; s < 2; s++) {
    EXPECT_CUDA(cudaStreamDestroy(stream[s]));
    EXPECT_CUDA(cudaFree(x[s]));
  }
  for (void *p :
       {(void *)right, (void *)right_2, (void *)device_offsets, (void *)device_columns, (void *)device_values})
    EXPECT_CUDA(cudaFree(p));
}

/* --- a graph after a time-out --- */

static void TestGraph(const char *algorithm)
{
  cudaStream_t    stream;
  cudaGraph_t     graph;
  cudaGraphExec_t exec;

  TrsvSetTimeout(TRSV_TIMEOUT);
  Chain c(300000, algorithm);
  if (!c.plan) return;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_SUCCESS(TrsvPlanSolve(c.plan, c.b, c.x, stream));
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_SUCCESS(TrsvPlanSolve(c.plan, c.b, c.x, stream));
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cudaGraphLaunch(exec, stream));
  EXPECT(!c.Wrong(), "%s: a graph is wrong", algorithm);
  TrsvSetTimeout(1e-6);
  EXPECT_SUCCESS(TrsvPlanSolve(c.plan, c.b, c.x, stream));
  EXPECT(c.Wrong() > 0, "%s: no wait is longer than 1 us", algorithm);
  EXPECT_CUDA(cudaGraphLaunch(exec, stream));
  const int after = c.Wrong();
  TrsvSetTimeout(TRSV_TIMEOUT);
  EXPECT(TrsvPlanSolve(c.plan, c.b, c.x, stream) == TRSV_ERR_TIMEOUT, "%s: the next call does not tell", algorithm);
  for (int n = 0; n < 3; n++) {
    EXPECT_CUDA(cudaMemset(c.x, 0xff, sizeof(double) * c.rows));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT(!c.Wrong(), "%s: replay %d after that", algorithm, n);
    EXPECT_SUCCESS(TrsvPlanSolve(c.plan, c.b, c.x, stream));
    EXPECT(!c.Wrong(), "%s: solve %d after that", algorithm, n);
  }
  printf("graph, %s: replayed after a time-out %d of %d numbers are missing; after the next call none\n", algorithm,
         after, c.rows);
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

int main(void)
{
  TestHalves<double>("double");
  TestHalves<TrsvComplex<double>>("complex double");
  TestHalves<TrsvComplex<float>>("complex float");
  TestLongSolve(1);
  TestLostValue(1);
  if (TrsvDeviceGetLimits().clusters) TestLongSolve(8), TestLostValue(8);
  TestStreams();
  TestGraph("thread"); /* not chunk: its limit counts from the last progress */
  printf(failures ? "%d failures\n" : "all right\n", (int)failures);
  return failures != 0;
}
