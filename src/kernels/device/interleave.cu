/*
   Runs two analyses at the same time. One analysis follows chains of dependencies and leaves most of the device idle.

   Both run as coroutines of the calling thread: while one waits for the device, the other continues. The second has its
   own stack and stream. A second thread would take longer to start than a small analysis, and two threads delay each
   other in the driver. If there is no memory for a stream or a stack, the two run in sequence. Why both end: blocks
   wait only for blocks of their own launch that have started (tickets).
*/
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "device/runtime.cuh"

enum {
  STACK_BYTES = 8 << 20, /* like a thread's: the driver runs on it, and may compile; only used pages take memory */
  GUARD_BYTES = 64 << 10 /* the protected end of the stack: an overflow faults */
};

struct Interleaved {
  TrsvError (*run)(void *);
  void        *data; /* of the second */
  cudaStream_t stream;
  void        *stack;
  ucontext_t   context[2];
  int          now;   /* the function that runs, 0 or 1 */
  bool         ended; /* the second function has ended */
  TrsvError    error; /* of the second function */
  char         message[512];
};

static thread_local Interleaved *running; /* NULL: this thread interleaves no functions */

/* Continues the other function until it waits or ends. Each function keeps its TrsvErrorMessage(). */
static void SwitchFunctions(void)
{
  Interleaved *const t  = running;
  const int          me = t->now;
  char               message[sizeof(t->message)];

  (void)snprintf(message, sizeof(message), "%s", TrsvErrorMessage());
  t->now                = !me;
  TrsvThisThread.stream = me ? NULL : t->stream;
  (void)swapcontext(&t->context[me], &t->context[!me]);
  (void)TrsvFail(TRSV_SUCCESS, "%s", message);
}

/* Runs the second function; the first continues when it returns. */
static void RunSecond(void)
{
  Interleaved *const t = running;

  t->error = t->run(t->data);
  (void)snprintf(t->message, sizeof(t->message), "%s", TrsvErrorMessage());
  const TrsvError settled = TrsvDeviceSynchronize(); /* after an error, too: the stream is returned or destroyed */
  if (settled && !t->error) {
    t->error = settled;
    (void)snprintf(t->message, sizeof(t->message), "%s", TrsvErrorMessage());
  }
  t->ended       = true;
  TrsvThisThread = ThreadState();
}

static bool CreateStack(Interleaved *t)
{
  void *const stack =
    mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

  if (stack == MAP_FAILED) return false;
  if (!mprotect(stack, GUARD_BYTES, PROT_NONE) && !getcontext(&t->context[1])) {
    t->stack                       = stack;
    t->context[1].uc_stack.ss_sp   = (char *)stack + GUARD_BYTES;
    t->context[1].uc_stack.ss_size = STACK_BYTES - GUARD_BYTES;
    t->context[1].uc_link          = &t->context[0];
    makecontext(&t->context[1], RunSecond, 0);
    return true;
  }
  (void)munmap(stack, STACK_BYTES);
  return false;
}

enum {
  DEVICES = 64
};

/* One stream is kept for each device, because creating one takes as long as a small analysis. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaStream_t    spare[DEVICES];

static cudaStream_t TakeStream(int device)
{
  cudaStream_t stream = NULL;

  (void)pthread_mutex_lock(&lock);
  if (device < DEVICES) {
    stream        = spare[device];
    spare[device] = NULL;
  }
  (void)pthread_mutex_unlock(&lock);
  if (stream || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess) return stream;
  (void)cudaGetLastError(); /* else the next launch would report it */
  return NULL;
}

static void GiveStream(int device, cudaStream_t stream)
{
  (void)pthread_mutex_lock(&lock);
  if (device < DEVICES && !spare[device]) {
    spare[device] = stream;
    stream        = NULL;
  }
  (void)pthread_mutex_unlock(&lock);
  if (stream) (void)cudaStreamDestroy(stream);
}

void TrsvInterleaveFinalize(void)
{
  (void)pthread_mutex_lock(&lock);
  for (cudaStream_t &stream : spare) {
    if (stream) (void)cudaStreamDestroy(stream);
    stream = NULL;
  }
  (void)pthread_mutex_unlock(&lock);
}

extern "C" TrsvError TrsvRunInterleaved(TrsvError (*run)(void *), void *first, void *second)
{
  Interleaved t = Interleaved();
  int         device;
  TrsvError   error;

  if (running) {
    TrsvCall(run(first));
    return run(second);
  }
  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  TrsvCall(TrsvDeviceSynchronize());
  t.run    = run;
  t.data   = second;
  t.stream = TakeStream(device);
  if (t.stream && CreateStack(&t)) {
    running              = &t;
    TrsvThisThread.yield = SwitchFunctions;
  }
  error = run(first);
  if (running) {
    while (!t.ended) SwitchFunctions();
    running = NULL;
    (void)munmap(t.stack, STACK_BYTES);
  } else if (!error) error = run(second);
  if (t.stream) GiveStream(device, t.stream);
  if (error) return error;
  return t.error ? TrsvFail(t.error, "%s", t.message) : TRSV_SUCCESS;
}
