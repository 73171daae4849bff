/* Team blocks: between thread.c and team.c alone. */
#ifndef PS_ORT_TEAM_H
#define PS_ORT_TEAM_H

#include "ort.h"

/* A zeroed block for n_max members with its constant fields set; NULL: no memory. */
struct ort_team *ort_team_alloc(unsigned n_max);
/* The member enters the region: by itself, first thing. */
void ort_member_begin(struct ort_thread *m);

#endif
