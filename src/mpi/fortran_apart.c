/* Fortran's calls without a nonblocking form: the caller first moves to a kernel thread of its own, as in apart.c.
 *
 * For Open MPI the calls have the names that mpif.h, `use mpi` and most of `use mpi_f08` call. MPICH's mpif.h and `use
 * mpi` call the C functions, which apart.c defines. Some procedures of the module mpi_f08 call PMPI directly
 * (fortran08.c). They are interposed by the name that the compiler gives to a specific procedure of the module. */
#include "fortran.h"

#define APART(function, symbol, n)      \
    PS_EXPORT void function(P##n)       \
    {                                   \
        mpi_go_apart();                 \
        OWN_SYMBOL(symbol, T##n)(A##n); \
    }
/* n: the number of all arguments, including the error and the lengths of character arguments. */
#define APART08(lower, n) APART(mpi_##lower##_f08_, "mpi_" #lower "_f08_", n)

/* Defines the function by the names under which this MPI's programs call it. */
#ifdef OPEN_MPI
#define APART_FORTRAN(lower, UPPER, n)             \
    APART(ompi_##lower##_f, "pmpi_" #lower "_", n) \
    SPELLINGS(lower, UPPER)
#else
#define APART_FORTRAN(lower, UPPER, n) APART08(lower, n)
#endif

APART_FORTRAN(comm_dup, COMM_DUP, 3)
APART_FORTRAN(comm_dup_with_info, COMM_DUP_WITH_INFO, 4)
APART_FORTRAN(comm_create, COMM_CREATE, 4)
APART_FORTRAN(comm_create_group, COMM_CREATE_GROUP, 5)
APART_FORTRAN(comm_split, COMM_SPLIT, 5)
APART_FORTRAN(comm_split_type, COMM_SPLIT_TYPE, 6)
APART_FORTRAN(comm_free, COMM_FREE, 2)
APART_FORTRAN(comm_disconnect, COMM_DISCONNECT, 2)
APART_FORTRAN(comm_accept, COMM_ACCEPT, 7)
APART_FORTRAN(comm_connect, COMM_CONNECT, 7)
APART_FORTRAN(comm_join, COMM_JOIN, 3)
APART_FORTRAN(comm_spawn, COMM_SPAWN, 11)
APART_FORTRAN(comm_spawn_multiple, COMM_SPAWN_MULTIPLE, 12)
APART_FORTRAN(comm_set_info, COMM_SET_INFO, 3)
APART_FORTRAN(intercomm_create, INTERCOMM_CREATE, 7)
APART_FORTRAN(intercomm_merge, INTERCOMM_MERGE, 4)
APART_FORTRAN(cart_create, CART_CREATE, 7)
APART_FORTRAN(cart_sub, CART_SUB, 4)
APART_FORTRAN(graph_create, GRAPH_CREATE, 7)
APART_FORTRAN(dist_graph_create, DIST_GRAPH_CREATE, 10)
APART_FORTRAN(dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT, 11)
APART_FORTRAN(win_allocate, WIN_ALLOCATE, 7)
APART_FORTRAN(win_allocate_shared, WIN_ALLOCATE_SHARED, 7)
APART_FORTRAN(win_create_dynamic, WIN_CREATE_DYNAMIC, 4)
APART_FORTRAN(win_free, WIN_FREE, 2)
APART_FORTRAN(win_set_info, WIN_SET_INFO, 3)
APART_FORTRAN(win_fence, WIN_FENCE, 3)
APART_FORTRAN(win_start, WIN_START, 4)
APART_FORTRAN(win_complete, WIN_COMPLETE, 2)
APART_FORTRAN(win_wait, WIN_WAIT, 2)
APART_FORTRAN(win_lock, WIN_LOCK, 5)
APART_FORTRAN(win_lock_all, WIN_LOCK_ALL, 3)
APART_FORTRAN(win_unlock, WIN_UNLOCK, 3)
APART_FORTRAN(win_unlock_all, WIN_UNLOCK_ALL, 2)
APART_FORTRAN(win_flush, WIN_FLUSH, 3)
APART_FORTRAN(win_flush_all, WIN_FLUSH_ALL, 2)
APART_FORTRAN(win_flush_local, WIN_FLUSH_LOCAL, 3)
APART_FORTRAN(win_flush_local_all, WIN_FLUSH_LOCAL_ALL, 2)
APART_FORTRAN(buffer_detach, BUFFER_DETACH, 3)
APART_FORTRAN(file_close, FILE_CLOSE, 2)
APART_FORTRAN(file_sync, FILE_SYNC, 2)
APART_FORTRAN(file_set_size, FILE_SET_SIZE, 3)
APART_FORTRAN(file_preallocate, FILE_PREALLOCATE, 3)
APART_FORTRAN(file_set_info, FILE_SET_INFO, 3)
APART_FORTRAN(file_set_atomicity, FILE_SET_ATOMICITY, 3)
APART_FORTRAN(file_seek_shared, FILE_SEEK_SHARED, 4)
APART_FORTRAN(file_set_view, FILE_SET_VIEW, 8)

#ifdef OPEN_MPI
APART_FORTRAN(win_create, WIN_CREATE, 7)
APART_FORTRAN(file_open, FILE_OPEN, 7)
APART_FORTRAN(file_read, FILE_READ, 6)
APART_FORTRAN(file_read_at, FILE_READ_AT, 7)
APART_FORTRAN(file_read_shared, FILE_READ_SHARED, 6)
APART_FORTRAN(file_read_all, FILE_READ_ALL, 6)
APART_FORTRAN(file_read_at_all, FILE_READ_AT_ALL, 7)
APART_FORTRAN(file_read_ordered, FILE_READ_ORDERED, 6)
APART_FORTRAN(file_write_all, FILE_WRITE_ALL, 6)
APART_FORTRAN(file_write_at_all, FILE_WRITE_AT_ALL, 7)
APART_FORTRAN(file_write_ordered, FILE_WRITE_ORDERED, 6)
APART_FORTRAN(file_read_all_begin, FILE_READ_ALL_BEGIN, 5)
APART_FORTRAN(file_read_all_end, FILE_READ_ALL_END, 4)
APART_FORTRAN(file_read_at_all_begin, FILE_READ_AT_ALL_BEGIN, 6)
APART_FORTRAN(file_read_at_all_end, FILE_READ_AT_ALL_END, 4)
APART_FORTRAN(file_read_ordered_begin, FILE_READ_ORDERED_BEGIN, 5)
APART_FORTRAN(file_read_ordered_end, FILE_READ_ORDERED_END, 4)
APART_FORTRAN(file_write_all_begin, FILE_WRITE_ALL_BEGIN, 5)
APART_FORTRAN(file_write_all_end, FILE_WRITE_ALL_END, 4)
APART_FORTRAN(file_write_at_all_begin, FILE_WRITE_AT_ALL_BEGIN, 6)
APART_FORTRAN(file_write_at_all_end, FILE_WRITE_AT_ALL_END, 4)
APART_FORTRAN(file_write_ordered_begin, FILE_WRITE_ORDERED_BEGIN, 5)
APART_FORTRAN(file_write_ordered_end, FILE_WRITE_ORDERED_END, 4)
/* Their baseptr is a TYPE(C_PTR) in the module mpi. */
APART_FORTRAN(win_allocate_cptr, WIN_ALLOCATE_CPTR, 7)
APART_FORTRAN(win_allocate_shared_cptr, WIN_ALLOCATE_SHARED_CPTR, 7)

/* The module mpi_f08 has procedures of its own for these, because they have a LOGICAL. */
APART08(intercomm_merge, 4)
APART08(cart_create, 7)
APART08(cart_sub, 4)
APART08(graph_create, 7)
APART08(dist_graph_create, 10)
APART08(dist_graph_create_adjacent, 11)
APART08(buffer_detach, 3)
APART08(file_set_atomicity, 3)
#endif
