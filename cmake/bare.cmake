# The OpenMP core on bare metal: build/manycore/lib and include, and build/bin/manycore-cc. Compiled by the cross
# compiler, so by commands of its own: one for each source. What the target has no use for is not in the lists below
# (tools, displays, other ABIs, kernel threads).
find_program(PS_RISCV_GCC riscv64-unknown-elf-gcc)
find_program(PS_RISCV_AR riscv64-unknown-elf-gcc-ar)
find_file(PS_PICOLIBC picolibc.specs PATHS /usr/lib/picolibc/riscv64-unknown-elf /usr/riscv64-unknown-elf/lib
    NO_DEFAULT_PATH)
if(NOT PS_RISCV_GCC OR NOT PS_RISCV_AR)
  message(STATUS "manycore runtime: left out (tools/install-deps manycore installs riscv64-unknown-elf-gcc)")
  return()
endif()

set(bare_src ${CMAKE_SOURCE_DIR}/src)
set(bare_out ${CMAKE_BINARY_DIR}/manycore)
set(bare_hals hws sw hws-paper sw-paper)
# Of ee/manycore: what depends on the way to start and join teams.
set(bare_hal_hws mapping.c hal/synchroniser.c hal/hws.c)
set(bare_hal_sw mapping.c hal/sw.c)
set(bare_hal_hws-paper hal/paper.c hal/synchroniser.c hal/hws-paper.c)
set(bare_hal_sw-paper hal/paper.c hal/sw-paper.c)
set(bare_default_hal hws)
set(bare_flags --specs=picolibc.specs -march=rv32imafc -mabi=ilp32f -O2 -g -std=gnu17 -Wall -Wextra -ffunction-sections
    -fdata-sections
    -D_GNU_SOURCE -DPS_VERSION="${PROJECT_VERSION}"
    -DPS_CACHE_LINE=16 # no data caches: what begins a line is aligned for every type
    -DPS_RACE=0 -DORT_TOOLS=0 -DORT_MEMBERS_APART=1 -DORT_RESERVE_BYTES=8192 -DORT_TASK_SLAB_BYTES=4096
    -DEE_MEMBER_BYTES=32 -DEE_TEAM_BYTES=256)
if(PS_WERROR)
  list(APPEND bare_flags -Werror)
endif()
foreach(room base os os/bare os/bare/manycore cpu cpu/riscv32 lockfree ee ee/manycore ee/manycore/hal ort abi/user
    abi/gomp)
  list(APPEND bare_flags -I${bare_src}/${room})
endforeach()
list(APPEND bare_flags -I${CMAKE_SOURCE_DIR}/platform/include)
# The runtime's own memory is its cluster's (board.h), not the program's heap.
set(bare_own_memory)
foreach(name malloc free calloc realloc aligned_alloc posix_memalign)
  list(APPEND bare_own_memory -D${name}=board_${name})
endforeach()

set(bare_runtime base/check.c lockfree/deque.c lockfree/spin.c)
foreach(name thread team members_apart teams target reserve icv env lock own_lock place place_parse allocator_env
    alloc_pages workshare loop batch ordered doacross task task_plain task_queue task_memory task_range task_reduction
    taskgroup taskloop depend graph cancel without)
  list(APPEND bare_runtime ort/${name}.c)
endforeach()
foreach(name alloc cancel loop loop_ull parallel sync target task taskloop workshare)
  list(APPEND bare_runtime abi/gomp/${name}.c)
endforeach()
set(bare_program ee/manycore/ee.c ort/allocator.c os/linux/env.c os/bare/atomic.c os/bare/heap.c os/bare/os.c
    os/bare/string.c cpu/riscv64/switch.S cpu/riscv64/context.c)
foreach(name allocator bare/by_chance bare/time device lock places settings task threads)
  list(APPEND bare_program abi/user/${name}.c)
endforeach()

