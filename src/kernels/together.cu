/*
   Two analyses at the same time, each in a thread and a stream of its own: they follow chains of dependencies, and leave most of the device idle.

   Where there is no memory for a stream, or no thread, they run one after the other.
   Why both end: the kernels of one wait for blocks of their own launch that have started before (tickets), never for the other's.
*/
#include <pthread.h>
#include <stdio.h>
#include "runtime.cuh"

static thread_local cudaStream_t own; /* NULL in all threads but ours */

extern "C" TrsvStream TrsvDeviceDefault(void) { return own; }

struct Second {
  TrsvError (*run)(void *);
  void        *data;
  int          device;
  cudaStream_t stream;
  TrsvError    error;
  char         message[512]; /* TrsvErrorMessage() of its thread */
};

static void *Run(void *second)
{
  Second *s = (Second *)second;

  own      = s->stream;
  s->error = Check(cudaSetDevice(s->device), "cudaSetDevice, in a second thread");
  if (!s->error) s->error = s->run(s->data);
  const TrsvError settled = TrsvDeviceSettle(); /* after an error, too: the stream is about to go */
  if (!s->error) s->error = settled;
  if (s->error) (void)snprintf(s->message, sizeof(s->message), "%s", TrsvErrorMessage());
  return NULL;
}

enum {
  DEVICES = 64
};

/* A stream that nobody uses is kept for each device: to make one takes as long as a small analysis. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static cudaStream_t    spare[DEVICES];

static cudaStream_t TakeStream(int device)
{
  cudaStream_t stream = NULL;

  (void)pthread_mutex_lock(&one_at_a_time);
  if (device < DEVICES) {
    stream        = spare[device];
    spare[device] = NULL;
  }
  (void)pthread_mutex_unlock(&one_at_a_time);
  if (stream || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess) return stream;
  (void)cudaGetLastError(); /* or it would be taken for the next launch's */
  return NULL;
}

static void GiveStream(int device, cudaStream_t stream)
{
  (void)pthread_mutex_lock(&one_at_a_time);
  if (device < DEVICES && !spare[device]) {
    spare[device] = stream;
    stream        = NULL;
  }
  (void)pthread_mutex_unlock(&one_at_a_time);
  if (stream) (void)cudaStreamDestroy(stream);
}

extern "C" TrsvError TrsvDeviceTogether(TrsvError (*run)(void *), void *first, void *second)
{
  Second    s = {run, second, 0, NULL, TRSV_SUCCESS, ""};
  pthread_t thread;
  TrsvError error;

  TrsvCall(Check(cudaGetDevice(&s.device), "cudaGetDevice"));
  TrsvCall(TrsvDeviceSettle());
  s.stream       = TakeStream(s.device);
  const bool two = s.stream && !pthread_create(&thread, NULL, Run, &s);

  error = run(first);
  if (two) (void)pthread_join(thread, NULL);
  else if (!error) error = run(second);
  if (s.stream) GiveStream(s.device, s.stream);
  if (error) return error;
  return s.error ? TrsvFail(s.error, "%s", s.message) : TRSV_SUCCESS;
}
