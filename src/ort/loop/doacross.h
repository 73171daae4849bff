/* Between the work-sharing modules: what loop.c, ordered.c and doacross.c know of each other. */
#ifndef PS_ORT_DOACROSS_H
#define PS_ORT_DOACROSS_H

#include "workshare.h"

/* Frees what a doacross loop had in the slot, if it was one. */
void ort_doacross_free(struct ort_workshare *ws);
/* The turn goes to the chunk behind the member's, whose own turn it is. */
void ort_ordered_pass(struct ort_thread *t);

#endif
