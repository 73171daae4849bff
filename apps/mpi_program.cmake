# ps_mpi_program(NAME files... [FLAGS flags...]): NAME.openmpi and NAME.mpich in bin/, each by the MPI's own compiler
# where it is here. Headers among the files are what it depends on.
function(ps_mpi_program name)
  cmake_parse_arguments(P "" "" "FLAGS" ${ARGN})
  list(TRANSFORM P_UNPARSED_ARGUMENTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(sources ${P_UNPARSED_ARGUMENTS})
  list(FILTER sources EXCLUDE REGEX "\\.h$")
  foreach(mpi ${PS_MPIS})
    set(to ${CMAKE_BINARY_DIR}/bin/${name}.${mpi})
    add_custom_command(OUTPUT ${to}
      COMMAND ${PS_MPICC_${mpi}} -O2 -g -std=gnu17 -D_GNU_SOURCE -fopenmp -Wall -Wextra
       -Wno-stringop-overflow # of MPICH's own header
       ${P_FLAGS} ${sources} -o ${to} -lm
      DEPENDS ${P_UNPARSED_ARGUMENTS} COMMENT "Making bin/${name}.${mpi}" VERBATIM)
    add_custom_target(${name}_${mpi} ALL DEPENDS ${to})
  endforeach()
endfunction()
