/*
   fiber.h: stacks for device threads: one scheduler, many fibers, of which one runs.
*/
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <cstddef>

namespace simt {

struct Fiber {
  void *top   = nullptr; /* its saved stack pointer; its context where the switch is portable */
  void *stack = nullptr;
};

void fiber_start(Fiber &, void (*entry)()); /* entry must not return; it leaves through the scheduler */
void fiber_end(Fiber &);                    /* called by the scheduler; at any point of its life */

extern const size_t stack_size;

#if defined(__x86_64__)
extern void *scheduler_top;

/* Leaves the address to continue at on the stack, and the stack pointer in *from; continues at to. It is inlined, and
   has no return: the processor foresees the jump, and the returns of callers. */
static inline __attribute__((always_inline)) void switch_stacks(void **from, void *to)
{
  asm volatile("leaq -128(%%rsp), %%rsp\n\tpushq %%rbp\n\tpushq %%rbx\n\tleaq 1f(%%rip), %%rax\n\tpushq %%rax\n\t"
               "movq %%rsp, (%0)\n\tmovq %1, %%rsp\n\tpopq %%rax\n\tjmp *%%rax\n"
               "1:\n\tpopq %%rbx\n\tpopq %%rbp\n\tleaq 128(%%rsp), %%rsp"
               : "+D"(from), "+S"(to)
               :
               : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
                 "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                 "xmm15", "cc", "memory");
}

/* Called by the scheduler, and by the fiber */
static inline void fiber_run(Fiber &f) { switch_stacks(&scheduler_top, f.top); }
static inline void fiber_leave(Fiber &f) { switch_stacks(&f.top, scheduler_top); }
#else
void fiber_run(Fiber &);
void fiber_leave(Fiber &);
#endif

}
#endif
