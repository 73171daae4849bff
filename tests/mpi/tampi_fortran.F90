! TAMPI's interface in Fortran: mpif.h (-DUSE_MPIF_H) or the module. A task that has bound requests ends at once, and
! is complete when they are: more receives than threads, each made before its send.
program tampi
#ifndef USE_MPIF_H
  use mpi
#endif
  implicit none
#ifdef USE_MPIF_H
  include 'mpif.h'
#endif
  include 'TAMPIf.h'
  integer, parameter :: messages = 8, rounds = 10
  integer :: provided, rank, ranks, error, other, round, i, total
  integer :: in(messages), out(messages), status(MPI_STATUS_SIZE, messages)
  integer :: request, requests(messages), both(2), mine, theirs, all(MPI_STATUS_SIZE, 2)
  call mpi_init_thread(MPI_TASK_MULTIPLE, provided, error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call check(provided == MPI_TASK_MULTIPLE .and. ranks == 2, 1)
  other = 1 - rank
  total = 0
  !$omp parallel num_threads(2)
  !$omp single
  do round = 1, rounds
    do i = 1, messages
      !$omp task depend(out: in(i)) firstprivate(i) private(request, error) shared(in, status)
      call mpi_irecv(in(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, request, error)
      call TAMPI_Iwait(request, status(:, i), error)
      call check(error == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, 2)
      !$omp end task
      !$omp task depend(in: in(i)) firstprivate(i, round) shared(in, status, total)
      call check(in(i) == 100 * round + i, 3)
      call check(status(MPI_TAG, i) == i .and. status(MPI_SOURCE, i) == other, 4)
      !$omp atomic
      total = total + 1
      !$omp end task
      out(i) = 100 * round + i
    end do
    !$omp task shared(out) private(requests, i, error)
    do i = 1, messages
      call mpi_issend(out(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, requests(i), error)
    end do
    call TAMPI_Iwaitall(messages, requests, MPI_STATUSES_IGNORE, error)
    call check(error == MPI_SUCCESS .and. all_null(requests), 5)
    !$omp end task
    !$omp taskwait
    call check(total == round * messages, 6)
  end do
  !$omp end single
  !$omp end parallel
  ! outside of a task it waits
  mine = rank
  theirs = -1
  call mpi_irecv(theirs, 1, MPI_INTEGER, other, 51, MPI_COMM_WORLD, both(1), error)
  call mpi_isend(mine, 1, MPI_INTEGER, other, 51, MPI_COMM_WORLD, both(2), error)
  call TAMPI_Iwaitall(2, both, all, error)
  call check(error == MPI_SUCCESS .and. theirs == other .and. all(MPI_TAG, 1) == 51, 7)
  call mpi_isend(mine, 1, MPI_INTEGER, other, 52, MPI_COMM_WORLD, both(1), error)
  call mpi_irecv(theirs, 1, MPI_INTEGER, other, 52, MPI_COMM_WORLD, request, error)
  call TAMPI_Iwait(request, MPI_STATUS_IGNORE, error)
  call TAMPI_Iwait(both(1), MPI_STATUS_IGNORE, error)
  call check(error == MPI_SUCCESS .and. both(1) == MPI_REQUEST_NULL, 8)
  call mpi_finalize(error)
  if (rank == 0) print '(a)', 'all is well'
contains
  logical function all_null(requests)
    integer, intent(in) :: requests(:)
    all_null = count(requests == MPI_REQUEST_NULL) == size(requests)
  end function
  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    integer :: ignored
    if (right) return
    print *, 'rank', rank, ': check', number, 'fails'
    call mpi_abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
