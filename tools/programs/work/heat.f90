! A gfortran program: a heat equation with worksharing loops and reductions, array syntax under workshare, tasks over a
! tree, threadprivate counters and a critical section.
module counters
  implicit none
  integer, save :: mine = 0
  !$omp threadprivate(mine)
contains
  recursive integer function leaves(depth) result(n)
    integer, intent(in) :: depth
    integer :: left, right
    if (depth == 0) then
      n = 1
      return
    end if
    !$omp task shared(left)
    left = leaves(depth - 1)
    !$omp end task
    right = leaves(depth - 1)
    !$omp taskwait
    n = left + right
  end function leaves
end module counters

program heat
  use omp_lib
  use counters
  implicit none
  integer, parameter :: n = 900, steps = 1200
  real(8), allocatable :: a(:, :), b(:, :), root(:, :)
  real(8) :: change, total, start
  integer :: i, j, step, found, visits
  allocate (a(n, n), b(n, n), root(n, n))
  start = omp_get_wtime()
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i*31 + j*17, 101)/101.0d0
    end do
  end do
  b = a
  visits = 0
  do step = 1, steps
    change = 0
    !$omp parallel do collapse(1) schedule(static) reduction(max:change)
    do j = 2, n - 1
      mine = mine + 1
      do i = 2, n - 1
        b(i, j) = 0.25d0*(a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
        change = max(change, abs(b(i, j) - a(i, j)))
      end do
    end do
    !$omp end parallel do
    call swap()
  end do
  !$omp parallel workshare
  root = sqrt(a)
  !$omp end parallel workshare
  total = sum(root)
  !$omp parallel
  !$omp critical (add)
  visits = visits + mine
  !$omp end critical (add)
  !$omp single
  found = leaves(20)
  !$omp end single
  !$omp end parallel
  print '(a,es20.12)', 'result change ', change
  print '(a,es20.12)', 'result total ', total
  print '(a,i0)', 'result visits ', visits
  print '(a,i0)', 'result leaves ', found
  print '(a,f10.6)', 'time ', omp_get_wtime() - start
contains
  subroutine swap()
    real(8), allocatable :: c(:, :)
    call move_alloc(a, c)
    call move_alloc(b, a)
    call move_alloc(c, b)
  end subroutine swap
end program heat
