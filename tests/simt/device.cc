/*
   The device functions of impl.h over malloc and memcpy, for the executor. Device memory is counted, starts as junk, and is told from
   host memory where copies are made. Any call that may fail can be made to.
*/
#include <cstdlib>
#include <cstring>
#include <map>
#include "engine.h"
#include "impl.h"

static std::map<char *, size_t> live; /* what is allocated: where, and how many bytes */
static long                     until;
static int                      for_ever, has_failed;

extern "C" {

void SimtFailAt(long call, int forever)
{
  until      = call;
  for_ever   = forever;
  has_failed = 0;
}

int    SimtFailed(void) { return has_failed; }
size_t SimtLive(void) { return live.size(); }

static bool fails(void)
{
  if (until == 1) {
    has_failed = 1;
    if (!for_ever) until = 0;
    return true;
  }
  if (until > 1) until--;
  return false;
}

static TrsvError take(size_t bytes, int junk, void **pointer)
{
  const size_t whole = (bytes ? bytes : 1);
  char        *p     = fails() ? nullptr : (char *)std::aligned_alloc(256, (whole + 255) / 256 * 256);

  *pointer = p;
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for %zu bytes on the device", bytes);
  memset(p, junk, whole);
  live[p] = whole;
  return TRSV_SUCCESS;
}

static bool holds(const void *p, size_t bytes)
{
  auto after = live.upper_bound((char *)p);

  if (after == live.begin()) return false;
  --after;
  return (char *)p + bytes <= after->first + after->second;
}

TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer) { return take(bytes, 0xcd, (void **)pointer); }

void TrsvDeviceFree(void *pointer)
{
  if (!pointer) return;
  if (!live.erase((char *)pointer)) abort(); /* not device memory, or freed twice */
  free(pointer);
}

TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream)
{
  if (fails() || (bytes && !holds(device, bytes))) return TrsvFail(TRSV_ERR_DEVICE, "copy to the device: invalid argument");
  if (bytes) memcpy(device, host, bytes);
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceAllocPinned(size_t bytes, void *pointer) { return take(bytes, 0, (void **)pointer); }
void      TrsvDeviceFreePinned(void *pointer) { TrsvDeviceFree(pointer); }

TrsvError TrsvDeviceStage(const void *host, size_t bytes, void *pointer, TrsvStream stream)
{
  TrsvCall(TrsvDeviceAlloc(bytes, pointer));
  const TrsvError error = TrsvDeviceUpload(*(void **)pointer, host, bytes, stream);
  if (error) TrsvDeviceFree(*(void **)pointer);
  return error;
}

void TrsvDeviceUnstage(void *device, TrsvStream) { TrsvDeviceFree(device); }

TrsvError TrsvDeviceFinish(void) { return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaStreamSynchronize: made to fail") : TRSV_SUCCESS; }

TrsvError TrsvDeviceMultiprocessors(int *count)
{
  *count = SimtSettings.multiprocessors;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaGetDevice: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes)
{
  *shared_bytes = 0;
  if (!kernel || blocks < 1 || fails()) return TrsvFail(TRSV_ERR_DEVICE, "cudaFuncSetAttribute: invalid argument");
  if (blocks >= 32) return TRSV_SUCCESS;
  const size_t bytes = ((size_t)228 << 10) / (size_t)(blocks + 1), most = (size_t)226 << 10;
  *shared_bytes      = bytes < most ? bytes : most;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceHasClusters(int *has)
{
  *has = 1;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaGetDevice: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceAllow(const void *kernel)
{
  return !kernel || fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaFuncSetAttribute: invalid argument") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceLaunched(const char *kernel)
{
  if (simt::take_failure()) return TrsvFail(TRSV_ERR_DEVICE, "%s: %s", kernel, SimtReport());
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "%s: made to fail", kernel) : TRSV_SUCCESS;
}

}
