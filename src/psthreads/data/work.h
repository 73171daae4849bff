/* What a vp's loop is given to do. */
#ifndef PS_WORK_H
#define PS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psthread;
struct ps_team;

/* A thread (id 0), a claimed member of a team (its number, never 0), the vp's request to go offline (quota_park.h), or
 * nothing. Two words, so that it travels in registers. */
struct ps_work {
    void *what;
    uintptr_t id;
};
#define PS_WORK_OFFLINE UINTPTR_MAX /* the id of a request to go offline; `what` is not used, but not NULL */
/* The value of a vp's `pinned` when the vp is to go offline (quota_park.h). No thread has this address. */
#define PS_PINNED_OFFLINE ((struct psthread *)1)
#define PS_NO_WORK ((struct ps_work){0})
static inline bool ps_work_some(struct ps_work w) { return w.what != NULL; }
static inline struct psthread *ps_work_thread(struct ps_work w) { return w.id ? NULL : w.what; }
static inline bool ps_work_is_offline(struct ps_work w) { return w.id == PS_WORK_OFFLINE; }
static inline struct ps_team *ps_work_team(struct ps_work w) { return w.id && !ps_work_is_offline(w) ? w.what : NULL; }
static inline struct ps_work ps_work_of(struct psthread *t) { return (struct ps_work){.what = t}; }

/* What a visit does at a source. PEEK and LOOK only tell whether there is something, by returning some work that must
 * not be run. */
enum ps_visit {
    PS_PEEK, /* without a lock: what was put there last may be missed */
    PS_LOOK, /* under the queue's lock, or sequentially consistent: for the parking proof (idle.h) */
    PS_TAKE,
};

#endif
