/* The watchdog: see watchdog.h. Runs on its own kernel thread; touches of a vp only what is shared. */
#include "watchdog.h"

#include "bind.h"
#include "check.h"
#include "idle.h"
#include "os.h"
#include "quota_park.h"
#include "root_fairness.h"
#include "runtime.h"
#include "sources.h"
#include "vp.h"

#include <errno.h>

#define WATCHDOG_TICK_NS INT64_C(5000000)
#define WATCHDOG_STALL_NS INT64_C(20000000)
#define STALL_TICKS (WATCHDOG_STALL_NS / WATCHDOG_TICK_NS)
/* Where stalls repeat, the next one is noticed sooner: the watchdog's ticks are shorter until there has been none for
 * QUICK_FOR_NS. */
#define QUICK_TICK_NS INT64_C(1000000)
#define QUICK_AFTER 3 /* stalls; a single one may be a machine's that is busy with something else */
#define QUICK_STALL_TICKS 5
#define QUICK_CALM_TICKS 10 /* the system counts used time by its own clock's ticks, which may be 4 ms and more */
#define QUICK_FOR_NS INT64_C(1000000000)
#define QUIET_TICKS 20 /* ticks with nothing pending before the watchdog sleeps */
/* A kernel thread that had so many slices of the processor, and so short ones, ends them itself; the kernel leaves one
 * for longer. */
#define GIVEN_AWAY 8
#define GIVEN_AWAY_NS UINT64_C(50000)
#define BURST_MAX 64
#define WATCHDOG_TRIES 3
#define STACK_BYTES ((size_t)256 * 1024) /* paths, for the quota; an address sanitizer doubles them */
#define WHERE_TRIES 3                    /* stalls whose place could not be told, before one is reported without */

struct ps_watchdog ps_watchdog;

static os_thread thread;
/* The watchdog's kernel thread. `thread` is valid while RUNNING. */
enum { NONE, STARTING, RUNNING, REFUSED };
static _Atomic uint32_t alive;
static _Atomic uint32_t stop_word;
/* Of ps_watchdog.armed. Who finds it set does nothing: the watchdog looks what is ready after each. */
enum { WATCH = 1, GLANCE };
/* What was seen of each vp at the last change; the watchdog's own. */
static struct {
    uint64_t ticks, cpu_ns, slices;
    unsigned still;  /* ticks of the watchdog without one of the vp's */
    bool root_stuck; /* its root has been found waiting since */
} seen[PS_MAX_VPS];

/* The watchdog's own: its pace, and until when it stays quick. */
static struct {
    bool quick;
    uint64_t quick_until_ns;
    unsigned stalls; /* one soon after the other */
} pace;

static int64_t tick_ns(void) { return pace.quick ? QUICK_TICK_NS : WATCHDOG_TICK_NS; }
static unsigned stall_ticks(void) { return pace.quick ? QUICK_STALL_TICKS : STALL_TICKS; }
static unsigned calm_ticks(void) { return pace.quick ? QUICK_CALM_TICKS : STALL_TICKS + 1; }

struct survey {
    struct vp *holder;                     /* one of the stuck, with a kernel thread */
    unsigned pending;                      /* entries ready in all queues */
    unsigned roots;                        /* ready, each bound to its vp */
    unsigned stuck;                        /* vps that hold some of them up */
    unsigned bound;                        /* such vps whose places' queues are not empty */
    unsigned roots_stuck, new_roots_stuck; /* vps that hold their root up; the second: since this look */
};

/* Has vp's kernel thread, which passed no scheduling point for a while, used the processor, gone to sleep in the
 * kernel, or given the processor away again and again (the kernel's sched_yield in a loop, beside other programs: it
 * uses next to nothing)? */
static bool really_stuck(struct vp *vp, unsigned id)
{
    struct os_usage u;
    if (os_thread_usage(ps_load_relaxed(&vp->tid), &u) != 0)
        return false;
    uint64_t used_ns = u.cpu_ns - seen[id].cpu_ns, slices = u.slices - seen[id].slices;
    bool used = used_ns > (uint64_t)WATCHDOG_TICK_NS; /* more than the system's clock may be late */
    bool given_away = slices >= GIVEN_AWAY && used_ns < slices * GIVEN_AWAY_NS;
    return used || u.sleeping || given_away;
}

