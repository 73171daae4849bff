/* Team blocks: between thread.c and team.c alone. */
#ifndef PS_ORT_TEAM_H
#define PS_ORT_TEAM_H

#include "ort.h"

/* A zeroed block for n_max members with its constant fields set; NULL: no memory. */
struct ort_team *ort_team_alloc(unsigned n_max);
/* Bytes of a block for n_max members. */
size_t ort_members_bytes(unsigned n_max);
/* The members of a zeroed block, with their implicit tasks; false: no memory. And before it is given back. */
bool ort_members_get(struct ort_team *team);
void ort_members_give(struct ort_team *team);
/* Each storage that a member has. */
void ort_members_visit(struct ort_team *team, void (*visit)(struct ort_thread *t));
/* The entities', once for the block. */
void ort_members_entities(struct ort_team *team, const struct ee_team_ops *ops);
/* The member enters the region: by itself, first thing. */
void ort_member_begin(struct ort_thread *m);

#endif
