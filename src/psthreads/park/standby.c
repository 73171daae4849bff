/* Spares that stand by. See standby.h for states and orderings. */
#include "standby.h"

#include <string.h>

#include "list.h"
#include "os.h"
#include "spin.h"
#include "watchdog.h"

#define MOST 128 /* the most spares that stand by, besides one for each root */
/* How often `peak` is halved. */
#define HALVED_NS UINT64_C(1000000000)

/* A spare that stands by: a local variable of its kernel thread. */
struct standby {
    struct ps_list link;
    /* STANDBY_...: what the spare is to do. The spare itself writes STANDBY_RESTS. The thread that takes the spare out
     * of the list writes the other values. */
    _Atomic uint32_t word;
};

static struct {
    struct ps_spin lock;
    struct ps_list list;
    /* How many spares are in the list; how many may be there for roots; how many grants no spare has yet. */
    unsigned num, roots, grants;
    bool stops;
} pool;
/* alive: the number of kernel threads of spares. idle: how many of them stand by. */
static _Atomic uint32_t alive, idle;
/* The largest number of spares that were at work at once, halved every HALVED_NS. A hint: an update may be lost. */
static _Atomic uint32_t peak;
static uint64_t halved_at_ns; /* used by the watchdog alone */

static void note_peak(uint32_t at_work)
{
    if (at_work > ps_load_relaxed(&peak))
        ps_store_relaxed(&peak, at_work < MOST ? at_work : MOST);
}

enum standby_word standby_rest(void)
{
    struct standby self;
    uint32_t word = STANDBY_ENDS;
    ps_spin_lock(&pool.lock);
    if (!pool.stops && pool.grants) {
        pool.grants--;
        word = STANDBY_GRANTED;
        ps_add_seq(&ps_watchdog.spares, 1);
    } else if (!pool.stops && pool.num < pool.roots + ps_load_relaxed(&peak)) {
        word = STANDBY_RESTS;
        ps_store_relaxed(&self.word, word);
        ps_list_push_front(&pool.list, &self.link);
        pool.num++;
        ps_add_seq(&idle, 1);
    }
    ps_spin_unlock(&pool.lock);
    while (word == STANDBY_RESTS) {
        os_park(&self.word, STANDBY_RESTS, OS_FOREVER);
        word = ps_load_acquire(&self.word);
        if (word == STANDBY_CALLED || word == STANDBY_GRANTED)
            ps_sub_release(&ps_watchdog.coming, 1);
    }
    return (enum standby_word)word;
}

/* Takes a spare out of the list, tells it what to do, and wakes it. False: no spare stands by. */
static bool tell_one(enum standby_word word)
{
    ps_spin_lock(&pool.lock);
    struct ps_list *link = ps_list_empty(&pool.list) ? NULL : ps_list_pop_front(&pool.list);
    if (link) {
        pool.num--;
        ps_sub_seq(&idle, 1);
    }
    ps_spin_unlock(&pool.lock);
    if (!link)
        return false;
    struct standby *one = PS_CONTAINER_OF(link, struct standby, link);
    if (word != STANDBY_ENDS) {
        ps_add_relaxed(&ps_watchdog.coming, 1);
        note_peak(ps_add_seq(&ps_watchdog.spares, 1) + 1);
    }
    ps_store_release(&one->word, word);
    os_wake(&one->word, 1);
    return true;
}

bool standby_call(void) { return ps_load_relaxed(&idle) && tell_one(STANDBY_CALLED); }

unsigned standby_grant(unsigned n)
{
    while (n && ps_load_relaxed(&idle) && tell_one(STANDBY_GRANTED))
        n--;
    if (n) {
        ps_spin_lock(&pool.lock);
        pool.grants += n;
        ps_spin_unlock(&pool.lock);
    }
    return n;
}

void standby_revoke(unsigned n)
{
    ps_spin_lock(&pool.lock);
    pool.grants -= pool.grants < n ? pool.grants : n;
    ps_spin_unlock(&pool.lock);
}

unsigned standby_keep(unsigned n, uint64_t now_ns)
{
    if (now_ns - halved_at_ns >= HALVED_NS) {
        halved_at_ns = now_ns;
        ps_store_relaxed(&peak, ps_load_relaxed(&peak) / 2);
        note_peak(ps_load_relaxed(&ps_watchdog.spares));
    }
    uint32_t most = n + ps_load_relaxed(&peak), standing = ps_load_relaxed(&idle);
    ps_spin_lock(&pool.lock);
    pool.roots = n;
    ps_spin_unlock(&pool.lock);
    for (; standing > most && tell_one(STANDBY_ENDS); standing--)
        ;
    uint32_t ready = standing + ps_load_relaxed(&ps_watchdog.spares);
    return ready < n ? n - ready : 0;
}

unsigned standby_idle(void) { return ps_load_acquire(&idle); }

void standby_begins(void)
{
    ps_add_seq(&alive, 1);
    note_peak(ps_load_relaxed(&ps_watchdog.spares));
}
void standby_ended(void) { ps_sub_seq(&alive, 1); }

void standby_stop(void)
{
    ps_spin_lock(&pool.lock);
    pool.stops = true;
    ps_spin_unlock(&pool.lock);
    while (tell_one(STANDBY_ENDS))
        ;
    while (ps_load_acquire(&alive))
        os_yield();
    standby_reset();
}

void standby_reset(void)
{
    memset(&pool, 0, sizeof pool);
    ps_spin_init(&pool.lock);
    ps_list_init(&pool.list);
    ps_store_relaxed(&alive, 0);
    ps_store_relaxed(&idle, 0);
    ps_store_relaxed(&peak, 0);
}
