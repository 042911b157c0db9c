/*
   fiber.h: stacks to run device threads on. One scheduler, many fibers, one of them running.
*/
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

namespace simt {

struct Fiber {
  void *top     = nullptr; /* where it was left */
  void *stack   = nullptr;
  void *context = nullptr; /* what the portable switch and the sanitizer keep */
};

void fiber_start(Fiber &, void (*entry)()); /* entry must never return: it leaves for good */
void fiber_run(Fiber &);                    /* called by the scheduler */
void fiber_leave(Fiber &, bool for_good);   /* called by the fiber */
void fiber_end(Fiber &);                    /* called by the scheduler; at any point of its life */

}
#endif
