/*
   Events of the CUDA runtime, and ids of streams. Events are counted, and order nothing here. An event that is recorded
   or waited for in a captured stream, or waited for in its own stream, ends the program. Calls may be made to fail.
*/
#include <map>
#include "cuda_runtime.h"
#include "engine.h"

struct CUevent_st {
  unsigned long long stream; /* the id of the stream of the last record */
};

static std::map<const void *, unsigned long long> renewed; /* ids of streams whose handle was used before */

static size_t   existing; /* events */
static unsigned records, event_waits;

size_t simt::event_count() { return existing; }

using simt::fails;
using simt::fault;

/* Of a stream whose handle was not used before, the id is the handle. */
static unsigned long long id_of(const void *stream)
{
  const auto at = renewed.find(stream);

  return at == renewed.end() ? (unsigned long long)(uintptr_t)stream : at->second;
}

extern "C" {

void SimtRenewStream(const void *stream)
{
  static unsigned long long next = 1ull << 63;

  renewed[stream] = next++;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
  if (simt::is_captured()) fault("the id of a stream is asked during a capture");
  *id = id_of(stream);
  return fails() ? cudaErrorUnknown : cudaSuccess;
}

unsigned SimtRecords(void) { return records; }
unsigned SimtEventWaits(void) { return event_waits; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  *event = fails() ? nullptr : new CUevent_st{0};
  existing += *event != nullptr;
  return *event ? cudaSuccess : cudaErrorUnknown;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  if (simt::is_captured()) fault("an event is recorded in a stream that is captured");
  if (fails()) return cudaErrorUnknown;
  event->stream = id_of(stream);
  records++;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  if (simt::is_captured()) fault("a stream that is captured waits for an event");
  if (id_of(stream) == event->stream) fault("a stream waits for an event of its own");
  if (fails()) return cudaErrorUnknown;
  event_waits++;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  existing--;
  delete event;
  return cudaSuccess;
}
}
