/* Makes threads that waited ready: the second half of the waiting primitive. See scheduler.h.
 *
 * Callers: any kernel thread. Nothing here waits, except for the lock of a queue. */
#include "scheduler.h"

#include "current.h"
#include "dedicated.h"
#include "home.h"
#include "idle.h"
#include "runtime.h"
#include "sources.h"
#include "vp.h"
#include "watchdog.h"

/* Returns the only vp that may run t. NULL: any vp may. */
static struct vp *pinned_to(const struct psthread *t) { return t->uth ? t->uth->vp : NULL; }

void ps_wake_pinned(struct vp *vp)
{
    if (!idle_wake_this(vp) && ps_load_seq(&vp->dedicated.sleeps))
        ps_wake_dedicated(vp);
}

/* The end of ps_ready if `bound`, the only vp that may run the thread, is dedicated or blocks in the kernel. A
 * dedicated vp was woken, and needs nothing more. If a root's home blocks in the kernel, the root is released, and a
 * spare is called unless enough are at work (blocking.h). If the root may not leave, the watchdog is armed. */
static PS_NOINLINE void pinned_specially(struct vp *bound)
{
    if (vp_is(bound, VP_DEDICATED))
        return;
    if (home_release(bound))
        watchdog_want_spare_for_blocked();
    else
        watchdog_arm_for_root();
}

void ps_ready(struct psthread *t, enum ps_end end)
{
    struct vp *bound = pinned_to(t);
    if (!bound) {
        struct vp *target = t->vp, *here;
        if (PS_UNLIKELY(!ps_load_relaxed(&target->attached)) && (here = ps_vp()) != NULL)
            /* The vp that ran t last has no kernel thread any more, or is offline. */
            target = home_is_aside(here) ? ps_vp_at(ps_rt.num_vps > 1) : here;
        vp_enqueue(target, &t->item, end);
        return;
    }
    ps_store_seq(&bound->pinned, t);
    ps_wake_pinned(bound);
    if (vp_is(bound, VP_DEDICATED | VP_BLOCKED))
        pinned_specially(bound);
    else if (!(PS_RELEASE_ALWAYS && home_release(bound)))
        watchdog_arm_for_root();
}

void ps_ready_many(struct psthread *const *t, unsigned n)
{
    struct vp *target = NULL;
    struct ps_list *first = NULL;
    unsigned num = 0;
    for (unsigned i = 0; i < n; i++) {
        struct vp *own = t[i]->vp;
        bool by_itself = pinned_to(t[i]) || !ps_load_relaxed(&own->attached) || ps_places_on();
        if (num && (by_itself || own != target)) {
            vp_enqueue_ring(target, first, num, PS_BACK);
            num = 0;
        }
        if (PS_UNLIKELY(by_itself)) {
            ps_ready(t[i], PS_BACK);
            continue;
        }
        struct ps_list *link = &t[i]->item.link;
        if (num++ == 0) {
            target = own;
            first = link->prev = link;
        } else { /* puts the link into the ring, behind the last one */
            link->prev = first->prev;
            first->prev->next = link;
            first->prev = link;
        }
    }
    if (num)
        vp_enqueue_ring(target, first, num, PS_BACK);
}

struct ps_gatherer ps_gather(struct ps_gathered *gathered, size_t apart, unsigned num)
{
    struct vp *vp = ps_vp_now();
    struct psthread *self = vp ? vp_run(vp)->current : NULL;
    if (PS_UNLIKELY(!self || vp_run(vp)->id >= num || pinned_to(self) || ps_places_on()))
        return (struct ps_gatherer){.self = self ? self : ps_self()};
    struct ps_gathered *g = (struct ps_gathered *)(void *)((char *)gathered + vp_run(vp)->id * apart);
    struct ps_list *link = &self->item.link, *first = g->first;
    if (g->num++ == 0) {
        g->first = link->prev = link;
    } else { /* puts the link into the ring, behind the last one */
        link->prev = first->prev;
        first->prev->next = link;
        first->prev = link;
    }
    return (struct ps_gatherer){.self = self, .gathered = true};
}

unsigned ps_ready_gathered(struct ps_gathered *g, unsigned id, const struct psthread *except)
{
    struct vp *vp = ps_vp_at(id);
    struct ps_list *first = g->first;
    unsigned num = g->num;
    g->num = 0;
    if (num && first->prev == &except->item.link && --num)
        first->prev = first->prev->prev;
    if (PS_LIKELY(num && ps_load_relaxed(&vp->attached) && !ps_places_on())) {
        vp_enqueue_ring(vp, first, num, PS_BACK);
        return num;
    }
    for (unsigned i = 0; i < num; i++) {
        struct psthread *t = PS_CONTAINER_OF(first, struct psthread, item.link);
        first = first->next; /* read before ps_ready, after which t may be gone; not used after the last one */
        ps_ready(t, PS_BACK);
    }
    return num;
}
