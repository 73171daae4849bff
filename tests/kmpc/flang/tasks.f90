! What flang makes of tasks and nested regions: taskwait, taskgroup, dependences, if, and regions inside of regions.
! Without firstprivate: flang 19 copies when the task runs, under any runtime.
module own
  implicit none
contains
  recursive subroutine fib(n, result)
    integer, intent(in) :: n
    integer, intent(out) :: result
    integer :: a, b
    if (n < 2) then
      result = n
      return
    end if
    !$omp task shared(a) if(n > 8)
    call fib(n - 1, a)
    !$omp end task
    !$omp task shared(b)
    call fib(n - 2, b)
    !$omp end task
    !$omp taskwait
    result = a + b
  end subroutine fib

  subroutine deposit(to)
    integer, intent(inout) :: to(:)
    !$omp task shared(to)
    !$omp atomic
    to(1) = to(1) + 1
    !$omp end task
    !$omp atomic
    to(1) = to(1) + 1
    !$omp taskwait
  end subroutine deposit

  include 'check.inc'
end module own

program tasks
  use omp_lib
  use own
  implicit none
  integer :: result, i, seen(100), wrong, chain, groups, inner

  !$omp parallel
  !$omp single
  call fib(16, result)
  !$omp end single
  !$omp end parallel
  call check(result == 987, 49)

  seen = 0
  groups = 0
  !$omp parallel shared(seen, groups)
  !$omp single
  !$omp taskgroup
  do i = 1, 100
    !$omp task shared(seen)
    call deposit(seen)
    !$omp end task
  end do
  !$omp end taskgroup
  groups = seen(1)
  !$omp end single
  !$omp end parallel
  call check(groups == 200, 65)

  chain = 1
  !$omp parallel shared(chain)
  !$omp single
  do i = 1, 20
    !$omp task depend(inout: chain) shared(chain)
    chain = mod(chain * 3 + 1, 1000)
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  result = 1
  do i = 1, 20
    result = mod(result * 3 + 1, 1000)
  end do
  call check(chain == result, 81)

  call omp_set_max_active_levels(3)
  wrong = 0
  inner = 0
  !$omp parallel num_threads(3) shared(wrong, inner)
  !$omp parallel num_threads(2) shared(wrong, inner)
  if (omp_get_level() /= 2 .or. omp_get_num_threads() /= 2 .or. omp_get_team_size(1) /= 3) then
    !$omp atomic
    wrong = wrong + 1
  end if
  !$omp atomic
  inner = inner + 1
  !$omp end parallel
  !$omp end parallel
  call check(wrong == 0 .and. inner == 6, 96)
end program tasks
