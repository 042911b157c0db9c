/*
   The words that the blocks of a launch share: made, watched and freed.
*/
#include "device/device.h"

static unsigned long long patience = 10000000000ull;

void TrsvSetPatience(double seconds) { patience = seconds > 0 ? (unsigned long long)(1e9 * seconds) : 0; }

unsigned long long TrsvPatienceLimit(void) { return patience; }

TrsvError TrsvSyncCreate(TrsvSync *sync)
{
  const size_t bytes = sizeof(unsigned) * TRSV_SYNC_WORDS;

  TrsvCall(TrsvDeviceAlloc(bytes, &sync->ticket));
  TrsvCall(TrsvSyncIn(sync->ticket, sync));
  return TrsvDeviceClear(sync->ticket, bytes, NULL);
}

TrsvError TrsvSyncIn(unsigned *words, TrsvSync *sync)
{
  sync->ticket  = words;
  sync->gave_up = words + 1;
  return TrsvDeviceAllocWord(&sync->told);
}

TrsvError TrsvSyncStart(TrsvSync *sync, TrsvStream stream)
{
  const unsigned zero = 0;
  unsigned       gave_up;

  sync->patience = patience;
  if (!*(volatile unsigned *)sync->told) return TRSV_SUCCESS;
  /* the launch must be over before its words are cleared, or a block that is late would tell twice; then every block has taken its
     ticket, and the counter needs no mending */
  TrsvCall(TrsvDeviceDownload(&gave_up, sync->gave_up, sizeof(gave_up), stream));
  TrsvCall(TrsvDeviceUpload(sync->gave_up, &zero, sizeof(zero), stream));
  *sync->told = 0;
  return TrsvFail(TRSV_ERR_TIMEOUT, "an earlier solve waited longer than %g s for one value and gave up; its solution holds NaN", 1e-9 * (double)patience);
}

void TrsvSyncDestroy(TrsvSync *sync)
{
  TrsvDeviceFree(sync->ticket);
  TrsvDeviceFreeWord(sync->told);
}
