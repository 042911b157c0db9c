/*
   crowd: solves while the GPU has other work.

     crowd held [-seconds S] [-o FILE.jsonl]   another stream's kernel holds multiprocessors for S seconds (3) each time
     crowd busy [-seconds S] [-o FILE.jsonl]   another stream always has more blocks waiting; S seconds (0.4) a way
     crowd spin [-seconds S]                   only a kernel that holds all multiprocessors for S seconds, twice

   held: all multiprocessors, all but two, and every second one are held while each way (ways.c) solves in its own
   stream. A wait may take 1 s; the time before a block starts does not count as a wait. subject.h says how solutions
   are checked.

   Mapping of its own kernels: a block fills a multiprocessor, by its shared memory. Why they end: by the clock.
*/
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
#include "long.h"

static void CheckCuda(cudaError_t e, const char *what)
{
  if (e != cudaSuccess) ReportFailure(what, "%s", cudaGetErrorString(e));
}

static __device__ unsigned long long ReadClock()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/* every_other: blocks with odd numbers end at once. */
static __global__ void hold(unsigned long long nanoseconds, int every_other)
{
  const unsigned long long start = ReadClock();

  if (every_other && blockIdx.x % 2) return;
  while (ReadClock() - start < nanoseconds) __nanosleep(1000);
}

enum {
  QUEUED = 8 /* launches of `busy` that wait at the same time */
};

struct Holder {
  cudaStream_t stream;
  cudaEvent_t  over[QUEUED];
  unsigned     launches = 0;
  int          multiprocessors, shared;

  Holder()
  {
    int device = 0;

    CheckCuda(cudaGetDevice(&device), "cudaGetDevice");
    CheckCuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
              "cudaDeviceGetAttribute");
    CheckCuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
              "cudaDeviceGetAttribute");
    CheckCuda(cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "cudaFuncSetAttribute");
    CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (cudaEvent_t &e : over) CheckCuda(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~Holder()
  {
    for (cudaEvent_t e : over) CheckCuda(cudaEventDestroy(e), "cudaEventDestroy");
    CheckCuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }
  void Hold(int blocks, double seconds, int every_other = 0)
  {
    hold<<<(unsigned)blocks, 1024, (size_t)shared, stream>>>((unsigned long long)(1e9 * seconds), every_other);
    CheckCuda(cudaGetLastError(), "hold");
  }
  /* Keeps QUEUED launches waiting; each has several times the blocks that the device can run. */
  void KeepBusy()
  {
    while (cudaEventQuery(over[launches % QUEUED]) == cudaSuccess) {
      Hold(20 * multiprocessors, 50e-6);
      CheckCuda(cudaEventRecord(over[launches++ % QUEUED], stream), "cudaEventRecord");
    }
    (void)cudaGetLastError(); /* clears cudaErrorNotReady */
  }
};

/* A subject of each way that accepts this triangle; the last ones are pairs. */
struct Crowd {
  Dag                  l, u;
  Case                 L, U;
  std::vector<Subject> subjects;
  std::vector<Way>     ways;

