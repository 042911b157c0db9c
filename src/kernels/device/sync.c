/*
   The words that the blocks of a launch share: tickets and aborts.
*/
#include <limits.h>
#include "device/device.h"

static _Thread_local unsigned long long timeout = (unsigned long long)(1e9 * TRSV_TIMEOUT);

void TrsvSetTimeout(double seconds)
{
  timeout = seconds > 0 && seconds < 1e9 ? (unsigned long long)(1e9 * seconds) : ULLONG_MAX;
}

TrsvError TrsvSyncCreate(TrsvSync *sync)
{
  const size_t bytes = sizeof(unsigned) * TRSV_SYNC_WORDS;

  TrsvCall(TrsvDeviceAlloc(bytes, &sync->ticket));
  TrsvCall(TrsvSyncIn(sync->ticket, sync));
  return TrsvDeviceClear(sync->ticket, bytes, NULL);
}

TrsvError TrsvSyncIn(unsigned *words, TrsvSync *sync)
{
  sync->ticket       = words;
  sync->abort_device = words + 1;
  return TrsvPinnedAlloc(1, &sync->abort_host);
}

TrsvSync TrsvSyncScratch(unsigned *state)
{
  return (TrsvSync){state + TRSV_TICKET, state + TRSV_ABORT_DEVICE, state + TRSV_ABORT_HOST, timeout};
}

TrsvError TrsvSyncCheck(const unsigned *state, const char *what)
{
  return state[TRSV_ABORT_DEVICE] ? TrsvFail(TRSV_ERR_TIMEOUT, "%s waited longer than %g s for one row and gave up",
                                             what, 1e-9 * (double)timeout)
                                  : TRSV_SUCCESS;
}

TrsvError TrsvSyncStart(TrsvSync *sync, TrsvStream stream)
{
  const unsigned zero = 0;
  const double   limit = 1e-9 * (double)sync->timeout; /* of the launches before */
  unsigned       abort_device;
  int            captured;

  sync->timeout = timeout;
  if (!*(volatile unsigned *)sync->abort_host) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceIsCaptured(stream, &captured));
  if (captured) return TrsvFail(TRSV_ERR_TIMEOUT, "an earlier solve timed out; before a capture call a solve, which "
                                                  "reports that");
  /* The download waits for the launch: a block that still ran could set the words again after they are cleared. All
     blocks have then taken tickets, so the counter is right. */
  TrsvCall(TrsvDeviceDownload(&abort_device, sync->abort_device, sizeof(abort_device), stream));
  TrsvCall(TrsvDeviceUpload(sync->abort_device, &zero, sizeof(zero), stream));
  *sync->abort_host = 0;
  return TrsvFail(
    TRSV_ERR_TIMEOUT,
    "an earlier solve or factorization waited longer than %g s for one value and gave up; its result is NaN", limit);
}

void TrsvSyncDestroy(TrsvSync *sync)
{
  TrsvDeviceFree(sync->ticket);
  TrsvPinnedFree(1, sync->abort_host);
}
