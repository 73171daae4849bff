/* A vp's loop (loop.c). */
#ifndef PS_LOOP_H
#define PS_LOOP_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct uth;
struct vp;

/* Runs vp's loop. Returns when the library stops; for a spare also when the spare is to end, or there is no stack for
 * its loop. The caller is on the kernel thread's own stack, vp_run(vp)->native. */
void vp_enter_loop(struct vp *vp);
/* The first function on the fresh stack `self`, given to uth_start. transfer: the vp. */
void vp_loop_main(void *transfer, void *self);

/* How long a vp sleeps between two tries if it cannot go on: there is no stack for its loop, or a context is not
 * saved. */
#define PS_ASIDE_NS INT64_C(1000000)

#endif