# bare_object(SOURCE OBJECT FLAGS...): appends the object to bare_objects of the caller.
function(bare_object source object)
  set(launcher)
  if(CMAKE_C_COMPILER_LAUNCHER AND NOT source MATCHES "\\.S$")
    set(launcher ${CMAKE_C_COMPILER_LAUNCHER})
  endif()
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object}
    COMMAND ${launcher} ${PS_RISCV_GCC} ${bare_flags} ${ARGN} -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building for the manycore ${source}" VERBATIM)
endfunction()

set(bare_objects)
foreach(source ${bare_runtime})
  bare_object(${bare_src}/${source} ${bare_out}/obj/${source}.o ${bare_own_memory})
  list(APPEND bare_objects ${bare_out}/obj/${source}.o)
endforeach()
foreach(source ${bare_program})
  bare_object(${bare_src}/${source} ${bare_out}/obj/${source}.o)
  list(APPEND bare_objects ${bare_out}/obj/${source}.o)
endforeach()
bare_object(${CMAKE_SOURCE_DIR}/platform/board/crt0.S ${bare_out}/lib/crt0.o)
bare_object(${CMAKE_SOURCE_DIR}/platform/board/board.c ${bare_out}/lib/board.o)
set(bare_results ${bare_out}/lib/crt0.o ${bare_out}/lib/board.o)

# Twice: plain, and with the phases of fork and join marked for the trace (manycore-cc --phases).
set(bare_ee ${bare_out}/obj/ee/manycore/ee.c.o)
list(REMOVE_ITEM bare_objects ${bare_ee})
foreach(folder . phases)
  set(marks)
  set(obj ${bare_out}/obj)
  if(folder STREQUAL phases)
    set(marks -DPOOL_PHASES=1)
    set(obj ${bare_out}/obj/phases)
    bare_object(${bare_src}/ee/manycore/ee.c ${obj}/ee/manycore/ee.c.o ${marks})
  endif()
  foreach(source mapping.c hal/synchroniser.c hal/hws.c hal/sw.c hal/paper.c hal/hws-paper.c hal/sw-paper.c)
    bare_object(${bare_src}/ee/manycore/${source} ${obj}/ee/manycore/${source}.o ${marks})
  endforeach()
  file(MAKE_DIRECTORY ${bare_out}/lib/${folder})
  foreach(hal ${bare_hals})
    set(own ${obj}/ee/manycore/ee.c.o)
    foreach(source ${bare_hal_${hal}})
      list(APPEND own ${obj}/ee/manycore/${source}.o)
    endforeach()
    cmake_path(SET library NORMALIZE ${bare_out}/lib/${folder}/libmanycore-omp-${hal}.a)
    add_custom_command(OUTPUT ${library}
      COMMAND ${CMAKE_COMMAND} -E rm -f ${library}
      COMMAND ${PS_RISCV_AR} rcs ${library} ${bare_objects} ${own}
      DEPENDS ${bare_objects} ${own} COMMENT "Linking ${library}" VERBATIM)
    list(APPEND bare_results ${library})
  endforeach()
endforeach()
configure_file(${bare_src}/os/bare/manycore/manycore.ld ${bare_out}/lib/manycore.ld COPYONLY)
foreach(data tcdm l2 main)
  configure_file(${bare_src}/os/bare/manycore/data-${data}/manycore-data.ld
      ${bare_out}/lib/data-${data}/manycore-data.ld COPYONLY)
endforeach()
configure_file(${bare_src}/abi/user/bare/omp.h ${bare_out}/include/omp.h COPYONLY)
configure_file(${CMAKE_SOURCE_DIR}/platform/include/manycore.h ${bare_out}/include/manycore.h COPYONLY)
string(REPLACE ";" " " hals "${bare_hals}")
set(default_hal ${bare_default_hal})
configure_file(${bare_src}/os/bare/manycore-cc ${CMAKE_BINARY_DIR}/bin/manycore-cc @ONLY)
add_custom_target(manycore_runtime ALL DEPENDS ${bare_results})
