/* The victims from which a vp steals, in order: computed once for all regular vps, when the first of them has nothing
 * else to do.
 *
 * Does: gather what the order depends on (the user's groups, else the machine's topology), have steal.h compute it, and
 * hand each vp its list. Does not: steal (sources.c).
 * States: not prepared -> being prepared (by one vp) -> prepared. The lists are released to the vps by `victims` in
 * struct vp; a vp without one goes around by number. */
#ifndef PS_VICTIMS_H
#define PS_VICTIMS_H

#include "compiler.h"
#include "psthread.h"

/* Gives every regular vp its visiting order, once; reads the topology: called by a vp that has nothing else to do. */
void ps_prepare_victims(void);
bool ps_victims_prepared(void);

/* For runtime.c, under its start_lock: reads the user's groups. Returns an error number, or 0. */
int victims_read_groups(const psthread_config_t *config, unsigned num_vps);
/* Whether there are such groups. */
bool victims_are_given(void);
/* Says that no lists are prepared. Called before the vps are made. */
void victims_reset(void);
/* Gives back the memory of the lists. */
void victims_forget(void);

#endif
