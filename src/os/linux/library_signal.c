/* The C library's own signal, by which it makes every kernel thread of the process do something: setuid and the like.
 *
 * glibc's handler notes in the descriptor at the thread pointer that this thread has done what was asked. The sender
 * repeats the signal until each descriptor in glibc's list has the note. A kernel thread that is in a thread-local
 * block (uth/tls.h) has another thread pointer, so its own descriptor would never get the note. So the handler is
 * called between two functions of another room: the first sets the kernel thread's own thread pointer, the second
 * restores the block's.
 *
 * glibc installs its handler at the first pthread_create, once. sigaction refuses this number, so the handler is
 * replaced by a system call. */
#include "os.h"

#include <signal.h>
#include <string.h>

#include "raw.h"

#if defined(__GLIBC__)
#define LIBRARY_SIGNAL 33 /* __SIGRTMIN + 1, which is below SIGRTMIN */
#define ACTION_WORDS 8    /* more than the kernel's struct sigaction has; its first word is the handler */

typedef void handler_fn(int number, siginfo_t *info, void *frame);
static handler_fn *library_handler;
static void *(*enter_own)(void);
static void (*leave_own)(void *);

static void on_library_signal(int number, siginfo_t *info, void *frame)
{
    void *before = enter_own();
    library_handler(number, info, frame);
    leave_own(before);
}

void os_library_signal_between(void *(*enter)(void), void (*leave)(void *))
{
    void *action[ACTION_WORDS] = {NULL};
    if (raw_call(SYS_rt_sigaction, LIBRARY_SIGNAL, 0, (long)action, KERNEL_MASK_BYTES) != 0)
        return;
    handler_fn *now, *ours = on_library_signal;
    memcpy(&now, &action[0], sizeof now);
    if (action[0] == (void *)SIG_DFL || action[0] == (void *)SIG_IGN || now == ours)
        return;
    library_handler = now;
    enter_own = enter;
    leave_own = leave;
    memcpy(&action[0], &ours, sizeof ours);
    raw_call(SYS_rt_sigaction, LIBRARY_SIGNAL, (long)action, 0, KERNEL_MASK_BYTES);
}
#else
void os_library_signal_between(void *(*enter)(void), void (*leave)(void *)) { (void)enter, (void)leave; }
#endif
