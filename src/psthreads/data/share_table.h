/* The layout of the file psthreads-UID, by which the processes of one user share the processors (park/share.h). `psrun
 * top` reads it, too.
 *
 * Every process that shares has a slot. Only the slot's owner writes there (and the kernel, see `owner`); all others
 * read. There is no lock, and no process repairs what another one has left: when a slot's owner has ended, the next
 * process that comes takes the slot. Readers treat what they read as a hint. Each word may be some instructions old,
 * and its value is cut to its range. So whatever the file contains, and whenever a process is killed, the worst result
 * is a poor division. No process waits for another one.
 *
 * owner: 0 (never used), the number of the kernel thread that holds the slot, or OS_WORD_LEFT (os_word_hold) when that
 * kernel thread has ended or given the slot up. beat_ns: when the owner last looked at the table. A slot whose owner
 * has not looked for SHARE_STALE_NS is left out of the division: the process was stopped, or does not exist. change:
 * counts up when a slot has changed in a way that other processes have to see; their watchdogs sleep on it. Ordering: a
 * slot's words are relaxed. A process writes them before it adds to `change`, which is seq_cst. Model:
 * tests/models/share.pml. */
#ifndef PS_SHARE_TABLE_H
#define PS_SHARE_TABLE_H

#include "atomic.h"
#include "os.h"
#include "share_policy.h"

#define SHARE_FILE "psthreads"
/* The characters "hsrpsh02"; their digits are the version of the layout. */
#define SHARE_MAGIC UINT64_C(0x3230687370727368)
#define SHARE_STALE_NS UINT64_C(1000000000)

struct share_slot {
    _Alignas(64) _Atomic uint32_t owner;
    /* The process's number, and the number's namespace (os_pid_space): elsewhere another process may have it. */
    _Atomic uint32_t pid, space;
    /* most: how many vps the process may run, by their number and by what the system allows */
    _Atomic uint16_t weight, most;
    /* How many processors the process could use. Written by its watchdog, and by a root that opens a region. The slot's
     * other fields are written by the watchdog alone; `owner` also by the kernel, when the watchdog's kernel thread
     * ends. */
    _Atomic uint32_t wanted;
    _Atomic uint32_t allowed;
    _Atomic uint64_t beat_ns, begun_ns;
    /* For psrun top: the processors that the process has lent and borrowed since begun_ns, multiplied by the time in
     * microseconds. */
    _Atomic uint64_t lent_us, borrowed_us;
    _Atomic uint64_t used_ns; /* the processor time that the process had used at beat_ns */
    _Alignas(64) _Atomic uint64_t cpus[SHARE_CPU_WORDS];
};

struct share_table {
    _Alignas(64) _Atomic uint64_t magic;
    _Atomic uint32_t change;
    _Atomic uint32_t used; /* readers look only at slots below this number */
    struct share_slot slot[SHARE_SLOTS];
};
_Static_assert(sizeof(struct share_table) == 64 + SHARE_SLOTS * 192, "the same for 32 and for 64 bits");

/* Returns n, or the nearer bound if n is not in least .. most. */
static inline uint32_t share_cut(uint32_t n, uint32_t least, uint32_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Returns how many slots a reader has to look at. */
static inline unsigned share_used(const struct share_table *t)
{
    return share_cut(ps_load_relaxed(&t->used), 0, SHARE_SLOTS);
}

/* Returns true if the slot's process takes part in the division at now_ns: the slot has an owner, which has looked at
 * the table less than SHARE_STALE_NS ago. */
static inline bool share_is_live(const struct share_slot *s, uint64_t now_ns)
{
    uint32_t owner = ps_load_relaxed(&s->owner);
    uint64_t beat = ps_load_relaxed(&s->beat_ns);
    return owner && owner != OS_WORD_LEFT && (int64_t)(now_ns - beat) > -(int64_t)SHARE_STALE_NS &&
           (int64_t)(now_ns - beat) < (int64_t)SHARE_STALE_NS;
}

/* Reads the claims of all slots that are live, and notes each claim's slot in `slots`. Returns how many there are.
 * *cpus: one more than the largest number of a processor in any claim. */
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