  explicit Crowd(int rows)
  {
    Seed seed = 11;

    l = DagMake(&seed, "scattered", rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
    u = DagMake(&seed, "scattered", rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
    CaseMake(&L, &l, NULL);
    CaseMake(&U, &u, L.x);
    for (int k = 0; k < WayCount(); k++) AddWay(WayGet(k, &seed));
  }
  ~Crowd()
  {
    for (Subject &s : subjects) SubjectFree(&s);
    CaseFree(&L);
    CaseFree(&U);
    DagFree(&l);
    DagFree(&u);
  }
  void AddWay(const Way &w)
  {
    TrsvAnalysis *analysis = NULL;
    TrsvPlan     *plan     = NULL;
    TrsvPair     *pair     = NULL;
    Subject       s        = {};
    TrsvError error = w.pair ? WayPair(&w, &L.device, &U.device, NULL, NULL, &pair) : TrsvAnalyze(&L.device, &analysis);

    if (!error && !w.pair) error = WayPlan(&w, &L.device, analysis, NULL, l.offsets[l.view.rows], &plan);
    if (!error)
      error = w.pair ? TrsvPairSetValues(pair, L.device_values, U.device_values, TRSV_DEVICE, NULL)
                     : TrsvPlanSetValues(plan, L.device_values, TRSV_DEVICE, NULL);
    TrsvAnalysisDestroy(&analysis);
    if (error) {
      if (error != TRSV_ERR_UNSUPPORTED) ReportFailure(w.name, "%s", TrsvErrorMessage());
      TrsvPlanDestroy(&plan);
      TrsvPairDestroy(&pair);
      return;
    }
    if (pair) (void)SubjectMakePair(&s, pair, &U, L.b, NULL, w.name);
    else (void)SubjectMake(&s, &L, plan, w.name);
    subjects.push_back(s);
    ways.push_back(w);
  }
};

static long TestHeld(Crowd &c, double seconds)
{
  Holder                    h;
  std::vector<cudaStream_t> streams(c.subjects.size());
  const int                 blocks[3] = {h.multiprocessors, h.multiprocessors - 2, h.multiprocessors};
  Seed                      seed      = 5;
  long                      solves    = 0;

  for (cudaStream_t &s : streams) CheckCuda(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
  TrsvSetTimeout(1);
  for (int variant = 0; variant < 3; variant++) {
    const double start = TrsvSeconds();

    CheckCuda(cudaDeviceSynchronize(), "before a hold");
    h.Hold(blocks[variant], seconds, variant == 2);
    for (size_t k = 0; k < c.subjects.size(); k++, solves += SIDES) {
      c.subjects[k].stream  = streams[k];
      const TrsvError error = SubjectSolve(&c.subjects[k], &seed);
      if (error) ReportFailure(c.ways[k].name, "%s", TrsvErrorMessage());
    }
    CheckCuda(cudaDeviceSynchronize(), "behind a hold");
    if (TrsvSeconds() - start < seconds) ReportFailure("held", "the kernel held for %g s", TrsvSeconds() - start);
    for (size_t k = 0; k < c.subjects.size(); k++) (void)SubjectCheck(&c.subjects[k], c.ways[k].name);
  }
  for (Subject &s : c.subjects) s.stream = NULL;
  for (cudaStream_t s : streams) CheckCuda(cudaStreamDestroy(s), "cudaStreamDestroy");
  TrsvSetTimeout(10);
  return solves;
}

static long TestBusy(Crowd &c, double seconds)
{
  Holder       h;
  cudaStream_t stream;
  Seed         seed   = 6;
  long         solves = 0;

  CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  for (size_t k = 0; k < c.subjects.size(); k++) {
    Subject     *s     = &c.subjects[k];
    const double start = TrsvSeconds();
    TrsvError    error = TRSV_SUCCESS;

    s->stream = stream;
    while (!error && TrsvSeconds() - start < seconds) {
      h.KeepBusy();
      for (int n = 0; !error && n < 4; n++, solves += SIDES) error = SubjectSolve(s, &seed);
      CheckCuda(cudaStreamSynchronize(stream), "beside other work");
    }
    if (error) ReportFailure(c.ways[k].name, "%s", TrsvErrorMessage());
    CheckCuda(cudaDeviceSynchronize(), "beside other work");
    (void)SubjectCheck(s, c.ways[k].name);
    s->stream = NULL;
  }
  CheckCuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return solves;
}

int main(int count, char **args)
{
  const char  *what  = count > 1 ? args[1] : "";
  const int    held  = !strcmp(what, "held");
  const double start = TrsvSeconds(), seconds = NumberArgument(count, args, "seconds", held ? 3 : 0.4);
  long         solves;

  if (!strcmp(what, "spin")) {
    Holder h;

    for (int n = 0; n < 2; n++) h.Hold(h.multiprocessors, seconds);
    CheckCuda(cudaDeviceSynchronize(), "spin");
    return failures > 0;
  }
  if (!held && strcmp(what, "busy")) {
    fprintf(stderr, "crowd held|busy|spin [-seconds S] [-o FILE.jsonl]\n");
    return 2;
  }
  Crowd c((int)NumberArgument(count, args, "rows", 20000));
  solves = held ? TestHeld(c, seconds) : TestBusy(c, seconds);
  printf("%s: %ld solves by %zu algorithms and settings in %.0f s: %ld wrong\n", what, solves, c.ways.size(),
         TrsvSeconds() - start, failures);
  WriteResult(count, args, "\"what\": \"%s\", \"launches\": %ld, \"ways\": %zu, \"seconds\": %.0f, \"wrong\": %ld",
              what, solves, c.ways.size(), TrsvSeconds() - start, failures);
  return failures > 0;
}
