/* The words that the processes of one user share (park/share.h; psrun top reads them): the file psthreads-UID.
 *
 * Every process has a slot. Only its owner writes there; all others read. There is no lock, and no process repairs what
 * another has left: a slot whose owner has ended is free for the next one. A reader takes what it reads for a hint: it
 * may be some instructions old, and each word of another age; values are cut to their range. So any content of the
 * file, and any moment at which a process is killed, leads to a worse division at most, never to a wait.
 *
 * owner: 0, the number of a kernel thread, or OS_WORD_LEFT (os_word_hold). beat_ns: when the owner last looked; a slot
 * without a look for SHARE_STALE_NS is left out of the division: its process has stopped, or is no process. change
 * counts up whenever a slot has changed in a way that others have to see; their watchdogs sleep on it.
 * Ordering: a slot's words are relaxed; `change` is seq_cst, behind them. Model: tests/models/share.pml. */
#ifndef PS_SHARE_TABLE_H
#define PS_SHARE_TABLE_H

#include "atomic.h"
#include "os.h"
#include "share_policy.h"

#define SHARE_FILE "psthreads"
#define SHARE_MAGIC UINT64_C(0x3130687370727368) /* and the layout's version */
#define SHARE_STALE_NS UINT64_C(1000000000)

struct share_slot {
    _Alignas(64) _Atomic uint32_t owner;
    _Atomic uint32_t pid;
    _Atomic uint32_t weight, most; /* most: vps */
    _Atomic uint32_t wanted;       /* written by the watchdog, and by a root that opens a region */
    _Atomic uint32_t allowed;
    _Atomic uint64_t beat_ns, begun_ns;
    _Atomic uint64_t lent_us, borrowed_us; /* processors times microseconds since begun_ns */
    _Alignas(64) _Atomic uint64_t cpus[SHARE_CPU_WORDS];
};

struct share_table {
    _Alignas(64) _Atomic uint64_t magic;
    _Atomic uint32_t change;
    _Atomic uint32_t used; /* slots from here on were never used */
    struct share_slot slot[SHARE_SLOTS];
};
_Static_assert(sizeof(struct share_table) == 64 + SHARE_SLOTS * 192, "the same for 32 and for 64 bits");

static inline uint32_t share_cut(uint32_t n, uint32_t least, uint32_t most)
{
    return n < least ? least : n > most ? most : n;
}

static inline unsigned share_used(const struct share_table *t)
{
    return share_cut(ps_load_relaxed(&t->used), 0, SHARE_SLOTS);
}

/* Whether the slot has a process that takes part at now_ns. */
static inline bool share_is_live(const struct share_slot *s, uint64_t now_ns)
{
    uint32_t owner = ps_load_relaxed(&s->owner);
    uint64_t beat = ps_load_relaxed(&s->beat_ns);
    return owner && owner != OS_WORD_LEFT && (int64_t)(now_ns - beat) > -(int64_t)SHARE_STALE_NS &&
           (int64_t)(now_ns - beat) < (int64_t)SHARE_STALE_NS;
}

/* Reads the claims of all slots that are live. Returns how many; *cpus: processors from there on are in none. */
static inline unsigned share_read(const struct share_table *t, uint64_t now_ns, struct share_claim claims[SHARE_SLOTS],
                                  const struct share_slot *slots[SHARE_SLOTS], unsigned *cpus)
{
    unsigned n = 0;
    *cpus = 0;
    for (unsigned i = 0; i < share_used(t); i++) {
        const struct share_slot *s = &t->slot[i];
        if (!share_is_live(s, now_ns))
            continue;
        struct share_claim *c = &claims[n];
        slots[n++] = s;
        c->weight = share_cut(ps_load_relaxed(&s->weight), 1, SHARE_WEIGHT_MOST);
        c->wanted = share_cut(ps_load_relaxed(&s->wanted), 0, share_cut(ps_load_relaxed(&s->most), 1, SHARE_CPUS));
        for (unsigned w = 0; w < SHARE_CPU_WORDS; w++) {
            c->cpus[w] = ps_load_relaxed(&s->cpus[w]);
            if (c->cpus[w] && *cpus < 64 * (w + 1) - (unsigned)__builtin_clzll(c->cpus[w]))
                *cpus = 64 * (w + 1) - (unsigned)__builtin_clzll(c->cpus[w]);
        }
    }
    return n;
}

#endif
