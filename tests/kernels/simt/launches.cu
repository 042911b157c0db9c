/*
   The executor: launches that begin before the previous launch has ended, and graphs.
*/
#include "papers/graph.h"
#include "simt/reports.h"

/* Records the words of the previous launch that it reads before its wait and after it, and writes its own words. */
static __global__ void look_back(const unsigned *before, unsigned *own, unsigned *early, unsigned *late)
{
  if (before[threadIdx.x] != 7) atomicAdd(early, 1u);
  trsv_wait_for_previous();
  trsv_let_next_start();
  if (before[threadIdx.x] != 7) atomicAdd(late, 1u);
  own[blockIdx.x * 32 + threadIdx.x] = 7;
}

/* The same, but the next launch begins after this one has ended. */
static __global__ void never_lets(unsigned *own) { own[blockIdx.x * 32 + threadIdx.x] = 7; }

static void CheckEarlyLaunches(void)
{
  enum { WORDS = 64 };
  const unsigned blocks = SimtEarlyBlocks();
  unsigned       early = 0, late = 0, unsaid = 0;

  Begin("executor: early launches see what the one before has stored behind their wait only");
  UNDER_ALL_SCHEDULES
  {
    unsigned *word[4], first = 0, found = 0;

    for (int i = 0; i < 4; i++)
      ExpectError(TrsvDeviceAlloc(sizeof(unsigned) * WORDS, &word[i]), TRSV_SUCCESS, "TrsvDeviceAlloc");
    for (int i = 0; i < 4; i++) memset(word[i], 0, sizeof(unsigned) * WORDS);
    SimtSettings.early = 1;
    RUN(never_lets, 2, 32, word[0]);
    TRSV_LAUNCH_EARLY(look_back, true, 1, 2, 32, 0, (TrsvStream)NULL, (const unsigned *)word[0], word[1], &found,
                      &late);
    TRSV_LAUNCH_EARLY(look_back, true, 1, 2, 32, 0, (TrsvStream)NULL, (const unsigned *)word[1], word[2], &first,
                      &late);
    Expect(word[2][0] != 7, "schedule %u: a launch runs before the host asks for anything", k);
    RUN(never_lets, 2, 32, word[3]); /* not early: the previous launch has ended */
    Expect(word[2][0] == 7, "schedule %u: a launch is not over", k);
    Expect(SimtFinish(), "schedule %u: %s", k, SimtReport());
    for (int i = 0; i < 4; i++)
      for (int w = 0; w < WORDS; w++) Expect(word[i][w] == 7, "schedule %u: word %d of launch %d is lost", k, w, i);
    for (int i = 0; i < 4; i++) TrsvDeviceFree(word[i]);
    unsaid += found;
    early += first;
  }
  SimtDefaults();
  Expect(early && unsaid, "%u and %u threads see too little before they wait", early, unsaid);
  Expect(SimtEarlyBlocks() > blocks + 8, "%u blocks start early", SimtEarlyBlocks() - blocks);
  Expect(!late, "%u threads do behind their wait", late);
  End();
}

static __global__ void add_to(unsigned *sum, unsigned v) { atomicAdd(sum, v); }

static TrsvError AddTwice(void *sum, TrsvStream stream)
{
  TRSV_LAUNCH(add_to, 2, 32, 0, stream, (unsigned *)sum, 1u);
  TRSV_LAUNCH(add_to, 1, 32, 0, stream, (unsigned *)sum, 1000u);
  return TrsvDeviceCheckLaunch("add_to");
}

static void CheckGraphs(void)
{
  TrsvDeviceGraph *graph;
  unsigned         sum = 0;

  Begin("executor: a graph is recorded once, and replayed");
  if (ExpectError(TrsvDeviceGraphCreate(AddTwice, &sum, &graph), TRSV_SUCCESS, "TrsvDeviceGraphCreate")) {
    Expect(!sum, "what is recorded runs");
    for (unsigned k = 1; k < 4; k++) {
      SimtSchedule(k);
      ExpectError(TrsvDeviceGraphLaunch(graph, NULL), TRSV_SUCCESS, "TrsvDeviceGraphLaunch");
      Expect(sum == k * 32064, "%u after %u replays", sum, k);
    }
    TrsvDeviceGraphDestroy(&graph);
  }
  SimtDefaults();
  End();
}

void TestLaunches(void)
{
  CheckEarlyLaunches();
  CheckGraphs();
}
