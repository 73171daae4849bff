/* The table of vps. The vps 0 .. num_vps - 1 are made when the library starts, a guest when a kernel thread finds no
 * free vp to claim. psthread_finalize frees all. See vp.h. */
#include "handoff.h"
#include "life.h"
#include "os.h"
#include "uth.h"
#include "victims.h"
#include "vp.h"

struct life ps_life = {.start_lock = PTHREAD_MUTEX_INITIALIZER,
                       .slot_lock = PTHREAD_MUTEX_INITIALIZER,
                       .settings = {.search_ns = UINT64_MAX, .max_spares = PS_MAX_SPARES}};

struct vp *life_make_vp(unsigned id, bool is_guest)
{
    struct vp *vp = os_map(sizeof *vp);
    if (!vp)
        return NULL;
    san_root_made(vp, sizeof *vp);
    vp_run(vp)->id = id;
    vp_run(vp)->is_guest = is_guest;
    vp_run(vp)->own_uth = &vp_run(vp)->native;
    vp->home.at = vp;
    ps_queue_init(&vp->queue);
    ps_list_init(&vp->waiters.list);
    uth_cache_init(&vp_run(vp)->stacks);
    ps_store_relaxed(&vp->handoff, is_guest || id == 0 ? HANDOFF_BUSY : HANDOFF_IDLE);
    vp->deal = id % ps_rt.num_vps;
    vp->spin_ns = ps_rt.search_ns;
    ps_store_release(&ps_rt.vp[id], vp);
    return vp;
}

struct vp *life_claim_slot(unsigned first, uint32_t attached)
{
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = first; id < vps; id = id ? id + 1 : ps_rt.num_vps) {
        struct vp *vp = ps_vp_at(id);
        uint32_t no = 0;
        if (!ps_load_relaxed(&vp->attached) && ps_cas_seq(&vp->attached, &no, attached))
            return vp;
    }
    /* Signals are blocked: otherwise a handler could run here while the lock is held. The handler of a garbage
     * collector waits until all threads have taken its signal, and a thread that waits for this lock takes none. */
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    pthread_mutex_lock(&ps_life.slot_lock);
    vps = ps_load_relaxed(&ps_rt.table_size);
    struct vp *vp = vps < PS_MAX_VPS ? life_make_vp(vps, true) : NULL;
    if (vp) {
        ps_store_relaxed(&vp->attached, attached);
        ps_store_release(&ps_rt.table_size, vps + 1);
    }
    pthread_mutex_unlock(&ps_life.slot_lock);
    os_set_signal_mask(mask);
    return vp;
}

void life_forget_vps(void)
{
    pthread_mutex_lock(&ps_life.slot_lock);
    for (unsigned i = 0; i < PS_MAX_VPS; i++) {
        struct vp *vp = ps_load_relaxed(&ps_rt.vp[i]);
        if (!vp)
            break;
        ps_store_relaxed(&ps_rt.vp[i], NULL);
        san_root_gone(vp, sizeof *vp);
        os_unmap(vp, sizeof *vp);
    }
    pthread_mutex_unlock(&ps_life.slot_lock);
    victims_forget();
    ps_life.forked = NULL;
}

bool life_other_roots(const struct vp *self)
{
    if (ps_life.forked && ps_life.forked != self)
        return true;
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < vps; id = id ? id + 1 : ps_rt.num_vps) {
        struct vp *vp = ps_vp_at(id);
        if (vp != self && ps_load_seq(&vp->attached) == PS_ATTACHED)
            return true;
    }
    return false;
}
