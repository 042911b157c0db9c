/*
   setup.cuh: what set-ups on a device do again and again: several arrays in one allocation, a thread for each of n.
*/
#ifndef TRSV_SETUP_CUH
#define TRSV_SETUP_CUH

#include "device/sync.cuh"

/* Arrays one behind the other, each from a multiple of 256 bytes on; without a base they are only counted. */
struct TrsvArena {
  char  *base;
  size_t bytes;

  template <class T> void take(size_t count, T *&p, size_t size = sizeof(T))
  {
    p = (T *)(base + bytes);
    bytes += (count * size + 255) / 256 * 256;
  }
};

/* One allocation for all arrays that layout(arena) takes, by TrsvDeviceAlloc, for example. bytes, where not NULL, gets
   its size. */
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

/* The same for what is needed until TrsvScratchFree(memory, NULL), in the default stream. */
static inline TrsvError TrsvScratchDefault(size_t bytes, void *pointer)
{
  return TrsvScratchAlloc(bytes, pointer, NULL);
}
template <class Layout> static inline TrsvError TrsvArenaScratch(Layout layout, void **memory)
{
  return TrsvArenaAllocate(TrsvScratchDefault, layout, memory);
}

/* Launches a thread for each of n in the default stream. */
template <class Kernel, class... Arguments> static inline TrsvError TrsvLaunchEach(const char *name, Kernel kernel,
                                                                                   size_t n, Arguments... arguments)
{
  const int block = 256;

  if (!n) return TRSV_SUCCESS;
  TRSV_LAUNCH(kernel, TrsvBlocks((long)n, block), block, 0, (TrsvStream)NULL, arguments...);
  return TrsvDeviceCheckLaunch(name);
}

/* Marks words as not ready (sync.cuh). */
template <class T> static __global__ void trsv_clear_words(size_t n, T *words)
{
  const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < n) words[k] = trsv_not_ready<T>();
}
template <class T> static TrsvError TrsvClearWords(size_t n, void *words, TrsvStream stream)
{
  if (!n) return TRSV_SUCCESS;
  TRSV_LAUNCH(trsv_clear_words<T>, TrsvBlocks((long)n, 256), 256, 0, stream, n, (T *)words);
  return TrsvDeviceCheckLaunch("trsv_clear_words");
}

#endif
