/* What a vp's loop is given to do. */
#ifndef PS_WORK_H
#define PS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psthread;
struct ps_team;

/* A thread (id 0), a claimed member of a team (its number, never 0), or nothing. Two words, so that it travels in
 * registers. */
struct ps_work {
    void *what;
    uintptr_t id;
};
#define PS_NO_WORK ((struct ps_work){0})
static inline bool ps_work_some(struct ps_work w) { return w.what != NULL; }
static inline struct psthread *ps_work_thread(struct ps_work w) { return w.id ? NULL : w.what; }
static inline struct ps_team *ps_work_team(struct ps_work w) { return w.id ? w.what : NULL; }
static inline struct ps_work ps_work_of(struct psthread *t) { return (struct ps_work){.what = t}; }

#endif
