/*
   Calibration: what the predictions need to know of a device, measured on it in some ms.

   A hop through L2 and a push inside a cluster are one word that goes back and forth between two blocks, in as many pairs as fill the
   device, since the way to L2 is not equally long for all; a step is a value that goes round in a warp: shared memory, arithmetic, shared memory.
   These three are counted in cycles of the multiprocessor and taken at its highest clock, so that they do not depend on how fast it happens
   to run. What a byte of a large copy takes is timed. The least of a few goes has the least of what disturbs.

   Mapping: hops: the blocks of tickets 2p and 2p + 1 are pair p; pushes: the two blocks of a cluster; steps: one warp.
   Memory order: a word that counts the rounds is its own flag; nothing else crosses blocks.
   Why it ends: the rounds are counted, and a wait ends once both blocks run; where they do not, because somebody else has the device, patience,
   here 20 ms, ends it, and 0 is written: not measured.
*/
#include <stdlib.h>
#include "vocabulary.cuh"

enum {
  ROUNDS = 128,
  APART  = 32, /* words: each in a line of its own */
  GOES   = 4   /* the first warms up */
};

static __global__ void calibrate_hop(const TrsvSync sync, unsigned base, unsigned *words, unsigned *cycles)
{
  unsigned     turn;
  TrsvPatience patience;

  if (threadIdx.x) return;
  const unsigned           t = trsv_ticket(sync, &turn), pair = t / 2, side = t % 2;
  unsigned *const          mine = words + APART * t, *const other = words + APART * (t ^ 1);
  const unsigned long long since = trsv_cycles();
  bool                     well = true;

  for (unsigned round = 1; round <= ROUNDS && well; round++) {
    if (!side) trsv_store(mine, base + round);
    while (trsv_load(other) != base + round && (well = patience.more(sync))) { }
    if (side) trsv_store(mine, base + round);
  }
  if (!side) cycles[pair] = well ? (unsigned)(trsv_cycles() - since) : 0;
}

static __global__ void calibrate_push(const TrsvSync sync, unsigned *cycles)
{
  const unsigned side = trsv_cluster_rank(), word = trsv_shared_address();
  TrsvPatience   patience;

  if (!threadIdx.x) trsv_shared_store(word, 0u);
  trsv_cluster_sync();
  if (!threadIdx.x) {
    const TrsvPeer           peer  = trsv_peer(side ^ 1);
    const unsigned long long since = trsv_cycles();
    bool                     well  = true;

    for (unsigned round = 1; round <= ROUNDS && well; round++) {
      if (!side) trsv_push(peer, word, round);
      while (trsv_shared_load<unsigned>(word) != round && (well = patience.more(sync))) { }
      if (side) trsv_push(peer, word, round);
    }
    if (!side) cycles[blockIdx.x / 2] = well ? (unsigned)(trsv_cycles() - since) : 0;
  }
  trsv_cluster_sync(); /* the other's shared memory must outlast what is pushed there */
}

