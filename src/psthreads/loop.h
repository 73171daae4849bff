/* A vp's loop (loop.c). */
#ifndef PS_LOOP_H
#define PS_LOOP_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct uth;
struct vp;

/* Runs the loop until the library stops; the caller stands on vp->native. */
void vp_enter_loop(struct vp *vp);
/* Ends what runs on the current uth for good and goes on with a fresh loop (psthread_exit). */
PS_NORETURN void vp_abandon(struct vp *vp);

/* The loop, in the place of the caller, whose uth `self` is free to be used. */
PS_NORETURN void vp_loop(struct vp *vp, struct uth *self);
/* The first function on a fresh stack `self`, for uth_start. transfer: the vp. */
void vp_loop_main(void *transfer, void *self);

/* For how long a vp is left alone that cannot go on for now. */
#define PS_ASIDE_NS INT64_C(1000000)

#endif
