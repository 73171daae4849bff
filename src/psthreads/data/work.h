/* A piece of work: what a vp's loop is given to run. */
#ifndef PS_WORK_H
#define PS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psthread;
struct ps_team;

/* A piece of work is one of four things. A thread: `what` is the thread, id is 0. A claimed member: `what` is the team,
 * id the member's number, never 0. A request to the vp to go offline (quota_park.h). Or nothing: `what` is NULL. The
 * two words travel in registers. */
struct ps_work {
    void *what;
    uintptr_t id;
};
/* The id of a request to go offline. `what` has no meaning then, except that it is not NULL. */
#define PS_WORK_OFFLINE UINTPTR_MAX
/* The value of a vp's `pinned` when the vp is to go offline (quota_park.h). No thread has this address. */
#define PS_PINNED_OFFLINE ((struct psthread *)1)
#define PS_NO_WORK ((struct ps_work){0})
static inline bool ps_work_some(struct ps_work w) { return w.what != NULL; }
static inline struct psthread *ps_work_thread(struct ps_work w) { return w.id ? NULL : w.what; }
static inline bool ps_work_is_offline(struct ps_work w) { return w.id == PS_WORK_OFFLINE; }
static inline struct ps_team *ps_work_team(struct ps_work w) { return w.id && !ps_work_is_offline(w) ? w.what : NULL; }
static inline struct ps_work ps_work_of(struct psthread *t) { return (struct ps_work){.what = t}; }

/* What a visit does at a source of work. PEEK and LOOK only tell whether there is something: they return some work that
 * must not be run, or none. */
enum ps_visit {
    PS_PEEK, /* without a lock: may miss what another thread is putting there */
    PS_LOOK, /* under the queue's lock, or by a seq_cst load: misses nothing, as the proof of parking needs (idle.h) */
    PS_TAKE, /* takes the work out of the source */
};

#endif
