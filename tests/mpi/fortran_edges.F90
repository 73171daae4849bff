! What MPI promises at the edges, in Fortran: mpif.h (-DUSE_MPIF_H), the module mpi, or mpi_f08 (-DUSE_F08). Errors,
! messages that are too long, wildcards, nothing at all, no process, MPI_IN_PLACE, a derived type, persistent requests,
! groups that talk to one another. By several threads at once, each on a communicator of its own; two ranks or more. Run
! plainly, by MPI alone, it must pass too.
#ifdef USE_F08
#define HANDLE(t) type(t)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#else
#define HANDLE(t) integer
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#endif
program fortran_edges
#ifdef USE_F08
  use mpi_f08
#elif !defined(USE_MPIF_H)
  use mpi
#endif
  use omp_lib
  implicit none
#ifdef USE_MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: threads = 4
  integer :: provided, rank, ranks, error, t
  HANDLE(MPI_Comm) :: comms(threads)
  call mpi_init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call check(provided == MPI_THREAD_MULTIPLE .and. ranks <= 16, 1)
  do t = 1, threads
    call mpi_comm_dup(MPI_COMM_WORLD, comms(t), error)
  end do
  ! MPICH takes this one's handler for what goes wrong with a request, whatever the communicator's is
  call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  !$omp parallel num_threads(threads)
  call edges(comms(omp_get_thread_num() + 1))
  !$omp end parallel
  do t = 1, threads
    call groups(comms(t), t)
    call mpi_comm_free(comms(t), error)
  end do
  call mpi_finalize(error)
  if (rank == 0) print '(a)', 'all is well'
contains
  subroutine check(so, which)
    logical, intent(in) :: so
    integer, intent(in) :: which
    integer :: ierror
    if (so) return
    print *, 'rank', rank, ': check', which, 'fails'
    call mpi_abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine fails(ierror, class, which)
    integer, intent(in) :: ierror, class, which
    integer :: its, ignored
    call check(ierror /= MPI_SUCCESS, which)
    call mpi_error_class(ierror, its, ignored)
    call check(its == class, which)
  end subroutine

  subroutine edges(c)
    HANDLE(MPI_Comm), intent(in) :: c
#ifdef USE_F08
    type(MPI_Status) :: s
    type(MPI_Message) :: m
#else
    integer :: s(MPI_STATUS_SIZE), m
