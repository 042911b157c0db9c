/*
   The executor: copies into shared memory, barriers in shared memory, clusters.
*/
#include "simt/reports.h"

enum {
  ARRIVED = 0, /* two barriers each */
  EMPTY   = 16,
  BUFFER  = 128,
  PART    = 256 /* bytes of a part */
};

/* A warp copies part by part through two buffers, by one lane or by all (trsv_copy_lanes); another warp adds the parts
   up. BUG 1 reads before it waits, 2 overwrites data that is still read, 3 ends before a copy has arrived, 4 waits for
   the wrong parity, 5 counts one lane too few, 6 one too many. */
template <int BUG> static void stream_through(const double *from, unsigned parts, double *sum)
{
  const unsigned lane = threadIdx.x % 32, arrivals = trsv_copy_lanes() - (BUG == 5) + (BUG == 6);

  if (threadIdx.x == 0)
    for (unsigned i = 0; i < 2; i++) {
      trsv_barrier_init(ARRIVED + 8 * i, arrivals);
      trsv_barrier_init(EMPTY + 8 * i, 1);
    }
  __syncthreads();
  if (threadIdx.x >= 32 && lane < trsv_copy_lanes()) {
    for (unsigned p = 0; p < parts + (BUG == 3); p++) {
      if (p >= 2 && BUG != 2) trsv_barrier_wait(EMPTY + 8 * (p % 2), (p / 2 + 1) % 2);
      trsv_bulk_copy(BUFFER + PART * (p % 2), (const char *)from + PART * (size_t)(p < parts ? p : 0), PART,
                     ARRIVED + 8 * (p % 2), lane);
    }
  } else if (threadIdx.x < 32)
    for (unsigned p = 0; p < parts; p++) {
      if (BUG != 1) trsv_barrier_wait(ARRIVED + 8 * (p % 2), (p / 2 + (BUG == 4)) % 2);
      sum[lane] += trsv_shared_load<double>(BUFFER + PART * (p % 2) + 8 * lane);
      if (BUG == 1) trsv_barrier_wait(ARRIVED + 8 * (p % 2), p / 2 % 2);
      trsv_warp_sync();
      trsv_barrier_arrive_if(EMPTY + 8 * (p % 2), lane == 0);
    }
}

static void no_barrier_made(int) { trsv_barrier_arrive(ARRIVED); }
static void copy_beyond(const double *from)
{
  trsv_barrier_init(ARRIVED, 1);
  trsv_bulk_copy(960, from, 128, ARRIVED, 0);
}
static void copy_unaligned(const double *from)
{
  trsv_barrier_init(ARRIVED, 1);
  trsv_bulk_copy(BUFFER, from + 1, 128, ARRIVED, 0);
}

/* Each block passes a number to the next block of its cluster. BUG 1 does not wait before it ends, 2 does not wait
   before it stores; 3 stores into a block that may not have started. */
template <int BUG> static void hand_on(unsigned *out)
{
  const unsigned rank = trsv_cluster_rank();

  if (BUG != 2) trsv_cluster_arrive();
  if (threadIdx.x == 0) trsv_shared_store(0, rank ? 0u : 100u);
  if (BUG == 3 && threadIdx.x == 0 && rank == 0) trsv_push(trsv_peer(3), 4, 1u);
  if (BUG != 2) trsv_cluster_wait();
  if (BUG == 0 && threadIdx.x == 0 && rank == 0) trsv_push(trsv_peer(3), 4, 1u);
  if (BUG != 2) trsv_cluster_sync();
  if (threadIdx.x == 0) {
    unsigned v;

    while (!(v = trsv_shared_load<unsigned>(0))) trsv_pause();
    if (rank + 1 < 4) trsv_push(trsv_peer(rank + 1), 0, v + 1);
    out[blockIdx.x] = v;
  }
  if (BUG != 1) trsv_cluster_sync();
  if (BUG == 1 && rank == 0) (void)trsv_peer(1);
}

