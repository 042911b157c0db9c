/*
   Runs two tasks in lock step, in two streams. The set-up of a triangle follows chains of dependencies and leaves most
   of the device idle, so the device works for both at the same time.

   Each task has two halves. The first launches its longest kernel last and does not wait for it; the second waits for
   it and reads the results. The calling thread runs both first halves and then both second halves.
   Why it ends: blocks wait only for blocks of their own launch that have started (tickets).
*/
#include <stdio.h>
#include "device/runtime.cuh"

/* Calls run(task) with this stream as the current one. */
static TrsvError RunIn(cudaStream_t stream, TrsvError (*run)(void *), void *task)
{
  const ThreadState before = TrsvThisThread;

  TrsvThisThread        = {stream, true};
  const TrsvError error = run(task);
  TrsvThisThread        = before;
  return error;
}

/* Keeps the first error and its message. */
struct FirstError {
  TrsvError error;
  char      message[512];

  bool note(TrsvError e)
  {
    if (e && !error) {
      error = e;
      (void)snprintf(message, sizeof(message), "%s", TrsvErrorMessage());
    }
    return !e;
  }
};

extern "C" TrsvError TrsvRunInLockStep(TrsvError (*begin)(void *), TrsvError (*end)(void *), void *first, void *second)
{
  const cudaStream_t own   = TrsvThisThread.stream;
  FirstError         found = FirstError();
  cudaStream_t       other;

  TrsvCall(TrsvSecondStream(&other));
  if (!other || other == own) {
    TrsvCall(begin(first));
    TrsvCall(end(first));
    TrsvCall(begin(second));
    return end(second);
  }
  TrsvCall(TrsvDeviceSynchronize()); /* the second stream does not wait for earlier work in this one */
  if (!found.note(RunIn(own, begin, first))) return found.error;
  const bool begun = found.note(RunIn(other, begin, second));
  (void)found.note(RunIn(own, end, first)); /* also after an error: it frees what begin has allocated */
  if (begun) (void)found.note(RunIn(other, end, second));
  (void)found.note(TrsvDeviceWait(other)); /* the caller's stream may use the results */
  return found.error ? TrsvFail(found.error, "%s", found.message) : TRSV_SUCCESS;
}