/* What is pinned to a worker's vp is its request to rest (quota_park.h). */
static bool root_ready(struct vp *vp) { return ps_load_seq(&vp->pinned) && vp_is_roots(vp); }

static void look_at(struct vp *vp, unsigned id, struct survey *s)
{
    unsigned bound = ps_places_on() ? ps_bind_pending(vp) : 0, ready = ps_load_relaxed(&vp->queue.count) + bound;
    bool root = root_ready(vp);
    s->pending += ready;
    s->roots += root;
    uint64_t ticks = ps_load_relaxed(&vp->ticks);
    if (ticks != seen[id].ticks || !(ready || root)) {
        seen[id].ticks = ticks;
        seen[id].still = 0;
        seen[id].root_stuck = false;
        return;
    }
    if (seen[id].still++ == 0) {
        struct os_usage u = {0};
        os_thread_usage(ps_load_relaxed(&vp->tid), &u);
        seen[id].cpu_ns = u.cpu_ns;
        seen[id].slices = u.slices;
    }
    /* Of a kernel thread that is gone: what last ran there is put there when it is readied, and others may never come
     * to steal it. */
    bool orphan = !ps_load_relaxed(&vp->attached);
    if (seen[id].still <= stall_ticks() || !(orphan || really_stuck(vp, id)))
        return;
    s->stuck += ready != 0;
    if (ready && !orphan)
        s->holder = vp;
    s->bound += bound != 0;
    if (root && !orphan) {
        s->roots_stuck++;
        if (!seen[id].root_stuck)
            s->new_roots_stuck++;
        seen[id].root_stuck = true;
        ps_store_relaxed(&vp->root_first, 1); /* the next such stall is avoided */
        watchdog_preempt(vp);                 /* again at each tick: what it interrupts may not be ready to go */
    }
}

static struct survey look(void)
{
    struct survey s = {0};
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp)
            look_at(vp, id, &s);
    }
    return s;
}

static void forget_stalls(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++)
        seen[id].still = 0;
}

static void start_spares(unsigned n, struct vp *holder)
{
    static _Atomic uint32_t said, refusal_said;
    static unsigned unknown; /* times that it could not be told where */
    while (n-- > 0 && ps_load_relaxed(&ps_watchdog.spares) < ps_rt.max_spares)
        if (vp_start_spare() != 0) {
            if (!ps_xchg_acq_rel(&refusal_said, 1))
                ps_warn("a thread holds its processor while others are ready, and the system refuses them another "
                        "kernel thread: "
                        "they wait (said once)");
            return;
        }
    if (ps_rt.verbose && !ps_load_relaxed(&said)) {
        char where[256] = "unknown code";
        if (!(holder && watchdog_where(holder, where, sizeof where)) && unknown++ < WHERE_TRIES)
            return;
        ps_store_relaxed(&said, 1);
        ps_warn("a thread has held its processor for %d ms, in %s, while others were ready: spare kernel threads carry "
                "those "
                "(said once)",
                (int)(WATCHDOG_STALL_NS / 1000000), where);
    }
}

static void count_stall(void)
{
    pace.quick = ++pace.stalls >= QUICK_AFTER;
    pace.quick_until_ns = os_now_ns() + QUICK_FOR_NS;
}

/* A stall ended, or none was seen for a while. */
static void calm_down(void)
{
    if (os_now_ns() > pace.quick_until_ns) {
        pace.quick = false;
        pace.stalls = 0;
    }
    ps_store_relaxed(&ps_watchdog.starving, 0);
    if (ps_places_on())
        ps_bind_starving(false);
}

