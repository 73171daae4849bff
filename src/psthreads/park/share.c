/* The part of this process among those that share the machine. See share.h. */
#include "share.h"

#include "bind.h"
#include "check.h"
#include "handoff.h"
#include "os.h"
#include "quota_park.h"
#include "runtime.h"
#include "share_foreign.h"
#include "share_policy.h"
#include "share_table.h"
#include "sources.h"
#include "standby.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define MASK_NS UINT64_C(100000000) /* how often the process reads its affinity mask */
/* A process claims no processor if it has used less than a 64th of one for IDLE_NS. */
#define IDLE_NS UINT64_C(10000000)
#define IDLE_PART 64

static unsigned long weight; /* the process's weight; 0: it does not share; constant after the start */
/* The process's slot in the table; NULL: it has none. Written by the watchdog, read by roots. */
static _Atomic(struct share_slot *) own_slot;
/* 1: the process wants fewer processors than it could use. Written by the watchdog, read by roots (seq_cst, see `due`
 * in quota_park.c). */
static _Atomic uint32_t lends;
static struct share_table *table; /* the shared file; stays mapped once it is */
/* What the kernel needs to mark the slot as left when the watchdog's kernel thread ends (os_word_hold). */
static struct os_word_holder holder;

/* Used by the watchdog alone. */
static struct {
    /* This process has given up sharing. */
    bool failed;
    /* The table's `change` at the last look. */
    uint32_t change;
    uint64_t looked_ns, mask_ns; /* times of the last look, and of the last look at the mask */
    /* The processor time that the process had used at the last look; earlier, and when that was (uses_nothing). */
    uint64_t cpu_ns, used_ns, counted_ns;
    /* True if the process used next to no processor time in the last period (uses_nothing). */
    bool idle;
    /* most: how many vps the process could run at once, by their number and by what the system allows. */
    unsigned most, wanted;
    /* When a look last found that the process wants as many processors as `wanted` says, or more. */
    uint64_t wanted_ns;
    unsigned cpus;   /* number of processors in the mask */
    unsigned leaves; /* number of processors that are left to foreign programs */
} own;

/* Memory for share_look: what is left of each processor, what each live process claims, and the slot of each claim.
 * Behind the processes' claims stands the foreign programs', which has no slot. */
static struct share_room room;
static struct share_claim claims[SHARE_CLAIMS];
static const struct share_slot *slots[SHARE_SLOTS];

void share_configure(void)
{
    const char *wish = os_env("PSTHREADS_SHARE");
    weight = wish && os_env_switch("PSTHREADS_SHARE");
    if (weight && strcmp(wish, "on") != 0)
        os_env_unsigned("PSTHREADS_SHARE", 1, SHARE_WEIGHT_MOST, &weight, "weight 1");
}

void share_forget(void)
{
    ps_store_relaxed(&own_slot, NULL);
    ps_store_relaxed(&lends, 0);
    memset(&own, 0, sizeof own);
}

/* Wakes the watchdogs of all processes: something in this process's slot has changed. */
static void announce(void)
{
    ps_add_seq(&table->change, 1);
    os_wake_shared(&table->change);
}

/* --- joining --- */

/* Called when sharing fails: from now on this process does not share. why: what the user is told, once; NULL: the user
 * is told nothing. */
static void give_sharing_up(const char *why)
{
    static bool said;
    own.failed = true;
    ps_store_relaxed(&own_slot, NULL);
    ps_store_relaxed(&lends, 0);
    quota_park_share(UINT_MAX);
    if (why && !said)
        ps_warn("the file by which processes share processors is left alone: %s (PSTHREADS_SHARE=off: no file)", why);
    said |= why != NULL;
}

/* Maps the shared file, if it is not mapped yet. False: it cannot be used. */
static bool map_table(void)
{
    void *map;
    const char *wrong;
    uint64_t none = 0;
    if (table)
        return true;
    int err = os_shared_file(SHARE_FILE, sizeof *table, true, &map, &wrong);
    if (err) {
        give_sharing_up(err == EINVAL ? wrong : ps_rt.verbose ? "it cannot be opened" : NULL);
        return false;
    }
    struct share_table *found = map;
    if (!ps_cas_acq_rel(&found->magic, &none, SHARE_MAGIC) && none != SHARE_MAGIC) {
        os_unmap(map, sizeof *found);
        give_sharing_up("it is another version's, or damaged");
        return false;
    }
    table = found;
    return true;
}

/* Reads the affinity mask of the process, and publishes it in slot s. Returns true if the mask has a processor whose
 * number is in the table's range. */
