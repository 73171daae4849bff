/* The omp_ routines, and the GNU entry points that libomp has too, under libomp's version node.
 *
 * A program linked with libomp asks for omp_get_thread_num@VERSION (and, if GCC compiled a part of it, for
 * GOMP_parallel@VERSION). A program linked with libgomp asks for omp_get_thread_num@OMP_1.0. The dynamic linker accepts
 * no other version for either. The functions themselves (src/abi/user, src/abi/gomp) have libgomp's version nodes. Here
 * each gets a second name with libomp's version: code that jumps to the function, at no cost that could be measured.
 * symbols.txt marks these functions. The locks, whose types differ between the two, are in lock.c. The routines that
 * libomp answers differently are in answers.c and ompc.c. */
#include "jump.h" /* of this processor */

    .text

    .macro versioned name
    .globl  kmpc_versioned_\name
    .type   kmpc_versioned_\name, %function
kmpc_versioned_\name:
    LANDING
    JUMP    \name
    .size   kmpc_versioned_\name, . - kmpc_versioned_\name
    .symver kmpc_versioned_\name, \name\()@VERSION
    .endm

#include "versions.inc"

    say_landing_pads

    .section .note.GNU-stack, "", %progbits
