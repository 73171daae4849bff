/* Turns what the scheduler reports (psthreads/data/watch.h) into events. See recorder.h.
 *
 * The scheduler calls watched_event on the kernel thread on which the event happens, and the watchdog calls it for a
 * stall. The caller may hold locks of the runtime, so nothing here waits for the runtime. Only the first event of a
 * track takes the recorder's lock. */
#include "recorder.h"

/* Notes an event of a kernel thread without a vp, in the track ELSEWHERE, which all such threads share. If another
 * thread is writing in this track, the event is left out. */
static void note_elsewhere(enum recording_kind kind, unsigned vp, uint64_t id)
{
    if (ps_xchg_acquire(&recorder_own->elsewhere_lock, 1) != 0)
        return;
    struct track *k = ps_load_relaxed(&recorder_own->tracks[ELSEWHERE]);
    if (k == NULL)
        k = file_open_track(ELSEWHERE);
    if (k != NULL && recorder_keeps_events)
        track_put(k, track_until_now(k), kind, 0, vp, 0, id, 0);
    ps_store_release(&recorder_own->elsewhere_lock, 0);
}

static void note(struct track *k, enum recording_kind kind, unsigned vp, uint64_t value)
{
    if (k == NULL)
        note_elsewhere(kind, vp, value);
    else if (recorder_keeps_events)
        track_put(k, track_until_now(k), kind, 0, vp, 0, value, 0);
}

static bool is_wait(unsigned state) { return state >= REC_IMBALANCE && state <= REC_OUTSIDE; }

/* The vp parks, or the spare ends. From now on its time counts as sleep, with one exception: if a vp that is neither
 * spare nor guest parks because the thread that it ran waits, its time still counts as that wait. */
static void rests(struct track *k, enum recording_kind kind, _Atomic uint64_t *times)
{
    uint64_t now = track_until_now(k);
    const struct frame *f = ps_load_relaxed(&k->frame);
    bool waits = kind == REC_PARK && k->number < recorder_own->recording->num_vps && is_wait(k->state) && f != NULL &&
                 f->state == k->state;
    track_add(times, 1);
    track_put(k, now, kind, waits, 0, 0, 0, 0);
    ps_store_relaxed(&k->shared->wait_over, 0);
    if (!waits)
        track_is(k, NULL, REC_PARKED, 0);
}

/* The vp wakes, or the spare begins. If the thread that waited here has gone on at another vp, the wait ended at that
 * time (wait_over), and the vp's time since then counts as sleep. */
static void goes_on(struct track *k, enum recording_kind kind)
{
    uint64_t over = ps_load_relaxed(&k->shared->wait_over);
    if (is_wait(k->state) && over >= k->last) {
        track_add(&k->sums->state[k->state], over - k->last);
        k->last = over;
        track_put(k, over, REC_PARK, 0, 0, 0, 0, 0);
        track_is(k, NULL, REC_PARKED, 0);
    }
    uint64_t now = track_until_now(k);
    track_put(k, now, kind, 0, 0, 0, 0, 0);
    if (!is_wait(k->state))
        track_is(k, NULL, REC_IN_RUNTIME, 0);
}

static void steals(struct track *k, uint64_t value)
{
    unsigned level = (unsigned)(value >> 32);
    level = level < REC_DISTANCES ? level : REC_DISTANCES - 1;
    track_add(&k->shared->steals[level], 1);
    if (recorder_keeps_events)
        track_put(k, track_until_now(k), REC_STEAL, level, (unsigned)value, 0, 0, 0);
}

static void waits_outside(struct track *k, bool begins, uint64_t thread)
{
    struct frame *f = events_current();
    uint64_t now = track_until_now(k);
    track_put(k, now, begins ? REC_WAIT_BEGIN : REC_WAIT_END, REC_WAIT_OUTSIDE, 0, 0, f != NULL ? f->id : 0, thread);
    if (begins)
        events_waits(k, f, REC_OUTSIDE);
    else
        events_waits_no_longer(k, f, now);
    track_is(k, f, begins ? REC_OUTSIDE : f != NULL ? f->work : REC_IN_RUNTIME, f != NULL ? REC_ID_CODE(f->id) : 0);
}

void watched_event(enum ps_watched what, unsigned vp, uint64_t value)
{
    struct track *k = recorder_here();
    if (what == PS_WATCH_STALL)
        note(NULL, REC_STALL, vp, value);
    else if (what == PS_WATCH_ROOT_LEAVES || what == PS_WATCH_ROOT_HOME)
        note(k, what == PS_WATCH_ROOT_HOME ? REC_ROOT_HOME : REC_ROOT_LEAVES, vp, 0);
    else if (k == NULL)
        return;
    else if (what == PS_WATCH_PARK)
        rests(k, REC_PARK, &k->shared->parks);
    else if (what == PS_WATCH_SPARE_END)
        rests(k, REC_SPARE_END, &k->shared->spares);
    else if (what == PS_WATCH_UNPARK)
        goes_on(k, REC_UNPARK);
    else if (what == PS_WATCH_STEAL)
        steals(k, value);
    else if (what == PS_WATCH_SPARE_BEGIN) {
        ps_store_relaxed(&k->shared->is_spare, 1);
        goes_on(k, REC_SPARE_BEGIN);
    } else if (what == PS_WATCH_WAIT_BEGIN || what == PS_WATCH_WAIT_END)
        waits_outside(k, what == PS_WATCH_WAIT_BEGIN, value);
}
