/* Functions that the files loop.c, workshare.c, ordered.c and doacross.c call in each other. */
#ifndef PS_ORT_DOACROSS_H
#define PS_ORT_DOACROSS_H

#include "workshare.h"

/* Frees the slot's state of a doacross loop, if it has one. */
void ort_doacross_free(struct ort_workshare *ws);
/* Called by a member whose chunk has the turn: passes the turn to the chunk that begins at the end of this one. */
void ort_ordered_pass(struct ort_thread *t);

#endif
