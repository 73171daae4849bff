/* The calls of the module mpi_f08 that call PMPI directly, past all libraries that stand before MPI. With MPICH these
 * are the calls without a buffer, with Open MPI those with a LOGICAL. They are interposed by the names that the
 * compiler gives to the module's specific procedures. The calls that wait are in fortran_waits.c, those without a
 * nonblocking form in fortran_apart.c. */
#include "fortran.h"

/* The module's own procedure. `...`: the types of its arguments. */
#define OWN08(lower, ...) OWN_SYMBOL("mpi_" #lower "_f08_", __VA_ARGS__)

/* n: the number of arguments before the error. flag: the argument that tells whether the test has found something. */
#define TESTS(lower, n, flag)                                 \
    PS_EXPORT void mpi_##lower##_f08_(P##n, MPI_Fint *wanted) \
    {                                                         \
        MPI_Fint error = MPI_SUCCESS;                         \
        bool aware = mpi_aware();                             \
        OWN08(lower, T##n, MPI_Fint *)(A##n, &error);         \
        if (aware && !*(MPI_Fint *)(flag) && !error)          \
            mpi_tested_in_vain();                             \
        answer_error(wanted, error);                          \
    }

TESTS(test, 3, b)
TESTS(testall, 4, c)
TESTS(testany, 5, d)
TESTS(testsome, 5, c)
TESTS(iprobe, 5, d)
TESTS(improbe, 6, d)
TESTS(request_get_status, 3, b)
TESTS(win_test, 2, b)

#ifndef OPEN_MPI
TESTS(parrived, 3, c)

PS_EXPORT void mpi_comm_set_errhandler_f08_(T2, MPI_Fint *wanted);
PS_EXPORT void mpi_comm_set_errhandler_f08_(P2, MPI_Fint *wanted)
{
    mpi_note_handler();
    OWN08(comm_set_errhandler, T2, MPI_Fint *)(A2, wanted);
}

PS_EXPORT void mpi_file_open_f08_(T7);
PS_EXPORT void mpi_file_open_f08_(P7)
{
    mpi_go_apart();
    mpi_wait_by_turns();
    OWN08(file_open, T7)(A7);
}

PS_EXPORT void mpi_barrier_f08_(const MPI_Comm *comm, MPI_Fint *wanted) { answer_error(wanted, MPI_Barrier(*comm)); }
#endif
