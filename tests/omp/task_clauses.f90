! Tasks from Fortran: depend, taskgroup, taskloop with a reduction, priority and final, detach, allocatable
! firstprivate.
program task_clauses
  use omp_lib
  implicit none
  integer :: i, x, total, order, n
  integer, allocatable :: v(:)
  integer(omp_event_handle_kind) :: event
  logical :: bad
  bad = .false.
  x = 0
  total = 0
  order = 0
  n = 0
  !$omp parallel shared(x, total, order, bad, n)
  !$omp single
  do i = 1, 100
    !$omp task depend(inout: order) firstprivate(i) shared(order, bad)
    if (order /= i - 1) bad = .true.
    order = i
    !$omp end task
  end do
  !$omp taskgroup
  do i = 1, 50
    !$omp task shared(x) priority(i) final(i > 25)
    !$omp atomic
    x = x + 1
    !$omp end task
  end do
  !$omp end taskgroup
  if (x /= 50) bad = .true.
  !$omp taskloop reduction(+: total) grainsize(7)
  do i = 100, 1, -1
    total = total + i
  end do
  !$omp end taskloop
  if (total /= 5050) bad = .true.
  allocate(v(10))
  v = 3
  do i = 1, 20
    !$omp task firstprivate(v, i) shared(n)
    v = v + i
    !$omp atomic
    n = n + v(10)
    !$omp end task
  end do
  v = 0
  !$omp task detach(event) shared(x)
  x = x + 1
  !$omp end task
  call omp_fulfill_event(event)
  !$omp taskwait
  if (x /= 51 .or. n /= 270) bad = .true.
  !$omp end single
  !$omp end parallel
  if (order /= 100) bad = .true.
  if (bad) stop 1
end program task_clauses
