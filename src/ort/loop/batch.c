/* Batches of a dynamic loop's chunks: claiming, robbing, and the last chunk. tests/models/batch.md has the protocol and
 * the orderings. The states EMPTY, CLAIMING and HELD of a member's word are defined there. */
#include "batch.h"

#include "cpu.h"
#include "ort.h"
#include "os.h"

#define CLAIM_NS 600  /* time that a batch should take, for each claiming vp: several times that of a claim */
#define MOST_SHIFT 15 /* so that a batch's chunk numbers fit into the 16 bits of `first` and of `end` */
/* Least time between ort_batch_init and the computation of the cycle counter's frequency. */
#define CALIBRATION_NS 50000
#define LOOKS_BEFORE_YIELD 100

enum { CLAIMS, ROBS, DONE };

static uint64_t began_ns, began_cycles;
/* CLAIM_NS in cycles of cpu_cycles; 0: not computed yet. Any thread may compute it; the values differ little. */
static _Atomic uint64_t claim_cycles;

void ort_batch_init(void)
{
    began_ns = os_now_ns();
    began_cycles = cpu_cycles();
}

/* Returns CLAIM_NS in cycles; 0: too little time has passed since ort_batch_init to compute it. */
static uint64_t calibrated(void)
{
    uint64_t cycles = ps_load_relaxed(&claim_cycles);
    if (PS_LIKELY(cycles != 0))
        return cycles;
    uint64_t ns = os_now_ns() - began_ns;
    if (ns < CALIBRATION_NS)
        return 0;
    cycles = (uint64_t)((double)(cpu_cycles() - began_cycles) * CLAIM_NS / (double)ns) + 1;
    ps_store_relaxed(&claim_cycles, cycles);
    return cycles;
}

void ort_batch_describe(struct ort_workshare *ws, unsigned threads)
{
    struct ort_loop_desc *d = &ws->desc;
    uint64_t chunk = d->chunk, n = d->n;
    if (n >> 42 != 0 || threads == 1)
        return; /* n is limited so that `next` stays below 2^63 whatever members claim */
    unsigned vps = ee_num_vps();
    uint64_t cycles = calibrated();
    if (vps == 1 || cycles == 0)
        return;
    unsigned claimers = threads < vps ? threads : vps;
    ws->share = 2 * chunk * claimers;
    ws->quantum = cycles * claimers;
    ws->batched = chunk == 1 ? n - 1 : (n - 1) / chunk * chunk;
    ps_store_relaxed(&ws->holders, 0);
    ps_store_relaxed(&ws->moves, 0);
    ps_store_relaxed(&ws->last, 0);
    d->plain = ORT_PLAIN_BATCHES;
}

/* --- the calling member's word --- */

static uint64_t batch_word(uint64_t sequence, uint32_t first, uint32_t end)
{
    return sequence << 32 | (uint64_t)first << 16 | end;
}

/* Makes the caller's word CLAIMING, with a new sequence. Before that, sets the caller's bit in `holders`, unless it is
 * set. */
static void say_claiming(struct ort_thread *t, struct ort_workshare *ws)
{
    struct ort_batch *own = ort_batch(t);
    if (!own->shown) {
        own->shown = true;
        ps_store_relaxed(&own->construct, t->ws_seq - 1);
        ps_or_acq_rel(&ws->holders, UINT64_C(1) << t->id % 64);
    }
    ps_store_relaxed(&own->word, batch_word((ps_load_relaxed(&own->word) >> 32) + 1, 1, 0));
}

/* Makes the caller's word HELD: the caller has got `count` chunks from value base on, begins the first one, and holds
 * the others. */
static void hold_chunks(struct ort_batch *own, uint64_t base, uint32_t count)
{
    ps_store_relaxed(&own->base, base);
    ps_store_release(&own->word, batch_word(ps_load_relaxed(&own->word) >> 32, 1, count));
}

/* Makes the caller's word EMPTY. */
static void hold_nothing(struct ort_batch *own)
{
    ps_store_release(&own->word, batch_word(ps_load_relaxed(&own->word) >> 32, 0, 0));
}

/* Uses an exchange, not a store, because it must also acquire the compare-and-swap of the member that has robbed this
 * one last. Then that member has read `base` before the owner writes it again. */
