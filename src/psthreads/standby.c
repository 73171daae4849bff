/* Standbys: see standby.h for states and orderings. */
#include "standby.h"

#include <string.h>

#include "list.h"
#include "os.h"
#include "runtime.h"
#include "spin.h"

#define STACK_BYTES ((size_t)64 * 1024) /* of the kernel thread itself: it only enters and leaves a vp's loop */

enum { PARKED, GO };

/* On its own stack. */
struct standby {
    struct ps_list link;
    struct vp *vp; /* what it carries next; NULL: it ends */
    _Atomic uint32_t word;
};

static struct {
    struct ps_spin lock;
    struct ps_list parked;
    unsigned num, wanted;
    bool stops;
} pool;
static _Atomic uint32_t alive, idle; /* kernel threads in standby_main, or about to be; those that carry nothing */
static _Atomic uint32_t generation;  /* pools that there were in this process and in those that it was forked from */

static void *(*carry)(void *vp); /* the same as long as the process lives */

/* --- a standby --- */

static struct vp *park(void)
{
    struct standby self;
    ps_spin_lock(&pool.lock);
    bool parks = !pool.stops && pool.num < pool.wanted;
    if (parks) {
        ps_store_relaxed(&self.word, PARKED);
        ps_list_push_front(&pool.parked, &self.link);
        pool.num++;
    }
    ps_spin_unlock(&pool.lock);
    if (!parks)
        return NULL;
    while (ps_load_acquire(&self.word) == PARKED)
        os_park(&self.word, PARKED, OS_FOREVER);
    return self.vp;
}

/* vp: what it carries first; NULL: nothing. */
static void *standby_main(void *vp)
{
    uint32_t born = ps_load_relaxed(&generation);
    os_thread_name("psthreads-spare");
    if (!vp)
        vp = park();
    for (; vp; vp = park()) {
        carry(vp);
        if (ps_load_relaxed(&generation) != born)
            return NULL;
        ps_add_seq(&idle, 1);
        os_thread_name("psthreads-spare");
    }
    ps_sub_seq(&idle, 1);
    ps_sub_seq(&alive, 1); /* last: the thread that stops the library waits for it */
    return NULL;
}

/* One that is parked carries vp, or ends; false: there is none. */
static bool tell_one(struct vp *vp)
{
    ps_spin_lock(&pool.lock);
    struct ps_list *link = ps_list_empty(&pool.parked) ? NULL : ps_list_pop_front(&pool.parked);
    pool.num -= link != NULL;
    ps_spin_unlock(&pool.lock);
    if (!link)
        return false;
    struct standby *one = PS_CONTAINER_OF(link, struct standby, link);
    ps_sub_seq(&idle, vp != NULL);
    one->vp = vp;
    ps_store_release(&one->word, GO);
    os_wake(&one->word, 1);
    return true;
}

/* --- for others --- */

bool standby_carry(struct vp *vp) { return tell_one(vp); }

int standby_start(struct vp *vp)
{
    os_thread thread;
    ps_add_seq(&alive, 1);
    ps_add_seq(&idle, vp == NULL);
    int err = os_thread_start(&thread, standby_main, vp, STACK_BYTES, true);
    if (!err) {
        os_thread_detach(thread);
        return 0;
    }
    ps_sub_seq(&idle, vp == NULL);
    ps_sub_seq(&alive, 1);
    return err;
}

unsigned standby_idle(void) { return ps_load_acquire(&idle); }

void standby_ready(unsigned n)
{
    if (PS_LIKELY(ps_load_relaxed(&idle) >= n && pool.wanted == n) || !ps_load_relaxed(&ps_rt.tls) ||
        ps_rt.max_spares == 0)
        return;
    ps_spin_lock(&pool.lock);
    pool.wanted = n;
    ps_spin_unlock(&pool.lock);
    while (ps_load_relaxed(&idle) < n && standby_start(NULL) == 0)
        ;
}

void standby_stop(void)
{
    ps_spin_lock(&pool.lock);
    pool.stops = true;
    ps_spin_unlock(&pool.lock);
    while (tell_one(NULL))
        ;
    while (ps_load_acquire(&alive))
        os_yield();
    standby_reset();
}

void standby_begin(void *(*carry_vp)(void *vp))
{
    carry = carry_vp;
    standby_reset();
}

void standby_reset(void)
{
    memset(&pool, 0, sizeof pool);
    ps_spin_init(&pool.lock);
    ps_list_init(&pool.parked);
    ps_add_relaxed(&generation, 1);
    ps_store_relaxed(&alive, 0);
    ps_store_relaxed(&idle, 0);
}
