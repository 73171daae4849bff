/* Signals that have come to nobody: see stray.h for what becomes of them, and why none is lost. */
#include "stray.h"

#include "current.h"
#include "idle.h"
#include "inherited.h"
#include "standby.h"
#include "tls.h"
#include "vp_tls.h"
#include "watchdog.h"

#define LATE_NS UINT64_C(10000000)   /* the thread that is to take it may have lost its processor */
#define ROUSE_NS UINT64_C(100000000) /* until another member is roused as well */
#define UNHEARD_LOOKS 3
#define UNHEARD_NS UINT64_C(3000000)

/* --- deaf --- */

PS_NOINLINE void vp_deafen_slowly(struct vp *vp)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    if (vp_run(vp)->is_deaf)
        return;
    vp_run(vp)->deaf_mask = mask;
    vp_run(vp)->is_deaf = true;
}

void vp_take_mask_slowly(struct vp *vp)
{
    os_swap_signal_mask(OS_ALL_SIGNALS); /* a handler that passes a signal on changes both (stray.h) */
    uint32_t posted = ps_load_seq(&vp_alone(vp)->masks_posted);
    uint64_t mask = ps_load_seq(&vp_alone(vp)->new_mask);
    ps_store_seq(&vp_outer(vp)->inner_mask, mask);
    ps_store_seq(&vp_alone(vp)->masks_taken, posted);
    if (vp_run(vp)->is_deaf)
        vp_run(vp)->deaf_mask = mask;
    else
        os_set_signal_mask(mask);
}

/* --- passed on --- */

static bool is_nobody(const struct vp *vp)
{
    return vp && ps_tls_on() && !vp_is_roots(vp) && cpu_get_tp() == vp_run(vp)->own_tp;
}

/* To the process, and not to this kernel thread, whose handler may let the signal in (SA_NODEFER). */
static bool send_on(int number, const void *info)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    if (os_signal_is_for_process(number, info) && os_signal_again(number, info))
        return true;
    os_set_signal_mask(mask);
    return false;
}

static void pass_on(_Atomic uint64_t *strays, uint64_t *strayed_ns, int number, void *frame)
{
    os_frame_set_mask(frame, OS_ALL_SIGNALS);
    ps_store_relaxed(strays, ps_load_relaxed(strays) | UINT64_C(1) << (number - 1));
    *strayed_ns = os_now_ns();
}

static bool comes_to_ear(int number, const void *info, void *frame);

bool ps_signal_strays(int number, const void *info, void *frame)
{
    struct vp *vp = ps_vp();
    if (PS_LIKELY(!is_nobody(vp)))
        return PS_UNLIKELY(watchdog_is_here()) && comes_to_ear(number, info, frame);
    if (!send_on(number, info))
        return false;
    /* Another handler below this one may have kept its own frame's mask; a thread's own is in both. */
    uint64_t mask = os_frame_mask(frame);
    vp_run(vp)->deaf_mask = vp_run(vp)->is_deaf ? vp_run(vp)->deaf_mask & mask : mask;
    vp_run(vp)->is_deaf = true;
    pass_on(&vp_run(vp)->strays, &vp_run(vp)->strayed_ns, number, frame);
    if (vp_run(vp)->alone_for)
        ps_wake_alone(vp);
    else
        idle_wake_this(vp);
    return true;
}

PS_NOINLINE void stray_look_slowly(struct vp *vp)
{
    uint64_t left = os_signals_pending() & ps_load_relaxed(&vp_run(vp)->strays);
    if (left && os_now_ns() - vp_run(vp)->strayed_ns < LATE_NS)
        return;
    ps_store_relaxed(&vp_run(vp)->strays, 0);
    if (!left && !vp_is_to_be_deaf(vp))
        vp_hear(vp);
}

/* --- the ear --- */

enum { LISTENS, WAITS, ROUSES };
static struct {
    _Atomic uint32_t wanted; /* set for good by anybody */
    _Atomic uint32_t due;    /* set by anybody, taken by the ear: it is to find out whether it hears */
    _Atomic uint64_t mask;   /* what members block; what one of them does not block is missing for good */
    _Atomic uint64_t strays; /* the ear's own, as a vp's; so are the next ones */
    uint64_t since_ns;       /* in this state; the handler writes it with `strays` */
    uint32_t state;
    uint32_t unheard; /* so many looks in a row have found that all others block it */
} ear = {.mask = UINT64_MAX};
static _Atomic uint32_t rousing;

