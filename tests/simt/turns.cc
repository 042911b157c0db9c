/*
   A second thread of the host, as TrsvDeviceTogether starts one. Of the two, one runs: at each call to the device it may lose its turn to the other, as
   the seed has it. So the executor sees one thread, equal settings give equal runs, and what the two do between calls comes in many orders.
*/
#include <pthread.h>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include "engine.h"

namespace simt {

static std::mutex              lock;
static std::condition_variable passed;
static bool                    second, joining; /* is there one that has not ended? Does the first wait for it? */
static bool                    turn;            /* false: the first's */
static uint64_t                random_state;
static unsigned                changes;         /* of the turn */
static void                 *(*second_run)(void *);
static void                   *second_data;

static thread_local bool is_second;

/* Gives the turn away and, unless for good, waits until it comes back. */
static void pass(bool for_good)
{
  std::unique_lock<std::mutex> hold(lock);

  turn = !is_second;
  changes++;
  passed.notify_all();
  if (!for_good) passed.wait(hold, [] { return turn == is_second; });
}

void take_turns()
{
  if (!second || joining) return;
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  if (random_state >> 62 == 0) pass(false);
}

static void *in_second(void *)
{
  is_second = true;
  {
    std::unique_lock<std::mutex> hold(lock);
    passed.wait(hold, [] { return turn; });
  }
  void *result = second_run(second_data);
  second       = false;
  pass(true);
  return result;
}

int begin_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
  static uint64_t begun;

  if (second) abort(); /* there are two at most */
  second_run   = run;
  second_data  = data;
  random_state = (SimtSettings.seed + ++begun) * 0x9e3779b97f4a7c15ull | 1;
  second       = true;
  turn         = false;
  const int error = pthread_create(thread, nullptr, in_second, nullptr);
  if (error) second = false;
  return error;
}

int end_thread(pthread_t thread)
{
  joining = true;
  if (second) pass(false);
  joining = false;
  return pthread_join(thread, nullptr);
}

}

extern "C" unsigned SimtTurns(void) { return simt::changes; }
