/*
   The executor: results of collectives, barriers and atomics, reports of misuse, and differences between its
   schedules.
*/
#include "simt/reports.h"

/* --- correct programs --- */

static void collectives(int *wrong)
{
  const int lane = (int)(threadIdx.x % 32);
  int       bad  = 0;

  bad += __shfl_sync(~0u, lane, 5) != 5;
  bad += __shfl_sync(~0u, 1.5 * lane, lane + 1, 8) != 1.5 * (lane / 8 * 8 + (lane + 1) % 8);
  bad += __shfl_down_sync(~0u, (float)lane, 3) != (float)(lane + 3 < 32 ? lane + 3 : lane);
  bad += __shfl_up_sync(~0u, lane, 1, 16) != (lane % 16 ? lane - 1 : lane);
  bad += __shfl_xor_sync(~0u, (unsigned long long)lane << 40, 4) != (unsigned long long)(lane ^ 4) << 40;
  bad += __ballot_sync(~0u, lane % 3 == 0) != 0x49249249u;
  bad += !__any_sync(~0u, lane == 31) || __any_sync(~0u, lane == 32);
  bad += !__all_sync(~0u, lane < 32) || __all_sync(~0u, lane < 31);
  if (lane < 20) bad += __shfl_xor_sync(0xfffffu, lane, 1) != (lane ^ 1); /* while the other threads continue */
  else bad += __ballot_sync(0xfff00000u, lane == 20) != 1u << 20;
  __syncwarp();
  atomicAdd(wrong, bad);
}

static void barriers(unsigned *count, int *wrong)
{
  TRSV_SHARED(unsigned, sum, 1);

  if (threadIdx.x == 0) sum[0] = 0;
  __syncthreads();
  if (threadIdx.x >= 40) return; /* the other threads continue without it */
  for (unsigned r = 1; r <= 5; r++) {
    atomicAdd(&sum[0], 1);
    __syncthreads();
    if (sum[0] != r * 40) atomicAdd(wrong, 1);
    __syncthreads();
  }
  atomicAdd(count, 1);
}

static void atomics(unsigned *words, double *total)
{
  const unsigned t = atomicInc(&words[0], 9);
  unsigned       old;

  atomicAdd(&words[1], 1);
  atomicAdd(total, 0.5);
  do old = trsv_load(&words[2]);
  while (atomicCAS(&words[2], old, old + 2) != old);
  atomicExch(&words[3], t < 10 ? 7u : 8u);
}

static void TestRight(void)
{
  Begin("executor: collectives");
  UNDER_ALL_SCHEDULES
  {
    int wrong = 0;

    RUN(collectives, 3, 96, &wrong);
    Reports(NULL);
    Expect(!wrong, "schedule %u: %d wrong results", k, wrong);
  }
  End();
  Begin("executor: barriers and shared memory");
  UNDER_ALL_SCHEDULES
  {
    unsigned count = 0;
    int      wrong = 0;

    RUN(barriers, 7, 75, &count, &wrong);
    Reports(NULL);
    Expect(!wrong && count == 280, "schedule %u: %d wrong, %u threads", k, wrong, count);
  }
  End();
  Begin("executor: atomics");
  UNDER_ALL_SCHEDULES
  {
    unsigned words[4] = {0, 0, 0, 0};
    double   total    = 0;

    RUN(atomics, 5, 64, words, &total);
    Reports(NULL);
    Expect(words[0] == 0 && words[1] == 320 && words[2] == 640 && words[3] == 7 && total == 160,
           "schedule %u: %u %u %u %u %g", k, words[0], words[1], words[2], words[3], total);
  }
  End();
}

/* --- schedules --- */

static void order(unsigned *next, unsigned *when, unsigned *together, unsigned *most)
{
  const unsigned now = atomicAdd(together, 1) + 1;
  unsigned       m   = trsv_load(most);

  when[blockIdx.x] = atomicAdd(next, 1);
  while (now > m && atomicCAS(most, m, now) != m) m = trsv_load(most);
  atomicAdd(together, ~0u);
}

/* One thread writes two words, another reads them in the opposite order. */
static void pass_on(unsigned *words, unsigned *came_apart)
{
  if (blockIdx.x == 0) {
    trsv_store(&words[0], 1);
    trsv_store(&words[1], 1);
  } else {
    while (!trsv_load(&words[1])) trsv_pause();
    if (!trsv_load(&words[0])) trsv_store(came_apart, 1);
  }
}

