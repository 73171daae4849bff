! Fortran's calls without a nonblocking form, and those of mpi_f08 that wait: mpif.h (-DUSE_MPIF_H), the module mpi, or
! mpi_f08 (-DUSE_F08). A call without a nonblocking form goes on on a kernel thread of its own; where a thread runs, the
! kernel says. A thread that waits leaves its kernel thread to others. Under psrun on one virtual processor.
#ifdef USE_F08
#define HANDLE(t) type(t)
#define STATUS type(MPI_Status)
#else
#define HANDLE(t) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif
program fortran_apart
  use iso_c_binding
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
  interface
    function readlink(path, buffer, bytes) bind(c) result(length)
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: bytes
      integer(c_size_t) :: length
    end function
  end interface
  integer, parameter :: waits = 11
  integer, parameter :: tries = 10000 ! a thread that the machine held up has a kernel thread for some regions
  integer :: provided, rank, ranks, error, number, right, left, try
  integer, asynchronous :: own(2) ! a window
  integer(MPI_ADDRESS_KIND) :: bytes
  integer(MPI_OFFSET_KIND) :: at
  integer :: numbers(2), in(2)
  integer, allocatable :: index(:), edges(:)
  character(len=64) :: before, after, sender
  character(len=400) :: name
  HANDLE(MPI_Comm) :: c, d, e
  HANDLE(MPI_Group) :: everyone, to, from
  HANDLE(MPI_Win) :: w
  HANDLE(MPI_File) :: f
  HANDLE(MPI_Info) :: info
  STATUS :: s
  logical :: made, on_one, begun, had_begun
  call mpi_init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call check(provided == MPI_THREAD_MULTIPLE, 1000)
  call get_command_argument(1, name)
  name = trim(name) // '/fortran'
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  index = [(number, number = 1, ranks)]
  edges = [(mod(number, ranks), number = 1, ranks)]
  numbers = [10 * rank, 10 * rank + 1]
  own = -1
  do number = 1, waits
    on_one = .false.
    do try = 1, tries
      begun = .false.
      had_begun = .false.
      !$omp parallel num_threads(3)
      if (omp_get_thread_num() == 1) then
        before = place()
        !$omp atomic write seq_cst
        begun = .true.
        call wait_for(number)
      else if (omp_get_thread_num() == 2) then
        !$omp atomic read seq_cst
        had_begun = begun
        sender = place()
        call mpi_send(number, 1, MPI_INTEGER, rank, number, MPI_COMM_WORLD, error)
      end if
      !$omp end parallel
      on_one = had_begun .and. before == sender
      if (on_one) exit
    end do
    call check(on_one, 2000 + number)
  end do
  number = 0
  made = .true.
  do while (made)
    number = number + 1
    !$omp parallel num_threads(number + 1)
    if (omp_get_thread_num() == number) then ! one that was on a kernel thread of its own goes there again
      before = place()
      call apart(number, made)
      after = place()
      call check(before /= after .or. .not. made, number)
    end if
    !$omp end parallel
    call mpi_barrier(MPI_COMM_WORLD, error)
  end do
  call check(number > 50, 1001)
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

  character(len=64) function place()
    character(kind=c_char) :: buffer(64)
    integer(c_size_t) :: length
    integer :: i
    place = ' '
    length = readlink('/proc/thread-self' // c_null_char, buffer, 64_c_size_t)
    call check(length > 0, 1002)
    do i = 1, int(length)
      place(i:i) = buffer(i)
    end do
  end function

  subroutine is_ok(ierror)
    integer, intent(in) :: ierror
    call check(ierror == MPI_SUCCESS, 3000 + number)
  end subroutine

  ! The call of that number; more: whether there is one.
  subroutine apart(which, more)
    integer, intent(in) :: which
    logical, intent(out) :: more
    integer :: ierror
    more = .true.
    ierror = MPI_SUCCESS
    select case (which)
    case (1)
      call mpi_comm_dup(MPI_COMM_WORLD, c, ierror)
    case (2)
      call mpi_comm_dup_with_info(c, MPI_INFO_NULL, d, ierror)
    case (3)
      call mpi_comm_disconnect(d, ierror)
      call is_ok(ierror)
      call mpi_comm_group(c, everyone, ierror)
      call mpi_group_incl(everyone, 1, [right], to, ierror)
      call mpi_group_incl(everyone, 1, [left], from, ierror)
    case (4)
      call mpi_comm_create(c, everyone, d, ierror)
    case (5)
      call mpi_comm_free(d, ierror)
    case (6)
      call mpi_comm_create_group(c, everyone, 5, d, ierror)
    case (7)
      call mpi_comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, d, ierror)
    case (8)
      call mpi_comm_split(c, merge(1, 2, rank == 0), 0, d, ierror)
    case (9)
      call mpi_intercomm_create(d, 0, c, merge(1, 0, rank == 0), 6, e, ierror)
    case (10)
      call mpi_intercomm_merge(e, rank == 0, d, ierror)
    case (11)
      call mpi_cart_create(c, 2, [ranks, 1], [.false., .false.], .false., d, ierror)
    case (12)
      call mpi_cart_sub(d, [.true., .false.], e, ierror)
    case (13)
      call mpi_graph_create(c, ranks, index, edges, .false., d, ierror)
    case (14)
      call mpi_dist_graph_create_adjacent(c, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                          .false., d, ierror)
    case (15)
      call mpi_dist_graph_create(c, 1, [rank], [1], [right], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., d, ierror)
    case (16)
      call mpi_info_create(info, ierror)
      call mpi_comm_set_info(d, info, ierror)
    case (17)
      bytes = 8
      call mpi_win_create(own, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
    case (18)
      call mpi_win_set_info(w, info, ierror)
    case (19)
      call mpi_win_fence(MPI_MODE_NOPRECEDE, w, ierror)
      call is_ok(ierror)
      call mpi_put(rank, 1, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, w, ierror)
    case (20)
      call mpi_win_fence(MPI_MODE_NOSUCCEED, w, ierror) ! Debian's MPICH 4.0.2 alone loses Fortran's put
    case (21)
      call mpi_win_post(from, 0, w, ierror)
      call mpi_win_start(to, 0, w, ierror)
    case (22)
      call mpi_win_complete(w, ierror)
    case (23)
      call mpi_win_wait(w, ierror)
    case (24)
      call mpi_win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w, ierror)
    case (25)
      call mpi_win_flush(right, w, ierror)
    case (26)
      call mpi_win_flush_local(right, w, ierror)
    case (27)
      call mpi_win_unlock(right, w, ierror)
    case (28)
      call mpi_win_lock_all(0, w, ierror)
    case (29)
      call mpi_win_flush_all(w, ierror)
    case (30)
      call mpi_win_flush_local_all(w, ierror)
    case (31)
      call mpi_win_unlock_all(w, ierror)
    case (32)
      call mpi_win_free(w, ierror)
    case (33)
      call mpi_win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
      call is_ok(ierror)
      call mpi_win_free(w, ierror)
    case (34)
      call mpi_file_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierror)
    case (35)
      at = 4096
      call mpi_file_preallocate(f, at, ierror)
    case (36)
      at = 0
      call mpi_file_set_size(f, at, ierror)
    case (37)
      call mpi_file_set_info(f, info, ierror)
    case (38)
      call mpi_file_set_view(f, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
      at = 2 * rank
    case (39)
      call mpi_file_write_at_all(f, at, numbers, 2, MPI_INTEGER, s, ierror)
    case (40)
      call mpi_file_sync(f, ierror)
    case (41)
      call mpi_file_read_at_all(f, at, in, 2, MPI_INTEGER, s, ierror)
      call check(all(in == numbers), 1004)
    case (42)
      call mpi_file_seek(f, at, MPI_SEEK_SET, ierror)
      numbers = numbers + 1
      call mpi_file_write_all(f, numbers, 2, MPI_INTEGER, s, ierror)
    case (43)
      call mpi_file_seek(f, at, MPI_SEEK_SET, ierror)
      call mpi_file_read_all(f, in, 2, MPI_INTEGER, s, ierror)
      call check(all(in == numbers), 1005)
    case (44)
      numbers = numbers + 1
      call mpi_file_write_at_all_begin(f, at, numbers, 2, MPI_INTEGER, ierror)
    case (45)
      call mpi_file_write_at_all_end(f, numbers, s, ierror)
    case (46)
      call mpi_file_read_at_all_begin(f, at, in, 2, MPI_INTEGER, ierror)
    case (47)
      call mpi_file_read_at_all_end(f, in, s, ierror)
      call check(all(in == numbers), 1006)
    case (48)
      at = 0
      call mpi_file_seek_shared(f, at, MPI_SEEK_SET, ierror)
    case (49)
      call mpi_file_write_ordered(f, rank, 1, MPI_INTEGER, s, ierror)
    case (50)
      call mpi_file_seek_shared(f, at, MPI_SEEK_SET, ierror)
      call is_ok(ierror)
      call mpi_file_read_ordered(f, in, 1, MPI_INTEGER, s, ierror)
      call check(in(1) == rank, 1007)
    case (51)
      call mpi_file_set_atomicity(f, .false., ierror)
    case (52)
      call mpi_file_close(f, ierror)
    case default
      more = .false.
    end select
    call is_ok(ierror)
  end subroutine

  ! One number comes, in each way to wait for it.
  subroutine wait_for(which)
    integer, intent(in) :: which
    integer, asynchronous :: got
    integer :: ierror, chosen, some, where(2)
    logical :: found
    HANDLE(MPI_Request) :: r(2)
#ifdef USE_F08
    type(MPI_Message) :: message
    type(MPI_Status) :: status, statuses(2)
#else
    integer :: message, status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
#endif
    got = -1
    r = MPI_REQUEST_NULL
    found = .false.
    chosen = 0
    if (which < 8 .and. which > 1) call mpi_irecv(got, 1, MPI_INTEGER, rank, which, MPI_COMM_WORLD, r(2), ierror)
    select case (which)
    case (1)
      call mpi_recv(got, 1, MPI_INTEGER, rank, which, MPI_COMM_WORLD, status, ierror)
    case (2)
      call mpi_wait(r(2), status, ierror)
    case (3)
      call mpi_waitall(2, r, statuses, ierror)
#ifdef USE_F08
      status = statuses(2)
#else
      status = statuses(:, 2)
#endif
    case (4)
      call mpi_waitany(2, r, chosen, status, ierror)
      call check(chosen > 0, 1010) ! MPICH 4.0's mpi_f08 counts from 0
    case (5)
      call mpi_waitsome(2, r, some, where, statuses, ierror)
      call check(some == 1, 1011)
#ifdef USE_F08
      status = statuses(1)
#else
      status = statuses(:, 1)
#endif
    case (6)
      do while (.not. found)
        call mpi_testany(2, r, chosen, found, status, ierror)
      end do
      call check(chosen > 0, 1012)
    case (7)
      do while (.not. found)
        call mpi_test(r(2), found, status, ierror)
      end do
    case (8)
      call mpi_probe(MPI_ANY_SOURCE, which, MPI_COMM_WORLD, status, ierror)
      call mpi_recv(got, 1, MPI_INTEGER, rank, which, MPI_COMM_WORLD, status, ierror)
    case (9)
      call mpi_mprobe(rank, which, MPI_COMM_WORLD, message, status, ierror)
      call mpi_mrecv(got, 1, MPI_INTEGER, message, status, ierror)
    case (10)
      do while (.not. found)
        call mpi_iprobe(rank, which, MPI_COMM_WORLD, found, status, ierror)
      end do
      call mpi_recv(got, 1, MPI_INTEGER, rank, which, MPI_COMM_WORLD, status, ierror)
    case (11)
      do while (.not. found)
        call mpi_improbe(rank, which, MPI_COMM_WORLD, found, message, status, ierror)
      end do
      call mpi_mrecv(got, 1, MPI_INTEGER, message, status, ierror)
    end select
    call is_ok(ierror)
    call check(got == which, 1013)
#ifdef USE_F08
    call check(status%MPI_SOURCE == rank .and. status%MPI_TAG == which, 1014)
#else
    call check(status(MPI_SOURCE) == rank .and. status(MPI_TAG) == which, 1014)
#endif
    call check(all(r == MPI_REQUEST_NULL), 1015)
  end subroutine
end program