void ort_batch_drop_slow(struct ort_batch *own)
{
    uint64_t sequence = ps_load_relaxed(&own->word) >> 32;
    (void)ps_xchg_acq_rel(&own->word, batch_word(sequence, 0, 0));
}

void ort_batch_reset(struct ort_team *team)
{
    for (unsigned i = 0; i < team->n; i++) {
        struct ort_batch *its = ort_batch_or_none(ort_member(team, i));
        if (!ort_absent(its))
            ort_batch_drop(its);
    }
}

/* --- claiming --- */

/* Returns the shift of the caller's next claim, which is for 1 << shift chunks.
 *
 * A claim moves the cache line of `next` to the claimer's processor, which takes 50 to 100 ns; a chunk may be much
 * shorter. So a member claims batches. Its first batch is one chunk. As long as no other member has claimed, the
 * batches stay at one chunk, because the line stays where it is (ort_next_uncontended). Otherwise the time that the
 * last batch took decides. If this time is below the quantum, which is CLAIM_NS for each claiming vp, the next batch
 * has twice as many chunks. If it is above twice the quantum, the next batch has half as many. So bodies of
 * microseconds are claimed one by one.
 * Towards the loop's end a batch has at most half of an equal share of the iterations that are left. Exception: a batch
 * that would take less than a quarter of the quantum may have all that are left, because robbing a part of it would
 * cost more than claiming. */
static unsigned next_shift(struct ort_batch *own, const struct ort_workshare *ws)
{
    uint64_t now = cpu_cycles(), takes = now - own->since;
    unsigned shift = own->shift;
    own->since = now;
    if (takes < ws->quantum && shift < MOST_SHIFT) {
        shift++;
        takes *= 2;
    } else if (takes > 2 * ws->quantum && shift > 0) {
        shift--;
        takes /= 2;
    }
    uint64_t left = ws->batched - own->seen;
    while (shift > 0 && left >> shift < (takes > ws->quantum / 4 ? ws->share : ws->desc.chunk)) {
        shift--;
        takes /= 2;
    }
    return shift;
}

/* Claims 1 << shift chunks from `next`. *lo becomes the first value of the first chunk. Returns false if `next` has
 * reached the loop's last chunk. */
static bool claim(struct ort_thread *t, struct ort_workshare *ws, unsigned shift, uint64_t *lo)
{
    struct ort_batch *own = ort_batch(t);
    const struct ort_loop_desc *d = &ws->desc;
    uint64_t chunk = d->chunk, end = ws->batched, at;
    if (shift == 0) {
        at = ps_add_acquire(&ws->next, chunk);
        if (at >= end)
            return false;
        *lo = d->start + at * d->step;
    } else {
        say_claiming(t, ws);
        at = ps_add_acq_rel(&ws->next, chunk << shift);
        if (at >= end) {
            hold_nothing(own);
            return false;
        }
        *lo = d->start + at * d->step;
        hold_chunks(own, *lo, end - at >= chunk << shift ? 1u << shift : (uint32_t)((end - at) / chunk));
    }
    own->seen = at;
    own->shift = (uint8_t)shift;
    return true;
}

/* --- robbing --- */

enum found { NOTHING, WAIT, TOOK };

/* Tries to take the latter half of the chunks that the victim holds, rounded up. TOOK: *lo is the value at which the
 * first of these chunks begins; if there are others, the caller's word holds them. WAIT: the victim is claiming.
 * NOTHING: the victim holds no chunk of this loop. */
static enum found rob(struct ort_thread *t, struct ort_workshare *ws, struct ort_batch *victim, uint64_t *lo)
{
    struct ort_batch *own = ort_batch(t);
    bool claiming = false;
    enum found found = NOTHING;
    uint64_t word = ps_load_acquire(&victim->word);
    for (;;) {
        uint32_t first = ort_batch_first(word), end = ort_batch_end(word);
        if (first == end || ps_load_acquire(&victim->construct) != t->ws_seq - 1)
            break;
        if (first > end) {
            found = WAIT;
            break;
        }
        uint64_t base = ps_load_relaxed(&victim->base);
        uint32_t take = (end - first + 1) / 2;
        if (take > 1 && !claiming) {
            say_claiming(t, ws);
            ps_add_acq_rel(&ws->moves, 1);
            claiming = true;
        }
        if (ps_cas_acq_rel(&victim->word, &word, word - take)) {
            *lo = base + (end - take) * own->stride;
            if (claiming)
                hold_chunks(own, *lo, take);
            return TOOK;
        }
    }
    if (claiming)
        hold_nothing(own);
    return found;
}

