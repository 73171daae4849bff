! The routines as Fortran sees them: default integers, integers of eight bytes, logicals, strings, locks, allocators.
program user_routines
  use omp_lib
  use iso_c_binding, only: int32 => c_int32_t, int64 => c_int64_t
  implicit none
  interface
    subroutine set_num_threads_8(n) bind(c, name='omp_set_num_threads_8_')
      import int64
      integer(int64), intent(in) :: n
    end subroutine
    integer(int32) function ancestor_8(level) bind(c, name='omp_get_ancestor_thread_num_8_')
      import int32, int64
      integer(int64), intent(in) :: level
    end function
    integer(int32) function team_size_8(level) bind(c, name='omp_get_team_size_8_')
      import int32, int64
      integer(int64), intent(in) :: level
    end function
    subroutine set_schedule_8(kind, chunk) bind(c, name='omp_set_schedule_8_')
      import int32, int64
      integer(int32), intent(in) :: kind
      integer(int64), intent(in) :: chunk
    end subroutine
    subroutine get_schedule_8(kind, chunk) bind(c, name='omp_get_schedule_8_')
      import int32, int64
      integer(int32), intent(out) :: kind
      integer(int64), intent(out) :: chunk
    end subroutine
    subroutine set_levels_8(n) bind(c, name='omp_set_max_active_levels_8_')
      import int64
      integer(int64), intent(in) :: n
    end subroutine
  end interface

  call threads
  call settings
  call strings
  call locks
  call allocators

contains

  subroutine check(good, where)
    logical, intent(in) :: good
    integer, intent(in) :: where
    if (.not. good) then
      print *, 'not so: ', where
      error stop 1
    end if
  end subroutine

  subroutine threads
    double precision :: t
    call omp_set_dynamic(.false.)
    call omp_set_max_active_levels(2)
    call check(.not. omp_in_parallel() .and. omp_get_level() == 0, 1)
    !$omp parallel num_threads(3)
    call check(omp_in_parallel() .and. omp_get_num_threads() == 3, 2)
    call check(omp_get_ancestor_thread_num(1) == omp_get_thread_num(), 3)
    call check(ancestor_8(1_int64) == omp_get_thread_num() .and. ancestor_8(huge(1_int64)) == -1, 4)
    call check(omp_get_team_size(1) == 3 .and. team_size_8(1_int64) == 3 .and. team_size_8(-huge(1_int64)) == -1, 5)
    !$omp parallel num_threads(2)
    call check(omp_get_level() == 2 .and. omp_get_active_level() == 2 .and. omp_get_team_size(2) == 2, 6)
    !$omp end parallel
    !$omp end parallel
    t = omp_get_wtime()
    call check(omp_get_wtime() >= t .and. omp_get_wtick() > 0, 7)
    call check(omp_get_num_procs() >= 1 .and. omp_is_initial_device() .and. omp_get_num_devices() == 0, 8)
    call check(.not. omp_in_final() .and. .not. omp_get_cancellation(), 9)
  end subroutine

  subroutine settings
    integer(omp_sched_kind) :: kind
    integer :: chunk
    integer(int32) :: kind4
    integer(int64) :: chunk8
    call omp_set_num_threads(5)
    call check(omp_get_max_threads() == 5, 20)
    call set_num_threads_8(7_int64)
    call check(omp_get_max_threads() == 7, 21)
    call set_num_threads_8(-huge(1_int64))
    call check(omp_get_max_threads() == 1, 22)
    call omp_set_dynamic(.true.)
    call check(omp_get_dynamic(), 23)
    call omp_set_dynamic(.false.)
    call check(.not. omp_get_dynamic(), 24)
    call omp_set_schedule(omp_sched_guided, 11)
    call omp_get_schedule(kind, chunk)
    call check(kind == omp_sched_guided .and. chunk == 11, 25)
    call set_schedule_8(int(omp_sched_dynamic, int32), 13_int64)
    call get_schedule_8(kind4, chunk8)
    call check(kind4 == omp_sched_dynamic .and. chunk8 == 13, 26)
    call set_levels_8(3_int64)
    call check(omp_get_max_active_levels() == 3, 27)
    call set_levels_8(huge(1_int64))
    call check(omp_get_max_active_levels() == omp_get_supported_active_levels(), 28)
    call omp_set_default_device(2)
    call check(omp_get_default_device() == 2, 29)
    call omp_set_default_device(0)
    call check(omp_get_num_teams() == 1 .and. omp_get_team_num() == 0 .and. omp_get_thread_limit() >= 1, 30)
  end subroutine

  subroutine strings
    character(len=40) :: text
    character(len=3) :: short
    call omp_set_affinity_format('<%n/%N>')
    call check(omp_get_affinity_format(text) == 7 .and. text == '<%n/%N>', 40)
    call check(omp_get_affinity_format(short) == 7 .and. short == '<%n', 41)
    call check(omp_capture_affinity(text, '') == 5 .and. text == '<0/1>', 42)
    call check(omp_capture_affinity(text, '%0.4L.') == 5 .and. text == '0000.', 43)
    call check(omp_capture_affinity(short, '%0.4L.') == 5 .and. short == '000', 44)
    ! blanks at the end belong to a format
    call check(omp_capture_affinity(text, '%L   ') == 4 .and. text == '0', 45)
  end subroutine

  subroutine locks
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer :: n, i
    n = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    !$omp parallel num_threads(4) private(i)
    do i = 1, 500
      call omp_set_lock(lock)
      n = n + 1
      call omp_unset_lock(lock)
      call omp_set_nest_lock(nest)
      call check(omp_test_nest_lock(nest) == 2, 50)
      call omp_unset_nest_lock(nest)
      call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel
    call check(n == 2000, 51)
    call check(omp_test_lock(lock), 52)
    call check(.not. omp_test_lock(lock), 53)
    call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
  end subroutine

  subroutine allocators
    integer(omp_allocator_handle_kind) :: a
    type(omp_alloctrait) :: traits(2)
    traits(1) = omp_alloctrait(omp_atk_alignment, 128)
    traits(2) = omp_alloctrait(omp_atk_fallback, omp_atv_null_fb)
    a = omp_init_allocator(omp_default_mem_space, 2, traits)
    call check(a /= omp_null_allocator, 60)
    call omp_set_default_allocator(a)
    call check(omp_get_default_allocator() == a, 61)
    call omp_set_default_allocator(omp_null_allocator)
    call check(omp_get_default_allocator() == omp_default_mem_alloc, 62)
    call omp_destroy_allocator(a)
    traits(1) = omp_alloctrait(omp_atk_alignment, 100)
    call check(omp_init_allocator(omp_default_mem_space, 2, traits) == omp_null_allocator, 63)
  end subroutine
end program