static __global__ void calibrate_step(unsigned *cycles)
{
  const unsigned mine = trsv_shared_address() + 8 * threadIdx.x, next = trsv_shared_address() + 8 * ((threadIdx.x + 1) % 32);
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

typedef struct {
  TrsvSync   sync;
  TrsvTimer *timer;
  unsigned  *words, *cycles, *host;
  int        pairs;
  double     clock;
} Calibration;

static void Less(double *least, double v)
{
  if (v > 0 && !(*least > 0 && *least <= v)) *least = v;
}

/* The mean of the pairs, of which each hop or push is one of two of a round; 0 if one was not measured. */
static TrsvError Mean(const Calibration *c, double *seconds)
{
  double sum = 0;

  TrsvCall(TrsvDeviceDownload(c->host, c->cycles, sizeof(unsigned) * (size_t)c->pairs, NULL));
  for (int p = 0; p < c->pairs; p++) {
    if (!c->host[p]) {
      *seconds = 0;
      return TRSV_SUCCESS;
    }
    sum += c->host[p];
  }
  *seconds = sum / c->pairs / (2 * ROUNDS) / c->clock;
  return TRSV_SUCCESS;
}

static TrsvError Once(Calibration *c, int clusters, unsigned go, TrsvMeasured *m)
{
  double s;

  TRSV_LAUNCH(calibrate_hop, 2 * (unsigned)c->pairs, 32, 0, (TrsvStream)NULL, c->sync, go * ROUNDS, c->words, c->cycles);
  TrsvCall(TrsvDeviceLaunched("calibrate_hop"));
  TrsvCall(Mean(c, &s));
  if (go) Less(&m->hop, s);
  if (clusters) {
    TRSV_LAUNCH_EARLY(calibrate_push, false, 2, 2 * (unsigned)c->pairs, 32, 256, (TrsvStream)NULL, c->sync, c->cycles);
    TrsvCall(TrsvDeviceLaunched("calibrate_push"));
    TrsvCall(Mean(c, &s));
    if (go) Less(&m->push, s);
  }
  TRSV_LAUNCH(calibrate_step, 1, 32, 256, (TrsvStream)NULL, c->cycles);
  TrsvCall(TrsvDeviceLaunched("calibrate_step"));
  TrsvCall(TrsvDeviceDownload(c->host, c->cycles, sizeof(unsigned), NULL));
  if (go) Less(&m->step, c->host[0] / (double)ROUNDS / c->clock);
  return TRSV_SUCCESS;
}

/* Without the memory for it, it is not measured. */
static TrsvError Copies(Calibration *c, size_t bytes, TrsvMeasured *m)
{
  char     *from, *to;
  double    s;
  TrsvError error = TRSV_SUCCESS;

  if (TrsvDeviceAlloc(bytes, &from)) return TRSV_SUCCESS;
  if (!TrsvDeviceAlloc(bytes, &to)) {
    for (int go = 0; go < GOES && !error; go++) {
      error = TrsvDeviceTimerStart(c->timer, NULL);
      if (!error) error = TrsvDeviceCopy(to, from, bytes, NULL);
      if (!error) error = TrsvDeviceTimerStop(c->timer, NULL, &s);
      if (!error && go) Less(&m->byte, s / (2. * (double)bytes));
    }
    TrsvDeviceFree(to);
  }
  TrsvDeviceFree(from);
  return error;
}

static TrsvError All(Calibration *c, size_t copied, TrsvMeasured *m)
{
  int       clusters, multiprocessors;
  TrsvError error;

  TrsvCall(TrsvDeviceHasClusters(&clusters));
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  TrsvCall(TrsvDeviceClock(&c->clock));
  c->pairs = multiprocessors / 2 > 0 ? multiprocessors / 2 : 1;
  TrsvCall(TrsvSyncCreate(&c->sync));
  c->sync.patience = 20000000;
  TrsvCall(TrsvDeviceTimerCreate(&c->timer));
  const size_t bytes = sizeof(unsigned) * APART * 2 * (size_t)c->pairs;
  TrsvCall(TrsvAlloc(bytes, &c->host));
  for (size_t i = 0; i < bytes / sizeof(unsigned); i++) c->host[i] = 0;
  TrsvCall(TrsvDeviceAlloc(bytes, &c->words));
  TrsvCall(TrsvDeviceAlloc(sizeof(unsigned) * (size_t)c->pairs, &c->cycles));
  TrsvCall(TrsvDeviceUpload(c->words, c->host, bytes, NULL));
  error = TRSV_SUCCESS;
  for (unsigned go = 0; go < GOES && !error; go++) error = Once(c, clusters, go, m);
  TrsvCall(error);
  return Copies(c, copied, m);
}

extern "C" TrsvError TrsvCalibrate(size_t copied, TrsvMeasured *m)
{
  Calibration c = Calibration();
  TrsvError   error;

  *m    = TrsvMeasured();
  error = All(&c, copied, m);
  TrsvDeviceTimerDestroy(&c.timer);
  TrsvDeviceFree(c.words);
  TrsvDeviceFree(c.cycles);
  free(c.host);
  TrsvSyncDestroy(&c.sync);
  return error;
}
