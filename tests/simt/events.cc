/*
   Events of the CUDA runtime: they are counted, and order nothing here. An event that is recorded or waited for in a
   captured stream, or waited for in its own stream, ends the program. Calls may be made to fail.
*/
#include "cuda_runtime.h"
#include "engine.h"

struct CUevent_st {
  cudaStream_t stream; /* of the last record */
};

static size_t   existing; /* events */
static unsigned records, event_waits;

size_t simt::event_count() { return existing; }

using simt::fails;
using simt::fault;

extern "C" {

unsigned SimtRecords(void) { return records; }
unsigned SimtEventWaits(void) { return event_waits; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  *event = fails() ? nullptr : new CUevent_st{nullptr};
  existing += *event != nullptr;
  return *event ? cudaSuccess : cudaErrorUnknown;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  if (simt::is_captured()) fault("an event is recorded in a stream that is captured");
  if (fails()) return cudaErrorUnknown;
  event->stream = stream;
  records++;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  if (simt::is_captured()) fault("a stream that is captured waits for an event");
  if (stream == event->stream) fault("a stream waits for an event of its own");
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
