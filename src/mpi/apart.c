/* Calls that block and have no nonblocking form: making and freeing communicators, starting and connecting processes,
 * windows, collective file access, taking buffers back. With Open MPI, reading from files that is not collective is
 * here too: its nonblocking form does not always end.
 *
 * A thread that makes such a call first becomes dedicated (psthreads/vp/dedicated.h): it moves to a kernel thread of
 * its own, and stays there until its region ends. So it holds no vp while MPI waits. A root has a kernel thread of its
 * own already. */
#include "mpi_layer.h"

void mpi_go_apart(void)
{
    void *thread;
    const struct ps_layer *layer = mpi_aware() ? mpi_threads(&thread) : NULL;
    if (layer)
        layer->apart();
}

#define APART(name, parameters, ...)             \
    PS_EXPORT int MPI_##name parameters          \
    {                                            \
        mpi_go_apart();                          \
        return MPI_OWN(MPI_##name)(__VA_ARGS__); \
    }

APART(Comm_dup, (MPI_Comm c, MPI_Comm *d), c, d)
APART(Comm_dup_with_info, (MPI_Comm c, MPI_Info i, MPI_Comm *d), c, i, d)
APART(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *d), c, g, d)
APART(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *d), c, g, tag, d)
APART(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *d), c, color, key, d)
APART(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *d), c, type, key, i, d)
APART(Comm_free, (MPI_Comm * c), c)
APART(Comm_disconnect, (MPI_Comm * c), c)
APART(Comm_accept, (const char *port, MPI_Info i, int root, MPI_Comm c, MPI_Comm *d), port, i, root, c, d)
APART(Comm_connect, (const char *port, MPI_Info i, int root, MPI_Comm c, MPI_Comm *d), port, i, root, c, d)
APART(Comm_join, (int fd, MPI_Comm *d), fd, d)
APART(Comm_set_info, (MPI_Comm c, MPI_Info i), c, i)
APART(Intercomm_create, (MPI_Comm c, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *d), c, leader, peer,
      remote, tag, d)
APART(Intercomm_merge, (MPI_Comm c, int high, MPI_Comm *d), c, high, d)
APART(Cart_create, (MPI_Comm c, int n, const int dims[], const int periods[], int reorder, MPI_Comm *d), c, n, dims,
      periods, reorder, d)
APART(Cart_sub, (MPI_Comm c, const int remain[], MPI_Comm *d), c, remain, d)
APART(Graph_create, (MPI_Comm c, int n, const int index[], const int edges[], int reorder, MPI_Comm *d), c, n, index,
      edges, reorder, d)
APART(Dist_graph_create_adjacent,
      (MPI_Comm c, int in, const int sources[], const int inweights[], int out, const int dests[],
       const int outweights[], MPI_Info i, int reorder, MPI_Comm *d),
      c, in, sources, inweights, out, dests, outweights, i, reorder, d)
APART(Dist_graph_create,
      (MPI_Comm c, int n, const int sources[], const int degrees[], const int dests[], const int weights[], MPI_Info i,
       int reorder, MPI_Comm *d),
      c, n, sources, degrees, dests, weights, i, reorder, d)
APART(Win_create, (void *base, MPI_Aint bytes, int unit, MPI_Info i, MPI_Comm c, MPI_Win *w), base, bytes, unit, i, c,
      w)
APART(Win_allocate, (MPI_Aint bytes, int unit, MPI_Info i, MPI_Comm c, void *base, MPI_Win *w), bytes, unit, i, c, base,
      w)
APART(Win_allocate_shared, (MPI_Aint bytes, int unit, MPI_Info i, MPI_Comm c, void *base, MPI_Win *w), bytes, unit, i,
      c, base, w)
APART(Win_create_dynamic, (MPI_Info i, MPI_Comm c, MPI_Win *w), i, c, w)
APART(Win_free, (MPI_Win * w), w)
APART(Win_set_info, (MPI_Win w, MPI_Info i), w, i)
APART(Win_fence, (int mode, MPI_Win w), mode, w)
APART(Win_start, (MPI_Group g, int mode, MPI_Win w), g, mode, w)
APART(Win_complete, (MPI_Win w), w)
APART(Win_wait, (MPI_Win w), w)
APART(Win_lock, (int type, int rank, int mode, MPI_Win w), type, rank, mode, w)
APART(Win_lock_all, (int mode, MPI_Win w), mode, w)
APART(Win_unlock, (int rank, MPI_Win w), rank, w)
APART(Win_unlock_all, (MPI_Win w), w)
APART(Win_flush, (int rank, MPI_Win w), rank, w)
APART(Win_flush_all, (MPI_Win w), w)
APART(Win_flush_local, (int rank, MPI_Win w), rank, w)
APART(Win_flush_local_all, (MPI_Win w), w)
APART(Buffer_detach, (void *buf, int *bytes), buf, bytes)
APART(File_close, (MPI_File * f), f)
APART(File_sync, (MPI_File f), f)
APART(File_set_size, (MPI_File f, MPI_Offset bytes), f, bytes)
APART(File_preallocate, (MPI_File f, MPI_Offset bytes), f, bytes)
APART(File_set_info, (MPI_File f, MPI_Info i), f, i)
APART(File_set_atomicity, (MPI_File f, int atomic), f, atomic)
APART(File_seek_shared, (MPI_File f, MPI_Offset at, int from), f, at, from)
APART(File_set_view, (MPI_File f, MPI_Offset at, MPI_Datatype e, MPI_Datatype type, const char *form, MPI_Info i), f,
      at, e, type, form, i)
