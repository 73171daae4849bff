! What flang makes of work-sharing: loops under every schedule, reductions, sections, single, ordered, critical, atomic,
! threadprivate.
module own
  implicit none
  integer, save :: mine = 7
  !$omp threadprivate(mine)
contains
  include 'check.inc'
end module own

program worksharing
  use omp_lib
  use own
  implicit none
  integer, parameter :: n = 1000
  integer :: i, j, total, last, order(n), at, hits(n), copies, number
  integer(8) :: wide
  real(8) :: sum_of, most, parts(4)
  logical :: all_of

  hits = 0
  total = 0
  !$omp parallel do schedule(static) reduction(+:total)
  do i = 1, n
    hits(i) = hits(i) + 1
    total = total + i
  end do
  call check(all(hits == 1) .and. total == n * (n + 1) / 2, 27)

  !$omp parallel do schedule(dynamic, 3) lastprivate(last)
  do i = n, 1, -1
    hits(i) = hits(i) + 1
    last = i
  end do
  call check(all(hits == 2) .and. last == 1, 34)

  !$omp parallel do schedule(guided, 2)
  do i = 1, n, 7
    hits(i) = hits(i) + 1
  end do
  call check(sum(hits) == 2 * n + (n + 6) / 7, 40)

  wide = 0
  !$omp parallel do schedule(runtime) reduction(+:wide)
  do i = 1, n
    wide = wide + int(i, 8) * 4294967296_8
  end do
  call check(wide == int(n, 8) * (n + 1) / 2 * 4294967296_8, 47)

  sum_of = 0
  most = -1
  all_of = .true.
  !$omp parallel do reduction(+:sum_of) reduction(max:most) reduction(.and.:all_of)
  do i = 1, n
    sum_of = sum_of + 0.5d0
    most = max(most, dble(mod(i * 37, n)))
    all_of = all_of .and. i > 0
  end do
  call check(sum_of == 500 .and. most == n - 1 .and. all_of, 58)

  at = 0
  !$omp parallel do ordered schedule(dynamic)
  do i = 1, n
    !$omp ordered
    at = at + 1
    order(at) = i
    !$omp end ordered
  end do
  call check(at == n .and. all(order == [(i, i = 1, n)]), 68)

  parts = 0
  !$omp parallel sections
  !$omp section
  parts(1) = 1
  !$omp section
  parts(2) = 2
  !$omp section
  parts(3) = 3
  !$omp end parallel sections
  call check(sum(parts) == 6, 79)

  total = 0
  at = 0
  copies = 0
  !$omp parallel private(number) shared(at, total, copies)
  mine = omp_get_thread_num()
  do j = 1, 100
    !$omp critical (one)
    total = total + 1
    !$omp end critical (one)
    !$omp atomic
    at = at + 1
  end do
  !$omp single
  number = 4711
  !$omp end single copyprivate(number)
  !$omp barrier
  if (number /= 4711 .or. mine /= omp_get_thread_num()) then
    !$omp atomic
    copies = copies + 1
  end if
  !$omp master
  last = omp_get_num_threads()
  !$omp end master
  !$omp end parallel
  call check(total == 100 * last .and. at == 100 * last .and. copies == 0, 105)

  hits = 0
  !$omp parallel
  !$omp do collapse(2) schedule(dynamic)
  do i = 1, 10
    do j = 1, 100
      hits((i - 1) * 100 + j) = hits((i - 1) * 100 + j) + 1
    end do
  end do
  !$omp end do nowait
  !$omp end parallel
  call check(all(hits == 1), 117)
end program worksharing
