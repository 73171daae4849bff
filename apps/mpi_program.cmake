# ps_mpi_program(NAME SOURCE): NAME.openmpi and NAME.mpich in bin/, each by the MPI's own compiler where it is here.
function(ps_mpi_program name source)
  foreach(mpi ${PS_MPIS})
    set(to ${CMAKE_BINARY_DIR}/bin/${name}.${mpi})
    add_custom_command(OUTPUT ${to}
      COMMAND ${PS_MPICC_${mpi}} -O2 -g -std=gnu17 -fopenmp -Wall -Wextra -Wno-stringop-overflow # of MPICH's own header
       ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${to} -lm
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} COMMENT "Making bin/${name}.${mpi}" VERBATIM)
    add_custom_target(${name}_${mpi} ALL DEPENDS ${to})
  endforeach()
endfunction()