static bool comes_to_ear(int number, const void *info, void *frame)
{
    if (!send_on(number, info))
        return false;
    pass_on(&ear.strays, &ear.since_ns, number, frame);
    watchdog_serve_soon();
    return true;
}

static bool may_be_roused(const struct uth_tls *block)
{
    return ps_load_seq(&block->team) != NULL && ps_load_seq(&block->alone) == NULL;
}

/* A member gets a kernel thread, which is to take what the ear has passed on. False: there is none. */
static bool rouse_member(bool (*rouse)(struct uth_tls *block))
{
    ps_add_seq(&rousing, 1);
    struct uth_tls *block = uth_tls_find(may_be_roused);
    bool is_roused = block && rouse(block);
    ps_sub_seq(&rousing, 1);
    return is_roused;
}

void stray_await_rousers(void)
{
    while (ps_load_seq(&rousing) != 0)
        os_yield();
}

void stray_ear_end(void) { os_set_signal_mask(OS_ALL_SIGNALS); }

bool stray_ear_wanted(void) { return ps_load_relaxed(&ear.strays) || ps_load_seq(&ear.due); }

static void listen_anew(void)
{
    ear.state = LISTENS;
    ear.unheard = 0;
    ps_store_relaxed(&ear.strays, 0);
    ps_store_seq(&ear.due, 1);
}

void stray_ear_begin(void) { listen_anew(); }

/* A thread that hears may have no processor, and one may block all for a moment, inside the runtime or a handler. So
 * several looks in a row tell. */
static bool nobody_hears(uint64_t signals, uint64_t now_ns)
{
    bool heard = os_signals_heard(signals) == signals;
    ear.unheard = heard ? 0 : ear.unheard + 1;
    if (ear.unheard >= UNHEARD_LOOKS)
        return true;
    ear.since_ns = heard ? now_ns : now_ns - LATE_NS + UNHEARD_NS;
    return false;
}

/* One step of the ear's, which never waits. */
static void see_to_strays(bool (*rouse)(struct uth_tls *block))
{
    uint64_t now_ns = os_now_ns(), left = os_signals_pending() & ps_load_relaxed(&ear.strays);
    if (ear.state == LISTENS)
        ear.state = WAITS; /* since the handler has come */
    bool late = now_ns - ear.since_ns >= (ear.state == WAITS ? LATE_NS : ROUSE_NS);
    if (left && !late)
        return;
    if (!left || ear.state == ROUSES) {
        listen_anew();
        return;
    }
    if (ear.state == WAITS && !nobody_hears(left, now_ns))
        return;
    if (!standby_keep_out())
        return;
    ear.state = ROUSES;
    ear.unheard = 0;
    ear.since_ns = now_ns;
    if (!rouse_member(rouse))
        listen_anew();
    standby_direct_end();
}

void stray_ear_serve(bool (*rouse)(struct uth_tls *block))
{
    if (ps_load_relaxed(&ear.strays))
        see_to_strays(rouse);
    if (ps_load_relaxed(&ear.strays) || !ps_load_relaxed(&ear.due) || !ps_xchg_seq(&ear.due, 0))
        return;
    bool hears = ps_load_relaxed(&ear.wanted) && uth_tls_find(may_be_roused) != NULL;
    os_set_signal_mask(hears ? ps_load_seq(&ear.mask) : OS_ALL_SIGNALS); /* a member may block less than those before */
}

void stray_reset(void)
{
    ear.state = LISTENS;
    ear.unheard = 0;
    ps_store_relaxed(&ear.mask, UINT64_MAX);
    ps_store_relaxed(&ear.strays, 0);
    ps_store_relaxed(&rousing, 0);
}

static void tell_ear(bool starts)
{
    ps_store_seq(&ear.due, 1);
    if (starts && !watchdog_runs() && os_called_by_program())
        watchdog_be_there();
    if (watchdog_runs())
        watchdog_serve_soon();
}

void stray_expect(void)
{
    if (ps_xchg_seq(&ear.wanted, 1) && watchdog_runs()) /* members that have begun since have told the ear */
        return;
    if (ps_vp() && uth_tls_find(may_be_roused))
        tell_ear(true);
}

void stray_member_begins(uint64_t mask)
{
    ps_and_seq(&ear.mask, mask);
    if (ps_load_relaxed(&ear.wanted))
        tell_ear(true);
}

void stray_member_goes(void)
{
    if (ps_load_relaxed(&ear.wanted))
        tell_ear(false);
}
