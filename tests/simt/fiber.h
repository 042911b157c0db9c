/*
   fiber.h: stacks for device threads: one scheduler, many fibers, of which one runs.
*/
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

namespace simt {

struct Fiber {
  void *top     = nullptr; /* its saved stack pointer */
  void *stack   = nullptr;
  void *context = nullptr; /* state of the portable switch and of the sanitizer */
};

void fiber_start(Fiber &, void (*entry)()); /* entry must not return; it leaves through the scheduler */
void fiber_run(Fiber &);                    /* called by the scheduler */
void fiber_leave(Fiber &, bool for_good);   /* called by the fiber */
void fiber_end(Fiber &);                    /* called by the scheduler; at any point of its life */

}
#endif
