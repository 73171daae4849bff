! Place routines in both integer sizes; without places they say that there are none.
program places_routines
  use omp_lib
  use iso_c_binding, only: int32 => c_int32_t, int64 => c_int64_t
  implicit none
  interface
    integer(int32) function num_procs_8(place) bind(c, name='omp_get_place_num_procs_8_')
      import int32, int64
      integer(int64), intent(in) :: place
    end function
    subroutine proc_ids_8(place, ids) bind(c, name='omp_get_place_proc_ids_8_')
      import int64
      integer(int64), intent(in) :: place
      integer(int64), intent(out) :: ids(*)
    end subroutine
    subroutine place_nums_8(nums) bind(c, name='omp_get_partition_place_nums_8_')
      import int64
      integer(int64), intent(out) :: nums(*)
    end subroutine
  end interface
  integer, allocatable :: ids(:), nums(:)
  integer(int64), allocatable :: ids8(:), nums8(:)
  integer :: p, n, n8, mine, places

  places = omp_get_num_places()
  n = omp_get_partition_num_places()
  mine = omp_get_place_num()
  if (places == 0) then
    if (mine /= -1 .or. n /= 0) error stop 1
  else
    if (mine < 0 .or. mine >= places) error stop 2
  end if
  allocate(nums(n), nums8(n))
  call omp_get_partition_place_nums(nums)
  call place_nums_8(nums8)
  if (any(nums /= nums8)) error stop 3
  do p = 0, places - 1
    n = omp_get_place_num_procs(p)
    n8 = num_procs_8(int(p, int64))
    if (n < 1 .or. n /= n8) error stop 4
    allocate(ids(n), ids8(n))
    call omp_get_place_proc_ids(p, ids)
    call proc_ids_8(int(p, int64), ids8)
    if (any(ids /= ids8) .or. any(ids < 0)) error stop 5
    deallocate(ids, ids8)
  end do
  if (num_procs_8(huge(1_int64)) /= 0) error stop 6
end program