#endif
    HANDLE(MPI_Request) :: r, send, kept(2)
    HANDLE(MPI_Datatype) :: second
    integer, asynchronous :: in(4), two(2), number ! what a message comes to while none of its calls is made
    integer :: four(4), ierror, i, last(0:15), left, right, holes(8), all(16)
    logical :: flag
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    four = [1, 2, 3, 4]

    ! too long: received by each way, and what follows comes as ever
    call mpi_comm_set_errhandler(c, MPI_ERRORS_RETURN, ierror)
    in = -1
    call mpi_isend(four, 4, MPI_INTEGER, rank, 1, c, send, ierror)
    call mpi_recv(in, 1, MPI_INTEGER, rank, 1, c, s, ierror)
    call fails(ierror, MPI_ERR_TRUNCATE, 10)
    call mpi_wait(send, MPI_STATUS_IGNORE, ierror)
    call mpi_isend(four, 4, MPI_INTEGER, rank, 2, c, send, ierror)
    call mpi_irecv(in, 1, MPI_INTEGER, rank, 2, c, r, ierror)
    call mpi_wait(r, s, ierror)
    call fails(ierror, MPI_ERR_TRUNCATE, 11)
    call mpi_wait(send, MPI_STATUS_IGNORE, ierror)
    call mpi_isend(four, 4, MPI_INTEGER, rank, 3, c, send, ierror)
    call mpi_mprobe(rank, 3, c, m, s, ierror)
    call mpi_mrecv(in, 1, MPI_INTEGER, m, s, ierror)
    call fails(ierror, MPI_ERR_TRUNCATE, 12)
    call mpi_wait(send, MPI_STATUS_IGNORE, ierror)
    call check(all_of(in(2:), -1), 13)
    call mpi_iprobe(rank, MPI_ANY_TAG, c, flag, s, ierror)
    call check(.not. flag, 14)

    ! wrong arguments
    call mpi_recv(in, 1, MPI_INTEGER, ranks, 0, c, s, ierror)
    call fails(ierror, MPI_ERR_RANK, 20)
    call mpi_send(in, -1, MPI_INTEGER, 0, 0, c, ierror)
    call fails(ierror, MPI_ERR_COUNT, 21)
    call mpi_probe(ranks + 1, 0, c, s, ierror)
    call fails(ierror, MPI_ERR_RANK, 22)
    call mpi_mprobe(ranks + 1, 0, c, m, s, ierror)
    call fails(ierror, MPI_ERR_RANK, 23)
    call mpi_bcast(in, 1, MPI_INTEGER, ranks, c, ierror)
    call fails(ierror, MPI_ERR_ROOT, 24)
    call mpi_sendrecv(in, 1, MPI_INTEGER, ranks + 1, 0, two, 1, MPI_INTEGER, MPI_PROC_NULL, 0, c, s, ierror)
    call fails(ierror, MPI_ERR_RANK, 25)
    call mpi_comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL, ierror)

    ! from any source, any tag: in order
    last = 0
    if (rank /= 0) then
      do i = 1, 9
        number = 100 * rank + i
        call mpi_send(number, 1, MPI_INTEGER, 0, i, c, ierror)
      end do
    else
      do i = 1, 9 * (ranks - 1)
        if (mod(i, 3) == 0) then
          call mpi_recv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, c, s, ierror)
        else if (mod(i, 3) == 1) then
          call mpi_mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, m, s, ierror)
          call mpi_mrecv(number, 1, MPI_INTEGER, m, s, ierror)
        else
          call mpi_irecv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, c, r, ierror)
          call mpi_wait(r, s, ierror)
        end if
        call check(SOURCE_OF(s) > 0 .and. SOURCE_OF(s) < ranks, 30)
        last(SOURCE_OF(s)) = last(SOURCE_OF(s)) + 1
        call check(TAG_OF(s) == last(SOURCE_OF(s)) .and. number == 100 * SOURCE_OF(s) + TAG_OF(s), 31)
      end do
    end if
    call mpi_barrier(c, ierror)

    ! nothing, and no process
    call mpi_irecv(in, 0, MPI_INTEGER, left, 4, c, r, ierror)
    call mpi_ssend(in, 0, MPI_INTEGER, right, 4, c, ierror)
    call mpi_wait(r, s, ierror)
    call mpi_get_count(s, MPI_INTEGER, number, ierror)
    call check(number == 0 .and. SOURCE_OF(s) == left .and. TAG_OF(s) == 4, 40)
    call mpi_recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 4, c, s, ierror)
    call check(SOURCE_OF(s) == MPI_PROC_NULL, 41)
    call mpi_probe(MPI_PROC_NULL, 4, c, s, ierror)
    call check(SOURCE_OF(s) == MPI_PROC_NULL, 42)
    call mpi_mprobe(MPI_PROC_NULL, 4, c, m, s, ierror)
    call mpi_mrecv(in, 0, MPI_INTEGER, m, MPI_STATUS_IGNORE, ierror)
    call check(m == MPI_MESSAGE_NULL, 43)
    kept = MPI_REQUEST_NULL
    call mpi_waitall(2, kept, MPI_STATUSES_IGNORE, ierror)
    call mpi_wait(kept(1), s, ierror)
    call check(SOURCE_OF(s) == MPI_ANY_SOURCE, 44)
    call mpi_waitany(2, kept, number, s, ierror) ! at once; MPICH's mpif.h adds one to MPI_UNDEFINED
    call mpi_testany(2, kept, number, flag, s, ierror)
    call check(flag, 45)

    ! persistent, twice; without statuses
    call mpi_recv_init(two, 1, MPI_INTEGER, left, 5, c, kept(1), ierror)
    call mpi_send_init(rank, 1, MPI_INTEGER, right, 5, c, kept(2), ierror)
    do i = 1, 2
      two = -1
      call mpi_startall(2, kept, ierror)
      call mpi_waitall(2, kept, MPI_STATUSES_IGNORE, ierror)
      call check(two(1) == left .and. kept(1) /= MPI_REQUEST_NULL, 50)
    end do
    call mpi_request_free(kept(1), ierror)
    call mpi_request_free(kept(2), ierror)

    ! every second number
    call mpi_type_vector(4, 1, 2, MPI_INTEGER, second, ierror)
    call mpi_type_commit(second, ierror)
    holes = -1
    holes(1:7:2) = rank + [1, 2, 3, 4]
    call mpi_sendrecv(holes, 1, second, right, 6, in, 4, MPI_INTEGER, left, 6, c, s, ierror)
    call check(all_of(in - left - [1, 2, 3, 4], 0), 60)
    call mpi_sendrecv_replace(holes, 1, second, right, 7, left, 7, c, MPI_STATUS_IGNORE, ierror)
    call check(holes(7) == left + 4 .and. all_of(holes(2:8:2), -1), 61)
    call mpi_type_free(second, ierror)

    ! in place
    all = -1
    all(rank + 1) = rank
    call mpi_allgather(MPI_IN_PLACE, 0, MPI_INTEGER, all, 1, MPI_INTEGER, c, ierror)
    call check(all_of(all(1:ranks) - [(i, i = 0, ranks - 1)], 0) .and. all_of(all(ranks + 1:), -1), 70)
    number = rank + 1
    call mpi_scan(MPI_IN_PLACE, number, 1, MPI_INTEGER, MPI_SUM, c, ierror)
    call check(number == (rank + 1) * (rank + 2) / 2, 71)
    number = rank
    if (rank == 0) then
      call mpi_reduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, MPI_SUM, 0, c, ierror)
      call check(number == ranks * (ranks - 1) / 2, 72)
    else
      call mpi_reduce(number, number, 1, MPI_INTEGER, MPI_SUM, 0, c, ierror)
    end if
