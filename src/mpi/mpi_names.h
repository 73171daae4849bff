/* The functions of MPI's that this room calls. */
#ifndef PS_MPI_NAMES_H
#define PS_MPI_NAMES_H

/* clang-format off */
#define MPI_OWN_NAMES(X)                                                                                               \
    X(MPI_Init) X(MPI_Init_thread) X(MPI_Initialized) X(MPI_Finalized) X(MPI_Query_thread) X(MPI_Finalize)             \
    X(MPI_Type_size_x) X(MPI_Get_count) X(MPI_Recv) X(MPI_Send) X(MPI_Ssend) X(MPI_Rsend) X(MPI_Mrecv)                 \
    X(MPI_Sendrecv) X(MPI_Sendrecv_replace) X(MPI_Irecv) X(MPI_Isend) X(MPI_Issend) X(MPI_Irsend) X(MPI_Imrecv)        \
    X(MPI_Pack) X(MPI_Pack_size) X(MPI_Wait) X(MPI_Waitall) X(MPI_Waitany) X(MPI_Waitsome) X(MPI_Test) X(MPI_Testall)  \
    X(MPI_Testany) X(MPI_Testsome) X(MPI_Request_get_status) X(MPI_Probe) X(MPI_Iprobe) X(MPI_Mprobe) X(MPI_Improbe)   \
    X(MPI_Barrier) X(MPI_Ibarrier) X(MPI_Bcast) X(MPI_Ibcast) X(MPI_Gather) X(MPI_Igather) X(MPI_Gatherv)              \
    X(MPI_Igatherv) X(MPI_Scatter) X(MPI_Iscatter) X(MPI_Scatterv) X(MPI_Iscatterv) X(MPI_Allgather)                   \
    X(MPI_Iallgather) X(MPI_Allgatherv) X(MPI_Iallgatherv) X(MPI_Alltoall) X(MPI_Ialltoall) X(MPI_Alltoallv)           \
    X(MPI_Ialltoallv) X(MPI_Alltoallw) X(MPI_Ialltoallw) X(MPI_Reduce) X(MPI_Ireduce) X(MPI_Allreduce)                 \
    X(MPI_Iallreduce) X(MPI_Reduce_scatter) X(MPI_Ireduce_scatter) X(MPI_Reduce_scatter_block)                         \
    X(MPI_Ireduce_scatter_block) X(MPI_Scan) X(MPI_Iscan) X(MPI_Exscan) X(MPI_Iexscan) X(MPI_Neighbor_allgather)       \
    X(MPI_Ineighbor_allgather) X(MPI_Neighbor_allgatherv) X(MPI_Ineighbor_allgatherv) X(MPI_Neighbor_alltoall)         \
    X(MPI_Ineighbor_alltoall) X(MPI_Neighbor_alltoallv) X(MPI_Ineighbor_alltoallv) X(MPI_Neighbor_alltoallw)           \
    X(MPI_Ineighbor_alltoallw) X(MPI_Buffer_detach) X(MPI_Comm_dup) X(MPI_Comm_dup_with_info) X(MPI_Comm_create)       \
    X(MPI_Comm_create_group) X(MPI_Comm_split) X(MPI_Comm_split_type) X(MPI_Comm_free) X(MPI_Comm_disconnect)          \
    X(MPI_Comm_accept) X(MPI_Comm_connect) X(MPI_Intercomm_create) X(MPI_Intercomm_merge) X(MPI_Cart_create)           \
    X(MPI_Cart_sub) X(MPI_Graph_create) X(MPI_Dist_graph_create_adjacent) X(MPI_Comm_set_errhandler)                   \
    X(MPI_Comm_call_errhandler) X(MPI_Comm_join) X(MPI_Comm_spawn) X(MPI_Comm_spawn_multiple) X(MPI_Comm_set_info)     \
    X(MPI_Dist_graph_create) X(MPI_Win_create) X(MPI_Win_allocate) X(MPI_Win_allocate_shared)                          \
    X(MPI_Win_create_dynamic) X(MPI_Win_free) X(MPI_Win_fence) X(MPI_Win_start) X(MPI_Win_complete) X(MPI_Win_wait)    \
    X(MPI_Win_lock) X(MPI_Win_lock_all) X(MPI_Win_unlock) X(MPI_Win_unlock_all) X(MPI_Win_flush) X(MPI_Win_flush_all)  \
    X(MPI_Win_flush_local) X(MPI_Win_flush_local_all) X(MPI_Win_set_info) X(MPI_Win_test) X(MPI_File_close)            \
    X(MPI_File_sync) X(MPI_File_set_size) X(MPI_File_set_view) X(MPI_File_read_all) X(MPI_File_write_all)              \
    X(MPI_File_read_at_all) X(MPI_File_write_at_all) X(MPI_File_read_ordered) X(MPI_File_write_ordered)                \
    X(MPI_File_open) X(MPI_File_read) X(MPI_File_iread) X(MPI_File_write) X(MPI_File_iwrite) X(MPI_File_read_at)       \
    X(MPI_File_iread_at) X(MPI_File_write_at) X(MPI_File_iwrite_at) X(MPI_File_read_shared) X(MPI_File_iread_shared)   \
    X(MPI_File_write_shared) X(MPI_File_iwrite_shared) X(MPI_File_preallocate) X(MPI_File_set_info)                    \
    X(MPI_File_set_atomicity) X(MPI_File_seek_shared) X(MPI_File_read_all_begin) X(MPI_File_read_all_end)              \
    X(MPI_File_write_all_begin) X(MPI_File_write_all_end) X(MPI_File_read_at_all_begin) X(MPI_File_read_at_all_end)    \
    X(MPI_File_write_at_all_begin) X(MPI_File_write_at_all_end) X(MPI_File_read_ordered_begin)                         \
    X(MPI_File_read_ordered_end) X(MPI_File_write_ordered_begin) X(MPI_File_write_ordered_end) X(MPI_Grequest_start)   \
    X(MPI_Info_get) X(MPI_Comm_rank)

