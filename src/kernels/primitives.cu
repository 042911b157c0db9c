/*
   Scans and sorts on the device: CUB's.
*/
#include <mutex>
#include <cub/cub.cuh>
#include "impl.h"

static TrsvError Check(cudaError_t e, const char *what)
{
  if (e == cudaSuccess) return TRSV_SUCCESS;
  (void)cudaGetLastError();
  return TrsvFail(e == cudaErrorMemoryAllocation ? TRSV_ERR_MEMORY : TRSV_ERR_DEVICE, "%s: %s", what, cudaGetErrorString(e));
}

/* Room from a pool of its own, which keeps some of what comes back: the default pool gives all of it to the driver at each synchronisation. */
static cudaError_t Room(size_t bytes, void **room)
{
  enum { DEVICES = 64 };
  static std::mutex    one_at_a_time;
  static cudaMemPool_t pools[DEVICES];
  int                  device;
  cudaError_t          e = cudaGetDevice(&device);

  if (e != cudaSuccess || device >= DEVICES) return cudaMallocAsync(room, bytes, NULL);
  std::lock_guard<std::mutex> guard(one_at_a_time);
  if (!pools[device]) {
    cudaMemPoolProps   properties = {};
    unsigned long long keep = 64ull << 20;

    properties.allocType     = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id   = device;
    e                        = cudaMemPoolCreate(&pools[device], &properties);
    if (e != cudaSuccess) return e;
    (void)cudaMemPoolSetAttribute(pools[device], cudaMemPoolAttrReleaseThreshold, &keep);
  }
  return cudaMallocFromPoolAsync(room, bytes, pools[device], NULL);
}

/* Calls a function of CUB twice: for how much room it needs, and with that room. */
template <class F> static TrsvError Run(const char *what, F call)
{
  void       *room  = NULL;
  size_t      bytes = 0;
  cudaError_t e;

  TrsvCall(Check(call(NULL, bytes), what));
  TrsvCall(Check(Room(bytes ? bytes : 1, &room), what));
  e = call(room, bytes);
  (void)cudaFreeAsync(room, NULL);
  return Check(e, what);
}

extern "C" TrsvError TrsvDeviceScan(int n, const int *counts, int *offsets)
{
  TrsvCall(Check(cudaMemsetAsync(offsets, 0, sizeof(int), NULL), "scan"));
  if (!n) return TRSV_SUCCESS;
  return Run("scan", [&](void *room, size_t &bytes) { return cub::DeviceScan::InclusiveSum(room, bytes, counts, offsets + 1, n); });
}

extern "C" TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values, int *sorted_values)
{
  if (!n) return TRSV_SUCCESS;
  return Run("sort", [&](void *room, size_t &bytes) {
    return values ? cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted_keys, values, sorted_values, n, 0, bits) : cub::DeviceRadixSort::SortKeys(room, bytes, keys, sorted_keys, n, 0, bits);
  });
}
