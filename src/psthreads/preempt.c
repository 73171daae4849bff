/* A thread is made to give way to a root.
 *
 * User-level threads are not preempted, with one exception. A root (a thread on a kernel thread's own stack) can run on
 * that kernel thread alone. While it waits, its vp runs other threads there. One of them may spin, or block in the
 * kernel, until the root has done something. Then no number of further kernel threads helps. So when a root is ready
 * and the watchdog finds its vp stuck, the watchdog interrupts that kernel thread. The handler runs on the stack of the
 * thread that holds the vp. The handler puts that thread into the vp's queue as if the thread had yielded, and switches
 * to the root. The thread goes on inside its handler, on whatever vp takes it, and returns from there to what it did.
 *
 * When this is safe: only in code of the program's own, or in a system call in which the C library waits for the
 * program that the program called (os_interrupted_program). Then no spin lock of the runtime's is held, and nothing is
 * half switched. No frame of the runtime holds this kernel thread's vp, and no frame of the C library holds a pointer
 * into this kernel thread's storage. Anywhere else the handler does nothing. The watchdog interrupts again, up to
 * GIVE_WAY_TRIES times, and then at its next tick. A late signal may find another state, so the handler looks at
 * everything anew.
 *
 * Limits: a root's kernel thread on which the signal is blocked cannot be interrupted. Such a kernel thread carries
 * only its root (lone_root.h), unless threads have no blocks of their own. Under ThreadSanitizer no thread gives way:
 * it delivers signals later than they come. System calls that would return EINTR are made anew (os/linux/restart.c).
 *
 * Under Valgrind a thread must not leave its kernel thread inside a handler. The return from there would bring the
 * thread pointer and the signal mask of the interrupted kernel thread to the one that runs then. Some of the tools end
 * with an assertion of their own (3.19). So the handler returns at once, to a detour (cpu.h): the thread gives way in
 * front of the instruction that was interrupted, and goes on there. Where the processor's port has none (all but
 * x86-64) no thread is made to give way under Valgrind.
 *
 * Rejected: roots that sleep while their vp is carried on by another kernel thread: two system calls for each wait of a
 * root, which is the first thread of every outermost team. Running the root elsewhere: its kernel thread's storage,
 * number and mask are part of its identity. Detours everywhere, in the place of switches inside the handler: AArch64
 * and RISC-V have no jump that changes no register. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr */
#endif
#include "answer.h"
#include "current.h"
#include "directed.h"
#include "race.h"
#include "run.h"
#include "runtime.h"
#include "sched.h"
#include "sources.h"
#include "watchdog.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 32
#define SAMPLE_TRIES 1000
/* At each tick. A thread may spin in calls of the C library or of the runtime; at some of these tries it is outside. */
#define GIVE_WAY_TRIES 16
#define ANSWER_NS INT64_C(500000)

/* What the interrupted thread was doing. Written in the handler, then `taken` (release); read by the watchdog. */
static struct {
    void *at[DEPTH];
    int n;
    _Atomic uint32_t taken;
} sample;

static bool take_sample(void *frame)
{
    (void)frame;
    if (!ps_load_relaxed(&sample.taken)) {
        sample.n = os_backtrace(sample.at, DEPTH);
        ps_store_release(&sample.taken, 1);
        os_wake(&sample.taken, 1);
    }
    return false;
}

bool watchdog_where(struct vp *vp, char *buf, size_t bytes)
{
#if !defined(__SANITIZE_THREAD__)
    ps_store_relaxed(&sample.taken, 0);
    if (os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), take_sample) != 0)
        return false;
    for (int i = 0; i < SAMPLE_TRIES && !ps_load_acquire(&sample.taken); i++)
        os_park(&sample.taken, 0, INT64_C(1000000));
    if (!ps_load_acquire(&sample.taken))
        return false;
    for (int i = 0; i < sample.n; i++) {
        Dl_info of;
        if (!os_program_code((uintptr_t)sample.at[i]) || !dladdr(sample.at[i], &of) || !of.dli_fname)
            continue;
        const char *name = strrchr(of.dli_fname, '/');
        snprintf(buf, bytes, "%s+0x%lx (%s)", name ? name + 1 : of.dli_fname,
                 (unsigned long)((uintptr_t)sample.at[i] - (uintptr_t)of.dli_fbase),
                 of.dli_sname ? of.dli_sname : "no symbol");
        return true;
    }
