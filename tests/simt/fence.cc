/*
   Bytes between arrays of the device, which no kernel may use: the address sanitizer reports each use; without it, the
   program ends as the memory is freed if one was written.
*/
#ifdef __SANITIZE_ADDRESS__
  #include <sanitizer/asan_interface.h>
#endif
#include <cstring>
#include <map>
#include "cuda_runtime.h"
#include "engine.h"

namespace simt {

static std::map<const char *, const char *> fences; /* by their first byte; all of their bytes are JUNK */

void fence(char *from, char *to)
{
  if (from == to) return;
  memset(from, JUNK, (size_t)(to - from));
  fences[from] = to;
#ifdef __SANITIZE_ADDRESS__
  __asan_poison_memory_region(from, (size_t)(to - from));
#endif
}

void check_fences(char *memory, size_t bytes)
{
  for (auto at = fences.lower_bound(memory); at != fences.end() && at->first < memory + bytes; at = fences.erase(at)) {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(at->first, (size_t)(at->second - at->first));
#endif
    for (const char *p = at->first; p < at->second; p++)
      if ((unsigned char)*p != JUNK) fault("a byte after the end of an array was written");
  }
}

} // namespace simt

void SimtFence(char *from, char *to)
{
  if (!SimtPieceBytes) simt::fence(from, to); /* else the memory may be used again before it is freed */
}
