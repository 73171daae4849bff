! omp_lib as flang has it: settings and locks, arguments by reference.
program routines
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer(omp_sched_kind) :: kind
  integer :: chunk, n, deep, depth
  real(8) :: begins

  begins = omp_get_wtime()
  call check(omp_get_wtick() > 0 .and. .not. omp_in_parallel() .and. omp_get_level() == 0, 12)
  call omp_set_schedule(omp_sched_guided, 5)
  call omp_get_schedule(kind, chunk)
  call check(kind == omp_sched_guided .and. chunk == 5, 15)
  call omp_set_dynamic(.false.)
  call check(.not. omp_get_dynamic(), 17)
  call omp_set_num_threads(5)
  call check(omp_get_max_threads() == 5 .and. omp_get_num_procs() >= 1, 19)
  call omp_set_max_active_levels(2)
  call check(omp_get_max_active_levels() == 2 .and. omp_get_thread_limit() >= 5, 21)

  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  n = 0
  deep = 0
  !$omp parallel private(depth) shared(n, deep)
  call omp_set_lock(lock)
  n = n + 1
  call omp_unset_lock(lock)
  call omp_set_nest_lock(nest)
  depth = omp_test_nest_lock(nest)
  if (depth == 2) deep = deep + 1
  call omp_unset_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  !$omp end parallel
  call check(n == 5 .and. deep == 5, 37)
  call check(omp_test_lock(lock), 38)
  call check(.not. omp_test_lock(lock), 39)
  call omp_unset_lock(lock)
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  call check(omp_get_wtime() >= begins, 43)
contains
  include 'check.inc'
end program routines
