/* The way out of a stack: see exit.h.
 *
 * POSIX has C++ destructors run when a thread ends by pthread_exit; so it is here. The unwinder is the C++ runtime's
 * (libgcc_s, or LLVM's): the library does not need it, and finds it by weak symbols. Where it is not there, no frame
 * has anything to unwind.
 *
 * _Unwind_ForcedUnwind calls `stop` before each frame, until the frame with the point in it, or the end of the stack.
 * The innermost point is the first one on the way. So it lies in the first frame of the function that it names, and
 * that frame is not unwound. A destructor runs in its own frame: what is below, the first caller's frames, is
 * overwritten then. So the exception, and where it goes, stand in ps_exits.leaving and not on the stack.
 * A handler catch (...) that does not throw on ends the process, as with pthread_exit; so does a function that is
 * noexcept. */
#include "exit.h"

#include "check.h"
#include "cpu.h"
#include "psthread.h"

#include <unwind.h>

#pragma weak _Unwind_ForcedUnwind
#pragma weak _Unwind_GetRegionStart

struct leaving {
    struct _Unwind_Exception exception;
    struct ps_exits *all;
    struct ps_exit *to;
    void *result;
    void (*last)(void *result);
};
_Static_assert(sizeof(struct leaving) <= sizeof(((struct ps_exits *)0)->leaving), "what leaves fits");

static __attribute__((noreturn)) void arrive(struct leaving *l)
{
    if (l->to) {
        l->all->innermost = l->to->outer;
#if defined(CPU_HAS_GUARDED_CALL)
        if (l->to->guard)
            cpu_guarded_leave(l->to->guard, l->result);
#endif
        l->to->result = l->result;
        longjmp(l->to->jump, 1);
    }
    l->last(l->result);
    __builtin_unreachable();
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *exception, struct _Unwind_Context *context, void *arg)
{
    struct leaving *l = arg;
    (void)version, (void)class, (void)exception;
    if (actions & _UA_END_OF_STACK || (l->to && (uintptr_t)_Unwind_GetRegionStart(context) == l->to->function))
        arrive(l);
    return _URC_NO_REASON;
}

static void caught(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception)
{
    (void)reason, (void)exception;
    ps_fatal("a thread's exit was caught by catch (...) and not thrown on");
}

bool ps_exit_inside(const void *owner)
{
    const struct ps_exit *e = ps_exits()->innermost;
    while (e && e->owner != owner)
        e = e->outer;
    return e != NULL;
}

void ps_exit_leave(void *result, void (*last)(void *result))
{
    struct ps_exits *all = ps_exits();
    struct leaving *l = (struct leaving *)(void *)all->leaving;
    *l = (struct leaving){
        .exception = {.exception_cleanup = caught}, .all = all, .to = all->innermost, .result = result, .last = last};
    if (_Unwind_ForcedUnwind && _Unwind_GetRegionStart)
        _Unwind_ForcedUnwind(&l->exception, stop, l);
    arrive(l);
}
