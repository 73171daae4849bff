! The calls that block, of the module mpi_f08: a chain of threads, each waits for one that sends later, by all ways to
! receive; and a ring of ranks.
program fortran_f08
  use mpi_f08
  use omp_lib
  implicit none
  integer, parameter :: threads = 6
  integer :: provided, rank, ranks, total
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call check(provided == MPI_THREAD_MULTIPLE, 1)
  total = 0
  !$omp parallel num_threads(threads) reduction(+:total)
  total = total + passed_on(omp_get_thread_num())
  !$omp end parallel
  call check(total == threads * rank + threads * (threads + 1) / 2, 2)
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) then
    call ring()
  else
    call collectives()
  end if
  !$omp end parallel
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'all is well'
contains
  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'rank', rank, ': check', number, 'fails'
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  integer function passed_on(me) result(value)
    integer, intent(in) :: me
    type(MPI_Status) :: status
    type(MPI_Message) :: message
    type(MPI_Request) :: request
    value = rank
    if (me < threads - 1) then
      select case (mod(me, 4))
      case (0)
        call MPI_Recv(value, 1, MPI_INTEGER, rank, me, MPI_COMM_WORLD, status)
      case (1)
        call MPI_Mprobe(MPI_ANY_SOURCE, me, MPI_COMM_WORLD, message, status)
        call MPI_Mrecv(value, 1, MPI_INTEGER, message, status)
      case (2)
        call MPI_Probe(rank, me, MPI_COMM_WORLD, status)
        call MPI_Recv(value, 1, MPI_INTEGER, status%MPI_SOURCE, me, MPI_COMM_WORLD, status)
      case default
        call MPI_Irecv(value, 1, MPI_INTEGER, rank, me, MPI_COMM_WORLD, request)
        call MPI_Wait(request, status)
      end select
      call check(status%MPI_TAG == me .and. status%MPI_SOURCE == rank, 3)
    end if
    value = value + 1
    if (me > 0) call MPI_Ssend(value, 1, MPI_INTEGER, rank, me - 1, MPI_COMM_WORLD)
  end function

  subroutine ring()
    integer :: pair(2), in, left, right, ierror
    type(MPI_Status) :: status
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    pair = [10 + rank, 20 + rank]
    call MPI_Sendrecv_replace(pair, 2, MPI_INTEGER, right, 20, left, 20, MPI_COMM_WORLD, status, ierror)
    call check(all(pair == [10 + left, 20 + left]) .and. status%MPI_SOURCE == left .and. ierror == MPI_SUCCESS, 4)
    call MPI_Sendrecv_replace(pair, 2, MPI_INTEGER, MPI_PROC_NULL, 21, MPI_PROC_NULL, 21, MPI_COMM_WORLD, &
                              MPI_STATUS_IGNORE)
    call check(all(pair == [10 + left, 20 + left]), 5)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 22, in, 1, MPI_INTEGER, left, 22, MPI_COMM_WORLD, status)
    call check(in == left .and. status%MPI_TAG == 22, 6)
  end subroutine

  subroutine collectives()
    integer :: sums(2), got(64), i
    call MPI_Barrier(MPI_COMM_WORLD)
    sums = rank
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(sums == ranks * (ranks - 1) / 2), 7)
    call MPI_Allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(got(1:ranks) == [(i, i = 0, ranks - 1)]), 8)
  end subroutine
end program
