/* The collective calls with counts. collective.c includes this file once for each type of counts. COUNT is that type,
 * PLACE the type of a displacement. */
COLLECTIVE(Bcast, Ibcast, false, (void *buf, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), buf, count, type,
           root, comm)
COLLECTIVE(Gather, Igather, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, COUNT m, MPI_Datatype intype, int root,
            MPI_Comm comm),
           out, n, type, in, m, intype, root, comm)
COLLECTIVE(Gatherv, Igatherv, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, const COUNT m[], const PLACE at[],
            MPI_Datatype intype, int root, MPI_Comm comm),
           out, n, type, in, m, at, intype, root, comm)
COLLECTIVE(Scatter, Iscatter, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, COUNT m, MPI_Datatype intype, int root,
            MPI_Comm comm),
           out, n, type, in, m, intype, root, comm)
COLLECTIVE(Scatterv, Iscatterv, false,
           (const void *out, const COUNT n[], const PLACE at[], MPI_Datatype type, void *in, COUNT m,
            MPI_Datatype intype, int root, MPI_Comm comm),
           out, n, at, type, in, m, intype, root, comm)
COLLECTIVE(Allgather, Iallgather, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, COUNT m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Allgatherv, Iallgatherv, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, const COUNT m[], const PLACE at[],
            MPI_Datatype intype, MPI_Comm comm),
           out, n, type, in, m, at, intype, comm)
COLLECTIVE(Alltoall, Ialltoall, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, COUNT m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Alltoallv, Ialltoallv, false,
           (const void *out, const COUNT n[], const PLACE at[], MPI_Datatype type, void *in, const COUNT m[],
            const PLACE inat[], MPI_Datatype intype, MPI_Comm comm),
           out, n, at, type, in, m, inat, intype, comm)
COLLECTIVE(Alltoallw, Ialltoallw, false,
           (const void *out, const COUNT n[], const PLACE at[], const MPI_Datatype types[], void *in, const COUNT m[],
            const PLACE inat[], const MPI_Datatype intypes[], MPI_Comm comm),
           out, n, at, types, in, m, inat, intypes, comm)
COLLECTIVE(Reduce, Ireduce, !mpi_op_predefined(op),
           (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), out, in, n,
           type, op, root, comm)
COLLECTIVE(Allreduce, Iallreduce, !mpi_op_predefined(op),
           (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, n, type, op,
           comm)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, !mpi_op_predefined(op),
           (const void *out, void *in, const COUNT m[], MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, m, type,
           op, comm)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, !mpi_op_predefined(op),
           (const void *out, void *in, COUNT m, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, m, type, op,
           comm)
COLLECTIVE(Scan, Iscan, !mpi_op_predefined(op),
           (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, n, type, op,
           comm)
COLLECTIVE(Exscan, Iexscan, !mpi_op_predefined(op),
           (const void *out, void *in, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), out, in, n, type, op,
           comm)
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, COUNT m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, const COUNT m[], const PLACE at[],
            MPI_Datatype intype, MPI_Comm comm),
           out, n, type, in, m, at, intype, comm)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, false,
           (const void *out, COUNT n, MPI_Datatype type, void *in, COUNT m, MPI_Datatype intype, MPI_Comm comm), out, n,
           type, in, m, intype, comm)
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, false,
           (const void *out, const COUNT n[], const PLACE at[], MPI_Datatype type, void *in, const COUNT m[],
            const PLACE inat[], MPI_Datatype intype, MPI_Comm comm),
           out, n, at, type, in, m, inat, intype, comm)
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, false,
           (const void *out, const COUNT n[], const MPI_Aint at[], const MPI_Datatype types[], void *in,
            const COUNT m[], const MPI_Aint inat[], const MPI_Datatype intypes[], MPI_Comm comm),
           out, n, at, types, in, m, inat, intypes, comm)
