/* Points at which psthread_exit stops on its way out of a stack: the caller of the program's function has something to
 * put in order there.
 *
 *   struct ps_exit here;
 *   ps_exit_push(&here, owner, this_function);
 *   if (_setjmp(here.jump) == 0) {
 *       fn(arg);
 *       ps_exit_pop(&here);
 *   } else
 *       ... psthread_exit was called in fn, with here.result; `here` is popped. To be ended here, or passed on:
 *         psthread_exit(here.result)
 *
 * The points of a stack form a list in the order of their frames, innermost first. The list moves with the stack from
 * vp to vp. Only the thread that runs on the stack touches it. On the way C++ destructors run, where the process has
 * the C++ runtime's unwinder (exit.c). */
#ifndef PS_EXIT_H
#define PS_EXIT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

struct ps_exit {
    struct ps_exit *outer;
    const void *owner;  /* on whose behalf the function runs, for ps_exit_inside */
    uintptr_t function; /* in whose frame the point lies: it must be no inline one */
    void *guard;        /* of a guarded call (cpu.h): psthread_exit leaves that call, and `jump` is unused; else NULL */
    void *result;
    jmp_buf jump;
};

/* What each stack keeps; all zero: no points. */
struct ps_exits {
    struct ps_exit *innermost;
    _Alignas(16) unsigned char leaving[80]; /* exit.c: must outlive the frames that are unwound */
};
/* Returns the points of the running stack. */
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
/* Whether the caller was called, directly or not, on this owner's behalf. */
bool ps_exit_inside(const void *owner);

/* Unwinds the running stack to the innermost point. If there is no point, unwinds to the stack's end and calls
 * last(result) there, which does not return. */
void ps_exit_leave(void *result, void (*last)(void *result)) __attribute__((noreturn));

#endif