static void TestOrders(void)
{
  unsigned orders = 0, apart = 0;

  Begin("executor: blocks start in many orders, no more at a time than allowed");
  UNDER_ALL_SCHEDULES
  {
    unsigned next = 0, together = 0, most = 0, forward = 1, when[16];

    RUN(order, 16, 1, &next, when, &together, &most);
    Reports(NULL);
    for (unsigned i = 0; i < 16; i++) forward = forward && when[i] == i;
    orders += !forward;
    Expect(most <= (unsigned)SimtSettings.resident, "%u blocks instead of %d", most, SimtSettings.resident);
  }
  Expect(orders > 8 && orders < 24, "%u of 24 schedules are out of order", orders);
  End();
  Begin("executor: two words come apart under weak stores only");
  UNDER_ALL_SCHEDULES
  {
    unsigned words[2] = {0, 0}, came_apart = 0;

    SimtSettings.resident = 2;
    RUN(pass_on, 2, 1, words, &came_apart);
    Reports(NULL);
    Expect(!came_apart || SimtSettings.weak, "schedule %u", k);
    apart += came_apart;
  }
  Expect(apart > 0, "they never do");
  End();
  Begin("executor: equal settings give equal runs");
  for (int threads = 1; threads <= 256; threads += 255) /* of a block */
    UNDER_ALL_SCHEDULES
    {
      unsigned first[16], second[16];

      for (int r = 0; r < 2; r++) {
        unsigned next = 0, together = 0, most = 0;
        SimtSettings.seed = 77 - SimtLaunches(); /* the launch is counted, too */
        RUN(order, 16, (unsigned)threads, &next, r ? second : first, &together, &most);
      }
      Expect(!memcmp(first, second, sizeof(first)), "schedule %u, blocks of %d", k, threads);
    }
  End();
}

/* --- misuse and deadlock --- */

static void wait_for(const unsigned *word)
{
  while (!trsv_load(word)) trsv_pause();
}
static void wait_without_pause(const unsigned *word)
{
  while (!trsv_load(word)) {
  }
}
static void two_barriers(int)
{
  if (threadIdx.x < 16) __syncthreads();
  else __syncthreads();
}
static void barrier_and_collective(int)
{
  if (threadIdx.x == 3) __syncthreads();
  else __syncwarp();
}
static void not_in_mask(int) { __syncwarp(0xffff); }
static void two_operations(int)
{
  if (threadIdx.x < 16) (void)__ballot_sync(~0u, 1);
  else (void)__any_sync(~0u, 1);
}
static void small_block(int) { __syncwarp(); }
static void reads_outside(int)
{
  if (threadIdx.x < 16) (void)__shfl_sync(0xffff, 1, 20);
}
static void other_masks(int) { (void)__ballot_sync(threadIdx.x < 8 ? 0xffffffffu : 0xffffff00u, 1); }
static void bounded(TrsvSync sync, int *abort_device)
{
  TrsvSpinLimit spin;

  while (spin.more(sync)) {
  }
  atomicAdd(abort_device, 1);
}

/* A lane of warp 0 polls more words than the executor watches, so stores of its own warp wake it; warp 1 writes the
   words. */
enum { LOOKED_AT = 30 };
static void polls_in_turns(unsigned *words, TrsvSync sync)
{
  TrsvSpinLimit spin;
  bool          ready = false, more = true;

  if (threadIdx.x >= 32) {
    if (threadIdx.x < 32 + LOOKED_AT) trsv_store(words + threadIdx.x - 32, 1u);
    return;
  }
  while (!__all_sync(~0u, ready || !more)) {
    ready = true;
    for (int i = 0; threadIdx.x == 0 && i < LOOKED_AT; i++) ready = trsv_load(words + i) && ready;
    if (!ready) more = spin.more(sync);
  }
}

static void TestFairness(void)
{
  Begin("executor: a warp that polls for ever does not starve another");
  for (unsigned k = 0; k < 48; k++) {
    unsigned words[LOOKED_AT] = {0};
    TrsvSync sync;

    SimtSchedule(k);
    SimtSettings.preempt = 0;
    ExpectError(TrsvSyncCreate(&sync), TRSV_SUCCESS, "TrsvSyncCreate");
    sync.timeout = 3000000; /* 300,000 turns */
    RUN(polls_in_turns, 1, 64, words, sync);
    Reports(NULL);
    Expect(!*sync.abort_host, "schedule %u: a wait is given up", k);
    TrsvSyncDestroy(&sync);
  }
  End();
}

/* Thread 0 waits for a word that arrives after 20 times the limit; meanwhile another block makes progress, and records
   it or not. */
static void waits_long(unsigned *word, TrsvSync sync, bool notes, bool *in_time)
{
  TrsvSpinLimit spin;

  if (blockIdx.x) {
    const unsigned long long limit = sync.timeout, start = trsv_nanoseconds();

    for (unsigned long long part = 1; part <= 80; part++) {
      while (trsv_nanoseconds() - start < part * limit / 4) trsv_pause();
      if (notes) trsv_note_progress(sync);
    }
    trsv_store(word, 1u);
    return;
  }
  while (!trsv_load(word))
    if (!spin.more(sync, true)) return;
  *in_time = true;
}