static bool publish_mask(struct share_slot *s, uint64_t now)
{
    struct os_cpuset mask;
    own.mask_ns = now;
    if (os_affinity_get(&mask) != 0)
        return own.cpus != 0;
    own.cpus = 0;
    for (unsigned w = 0; w < SHARE_CPU_WORDS; w++) {
        own.cpus += (unsigned)__builtin_popcountll(mask.bits[w]);
        ps_store_relaxed(&s->cpus[w], mask.bits[w]);
    }
    return own.cpus != 0;
}

/* Reads how many vps the process could run at once, and publishes it in slot s. */
static void note_most(struct share_slot *s)
{
    own.most = quota_park_by_system();
    ps_store_relaxed(&s->most, (uint16_t)own.most);
}

/* Takes a free slot, and fills it in. */
static void join(uint64_t now)
{
    unsigned i = 0;
    if (!map_table())
        return;
    while (i < SHARE_SLOTS && !os_word_hold(&holder, &table->slot[i].owner))
        i++;
    if (i == SHARE_SLOTS) {
        give_sharing_up("no slot is free");
        return;
    }
    struct share_slot *s = &table->slot[i];
    ps_store_relaxed(&s->beat_ns, 0); /* other processes leave the slot out until it has a beat */
    ps_store_relaxed(&s->pid, (uint32_t)getpid());
    ps_store_relaxed(&s->space, os_pid_space());
    ps_store_relaxed(&s->weight, (uint16_t)weight);
    note_most(s);
    ps_store_relaxed(&s->wanted, own.most);
    ps_store_relaxed(&s->allowed, ps_rt.num_vps);
    ps_store_relaxed(&s->begun_ns, now);
    ps_store_relaxed(&s->lent_us, 0);
    ps_store_relaxed(&s->borrowed_us, 0);
    if (!publish_mask(s, now)) {
        os_word_leave(&holder, &s->owner);
        give_sharing_up("this process's processors have numbers above 1023");
        return;
    }
    own.wanted = own.most;
    own.wanted_ns = own.looked_ns = own.counted_ns = now;
    own.used_ns = os_process_cpu_ns();
    ps_store_relaxed(&s->used_ns, own.used_ns);
    ps_store_relaxed(&s->beat_ns, now);
    uint32_t used = ps_load_relaxed(&table->used);
    while (used <= i && !ps_cas_relaxed(&table->used, &used, i + 1))
        ;
    ps_store_seq(&own_slot, s);
    announce();
}

void share_leave(void)
{
    struct share_slot *s = ps_load_relaxed(&own_slot);
    if (!s)
        return;
    ps_store_seq(&own_slot, NULL);
    os_word_leave(&holder, &s->owner);
    announce();
}

/* --- what is wanted --- */

/* Returns how many vps the process could use now: the number of vps that run something, plus that of ready threads and
 * unclaimed members; own.most at most. A spare that stands by keeps a vp whose handoff slot is closed. */
static unsigned count_demand(void)
{
    unsigned n = 0, vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < vps; id++) {
        struct vp *vp = ps_vp_at(id);
        if (!vp)
            continue;
        n += ps_load_relaxed(vp_attached(vp)) && ps_load_relaxed(vp_handoff(vp)) != HANDOFF_IDLE;
        n += ps_places_on() ? ps_bind_pending(vp) : 0;
        if (!ps_queue_seems_empty(vp_queue(vp)))
            n += ps_load_relaxed(&vp_queue(vp)->count) + vp_count_members(vp_queue(vp));
    }
    unsigned idle = standby_idle();
    n = n > idle ? n - idle : 0;
    return n < own.most ? n : own.most;
}

/* Returns true if the process has used next to no processor time lately. Decides anew every IDLE_NS. */
static bool uses_nothing(uint64_t now)
{
    if (now - own.counted_ns < IDLE_NS)
        return own.idle;
    own.idle = (own.cpu_ns - own.used_ns) * IDLE_PART < now - own.counted_ns;
    own.counted_ns = now;
    own.used_ns = own.cpu_ns;
    return own.idle;
}

/* Sets own.wanted to the present demand. A root that has opened a region since the last look may have raised the number
 * in slot s; then the demand is at least this number. own.wanted shrinks only after the demand has been less for
 * SHARE_HOLD_NS. */
static void want(struct share_slot *s, uint64_t now)
{
    unsigned n = uses_nothing(now) ? 0 : count_demand();
    unsigned published = share_cut(ps_load_relaxed(&s->wanted), 0, own.most);
    if (published > n && published > own.wanted)
        n = published;
    if (n < own.wanted && own.wanted <= own.most && now - own.wanted_ns < SHARE_HOLD_NS)
        return;
    own.wanted = n;
    own.wanted_ns = now;
}

