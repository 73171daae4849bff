/* Exit points: frames at which psthread_exit stops while it unwinds a stack. A function of the runtime pushes an exit
 * point before it calls a function of the program's. So it can clean up afterwards, also if the program's function
 * calls psthread_exit.
 *
 *   struct ps_exit here;
 *   ps_exit_push(&here, owner, this_function);
 *   if (_setjmp(here.jump) == 0) {
 *       fn(arg);
 *       ps_exit_pop(&here);
 *   } else
 *       ... fn has called psthread_exit, with here.result; `here` is popped already. Either the exit ends here, or the
 *         caller goes on with it: psthread_exit(here.result)
 *
 * The exit points of a stack form a list in the order of their frames, innermost first. The list belongs to the stack,
 * so it moves from vp to vp with the stack. Only the thread that runs on the stack reads and writes the list. While
 * psthread_exit leaves the frames, it runs their C++ destructors, if the process has the C++ runtime's unwinder
 * (exit.c). */
#ifndef PS_EXIT_H
#define PS_EXIT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

struct ps_exit {
    struct ps_exit *outer;
    /* The object for which the program's function is called, such as a work-queue. Read by ps_exit_inside. */
    const void *owner;
    /* The function whose frame the exit point lies in. The compiler must not inline it. */
    uintptr_t function;
    /* How psthread_exit reaches this exit point. NULL: by a jump to `jump`. Else `jump` is not used, and this is the
     * guard of the cpu_guarded_call (cpu.h) that psthread_exit ends by cpu_guarded_leave. */
    void *guard;
    /* What psthread_exit was called with. Written by psthread_exit, read after the jump. */
    void *result;
    jmp_buf jump;
};

/* The exit points of one stack. All zero: there are none. */
struct ps_exits {
    struct ps_exit *innermost;
    /* What exit.c keeps while it unwinds the stack. It is not in a frame of the stack, since destructors run there
     * meanwhile and overwrite frames. */
    _Alignas(16) unsigned char leaving[80];
};
/* Returns the exit points of the stack on which the caller runs. */
struct ps_exits *ps_exits(void);

static inline void ps_exit_push_on(struct ps_exits *all, struct ps_exit *here, const void *owner, uintptr_t function)
{
    here->outer = all->innermost;
    here->owner = owner;
    here->function = function;
    here->guard = 0;
    here->result = 0;
    all->innermost = here;
}
static inline void ps_exit_pop_from(struct ps_exits *all, const struct ps_exit *here) { all->innermost = here->outer; }
static inline void ps_exit_push(struct ps_exit *here, const void *owner, uintptr_t function)
{
    ps_exit_push_on(ps_exits(), here, owner, function);
}
static inline void ps_exit_pop(const struct ps_exit *here) { ps_exit_pop_from(ps_exits(), here); }
/* Returns true if some exit point of the running stack has this owner. Then the caller runs inside of a function that
 * was called for the owner. */
bool ps_exit_inside(const void *owner);

/* Unwinds the running stack to the innermost exit point, and goes on there. If there is no exit point, unwinds to the
 * stack's end and calls last(result) there; last does not return. */
void ps_exit_leave(void *result, void (*last)(void *result)) __attribute__((noreturn));

#endif
