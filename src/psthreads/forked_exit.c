/* See forked_exit.h. One thread of a process gets here, so what it notes is in variables of the file. */
#include "forked_exit.h"

#include "current.h"
#include "exit.h"
#include "runtime.h"
#include "sched.h"
#include "team.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#if defined(__GLIBC__)

static const struct psthread *leaves; /* its frames are being left: the thread, or the parent that it is member 0 of */
static __pthread_unwind_buf_t *handler; /* of the innermost handler that has not run; NULL: none */

/* The list is the C library's; what is entered there tells what was first before. */
static __pthread_unwind_buf_t *innermost_handler(void)
{
    __pthread_unwind_buf_t probe;
    __pthread_register_cancel(&probe);
    __pthread_unregister_cancel(&probe);
    return probe.__pad[0];
}

/* The point lies in the frame of the function that has set it. That function has no destructors: C++ functions with
 * destructors have handlers of another kind. */
static bool is_beyond(uintptr_t function, uintptr_t low)
{
    if (handler && low > (uintptr_t)handler)
        return true;
    if (!(leaves->flags & PS_T_MEMBER))
        return false;
    const struct ps_member *m = PS_CONTAINER_OF(leaves, struct ps_member, thread);
    const struct ps_team *team = m->team;
    if (function == (uintptr_t)team->ops->assist && m->id == 0) { /* it has looked for tasks, in its join */
        leaves = leaves->parent;
        return false;
    }
    return function == (uintptr_t)team->ops->body || function == (uintptr_t)team->ops->assist;
}

static void go_on(void *result)
{
    (void)result;
    static jmp_buf to; /* the point's has no room for a mask, nor any in it */
    if (!handler)
        ps_end_forked();
    memcpy(to, handler->__cancel_jmp_buf, sizeof handler->__cancel_jmp_buf);
    _longjmp(to, 1);
}

static PS_NORETURN void leave_functions(void)
{
    leaves = ps_current();
    handler = innermost_handler();
    ps_exit_leave_until(is_beyond, go_on);
}

void ps_forked_exit(void)
{
    if (PS_LIKELY(!ps_forked_here()))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    leave_functions();
}

void ps_forked_unwind_next(void *buffer)
{
    if (PS_LIKELY(!ps_forked_here()))
        return;
    __pthread_unregister_cancel(buffer);
    leave_functions();
}

#else

void ps_forked_exit(void) {}
void ps_forked_unwind_next(void *buffer) { (void)buffer; }

#endif
