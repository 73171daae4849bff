!     TAMPI's interface for Fortran: include 'TAMPIf.h' behind mpif.h or
!     the module mpi. TAMPI.h says what the calls do, and what to link.
!       call TAMPI_Iwait(request, status, ierror)
!       call TAMPI_Iwaitall(count, requests, statuses, ierror)
      integer MPI_TASK_MULTIPLE
      parameter (MPI_TASK_MULTIPLE = 4)
      external TAMPI_IWAIT, TAMPI_IWAITALL
