# ps_mpi_program(NAME files... [PICTURE] [FLAGS flags...]): NAME.openmpi and NAME.mpich in bin/, each by the MPI's own
# compiler where it is here; and by clang in bench/mpi of the build folder, for LLVM's runtime (bench/mpi/run.py).
# Headers among the files are what it depends on. PICTURE: with common/picture.h.
function(ps_mpi_program name)
  cmake_parse_arguments(P "PICTURE" "" "FLAGS" ${ARGN})
  list(TRANSFORM P_UNPARSED_ARGUMENTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(sources ${P_UNPARSED_ARGUMENTS})
  list(FILTER sources EXCLUDE REGEX "\\.h$")
  set(libraries)
  if(P_PICTURE)
    list(APPEND sources ${PS_PICTURE})
    list(APPEND P_FLAGS ${PS_PNG_CFLAGS})
    set(libraries ${PS_PNG_LDFLAGS})
  endif()
  foreach(mpi ${PS_MPIS})
    set(to ${CMAKE_BINARY_DIR}/bin/${name}.${mpi})
    add_custom_command(OUTPUT ${to}
      COMMAND ${PS_MPICC_${mpi}} -O2 -g -std=gnu17 -D_GNU_SOURCE ${PS_APP_FLAGS} -fopenmp -Wall -Wextra
       -Wno-stringop-overflow # of MPICH's own header
       ${P_FLAGS} ${sources} -o ${to} ${libraries} -lm
      DEPENDS ${P_UNPARSED_ARGUMENTS} ${sources} COMMENT "Making bin/${name}.${mpi}" VERBATIM)
    add_custom_target(${name}_${mpi} ALL DEPENDS ${to})
    if(PS_CLANG AND PS_BENCH)
      set(to ${CMAKE_BINARY_DIR}/bench/mpi/${name}.${mpi})
      add_custom_command(OUTPUT ${to}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bench/mpi
        COMMAND ${CMAKE_COMMAND} -E env OMPI_CC=${PS_CLANG} MPICH_CC=${PS_CLANG} ${PS_MPICC_${mpi}} -O2 -g -std=gnu17
         -D_GNU_SOURCE ${PS_APP_FLAGS} ${PS_CLANG_FLAGS} -Wno-unused-command-line-argument -ffp-contract=off
         ${P_FLAGS} ${sources} -o ${to} ${libraries} -lm
        DEPENDS ${P_UNPARSED_ARGUMENTS} COMMENT "Making bench/mpi/${name}.${mpi}" VERBATIM)
      add_custom_target(${name}_${mpi}_clang ALL DEPENDS ${to})
    endif()
  endforeach()
endfunction()