#else
    (void)vp, (void)buf, (void)bytes, (void)take_sample;
#endif
    return false;
}

/* What the handler did; the watchdog waits for it. The answer of a late handler is taken for that of the next try, and
 * costs one try. */
enum { ASKED, REFUSED, GIVES_WAY };
static struct ps_answer answer;

/* The thread that was interrupted; NULL: it cannot be left here. */
static struct psthread *interrupted(void *frame)
{
    struct uth *stack = vp_in_own_block() ? ps_current_uth() : NULL;
    if (!stack || !stack->stack || !os_interrupted_program(frame, stack->stack, stack->stack_bytes))
        return NULL;
    struct vp *vp = ps_vp();
    struct psthread *self = vp_run(vp)->current;
    if (!self || vp_run(vp)->held || self->uth != stack || stack->vp || self->flags & PS_T_NOSTACK)
        return NULL;
    return self;
}

static bool give_way_now(struct psthread *self)
{
    if (!vp_give_way_to_root(ps_vp(), self))
        return false;
    ps_add_relaxed(&ps_watchdog.preempted, 1);
    return true;
}

/* The thread that was interrupted, which is about to leave this kernel thread. The watchdog is told. NULL: it stays. */
static struct psthread *leaving(void *frame)
{
    if (ps_answers_already(&answer))
        return NULL;
    struct psthread *self = interrupted(frame);
    if (self)
        directed_leaves(frame);
    ps_answer(&answer, self ? GIVES_WAY : REFUSED, !self);
    return self;
}

static bool give_way(void *frame)
{
    struct psthread *self = leaving(frame);
    if (!self || !give_way_now(self))
        return false;
    directed_is_back(frame);
    return true;
}

/* Still on the handler's vp: nothing else runs there in between. */
static uintptr_t on_detour(void)
{
    struct vp *vp = ps_vp();
    uintptr_t from = *vp_detour(vp);
    give_way_now(vp_run(vp)->current);
    return from;
}

static bool give_way_by_detour(void *frame)
{
    if (ps_answers_already(&answer))
        return false;
    uintptr_t from = interrupted(frame) ? cpu_detour(frame, on_detour) : 0;
    if (from)
        *vp_detour(ps_vp()) = from;
    ps_answer(&answer, from ? GIVES_WAY : REFUSED, !from);
    return false;
}

#define INTERRUPT_NS INT64_C(50000)

static bool yield_here(void *frame)
{
    if (!leaving(frame) || !ps_yield())
        return false;
    directed_is_back(frame);
    ps_add_relaxed(&ps_watchdog.preempted, 1);
    return true;
}

void watchdog_interrupt_all(uint64_t until_ns)
{
    _Atomic uint32_t nobody_wakes = 0;
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    os_thread_urgent(true); /* else none would come on a busy machine */
    do {
        for (unsigned id = 0; id < slots && !PS_TSAN && !ps_race_enabled() && !san_valgrind(); id++) {
            struct vp *vp = ps_vp_at(id);
            if (!vp || !ps_load_acquire(vp_attached(vp)) || vp_run(vp)->alone_for)
                continue;
            ps_store_relaxed(&answer.word, ASKED);
            if (os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), yield_here) == 0)
                os_park(&answer.word, ASKED, ANSWER_NS);
        }
        os_park(&nobody_wakes, 0, INTERRUPT_NS);
    } while (os_now_ns() < until_ns);
    os_thread_urgent(false); /* kernel threads that are started are not */
}

void watchdog_preempt(struct vp *vp)
{
    ps_store_relaxed(vp_root_first(vp), 1); /* the next such stall is avoided */
    if (PS_TSAN || ps_race_enabled())
        return;
    os_interrupt_fn *handler = san_valgrind() ? give_way_by_detour : give_way;
    for (int i = 0; i < GIVE_WAY_TRIES; i++) {
        ps_store_relaxed(&answer.word, ASKED);
        if (!ps_load_relaxed(vp_pinned(vp)) || os_interrupt(ps_load_relaxed(&vp_run(vp)->tid), handler) != 0)
            return;
        os_park(&answer.word, ASKED, ANSWER_NS);
        if (ps_load_acquire(&answer.word) != REFUSED)
            return;
    }
}
