/*
   The executor: when stores become visible, starved warps, and waits that never end.
*/
#include <time.h>
#include "simt/reports.h"

/* A value is passed by a flag: the writer releases, the reader acquires or does not. */
template <bool ACQUIRES> static __global__ void hand_over(unsigned *words, unsigned *came_apart)
{
  if (blockIdx.x == 0) {
    trsv_store(&words[0], 1u);
    trsv_count_down(&words[1]);
  } else {
    while ((ACQUIRES ? trsv_load_acquire(&words[1]) : trsv_load(&words[1])) == 1) trsv_pause();
    if (!trsv_load(&words[0])) trsv_store(came_apart, 1u);
  }
}

/* A thread reads the values of one word in the order in which they were stored. */
static __global__ void count_up(unsigned *word, unsigned *back)
{
  if (blockIdx.x == 0)
    for (unsigned i = 1; i <= 20; i++) trsv_store(word, i);
  else
    for (unsigned seen = 0; seen < 20; trsv_pause()) {
      const unsigned v = trsv_load(word);

      if (v < seen) trsv_store(back, 1u);
      seen = v;
    }
}

static void TestLoads(void)
{
  unsigned apart[2] = {0, 0}, backward = 0;

  Begin("executor: what was released is old to who does not acquire");
  for (unsigned k = 0; SimtSchedule(k), k < 96; k++)
    for (int acquires = 0; acquires < 2; acquires++) {
      unsigned words[2] = {0, 1}, came_apart = 0;

      SimtSettings.resident = 2;
      if (acquires) RUN(hand_over<true>, 2, 1, words, &came_apart);
      else RUN(hand_over<false>, 2, 1, words, &came_apart);
      Reports(NULL);
      Expect(!came_apart || SimtSettings.weak, "schedule %u", k);
      apart[acquires] += came_apart;
    }
  Expect(apart[0] && !apart[1], "it is %u times, and %u times to who does", apart[0], apart[1]);
  End();
  Begin("executor: a word never goes back");
  for (unsigned k = 0; SimtSchedule(k), k < 96; k++) {
    unsigned word = 0;

    SimtSettings.resident = 2;
    RUN(count_up, 2, 1, &word, &backward);
    Reports(NULL);
  }
  Expect(!backward, "it does");
  End();
}

/* --- roles --- */

/* The warps that end first and last */
static __global__ void race(unsigned *next, unsigned *place)
{
  for (unsigned i = 0; i < 50; i++) (void)trsv_load(next);
  if (threadIdx.x % 32 == 0) place[threadIdx.x / 32] = atomicAdd(next, 1u);
}

static void StarvedWarps(void)
{
  Begin("executor: every warp of a block is starved in turn, and comes first in turn");
  for (unsigned role = 0; role < 8; role++)
    for (int first = 0; first < 2; first++) {
      unsigned next = 0, place[4];

      SimtDefaults();
      SimtSettings.policy = first ? SIMT_WARP_FIRST : SIMT_WARP_LAST;
      SimtSettings.role   = role;
      RUN(race, 1, 128, &next, place);
      Reports(NULL);
      Expect(place[role % 4] == (first ? 0 : 3), "warp %u is number %u", role % 4, place[role % 4]);
    }
  SimtDefaults();
  End();
}

/* --- waits that never end --- */

static __global__ void asks_spin_limit(const unsigned *word, TrsvSync sync)
{
  TrsvSpinLimit spin;

  while (!trsv_load(word) && spin.more(sync)) { }
}

/* Waits as in `thread`: between two polls the lanes vote, and each lane polls. */
static __global__ void votes(const unsigned *word, TrsvSync sync)
{
  TrsvSpinLimit spin;
  bool          done = threadIdx.x % 2;

  do {
    if (!done) done = trsv_load(word) || !spin.more(sync);
  } while (!__all_sync(~0u, done));
}

static __global__ void votes_only(const unsigned *word)
{
  while (!__any_sync(~0u, trsv_load(word) != 0)) { }
}

static __global__ void asks_the_time(const unsigned *word)
{
  while (!trsv_load(word) && trsv_nanoseconds() < ~0ull) trsv_pause();
}

/* More words than the executor watches */
static __global__ void looks_at_many(const unsigned *words, TrsvSync sync)
{
  TrsvSpinLimit spin;

  for (bool found = false; !found && spin.more(sync);)
    for (int i = 0; i < 40; i++) found = found || trsv_load(words + i);
}

static __global__ void waits_for_a_phase(int)
{
  trsv_barrier_init(0, 2);
  trsv_barrier_arrive(0);
  trsv_barrier_wait(0, 0);
}

static __global__ void ends_at_once(int) { }

static void TestDeadlocks(void)
{
  unsigned      words[40] = {0};
  const clock_t start     = clock();
  unsigned      launches  = SimtLaunches();
  TrsvSync      sync;

  ExpectError(TrsvSyncCreate(&sync), TRSV_SUCCESS, "TrsvSyncCreate");
  sync.timeout = ~0ull;
  REPORTS("a deadlock of a wait that asks its spin limit", "polls (visibility.cu",
          RUN(asks_spin_limit, 2, 64, (const unsigned *)words, sync));
  REPORTS("a deadlock of a wait with votes", "visibility.cu, line", RUN(votes, 4, 128, (const unsigned *)words, sync));
  REPORTS("a deadlock of a wait of nothing but votes", "__any_sync (line",
          RUN(votes_only, 1, 64, (const unsigned *)words));
  REPORTS("a deadlock of a wait that asks the time", "polls (visibility.cu",
          RUN(asks_the_time, 2, 64, (const unsigned *)words));
  REPORTS("a deadlock of a wait for many words", "polls (visibility.cu",
          RUN(looks_at_many, 2, 64, (const unsigned *)words, sync));
  REPORTS("a deadlock at a barrier in shared memory", "polls (visibility.cu",
          TRSV_LAUNCH(waits_for_a_phase, 1, 1, 1024, (TrsvStream)NULL, 0));
  TrsvSyncDestroy(&sync);
  Begin("executor: a deadlock is reported within a second");
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  launches             = SimtLaunches() - launches;
  Expect(seconds < (Reduced() ? 5. : 1.) * launches, "%g s of processor time for %u launches", seconds, launches);
  End();
}

void TestVisibility(void)
{
  TestLoads();
  StarvedWarps();
  TestDeadlocks();
  REPORTS("a kernel that ends at once", NULL, RUN(ends_at_once, 3, 32, 0));
}
