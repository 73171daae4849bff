/* The addresses of a stack's callers.
 *
 * The unwinder is GCC's, and it is a copy of our own: src/os/CMakeLists.txt links libgcc_eh.a into this file's object
 * and makes its names local. The unwinder asks glibc for unwind tables without a lock (_dl_find_object), so a signal
 * handler may call it.
 * Rejected: glibc's backtrace, which loads libgcc_s at its first call. The first call comes when a thread is stuck,
 * perhaps behind a lock of the dynamic linker's. Then the loading waits too, and holds another lock of the dynamic
 * linker's, which the start of a spare kernel thread needs: nothing goes on. Rejected: -static-libgcc for the whole
 * library. The program's own unwinder calls back what the program threw, or what psthread_exit started (exit.h); two
 * copies of it must not meet in one exception.
 * Limits: none on musl, which tells tables under a lock only. */
#include "os.h"

#if defined(__GLIBC__) && !defined(PS_NO_UNWINDER)
#include <unwind.h>

struct walk {
    void **at;
    int n, most;
};

static _Unwind_Reason_Code next_frame(struct _Unwind_Context *frame, void *arg)
{
    struct walk *walk = arg;
    uintptr_t pc = _Unwind_GetIP(frame);
    if (!pc || walk->n == walk->most)
        return _URC_END_OF_STACK;
    if (walk->n >= 0)
        walk->at[walk->n] = (void *)pc;
    walk->n++;
    return _URC_NO_REASON;
}

PS_NOINLINE int os_backtrace(void **at, int most)
{
    struct walk walk = {at, -1, most}; /* the first frame is this function's */
    _Unwind_Backtrace(next_frame, &walk);
    return walk.n < 0 ? 0 : walk.n;
}

#else

int os_backtrace(void **at, int most)
{
    (void)at, (void)most;
    return 0;
}

#endif