#ifdef OPEN_MPI
APART(File_read, (MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *s), f, buf, n, type, s)
APART(File_read_at, (MPI_File f, MPI_Offset at, void *buf, int n, MPI_Datatype type, MPI_Status *s), f, at, buf, n,
      type, s)
APART(File_read_shared, (MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *s), f, buf, n, type, s)
#endif
APART(File_read_all, (MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *s), f, buf, n, type, s)
APART(File_write_all, (MPI_File f, const void *buf, int n, MPI_Datatype type, MPI_Status *s), f, buf, n, type, s)
APART(File_read_at_all, (MPI_File f, MPI_Offset at, void *buf, int n, MPI_Datatype type, MPI_Status *s), f, at, buf, n,
      type, s)
APART(File_write_at_all, (MPI_File f, MPI_Offset at, const void *buf, int n, MPI_Datatype type, MPI_Status *s), f, at,
      buf, n, type, s)
APART(File_read_ordered, (MPI_File f, void *buf, int n, MPI_Datatype type, MPI_Status *s), f, buf, n, type, s)
APART(File_write_ordered, (MPI_File f, const void *buf, int n, MPI_Datatype type, MPI_Status *s), f, buf, n, type, s)
#define IN_TWO_PARTS(write, const_)                                                                                    \
    APART(File_##write##_all_begin, (MPI_File f, const_ void *buf, int n, MPI_Datatype type), f, buf, n, type)         \
    APART(File_##write##_all_end, (MPI_File f, const_ void *buf, MPI_Status *s), f, buf, s)                            \
    APART(File_##write##_at_all_begin, (MPI_File f, MPI_Offset at, const_ void *buf, int n, MPI_Datatype type), f, at, \
          buf, n, type)                                                                                                \
    APART(File_##write##_at_all_end, (MPI_File f, const_ void *buf, MPI_Status *s), f, buf, s)                         \
    APART(File_##write##_ordered_begin, (MPI_File f, const_ void *buf, int n, MPI_Datatype type), f, buf, n, type)     \
    APART(File_##write##_ordered_end, (MPI_File f, const_ void *buf, MPI_Status *s), f, buf, s)
#define NOT_CONST
IN_TWO_PARTS(read, NOT_CONST)
IN_TWO_PARTS(write, const)

/* The same calls with the large counts of MPI 4. */
#if MPI_VERSION >= 4
APART(Win_create_c, (void *base, MPI_Aint bytes, MPI_Aint unit, MPI_Info i, MPI_Comm c, MPI_Win *w), base, bytes, unit,
      i, c, w)
APART(Win_allocate_c, (MPI_Aint bytes, MPI_Aint unit, MPI_Info i, MPI_Comm c, void *base, MPI_Win *w), bytes, unit, i,
      c, base, w)
APART(Win_allocate_shared_c, (MPI_Aint bytes, MPI_Aint unit, MPI_Info i, MPI_Comm c, void *base, MPI_Win *w), bytes,
      unit, i, c, base, w)
APART(Buffer_detach_c, (void *buf, MPI_Count *bytes), buf, bytes)
#define LARGE_ACCESS(write, const_)                                                                                    \
    APART(File_##write##_all_c, (MPI_File f, const_ void *buf, MPI_Count n, MPI_Datatype type, MPI_Status *s), f, buf, \
          n, type, s)                                                                                                  \
    APART(File_##write##_at_all_c,                                                                                     \
          (MPI_File f, MPI_Offset at, const_ void *buf, MPI_Count n, MPI_Datatype type, MPI_Status *s), f, at, buf, n, \
          type, s)                                                                                                     \
    APART(File_##write##_ordered_c, (MPI_File f, const_ void *buf, MPI_Count n, MPI_Datatype type, MPI_Status *s), f,  \
          buf, n, type, s)                                                                                             \
    APART(File_##write##_all_begin_c, (MPI_File f, const_ void *buf, MPI_Count n, MPI_Datatype type), f, buf, n, type) \
    APART(File_##write##_at_all_begin_c,                                                                               \
          (MPI_File f, MPI_Offset at, const_ void *buf, MPI_Count n, MPI_Datatype type), f, at, buf, n, type)          \
    APART(File_##write##_ordered_begin_c, (MPI_File f, const_ void *buf, MPI_Count n, MPI_Datatype type), f, buf, n,   \
          type)
LARGE_ACCESS(read, NOT_CONST)
LARGE_ACCESS(write, const)
#endif
