/* The processors that foreign programs use. See share_foreign.h. */
#include "share_foreign.h"

#include "os.h"

#include <string.h>

/* A period that lasts so long, because the process was stopped or did not look, says nothing. */
#define TOO_LONG_NS (4 * (uint64_t)SHARE_FOREIGN_NS)

/* What was seen at one end of a period. */
struct reading {
    uint64_t at_ns, busy_ns;
    struct os_cpuset mask; /* the processors that are meant */
    /* Of each process that shares some of them: its slot, when it took that, when it last looked, and the processor
     * time that it had used then. */
    struct {
        const struct share_slot *slot;
        uint64_t begun_ns, beat_ns, used_ns;
    } member[SHARE_SLOTS];
    unsigned n;
};

/* Used by the watchdog alone: the end of the last period; what was used in it; the smaller one of that and of what was
 * used in the period before. */
static struct reading before;
static unsigned last, smaller;

static bool have_common(const struct share_claim *a, const struct share_claim *b)
{
    uint64_t common = 0;
    for (unsigned w = 0; w < SHARE_CPU_WORDS; w++)
        common |= a->cpus[w] & b->cpus[w];
    return common != 0;
}

static void take_reading(struct reading *r, uint64_t now_ns, const struct share_claim *claims,
                         const struct share_slot *const *slots, unsigned n, unsigned mine)
{
    r->at_ns = now_ns;
    os_cpuset_zero(&r->mask);
    memcpy(r->mask.bits, claims[mine].cpus, sizeof claims[mine].cpus);
    r->busy_ns = os_busy_ns(&r->mask);
    r->n = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!have_common(&claims[i], &claims[mine]))
            continue;
        r->member[r->n].slot = slots[i];
        r->member[r->n].begun_ns = ps_load_relaxed(&slots[i]->begun_ns);
        r->member[r->n].beat_ns = ps_load_relaxed(&slots[i]->beat_ns);
        r->member[r->n++].used_ns = ps_load_relaxed(&slots[i]->used_ns);
    }
}

/* Returns how many thousandths of a processor others than the members have used between readings a and b; 0: the
 * readings do not say that. */
static uint64_t used_by_others(const struct reading *a, const struct reading *b)
{
    uint64_t passed = b->at_ns - a->at_ns, members = 0;
    if (passed >= TOO_LONG_NS || a->n != b->n || !os_cpuset_equal(&a->mask, &b->mask) || b->busy_ns < a->busy_ns)
        return 0;
    for (unsigned i = 0; i < b->n; i++) {
        uint64_t looked = b->member[i].beat_ns - a->member[i].beat_ns;
        if (a->member[i].slot != b->member[i].slot || a->member[i].begun_ns != b->member[i].begun_ns || looked == 0)
            return 0;
        members += (b->member[i].used_ns - a->member[i].used_ns) * SHARE_MILLI / looked;
    }
    uint64_t all = (b->busy_ns - a->busy_ns) * SHARE_MILLI / passed;
    return all > members ? all - members : 0;
}

unsigned share_foreign(uint64_t now_ns, const struct share_claim *claims, const struct share_slot *const *slots,
                       unsigned n, unsigned mine)
{
    static struct reading now;
    if (now_ns - before.at_ns < (uint64_t)SHARE_FOREIGN_NS)
        return smaller;
    take_reading(&now, now_ns, claims, slots, n, mine);
    unsigned used = (unsigned)used_by_others(&before, &now);
    smaller = used < last ? used : last;
    last = used;
    before = now;
    return smaller;
}
