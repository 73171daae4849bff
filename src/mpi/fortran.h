/* What the files for Fortran's calls share: fortran.c, fortran_waits.c, fortran_apart.c, fortran08.c.
 *
 * The arguments of a Fortran call are addresses, and after them the lengths of its character arguments. A length is
 * passed as an address is, so all arguments have the type void * here. Tn, Pn and An are the types, the parameters and
 * the arguments of a call with n arguments. */
#ifndef PS_MPI_FORTRAN_H
#define PS_MPI_FORTRAN_H

#include "mpi_layer.h"

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that only Fortran calls have no header */

/* clang-format off */
#define T1 void *
#define T2 T1, void *
#define T3 T2, void *
#define T4 T3, void *
#define T5 T4, void *
#define T6 T5, void *
#define T7 T6, void *
#define T8 T7, void *
#define T9 T8, void *
#define T10 T9, void *
#define T11 T10, void *
#define T12 T11, void *
#define P1 void *a
#define P2 P1, void *b
#define P3 P2, void *c
#define P4 P3, void *d
#define P5 P4, void *e
#define P6 P5, void *f
#define P7 P6, void *g
#define P8 P7, void *h
#define P9 P8, void *i
#define P10 P9, void *j
#define P11 P10, void *k
#define P12 P11, void *l
#define A1 a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A8 A7, h
#define A9 A8, i
#define A10 A9, j
#define A11 A10, k
#define A12 A11, l
/* clang-format on */

/* MPI's own Fortran function with that symbol. `...`: the types of its arguments. */
#define OWN_SYMBOL(symbol, ...) ((void (*)(__VA_ARGS__))MPI_OWN_SYMBOL(symbol))

static inline bool fortran_caller_can_wait(void)
{
    void *thread;
    return mpi_aware() && mpi_threads(&thread) != NULL;
}

/* Stores the error for the program. `wanted` is NULL if the program has left out the error argument. */
static inline void answer_error(MPI_Fint *wanted, MPI_Fint error)
{
    if (wanted)
        *wanted = error;
}

#ifdef OPEN_MPI
/* Defines the other spellings of a Fortran function, as Open MPI has them, as aliases. */
#define SPELLINGS(lower, UPPER)                                                                         \
    __typeof__(ompi_##lower##_f) mpi_##lower PS_EXPORT __attribute__((alias("ompi_" #lower "_f")));     \
    __typeof__(ompi_##lower##_f) mpi_##lower##_ PS_EXPORT __attribute__((alias("ompi_" #lower "_f")));  \
    __typeof__(ompi_##lower##_f) mpi_##lower##__ PS_EXPORT __attribute__((alias("ompi_" #lower "_f"))); \
    __typeof__(ompi_##lower##_f) MPI_##UPPER PS_EXPORT __attribute__((alias("ompi_" #lower "_f")));
/* Open MPI's own Fortran function. `...`: the types of its arguments before the error. */
#define OWN(name, ...) OWN_SYMBOL("pmpi_" #name "_", __VA_ARGS__, MPI_Fint *)
#endif

#endif