/* Those of MPI 4, most of them with counts that are MPI_Count. An MPI that is older than the one that this is compiled
 * for has none. */
#define MPI_4_NAMES(X)                                                                                                 \
    X(MPI_Parrived) X(MPI_Get_count_c) X(MPI_Pack_c) X(MPI_Pack_size_c) X(MPI_Buffer_detach_c) X(MPI_Recv_c)           \
    X(MPI_Send_c) X(MPI_Ssend_c) X(MPI_Rsend_c) X(MPI_Mrecv_c) X(MPI_Sendrecv_c) X(MPI_Sendrecv_replace_c)             \
    X(MPI_Irecv_c) X(MPI_Isend_c) X(MPI_Issend_c) X(MPI_Irsend_c) X(MPI_Imrecv_c) X(MPI_Bcast_c) X(MPI_Ibcast_c)       \
    X(MPI_Gather_c) X(MPI_Igather_c) X(MPI_Gatherv_c) X(MPI_Igatherv_c) X(MPI_Scatter_c) X(MPI_Iscatter_c)             \
    X(MPI_Scatterv_c) X(MPI_Iscatterv_c) X(MPI_Allgather_c) X(MPI_Iallgather_c) X(MPI_Allgatherv_c)                    \
    X(MPI_Iallgatherv_c) X(MPI_Alltoall_c) X(MPI_Ialltoall_c) X(MPI_Alltoallv_c) X(MPI_Ialltoallv_c)                   \
    X(MPI_Alltoallw_c) X(MPI_Ialltoallw_c) X(MPI_Reduce_c) X(MPI_Ireduce_c) X(MPI_Allreduce_c) X(MPI_Iallreduce_c)     \
    X(MPI_Reduce_scatter_c) X(MPI_Ireduce_scatter_c) X(MPI_Reduce_scatter_block_c) X(MPI_Ireduce_scatter_block_c)      \
    X(MPI_Scan_c) X(MPI_Iscan_c) X(MPI_Exscan_c) X(MPI_Iexscan_c) X(MPI_Neighbor_allgather_c)                          \
    X(MPI_Ineighbor_allgather_c) X(MPI_Neighbor_allgatherv_c) X(MPI_Ineighbor_allgatherv_c)                            \
    X(MPI_Neighbor_alltoall_c) X(MPI_Ineighbor_alltoall_c) X(MPI_Neighbor_alltoallv_c) X(MPI_Ineighbor_alltoallv_c)    \
    X(MPI_Neighbor_alltoallw_c) X(MPI_Ineighbor_alltoallw_c) X(MPI_Win_create_c) X(MPI_Win_allocate_c)                 \
    X(MPI_Win_allocate_shared_c) X(MPI_File_read_all_c) X(MPI_File_read_at_all_c) X(MPI_File_read_ordered_c)           \
    X(MPI_File_read_all_begin_c) X(MPI_File_read_at_all_begin_c) X(MPI_File_read_ordered_begin_c)                      \
    X(MPI_File_write_all_c) X(MPI_File_write_at_all_c) X(MPI_File_write_ordered_c) X(MPI_File_write_all_begin_c)       \
    X(MPI_File_write_at_all_begin_c) X(MPI_File_write_ordered_begin_c) X(MPI_Reduce_init) X(MPI_Reduce_init_c)         \
    X(MPI_Allreduce_init) X(MPI_Allreduce_init_c) X(MPI_Reduce_scatter_init) X(MPI_Reduce_scatter_init_c)              \
    X(MPI_Reduce_scatter_block_init) X(MPI_Reduce_scatter_block_init_c) X(MPI_Scan_init) X(MPI_Scan_init_c)            \
    X(MPI_Exscan_init) X(MPI_Exscan_init_c)
/* clang-format on */

#endif
