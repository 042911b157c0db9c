/*
   fiber.h: stacks for device threads: one scheduler, many fibers, of which one runs.
*/
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(SIMT_SANITIZED)
  #include <sanitizer/common_interface_defs.h>
#endif

namespace simt {

struct Fiber {
  void *top     = nullptr; /* its saved stack pointer */
  void *stack   = nullptr;
  void *context = nullptr; /* state of the portable switch and of the sanitizer */
};

void fiber_start(Fiber &, void (*entry)()); /* entry must not return; it leaves through the scheduler */
void fiber_end(Fiber &);                    /* called by the scheduler; at any point of its life */

#if defined(__SANITIZE_ADDRESS__) || defined(SIMT_SANITIZED)
extern void       *scheduler_fake;
extern const void *scheduler_stack;
extern size_t      scheduler_size;
extern const size_t stack_size;
  #define ENTERING(fake, stack, size) __sanitizer_start_switch_fiber(fake, stack, size)
  #define ENTERED(fake, stack, size)  __sanitizer_finish_switch_fiber(fake, stack, size)
#else
  #define ENTERING(fake, stack, size)
  #define ENTERED(fake, stack, size)
#endif

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

static inline void into(Fiber &f) { switch_stacks(&scheduler_top, f.top); }
static inline void back(Fiber &f) { switch_stacks(&f.top, scheduler_top); }
#else
void into(Fiber &);
void back(Fiber &);
#endif

/* Called by the scheduler */
static inline void fiber_run(Fiber &f)
{
  ENTERING(&scheduler_fake, f.stack, stack_size);
  into(f);
  ENTERED(scheduler_fake, nullptr, nullptr);
}

/* Called by the fiber */
static inline void fiber_leave(Fiber &f, [[maybe_unused]] bool for_good)
{
  ENTERING(for_good ? nullptr : &f.context, scheduler_stack, scheduler_size);
  back(f);
  ENTERED(f.context, &scheduler_stack, &scheduler_size);
}

}
#endif