template <int BUG> static bool CheckStreams(void)
{
  std::vector<double> from(32 * 8 + 2, 0);
  double             *aligned = (double *)(((uintptr_t)from.data() + 15) / 16 * 16), sum[32];
  bool                right   = true;

  for (int i = 0; i < 256; i++) aligned[i] = i / 32 * 1000 + i % 32;
  memset(sum, 0, sizeof(sum));
  TRSV_LAUNCH(stream_through<BUG>, 1, 64, 1024, (TrsvStream)NULL, aligned, 8u, sum);
  for (int i = 0; i < 32; i++) right = right && sum[i] == 28000 + 8 * i;
  return right;
}

template <int BUG> static bool IsCaught(void)
{
  const bool right = CheckStreams<BUG>();

  return TrsvDeviceCheckLaunch("test") != TRSV_SUCCESS || !right;
}

/* old: by 32 lanes, as cp.async */
static void CheckCopies(int old)
{
  const char *const how       = old ? "by the lanes of a warp" : "in bulk";
  unsigned          caught[7] = {0};

  Begin("executor: a stream of copies %s", how);
  UNDER_ALL_SCHEDULES
  {
    SimtSettings.old = old;
    const bool right = CheckStreams<0>();

    if (Reports(NULL)) Expect(right, "schedule %u: a wrong sum", k);
  }
  End();
  Begin("executor: copies %s and barriers used wrongly are caught", how);
  UNDER_ALL_SCHEDULES
  {
    SimtSettings.old = old;
    caught[1] += IsCaught<1>();
    caught[2] += IsCaught<2>();
    caught[3] += IsCaught<3>();
    caught[4] += IsCaught<4>();
    if (old) caught[5] += IsCaught<5>();
    caught[6] += IsCaught<6>();
  }
  for (int bug = 1; bug < 7; bug++) Expect(caught[bug] > 0 || (bug == 5 && !old), "bug %d never is", bug);
  End();
}

void TestCopies(void)
{
  alignas(16) double from[32]  = {0};
  unsigned           caught[4] = {0};

  for (int old = 0; old < 2; old++) CheckCopies(old);
  REPORTS("a barrier that was not made", "not initialized",
          TRSV_LAUNCH(no_barrier_made, 1, 1, 1024, (TrsvStream)NULL, 0));
  REPORTS("a copy beyond the end", "beyond the end",
          TRSV_LAUNCH(copy_beyond, 1, 1, 1024, (TrsvStream)NULL, (const double *)from));
  REPORTS("a copy that is not aligned", "off its 16",
          TRSV_LAUNCH(copy_unaligned, 1, 1, 1024, (TrsvStream)NULL, (const double *)from));

  Begin("executor: clusters");
  UNDER_ALL_SCHEDULES
  {
    unsigned out[12], right = 1;

    TRSV_LAUNCH_EARLY(hand_on<0>, false, 4, 12, 40, 1024, (TrsvStream)NULL, out);
    Reports(NULL);
    for (unsigned i = 0; i < 12; i++) right = right && out[i] == 100 + i % 4;
    Expect(right, "schedule %u: wrong numbers", k);
    TRSV_LAUNCH_EARLY(hand_on<1>, false, 4, 12, 40, 1024, (TrsvStream)NULL, out);
    caught[1] += TrsvDeviceCheckLaunch("test") != TRSV_SUCCESS;
    memset(out, 0, sizeof(out));
    TRSV_LAUNCH_EARLY(hand_on<2>, false, 4, 12, 40, 1024, (TrsvStream)NULL, out);
    right = !TrsvDeviceCheckLaunch("test");
    for (unsigned i = 0; i < 12; i++) right = right && out[i] == 100 + i % 4;
    caught[2] += !right;
    TRSV_LAUNCH_EARLY(hand_on<3>, false, 4, 12, 40, 1024, (TrsvStream)NULL, out);
    caught[3] += TrsvDeviceCheckLaunch("test") != TRSV_SUCCESS && strstr(SimtReport(), "has not started");
  }
  Expect(caught[1] > 0, "the memory of a block that has ended can be had");
  Expect(caught[3] > 0, "a push to a block that has not started is never caught");
  Expect(caught[2] > 0, "a store into memory that its owner has not made ready is never lost");
  End();
}
