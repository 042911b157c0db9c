/*
   Calibration: what the predictions need to know of a device, measured on it in one or two ms.

   A hop through L2 and a push inside a cluster are one word that goes back and forth between two blocks, in as many
   pairs as fill the device, since the way to L2 is not equally long for all; a step is a value that goes round in a
   warp: shared memory, arithmetic, shared memory. These three are counted in cycles of the multiprocessor and taken at
   its highest clock, so that they do not depend on how fast it happens to run: the median of a few goes. What a byte of
   a large copy takes is timed, and the least of a few counts.

   Mapping: hops: the blocks of tickets 2p and 2p + 1 are pair p; pushes: the two blocks of a cluster; steps: one warp.
   Memory order: a word that counts the rounds is its own flag; nothing else crosses blocks.
   Why it ends: the rounds are numbered, and a wait ends once both blocks run; where they do not, because somebody else
   has the device, spin, here 20 ms, ends it, and 0 is written: not measured.
*/
#include <stdlib.h>
#include "solve/model/costs.h"
#include "device/sync.cuh"

enum {
  ROUNDS = 32, /* that count: a first one brings both sides together */
  APART  = 32, /* words: each in a line of its own */
  GOES   = 7,  /* the first warms up */
  COPIES = 3,  /* likewise, each of so many: */
  TURNS  = 2   /* a single one differs by a seventh with what the caches have yet to write */
};

/* words: 0 */
static __global__ void calibrate_hop(const TrsvSync sync, unsigned *words, unsigned *cycles)
{
  unsigned     turn;
  TrsvSpinLimit spin;

  if (threadIdx.x) return;
  const unsigned           t = trsv_ticket(sync, &turn), pair = t / 2, side = t % 2;
  unsigned *const          mine = words + APART * t, *const other = words + APART * (t ^ 1);
  unsigned long long       since = 0;
  bool                     well = true;

  for (unsigned round = 0; round <= ROUNDS && well; round++) {
    if (!side) trsv_store(mine, round + 1);
    while (trsv_load(other) != round + 1 && (well = spin.more(sync))) { }
    if (side) trsv_store(mine, round + 1);
    if (!round) since = trsv_cycles();
  }
  if (!side) cycles[pair] = well ? (unsigned)(trsv_cycles() - since) : 0;
}

static __global__ void calibrate_push(const TrsvSync sync, unsigned *cycles)
{
  const unsigned side = trsv_cluster_rank(), word = trsv_shared_address();
  TrsvSpinLimit   spin;

  if (!threadIdx.x) trsv_shared_store(word, 0u);
  trsv_cluster_sync();
  if (!threadIdx.x) {
    const TrsvPeer     peer  = trsv_peer(side ^ 1);
    unsigned long long since = 0;
    bool               well  = true;

    for (unsigned round = 0; round <= ROUNDS && well; round++) {
      if (!side) trsv_push(peer, word, round + 1);
      while (trsv_shared_load<unsigned>(word) != round + 1 && (well = spin.more(sync))) { }
      if (side) trsv_push(peer, word, round + 1);
      if (!round) since = trsv_cycles();
    }
    if (!side) cycles[blockIdx.x / 2] = well ? (unsigned)(trsv_cycles() - since) : 0;
  }
  trsv_cluster_sync(); /* the other's shared memory must outlast what is pushed there */
}

static __global__ void calibrate_step(unsigned *cycles)
{
  const unsigned mine = trsv_shared_address() + 8 * threadIdx.x,
                 next = trsv_shared_address() + 8 * ((threadIdx.x + 1) % 32);
  double         v    = 1;

  trsv_shared_store(mine, v);
  trsv_warp_sync();
  const unsigned long long since = trsv_cycles();
  for (unsigned round = 0; round < ROUNDS; round++) {
    v = fma(trsv_shared_load<double>(next), 0.5, v);
    trsv_warp_sync();
    trsv_shared_store(mine, v);
    trsv_warp_sync();
  }
  if (!threadIdx.x) cycles[0] = (unsigned)(trsv_cycles() - since) + (v < 0); /* v is looked at */
}

enum {
  HOP,
  PUSH,
  STEP,
  KINDS
};

typedef struct {
  TrsvSync   sync;
  TrsvTimer *timer[COPIES];
  unsigned  *words, *cycles,
    *host;         /* cycles, and what becomes of them on the host: [GOES][KINDS][pairs], of STEP the first alone */
  char      *room; /* for a copy from its first half to its second */
  int        pairs, clusters;
  double     clock;
} Calibration;

static size_t Place(const Calibration *c, int go, int kind) { return (size_t)(go * KINDS + kind) * (size_t)c->pairs; }

/* Of one go: each has others, whose ways to L2 are others. */
static size_t Words(const Calibration *c) { return APART * 2 * (size_t)c->pairs; }

/* Seconds of a hop, a push or a step, of which a round has so many: the median of the goes, each the mean of its pairs;
   0 if none was measured. */
