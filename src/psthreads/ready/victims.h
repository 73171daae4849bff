/* The lists of victims: for each vp that is no guest, the order in which it steals from the other such vps. All lists
 * are computed once: at the library's start if the user gave groups, otherwise by the first vp that finds no work and
 * is no root's. With one or two vps there are no lists.
 *
 * Does: gathers what the order depends on (the user's groups, else the machine's topology), lets steal.h compute it,
 * and gives each vp its list. Does not: steal (sources.c). States: not prepared -> being prepared (by one thread) ->
 * prepared. Each vp gets its list by a release store to ps_thief.victims. A vp that has no list yet visits the others
 * in the order of their numbers. */
#ifndef PS_VICTIMS_H
#define PS_VICTIMS_H

#include "compiler.h"
#include "psthread.h"

/* Prepares the lists of all vps but guests, unless that was done or begun before. Reads the topology if the user gave
 * no groups. This takes a while, so in this case the caller is a vp that has nothing else to do. */
void ps_prepare_victims(void);
/* Returns true if a thread has prepared the lists, or has begun to. */
bool ps_victims_prepared(void);

/* Called by runtime.c under start_lock: reads the user's groups. Returns 0, or EINVAL if they make no sense. */
int victims_read_groups(const psthread_config_t *config, unsigned num_vps);
/* Returns true if the user gave groups. */
bool victims_are_given(void);
/* Notes that no lists are prepared. Called when the library starts, before the vps are made. */
void victims_reset(void);
/* Gives back the memory of the lists. */
void victims_forget(void);

#endif
