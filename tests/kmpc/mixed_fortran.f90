! The part of mixed.c that gfortran compiles: a region whose threads call back, each with a task of its own.
function by_fortran(threads, call, argument) bind(c) result(total)
  use iso_c_binding
  use omp_lib
  implicit none
  integer(c_int), value :: threads, argument
  type(c_funptr), value :: call
  integer(c_int) :: total
  abstract interface
    function callee(level, argument) bind(c)
      import :: c_int
      integer(c_int), value :: level, argument
      integer(c_int) :: callee
    end function
  end interface
  procedure(callee), pointer :: back
  call c_f_procpointer(call, back)
  total = 0
  !$omp parallel num_threads(threads) reduction(+:total)
  total = total + back(int(omp_get_level(), c_int), argument)
  !$omp task shared(total)
  !$omp atomic
  total = total + 1
  !$omp end task
  !$omp taskwait
  !$omp end parallel
end function
