! The calls that block, in Fortran: mpif.h (-DUSE_MPIF_H) or the module; each thread waits for one that sends later.
program fortran
#ifndef USE_MPIF_H
  use mpi
#endif
  use omp_lib
  implicit none
#ifdef USE_MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: threads = 6
  integer :: provided, rank, ranks, error, total, i, chain
  integer :: sums(2), both(2)
  call mpi_init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call check(provided == MPI_THREAD_MULTIPLE, 1)
  total = 0
  !$omp parallel num_threads(threads) private(chain) reduction(+:total)
  chain = rank
  call pass_on(omp_get_thread_num(), chain)
  total = total + chain
  !$omp end parallel
  call check(total == threads * rank + threads * (threads + 1) / 2, 2)
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) then
    call requests()
  else
    call collectives()
  end if
  !$omp end parallel
  call mpi_finalize(error)
  if (rank == 0) print '(a)', 'all is well'
contains
  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    integer :: ignored
    if (right) return
    print *, 'rank', rank, ': check', number, 'fails'
    call mpi_abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine

  subroutine pass_on(me, value)
    integer, intent(in) :: me
    integer, intent(inout) :: value
    integer :: status(MPI_STATUS_SIZE), ierror, message
    if (me < threads - 1) then
      if (mod(me, 2) == 0) then
        call mpi_recv(value, 1, MPI_INTEGER, rank, me, MPI_COMM_WORLD, status, ierror)
      else
        call mpi_mprobe(MPI_ANY_SOURCE, me, MPI_COMM_WORLD, message, status, ierror)
        call mpi_mrecv(value, 1, MPI_INTEGER, message, status, ierror)
      end if
      call check(ierror == MPI_SUCCESS .and. status(MPI_TAG) == me .and. status(MPI_SOURCE) == rank, 3)
    end if
    value = value + 1
    if (me > 0) call mpi_send(value, 1, MPI_INTEGER, rank, me - 1, MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine requests()
    integer :: request(3), statuses(MPI_STATUS_SIZE, 3), status(MPI_STATUS_SIZE), in(3), where(3)
    integer :: ierror, out, which, some, number, message
    do which = 1, 3
      call mpi_irecv(in(which), 1, MPI_INTEGER, rank, 10 + which, MPI_COMM_WORLD, request(which), ierror)
    end do
    out = 7
    call mpi_ssend(out, 1, MPI_INTEGER, rank, 12, MPI_COMM_WORLD, ierror)
    call mpi_waitany(3, request, which, status, ierror)
    call check(which == 2 .and. in(2) == 7 .and. status(MPI_TAG) == 12 .and. request(2) == MPI_REQUEST_NULL, 4)
    call mpi_send(out, 1, MPI_INTEGER, rank, 13, MPI_COMM_WORLD, ierror)
    call mpi_waitsome(3, request, some, where, statuses, ierror)
    call check(some == 1 .and. where(1) == 3, 5)
    call mpi_send(out, 1, MPI_INTEGER, rank, 11, MPI_COMM_WORLD, ierror)
    call mpi_waitall(3, request, MPI_STATUSES_IGNORE, ierror)
    call check(all(in == 7) .and. all(request == MPI_REQUEST_NULL), 6)
    call mpi_isend(out, 1, MPI_INTEGER, rank, 14, MPI_COMM_WORLD, request(1), ierror)
    call mpi_probe(MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, status, ierror)
    call mpi_get_count(status, MPI_INTEGER, number, ierror)
    call check(number == 1 .and. status(MPI_SOURCE) == rank, 7)
    call mpi_recv(in(1), 1, MPI_INTEGER, rank, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call mpi_wait(request(1), MPI_STATUS_IGNORE, ierror)
    call mpi_sendrecv(out, 1, MPI_INTEGER, rank, 15, in(2), 1, MPI_INTEGER, rank, 15, MPI_COMM_WORLD, status, ierror)
    call check(in(2) == 7 .and. status(MPI_TAG) == 15, 8)
    in = [20 + rank, 30 + rank, -1]
    call mpi_sendrecv_replace(in, 2, MPI_INTEGER, mod(rank + 1, ranks), 16, mod(rank + ranks - 1, ranks), 16, &
                              MPI_COMM_WORLD, status, ierror)
    which = mod(rank + ranks - 1, ranks)
    call check(all(in == [20 + which, 30 + which, -1]) .and. status(MPI_TAG) == 16 .and. ierror == MPI_SUCCESS, 13)
    call mpi_isend(in(1), 1, MPI_INTEGER, rank, 17, MPI_COMM_WORLD, request(1), ierror)
    call mpi_mprobe(rank, MPI_ANY_TAG, MPI_COMM_WORLD, message, status, ierror)
    call check(status(MPI_TAG) == 17 .and. message /= MPI_MESSAGE_NULL, 14)
    call mpi_mrecv(number, 1, MPI_INTEGER, message, status, ierror)
    call check(number == 20 + which .and. message == MPI_MESSAGE_NULL .and. status(MPI_SOURCE) == rank, 15)
    call mpi_wait(request(1), MPI_STATUS_IGNORE, ierror)
  end subroutine

  subroutine collectives()
    integer :: ierror, one, got(64)
    call mpi_barrier(MPI_COMM_WORLD, ierror)
    sums = rank
    call mpi_allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(all(sums == ranks * (ranks - 1) / 2), 9)
    both = merge(5, 0, rank == 0)
    call mpi_bcast(both, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call check(all(both == 5), 10)
    one = rank + 1
    call mpi_allgather(one, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call check(all(got(1:ranks) == [(i, i = 1, ranks)]), 11)
    call mpi_reduce(one, got, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierror)
    call check(rank /= 0 .or. got(1) == ranks, 12)
  end subroutine
end program