static void TestProgress(void)
{
  int given_up = 0;

  Begin("executor: the limit of a wait counts from the last progress of the launch");
  for (int notes = 0; notes < 2; notes++) UNDER_ALL_SCHEDULES
    {
      unsigned word    = 0;
      bool     in_time = false;
      TrsvSync sync;

      SimtSettings.bounded  = 1;
      SimtSettings.policy   = SIMT_ROUNDS_SHUFFLED; /* the other block makes progress */
      SimtSettings.resident = 2;
      SimtSettings.weak     = 0; /* stores arrive while time passes */
      ExpectError(TrsvSyncCreate(&sync), TRSV_SUCCESS, "TrsvSyncCreate");
      sync.timeout = 20000000000ull; /* every poll takes 10 ms, every TRSV_POLLS-th reads the clock */
      RUN(waits_long, 2, 1, &word, sync, notes != 0, &in_time);
      Reports(NULL);
      Expect(in_time || !notes, "schedule %u: the wait is given up in spite of progress", k);
      given_up += !in_time;
      TrsvSyncDestroy(&sync);
    }
  Expect(given_up > 12, "without progress only %d waits are given up", given_up);
  End();
}

static void TestMisuse(void)
{
  unsigned word = 0;

  REPORTS("a wait for what never comes", "deadlock: 32 threads poll", SimtSettings.resident = 1;
          RUN(wait_for, 2, 32, (const unsigned *)&word));
  REPORTS("a wait that does not pause", "deadlock: 1 threads poll",
          RUN(wait_without_pause, 1, 1, (const unsigned *)&word));
  REPORTS("two barriers", "stand at two barriers", RUN(two_barriers, 1, 32, 0));
  REPORTS("a barrier in a branch", "deadlock", RUN(barrier_and_collective, 1, 32, 0));
  REPORTS("a lane that is not in its mask", "not in the mask", RUN(not_in_mask, 1, 32, 0));
  REPORTS("two operations", "while other lanes", RUN(two_operations, 1, 32, 0));
  REPORTS("lanes that never were", "have ended", RUN(small_block, 1, 20, 0));
  REPORTS("a lane outside the mask is read", "not in the mask", RUN(reads_outside, 1, 32, 0));
  REPORTS("masks that differ", "__ballot_sync", RUN(other_masks, 1, 32, 0));
  REPORTS("no blocks", "cannot be launched", RUN(small_block, 0, 32, 0));
  REPORTS("too many threads", "cannot be launched", RUN(small_block, 1, 1025, 0));
  REPORTS("too much shared memory", "shared memory", TRSV_LAUNCH(small_block, 1, 32, 228 * 1024, (TrsvStream)NULL, 0));
  REPORTS("half a cluster", "clusters of 2", TRSV_LAUNCH_EARLY(small_block, false, 2, 3, 32, 0, (TrsvStream)NULL, 0));

  Begin("executor: a bounded wait ends in time");
  UNDER_ALL_SCHEDULES
  {
    TrsvSync       sync;
    int            abort_device = 0;
    const uint64_t start        = SimtNanoseconds();

    SimtSettings.bounded = 1;
    ExpectError(TrsvSyncCreate(&sync), TRSV_SUCCESS, "TrsvSyncCreate");
    sync.timeout = 20000000000ull;
    RUN(bounded, 1, 4, sync, &abort_device);
    Reports(NULL);
    Expect(abort_device == 4 && *sync.abort_host && SimtNanoseconds() - start > sync.timeout,
           "schedule %u: %d gave up after %g s", k, abort_device, 1e-9 * (double)(SimtNanoseconds() - start));
    TrsvSyncDestroy(&sync);
  }
  End();
}

static void TestDevice(void)
{
  Begin("executor: device memory");
  {
    double *p, host[4] = {1, 2, 3, 4};

    ExpectError(TrsvDeviceAlloc(sizeof(host), &p), TRSV_SUCCESS, "TrsvDeviceAlloc");
    Expect(SimtLive() == 1, "%zu allocations", SimtLive());
    ExpectError(TrsvDeviceUpload(p, host, sizeof(host), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
    Expect(p[3] == 4, "not copied");
    ExpectError(TrsvDeviceUpload(p + 1, host, sizeof(host), NULL), TRSV_ERR_DEVICE, "a copy beyond the end");
    ExpectError(TrsvDeviceUpload(host, p, sizeof(host), NULL), TRSV_ERR_DEVICE, "a copy to the host");
    TrsvDeviceFree(p);
    Expect(!SimtLive(), "%zu allocations", SimtLive());
    SimtFailAt(3, 0); /* of an allocation and of the wait for its stream */
    ExpectError(TrsvDeviceAlloc(8, &p), TRSV_SUCCESS, "the first");
    TrsvDeviceFree(p);
    ExpectError(TrsvDeviceAlloc(8, &p), TRSV_ERR_MEMORY, "the second");
    Expect(SimtFailed() && !p, "nothing failed");
  }
  End();
}

extern "C" void TestExecutor(void)
{
  TestRight();
  TestOrders();
  TestMisuse();
  TestFairness();
  TestProgress();
  TestCopies();
  TestLaunches();
  TestVisibility();
  TestDevice();
}
