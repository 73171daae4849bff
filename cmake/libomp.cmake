# A clang that builds programs with OpenMP, for the tests and benchmarks that want its code. Included once, before tests
# and bench; sets
#   PS_CLANG          the compiler, empty where there is none; clang++ is ${PS_CLANGXX}
#   PS_CLANG_FLAGS    for compiling and linking: -fopenmp=libomp and where omp.h and libomp.so are
#   PS_CLANG_VERSION  the compiler's
#   PS_FLANG          LLVM's Fortran compiler with its omp_lib, empty where there is none
#   PS_CLANG_LIBOMP   the folder with libomp.so.5 itself, for LD_LIBRARY_PATH
# -DPS_LIBOMP=FOLDER: an unpacked libomp5-N with libomp-N-dev. Where it is not given: what tools/get-libomp has left in
# the source tree's .cache/peers (Debian's libomp packages exclude one another, so they are unpacked and not installed),
# else the installed one. In a cross build: what tools/get-ports has left there, or none.
set(PS_LIBOMP "" CACHE PATH
  "folder with an unpacked LLVM OpenMP runtime; empty: tools/get-libomp's, else the installed one")
block(PROPAGATE PS_CLANG PS_CLANGXX PS_CLANG_FLAGS PS_CLANG_VERSION PS_CLANG_LIBOMP PS_FLANG)
set(PS_CLANG)
set(PS_FLANG)
set(PS_CLANGXX)
set(PS_CLANG_VERSION)
set(PS_CLANG_LIBOMP)
set(PS_CLANG_FLAGS -fopenmp=libomp)

set(unpacked ${PS_LIBOMP})
if(CMAKE_CROSSCOMPILING)
  # that runtime may be of a newer system, and want more of the C library than is here: it is linked to, not run
  list(APPEND PS_CLANG_FLAGS --target=${PS_ISA}-linux-gnu -Wl,--allow-shlib-undefined)
  file(GLOB unpacked ${CMAKE_SOURCE_DIR}/.cache/peers/ports/${PS_ISA})
elseif(NOT unpacked)
  file(GLOB unpacked ${CMAKE_SOURCE_DIR}/.cache/peers/libomp5-*)
  list(SORT unpacked ORDER DESCENDING)
endif()
set(header)
if(unpacked)
  list(TRANSFORM unpacked APPEND /usr/lib/llvm-*/lib/clang/*/include/omp.h)
  file(GLOB header ${unpacked})
endif()
if(header)
  list(GET header 0 header)
  get_filename_component(include ${header} DIRECTORY)
  get_filename_component(PS_CLANG_LIBOMP ${include}/../../.. ABSOLUTE)
  list(APPEND PS_CLANG_FLAGS -I${include} -L${PS_CLANG_LIBOMP})
endif()

set(try ${CMAKE_CURRENT_BINARY_DIR}/clang-openmp)
file(WRITE ${try}.c "#include <omp.h>\nint main(void) { return omp_get_num_procs() < 1; }\n")
foreach(version 19 18 17) # older ones fold the ICV routines and cut allocator handles
  execute_process(COMMAND clang-${version} ${PS_CLANG_FLAGS} ${try}.c -o ${try} RESULT_VARIABLE result OUTPUT_QUIET
    ERROR_QUIET)
  if(result EQUAL 0)
    set(PS_CLANG clang-${version})
    set(PS_CLANGXX clang++-${version})
    break()
  endif()
endforeach()
if(PS_CLANG)
  if(NOT header) # else the linker's -L would not be the loader's
    execute_process(COMMAND ${PS_CLANG} -print-file-name=libomp.so OUTPUT_VARIABLE library
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(library ${library} REALPATH)
    get_filename_component(PS_CLANG_LIBOMP ${library} DIRECTORY)
  endif()
  execute_process(COMMAND ${PS_CLANG} -dumpversion OUTPUT_VARIABLE PS_CLANG_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
  message(STATUS "programs built by clang: ${PS_CLANG} ${PS_CLANG_VERSION}, libomp in ${PS_CLANG_LIBOMP}")
else()
  message(STATUS
    "programs built by clang: skipped, no clang >= 17 with an OpenMP runtime "
    "(tools/install-deps check; tools/get-libomp)")
endif()
file(WRITE ${try}.f90
  "program p\nuse omp_lib\n!$omp parallel\nprint *, omp_get_thread_num()\n!$omp end parallel\nend program\n")
if(PS_CLANG STREQUAL "clang-19" AND NOT CMAKE_CROSSCOMPILING)
  execute_process(COMMAND flang-new-19 -fopenmp -L${PS_CLANG_LIBOMP} ${try}.f90 -o ${try}-fortran RESULT_VARIABLE result
    OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    set(PS_FLANG flang-new-19)
  endif()
endif()
if(PS_FLANG)
  message(STATUS "programs built by flang: ${PS_FLANG}")
else()
  message(STATUS "programs built by flang: skipped, no flang-new-19 (tools/install-deps conformance)")
endif()
endblock()
