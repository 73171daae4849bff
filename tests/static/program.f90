! Threadprivate variables, and a program's end: libgfortran closes its units with functions of threads.
program static_fortran
    use omp_lib
    implicit none
    integer, save :: own = 7
!$omp threadprivate(own)
    integer :: total
    total = 0
!$omp parallel num_threads(4) reduction(+ : total)
    own = own + omp_get_thread_num()
!$omp barrier
    total = total + own
!$omp end parallel
    if (total /= 34) stop 1
    print *, total
end program