/* Looks once at each other member that may hold chunks, the caller's neighbour first, and robs the first that holds
 * some (TOOK). Returns WAIT if it took nothing and some member was claiming, otherwise NOTHING. */
static enum found look_at_holders(struct ort_thread *t, struct ort_workshare *ws, uint64_t *lo)
{
    struct ort_team *team = t->team;
    unsigned turn = (t->id + 1) % 64;
    uint64_t holders = ps_load_acquire(&ws->holders);
    holders = holders >> turn | holders << (64 - turn) % 64;
    enum found found = NOTHING;
    for (; holders != 0; holders &= holders - 1) {
        for (unsigned id = ((unsigned)__builtin_ctzll(holders) + turn) % 64; id < team->n; id += 64) {
            if (id == t->id)
                continue;
            struct ort_batch *its = ort_batch_or_none(ort_member(team, id));
            enum found here = ort_absent(its) ? NOTHING : rob(t, ws, its, lo);
            if (here == TOOK)
                return TOOK;
            if (here == WAIT)
                found = WAIT;
        }
    }
    return found;
}

/* Looks for chunks until the caller has robbed some (true), or no member holds any (false). [switches] */
static bool rob_somebody(struct ort_thread *t, struct ort_workshare *ws, uint64_t *lo)
{
    unsigned looks = 0;
    for (;;) {
        uint32_t moves = ps_load_acquire(&ws->moves);
        enum found found = look_at_holders(t, ws, lo);
        if (found == TOOK)
            return true;
        if (found == NOTHING && ps_load_acquire(&ws->moves) == moves)
            return false;
        if (++looks < LOOKS_BEFORE_YIELD)
            cpu_pause();
        else
            ee_yield();
    }
}

bool ort_batch_used_up(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi)
{
    struct ort_workshare *ws = ort_loop(t)->ws;
    const struct ort_loop_desc *d = &ws->desc;
    ort_loop(t)->uncontended = false;
    if (own->state == DONE)
        return false;
    own->state = ROBS;
    if (own->shown && t->team->n <= 64) {
        own->shown = false;
        ps_and_acq_rel(&ws->holders, ~(UINT64_C(1) << t->id));
    }
    if (rob_somebody(t, ws, lo)) {
        *hi = *lo + own->stride;
        return true;
    }
    /* The member that gets the last chunk runs no chunk after it, because compiled code copies lastprivate variables
     * from this member after the loop. */
    own->state = DONE;
    if (ps_load_relaxed(&ws->last) != 0 || ps_xchg_acquire(&ws->last, 1) != 0)
        return false;
    *lo = d->start + ws->batched * d->step;
    *hi = d->end;
    return true;
}

bool ort_batch_refill(struct ort_thread *t, struct ort_batch *own, uint64_t *lo, uint64_t *hi)
{
    struct ort_workshare *ws = ort_loop(t)->ws;
    const struct ort_loop_desc *d = &ws->desc;
    unsigned shift = 0;
    bool first = ort_loop(t)->trip == 0;
    uint64_t word = ps_load_relaxed(&own->word);
    if (PS_UNLIKELY(ort_batch_first(word) != ort_batch_end(word)))
        hold_nothing(own);
    if (first) {
        ort_loop(t)->trip = 1;
        own->state = CLAIMS;
        own->shown = false;
        own->stride = d->chunk * d->step;
        own->since = 0; /* there is no earlier claim from which to measure */
    } else if (own->state == CLAIMS) {
        shift = next_shift(own, ws);
    }
    if (own->state != CLAIMS || !claim(t, ws, shift, lo))
        return ort_batch_used_up(t, own, lo, hi);
    ort_loop(t)->uncontended = first && own->seen == 0;
    *hi = *lo + own->stride;
    return true;
}
