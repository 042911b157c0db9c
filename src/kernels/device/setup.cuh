/*
   setup.cuh: several arrays in one allocation, and launches of one thread for each of n items.
*/
#ifndef TRSV_SETUP_CUH
#define TRSV_SETUP_CUH

#include "device/sync.cuh"
#ifdef TRSV_SIMT
  #include "cuda_runtime.h"
#endif

/* Divides one allocation into arrays, each at a multiple of 256 bytes. If base is NULL, it only counts bytes. */
struct TrsvArena {
  char  *base;
  size_t bytes;

  /* An array of values of `size` bytes; or any number of arrays: the count of the first, the array, and so on. */
  void take() { }
  void take(size_t count, void *&array, size_t size)
  {
    const size_t whole = (count * size + 255) / 256 * 256;

    array = base + bytes;
#ifdef TRSV_SIMT
    if (base) SimtFence(base + bytes + count * size, base + bytes + whole);
#endif
    bytes += whole;
  }
  template <class T, class... More> void take(size_t count, T *&array, More &&...more)
  {
    void *p;

    take(count, p, sizeof(T));
    array = (T *)p;
    take(more...);
  }
};

/* Makes one allocation, for example by TrsvDeviceAlloc, for all arrays of layout(arena). bytes, or NULL: its size. */
template <class Layout> static inline TrsvError TrsvArenaAllocate(TrsvError (*allocate)(size_t, void *), Layout layout,
                                                                  void **memory, size_t *bytes = NULL)
{
  TrsvArena a = {NULL, 0};

  layout(a);
  if (bytes) *bytes = a.bytes;
  TrsvCall(allocate(a.bytes, memory));
  a = {(char *)*memory, 0};
  layout(a);
  return TRSV_SUCCESS;
}

/* Frees scratch of the default stream. */
template <class T> static inline void TrsvScratchRelease(T *&memory)
{
  TrsvScratchFree(memory, NULL);
  memory = NULL;
}

/* TrsvArenaAllocate with scratch of the default stream, given counts and arrays as in TrsvArena.
   TrsvScratchRelease(*memory) frees it. */
template <class... Arrays> static inline TrsvError TrsvScratchArrays(void **memory, Arrays &&...arrays)
{
  return TrsvArenaAllocate([](size_t bytes, void *p) { return TrsvScratchAlloc(bytes, p, NULL); },
                           [&](TrsvArena &a) { a.take(arrays...); }, memory);
}

/* Scratch of the default stream that is freed at the end of its scope. It holds one allocation, of several arrays. */
struct TrsvScratch {
  void *memory = NULL;

  TrsvScratch() = default;
  TrsvScratch(const TrsvScratch &) = delete;
  ~TrsvScratch() { release(); }

  void release() { TrsvScratchRelease(memory); }

  template <class... Arrays> TrsvError take(Arrays &&...arrays) { return TrsvScratchArrays(&memory, arrays...); }
  template <class T> TrsvError zeros(size_t count, T *&array)
  {
    TrsvCall(take(count, array));
    return TrsvDeviceClear(array, sizeof(T) * count, NULL);
  }
};

/* Launches one thread for each of n items, in blocks of 256; in the default stream unless one is given. */
#define TrsvLaunchEach(kernel, ...)           TrsvLaunchEachIn(NULL, kernel, __VA_ARGS__)
#define TrsvLaunchEachIn(stream, kernel, ...) trsv_launch_each(stream, #kernel, kernel, __VA_ARGS__)
template <class Kernel, class... Arguments>
static inline TrsvError trsv_launch_each(TrsvStream stream, const char *name, Kernel kernel, size_t n,
                                         Arguments... arguments)
{
  const int block = 256;

  if (!n) return TRSV_SUCCESS;
  TRSV_LAUNCH(kernel, TrsvBlocks((long)n, block), block, 0, stream, arguments...);
  return TrsvDeviceCheckLaunch(name);
}

#endif