#ifdef USE_F08
    ! an unwanted error
    call MPI_Irecv(in, 1, MPI_INTEGER, rank, 8, c, r)
    call MPI_Iprobe(rank, 8, c, flag, s)
    call MPI_Send(right, 1, MPI_INTEGER, rank, 8, c)
    call MPI_Wait(r, s)
    call check(in(1) == right .and. s%MPI_TAG == 8, 80)
    call MPI_Isend(right, 1, MPI_INTEGER, rank, 9, c, r)
    call MPI_Probe(rank, 9, c, s)
    call MPI_Mprobe(rank, 9, c, m, s)
    call MPI_Mrecv(in, 1, MPI_INTEGER, m, s)
    kept(1) = r
    call MPI_Waitany(1, kept, i, s)
    call MPI_Barrier(c)
#endif
  end subroutine

  logical function all_of(numbers, n)
    integer, intent(in) :: numbers(:), n
    all_of = all(numbers == n)
  end function

  ! Rank 0 alone, and all others.
  subroutine groups(c, tag)
    HANDLE(MPI_Comm), intent(in) :: c
    integer, intent(in) :: tag
    HANDLE(MPI_Comm) :: half, inter
#ifdef USE_F08
    type(MPI_Status) :: s
#else
    integer :: s(MPI_STATUS_SIZE)
#endif
    integer :: far, ierror, number, i
    call mpi_comm_split(c, merge(1, 2, rank == 0), rank, half, ierror)
    call mpi_intercomm_create(half, 0, c, merge(1, 0, rank == 0), tag, inter, ierror)
    call mpi_comm_remote_size(inter, far, ierror)
    call check(far == merge(ranks - 1, 1, rank == 0), 90)
    if (rank == 0) then
      do i = 1, far
        call mpi_recv(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, inter, s, ierror)
        call check(number == SOURCE_OF(s) + 1, 91) ! sources are ranks of the other group
      end do
    else
      call mpi_ssend(rank, 1, MPI_INTEGER, 0, 1, inter, ierror)
    end if
    call mpi_allreduce(1, number, 1, MPI_INTEGER, MPI_SUM, inter, ierror)
    call check(number == far, 92)
    call mpi_barrier(inter, ierror)
    call mpi_comm_free(inter, ierror)
    call mpi_comm_free(half, ierror)
  end subroutine
end program