static double Seconds(const Calibration *c, int kind, int pairs, int each)
{
  double mean[GOES];
  int    measured = 0;

  for (int go = 1; go < GOES; go++) {
    const unsigned *cycles = c->host + Place(c, go, kind);
    double          sum    = 0;
    int             p      = 0;

    while (p < pairs && cycles[p]) sum += cycles[p++];
    if (p == pairs) mean[measured++] = sum / pairs / (ROUNDS * each) / c->clock;
  }
  qsort(mean, (size_t)measured, sizeof(mean[0]), TrsvAscending);
  return measured ? mean[measured / 2] : 0;
}

static TrsvError Launch(const Calibration *c, int go)
{
  TRSV_LAUNCH(calibrate_hop, 2 * (unsigned)c->pairs, 32, 0, (TrsvStream)NULL, c->sync, c->words + (size_t)go * Words(c),
              c->cycles + Place(c, go, HOP));
  TrsvCall(TrsvDeviceCheckLaunch("calibrate_hop"));
  if (c->clusters) {
    TRSV_LAUNCH_EARLY(calibrate_push, false, 2, 2 * (unsigned)c->pairs, 32, 256, (TrsvStream)NULL, c->sync,
                      c->cycles + Place(c, go, PUSH));
    TrsvCall(TrsvDeviceCheckLaunch("calibrate_push"));
  }
  TRSV_LAUNCH(calibrate_step, 1, 32, 256, (TrsvStream)NULL, c->cycles + Place(c, go, STEP));
  return TrsvDeviceCheckLaunch("calibrate_step");
}

/* Without the memory for them, copies are not measured. */
static TrsvError Copy(Calibration *c, size_t bytes)
{
  if (TrsvDeviceAlloc(2 * bytes, &c->room)) return TRSV_SUCCESS;
  for (int go = 0; go < COPIES; go++) {
    TrsvCall(TrsvDeviceTimerCreate(&c->timer[go]));
    TrsvCall(TrsvDeviceTimerStart(c->timer[go], NULL));
    for (int turn = 0; turn < TURNS; turn++) TrsvCall(TrsvDeviceCopy(c->room + bytes, c->room, bytes, NULL));
    TrsvCall(TrsvDeviceTimerStop(c->timer[go], NULL));
  }
  return TRSV_SUCCESS;
}

static TrsvError Read(const Calibration *c, size_t copied, TrsvMeasured *m)
{
  double s;

  TrsvCall(TrsvDeviceDownload(c->host, c->cycles, sizeof(unsigned) * Place(c, GOES, 0), NULL));
  m->hop = Seconds(c, HOP, c->pairs, 2);
  if (c->clusters) m->push = Seconds(c, PUSH, c->pairs, 2);
  m->step = Seconds(c, STEP, 1, 1);
  for (int go = 1; go < COPIES && c->timer[go]; go++) {
    TrsvCall(TrsvDeviceTimerRead(c->timer[go], &s));
    s /= (double)(2 * TURNS * copied);
    if (s > 0 && !(m->byte > 0 && m->byte <= s)) m->byte = s;
  }
  return TRSV_SUCCESS;
}

/* All is under way before the first word of it is waited for: the driver takes half a ms to tell the clock. */
static TrsvError All(Calibration *c, size_t copied, TrsvMeasured *m)
{
  int multiprocessors;

  TrsvCall(TrsvDeviceHasClusters(&c->clusters));
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  c->pairs = multiprocessors / 2 > 0 ? multiprocessors / 2 : 1;
  const size_t words = sizeof(unsigned) * GOES * Words(c), cycles = sizeof(unsigned) * Place(c, GOES, 0);
  TrsvCall(TrsvSyncCreate(&c->sync));
  c->sync.timeout = 20000000;
  TrsvCall(TrsvAlloc(cycles, &c->host));
  TrsvCall(TrsvDeviceAlloc(words, &c->words));
  TrsvCall(TrsvDeviceAlloc(cycles, &c->cycles));
  TrsvCall(TrsvDeviceClear(c->words, words, NULL));
  for (int go = 0; go < GOES; go++) TrsvCall(Launch(c, go));
  TrsvCall(Copy(c, copied));
  TrsvCall(TrsvDeviceClock(&c->clock));
  return Read(c, copied, m);
}

extern "C" TrsvError TrsvCalibrate(size_t copied, TrsvMeasured *m)
{
  Calibration c = Calibration();
  TrsvError   error;

  *m    = TrsvMeasured();
  error = All(&c, copied, m);
  for (int go = 0; go < COPIES; go++) TrsvDeviceTimerDestroy(&c.timer[go]);
  TrsvDeviceFree(c.room);
  TrsvDeviceFree(c.words);
  TrsvDeviceFree(c.cycles);
  free(c.host);
  TrsvSyncDestroy(&c.sync);
  return error;
}
