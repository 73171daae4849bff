/* How psthread_exit leaves a stack: see exit.h.
 *
 * POSIX runs C++ destructors when a thread ends by pthread_exit; psthread_exit does the same. The unwinder belongs to
 * the C++ runtime (libgcc_s, or LLVM's). The library does not need it, and finds it by weak symbols. In a process
 * without an unwinder no frame has anything to unwind.
 *
 * _Unwind_ForcedUnwind calls `stop` before it unwinds each frame. `stop` ends the unwinding at the frame of the
 * innermost point, or at the end of the stack. The innermost point's frame is the first frame found of the function
 * that the point names. That frame itself is not unwound. Destructors run on the stack below that frame, and overwrite
 * the frames of ps_exit_leave and its callers. So the exception and its destination are kept in ps_exits.leaving, not
 * on the stack.
 * A handler catch (...) that does not rethrow ends the process, as with pthread_exit. A noexcept function on the way
 * ends it, too. */
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
