/* A vp's loop (loop.c). */
#ifndef PS_LOOP_H
#define PS_LOOP_H

#include "compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct uth;
struct vp;

/* Runs the loop until the library stops; the caller stands on vp_run(vp)->native. */
void vp_enter_loop(struct vp *vp);
/* The first function on a fresh stack `self`, for uth_start. transfer: the vp. */
void vp_loop_main(void *transfer, void *self);

/* How long a vp that cannot go on for now is left alone. */
#define PS_ASIDE_NS INT64_C(1000000)

#endif