static void publish_wanted(struct share_slot *s, unsigned wanted)
{
    bool differs = ps_load_relaxed(&s->wanted) != wanted;
    if (differs)
        ps_store_relaxed(&s->wanted, wanted);
    /* In this order no region that opens after the look is missed: tests/models/share.md. */
    ps_store_seq(&lends, wanted < own.most);
    if (wanted < own.most)
        quota_park_remind_now();
    if (differs)
        announce();
}

void share_open(unsigned n)
{
    struct share_slot *s = ps_load_seq(&lends) ? ps_load_relaxed(&own_slot) : NULL;
    if (!s)
        return;
    n = share_cut(n, 0, ps_load_relaxed(&s->most));
    if (ps_load_relaxed(&s->wanted) >= n)
        return;
    ps_store_relaxed(&s->wanted, n);
    announce();
}

/* --- what is allowed --- */

/* Makes the claim of foreign programs, behind the n others: first of all processors, which gives their part, then of
 * what is left to them. */
static void claim_foreign(unsigned n, unsigned cpus, unsigned mine, uint64_t now)
{
    unsigned used = share_foreign(now, claims, slots, n, mine);
    claims[n] = claims[mine];
    claims[n].weight = 1;
    claims[n].wanted = SHARE_CPUS;
    if (used)
        share_divide(&room, claims, n + 1, cpus);
    own.leaves = used ? share_leave_to_foreign(used, claims[n].allowed, own.leaves) : 0;
    claims[n].wanted = own.leaves;
}

/* Computes how many vps this process may run, and applies that. `mine` is the number of its claim. Also updates lent_us
 * and borrowed_us in slot s. The process has used as many vps as it wanted, but no more than it was allowed. Its fair
 * part is what it would get if all processes wanted all their vps. The difference of the two, times the time since the
 * last look, is added to lent_us if it has used fewer, to borrowed_us if it has used more. */
static void divide(unsigned n, unsigned cpus, unsigned mine, uint64_t now, struct share_slot *s)
{
    uint32_t wanted = own.wanted;
    claims[mine].wanted = own.most;
    claim_foreign(n, cpus, mine, now);
    unsigned all = n + (own.leaves > 0);
    share_divide(&room, claims, all, cpus);
    uint32_t allowed = claims[mine].allowed, used = wanted < allowed ? wanted : allowed;
    quota_park_share(allowed >= own.cpus ? UINT_MAX : allowed);
    ps_store_relaxed(&s->allowed, allowed >= own.cpus ? own.most : allowed);
    for (unsigned i = 0; i < n; i++)
        claims[i].wanted = share_cut(ps_load_relaxed(&slots[i]->most), 1, SHARE_CPUS);
    share_divide(&room, claims, all, cpus);
    uint32_t fair = claims[mine].allowed;
    uint64_t passed_us = (now - own.looked_ns) / 1000;
    if (used < fair)
        ps_add_relaxed(&s->lent_us, passed_us * (fair - used));
    if (used > fair)
        ps_add_relaxed(&s->borrowed_us, passed_us * (used - fair));
}

int64_t share_look(void)
{
    if (!weight || own.failed)
        return OS_FOREVER;
    uint64_t now = os_now_ns();
    struct share_slot *s = ps_load_relaxed(&own_slot);
    if (!s)
        join(now);
    s = ps_load_relaxed(&own_slot);
    if (!s)
        return OS_FOREVER;
    own.change = ps_load_seq(&table->change);
    if (ps_load_relaxed(&s->owner) != (uint32_t)os_thread_id()) {
        os_word_forget(&holder);
        give_sharing_up("another process has written to this one's slot");
        return OS_FOREVER;
    }
    bool unseen = now - ps_load_relaxed(&s->beat_ns) >= SHARE_STALE_NS; /* others may have left this slot out */
    own.cpu_ns = os_process_cpu_ns();
    ps_store_relaxed(&s->beat_ns, now);
    ps_store_relaxed(&s->used_ns, own.cpu_ns);
    if (now - own.mask_ns >= MASK_NS)
        publish_mask(s, now);
    note_most(s);
    unsigned cpus, n = share_read(table, now, claims, slots, &cpus), mine = 0;
    while (mine < n && slots[mine] != s)
        mine++;
    bool others = n > 1 && mine < n;
    if (unseen)
        announce();
    want(s, now);
    if (!others)
        own.wanted = own.most; /* there is no process to lend to */
    publish_wanted(s, own.wanted);
    if (mine < n)
        divide(n, cpus, mine, now, s);
    else
        quota_park_share(UINT_MAX); /* the file is damaged */
    own.looked_ns = now;
    return !others ? SHARE_FOREIGN_NS : own.wanted > 1 ? SHARE_TICK_NS : SHARE_REST_NS;
}

void share_park(_Atomic uint32_t *word, int64_t ns)
{
    os_park_both(word, 0, ps_load_relaxed(&own_slot) ? &table->change : NULL, own.change, ns);
}
