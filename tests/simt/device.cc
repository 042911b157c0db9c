/*
   Copies, clocks and launches of device.h over memcpy, for the executor; memory is in runtime.cc. Copies check that
   an address is device memory. Any call that may fail can be made to fail.
*/
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "engine.h"
#include "factor/factor.h"
#include "device/device.h"
#include "papers/graph.h"

using simt::fails;

static bool holds(const void *p, size_t bytes, TrsvStream stream = NULL)
{
  return simt::holds(p, bytes, TrsvDeviceStream(stream));
}

/* made: it was made to fail */
static TrsvError refuse(const char *call, bool made)
{
  return TrsvFail(TRSV_ERR_DEVICE, "%s: %s", call, made ? "made to fail" : "invalid argument");
}

extern "C" {

TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream stream)
{
  const bool made = fails();

  if (made || (bytes && !holds(device, bytes, stream)))
    return refuse("copy to the device", made);
  (void)simt::finish();
  if (bytes) memcpy(device, host, bytes);
  simt::mark_used(TrsvDeviceStream(stream));
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream stream)
{
  const bool made = fails();

  if (made || (bytes && !holds(device, bytes, stream)))
    return refuse("copy to the host", made);
  TrsvCall(TrsvDeviceWait(stream));
  if (bytes) memcpy(host, device, bytes);
  return TRSV_SUCCESS;
}

static uint64_t copied; /* bytes, on the device */

TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream stream)
{
  const bool made = fails();

  if (made || (bytes && (!holds(to, bytes, stream) || !holds(from, bytes, stream))))
    return refuse("copy on the device", made);
  (void)simt::finish();
  if (bytes) memcpy(to, from, bytes);
  simt::mark_used(TrsvDeviceStream(stream));
  copied += bytes;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream stream)
{
  const bool made = fails();

  if (made || (bytes && !holds(device, bytes, stream)))
    return refuse("clearing on the device", made);
  (void)simt::finish();
  if (bytes) memset(device, 0, bytes);
  simt::mark_used(TrsvDeviceStream(stream));
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceScan(int n, const int *counts, int *offsets)
{
  const bool made = fails();

  if (made || (n && !holds(counts, sizeof(int) * (size_t)n)) || !holds(offsets, sizeof(int) * ((size_t)n + 1)))
    return refuse("scan", made);
  (void)simt::finish();
  for (int i = 0, sum = 0; i <= n; sum += i < n ? counts[i] : 0, i++) offsets[i] = sum;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceScanAll(int scans, const TrsvScan scan[])
{
  if (scans > TRSV_SCANS) return TrsvFail(TRSV_ERR_DEVICE, "%d scans: invalid argument", scans);
  for (int s = 0; s < scans; s++) TrsvCall(TrsvDeviceScan(scan[s].n, scan[s].counts, scan[s].offsets));
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values,
                         int *sorted_values)
{
  const size_t   bytes = sizeof(int) * (size_t)n;
  const unsigned mask  = bits < 32 ? (1u << bits) - 1 : ~0u;
  const bool     made  = fails();

  if (made || (n && (!holds(keys, bytes) || !holds(sorted_keys, bytes) || !holds(values, bytes) ||
                       !holds(sorted_values, bytes))))
    return refuse("sort", made);
  (void)simt::finish();
  if (bits > 8) { /* CUB's sort needs this workspace if one pass is not enough */
    void *room;

    TrsvCall(TrsvScratchAlloc(2 * bytes, &room, NULL));
    TrsvScratchFree(room, NULL);
  }
  std::vector<int> order((size_t)n);
  for (int i = 0; i < n; i++) order[(size_t)i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return (keys[a] & mask) < (keys[b] & mask); });
  for (size_t i = 0; i < (size_t)n; i++) {
    sorted_keys[i]   = keys[order[i]];
    sorted_values[i] = values[order[i]];
  }
  return TRSV_SUCCESS;
}

/* The virtual clock counts a ns for a switch of fibers and for a byte that is copied. */
TrsvError TrsvDeviceTime(TrsvError (*run)(void *, TrsvStream), void *data, TrsvStream stream, double *seconds)
{
  const auto      start = SimtSwitches() + copied;
  const TrsvError error = run(data, stream);

  (void)simt::finish();
  *seconds = 1e-9 * (double)(SimtSwitches() + copied - start);
  if (error) return error;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaEventRecord: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceMultiprocessors(int *count)
{
  *count = SimtSettings.multiprocessors;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaGetDevice: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes)
{
  *shared_bytes = 0;
  const bool made = fails();

  if (made || !kernel || blocks < 1) return refuse("cudaFuncSetAttribute", made);
  if (blocks >= 32) return TRSV_SUCCESS;
  const size_t bytes = ((size_t)228 << 10) / (size_t)(blocks + 1), most = TrsvDeviceGetLimits().shared_bytes - 1024;
  *shared_bytes      = bytes < most ? bytes : most;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int, size_t, int *clusters)
{
  *clusters = SimtSettings.old ? 0 : !SimtSettings.cluster || cluster <= SimtSettings.cluster;
  return !kernel || fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaOccupancyMaxActiveClusters: made to fail") : TRSV_SUCCESS;
}

TrsvDeviceLimits TrsvDeviceGetLimits(void)
{
  return {!SimtSettings.old, SimtSettings.shared ? (size_t)SimtSettings.shared : (size_t)TRSV_H200_SHARED};
}

TrsvError TrsvDeviceSetMaxShared(const void *kernel)
{
  const bool made = fails();

  return made || !kernel ? refuse("cudaFuncSetAttribute", made) : TRSV_SUCCESS;
}

struct TrsvDeviceGraph {
  simt::Graph *launches;
};

TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *, TrsvStream), void *data, TrsvDeviceGraph **graph)
{
  *graph = (TrsvDeviceGraph *)(fails() ? nullptr : malloc(sizeof(**graph)));
  if (!*graph) return TrsvFail(TRSV_ERR_MEMORY, "cudaGraphInstantiate: made to fail");
  (*graph)->launches    = simt::record();
  const TrsvError error = launch(data, NULL);
  simt::recorded();
  if (error) TrsvDeviceGraphDestroy(graph);
  return error;
}

TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *graph, TrsvStream)
{
  simt::replay(graph->launches);
  return TrsvDeviceCheckLaunch("a graph");
}

void TrsvDeviceGraphDestroy(TrsvDeviceGraph **graph)
{
  if (!*graph) return;
  simt::drop((*graph)->launches);
  free(*graph);
  *graph = nullptr;
}

TrsvError TrsvDeviceCheckLaunch(const char *kernel)
{
  simt::mark_used(TrsvCurrentStream());
  if (simt::take_failure()) return TrsvFail(TRSV_ERR_DEVICE, "%s: %s", kernel, SimtReport());
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "%s: made to fail", kernel) : TRSV_SUCCESS;
}

}
