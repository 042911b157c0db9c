/*
   Scans and sorts on the device, by CUB.
*/
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <atomic>
#include "device/runtime.cuh"

/* CUB queries once in a process which code of this file the device runs, and keeps the result, even an error. CallCub()
   loads this kernel before: if that fails because the device is full, CUB has kept nothing, and a later call works. */
static __global__ void primitives_load() { }

/* Calls a function of CUB twice: for the size of its scratch, and with the scratch. */
template <class F> static TrsvError CallCub(const char *what, F call)
{
  static std::atomic<bool> loaded;
  cudaFuncAttributes       attributes;
  void                    *scratch = NULL;
  size_t                   bytes   = 0;
  cudaError_t              e;

  if (!loaded.load()) TrsvCall(Check(cudaFuncGetAttributes(&attributes, primitives_load), what));
  loaded.store(true);
  TrsvCall(Check(call(NULL, bytes), what));
  TrsvCall(TrsvScratchAlloc(bytes, &scratch, NULL));
  e = call(scratch, bytes);
  TrsvScratchFree(scratch, NULL);
  return Check(e, what);
}

/* A zero, then the counts. In a scan in place, counts = offsets + 1, each sum is written where its count was read. */
struct Counts {
  const int *counts;

  __host__ __device__ int operator()(int i) const { return i ? counts[i - 1] : 0; }
};

enum {
  SCAN_BLOCK = 1024,
  SCAN_ITEMS = 8, /* of a thread at a time */
  SCAN_SMALL = 2 * SCAN_BLOCK * SCAN_ITEMS
};

struct Scans {
  TrsvScan scan[TRSV_SCANS];
};

/* Each block does a scan, a tile after the other: one launch, where CUB's scan by the whole device takes two. */
static __global__ void __launch_bounds__(SCAN_BLOCK) primitives_scan(const __grid_constant__ Scans scans)
{
  typedef cub::BlockLoad<int, SCAN_BLOCK, SCAN_ITEMS, cub::BLOCK_LOAD_TRANSPOSE>   Load;
  typedef cub::BlockStore<int, SCAN_BLOCK, SCAN_ITEMS, cub::BLOCK_STORE_TRANSPOSE> Store;
  typedef cub::BlockScan<int, SCAN_BLOCK>                                          Scan;
  __shared__ union {
    Load::TempStorage  load;
    Store::TempStorage store;
    Scan::TempStorage  scan;
  } shared;
  const TrsvScan own = scans.scan[blockIdx.x];
  const int      n   = own.n + 1;
  int            before = 0;

  for (int from = 0; from < n; from += SCAN_BLOCK * SCAN_ITEMS) {
    const auto in = thrust::make_transform_iterator(thrust::make_counting_iterator(from), Counts{own.counts});
    int        item[SCAN_ITEMS], sum;

    Load(shared.load).Load(in, item, n - from, 0);
    __syncthreads();
    Scan(shared.scan).InclusiveSum(item, item, sum);
    for (int &i : item) i += before;
    before += sum;
    __syncthreads();
    Store(shared.store).Store(own.offsets + from, item, n - from);
    __syncthreads();
  }
}

static TrsvError ScanLong(const TrsvScan *s)
{
  const auto in = thrust::make_transform_iterator(thrust::make_counting_iterator(0), Counts{s->counts});

  return CallCub("scan", [&](void *scratch, size_t &bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, in, s->offsets, s->n + 1, TrsvCurrentStream());
  });
}

TrsvError TrsvDeviceScanAll(int scans, const TrsvScan scan[])
{
  Scans    few  = {};
  unsigned count = 0;

  for (int s = 0; s < scans; s++)
    if (scan[s].n < SCAN_SMALL) few.scan[count++] = scan[s];
    else TrsvCall(ScanLong(&scan[s]));
  if (!count) return TRSV_SUCCESS;
  primitives_scan<<<count, SCAN_BLOCK, 0, TrsvCurrentStream()>>>(few);
  return TrsvDeviceCheckLaunch("scan");
}

TrsvError TrsvDeviceScan(int n, const int *counts, int *offsets)
{
  const TrsvScan scan = {n, counts, offsets};

  return TrsvDeviceScanAll(1, &scan);
}

TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values,
                         int *sorted_values)
{
  if (!n) return TRSV_SUCCESS;
  return CallCub("sort", [&](void *scratch, size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values, n, 0, bits,
                                           TrsvCurrentStream());
  });
}