/* Watches until nothing has been pending for a while. */
static void watch(void)
{
    unsigned quiet = 0, burst = 1, calm = 0;
    bool turns = false, pending = false;
    uint64_t next_ns = 0;
    while (quiet < QUIET_TICKS && !ps_load_acquire(&stop_word)) {
        if (PS_INTERRUPTS)
            watchdog_interrupt_all(os_now_ns() + (uint64_t)tick_ns());
        else
            os_park(&stop_word, 0, turns ? QUICK_TICK_NS : tick_ns());
        quota_park_look();
        turns = root_fairness_look(pending);
        if (turns && os_now_ns() < next_ns)
            continue;
        next_ns = os_now_ns() + (uint64_t)tick_ns();
        struct survey s = look();
        pending = s.pending != 0;
        quiet = s.pending || s.roots || turns || ps_load_relaxed(&ps_watchdog.spares) ? 0 : quiet + 1;
        calm = s.stuck || s.roots_stuck ? 0 : calm + 1;
        if (calm > calm_ticks()) { /* longer than it takes to see the next stall */
            burst = 1;
            if (pace.stalls)
                calm_down();
        }
        if (s.bound)
            ps_bind_starving(true);
        if (s.new_roots_stuck)
            count_stall();
        /* Where those started last have not run yet the system is late, and more of them would only be late too. */
        if (s.stuck && !idle_any() && !ps_load_acquire(&ps_watchdog.coming)) {
            ps_store_relaxed(&ps_watchdog.starving, 1);
            count_stall();
            start_spares(burst, s.holder); /* an entry may be a whole team; who finds nothing retires at once */
            burst = burst < BURST_MAX ? burst * 2 : BURST_MAX;
            forget_stalls();
        }
    }
    root_fairness_end();
}

static bool some_root_ready(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.num_slots);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp && root_ready(vp))
            return true;
    }
    return false;
}

static void *watchdog_main(void *arg)
{
    (void)arg;
    os_thread_name("psthreads-mon");
    while (!ps_load_acquire(&stop_word)) {
        if (!ps_load_acquire(&ps_watchdog.armed)) {
            os_park(&ps_watchdog.armed, 0, OS_FOREVER);
            continue;
        }
        if (ps_load_acquire(&ps_watchdog.armed) == WATCH)
            watch();
        else
            quota_park_look();
        ps_store_seq(&ps_watchdog.armed, 0);
        if (!ps_load_acquire(&stop_word) &&
            (vp_look_for_all(PS_IN_QUEUE | PS_IN_PLACES | PS_IN_GLOBAL) || some_root_ready()))
            ps_store_seq(&ps_watchdog.armed, WATCH);
    }
    return NULL;
}

/* `armed` has been set: its kernel thread sees that. */
static void wake_watchdog(void)
{
    uint32_t none = NONE;
    if (PS_UNLIKELY(ps_cas_acq_rel(&alive, &none, STARTING))) {
        /* No signal is ever handled on it. Refused, some times: no watchdog; what never starves runs all the same. */
        int err = EAGAIN;
        bind_lift();
        for (int i = 0; err && i < WATCHDOG_TRIES; i++) {
            if (i)
                os_park(&alive, STARTING, WATCHDOG_TICK_NS);
            /* for spares, which run the program's code and begin with the watchdog's mask, all blocked */
            os_signals_keep();
            err = os_thread_start(&thread, watchdog_main, NULL, STACK_BYTES, true);
        }
        bind_lower();
        if (err)
            ps_warn("the system refuses the watchdog a kernel thread: threads that spin or block for one another may "
                    "wait for ever");
        ps_store_release(&alive, err ? REFUSED : RUNNING);
        return;
    }
    os_wake(&ps_watchdog.armed, 1);
}

void watchdog_arm_slow(void)
{
    if (!ps_xchg_seq(&ps_watchdog.armed, WATCH))
        wake_watchdog();
}

void watchdog_glance(void)
{
    uint32_t no = 0;
    if (ps_cas_seq(&ps_watchdog.armed, &no, GLANCE))
        wake_watchdog();
}

unsigned watchdog_runs(void) { return ps_load_acquire(&alive) == RUNNING; }

/* There is no watchdog. Spares may be: its last look may have started some, which count themselves off. */
static void forget_watchdog(void)
{
    ps_store_relaxed(&alive, 0);
    ps_store_relaxed(&stop_word, 0);
    ps_store_relaxed(&ps_watchdog.armed, ps_rt.max_spares == 0); /* armed for good: nobody starts it */
    ps_store_relaxed(&ps_watchdog.starving, 0);
    root_fairness_reset();
}

void watchdog_stop(void)
{
    if (ps_load_acquire(&alive) == RUNNING) {
        ps_store_seq(&stop_word, 1);
        ps_store_seq(&ps_watchdog.armed, 1);
        os_wake(&stop_word, 1);
        os_wake(&ps_watchdog.armed, 1);
        os_thread_join(thread);
    }
    forget_watchdog();
}

void watchdog_reset(void)
{
    forget_watchdog();
    ps_store_relaxed(&ps_watchdog.spares, 0);
    ps_store_relaxed(&ps_watchdog.coming, 0);
}
