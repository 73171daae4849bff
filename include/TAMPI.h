/* TAMPI's interface, as libpsthreads-mpi offers it (psrun puts that into MPI programs): waiting for MPI belongs to a
 * task, not to its thread.
 *
 * After MPI_Init_thread with MPI_TASK_MULTIPLE, and provided equal to it, calls of MPI that block let other threads
 * run, and the calls below bind requests to the calling task. A program that calls them is linked to
 * libpsthreads-mpi-openmpi or libpsthreads-mpi-mpich; without psrun, or below that level, they wait in MPI. */
#ifndef TAMPI_H
#define TAMPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Wanted from, and answered by, MPI_Init_thread: above MPI_THREAD_MULTIPLE. */
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)

/* The calling task completes, and its dependences are fulfilled, when it has ended and the request is complete.
 * Returns at once; *request becomes MPI_REQUEST_NULL (of a persistent request: inactive); the status is written
 * before the task completes, and must stay until then, as must the buffers. Outside of an explicit task, and in one
 * that its creator waits for (if(0), final), it waits. */
int TAMPI_Iwait(MPI_Request *request, MPI_Status *status);
int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]);

#ifdef __cplusplus
}
#endif
#endif
